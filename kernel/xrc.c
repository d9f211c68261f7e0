// SPDX-License-Identifier: GPL-2.0
#include "cq.h"
#include "dev.h"
#include "limit.h"
#include "proto/op.h"
#include "qp.h"
#include "responder.h"
#include "rx.h"
#include "srq.h"
#include "stats.h"
#include "uctx.h"
#include "xrc.h"

/* The queue of a number, if it is one of the target's domain. */
static struct frdma_srq *find_queue(const struct frdma_qp *qp, u32 srqn)
{
	struct frdma_srq *srq = frdma_srq_find(qp->dev, srqn);

	return srq && srq->ib.ext.xrc.xrcd == qp->xrcd ? srq : NULL;
}

/* One step may complete to several queues; each is told once it is left. */
static void aim_completions(struct frdma_rq *rq, struct frdma_cq *cq)
{
	if (rq->notify && rq->cq != cq) {
		rq->notify = false;
		frdma_cq_notify(rq->cq);
	}
	rq->cq = cq;
}

/**
 * frdma_xrc_aim - receive for the queue that a request names
 * @qp: target, whose receive side the caller owns
 * @srqn: number of the queue
 *
 * Until the end of the step, or the next aim, receive requests, completions
 * and the protection domain are those of the queue. A receive request in use
 * belongs to the queue that it was taken from, and to no other.
 *
 * Return: false, and nothing has changed, if the target has no such queue.
 */
bool frdma_xrc_aim(struct frdma_qp *qp, u32 srqn)
{
	struct frdma_rq *rq = &qp->rq;
	struct frdma_srq *srq;

	if (rq->srq && rq->srqn == srqn) {
		qp->pd = rq->pd;
		return true;
	}
	if (rq->have_cur && rq->srqn != srqn)
		return false;
	srq = find_queue(qp, srqn);
	if (!srq)
		return false;

	aim_completions(rq, to_frdma_cq(srq->ib.ext.cq));
	rq->srq = srq;
	rq->srqn = srqn;
	rq->pd = srq->ib.pd;
	rq->max_sge = srq->max_sge;
	qp->pd = srq->ib.pd;
	return true;
}

/**
 * frdma_xrc_aim_read - answer a READ that named a queue
 * @qp: target, whose receive side the caller owns
 * @srqn: number of the queue
 *
 * The protection domain alone: the response may be sent again in the middle
 * of a message for another queue.
 *
 * Return: false if the target has no such queue (any more).
 */
bool frdma_xrc_aim_read(struct frdma_qp *qp, u32 srqn)
{
	struct frdma_srq *srq = find_queue(qp, srqn);

	if (!srq)
		return false;
	qp->pd = srq->ib.pd;
	return true;
}

/* From here on nothing of any queue is touched, until the next aim. */
static void let_go(struct frdma_qp *qp)
{
	struct frdma_rq *rq = &qp->rq;

	rq->srq = NULL;
	rq->cq = NULL;
	rq->pd = NULL;
	qp->pd = NULL;
}

/**
 * frdma_xrc_target_step - do what there is to do on the receive side
 * @side: of a target, owned by the caller
 *
 * Return: true if there is more, but not now.
 */
bool frdma_xrc_target_step(struct frdma_side *side)
{
	bool more = frdma_responder_step(side);

	let_go(frdma_qp_of_recv(side));
	return more;
}

static void take_stray_request(struct frdma_qp *qp,
			       const struct frdma_rx_pkt *pkt)
{
	frdma_qp_drop_unbuilt(qp, FRDMA_DROP_WRONG_TRANSPORT);
}

/**
 * frdma_xrc_stray_request - refuse requests to an initiator
 * @side: its receive side, owned by the caller
 * @skb: consumed
 */
void frdma_xrc_stray_request(struct frdma_side *side, struct sk_buff *skb)
{
	frdma_rx_each(frdma_qp_of_recv(side), skb, false, take_stray_request,
		      NULL);
}

static void take_stray_answer(struct frdma_qp *qp,
			      const struct frdma_rx_pkt *pkt)
{
	if (!frdma_qp_can_recv(qp))
		frdma_qp_drop_unbuilt(qp, FRDMA_DROP_QP_STATE);
	else if (frdma_op(pkt->hdr.opcode)->kind == FRDMA_KIND_CNP)
		frdma_qp_count(qp, FRDMA_CNT_RCVD_CNPS);
	else
		frdma_qp_drop_unbuilt(qp, FRDMA_DROP_GHOST_ACK);
}

/**
 * frdma_xrc_stray_answer - refuse answers to a target, which asks nothing; count
 * notifications, of which it has nothing to obey by
 * @side: its send side, owned by the caller
 * @skb: consumed
 */
void frdma_xrc_stray_answer(struct frdma_side *side, struct sk_buff *skb)
{
	frdma_rx_each(frdma_qp_of_send(side), skb, true, take_stray_answer,
		      NULL);
}

/**
 * frdma_alloc_xrcd - verb
 * @ib: domain, of which ib_core knows the file that it is found by
 * @udata: driver data of a process; there is none
 *
 * Context: may sleep. Return: 0; -ENOMEM at the maximum; -EOPNOTSUPP; -EFAULT.
 */
int frdma_alloc_xrcd(struct ib_xrcd *ib, struct ib_udata *udata)
{
	struct frdma_xrcd *xrcd = container_of(ib, struct frdma_xrcd, ib);
	struct frdma_dev *dev = to_frdma(ib->device);
	int err = frdma_no_driver_data(udata);

	if (err)
		return err;
	if (!frdma_limit_take(&dev->nr_xrcd, FRDMA_MAX_XRCD, FRDMA_POOL_XRCD,
			      &xrcd->charge, frdma_udata_account(udata),
			      sizeof(*xrcd)))
		return -ENOMEM;
	return 0;
}

/**
 * frdma_dealloc_xrcd - verb
 * @ib: domain, in which ib_core knows that nothing is left
 * @udata: driver data of a process; there is none
 *
 * Context: may sleep. Return: 0.
 */
int frdma_dealloc_xrcd(struct ib_xrcd *ib, struct ib_udata *udata)
{
	struct frdma_xrcd *xrcd = container_of(ib, struct frdma_xrcd, ib);

	frdma_limit_give(&to_frdma(ib->device)->nr_xrcd, FRDMA_POOL_XRCD,
			 &xrcd->charge);
	return 0;
}
