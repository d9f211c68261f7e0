// SPDX-License-Identifier: GPL-2.0
#include "dev.h"
#include "proto/wqe.h"
#include "recv.h"
#include "stats.h"
#include "wc.h"
#include "xrc.h"

/* Receive requests flushed in a step; then others get their turn. */
#define FLUSH_BUDGET	256

/* What is wrong with its queue is also the end of the queue pair. */
static void end_in_error(struct frdma_qp *qp)
{
	if (frdma_qp_state(qp) != IB_QPS_ERR)
		frdma_qp_event(qp, IB_EVENT_QP_FATAL);
	frdma_qp_error(qp);
}

static bool take_own(struct frdma_qp *qp)
{
	struct frdma_rq *rq = &qp->rq;
	u32 prod = frdma_ring_prod_acquire(&rq->ring);

	if (prod == rq->cons)
		return false;
	if (unlikely(prod - rq->cons > rq->ring.entries)) {
		/* The process wrote nonsense over its indices. */
		end_in_error(qp);
		return false;
	}

	frdma_rwr_copy(rq->cur, frdma_ring_slot(&rq->ring, rq->cons),
		       rq->max_sge);
	frdma_ring_cons_release(&rq->ring, ++rq->cons);
	return true;
}

static bool take_shared(struct frdma_qp *qp)
{
	struct frdma_srq *srq = qp->rq.srq;

	if (frdma_srq_take(srq, qp->rq.cur))
		return true;
	if (unlikely(frdma_srq_is_broken(srq)))
		end_in_error(qp);
	return false;
}

static u64 total_len(const struct frdma_rwr *rwr)
{
	u64 len = 0;
	u32 i;

	for (i = 0; i < rwr->wqe.num_sge; i++)
		len += rwr->sge[i].length;
	return len;
}

/**
 * frdma_recv_take - have a receive request in use, if one is posted
 * @qp: whose receive side the caller owns
 *
 * The slot is the process's again as soon as it is copied. Keys and ranges are
 * judged as far as messages use them: a message without payload uses none.
 *
 * Return: true if there is one in use.
 */
bool frdma_recv_take(struct frdma_qp *qp)
{
	struct frdma_rq *rq = &qp->rq;
	struct frdma_rwr *cur = rq->cur;

	if (rq->have_cur)
		return true;
	if (!(rq->srq ? take_shared(qp) : take_own(qp)))
		return false;

	rq->have_cur = true;
	cur->fault = frdma_wqe_judge_recv(&cur->wqe, rq->max_sge) !=
		     FRDMA_WQE_OK;
	cur->len = cur->fault ? 0 : total_len(cur);
	return true;
}

static void flush_one(struct frdma_qp *qp)
{
	struct frdma_cqe cqe = {
		.status = FRDMA_WC_WR_FLUSH_ERR,
		.opcode = IB_WC_RECV,
	};

	frdma_wc_recv(qp, &cqe, false);
}

/*
 * What the queue pair has not taken is there for others, so only the one in
 * use is flushed. From then on it takes no more, and says so (IBTA 10.2.9).
 * An XRC target does not keep a queue from going, with its requests.
 */
static void leave_shared(struct frdma_qp *qp)
{
	if (qp->type == IB_QPT_XRC_TGT && qp->rq.have_cur)
		qp->rq.have_cur = frdma_xrc_aim(qp, qp->rq.srqn);
	if (qp->rq.have_cur)
		flush_one(qp);
	if (qp->rq.last_wqe)
		return;
	qp->rq.last_wqe = true;
	frdma_qp_event(qp, IB_EVENT_QP_LAST_WQE_REACHED);
}

/**
 * frdma_recv_flush - complete all receive requests as flushed
 * @qp: in the error state; the caller owns its receive side
 *
 * From here on the process rings for each request that it posts. Those in a
 * shared receive queue stay there.
 *
 * Return: true if there may be more: the process may post as fast as we
 * flush.
 */
bool frdma_recv_flush(struct frdma_qp *qp)
{
	unsigned int budget = FLUSH_BUDGET;

	if (!qp->rq.ring.head) {
		leave_shared(qp);
		return false;
	}

	frdma_qp_rq_doorbell(qp, true);
	while (budget-- && frdma_recv_take(qp))
		flush_one(qp);
	return frdma_recv_take(qp);
}

/**
 * frdma_recv_reset - forget the receive requests of a queue pair
 * @qp: whose receive side the caller owns
 *
 * Without a ring of its own that is the one in use.
 */
void frdma_recv_reset(struct frdma_qp *qp)
{
	struct frdma_rq *rq = &qp->rq;

	rq->have_cur = false;
	rq->last_wqe = false;
	rq->read_waits = false;
	rq->page_in.told = 0;
	if (!rq->ring.head)
		return;

	rq->cons = frdma_ring_prod_acquire(&rq->ring);
	frdma_ring_cons_release(&rq->ring, rq->cons);
	frdma_qp_rq_doorbell(qp, false);
}
