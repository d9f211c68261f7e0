// SPDX-License-Identifier: GPL-2.0
#include "req.h"

/**
 * frdma_req_init - a send side that has sent nothing
 * @rq: state; its ring, limits and peer are set and stay
 * @first_psn: PSN of the first packet
 *
 * The indices of the ring stay too: work requests may have been posted
 * already, but none has been fetched (no work request is fetched before the
 * queue pair is ready to send).
 */
void frdma_req_init(struct frdma_req *rq, u32 first_psn)
{
	first_psn &= FRDMA_PSN_MASK;
	rq->una_psn = first_psn;
	rq->psn = first_psn;
	rq->end_psn = first_psn;
	rq->fetch_psn = first_psn;
	rq->restart_psn = first_psn;
	rq->fine_psn = first_psn;
	rq->asked = false;
	frdma_pace_init(&rq->pace);
	rq->ask = false;
	rq->pkt = 0;
	rq->rd_out = 0;
	rq->rd_old = 0;
	rq->since_ack_req = 0;
	frdma_resend_init(&rq->resend, first_psn);
	frdma_retry_init(&rq->retry);
}

static bool swr_is_local(const struct frdma_swr *wr)
{
	return wr->kind == FRDMA_KIND_NONE;
}

static u32 pkts_of_message(const struct frdma_req *rq,
			   const struct frdma_swr *wr)
{
	if (swr_is_local(wr))
		return 0;
	if (wr->kind == FRDMA_KIND_ATOMIC || wr->len <= rq->mtu)
		return 1;
	return wr->len / rq->mtu + !!(wr->len % rq->mtu);
}

/**
 * frdma_req_fetched - take a work request into the window
 * @rq: state; the snapshot is in the slot of @rq->wr_prod, its status set
 * @len: bytes of its message, at most FRDMA_MSG_MAX
 *
 * Gives it its PSNs.
 */
void frdma_req_fetched(struct frdma_req *rq, u32 len)
{
	struct frdma_swr *wr = frdma_req_wr(rq, rq->wr_prod);

	wr->kind = frdma_wr(wr->wqe.opcode)->kind;
	wr->len = len;
	wr->done = false;
	wr->first_psn = rq->fetch_psn;
	wr->npkts = pkts_of_message(rq, wr);
	rq->fetch_psn = frdma_psn_add(rq->fetch_psn, wr->npkts);
	rq->wr_prod++;
}

/*
 * What is asked for again comes in finer pieces than the first time, and the
 * peer remembers as many requests as were agreed upon. Those of the first time
 * may arrive late, between the finer ones, and must not drive out of its
 * memory what is not answered yet: it could not be asked for any more. What is
 * asked for again as it was before takes the place that it had.
 */
static bool reads_are_full(const struct frdma_req *rq)
{
	if (frdma_resend_reads(rq) >= frdma_req_reads_max(rq))
		return true;
	if (!frdma_req_repeats(rq) || !rq->rd_out ||
	    !frdma_req_outstanding(rq))
		return false;
	/* Inside of a long piece the part before is to be answered first. */
	if (!frdma_req_is_fine(rq, rq->psn))
		return rq->pkt % rq->read_grid;
	/* Where what is late left no room, all comes as it was. */
	return 2 * rq->rd_old <= rq->rd_max &&
	       rq->rd_out + rq->rd_old > rq->rd_max;
}

/*
 * While the peer says that it misses one packet, which was sent again, it keeps
 * those behind it. They have left the network, though nothing acknowledges them:
 * others may follow, as many as the peer will keep. READs are not kept apart. But
 * so are their responses here.
 */
static u32 window_for(const struct frdma_req *rq, const struct frdma_swr *wr)
{
	u32 window = rq->cc.window;
	u32 beyond = min(window, FRDMA_BEYOND_BYTES_MAX / rq->mtu);
	u32 most = wr->kind == FRDMA_KIND_READ ? rq->read_grid : 1;

	if (!frdma_resend_has_hole(rq) &&
	    (!rq->resend.keeps || !frdma_resend_fills_hole(rq) ||
	     frdma_swr_wants_response(wr)))
		return window;
	return max(window, min_t(u32, window + beyond, FRDMA_KEPT_SPAN - most));
}

/**
 * frdma_req_judge - may the requester send
 * @rq: state
 */
enum frdma_req_verdict frdma_req_judge(const struct frdma_req *rq)
{
	const struct frdma_swr *wr;

	if (rq->wr_next == rq->wr_prod)
		return FRDMA_REQ_EMPTY;
	if (frdma_retry_paused(&rq->retry))
		return FRDMA_REQ_PAUSED;

	wr = frdma_req_wr(rq, rq->wr_next);
	if (wr->status)
		return FRDMA_REQ_FAILED;
	/* The window counts it already; frdma_resend_hole() found its place. */
	if (frdma_resend_asks_for_hole(rq))
		return FRDMA_REQ_SEND;
	if (wr->wqe.flags & FRDMA_WQE_FENCE && rq->rd_out)
		return FRDMA_REQ_FENCED;

	/*
	 * Work before an invalidation may have to be sent again, and needs
	 * the key then: so invalidate only when all of it is complete.
	 */
	if (wr->wqe.opcode == IB_UVERBS_WR_LOCAL_INV &&
	    rq->wr_una != rq->wr_next)
		return FRDMA_REQ_FENCED;
	if (swr_is_local(wr))
		return rq->wr_next - rq->wr_una < FRDMA_LOCAL_MAX ?
		       FRDMA_REQ_LOCAL : FRDMA_REQ_FENCED;

	if (frdma_swr_wants_response(wr) && !rq->rd_max &&
	    frdma_req_begins(rq))
		return FRDMA_REQ_NO_READS;
	if (frdma_req_outstanding(rq) >= window_for(rq, wr))
		return FRDMA_REQ_WINDOW;
	if (frdma_swr_wants_response(wr) && reads_are_full(rq))
		return FRDMA_REQ_READS;

	return FRDMA_REQ_SEND;
}

/*
 * Packets to the next one that asks for an acknowledgement wherever it is. Where
 * packets are lost it is asked more often: the window moves sooner.
 */
static u32 pkts_until_ack(const struct frdma_req *rq)
{
	u32 part = rq->cc.window / (rq->resend.keeps ? 8 : 4);

	if (!frdma_req_is_reliable(rq))
		return U32_MAX;
	if (rq->ask || rq->since_ack_req >= part)
		return 1;
	return part - rq->since_ack_req;
}

/* Will the window move without an acknowledgement of this packet? */
static bool wants_ack(const struct frdma_req *rq, const struct frdma_swr *wr,
		      bool ends)
{
	const struct frdma_swr *next;

	if (!frdma_req_is_reliable(rq))
		return false;
	if (pkts_until_ack(rq) == 1)
		return true;
	if (!ends)
		return false;
	if (rq->wr_next + 1 == rq->wr_prod)
		return true;

	next = frdma_req_wr(rq, rq->wr_next + 1);
	return next->status || swr_is_local(next) || frdma_swr_wants_response(next) ||
	       next->wqe.flags & FRDMA_WQE_FENCE;
}

/*
 * Is a READ asked for in fine pieces from the next packet on, which is none yet? A
 * small window wants that. But all before @fine_psn is fine, and what was asked for
 * in a long piece, and is not answered, must not become so; unless nothing was heard
 * at all, and it seems to be too much: then part by part, see reads_are_full().
 */
static bool goes_fine(const struct frdma_req *rq)
{
	u32 enough = frdma_req_repeats(rq) ? FRDMA_READ_STEP : rq->read_grid;

	return rq->cc.window < enough && !rq->resend.alone &&
	       (!rq->rd_out || rq->psn == rq->fine_psn);
}

/* Packets to the end of the hole that is asked for. */
static u32 hole_left(const struct frdma_req *rq)
{
	return (rq->resend.alone_psn - rq->psn) & FRDMA_PSN_MASK;
}

/* One request for all packets of a piece. */
static void plan_read(const struct frdma_req *rq, const struct frdma_swr *wr,
		      struct frdma_req_pkt *pkt)
{
	bool fine = frdma_req_is_fine(rq, rq->psn) || goes_fine(rq);

	pkt->span = min(wr->npkts - rq->pkt,
			frdma_req_read_left(rq, rq->pkt, fine));
	if (rq->resend.alone)
		pkt->span = min(pkt->span, hole_left(rq));
	pkt->hdr.va = wr->wqe.remote_addr + pkt->off;
	pkt->hdr.dma_len = min(wr->len - pkt->off, pkt->span * rq->mtu);
}

static void plan_atomic(const struct frdma_swr *wr, struct frdma_req_pkt *pkt)
{
	if (wr->wqe.opcode == IB_UVERBS_WR_ATOMIC_CMP_AND_SWP) {
		pkt->hdr.swap_add = wr->wqe.atomic.swap;
		pkt->hdr.compare = wr->wqe.atomic.compare_add;
	} else {
		pkt->hdr.swap_add = wr->wqe.atomic.compare_add;
	}
}

static void plan_flush(const struct frdma_swr *wr, struct frdma_req_pkt *pkt)
{
	pkt->hdr.flush_placement = wr->wqe.flush.placement;
	pkt->hdr.flush_select = wr->wqe.flush.select;
	pkt->hdr.dma_len = wr->wqe.flush.length;
}

static void plan_payload(const struct frdma_req *rq, const struct frdma_swr *wr,
			 bool ends, struct frdma_req_pkt *pkt)
{
	pkt->len = ends ? wr->len - pkt->off : rq->mtu;
	pkt->hdr.pad = -pkt->len & 3;
	pkt->hdr.dma_len = wr->len;
	pkt->hdr.imm_data = (__force __be32)wr->wqe.ex;
	pkt->hdr.inv_rkey = wr->wqe.ex;
	pkt->hdr.ack_req = wants_ack(rq, wr, ends);
	pkt->hdr.solicited = frdma_op(pkt->hdr.opcode)->ends_recv &&
			     wr->wqe.flags & FRDMA_WQE_SOLICITED;
}

/**
 * frdma_req_plan - describe the next packet
 * @rq: state, judged FRDMA_REQ_SEND
 * @pkt: set to what is to be sent
 */
void frdma_req_plan(const struct frdma_req *rq, struct frdma_req_pkt *pkt)
{
	const struct frdma_swr *wr = frdma_req_wr(rq, rq->wr_next);
	bool whole = frdma_swr_wants_response(wr);
	bool ends = whole || rq->pkt + 1 == wr->npkts;
	bool starts = whole || rq->pkt == 0;

	*pkt = (struct frdma_req_pkt) {
		.off = rq->pkt * rq->mtu,
		.span = 1,
		.nr = 1,
		.hdr = {
			.opcode	= frdma_wr_opcode(frdma_wr(wr->wqe.opcode),
						  rq->transport, starts, ends),
			.psn	= rq->psn,
			.dqpn	= rq->dqpn,
			.pkey	= rq->pkey,
			.migreq	= true,
			.va	= wr->wqe.remote_addr,
			.rkey	= wr->wqe.rkey,
		},
	};
	if (rq->transport == FRDMA_XRC)
		pkt->hdr.srqn = wr->wqe.xrc.srqn & FRDMA_SRQN_MASK;

	switch (wr->kind) {
	case FRDMA_KIND_ATOMIC_WRITE:
		pkt->len = wr->len;
		pkt->hdr.dma_len = wr->len;
		break;
	case FRDMA_KIND_FLUSH:
		plan_flush(wr, pkt);
		break;
	case FRDMA_KIND_READ:
		plan_read(rq, wr, pkt);
		break;
	case FRDMA_KIND_ATOMIC:
		plan_atomic(wr, pkt);
		break;
	default:
		plan_payload(rq, wr, ends, pkt);
		break;
	}
}

/**
 * frdma_req_plan_run - plan packets that are alike, all at once
 * @rq: state, unchanged since frdma_req_plan()
 * @pkt: that plan; becomes one for as many packets as possible
 * @max: most of them, at least one
 *
 * Inside of a message nothing but the window can hold a packet back, and one
 * differs from the next in its place only. What asks for an acknowledgement
 * ends a run. Either all of its packets were sent before, or none.
 *
 * Each of them is what frdma_req_judge() and frdma_req_plan() would say when
 * those before it were sent. Can be called again, to plan fewer.
 */
void frdma_req_plan_run(const struct frdma_req *rq, struct frdma_req_pkt *pkt,
			u32 max)
{
	const struct frdma_swr *wr = frdma_req_wr(rq, rq->wr_next);
	const struct frdma_op *op = frdma_op(pkt->hdr.opcode);
	u32 until_ack = pkts_until_ack(rq);
	u32 nr;

	/* What frdma_req_ask() has sent again is beyond the window, and asks. */
	if (op->starts || op->ends || until_ack == 1)
		return;

	nr = min(wr->npkts - rq->pkt - 1,
		 window_for(rq, wr) - frdma_req_outstanding(rq));
	if (frdma_req_repeats(rq))
		nr = min(nr, (rq->end_psn - rq->psn) & FRDMA_PSN_MASK);
	pkt->nr = min(min(nr, until_ack), max);
	pkt->hdr.ack_req = pkt->nr == until_ack;
}

/* Local operations that were executed before a restart are not repeated. */
static void skip_done(struct frdma_req *rq)
{
	while (rq->wr_next != rq->wr_prod) {
		const struct frdma_swr *wr = frdma_req_wr(rq, rq->wr_next);

		if (wr->npkts || !wr->done)
			break;
		rq->wr_next++;
	}
}

/*
 * What asks for nothing is answered when something else does, later. That a READ
 * is being answered, the first of its packets says.
 */
static void note_asked(struct frdma_req *rq, const struct frdma_req_pkt *pkt)
{
	const struct frdma_swr *wr = frdma_req_wr(rq, rq->wr_next);

	if (!pkt->hdr.ack_req && !frdma_swr_wants_response(wr))
		return;
	rq->asked = true;
	rq->asked_psn = frdma_swr_wants_response(wr) ?
			frdma_psn_add(pkt->hdr.psn, 1) : rq->end_psn;
}

/**
 * frdma_req_sent - what was planned is on its way
 * @rq: state, unchanged since frdma_req_plan()
 * @pkt: that plan, of a packet or of a run
 */
void frdma_req_sent(struct frdma_req *rq, const struct frdma_req_pkt *pkt)
{
	const struct frdma_swr *wr = frdma_req_wr(rq, rq->wr_next);
	bool fine = wr->kind == FRDMA_KIND_READ && goes_fine(rq);
	u32 npkts = pkt->nr * pkt->span;

	rq->psn = frdma_psn_add(rq->psn, npkts);
	if (frdma_psn_diff(rq->psn, rq->end_psn) > 0) {
		rq->end_psn = rq->psn;
		note_asked(rq, pkt);
	}
	if (!frdma_req_is_reliable(rq))
		rq->una_psn = rq->psn;

	if (fine && frdma_psn_diff(rq->psn, rq->fine_psn) > 0)
		rq->fine_psn = rq->psn;
	if (rq->resend.alone) {
		if (rq->resend.hole)
			frdma_resend_hole_sent(rq);
		frdma_resend_go_on(rq);
		return;
	}
	if (frdma_swr_wants_response(wr))
		rq->rd_out++;
	rq->ask = false;
	if (pkt->hdr.ack_req || frdma_swr_wants_response(wr))
		rq->since_ack_req = 0;
	else
		rq->since_ack_req += pkt->nr;

	rq->pkt += npkts;
	if (rq->pkt < wr->npkts)
		return;
	rq->pkt = 0;
	rq->wr_next++;
	skip_done(rq);
}

static struct frdma_pace_rate rate_of(const struct frdma_req *rq)
{
	return (struct frdma_pace_rate) {
		.window	= rq->cc.window,
		.rtt_ns	= rq->retry.rtt.smooth_ns,
	};
}

/**
 * frdma_req_credit - how many packets may leave now
 * @rq: state, judged FRDMA_REQ_SEND
 * @now_ns: monotonic time; is not looked at unless frdma_req_is_paced()
 *
 * What is sent again alone is never late.
 *
 * Return: U32_MAX: as many as there are.
 */
u32 frdma_req_credit(const struct frdma_req *rq, u64 now_ns)
{
	if (!frdma_req_is_paced(rq))
		return U32_MAX;
	if (rq->resend.alone)
		return 1;
	return frdma_pace_credit(&rq->pace, rate_of(rq), now_ns);
}

/**
 * frdma_req_next_ns - when the next packets may leave, at the pace
 * @rq: state
 *
 * Return: monotonic time; U64_MAX: there are none that wait for that.
 */
u64 frdma_req_next_ns(const struct frdma_req *rq)
{
	if (!frdma_req_is_paced(rq) || frdma_req_judge(rq) != FRDMA_REQ_SEND)
		return U64_MAX;
	return frdma_pace_next_ns(&rq->pace, rate_of(rq));
}

/**
 * frdma_req_spend - packets are on their way
 * @rq: state
 * @packets: how many
 * @now_ns: monotonic time
 */
void frdma_req_spend(struct frdma_req *rq, u32 packets, u64 now_ns)
{
	if (frdma_req_is_paced(rq))
		frdma_pace_spend(&rq->pace, rate_of(rq), packets, now_ns);
}

/* A host that refuses packets ends like a silent peer, but not what lacks something. */
static bool is_waited_for(const struct frdma_req *rq)
{
	return frdma_req_is_owed(rq) ||
	       (!rq->retry.held && frdma_retry_paused(&rq->retry));
}

/**
 * frdma_req_hold - the host cannot give the next packet what it needs
 * @rq: state
 * @now_ns: monotonic time
 *
 * If it is the oldest one, the clock stands still, as nobody can answer.
 */
void frdma_req_hold(struct frdma_req *rq, u64 now_ns)
{
	frdma_retry_hold(&rq->retry, now_ns);
	if (!frdma_req_is_owed(rq))
		frdma_retry_rest(&rq->retry);
}

/**
 * frdma_req_watch - all that could leave has left
 * @rq: state
 * @now_ns: monotonic time
 *
 * The peer's time begins (IBTA 9.7.6.1.3).
 */
void frdma_req_watch(struct frdma_req *rq, u64 now_ns)
{
	frdma_retry_watch(&rq->retry, is_waited_for(rq), now_ns);
	if (rq->asked && frdma_psn_diff(rq->asked_psn, rq->una_psn) > 0)
		frdma_rtt_begin(&rq->retry.rtt, rq->asked_psn, now_ns);
	rq->asked = false;
}

/**
 * frdma_req_new_way - the next packets go another way
 * @rq: state
 */
void frdma_req_new_way(struct frdma_req *rq)
{
	frdma_cc_init(&rq->cc, rq->cc.max);
	frdma_pace_init(&rq->pace);
	frdma_retry_new_way(&rq->retry);
}

/**
 * frdma_req_local_done - the local operation at the head was executed
 * @rq: state, judged FRDMA_REQ_LOCAL
 */
void frdma_req_local_done(struct frdma_req *rq)
{
	frdma_req_wr(rq, rq->wr_next)->done = true;
	skip_done(rq);
}

/**
 * frdma_req_seek - make a PSN the next one to be sent
 * @rq: state
 * @psn: in una_psn .. end_psn; work requests before it are complete or
 *	complete by themselves
 */
void frdma_req_seek(struct frdma_req *rq, u32 psn)
{
	u32 i;

	rq->psn = psn;
	rq->restart_psn = psn;
	rq->pkt = 0;
	for (i = rq->wr_una; i != rq->wr_prod; i++) {
		const struct frdma_swr *wr = frdma_req_wr(rq, i);
		u32 pkt = (psn - wr->first_psn) & FRDMA_PSN_MASK;

		if (wr->npkts ? pkt < wr->npkts : !wr->done) {
			rq->pkt = wr->npkts ? pkt : 0;
			break;
		}
	}
	rq->wr_next = i;
}

/* Packets that were sent of the work request that cannot go on. */
static u32 sent_in_vain(const struct frdma_req *rq)
{
	if (rq->wr_next == rq->wr_prod || !frdma_req_wr(rq, rq->wr_next)->status)
		return 0;
	return rq->pkt;
}

/**
 * frdma_req_ask - have what was sent acknowledged
 * @rq: state, whose next work request will not be sent after all
 *
 * A packet asks for no acknowledgement where one behind it would. If that one
 * never comes, the last one that was sent goes out again, and asks. That is
 * no READ, so READs still begin where they did. Whoever must be silent does
 * not ask either, as all is sent again when the wait is over, unless it only lacks
 * what the next packet needs.
 *
 * Of a work request that has failed in its middle nothing is sent again: what
 * asks is the last packet before it, unless that was asked for.
 *
 * Return: true if there is such a packet, which is the next to be sent.
 */
bool frdma_req_ask(struct frdma_req *rq)
{
	u32 restart_psn = rq->restart_psn;
	u32 futile = sent_in_vain(rq);
	u32 psn = frdma_psn_add(rq->psn, -1 - futile);

	if (!frdma_req_is_reliable(rq) || rq->since_ack_req <= futile ||
	    frdma_psn_diff(psn, rq->una_psn) < 0 ||
	    (frdma_retry_paused(&rq->retry) && !rq->retry.held))
		return false;
	frdma_req_seek(rq, psn);
	rq->restart_psn = restart_psn;
	rq->since_ack_req = 0;
	rq->ask = true;
	return true;
}

/* The oldest one has begun at or before una_psn, so distance is all. */
static bool oldest_is_complete(const struct frdma_req *rq)
{
	const struct frdma_swr *wr = frdma_req_wr(rq, rq->wr_una);

	if (!wr->npkts)
		return wr->done;
	return ((rq->una_psn - wr->first_psn) & FRDMA_PSN_MASK) >= wr->npkts;
}

/**
 * frdma_req_fail - the oldest work request that is not complete cannot succeed
 * @rq: state
 * @status: enum frdma_wc_status that it completes with
 * @vendor_err: the verdict behind it
 *
 * What was said first stands: until that one is reaped, the rest of a buffer and
 * the clock may have more to say of it.
 *
 * Return: false if there is no work request to blame, or it has failed already.
 */
bool frdma_req_fail(struct frdma_req *rq, u8 status, u8 vendor_err)
{
	u32 i;

	for (i = rq->wr_una; i != rq->wr_prod; i++) {
		struct frdma_swr *wr = frdma_req_wr(rq, i);
		u32 begun = (rq->una_psn - wr->first_psn) & FRDMA_PSN_MASK;

		if (wr->npkts ? begun >= wr->npkts : wr->done)
			continue;
		if (wr->status)
			return false;
		wr->status = status;
		wr->vendor_err = vendor_err;
		return true;
	}
	return false;
}

/**
 * frdma_req_forget - nothing that was fetched will be sent any more
 * @rq: state, of which all fetched work requests are complete
 *
 * PSNs go on where they are, which is where a datagram's must.
 */
void frdma_req_forget(struct frdma_req *rq)
{
	rq->wr_next = rq->wr_una;
	rq->wr_acked = rq->wr_una;
	rq->pkt = 0;
	rq->fetch_psn = rq->psn;
	rq->una_psn = rq->psn;
	rq->end_psn = rq->psn;
	rq->rd_out = 0;
	rq->resend.alone = false;
	rq->resend.hole = false;
	rq->resend.hole_reads = 0;
	frdma_rtt_cancel(&rq->retry.rtt);
	rq->retry.wait = FRDMA_WAIT_NONE;
	rq->retry.local_ns = 0;
	rq->retry.held = false;
}

/**
 * frdma_req_reap - take the oldest work request if it is finished
 * @rq: state
 *
 * Work requests complete in the order in which they were posted. One with a
 * bad status is finished as soon as it is the oldest; it is the last that may
 * be taken, the rest is flushed.
 *
 * Return: the work request, whose slot stays valid until the caller lets the
 * user see that it is free, or NULL.
 */
struct frdma_swr *frdma_req_reap(struct frdma_req *rq)
{
	struct frdma_swr *wr;

	if (rq->wr_una == rq->wr_prod)
		return NULL;
	wr = frdma_req_wr(rq, rq->wr_una);
	if (!wr->status && !oldest_is_complete(rq))
		return NULL;
	if (rq->wr_next == rq->wr_una) {
		rq->wr_next++;
		rq->pkt = 0;
	}
	/* One that has failed, or that nobody answers. */
	if (rq->wr_acked == rq->wr_una)
		rq->wr_acked++;
	rq->wr_una++;
	return wr;
}
