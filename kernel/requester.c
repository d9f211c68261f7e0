// SPDX-License-Identifier: GPL-2.0
#include <linux/ktime.h>

#include "dev.h"
#include "fast.h"
#include "lent.h"
#include "loopback.h"
#include "mr.h"
#include "mw.h"
#include "proto/wqe.h"
#include "qp.h"
#include "requester.h"
#include "sge.h"
#include "stats.h"
#include "trace.h"
#include "tx.h"
#include "wc.h"

/* Packets of one step; then others get their turn. */
#define FRDMA_SEND_BUDGET	256

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

static bool memory_is_usable(struct frdma_qp *qp, const struct frdma_swr *wr)
{
	int access = 0;
	u64 total;

	if (frdma_kind_brings_data(frdma_wr(wr->wqe.opcode)->kind))
		access = IB_ACCESS_LOCAL_WRITE;

	if (wr->wqe.flags & FRDMA_WQE_INLINE || !wr->wqe.num_sge)
		return true;
	return frdma_sge_check(qp->dev, qp->pd, wr->sge, wr->wqe.num_sge,
			       access, &total) == FRDMA_MR_OK;
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

/* Take what was posted into the window, as far as it will soon be sent. */
static void fetch_posted(struct frdma_qp *qp)
{
	struct frdma_req *rq = &qp->sq.req;
	u32 prod = posted_prod(qp);

	while (rq->wr_prod != prod && rq->wr_prod - rq->wr_next < FETCH_AHEAD) {
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

/* Returns false if the work request is not finished. */
static bool execute_local(struct frdma_qp *qp)
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

/* Where the packets of a work request go. Returns false if nowhere. */
static bool find_flow(struct frdma_qp *qp, const struct frdma_swr *wr,
		      struct frdma_flow *flow)
{
	const struct frdma_ah *ah;

	*flow = frdma_flow_to_peer(qp);
	if (frdma_qp_is_connected(qp)) {
		flow->lane = &qp->sq.lane;
		/* Some of what is in flight may still be in its queue. */
		if (frdma_req_in_flight(&qp->sq.req))
			flow->lane->used_at = jiffies;
		return true;
	}

	if (qp->user) {
		ah = frdma_ah_find(qp->dev, wr->wqe.ud.ah);
		if (!ah || ah->pd != qp->pd)
			return false;
		flow->av = &ah->av;
	} else {
		flow->av = frdma_sq_av(&qp->sq, wr->sge);
	}
	flow->cache = NULL;
	flow->sport = frdma_av_sport(flow->av, qp->qpn, wr->wqe.ud.dqpn);
	return true;
}

/* A datagram carries its addressing in each work request (IBTA 10.2.5). */
static void fill_deth(const struct frdma_qp *qp, const struct frdma_swr *wr,
		      struct frdma_hdr *hdr)
{
	bool own = wr->wqe.ud.qkey & FRDMA_QKEY_OWN;

	hdr->dqpn = wr->wqe.ud.dqpn & FRDMA_QPN_MASK;
	hdr->qkey = own ? qp->qkey : wr->wqe.ud.qkey;
	hdr->sqpn = qp->qpn;
}

enum packet_fate {
	PACKET_SENT,
	PACKET_UNSENT,
	PACKET_ABSENT,
	PACKET_BAD_MEMORY,
};

static enum packet_fate fate_of(enum frdma_mr_fault fault)
{
	switch (fault) {
	case FRDMA_MR_OK:
		return PACKET_SENT;
	case FRDMA_MR_ABSENT:
		return PACKET_ABSENT;
	default:
		return PACKET_BAD_MEMORY;
	}
}

static enum packet_fate fill_payload(struct frdma_qp *qp,
				     const struct frdma_swr *wr,
				     const struct frdma_req_pkt *run,
				     struct frdma_stripes *to)
{
	u32 len = run->nr * run->len;

	if (wr->wqe.flags & FRDMA_WQE_INLINE) {
		frdma_stripes_put(to, (const void *)wr->sge + run->off, len);
		return PACKET_SENT;
	}
	return fate_of(frdma_sge_gather(qp->dev, qp->pd, wr->sge,
					wr->wqe.num_sge, run->off, to, len));
}

/* As many of the run as there is room for, and @run is of these then. */
static enum packet_fate add_packets(struct frdma_qp *qp, struct frdma_tx *tx,
				    const struct frdma_swr *wr,
				    struct frdma_req_pkt *run)
{
	u32 room = frdma_tx_reserve(tx, &run->hdr, run->len, run->nr);
	enum packet_fate fate = PACKET_SENT;

	if (room < run->nr)
		frdma_req_plan_run(&qp->sq.req, run, max(room, 1U));
	if (!room)
		return PACKET_UNSENT;
	if (run->len)
		fate = fill_payload(qp, wr, run, &tx->to);
	if (fate == PACKET_SENT)
		frdma_tx_commit(tx);
	return fate;
}

/* The bytes of the work request that a packet needs, as its list counts them. */
static u32 bytes_needed(const struct frdma_swr *wr,
			const struct frdma_req_pkt *pkt)
{
	switch (wr->kind) {
	case FRDMA_KIND_READ:
		return pkt->hdr.dma_len;
	case FRDMA_KIND_ATOMIC:
		return sizeof(u64);
	default:
		return wr->wqe.flags & FRDMA_WQE_INLINE ? 0 : pkt->len;
	}
}

/*
 * Memory that is not pinned has to be there: the source of a packet, and also
 * what the response to a request will be stored in. If that is not there any
 * more when the response comes, the response counts as lost.
 */
static enum packet_fate ask_for_pages(struct frdma_qp *qp,
				      const struct frdma_swr *wr,
				      const struct frdma_req_pkt *pkt)
{
	bool stores = frdma_kind_brings_data(wr->kind);
	enum packet_fate fate;

	fate = fate_of(frdma_sge_page_in(qp->dev, qp->pd, wr->sge,
					 wr->wqe.num_sge, pkt->off,
					 bytes_needed(wr, pkt),
					 stores ? IB_ACCESS_LOCAL_WRITE : 0,
					 &qp->sq.page_in));

	/* Too many wait, and this one cannot: it asks again. */
	if (fate == PACKET_ABSENT && !frdma_page_in_is_busy(&qp->sq.page_in))
		return PACKET_UNSENT;
	return fate;
}

/* Those in front of what cannot be sent are, and @run is of these then. */
static enum packet_fate add_one_by_one(struct frdma_qp *qp,
				       struct frdma_tx *tx,
				       const struct frdma_swr *wr,
				       struct frdma_req_pkt *run)
{
	enum packet_fate fate = PACKET_SENT;
	struct frdma_req_pkt pkt;
	u32 n;

	for (n = 0; n < run->nr; n++) {
		pkt = frdma_req_run_nth(run, n);
		if (unlikely(atomic_read(&qp->dev->nr_odp)))
			fate = ask_for_pages(qp, wr, &pkt);
		if (fate == PACKET_SENT)
			fate = add_packets(qp, tx, wr, &pkt);
		if (fate != PACKET_SENT)
			break;
	}
	if (fate == PACKET_SENT)
		return fate;
	frdma_req_plan_run(&qp->sq.req, run, max(n, 1U));
	return n ? PACKET_SENT : fate;
}

/*
 * All of it at once. If that fails, be it that pages are absent, the packets say
 * by themselves how far it goes.
 */
static enum packet_fate add_run(struct frdma_qp *qp, struct frdma_tx *tx,
				const struct frdma_swr *wr,
				struct frdma_req_pkt *run)
{
	enum packet_fate fate;

	if (run->nr > 1) {
		fate = add_packets(qp, tx, wr, run);
		if (fate < PACKET_ABSENT)
			return fate;
	}
	return add_one_by_one(qp, tx, wr, run);
}

/*
 * Describe the next packets, of which there are not more than @max. Returns
 * false if their memory cannot be sent.
 */
static bool plan_run(struct frdma_qp *qp, struct frdma_req_pkt *run, u32 max)
{
	struct frdma_req *rq = &qp->sq.req;
	struct frdma_swr *wr = frdma_req_wr(rq, rq->wr_next);

	if (frdma_req_begins(rq) && !memory_is_usable(qp, wr)) {
		wr->status = FRDMA_WC_LOC_PROT_ERR;
		return false;
	}
	frdma_req_plan(rq, run);
	frdma_req_plan_run(rq, run, max);
	if (frdma_req_is_datagram(rq))
		fill_deth(qp, wr, &run->hdr);
	return true;
}

static void note_sent(struct frdma_qp *qp, const struct frdma_req_pkt *run)
{
	struct frdma_req *rq = &qp->sq.req;

	if (frdma_req_repeats(rq))
		frdma_qp_count_add(qp, FRDMA_CNT_RESENT_PACKETS, run->nr);
	trace_frdma_tx(qp->dev->ndev->ifindex, qp->qpn, run->hdr.opcode,
		       run->hdr.psn, run->len, run->nr);
	frdma_req_sent(rq, run);
}

static enum packet_fate send_run(struct frdma_qp *qp, struct frdma_tx *tx,
				 struct frdma_req_pkt *run)
{
	struct frdma_req *rq = &qp->sq.req;
	struct frdma_swr *wr = frdma_req_wr(rq, rq->wr_next);
	enum packet_fate fate = add_run(qp, tx, wr, run);

	if (fate == PACKET_BAD_MEMORY)
		wr->status = FRDMA_WC_LOC_PROT_ERR;
	if (fate >= PACKET_ABSENT ||
	    (fate == PACKET_UNSENT && frdma_req_is_reliable(rq)))
		return fate;

	note_sent(qp, run);
	return PACKET_SENT;
}

/* As many of the run as there are pieces for, and @run is of these then. */
static enum packet_fate lend_payload(struct frdma_qp *qp,
				     const struct frdma_swr *wr,
				     struct frdma_req_pkt *run,
				     struct frdma_lent *lent)
{
	u32 len = run->nr * run->len;
	enum frdma_mr_fault fault;

	lent->nr = 0;
	lent->len = 0;
	if (!len)
		return PACKET_SENT;
	if (wr->wqe.flags & FRDMA_WQE_INLINE) {
		frdma_lent_add(lent, (void *)wr->sge + run->off, len);
		return PACKET_SENT;
	}

	fault = frdma_sge_lend(qp->dev, qp->pd, wr->sge, wr->wqe.num_sge,
			       run->off, len, lent);
	if (fault != FRDMA_MR_NOT_LENT)
		return fate_of(fault);
	if (lent->len < run->len)
		return PACKET_UNSENT;
	frdma_req_plan_run(&qp->sq.req, run, lent->len / run->len);
	return PACKET_SENT;
}

/* The same without packets. What memory can not be lent stays unsent. */
static enum packet_fate pass_run(struct frdma_qp *qp, struct frdma_loop *loop,
				 struct frdma_req_pkt *run)
{
	struct frdma_req *rq = &qp->sq.req;
	struct frdma_swr *wr = frdma_req_wr(rq, rq->wr_next);
	struct frdma_lent lent;
	enum packet_fate fate;

	fate = lend_payload(qp, wr, run, &lent);
	if (fate == PACKET_BAD_MEMORY)
		wr->status = FRDMA_WC_LOC_PROT_ERR;
	if (fate != PACKET_SENT)
		return fate;

	note_sent(qp, run);
	frdma_loopback_send(loop, run, &lent);
	return PACKET_SENT;
}

/*
 * IBTA 10.3.1: in SQD what was begun is finished, and nothing is begun. A
 * local operation that waits for readers has begun.
 */
static bool is_held_back(const struct frdma_qp *qp)
{
	const struct frdma_req *rq = &qp->sq.req;

	return frdma_qp_state(qp) == IB_QPS_SQD && frdma_req_begins(rq) &&
	       !qp->sq.draining;
}

static bool may_send(const struct frdma_qp *qp)
{
	return !is_held_back(qp) &&
	       frdma_req_judge(&qp->sq.req) == FRDMA_REQ_SEND;
}

/* To write memory back may take as long as all else together. */
static u32 cost_of(const struct frdma_req_pkt *run)
{
	if (frdma_op(run->hdr.opcode)->kind == FRDMA_KIND_FLUSH &&
	    run->hdr.flush_placement & FRDMA_FLUSH_PERSISTENT)
		return FRDMA_SEND_BUDGET;
	return run->nr * run->span;
}

/*
 * Send to a peer on the same device. Returns what of the budget it took, that
 * of the answers to READs included; 0 if nothing can be sent so.
 */
static u32 pass_burst(struct frdma_qp *qp, u32 budget)
{
	enum packet_fate fate;
	struct frdma_req_pkt run;
	struct frdma_loop loop;
	u32 sent = 0, max;

	if (!frdma_loopback_begin(&loop, qp))
		return 0;
	do {
		max = min(budget - sent,
			  frdma_loopback_run_max(qp->sq.req.mtu));
		fate = plan_run(qp, &run, max) ? pass_run(qp, &loop, &run) :
						 PACKET_BAD_MEMORY;
		if (fate != PACKET_SENT)
			break;
		sent += min(cost_of(&run), budget - sent);
	} while (sent < budget && may_send(qp));
	frdma_loopback_end(&loop);

	frdma_req_watch(&qp->sq.req, ktime_get_ns());
	return sent;
}

/*
 * Send packets of one flow. A connected queue pair has only one; a datagram
 * may need another for each work request.
 */
static u32 send_burst(struct frdma_qp *qp, u32 budget)
{
	struct frdma_req *rq = &qp->sq.req;
	struct frdma_swr *first = frdma_req_wr(rq, rq->wr_next);
	enum packet_fate fate = PACKET_SENT;
	struct frdma_req_pkt run;
	struct frdma_flow flow;
	struct frdma_tx tx;
	bool refused;
	u32 sent = 0;
	u64 now_ns;

	if (qp->path.ours) {
		sent = pass_burst(qp, budget);
		if (sent || first->status)
			return sent;
	}
	qp->sq.abroad = true;
	qp->sq.abroad_at = jiffies;
	if (!find_flow(qp, first, &flow)) {
		first->status = FRDMA_WC_LOC_QP_OP_ERR;
		return 0;
	}

	frdma_tx_begin(&tx, &flow);
	do {
		fate = plan_run(qp, &run, budget - sent) ?
		       send_run(qp, &tx, &run) : PACKET_BAD_MEMORY;
		if (fate == PACKET_SENT || fate == PACKET_ABSENT)
			sent += run.nr;
		if (fate != PACKET_SENT || sent >= budget)
			break;
	} while (!tx.refused && may_send(qp) && !frdma_req_is_datagram(rq));

	refused = !frdma_tx_end(&tx) || fate == PACKET_UNSENT;

	now_ns = ktime_get_ns();

	/*
	 * What is unreliable and was refused is lost, like what is lost on the
	 * way. What follows waits all the same: nothing else slows it down. A
	 * window that got smaller nobody would make larger again.
	 */
	if (refused) {
		if (frdma_req_is_reliable(rq))
			frdma_cc_lost(&rq->cc);
		frdma_retry_local(&rq->retry, now_ns);
	} else {
		frdma_retry_taken(&rq->retry);
	}
	frdma_req_spend(rq, sent, now_ns);
	frdma_req_watch(rq, now_ns);
	return sent;
}

/* IBTA 10.3.1, or pages that are not there. */
static bool is_at_rest(const struct frdma_qp *qp)
{
	return is_held_back(qp) || frdma_page_in_is_busy(&qp->sq.page_in);
}

/* What of the budget may be used now. */
static u32 may_leave(const struct frdma_req *rq, u32 budget)
{
	if (!frdma_req_is_paced(rq))
		return budget;
	return min(budget, frdma_req_credit(rq, ktime_get_ns()));
}

/* What the queue pair allows is known when it is to be sent: modify in SQD. */
static void refuse_read(struct frdma_qp *qp)
{
	struct frdma_req *rq = &qp->sq.req;

	frdma_req_wr(rq, rq->wr_next)->status = FRDMA_WC_LOC_QP_OP_ERR;
	frdma_qp_count(qp, FRDMA_CNT_LOCAL_ERRORS);
}

/*
 * Send what may be sent, as far as the budget goes. What was sent must not wait
 * for an acknowledgement that the next packet would have asked for.
 */
static void transmit(struct frdma_qp *qp, u32 *budget)
{
	struct frdma_req *rq = &qp->sq.req;
	u32 most;

	while (*budget && !is_at_rest(qp)) {
		switch (frdma_req_judge(rq)) {
		case FRDMA_REQ_SEND:
			most = may_leave(rq, *budget);
			if (!most)
				return;
			*budget -= send_burst(qp, most);
			break;
		case FRDMA_REQ_LOCAL:
			if (!execute_local(qp))
				return;
			--*budget;
			break;
		case FRDMA_REQ_EMPTY:
			fetch_posted(qp);
			if (rq->wr_next == rq->wr_prod)
				return;
			break;
		case FRDMA_REQ_NO_READS:
			refuse_read(qp);
			break;
		case FRDMA_REQ_FAILED:
			if (!frdma_req_ask(rq))
				return;
			break;
		default:
			return;
		}
	}
	if (*budget && is_at_rest(qp) && frdma_req_ask(rq))
		*budget -= send_burst(qp, 1);
}

/*
 * Who sees a completion may post in its place at once, so the slot is given
 * back first. The work request itself is a copy, ours until the next fetch.
 */
static void complete_oldest(struct frdma_qp *qp, const struct frdma_swr *wr,
			    u8 status)
{
	frdma_ring_cons_release(&qp->sq.ring, qp->sq.req.wr_una);
	frdma_wc_send(qp, wr, status);
}

/* What is wrong completes when its turn comes to be sent, not before. */
static bool oldest_is_held_back(const struct frdma_qp *qp)
{
	const struct frdma_req *rq = &qp->sq.req;

	return rq->wr_una == rq->wr_next && is_held_back(qp);
}

static void reap(struct frdma_qp *qp)
{
	struct frdma_swr *wr;

	while (!oldest_is_held_back(qp) && (wr = frdma_req_reap(&qp->sq.req))) {
		complete_oldest(qp, wr, wr->status);
		if (wr->status) {
			frdma_qp_send_error(qp);
			break;
		}
	}
}

/*
 * IBTA 10.3.1.7: all that was posted completes, in order, as flushed. Returns
 * true if there may be more.
 */
static bool flush(struct frdma_qp *qp)
{
	struct frdma_req *rq = &qp->sq.req;
	bool any;

	fetch_posted(qp);
	any = rq->wr_una != rq->wr_prod;
	while (rq->wr_una != rq->wr_prod)
		complete_oldest(qp, frdma_req_wr(rq, rq->wr_una++),
				FRDMA_WC_WR_FLUSH_ERR);

	/* With nothing to flush, too: what failed has left PSNs unused. */
	frdma_req_forget(rq);
	return any;
}

static void look_at_clock(struct frdma_qp *qp, u64 now_ns)
{
	struct frdma_req *rq = &qp->sq.req;

	/* The timer has fired, or is about to. */
	if (qp->sq.timer_ns && qp->sq.timer_ns <= now_ns)
		qp->sq.timer_ns = 0;

	/* Nothing can be sent again: the time is not the peer's. */
	if (frdma_page_in_is_busy(&qp->sq.page_in))
		return;

	switch (frdma_retry_expire(&rq->retry, now_ns)) {
	case FRDMA_EXPIRY_NOT_YET:
		return;
	case FRDMA_EXPIRY_PROBE:
		if (frdma_req_mend(rq))
			frdma_qp_count(qp, FRDMA_CNT_PROBES);
		return;
	case FRDMA_EXPIRY_RESUME:
		frdma_req_resume(rq);
		return;
	case FRDMA_EXPIRY_RESEND:
		frdma_cc_silent(&rq->cc);
		frdma_qp_count(qp, FRDMA_CNT_RETRY_TIMEOUTS);
		trace_frdma_retry(qp->dev->ndev->ifindex, qp->qpn, rq->una_psn,
				  "timeout", rq->retry.retry_left);
		break;
	case FRDMA_EXPIRY_EXHAUSTED:
		frdma_qp_count(qp, FRDMA_CNT_RETRY_EXCEEDED);
		frdma_req_fail(rq, FRDMA_WC_RETRY_EXC_ERR, 0);
		return;
	}
	frdma_req_restart(rq);
}

/* One timer, lazily: it may fire early, but not late. */
static void set_timer(struct frdma_qp *qp)
{
	struct frdma_req *rq = &qp->sq.req;
	u64 next_ns = frdma_retry_next_ns(&rq->retry);

	if (!is_at_rest(qp))
		next_ns = min(next_ns, frdma_req_next_ns(rq));

	/* What wakes this side then is that the pages have come. */
	if (next_ns == U64_MAX || frdma_page_in_is_busy(&qp->sq.page_in))
		return;
	if (qp->sq.timer_ns && qp->sq.timer_ns <= next_ns)
		return;
	qp->sq.timer_ns = next_ns;
	hrtimer_start(&qp->sq.timer, ns_to_ktime(next_ns),
		      HRTIMER_MODE_ABS_SOFT);
}

static void report_drained(struct frdma_qp *qp)
{
	if (frdma_qp_state(qp) != IB_QPS_SQD || qp->sq.drained)
		return;
	if (frdma_req_in_flight(&qp->sq.req) || !is_held_back(qp))
		return;
	qp->sq.drained = true;
	if (qp->sq.drain_event)
		frdma_qp_event(qp, IB_EVENT_SQ_DRAINED);
}

/* Returns true if there is more to send, but not now. */
static bool send_posted(struct frdma_qp *qp)
{
	u32 budget = FRDMA_SEND_BUDGET;
	u32 una;

	look_at_clock(qp, ktime_get_ns());
	reap(qp);
	if (!frdma_qp_can_send(qp))
		return false;

	/* What is complete may let more begin: a fence, an invalidation. */
	do {
		una = qp->sq.req.wr_una;
		fetch_posted(qp);
		transmit(qp, &budget);
		reap(qp);
	} while (budget && qp->sq.req.wr_una != una && frdma_qp_can_send(qp));

	report_drained(qp);
	set_timer(qp);
	return !budget;
}

/**
 * frdma_requester_step - do what there is to do on the send side
 * @side: owned by the caller
 *
 * Digest what the peer answered, send what may be sent, complete what is
 * complete.
 *
 * Return: true if there is more, but not now.
 */
bool frdma_requester_step(struct frdma_side *side)
{
	struct frdma_qp *qp = frdma_qp_of_send(side);
	bool more = frdma_side_take_packets(side);

	if (frdma_qp_can_send(qp))
		more |= send_posted(qp);
	if (frdma_qp_is_flushing_sends(qp))
		more |= flush(qp);

	if (qp->sq.notify) {
		qp->sq.notify = false;
		frdma_cq_notify(qp->sq.cq);
	}
	return more;
}
