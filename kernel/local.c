// SPDX-License-Identifier: GPL-2.0
#include "dev.h"
#include "fast.h"
#include "local.h"
#include "mr.h"
#include "mw.h"
#include "qp.h"

static void wake_after_invalidation(struct frdma_mr_waiter *waiter)
{
	struct frdma_qp *qp = container_of(waiter, struct frdma_qp,
					   sq.mr_waiter);

	frdma_side_kick_later(&qp->sq.side);
}

static u8 execute_reg(struct frdma_qp *qp, const struct frdma_swr *wr)
{
	struct frdma_mr *mr = (struct frdma_mr *)(uintptr_t)wr->wqe.reg.mr;

	return frdma_mr_fast_reg(mr, qp->pd, wr->wqe.reg.key,
				 wr->wqe.reg.access) == FRDMA_MR_OK ?
	       FRDMA_WC_SUCCESS : FRDMA_WC_MW_BIND_ERR;
}

/*
 * Returns false while readers of the region keep the work request from being
 * complete. The last of them wakes this side.
 */
static bool execute_inv(struct frdma_qp *qp, const struct frdma_swr *wr,
			u8 *status)
{
	if (!list_empty_careful(&qp->sq.mr_waiter.link))
		return false;
	if (qp->sq.draining) {
		qp->sq.draining = false;
		return true;
	}

	frdma_mr_waiter_init(&qp->sq.mr_waiter, wake_after_invalidation);
	switch (frdma_mr_invalidate(qp->dev, qp->pd, qp->qpn, wr->wqe.ex,
				    false, &qp->sq.mr_waiter)) {
	case FRDMA_MR_DRAINING:
		qp->sq.draining = true;
		return false;
	case FRDMA_MR_NOT_INVALIDATED:
		*status = FRDMA_WC_MW_BIND_ERR;
		return true;
	default:
		return true;
	}
}

/* The same, where a binding before this one has readers. */
static bool execute_bind(struct frdma_qp *qp, const struct frdma_swr *wr,
			 u8 *status)
{
	if (!list_empty_careful(&qp->sq.mr_waiter.link))
		return false;

	qp->sq.draining = false;
	frdma_mr_waiter_init(&qp->sq.mr_waiter, wake_after_invalidation);
	switch (frdma_mw_bind(qp, &wr->wqe, &qp->sq.mr_waiter)) {
	case FRDMA_MW_DRAINING:
		qp->sq.draining = true;
		return false;
	case FRDMA_MW_REFUSED:
		*status = FRDMA_WC_MW_BIND_ERR;
		return true;
	default:
		return true;
	}
}

/**
 * frdma_local_execute - execute the work request at the head
 * @qp: whose send side the caller owns; judged FRDMA_REQ_LOCAL
 *
 * What fails has its status then, and completes at its turn.
 *
 * Return: false if it is not finished, as a region or window that it takes away
 * still has readers. The last of them wakes the side.
 */
bool frdma_local_execute(struct frdma_qp *qp)
{
	struct frdma_req *rq = &qp->sq.req;
	struct frdma_swr *wr = frdma_req_wr(rq, rq->wr_next);
	u8 status = FRDMA_WC_SUCCESS;

	if (wr->wqe.opcode == IB_UVERBS_WR_LOCAL_INV &&
	    !execute_inv(qp, wr, &status))
		return false;
	if (wr->wqe.opcode == IB_UVERBS_WR_BIND_MW &&
	    !execute_bind(qp, wr, &status))
		return false;
	if (wr->wqe.opcode == FRDMA_WR_REG_MR)
		status = execute_reg(qp, wr);

	wr->status = status;
	if (!status)
		frdma_req_local_done(rq);
	return true;
}
