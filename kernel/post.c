// SPDX-License-Identifier: GPL-2.0
#define UVERBS_MODULE_NAME frdma
#include <rdma/uverbs_named_ioctl.h>

#include "dev.h"
#include "mr.h"
#include "poller.h"
#include "post.h"
#include "proto/wqe.h"
#include "qp.h"
#include "refuse.h"
#include "srq.h"
#include "uapi/frdma-abi.h"

/*
 * A post may come from anywhere, with interrupts off too (ib_mad does so).
 * What runs in place raises no event and calls no completion handler: those
 * have tasklets of their own.
 */
static void kick(struct frdma_side *side)
{
	if (in_hardirq() || irqs_disabled())
		frdma_side_kick_later(side);
	else
		frdma_side_kick(side);
}

/*
 * A completion handler posts one by one, for each completion that it is told of.
 * The tasklet follows when the softirq is through with all of them, and what
 * they have posted leaves in trains.
 */
static void kick_after_others(struct frdma_side *side)
{
	if (in_serving_softirq())
		frdma_side_kick_later(side);
	else
		kick(side);
}

static bool ring_is_full(const struct frdma_ring *ring, u32 prod)
{
	return prod - frdma_ring_cons_acquire(ring) >= ring->entries;
}

/* The data of an inline send lie at kernel addresses. */
static int copy_inline(struct frdma_qp *qp, const struct ib_send_wr *wr,
		       struct frdma_send_wqe *wqe)
{
	u32 max = qp->sq.max_inline;
	void *to = wqe + 1;
	u32 len = 0;
	int i;

	for (i = 0; i < wr->num_sge; i++) {
		const struct ib_sge *sge = &wr->sg_list[i];

		if (sge->length > max - len)
			return frdma_refuse(&qp->dev->ib, -EINVAL,
					    "post_send: more than %u bytes are inline",
					    max);
		memcpy(to + len, (void *)(uintptr_t)sge->addr, sge->length);
		len += sge->length;
	}
	wqe->inline_len = len;
	wqe->num_sge = 0;
	return 0;
}

static void copy_sges(struct frdma_sge *to, const struct ib_sge *from, int n)
{
	int i;

	for (i = 0; i < n; i++)
		to[i] = (struct frdma_sge) {
			.addr	= from[i].addr,
			.length	= from[i].length,
			.lkey	= from[i].lkey,
		};
}

static int copy_operands(struct frdma_qp *qp, const struct ib_send_wr *wr,
			 struct frdma_send_wqe *wqe)
{
	/* An integer: the enum of an older kernel lacks some of these. */
	switch ((int)wr->opcode) {
	case IB_WR_ATOMIC_WRITE:
	case IB_WR_RDMA_WRITE:
	case IB_WR_RDMA_WRITE_WITH_IMM:
	case IB_WR_RDMA_READ:
		wqe->remote_addr = rdma_wr(wr)->remote_addr;
		wqe->rkey = rdma_wr(wr)->rkey;
		return 0;
	case IB_WR_ATOMIC_CMP_AND_SWP:
	case IB_WR_ATOMIC_FETCH_AND_ADD:
		wqe->remote_addr = atomic_wr(wr)->remote_addr;
		wqe->rkey = atomic_wr(wr)->rkey;
		wqe->atomic.compare_add = atomic_wr(wr)->compare_add;
		wqe->atomic.swap = atomic_wr(wr)->swap;
		return 0;
	case IB_WR_REG_MR:
		wqe->reg.mr = (uintptr_t)to_frdma_mr(reg_wr(wr)->mr);
		wqe->reg.key = reg_wr(wr)->key;
		wqe->reg.access = reg_wr(wr)->access;
		return 0;
	case IB_WR_LOCAL_INV:
	case IB_WR_SEND_WITH_INV:
	case IB_WR_SEND:
	case IB_WR_SEND_WITH_IMM:
		return 0;
	default:
		return frdma_refuse(&qp->dev->ib, -EOPNOTSUPP,
				    "post_send: opcode %d does not exist here",
				    wr->opcode);
	}
}

/* The handle may be destroyed before the packet is sent: take its contents. */
static int copy_address(struct frdma_qp *qp, const struct ib_send_wr *wr,
			struct frdma_send_wqe *wqe)
{
	const struct ib_ud_wr *ud = ud_wr(wr);

	if (frdma_qp_is_connected(qp))
		return 0;
	if (!ud->ah || ud->ah->pd != qp->pd)
		return frdma_refuse(&qp->dev->ib, -EINVAL,
				    "post_send: the address handle is missing or of another PD");
	wqe->ud.dqpn = ud->remote_qpn;
	wqe->ud.qkey = ud->remote_qkey;
	wqe->ud.pkey_index = ud->pkey_index;
	*frdma_sq_av(&qp->sq, (struct frdma_sge *)(wqe + 1)) =
		to_frdma_ib_ah(ud->ah)->ah->av;
	return 0;
}

static int post_one_send(struct frdma_qp *qp, const struct ib_send_wr *wr)
{
	struct frdma_sq *sq = &qp->sq;
	struct frdma_send_wqe *wqe;
	int err;

	if (wr->num_sge < 0 || wr->num_sge > sq->max_sge)
		return frdma_refuse(&qp->dev->ib, -EINVAL,
				    "post_send: num_sge %d exceeds %u",
				    wr->num_sge, sq->max_sge);
	if (ring_is_full(&sq->ring, sq->prod))
		return frdma_refuse(&qp->dev->ib, -ENOMEM,
				    "post_send: all %u slots of QP %u are in use",
				    sq->ring.entries, qp->qpn);

	wqe = frdma_ring_slot(&sq->ring, sq->prod);
	*wqe = (struct frdma_send_wqe) {
		.wr_id	 = wr->wr_id,
		.opcode	 = wr->opcode,
		.flags	 = wr->send_flags & FRDMA_WQE_KNOWN_FLAGS,
		.num_sge = wr->num_sge,
		.ex	 = wr->ex.invalidate_rkey,
	};
	err = copy_operands(qp, wr, wqe);
	if (err)
		return err;
	err = copy_address(qp, wr, wqe);
	if (err)
		return err;

	if (wr->send_flags & IB_SEND_INLINE) {
		err = copy_inline(qp, wr, wqe);
		if (err)
			return err;
	} else {
		copy_sges((struct frdma_sge *)(wqe + 1), wr->sg_list,
			  wr->num_sge);
	}
	sq->prod++;
	return 0;
}

static bool may_post_send(const struct frdma_qp *qp)
{
	enum ib_qp_state state = frdma_qp_state(qp);

	return state != IB_QPS_RESET && state != IB_QPS_INIT &&
	       state != IB_QPS_RTR;
}

static int post_sends(struct frdma_qp *qp, const struct ib_send_wr *wr,
		      const struct ib_send_wr **bad_wr)
{
	unsigned long flags;
	int err = 0;

	if (!may_post_send(qp)) {
		*bad_wr = wr;
		return frdma_refuse(&qp->dev->ib, -EINVAL,
				    "post_send: QP %u is in state %d (enum ib_qp_state)",
				    qp->qpn, frdma_qp_state(qp));
	}

	spin_lock_irqsave(&qp->sq.post_lock, flags);
	for (; wr; wr = wr->next) {
		err = post_one_send(qp, wr);
		if (err) {
			*bad_wr = wr;
			break;
		}
	}
	frdma_ring_prod_release(&qp->sq.ring, qp->sq.prod);
	spin_unlock_irqrestore(&qp->sq.post_lock, flags);
	return err;
}

/**
 * frdma_post_send - the verb
 * @ib: queue pair of a consumer in the kernel; a process rings the doorbell
 * @wr: work requests
 * @bad_wr: set to the first that was not posted
 *
 * Context: any. Return: 0; -EINVAL; -ENOMEM if the queue is full;
 * -EOPNOTSUPP for an operation that does not exist here.
 */
int frdma_post_send(struct ib_qp *ib, const struct ib_send_wr *wr,
		    const struct ib_send_wr **bad_wr)
{
	struct frdma_qp *qp;
	int err;

	/* Of an XRC target the core may pass a handle that is not ours. */
	if (unlikely(ib->qp_type == IB_QPT_XRC_TGT)) {
		*bad_wr = wr;
		return -EINVAL;
	}

	qp = to_frdma_qp(ib);
	err = post_sends(qp, wr, bad_wr);
	kick_after_others(&qp->sq.side);
	return err;
}

static int post_one_recv(const struct frdma_ring *ring, u32 prod, u32 max_sge,
			 const struct ib_recv_wr *wr)
{
	struct frdma_recv_wqe *wqe;

	if (wr->num_sge < 0 || wr->num_sge > max_sge)
		return -EINVAL;
	if (ring_is_full(ring, prod))
		return -ENOMEM;

	wqe = frdma_ring_slot(ring, prod);
	wqe->wr_id = wr->wr_id;
	wqe->num_sge = wr->num_sge;
	copy_sges((struct frdma_sge *)(wqe + 1), wr->sg_list, wr->num_sge);
	return 0;
}

/* Those before the first that cannot be posted are posted. */
static int post_recvs(const struct frdma_ring *ring, u32 *prod, u32 max_sge,
		      const struct ib_recv_wr *wr,
		      const struct ib_recv_wr **bad_wr)
{
	int err = 0;

	for (; wr; wr = wr->next) {
		err = post_one_recv(ring, *prod, max_sge, wr);
		if (err) {
			*bad_wr = wr;
			break;
		}
		++*prod;
	}
	frdma_ring_prod_release(ring, *prod);
	return err;
}

static void explain_recv(const struct ib_device *ib,
			 const struct ib_recv_wr *bad_wr, u32 max_sge, int err)
{
	if (err == -ENOMEM)
		frdma_refuse(ib, err, "post_recv: the queue is full");
	else
		frdma_refuse(ib, err, "post_recv: num_sge %d exceeds %u",
			     bad_wr->num_sge, max_sge);
}

/**
 * frdma_post_recv - the verb
 * @ib: queue pair of a consumer in the kernel; a process posts without us
 * @wr: receive requests
 * @bad_wr: set to the first that was not posted
 *
 * Context: any. Return: 0; -EINVAL, also with a shared receive queue; -ENOMEM
 * if the queue is full.
 */
int frdma_post_recv(struct ib_qp *ib, const struct ib_recv_wr *wr,
		    const struct ib_recv_wr **bad_wr)
{
	struct frdma_qp *qp;
	struct frdma_rq *rq;
	unsigned long flags;
	int err;

	/* As in frdma_post_send(). */
	if (unlikely(ib->qp_type == IB_QPT_XRC_TGT)) {
		*bad_wr = wr;
		return -EINVAL;
	}

	qp = to_frdma_qp(ib);
	rq = &qp->rq;
	if (!rq->ring.head || frdma_qp_state(qp) == IB_QPS_RESET) {
		*bad_wr = wr;
		return frdma_refuse(ib->device, -EINVAL,
				    "post_recv: QP %u has an SRQ or is in RESET",
				    qp->qpn);
	}
	spin_lock_irqsave(&rq->post_lock, flags);
	err = post_recvs(&rq->ring, &rq->prod, rq->max_sge, wr, bad_wr);
	spin_unlock_irqrestore(&rq->post_lock, flags);
	if (err)
		explain_recv(ib->device, *bad_wr, rq->max_sge, err);

	/* Pairs with the barrier in frdma_qp_rq_doorbell(). */
	smp_mb();
	if (frdma_qp_state(qp) == IB_QPS_ERR)
		kick(&qp->rq.side);
	return err;
}

/**
 * frdma_post_srq_recv - the verb
 * @ib: shared receive queue of a consumer in the kernel; a process posts
 *	without us
 * @wr: receive requests
 * @bad_wr: set to the first that was not posted
 *
 * Nobody has to be told: who lacks a request looks again when the peer sends
 * again.
 *
 * Context: any. Return: 0; -EINVAL; -ENOMEM if the queue is full.
 */
int frdma_post_srq_recv(struct ib_srq *ib, const struct ib_recv_wr *wr,
			const struct ib_recv_wr **bad_wr)
{
	struct frdma_srq *srq = to_frdma_srq(ib);
	unsigned long flags;
	int err;

	spin_lock_irqsave(&srq->post_lock, flags);
	err = post_recvs(&srq->ring, &srq->prod, srq->max_sge, wr, bad_wr);
	spin_unlock_irqrestore(&srq->post_lock, flags);
	if (err)
		explain_recv(ib->device, *bad_wr, srq->max_sge, err);
	return err;
}

/* For who looks for what is posted: see gather_ns(). */
static void note_real_time(struct frdma_sq *sq)
{
	bool real_time = current->prio < MAX_RT_PRIO;

	if (READ_ONCE(sq->real_time) != real_time)
		WRITE_ONCE(sq->real_time, real_time);
}

/*
 * A process has put something into a ring. Both sides look: receive requests
 * posted in the error state are announced by this, too. The poller takes what
 * is there now for seen, so it comes before the kick.
 */
static int UVERBS_HANDLER(FRDMA_METHOD_QP_DOORBELL)
	(struct uverbs_attr_bundle *attrs)
{
	struct ib_qp *ib = uverbs_attr_get_obj(attrs,
					       FRDMA_ATTR_QP_DOORBELL_HANDLE);
	struct frdma_qp *qp;

	if (IS_ERR(ib))
		return PTR_ERR(ib);
	/* As in frdma_post_send(). */
	if (ib->qp_type == IB_QPT_XRC_TGT)
		return -EINVAL;

	qp = to_frdma_qp(ib);
	if (frdma_qp_state(qp) == IB_QPS_ERR)
		kick(&qp->rq.side);
	frdma_poller_watch(qp);
	note_real_time(&qp->sq);
	kick(&qp->sq.side);
	return 0;
}

DECLARE_UVERBS_NAMED_METHOD(FRDMA_METHOD_QP_DOORBELL,
	UVERBS_ATTR_IDR(FRDMA_ATTR_QP_DOORBELL_HANDLE, UVERBS_OBJECT_QP,
			UVERBS_ACCESS_READ, UA_MANDATORY));

ADD_UVERBS_METHODS(qp_methods, UVERBS_OBJECT_QP,
		   &UVERBS_METHOD(FRDMA_METHOD_QP_DOORBELL));

const struct uapi_definition frdma_qp_uapi[] = {
	UAPI_DEF_CHAIN_OBJ_TREE(UVERBS_OBJECT_QP, &qp_methods),
	{ }
};
