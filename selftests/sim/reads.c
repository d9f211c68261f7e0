// SPDX-License-Identifier: GPL-2.0
#include "reads.h"

static s64 abs_of(const struct sim_side *side, u32 psn)
{
	return side->abs_una + frdma_psn_diff(psn, side->req.una_psn);
}

/*
 * The responder answers in order: a response at the end of a request, or behind it,
 * shows that it is past that request. A response to what was sent before sending was
 * taken up again shows nothing, nor does one to what was sent before a hole was asked
 * for.
 */
static bool is_answered(const struct sim_side *side,
			const struct sim_read *read)
{
	if (read->end <= side->abs_una)
		return true;
	return side->reads.heard >= read->past &&
	       side->reads.heard >= side->reads.again;
}

static void forget_answered(struct sim_side *side)
{
	struct sim_reads *reads = &side->reads;
	u32 n, out = 0;

	for (n = 0; n < reads->nr; n++)
		if (!is_answered(side, &reads->out[n]))
			reads->out[out++] = reads->out[n];
	reads->nr = out;
}

static void forget_holes(struct sim_reads *reads)
{
	u32 n, out = 0;

	for (n = 0; n < reads->nr; n++)
		if (!reads->out[n].hole)
			reads->out[out++] = reads->out[n];
	reads->nr = out;
}

/*
 * Where nothing was heard for the time of a probe, the responder has sent all that it
 * was asked for; else only the request for the hole is taken for lost.
 */
static void take_for_lost(struct sim_side *side)
{
	struct sim_reads *reads = &side->reads;

	if (reads->heard == reads->heard_before)
		reads->nr = 0;
	else
		forget_holes(reads);
}

/* Where sending is taken up again, each request has the place that it had. */
static void look_if_again(struct sim_side *side)
{
	struct sim_reads *reads = &side->reads;

	if (reads->round == side->req.resend.round)
		return;
	reads->round = side->req.resend.round;
	reads->nr = 0;
	reads->heard = side->abs_una;
	reads->heard_before = side->abs_una;
	reads->again = side->abs_sent;
}

/**
 * reads_sent - a request is about to leave
 * @side: where; the request is not counted as sent yet
 * @pkt: it
 */
void reads_sent(struct sim_side *side, const struct frdma_req_pkt *pkt)
{
	const struct frdma_req *rq = &side->req;
	struct sim_reads *reads = &side->reads;
	bool hole = frdma_resend_asks_for_hole(rq);
	s64 begin = abs_of(side, pkt->hdr.psn);
	struct sim_read read = {
		.end = begin + pkt->span, .past = begin + pkt->span - 1,
		.hole = hole,
	};

	look_if_again(side);
	if (!frdma_swr_wants_response(frdma_req_wr(rq, rq->wr_next)))
		return;
	if (hole) {
		if (reads->probed)
			take_for_lost(side);
		read.past = max(abs_of(side, rq->resend.resume_psn),
				reads->heard + 1);
		reads->heard_before = reads->heard;
	}
	reads->probed = false;
	forget_answered(side);
	SIM_CHECK(side->world, reads->nr < side->rd_bound,
		  "psn 0x%x: %u READs out", pkt->hdr.psn, reads->nr);
	if (!side->world->failed)
		reads->out[reads->nr++] = read;
}

/**
 * reads_heard - a response came ahead of its turn
 * @side: whose request it answers
 * @psn: the last one that it speaks of
 */
void reads_heard(struct sim_side *side, u32 psn)
{
	look_if_again(side);
	side->reads.heard = max(side->reads.heard, abs_of(side, psn));
}

/**
 * reads_probe - a probe was due
 * @side: where
 *
 * Whether it asks for a hole, the next request says.
 */
void reads_probe(struct sim_side *side)
{
	struct sim_reads *reads = &side->reads;

	reads->probed = frdma_resend_asks_for_hole(&side->req);
	if (!reads->probed)
		reads->heard_before = reads->heard;
}

/**
 * reads_check - no more are out than was agreed upon (IBTA 9.4.4)
 * @side: where
 */
void reads_check(struct sim_side *side)
{
	u32 agreed = max(side->req.rd_max, 1U);
	u32 out;

	look_if_again(side);
	forget_answered(side);
	out = max(side->reads.nr, side->req.rd_out);
	SIM_CHECK(side->world, out <= side->rd_bound, "%u > %u", out,
		  side->rd_bound);
	side->rd_bound = min(side->rd_bound, max(out, agreed));
}
