/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Posting work requests: no system call but the doorbell. */
#ifndef FRDMA_QP_H
#define FRDMA_QP_H

#include <infiniband/verbs.h>

/**
 * frdma_post_send() - ibv_post_send()
 * @ibvqp: the queue pair
 * @wr: list of work requests
 * @bad_wr: on error, the first one that was not posted
 *
 * One doorbell for the whole list. Return: 0; EINVAL: the request or the
 * state of the queue pair does not allow it; ENOMEM: the queue is full;
 * else what the doorbell said (EIO: device gone).
 */
int frdma_post_send(struct ibv_qp *ibvqp, struct ibv_send_wr *wr,
		    struct ibv_send_wr **bad_wr);

/**
 * frdma_post_recv() - ibv_post_recv()
 * @ibvqp: the queue pair
 * @wr: list of work requests
 * @bad_wr: on error, the first one that was not posted
 *
 * Return: as frdma_post_send().
 */
int frdma_post_recv(struct ibv_qp *ibvqp, struct ibv_recv_wr *wr,
		    struct ibv_recv_wr **bad_wr);

/**
 * frdma_post_srq_recv() - ibv_post_srq_recv()
 * @ibvsrq: the shared receive queue
 * @wr: list of work requests
 * @bad_wr: on error, the first one that was not posted
 *
 * Return: as frdma_post_send().
 */
int frdma_post_srq_recv(struct ibv_srq *ibvsrq, struct ibv_recv_wr *wr,
			struct ibv_recv_wr **bad_wr);

/**
 * frdma_bind_mw() - ibv_bind_mw()
 * @ibvqp: the queue pair
 * @ibvmw: window of type 1, whose key changes with success
 * @bind: what to bind it to
 *
 * A work request like others: what is wrong with the range or the rights, its
 * completion says. Return: as frdma_post_send().
 */
int frdma_bind_mw(struct ibv_qp *ibvqp, struct ibv_mw *ibvmw,
		  struct ibv_mw_bind *bind);

/**
 * frdma_qp_send_ops() - work requests that a type of queue pair can post
 * @type: the type
 *
 * Return: IBV_QP_EX_WITH_*.
 */
uint64_t frdma_qp_send_ops(enum ibv_qp_type type);

/**
 * frdma_qp_set_send_ops() - fill in the work request builder
 * @ex: a queue pair
 * @ops: IBV_QP_EX_WITH_*, of those that frdma_qp_send_ops() returns
 */
void frdma_qp_set_send_ops(struct ibv_qp_ex *ex, uint64_t ops);

#endif /* FRDMA_QP_H */
