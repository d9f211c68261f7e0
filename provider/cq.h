/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Reading completions: no system call at all. */
#ifndef FRDMA_CQ_H
#define FRDMA_CQ_H

#include <infiniband/verbs.h>

/* What an extended completion queue can be asked for. */
#define FRDMA_CQ_WC_FLAGS	((uint64_t)IBV_WC_STANDARD_FLAGS | \
				 IBV_WC_EX_WITH_COMPLETION_TIMESTAMP)

/**
 * frdma_poll_cq() - ibv_poll_cq()
 * @ibvcq: the completion queue
 * @num: size of @wc
 * @wc: where completions go
 *
 * Return: number of completions, or -EIO: device gone.
 */
int frdma_poll_cq(struct ibv_cq *ibvcq, int num, struct ibv_wc *wc);

/**
 * frdma_cq_forget() - remove a queue pair's completions that nobody polled
 * @ibvcq: the completion queue
 * @qp_num: of the queue pair, which completes nothing any more
 */
void frdma_cq_forget(struct ibv_cq *ibvcq, uint32_t qp_num);

/**
 * frdma_cq_set_readers() - fill in the extended poll interface
 * @ex: an extended completion queue
 * @wc_flags: IBV_WC_EX_WITH_*, of FRDMA_CQ_WC_FLAGS
 */
void frdma_cq_set_readers(struct ibv_cq_ex *ex, uint64_t wc_flags);

#endif /* FRDMA_CQ_H */
