// SPDX-License-Identifier: GPL-2.0
#include "ack.h"

/*
 * The oldest request at or before @psn whose response is not complete, and
 * the PSN at which that response goes on. All before that PSN may be taken
 * as acknowledged by anything the responder says about @psn, because it
 * answers in order (IBTA 9.7.5.1.2).
 */
struct owed {
	struct frdma_swr *wr;
	u32 psn;
};

static struct owed find_owed(const struct frdma_req *rq, u32 psn)
{
	u32 at = rq->una_psn;
	u32 i;

	for (i = rq->wr_acked; i != rq->wr_prod; i++) {
		struct frdma_swr *wr = frdma_req_wr(rq, i);
		u32 begun = (at - wr->first_psn) & FRDMA_PSN_MASK;

		if (!wr->npkts || begun >= wr->npkts)
			continue;
		/* A message may span half of the circle: no place for signs. */
		if (frdma_psn_in(psn, rq->una_psn, at))
			break;
		if (frdma_swr_wants_response(wr))
			return (struct owed) { wr, at };
		at = frdma_psn_add(wr->first_psn, wr->npkts);
	}
	return (struct owed) { NULL, at };
}

static enum frdma_ack_verdict judge_aeth(const struct frdma_hdr *hdr)
{
	switch (hdr->syndrome & (FRDMA_AETH_KIND | FRDMA_AETH_RESERVED)) {
	case FRDMA_AETH_ACK:
		return FRDMA_ACK_PROGRESS;
	case FRDMA_AETH_RNR:
		return FRDMA_ACK_RNR_NAK;
	case FRDMA_AETH_NAK:
		break;
	default:
		return FRDMA_ACK_BAD_RESP;
	}

	switch (hdr->syndrome) {
	case FRDMA_NAK_PSN:
		return FRDMA_ACK_SEQ_NAK;
	case FRDMA_NAK_INV_REQ:
		return FRDMA_ACK_REM_INV_REQ;
	case FRDMA_NAK_ACCESS:
		return FRDMA_ACK_REM_ACCESS;
	case FRDMA_NAK_OP:
		return FRDMA_ACK_REM_OP;
	default:
		return FRDMA_ACK_BAD_RESP;
	}
}

static enum frdma_ack_verdict judge_ack(const struct frdma_req *rq,
					const struct frdma_hdr *hdr)
{
	enum frdma_ack_verdict verdict = judge_aeth(hdr);
	struct owed owed = find_owed(rq, hdr->psn);

	/* One NAK, one wait: a copy of it must not prolong it. */
	if (verdict == FRDMA_ACK_RNR_NAK && rq->retry.wait == FRDMA_WAIT_RNR &&
	    hdr->psn == rq->una_psn)
		return FRDMA_ACK_STALE;

	if (verdict == FRDMA_ACK_BAD_RESP || !owed.wr)
		return verdict;

	/* A NAK may refuse the very request that owes the response. */
	if (verdict != FRDMA_ACK_PROGRESS && owed.psn == hdr->psn)
		return verdict;
	return FRDMA_ACK_LOST;
}

/*
 * Responses begin and end with the pieces that were asked for. What is asked
 * for in fine pieces may have been asked for in others before, the answers to
 * which are as good; and so are those to holes, of which there may have been others.
 */
static bool boundaries_fit(const struct frdma_req *rq, const struct frdma_op *op,
			   u32 psn, u32 pkt, bool last)
{
	bool fine = frdma_req_is_fine(rq, psn);
	bool may_begin = psn == rq->restart_psn ||
			 psn == rq->resend.hole_psn ||
			 !(pkt % rq->read_grid % FRDMA_READ_STEP);
	bool must_begin = !(pkt % rq->read_grid);
	bool may_end = last || frdma_req_read_left(rq, pkt, fine) == 1 ||
		       rq->resend.hole;
	bool must_end = last || frdma_req_read_left(rq, pkt, false) == 1;

	return (op->starts ? may_begin : !must_begin) &&
	       (op->ends ? may_end : !must_end);
}

static enum frdma_ack_verdict judge_read_resp(const struct frdma_req *rq,
					      const struct frdma_swr *wr,
					      const struct frdma_hdr *hdr)
{
	const struct frdma_op *op = frdma_op(hdr->opcode);
	u32 pkt = (hdr->psn - wr->first_psn) & FRDMA_PSN_MASK;
	bool last = pkt + 1 == wr->npkts;
	u32 data_len = frdma_kind_brings_data(wr->kind) ? wr->len : 0;
	u32 len = last ? data_len - pkt * rq->mtu : rq->mtu;

	if (op->ext & FRDMA_EXT_AETH && frdma_hdr_is_nak(hdr))
		return FRDMA_ACK_BAD_RESP;
	if (hdr->payload_len != len)
		return FRDMA_ACK_BAD_RESP;

	/* A late answer to a request of an earlier restart: not that one. */
	if (!boundaries_fit(rq, op, hdr->psn, pkt, last))
		return FRDMA_ACK_LOST;
	return FRDMA_ACK_DATA;
}

static enum frdma_ack_verdict judge_response(const struct frdma_req *rq,
					     const struct frdma_hdr *hdr)
{
	bool is_atomic = frdma_op(hdr->opcode)->kind == FRDMA_KIND_ATOMIC_ACK;
	struct owed owed = find_owed(rq, hdr->psn);

	if (!owed.wr)
		return FRDMA_ACK_BAD_RESP;
	if (owed.psn != hdr->psn)
		return FRDMA_ACK_LOST;
	if (is_atomic != (owed.wr->kind == FRDMA_KIND_ATOMIC))
		return FRDMA_ACK_BAD_RESP;
	if (is_atomic)
		return frdma_hdr_is_nak(hdr) ? FRDMA_ACK_BAD_RESP :
					       FRDMA_ACK_ATOMIC;
	return judge_read_resp(rq, owed.wr, hdr);
}

/**
 * frdma_ack_judge - what a packet of the responder says
 * @rq: state
 * @hdr: its headers; the opcode is that of a response
 */
enum frdma_ack_verdict frdma_ack_judge(const struct frdma_req *rq,
				       const struct frdma_hdr *hdr)
{
	u8 kind = frdma_op(hdr->opcode)->kind;

	/* Its PSN is that of nothing (A17.9.3). */
	if (kind == FRDMA_KIND_CNP)
		return FRDMA_ACK_CONGESTED;
	if (frdma_psn_diff(hdr->psn, rq->una_psn) < 0)
		return FRDMA_ACK_STALE;
	if (frdma_psn_diff(hdr->psn, rq->end_psn) >= 0)
		return FRDMA_ACK_GHOST;
	if (kind == FRDMA_KIND_ACK)
		return judge_ack(rq, hdr);
	return judge_response(rq, hdr);
}

/**
 * frdma_ack_count_run - how many packets of a run may be stored
 * @rq: state
 * @hdr: headers of the first, which was judged FRDMA_ACK_DATA
 * @nr: packets of the run, see frdma_hdr_may_run()
 *
 * One after the other would be judged the same up to the last packet of its
 * piece, all of which was asked for: that one ends a response. None but the
 * last of them completes a fine piece.
 *
 * Return: 1 to @nr.
 */
u32 frdma_ack_count_run(const struct frdma_req *rq,
			const struct frdma_hdr *hdr, u32 nr)
{
	const struct frdma_swr *wr = find_owed(rq, hdr->psn).wr;
	u32 pkt = (hdr->psn - wr->first_psn) & FRDMA_PSN_MASK;
	u32 ends = min(wr->npkts - pkt, frdma_req_read_left(rq, pkt, false));
	bool fine = frdma_req_is_fine(rq, hdr->psn);

	nr = min(nr, ends - 1);
	return min(nr, frdma_req_read_left(rq, pkt, fine));
}

/**
 * frdma_ack_locate - where a response's payload goes
 * @rq: state
 * @psn: of a packet judged FRDMA_ACK_DATA or FRDMA_ACK_ATOMIC
 */
struct frdma_ack_data frdma_ack_locate(const struct frdma_req *rq, u32 psn)
{
	struct owed owed = find_owed(rq, psn);
	u32 pkt = (psn - owed.wr->first_psn) & FRDMA_PSN_MASK;

	return (struct frdma_ack_data) {
		.wr = owed.wr,
		.off = pkt * rq->mtu,
	};
}

/**
 * frdma_ack_note - does the peer know parts of a READ
 * @rq: state
 * @hdr: headers of a packet judged FRDMA_ACK_DATA, not committed yet
 *
 * It does if it begins an answer where none was asked for the first time: that is
 * the one to what was asked for again.
 */
void frdma_ack_note(struct frdma_req *rq, const struct frdma_hdr *hdr)
{
	u32 pkt;

	if (rq->resend.parts || !frdma_op(hdr->opcode)->starts)
		return;
	pkt = hdr->psn - find_owed(rq, hdr->psn).wr->first_psn;
	rq->resend.parts = (pkt & FRDMA_PSN_MASK) % rq->read_grid %
			   FRDMA_READ_STEP;
}

/* A piece of a READ, or an atomic, has its whole response at @psn. */
static bool completes_response(const struct frdma_req *rq,
			       const struct frdma_swr *wr, u32 psn)
{
	u32 pkt = (psn - wr->first_psn) & FRDMA_PSN_MASK;

	return pkt + 1 == wr->npkts ||
	       frdma_req_read_left(rq, pkt, frdma_req_is_fine(rq, psn)) == 1;
}

/*
 * The answers to a train of requests come as a train, and complete for the user
 * when all of it was taken: who looks up the next must not pass all before.
 */
static void pass_answered(struct frdma_req *rq)
{
	u32 i;

	for (i = rq->wr_acked; i != rq->wr_prod; i++) {
		const struct frdma_swr *wr = frdma_req_wr(rq, i);
		u32 begun = (rq->una_psn - wr->first_psn) & FRDMA_PSN_MASK;

		if (begun < wr->npkts)
			break;
	}
	rq->wr_acked = i;
}

static bool advance_una(struct frdma_req *rq, u32 una_psn, u64 now_ns)
{
	u32 packets = (una_psn - rq->una_psn) & FRDMA_PSN_MASK;
	enum frdma_mended mended;

	if (!packets)
		return false;

	frdma_cc_acked(&rq->cc, packets,
		       rq->resend.keeps || rq->resend.hole);
	mended = frdma_resend_learn(rq, una_psn, now_ns);
	frdma_rtt_end(&rq->retry.rtt, una_psn, now_ns);
	frdma_resend_acked(rq, una_psn, mended);
	pass_answered(rq);
	/* Else it would be ahead again, half a circle later. */
	if (frdma_psn_diff(una_psn, rq->fine_psn) > 0)
		rq->fine_psn = una_psn;

	frdma_retry_progress(&rq->retry, frdma_req_is_owed(rq), now_ns);
	return true;
}

/**
 * frdma_ack_commit - all up to a packet is acknowledged
 * @rq: state
 * @psn: of a packet judged FRDMA_ACK_PROGRESS, _DATA (its payload is stored)
 *	or _ATOMIC (the same)
 * @now_ns: monotonic time
 */
void frdma_ack_commit(struct frdma_req *rq, u32 psn, u64 now_ns)
{
	struct owed owed = find_owed(rq, psn);

	if (owed.wr && completes_response(rq, owed.wr, psn) && rq->rd_out)
		rq->rd_out--;
	advance_una(rq, frdma_psn_add(psn, 1), now_ns);
}

/**
 * frdma_ack_commit_run - packets of a run are stored
 * @rq: state
 * @psn: of the first
 * @nr: how many, see frdma_ack_count_run()
 * @now_ns: monotonic time
 *
 * As an acknowledgement of all of them: what is learnt from it is learnt once.
 */
void frdma_ack_commit_run(struct frdma_req *rq, u32 psn, u32 nr, u64 now_ns)
{
	frdma_ack_commit(rq, frdma_psn_add(psn, nr - 1), now_ns);
}

/**
 * frdma_ack_implied - the responder speaks of a later packet
 * @rq: state
 * @psn: of that packet
 * @now_ns: monotonic time
 *
 * It has executed all requests before @psn; those that owe no response are
 * thereby acknowledged.
 *
 * Return: true if there are any.
 */
bool frdma_ack_implied(struct frdma_req *rq, u32 psn, u64 now_ns)
{
	struct owed owed = find_owed(rq, psn);

	return advance_una(rq, owed.wr ? owed.psn : psn, now_ns);
}

/**
 * frdma_ack_is_ahead - will a packet have its turn when what is missing has come
 * @rq: state, after frdma_ack_implied()
 * @hdr: headers of a packet judged FRDMA_ACK_LOST
 *
 * Then it can be kept (kept.h), to be judged again when una_psn is there: the answers
 * to a response that is missing need not be asked for, nor what is said of later
 * requests. See frdma_resend_hole().
 */
bool frdma_ack_is_ahead(const struct frdma_req *rq, const struct frdma_hdr *hdr)
{
	return frdma_psn_diff(hdr->psn, rq->una_psn) > 0;
}

/**
 * frdma_ack_is_old - does what was kept not hold any more
 * @rq: state
 * @kept: an answer
 * @hdr: its headers
 *
 * All was sent again since: what the peer missed then, or was not ready for, it may have
 * executed. Else it says so again. That what comes before it has arrived is as true as
 * before (frdma_ack_implied()).
 */
bool frdma_ack_is_old(const struct frdma_req *rq, const struct frdma_kept *kept,
		      const struct frdma_hdr *hdr)
{
	enum frdma_ack_verdict verdict;

	if (kept->round == rq->resend.round ||
	    frdma_op(hdr->opcode)->kind != FRDMA_KIND_ACK)
		return false;
	verdict = judge_aeth(hdr);
	return verdict == FRDMA_ACK_SEQ_NAK || verdict == FRDMA_ACK_RNR_NAK;
}

/**
 * frdma_ack_wait - the peer has no receive request: go back, and be silent
 * @rq: state
 * @hdr: of a packet judged FRDMA_ACK_RNR_NAK, which says for how long
 * @now_ns: monotonic time
 *
 * Return: false if no such retry is left.
 */
bool frdma_ack_wait(struct frdma_req *rq, const struct frdma_hdr *hdr,
		    u64 now_ns)
{
	frdma_resend_all(rq);
	return frdma_retry_rnr(&rq->retry, hdr->syndrome & FRDMA_AETH_VALUE,
			       now_ns);
}
