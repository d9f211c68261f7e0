// SPDX-License-Identifier: GPL-2.0
#include "dev.h"
#include "fetch.h"
#include "proto/wqe.h"
#include "qp.h"
#include "stats.h"
#include "trace.h"

static u32 posted_prod(struct frdma_qp *qp)
{
	struct frdma_req *rq = &qp->sq.req;
	u32 prod = frdma_ring_prod_acquire(&qp->sq.ring);
	u32 room = qp->sq.ring.entries - (rq->wr_prod - rq->wr_una);

	/* Only forwards: what was fetched is not posted again. */
	if (likely(prod - rq->wr_prod <= room))
		return prod;

	/* The process wrote nonsense over its indices: that is its end. */
	if (frdma_qp_state(qp) != IB_QPS_ERR)
		frdma_qp_event(qp, IB_EVENT_QP_FATAL);
	frdma_qp_error(qp);
	return rq->wr_prod;
}

/* Copy a slot, once; from here on only the copy is looked at. */
static void copy_slot(const struct frdma_sq *sq, struct frdma_swr *wr, u32 i)
{
	const void *slot = frdma_ring_slot(&sq->ring, i);
	size_t extra;

	memcpy(&wr->wqe, slot, sizeof(wr->wqe));
	barrier();
	if (sq->has_av)
		extra = sq->ring.stride - sizeof(wr->wqe);
	else if (wr->wqe.flags & FRDMA_WQE_INLINE)
		extra = min(wr->wqe.inline_len, sq->max_inline);
	else
		extra = min_t(u32, wr->wqe.num_sge, sq->max_sge) *
			sizeof(struct frdma_sge);
	memcpy(wr->sge, slot + sizeof(wr->wqe), extra);
	barrier();
}

static void judge_slot(struct frdma_qp *qp, struct frdma_swr *wr)
{
	const struct frdma_wqe_limits limits = {
		.transport	  = qp->sq.req.transport,
		.kernel		  = !qp->user,
		.max_sge	  = qp->sq.max_sge,
		.max_inline_bytes = qp->sq.max_inline,
	};
	enum frdma_wqe_verdict verdict;

	verdict = frdma_wqe_judge_send(&wr->wqe, wr->sge, &limits);
	wr->vendor_err = verdict;
	wr->status = frdma_wqe_status(verdict);
	if (wr->status)
		frdma_qp_count(qp, FRDMA_CNT_LOCAL_ERRORS);
}

/* Work requests taken ahead of the one being sent. */
#define FETCH_AHEAD		256

/**
 * frdma_fetch - take what was posted into the window
 * @qp: whose send side the caller owns
 *
 * As far as it will soon be sent, and slots are free. A work request is copied, once, and judged: a
 * bad one gets the status that it completes with at its turn. Indices that
 * cannot be end the queue pair.
 */
void frdma_fetch(struct frdma_qp *qp)
{
	struct frdma_req *rq = &qp->sq.req;
	u32 prod = posted_prod(qp);

	while (rq->wr_prod != prod && rq->wr_prod - rq->wr_next < FETCH_AHEAD &&
	       rq->wr_prod - rq->wr_una <= rq->mask) {
		struct frdma_swr *wr = frdma_req_wr(rq, rq->wr_prod);
		u32 len;

		copy_slot(&qp->sq, wr, rq->wr_prod);
		judge_slot(qp, wr);
		len = wr->status ? 0 : frdma_wqe_len(&wr->wqe, wr->sge);
		trace_frdma_post(qp->dev->ndev->ifindex, qp->qpn,
				 wr->wqe.wr_id, wr->wqe.opcode, wr->wqe.flags,
				 len);
		frdma_req_fetched(rq, len);

		/* Longer than a datagram: sent nowhere (C10-93.1.1). */
		if (frdma_req_is_datagram(rq) && len > rq->mtu)
			frdma_req_make_local(rq);
	}
}
