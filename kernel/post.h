/* SPDX-License-Identifier: GPL-2.0 */
/* Doorbells of processes, and posts of consumers in the kernel. */
#ifndef FRDMA_POST_H
#define FRDMA_POST_H

#include <rdma/ib_verbs.h>
#include <rdma/uverbs_ioctl.h>

int frdma_post_send(struct ib_qp *ib, const struct ib_send_wr *wr,
		    const struct ib_send_wr **bad_wr);
int frdma_post_recv(struct ib_qp *ib, const struct ib_recv_wr *wr,
		    const struct ib_recv_wr **bad_wr);
int frdma_post_srq_recv(struct ib_srq *ib, const struct ib_recv_wr *wr,
			const struct ib_recv_wr **bad_wr);

/* The doorbell, as a method of queue pairs (ioctl() of processes). */
extern const struct uapi_definition frdma_qp_uapi[];

#endif /* FRDMA_POST_H */
