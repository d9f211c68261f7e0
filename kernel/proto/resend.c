// SPDX-License-Identifier: GPL-2.0
#include "req.h"
#include "resend.h"

/**
 * frdma_resend_init - nothing was sent, so nothing again
 * @re: state
 * @first_psn: PSN of the first packet
 */
void frdma_resend_init(struct frdma_resend *re, u32 first_psn)
{
	*re = (struct frdma_resend) {
		.again_psn = first_psn,
		.ahead_psn = first_psn,
		.alone_psn = first_psn,
		.heard_psn = first_psn,
		.hole_end_psn = first_psn,
		.hole_psn = first_psn,
		.lost_psn = first_psn,
		.paced_psn = first_psn,
		.refused_psn = first_psn,
	};
}

/**
 * frdma_resend_was_alone - was the oldest packet sent again alone
 * @rq: state
 *
 * Return: true if so. Its acknowledgement then answers that packet, or the first one
 * with its PSN, and no other.
 */
bool frdma_resend_was_alone(const struct frdma_req *rq)
{
	return !rq->resend.alone && !rq->resend.hole &&
	       rq->resend.alone_psn == frdma_psn_add(rq->una_psn, 1);
}

/**
 * frdma_resend_fills_hole - is the oldest packet on its way again
 * @rq: state; the peer keeps what is ahead of its turn
 *
 * Return: true if the peer has said that it misses that one.
 */
bool frdma_resend_fills_hole(const struct frdma_req *rq)
{
	return rq->resend.missed && frdma_resend_was_alone(rq);
}

/**
 * frdma_resend_asks_for_hole - is the next packet to ask for a hole among responses
 * @rq: state
 */
bool frdma_resend_asks_for_hole(const struct frdma_req *rq)
{
	return rq->resend.alone && rq->resend.hole;
}

/**
 * frdma_resend_has_hole - is a hole among responses on its way
 * @rq: state; what is behind it is kept here
 *
 * Return: true if the oldest packet that is not answered is in it.
 */
bool frdma_resend_has_hole(const struct frdma_req *rq)
{
	return rq->resend.hole && !rq->resend.alone &&
	       frdma_psn_diff(rq->resend.alone_psn, rq->una_psn) > 0;
}

/* One beyond the response that una_psn is in: to a piece of a READ, or an atomic. */
static u32 response_end(const struct frdma_req *rq)
{
	const struct frdma_swr *wr = frdma_req_wr(rq, rq->wr_acked);
	u32 pkt = (rq->una_psn - wr->first_psn) & FRDMA_PSN_MASK;
	bool fine = frdma_req_is_fine(rq, rq->una_psn);

	return frdma_psn_add(rq->una_psn,
			     min(wr->npkts - pkt,
				 frdma_req_read_left(rq, pkt, fine)));
}

/*
 * The responder answers in order, so a response at the end of this one, or behind
 * it, shows that all of it was sent. Not so a response from before
 * frdma_resend_all(): the request that was sent again may come later.
 */
static bool is_response_sent(const struct frdma_req *rq)
{
	u32 last_psn = frdma_psn_add(response_end(rq), -1);
	const struct frdma_resend *re = &rq->resend;

	return frdma_psn_diff(re->ahead_psn, last_psn) >= 0 &&
	       frdma_psn_diff(re->ahead_psn, re->again_psn) >= 0;
}

/* Requests for holes that the responder may still be answering. */
static u32 hole_reads(const struct frdma_req *rq)
{
	const struct frdma_resend *re = &rq->resend;

	if (re->hole_reads &&
	    frdma_psn_diff(re->ahead_psn, re->later_psn) >= 0 &&
	    frdma_psn_diff(re->ahead_psn, re->again_psn) >= 0)
		return 0;
	return re->hole_reads;
}

/**
 * frdma_resend_reads - READs and atomics that the responder may be answering
 * @rq: state
 *
 * A request for a hole takes the place of the request that it repeats a part of,
 * once the responder has answered that one (is_response_sent()).
 */
u32 frdma_resend_reads(const struct frdma_req *rq)
{
	u32 reads = hole_reads(rq);

	if (reads && is_response_sent(rq))
		reads--;
	return rq->rd_out + reads;
}

/* Adapters take one READ more than was agreed upon for an invalid request. */
static bool has_place_for_hole(const struct frdma_req *rq)
{
	u32 reads = rq->rd_out + hole_reads(rq) + !is_response_sent(rq);

	return reads <= frdma_req_reads_max(rq);
}

/**
 * frdma_resend_hole_sent - a request for a hole, or a part of it, is on its way
 * @rq: state; psn is one beyond the hole
 */
void frdma_resend_hole_sent(struct frdma_req *rq)
{
	struct frdma_resend *re = &rq->resend;

	if (!re->hole_reads || frdma_psn_diff(rq->psn, re->hole_end_psn) > 0)
		re->hole_end_psn = rq->psn;
	re->hole_reads++;
	re->alone_psn = rq->psn;
}

/*
 * Was it, or a part of it, asked for in long pieces? What is fine comes as it was. A
 * message may span half of the circle: no place for signs.
 */
static bool is_long_read(const struct frdma_req *rq, const struct frdma_swr *wr)
{
	u32 end_psn = frdma_psn_add(wr->first_psn, wr->npkts);

	return wr->kind == FRDMA_KIND_READ && wr->npkts > FRDMA_READ_STEP &&
	       (frdma_psn_in(rq->fine_psn, wr->first_psn, end_psn) ||
		frdma_psn_in(wr->first_psn, rq->fine_psn, rq->end_psn));
}

static bool has_long_read(const struct frdma_req *rq)
{
	u32 i;

	if (rq->fine_psn == rq->end_psn || rq->read_grid <= FRDMA_READ_STEP)
		return false;
	for (i = rq->wr_una; i != rq->wr_prod; i++)
		if (is_long_read(rq, frdma_req_wr(rq, i)))
			return true;
	return false;
}

/*
 * A peer that knows parts has answered most of what it was asked for, and is asked for
 * less. But it remembers so many READs only, those among them that were asked for before:
 * where these leave little room, parts would come one in a round trip.
 */
static bool may_go_fine(const struct frdma_req *rq)
{
	return rq->resend.parts && 2 * rq->rd_old <= rq->rd_max;
}

/**
 * frdma_resend_all - go back to the oldest unacknowledged packet
 * @rq: state
 *
 * IBTA 9.7.5.1.1: all from there on is sent again, with the same PSNs.
 */
void frdma_resend_all(struct frdma_req *rq)
{
	if (!frdma_req_repeats(rq))
		rq->rd_old = 0;
	if (has_long_read(rq))
		rq->rd_old += rq->rd_out;
	frdma_req_seek(rq, rq->una_psn);
	frdma_retry_go_on(&rq->retry);
	if (may_go_fine(rq))
		rq->fine_psn = rq->end_psn;
	frdma_rtt_cancel(&rq->retry.rtt);
	rq->resend.recovering = true;
	rq->resend.missed = false;
	rq->resend.by_clock = false;
	rq->resend.was_late = false;
	rq->resend.trying = false;
	rq->resend.alone = false;
	rq->resend.alone_psn = rq->una_psn;
	rq->resend.hole = false;
	rq->resend.hole_reads = 0;
	rq->resend.again_psn = rq->end_psn;
	rq->resend.ahead_psn = rq->una_psn;
	rq->resend.heard_psn = rq->una_psn;
	rq->resend.lacks = false;
	rq->resend.round++;
	rq->rd_out = 0;
	rq->since_ack_req = 0;
}

/*
 * READs still begin where they did: what is asked for is a part of what was, and takes
 * no other place in the peer's memory.
 */
static void ask_for_hole(struct frdma_req *rq, u32 end_psn)
{
	struct frdma_resend *re = &rq->resend;
	u32 restart_psn = rq->restart_psn;

	re->hole_reads = hole_reads(rq);
	re->heard_psn = re->ahead_psn;
	re->resume_psn = rq->psn;
	frdma_req_seek(rq, rq->una_psn);
	rq->restart_psn = restart_psn;
	frdma_retry_go_on(&rq->retry);
	re->alone = true;
	re->alone_psn = end_psn;
	re->hole = true;
	re->hole_waits = false;
	re->hole_psn = rq->una_psn;
	re->later_psn = re->resume_psn;
	if (frdma_psn_diff(re->ahead_psn, re->later_psn) >= 0)
		re->later_psn = frdma_psn_add(re->ahead_psn, 1);
	frdma_rtt_disturb(&rq->retry.rtt);
	re->recovering = true;
}

/* What has asked for a hole, and nothing else. */
static bool is_hole_refused(const struct frdma_req *rq)
{
	const struct frdma_resend *re = &rq->resend;

	return frdma_resend_has_hole(rq) && !re->hole_waits &&
	       re->refused_psn == re->hole_psn && rq->una_psn == re->hole_psn;
}

/*
 * Has all before what was refused left, and is it on its way? Of READs, and where
 * something is being mended already, that is not known.
 */
static bool is_refused_only(const struct frdma_req *rq)
{
	const struct frdma_resend *re = &rq->resend;

	return !rq->rd_out && !re->alone &&
	       frdma_psn_diff(re->refused_psn, rq->una_psn) >= 0 &&
	       frdma_psn_diff(rq->psn, re->refused_psn) >= 0;
}

/**
 * frdma_resend_refused - a wait of this end is over: send what was refused
 * @rq: state
 *
 * Unlike frdma_resend_all(), that is no answer to what the peer has said: if it
 * misses a packet of these, that is news. Nor is what has left before sent again.
 */
void frdma_resend_refused(struct frdma_req *rq)
{
	bool recovering = rq->resend.recovering;

	if (is_hole_refused(rq)) {
		rq->resend.hole_reads--;
		ask_for_hole(rq, rq->resend.alone_psn);
		return;
	}
	if (is_refused_only(rq)) {
		frdma_req_seek(rq, rq->resend.refused_psn);
		frdma_retry_go_on(&rq->retry);
		frdma_rtt_cancel(&rq->retry.rtt);
		if (rq->psn == rq->una_psn)
			rq->resend.alone_psn = rq->una_psn;
		/* What has left may not have asked for an acknowledgement. */
		rq->since_ack_req = frdma_req_outstanding(rq);
		return;
	}
	frdma_resend_all(rq);
	rq->resend.recovering = recovering;
}

/**
 * frdma_resend_awaited - the receiver may be ready: send what it refused
 * @rq: state
 *
 * A packet of these that gets lost is news. But so may seem what the peer said of
 * those behind what it refused, if that comes late: it is forgiven once.
 */
void frdma_resend_awaited(struct frdma_req *rq)
{
	frdma_resend_all(rq);
	rq->resend.recovering = false;
	rq->resend.forgiven = true;
}

/* A sign of a loss is paid for, but where it may be none. */
static bool pay_retry(struct frdma_req *rq)
{
	bool forgiven = rq->resend.forgiven;

	rq->resend.forgiven = false;
	if (!forgiven)
		return frdma_retry_spend(&rq->retry);
	/* Paid for or not, what is sent again has all of its time. */
	frdma_retry_rest(&rq->retry);
	return true;
}

/**
 * frdma_resend_oldest - send the oldest unacknowledged packet again, alone
 * @rq: state
 *
 * For a peer that keeps those behind it.
 *
 * Return: false if that is not to be done; then see frdma_resend_all().
 */
bool frdma_resend_oldest(struct frdma_req *rq)
{
	struct frdma_resend *re = &rq->resend;

	if (!re->keeps || rq->rd_out || !frdma_req_outstanding(rq))
		return false;
	re->resume_psn = rq->psn;
	frdma_req_seek(rq, rq->una_psn);
	frdma_retry_go_on(&rq->retry);
	re->alone = true;
	re->alone_psn = frdma_psn_add(rq->una_psn, 1);
	re->hole = false;
	re->paced_psn = frdma_psn_add(rq->end_psn, FRDMA_PACED_PACKETS);
	frdma_rtt_disturb(&rq->retry.rtt);
	re->recovering = true;
	rq->ask = true;
	return true;
}

/**
 * frdma_resend_go_on - go on where it was before the oldest was sent again
 * @rq: state; that one, alone, is on its way, or needed no more
 */
void frdma_resend_go_on(struct frdma_req *rq)
{
	u32 restart_psn = rq->restart_psn;

	rq->resend.alone = false;
	frdma_req_seek(rq, rq->resend.resume_psn);
	if (rq->resend.hole)
		rq->restart_psn = restart_psn;
	else
		rq->ask = frdma_req_repeats(rq);
}

/* A window shrinks once for all that was under way together. */
static bool may_shrink_window(struct frdma_req *rq)
{
	if (frdma_psn_diff(rq->una_psn, rq->resend.lost_psn) < 0)
		return false;
	rq->resend.lost_psn = rq->end_psn;
	return true;
}

/**
 * frdma_resend_shrink_once - shrink the window, once for what was under way together
 * @rq: state, which shows that packets were lost because they are too many
 */
void frdma_resend_shrink_once(struct frdma_req *rq)
{
	if (may_shrink_window(rq))
		frdma_cc_lost(&rq->cc);
}

/* The same, of a loss that a peer tells of which drops: perhaps not too many. */
static void shrink_window_for_loss(struct frdma_req *rq)
{
	const struct frdma_rtt *rtt = &rq->retry.rtt;

	if (!rq->resend.doubts || !rtt->best_ns ||
	    frdma_rtt_is_slow(rtt, rtt->smooth_ns))
		frdma_resend_shrink_once(rq);
	else if (may_shrink_window(rq))
		frdma_cc_dropped(&rq->cc);
}

/*
 * The responder is still sending, and has no place for a request more. It is silent if
 * no response came since the last probe, or since the hole was asked for.
 */
static bool must_wait_for_place(struct frdma_req *rq)
{
	struct frdma_resend *re = &rq->resend;

	if (!frdma_resend_has_hole(rq) || has_place_for_hole(rq) ||
	    re->heard_psn == re->ahead_psn)
		return false;
	re->heard_psn = re->ahead_psn;
	return true;
}

/* The request for the hole is taken for lost, if it was sent. */
static bool asks_for_hole_again(struct frdma_req *rq)
{
	if (!frdma_resend_has_hole(rq))
		return false;
	rq->resend.hole_reads = 0;
	ask_for_hole(rq, rq->resend.alone_psn);
	return true;
}

/**
 * frdma_resend_probe - nothing is heard of what was sent: was its tail lost?
 * @rq: state, of which frdma_retry_expire() has said FRDMA_EXPIRY_PROBE
 *
 * One packet asks where that is enough, else all, of which a few go at first (of a
 * READ, as much as was asked for at once). That is no retry: the timeout goes on. As it
 * leaves nothing that could be timed, and the way may have become longer, the next wait
 * is twice as long. Nor is it an answer to what the peer has said: if it misses the first
 * of what is sent now, that is news, and if it keeps those behind, too.
 *
 * Return: false if nothing is sent again.
 */
bool frdma_resend_probe(struct frdma_req *rq)
{
	const struct frdma_resend was = rq->resend;

	if (must_wait_for_place(rq))
		return false;
	if (frdma_resend_oldest(rq) || asks_for_hole_again(rq)) {
		/* Those behind it wait twice as long each as it is. */
		if (rq->retry.probes == 1)
			frdma_rtt_ask(&rq->retry.rtt);
		return true;
	}
	if (rq->retry.probes <= FRDMA_PROBES_ALONE || !frdma_req_outstanding(rq))
		return false;
	frdma_cc_remember(&rq->cc);
	shrink_window_for_loss(rq);
	frdma_resend_all(rq);
	rq->resend.by_clock = true;
	rq->resend.recovering = was.recovering;
	rq->resend.trying = was.trying;
	/* What it misses tells that only where few were sent then. */
	rq->resend.missed = was.missed && was.trying;
	frdma_cc_probe(&rq->cc);
	frdma_rtt_distrust(&rq->retry.rtt);
	return true;
}

/**
 * frdma_resend_timeout - no answer came in time: send all again
 * @rq: state, of which frdma_retry_expire() has said FRDMA_EXPIRY_RESEND
 *
 * One packet leaves at first. See learn_that_it_was_late().
 */
void frdma_resend_timeout(struct frdma_req *rq)
{
	frdma_cc_silent(&rq->cc);
	frdma_resend_all(rq);
	rq->resend.by_clock = true;
}

/**
 * frdma_resend_refuse - this end had no room for packets
 * @rq: state
 * @psn: where it began to send
 * @left: PSNs of those that have left since, before the first one refused
 *
 * They are sent by frdma_resend_refused(), when there may be room again. That they
 * are too many says the first one of all that are under way together.
 */
void frdma_resend_refuse(struct frdma_req *rq, u32 psn, u32 left)
{
	frdma_resend_shrink_once(rq);
	rq->resend.refused_psn = frdma_psn_add(psn, left);
}

/*
 * The peer has said that it misses a packet, and all from there on is sent again.
 * If it keeps what is ahead of its turn, it acknowledges more than the few that
 * are sent now, and is spared the rest.
 */
static void find_out_if_it_keeps(struct frdma_req *rq)
{
	struct frdma_resend *re = &rq->resend;

	re->missed = true;
	if (re->spare) {
		re->spare--;
		return;
	}
	re->trying = true;
	frdma_cc_probe(&rq->cc);
}

/**
 * frdma_resend_recover - a packet was lost: go back
 * @rq: state
 * @missed: the peer says so, of the oldest one
 *
 * A loss shows in many packets; only the first sign of it costs a retry and
 * begins a retransmission. If that gets lost too, a probe or the timeout sees to
 * it.
 *
 * Where one packet can be sent again alone, that it was lost does not say that
 * they are too many: how long it takes until it is acknowledged does.
 */
enum frdma_recovery frdma_resend_recover(struct frdma_req *rq, bool missed)
{
	struct frdma_resend *re = &rq->resend;

	if (missed) {
		re->by_clock = false;
		re->was_late = false;
		frdma_cc_forget(&rq->cc);
	}
	if (re->recovering) {
		re->missed |= missed &&
			      (re->alone || frdma_resend_was_alone(rq));
		return FRDMA_RECOVERY_RUNS;
	}
	if (!pay_retry(rq))
		return FRDMA_RECOVERY_EXHAUSTED;
	if (frdma_resend_oldest(rq)) {
		re->missed = missed;
		return FRDMA_RECOVERY_BEGUN;
	}
	shrink_window_for_loss(rq);
	frdma_resend_all(rq);
	if (missed)
		find_out_if_it_keeps(rq);
	return FRDMA_RECOVERY_BEGUN;
}

/*
 * All that is missing, unless what was is missing again, as an answer tells that is in
 * it, or behind it, and was asked for later.
 */
static bool is_hole_on_its_way(const struct frdma_req *rq, u32 end_psn)
{
	const struct frdma_resend *re = &rq->resend;

	return frdma_resend_has_hole(rq) && !re->hole_waits &&
	       frdma_psn_diff(end_psn, re->alone_psn) >= 0 &&
	       frdma_psn_diff(re->ahead_psn, re->later_psn) < re->late;
}

static void wait_for_hole(struct frdma_req *rq, u32 end_psn)
{
	struct frdma_resend *re = &rq->resend;

	re->hole = true;
	re->hole_waits = true;
	re->alone_psn = end_psn;
}

/* A request for a hole that is on its way stays the one that is waited for. */
static void wait_for_place(struct frdma_req *rq, u32 end_psn)
{
	if (!frdma_resend_has_hole(rq) || rq->resend.hole_waits)
		wait_for_hole(rq, end_psn);
}

/**
 * frdma_resend_note_ahead - an answer came ahead of its turn
 * @rq: state
 * @psn: of it, ahead of una_psn
 * @nr: it is a run of so many, or 1
 *
 * Whether it is kept or not, what is before it is missing.
 */
void frdma_resend_note_ahead(struct frdma_req *rq, u32 psn, u32 nr)
{
	u32 last_psn = frdma_psn_add(psn, nr - 1);

	if (frdma_psn_diff(last_psn, rq->resend.ahead_psn) > 0)
		rq->resend.ahead_psn = last_psn;
}

/**
 * frdma_resend_hole - responses are missing, and what is behind them is kept
 * @rq: state; una_psn, if that is before @end_psn, is where a response to a READ or
 *	atomic goes on
 * @end_psn: the first that is kept
 *
 * Only they are asked for, up to the end of their piece at most, and where answers were
 * late before, not too soon: a probe asks if nothing else comes. Nor before the responder
 * has a place for the request: it may still be sending the rest of the piece. It costs a retry, as
 * each loss does. What was kept before all was sent again says nothing of what is
 * missing since.
 */
enum frdma_recovery frdma_resend_hole(struct frdma_req *rq, u32 end_psn)
{
	struct frdma_resend *re = &rq->resend;

	if (re->recovering || frdma_psn_diff(end_psn, rq->una_psn) <= 0 ||
	    frdma_psn_diff(re->ahead_psn, rq->una_psn) <= 0 ||
	    is_hole_on_its_way(rq, end_psn))
		return FRDMA_RECOVERY_RUNS;
	if (re->late && frdma_psn_diff(re->ahead_psn, end_psn) < re->late) {
		wait_for_hole(rq, end_psn);
		return FRDMA_RECOVERY_RUNS;
	}
	if (!has_place_for_hole(rq)) {
		wait_for_place(rq, end_psn);
		return FRDMA_RECOVERY_RUNS;
	}
	if (!pay_retry(rq))
		return FRDMA_RECOVERY_EXHAUSTED;
	re->hole_gap = (rq->una_psn - re->hole_psn) & FRDMA_PSN_MASK;
	ask_for_hole(rq, end_psn);
	return FRDMA_RECOVERY_BEGUN;
}

/**
 * frdma_resend_let_go - answers that came ahead of their turn are not kept
 * @rq: state
 *
 * There is no room for them, or nothing has come of what is before them for too long.
 * But those of before all was sent again were asked for by that.
 */
void frdma_resend_let_go(struct frdma_req *rq)
{
	if (frdma_psn_diff(rq->resend.ahead_psn, rq->una_psn) > 0)
		rq->resend.lacks = true;
}

/**
 * frdma_resend_lacking - none is kept any more, of answers ahead of their turn
 * @rq: state
 *
 * Where some were let go, all that is not answered is asked for; but if something is
 * asked for already, not before anything has come of that.
 */
enum frdma_recovery frdma_resend_lacking(struct frdma_req *rq)
{
	enum frdma_recovery recovery;

	if (!rq->resend.lacks)
		return FRDMA_RECOVERY_RUNS;
	if (!frdma_req_is_owed(rq)) {
		rq->resend.lacks = false;
		return FRDMA_RECOVERY_RUNS;
	}
	recovery = frdma_resend_recover(rq, false);
	rq->resend.lacks = recovery == FRDMA_RECOVERY_RUNS;
	return recovery;
}
