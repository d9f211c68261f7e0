// SPDX-License-Identifier: GPL-2.0
#include <linux/ktime.h>

#include "burst.h"
#include "dev.h"
#include "lent.h"
#include "loopback.h"
#include "mr.h"
#include "qp.h"
#include "sge.h"
#include "stats.h"
#include "trace.h"
#include "tx.h"
#include "uctx.h"

/* Where the packets of a work request go. Returns false if nowhere. */
static bool find_flow(struct frdma_qp *qp, const struct frdma_swr *wr,
		      struct frdma_flow *flow)
{
	const struct frdma_ah *ah;

	*flow = frdma_flow_to_peer(qp, &qp->sq.route);
	flow->queued = &qp->sq.queued;
	if (!frdma_req_is_reliable(&qp->sq.req))
		flow->unsent = &qp->sq.unsent;
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

/**
 * enum packet_fate - what became of a packet that was planned, or of a run
 * @PACKET_SENT: it is in a train
 * @PACKET_UNSENT: the host has no room for it; one that is unreliable is lost
 * @PACKET_LATER: pages are absent that may not be waited for now: it asks again
 * @PACKET_ABSENT: pages are absent, and on their way
 * @PACKET_BAD_MEMORY: it has no payload, and never will
 */
enum packet_fate {
	PACKET_SENT,
	PACKET_UNSENT,
	PACKET_LATER,
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
	enum packet_fate fate = PACKET_SENT;
	u32 room;

	frdma_tx_set_span(tx, run->span);
	room = frdma_tx_reserve(tx, &run->hdr, run->len, run->nr);
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

	if (fate == PACKET_ABSENT &&
	    frdma_page_in_take_refusal(&qp->sq.page_in))
		return PACKET_LATER;
	return fate;
}

static enum packet_fate add_one(struct frdma_qp *qp, struct frdma_tx *tx,
				const struct frdma_swr *wr,
				struct frdma_req_pkt *pkt)
{
	enum packet_fate fate = PACKET_SENT;

	if (unlikely(frdma_pd_has_odp(qp->pd)))
		fate = ask_for_pages(qp, wr, pkt);
	return fate == PACKET_SENT ? add_packets(qp, tx, wr, pkt) : fate;
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
		fate = add_one(qp, tx, wr, &pkt);
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

	if (run->nr == 1)
		return add_one(qp, tx, wr, run);

	fate = add_packets(qp, tx, wr, run);
	if (fate == PACKET_SENT || fate == PACKET_UNSENT)
		return fate;
	return add_one_by_one(qp, tx, wr, run);
}

/*
 * Before its first packet is sent, all memory of a work request is judged; that
 * of which one packet takes all is when it is copied, or lent. One that is
 * unreliable is lost where the host has no room, before it is copied: whether it
 * could have been sent does not depend on that.
 */
static bool memory_is_usable(struct frdma_qp *qp, const struct frdma_swr *wr)
{
	const struct frdma_req *rq = &qp->sq.req;
	bool stores = frdma_kind_brings_data(wr->kind);
	u64 total;

	if (wr->wqe.flags & FRDMA_WQE_INLINE || !wr->wqe.num_sge)
		return true;
	if (!stores && wr->len <= rq->mtu && frdma_req_is_reliable(rq))
		return true;
	return frdma_sge_check(qp->dev, qp->pd, wr->sge, wr->wqe.num_sge,
			       stores ? IB_ACCESS_LOCAL_WRITE : 0,
			       &total) == FRDMA_MR_OK;
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
	if (fate == PACKET_UNSENT ? frdma_req_is_reliable(rq) :
				    fate != PACKET_SENT)
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

static bool may_send(const struct frdma_qp *qp)
{
	return !frdma_qp_is_held_back(qp) &&
	       frdma_req_judge(&qp->sq.req) == FRDMA_REQ_SEND;
}

/* To write memory back may take as long as all else together. */
static u32 cost_of(const struct frdma_req_pkt *run)
{
	if (frdma_op(run->hdr.opcode)->kind == FRDMA_KIND_FLUSH &&
	    run->hdr.flush_placement & FRDMA_FLUSH_PERSISTENT)
		return FRDMA_BURST_MAX;
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

/**
 * frdma_burst_send - send packets of one flow
 * @qp: whose send side the caller owns; judged FRDMA_REQ_SEND, or
 *	frdma_req_ask() has said so
 * @budget: most of them; at least one
 *
 * A connected queue pair has only one flow; a datagram may need another for each
 * work request. What cannot be sent gets its status; of what is
 * reliable, what the host refused is sent again later; pages that are absent were
 * asked for, or will be.
 *
 * Return: what of the budget it took, that of READ responses of this device
 * included. 0 without a status: queues of this host have no room, and the side is
 * kicked when they do.
 */
u32 frdma_burst_send(struct frdma_qp *qp, u32 budget)
{
	struct frdma_req *rq = &qp->sq.req;
	struct frdma_swr *first = frdma_req_wr(rq, rq->wr_next);
	enum packet_fate fate = PACKET_SENT;
	struct frdma_req_pkt run;
	struct frdma_flow flow;
	struct frdma_tx tx;
	bool alone = rq->resend.alone;
	u32 psn = rq->psn;
	bool refused;
	u32 sent = 0;
	u64 now_ns;

	if (qp->path.ours) {
		sent = pass_burst(qp, budget);
		if (sent || first->status)
			return sent;
	}
	/* A packet that asks for an acknowledgement is asked for once: it goes. */
	budget = min(budget, frdma_queued_room(&qp->sq.queued, rq->mtu) ?:
			     (u32)rq->ask);
	if (!budget)
		return 0;
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
	} while (!tx.refused && may_send(qp) && !frdma_req_is_datagram(rq) &&
		 !alone);

	refused = !frdma_tx_end(&tx);

	now_ns = ktime_get_ns();

	/*
	 * Unreliable packets that the host has no room for are kept (unsent.h), and
	 * what follows waits. Those without a route are lost; what follows waits as
	 * well, since nothing else slows it down, except for datagrams, whose next
	 * may go elsewhere. Nobody would enlarge a smaller window again.
	 */
	if (refused && frdma_req_is_reliable(rq))
		frdma_resend_refuse(rq, psn, tx.passed);
	if (refused && (tx.crowded || !frdma_req_is_datagram(rq)))
		frdma_retry_local(&rq->retry, now_ns);
	else if (fate == PACKET_LATER)
		frdma_req_hold(rq, now_ns);
	else
		frdma_retry_taken(&rq->retry);
	frdma_req_spend(rq, sent, now_ns);
	frdma_req_watch(rq, now_ns);
	return sent;
}
