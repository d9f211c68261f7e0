// SPDX-License-Identifier: GPL-2.0
/* What an acknowledgement tells about packets that were sent again. */
#include "req.h"
#include "resend.h"

/* If the oldest was sent again alone: was a packet sent before that? */
static bool was_before(const struct frdma_req *rq, u32 psn)
{
	return frdma_psn_diff(rq->resend.resume_psn, psn) > 0;
}

/* Does the next packet begin the answer to what has asked for a hole? */
static bool is_hole_answered(const struct frdma_req *rq)
{
	return frdma_resend_has_hole(rq) && !rq->resend.hole_waits &&
	       rq->una_psn == rq->resend.hole_psn;
}

/* Do answers overtake others? */
static void learn_of_late_ones(struct frdma_resend *re, enum frdma_mended mended)
{
	if (mended == FRDMA_MENDED_NEEDLESSLY)
		re->late = min(2 * re->late + 2, FRDMA_LATE_MAX);
	else if (re->late)
		re->late--;
}

/*
 * A peer that keeps what is ahead of its turn acknowledges all of it as soon as the oldest
 * packet has come, also if that was lost. Only one that answers sooner than the packet
 * that was sent again can have come has received the one that was sent first.
 */
static void look_if_late(struct frdma_req *rq, u64 now_ns)
{
	const struct frdma_retry *rt = &rq->retry;
	u64 took_ns = now_ns - max(rt->armed_ns, rt->probed_ns);

	if (rq->resend.keeps && !frdma_rtt_is_too_soon(&rt->rtt, took_ns))
		rq->resend.by_clock = false;
}

/**
 * frdma_resend_learn - an acknowledgement came: of what was sent again alone?
 * @rq: state
 * @una_psn: oldest PSN that is not acknowledged then; beyond what it is
 * @now_ns: monotonic time
 *
 * If so, with all before @una_psn. What is missing next lies there, unless that
 * was sent later.
 *
 * Return: whether it was worth it; FRDMA_MENDED_WELL if nothing was sent so.
 */
enum frdma_mended frdma_resend_learn(struct frdma_req *rq, u32 una_psn,
				     u64 now_ns)
{
	u32 packets = (una_psn - rq->una_psn) & FRDMA_PSN_MASK;
	enum frdma_mended mended;

	if (rq->resend.by_clock)
		look_if_late(rq, now_ns);
	if (!frdma_resend_was_alone(rq) && !is_hole_answered(rq))
		return FRDMA_MENDED_WELL;
	mended = frdma_retry_learn(&rq->retry, rq->resend.missed, now_ns);
	if (rq->resend.hole)
		learn_of_late_ones(&rq->resend, mended);
	if (mended != FRDMA_MENDED_WELL)
		return mended;
	if (rq->resend.hole)
		frdma_cc_missed(&rq->cc, rq->resend.hole_gap);
	else if (was_before(rq, una_psn))
		frdma_cc_missed(&rq->cc, packets);
	return mended;
}

/* Is there work before an index that is answered by more than an ACK? */
static bool has_response(const struct frdma_req *rq, u32 wr_end)
{
	u32 i;

	for (i = rq->wr_una; i != wr_end; i++)
		if (frdma_swr_wants_response(frdma_req_wr(rq, i)))
			return true;
	return false;
}

/*
 * What was sent before, and is behind what it missed, it has: but for the oldest
 * one that it does not acknowledge, perhaps, and what else it will ask for.
 */
static void learn_that_it_keeps(struct frdma_req *rq)
{
	rq->resend.keeps = true;
	rq->resend.trying = false;
	rq->resend.doubts = 0;
	frdma_cc_resume(&rq->cc);
	if (has_response(rq, rq->wr_prod))
		return;
	frdma_req_seek(rq, rq->end_psn);
	frdma_resend_oldest(rq);
}

/*
 * All that was sent before a timeout is acknowledged: the timeout was right, and the
 * window before it is not the one to restore after the next one.
 */
static void stop_doubting(struct frdma_req *rq)
{
	rq->resend.by_clock = false;
	frdma_cc_forget(&rq->cc);
}

/*
 * F-RTO (RFC 5682): an acknowledgement covers packets that were not sent again since the
 * timeout, so the peer has received them when they were sent first. The others are most
 * likely on their way, too. New packets follow; if one before them is missing, the peer
 * says so. The responses to READs say nothing of the requests behind them.
 */
static void learn_that_it_was_late(struct frdma_req *rq)
{
	rq->resend.by_clock = false;
	if (has_response(rq, rq->wr_prod))
		return;
	frdma_req_seek(rq, rq->end_psn);
	rq->resend.was_late = true;
}

/* The next acknowledgement, and not a NAK: nothing was lost. */
static void confirm_that_it_was_late(struct frdma_req *rq)
{
	rq->resend.was_late = false;
	frdma_cc_undo(&rq->cc);
	frdma_retry_was_late(&rq->retry);
}

/*
 * Of what was sent again it acknowledges no more than that. But what a READ among
 * it is answered with comes packet by packet, and tells nothing.
 */
static void learn_that_it_drops(struct frdma_req *rq)
{
	struct frdma_resend *re = &rq->resend;

	re->trying = false;
	if (has_response(rq, rq->wr_next + !!rq->pkt))
		return;
	re->keeps = false;
	re->doubts = min(re->doubts + 1, FRDMA_DOUBTS_MAX);
	re->spare = 1 << re->doubts;
}

/*
 * The next one behind what was sent again alone is missing, too. That happens;
 * and where nothing was lost, but late, the next one is late as well. If it goes
 * on, in either case, all behind it is missing: if the peer had asked for the
 * first, it does not keep, after all; or else nothing had come that could have
 * made it ask: the tail was lost.
 */
static void send_the_rest(struct frdma_req *rq, bool asked, bool needlessly)
{
	u8 most = needlessly ? FRDMA_LATE_IN_A_ROW_MAX : FRDMA_IN_A_ROW_MAX;
	struct frdma_resend *re = &rq->resend;

	if (asked && re->in_a_row < most && frdma_resend_oldest(rq)) {
		re->in_a_row++;
		re->missed = true;
		return;
	}
	re->keeps = !asked;
	frdma_resend_shrink_once(rq);
	frdma_resend_all(rq);
	if (!asked)
		frdma_cc_probe(&rq->cc);
}

/*
 * Only what was sent again alone is acknowledged, though more had been sent before
 * that. What nobody had asked for, and was late, says nothing of the others: they
 * may be late as well.
 */
static bool lets_down(const struct frdma_req *rq, u32 una_psn, bool needlessly)
{
	const struct frdma_resend *re = &rq->resend;

	return re->keeps && frdma_resend_was_alone(rq) &&
	       una_psn == re->alone_psn && was_before(rq, una_psn) &&
	       (re->missed || !needlessly);
}

/* It has not left, and what it was about has come. */
static void give_up_alone(struct frdma_req *rq)
{
	frdma_resend_go_on(rq);
	rq->resend.alone_psn = rq->una_psn;
	rq->resend.hole = false;
}

/* Else they would be ahead again, half a circle later. */
static void follow_window(struct frdma_resend *re, u32 una_psn)
{
	if (re->hole_reads && frdma_psn_diff(una_psn, re->hole_end_psn) >= 0)
		re->hole_reads = 0;
	if (frdma_psn_diff(una_psn, re->again_psn) > 0)
		re->again_psn = una_psn;
	if (frdma_psn_diff(una_psn, re->ahead_psn) > 0)
		re->ahead_psn = una_psn;
	if (frdma_psn_diff(una_psn, re->alone_psn) > 0)
		re->alone_psn = una_psn;
	if (frdma_psn_diff(una_psn, re->lost_psn) > 0)
		re->lost_psn = una_psn;
	if (frdma_psn_diff(una_psn, re->paced_psn) > 0)
		re->paced_psn = una_psn;
}

/**
 * frdma_resend_acked - move the lower end of the window
 * @rq: state
 * @una_psn: oldest PSN that is not acknowledged now; beyond what it was
 * @mended: what frdma_resend_learn() has said of that
 *
 * What was about to be sent again has perhaps arrived after all. And where only
 * what was sent again alone has, the rest is sent again, too.
 */
void frdma_resend_acked(struct frdma_req *rq, u32 una_psn,
			enum frdma_mended mended)
{
	bool needlessly = mended == FRDMA_MENDED_NEEDLESSLY;
	bool let_down = lets_down(rq, una_psn, needlessly);
	bool resent = rq->psn != rq->restart_psn;
	struct frdma_resend *re = &rq->resend;
	bool missed = re->missed;
	u32 psn = rq->psn;

	rq->una_psn = una_psn;
	re->recovering = false;
	re->forgiven = false;
	re->missed = false;
	if (re->was_late)
		confirm_that_it_was_late(rq);
	if (!let_down)
		re->in_a_row = 0;
	if (re->alone)
		give_up_alone(rq);
	if (frdma_psn_diff(una_psn, rq->psn) > 0) {
		frdma_req_seek(rq, una_psn);
		if (missed && (re->keeps || resent))
			learn_that_it_keeps(rq);
		else if (re->by_clock)
			learn_that_it_was_late(rq);
		re->trying = false;
	} else if (re->trying) {
		learn_that_it_drops(rq);
	}
	if (let_down)
		send_the_rest(rq, missed, needlessly);
	if (mended == FRDMA_MENDED_SLOWLY)
		frdma_resend_shrink_once(rq);
	if (rq->psn != psn)
		frdma_retry_go_on(&rq->retry);
	if (!re->was_late && frdma_psn_diff(una_psn, re->again_psn) >= 0)
		stop_doubting(rq);
	follow_window(re, una_psn);
}
