// SPDX-License-Identifier: GPL-2.0
#include "dev.h"
#include "proto/wqe.h"
#include "recv.h"
#include "sge.h"
#include "stats.h"
#include "wc.h"

/* Receive requests flushed in a step; then others get their turn. */
#define FLUSH_BUDGET	256

/* Copy a slot, once; from here on only the copy is looked at. */
static void copy_slot(struct frdma_rq *rq)
{
	const void *slot = frdma_ring_slot(&rq->ring, rq->cons);
	struct frdma_rwr *cur = rq->cur;

	memcpy(&cur->wqe, slot, sizeof(cur->wqe));
	barrier();
	memcpy(cur->sge, slot + sizeof(cur->wqe),
	       min(cur->wqe.num_sge, rq->max_sge) * sizeof(cur->sge[0]));
	barrier();
}

/**
 * frdma_recv_take - have a receive request in use, if one is posted
 * @qp: whose receive side the caller owns
 *
 * The slot is the process's again as soon as it is copied.
 *
 * Return: true if there is one in use.
 */
bool frdma_recv_take(struct frdma_qp *qp)
{
	struct frdma_rq *rq = &qp->rq;
	struct frdma_rwr *cur = rq->cur;
	u32 prod;

	if (rq->have_cur)
		return true;

	prod = frdma_ring_prod_acquire(&rq->ring);
	if (prod == rq->cons)
		return false;
	if (unlikely(prod - rq->cons > rq->ring.entries)) {
		/* The process wrote nonsense over its indices. */
		if (frdma_qp_state(qp) != IB_QPS_ERR)
			frdma_qp_event(qp, IB_EVENT_QP_FATAL);
		frdma_qp_error(qp);
		return false;
	}

	copy_slot(rq);
	rq->have_cur = true;
	cur->len = 0;
	cur->fault = frdma_wqe_judge_recv(&cur->wqe, rq->max_sge) !=
		     FRDMA_WQE_OK ||
		     frdma_sge_check(qp->dev, qp->pd, cur->sge,
				     cur->wqe.num_sge, IB_ACCESS_LOCAL_WRITE,
				     &cur->len) != FRDMA_MR_OK;
	frdma_ring_cons_release(&rq->ring, ++rq->cons);
	return true;
}

/**
 * frdma_recv_flush - complete all receive requests as flushed
 * @qp: in the error state; the caller owns its receive side
 *
 * From here on the process rings for each request that it posts.
 *
 * Return: true if there may be more: the process may post as fast as we
 * flush.
 */
bool frdma_recv_flush(struct frdma_qp *qp)
{
	unsigned int budget = FLUSH_BUDGET;

	frdma_qp_rq_doorbell(qp, true);
	while (budget-- && frdma_recv_take(qp)) {
		struct frdma_cqe cqe = {
			.status = FRDMA_WC_WR_FLUSH_ERR,
			.opcode = IB_WC_RECV,
		};

		frdma_wc_recv(qp, &cqe, false);
	}
	return frdma_recv_take(qp);
}
