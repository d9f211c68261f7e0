// SPDX-License-Identifier: GPL-2.0
#include "resp.h"

/**
 * frdma_resp_init - a receive side that has seen nothing
 * @rs: state; its limits and resources are set and stay
 * @rq_psn: PSN that the peer begins with
 */
void frdma_resp_init(struct frdma_resp *rs, u32 rq_psn)
{
	u32 i;

	rs->epsn = rq_psn & FRDMA_PSN_MASK;
	rs->msn = 0;
	rs->in_msg = false;
	rs->srqn = 0;
	rs->nak = FRDMA_RESP_NAK_NONE;
	rs->ack_due = false;
	rs->missed = false;
	rs->dup_psn = rs->epsn;
	rs->dup_epsn = rs->epsn;
	rs->got = 0;
	rs->left = 0;
	frdma_resp_forget_reads(rs);
	rs->res_next = 0;
	for (i = 0; i < rs->nr_res; i++)
		rs->res[i].kind = FRDMA_KIND_NONE;
}

/**
 * frdma_resp_resize - keep more READs and atomics for repetition, or fewer
 * @rs: state
 * @res: room for @nr of them, all zero; NULL if that is 0
 * @nr: how many
 *
 * The newest stay, as many as there is room for: the peer may still miss what
 * they were answered with.
 *
 * Return: the room that was used so far.
 */
struct frdma_resp_res *frdma_resp_resize(struct frdma_resp *rs,
					 struct frdma_resp_res *res, u32 nr)
{
	u32 i, kept = min(rs->nr_res, nr);
	struct frdma_resp_res *old = rs->res;

	for (i = 0; i < kept; i++)
		res[i] = old[(rs->res_next + rs->nr_res - kept + i) %
			     rs->nr_res];

	rs->res = res;
	rs->nr_res = nr;
	rs->res_next = nr ? kept % nr : 0;
	return old;
}

/* IBTA 9.7.4.1.1: classified before anything else is looked at. */
static enum frdma_resp_verdict judge_psn(const struct frdma_resp *rs, u32 psn)
{
	s32 ahead = frdma_psn_diff(psn, rs->epsn);

	if (ahead < 0)
		return FRDMA_RESP_DUPLICATE;
	if (ahead == 0)
		return FRDMA_RESP_ACCEPT;
	return rs->nak ? FRDMA_RESP_WAITING : FRDMA_RESP_GAP;
}

static bool payload_fits_mtu(const struct frdma_op *op,
			     const struct frdma_hdr *hdr, u32 mtu)
{
	if (!op->ends)
		return hdr->payload_len == mtu && !hdr->pad;
	if (!op->starts && !hdr->payload_len)
		return false;
	return hdr->payload_len <= mtu && hdr->pad == (-hdr->payload_len & 3);
}

static bool write_fits(const struct frdma_resp *rs, const struct frdma_op *op,
		       const struct frdma_hdr *hdr)
{
	u32 left = op->starts ? hdr->dma_len : rs->left;

	if (left > FRDMA_MSG_MAX)
		return false;
	return op->ends ? hdr->payload_len == left : hdr->payload_len < left;
}

static bool length_fits(const struct frdma_resp *rs, const struct frdma_op *op,
			const struct frdma_hdr *hdr)
{
	switch (op->kind) {
	case FRDMA_KIND_SEND:
		return payload_fits_mtu(op, hdr, rs->mtu) &&
		       hdr->payload_len <= FRDMA_MSG_MAX - rs->got;
	case FRDMA_KIND_WRITE:
		return payload_fits_mtu(op, hdr, rs->mtu) &&
		       write_fits(rs, op, hdr);
	case FRDMA_KIND_READ:
		return !hdr->payload_len && !hdr->pad &&
		       hdr->dma_len <= FRDMA_MSG_MAX;
	case FRDMA_KIND_ATOMIC_WRITE:
		return hdr->payload_len == sizeof(u64) && !hdr->pad &&
		       hdr->dma_len == sizeof(u64);
	case FRDMA_KIND_FLUSH:
		return !hdr->payload_len && !hdr->pad &&
		       (hdr->flush_select != FRDMA_FLUSH_RANGE ||
			hdr->dma_len <= FRDMA_MSG_MAX);
	default:
		return !hdr->payload_len && !hdr->pad;
	}
}

/**
 * frdma_resp_flush_access - rights that a FLUSH needs, of queue pair and region
 * @hdr: its headers
 */
u16 frdma_resp_flush_access(const struct frdma_hdr *hdr)
{
	u16 access = 0;

	if (hdr->flush_placement & FRDMA_FLUSH_GLOBAL)
		access |= FRDMA_ACC_FLUSH_GLOBAL;
	if (hdr->flush_placement & FRDMA_FLUSH_PERSISTENT)
		access |= FRDMA_ACC_FLUSH_PERSISTENT;
	return access;
}

static enum frdma_resp_verdict judge_flush(const struct frdma_resp *rs,
					   const struct frdma_hdr *hdr)
{
	u8 placements = FRDMA_FLUSH_GLOBAL | FRDMA_FLUSH_PERSISTENT;

	if (!hdr->flush_placement || hdr->flush_placement & ~placements ||
	    hdr->flush_select > FRDMA_FLUSH_REGION)
		return FRDMA_RESP_BAD_OPCODE;
	if (frdma_resp_flush_access(hdr) & ~rs->access)
		return FRDMA_RESP_NO_ACCESS;
	return FRDMA_RESP_ACCEPT;
}

/* What is asked of those that are answered by more than an acknowledgement. */
static enum frdma_resp_verdict judge_answered(const struct frdma_resp *rs,
					      const struct frdma_hdr *hdr)
{
	if (!rs->nr_res)
		return FRDMA_RESP_NO_RESOURCES;

	switch (frdma_op(hdr->opcode)->kind) {
	case FRDMA_KIND_READ:
		return FRDMA_RESP_ACCEPT;
	case FRDMA_KIND_FLUSH:
		return judge_flush(rs, hdr);
	default:
		return hdr->va & 7 ? FRDMA_RESP_BAD_ALIGN : FRDMA_RESP_ACCEPT;
	}
}

/* What is asked of every request that comes in its order. */
static enum frdma_resp_verdict judge_content(const struct frdma_resp *rs,
					     const struct frdma_hdr *hdr,
					     struct frdma_resp_recv recv)
{
	const struct frdma_op *op = frdma_op(hdr->opcode);

	if (recv.astray)
		return FRDMA_RESP_ASTRAY;
	if (!length_fits(rs, op, hdr))
		return FRDMA_RESP_BAD_LENGTH;
	if (op->access & ~rs->access)
		return FRDMA_RESP_NO_ACCESS;

	/* None of these takes a receive request. */
	if (frdma_kind_wants_response(op->kind))
		return judge_answered(rs, hdr);

	if (op->takes_recv && !recv.ready)
		return FRDMA_RESP_NO_RECV;
	if (op->kind == FRDMA_KIND_SEND &&
	    (u64)rs->got + hdr->payload_len > recv.len)
		return FRDMA_RESP_TOO_LONG;

	return FRDMA_RESP_ACCEPT;
}

/**
 * frdma_resp_judge - may a request be executed
 * @rs: state; no READ response is in progress that does not yield to it
 * @hdr: its headers; on a reliable connection, and not a response
 * @recv: the receive request that it would use: the open message's, or the
 *	next one
 *
 * The order of the checks is that of IBTA 9.7.4.1. Keys are not looked at.
 */
enum frdma_resp_verdict frdma_resp_judge(const struct frdma_resp *rs,
					 const struct frdma_hdr *hdr,
					 struct frdma_resp_recv recv)
{
	const struct frdma_op *op = frdma_op(hdr->opcode);
	enum frdma_resp_verdict verdict = judge_psn(rs, hdr->psn);

	if (verdict != FRDMA_RESP_ACCEPT)
		return verdict;
	if (op->kind == FRDMA_KIND_NONE)
		return FRDMA_RESP_BAD_OPCODE;

	/* Starting inside a message is as wrong as continuing none. */
	if (op->starts == rs->in_msg)
		return FRDMA_RESP_BAD_ORDER;
	if (rs->in_msg && (op->kind != rs->kind || hdr->srqn != rs->srqn))
		return FRDMA_RESP_BAD_ORDER;

	return judge_content(rs, hdr, recv);
}

/**
 * frdma_resp_breaks - is the open message at its end, incomplete
 * @rs: state
 * @hdr: headers of a request on an unreliable connection
 *
 * IBTA 9.8.2.2.1, 9.8.2.2.2: a packet is missing, or the peer has begun
 * another message. If so, frdma_resp_abandon() comes before any judgement.
 */
bool frdma_resp_breaks(const struct frdma_resp *rs,
		       const struct frdma_hdr *hdr)
{
	const struct frdma_op *op = frdma_op(hdr->opcode);

	return rs->in_msg && (hdr->psn != rs->epsn || op->starts ||
			      op->kind != rs->kind);
}

/**
 * frdma_resp_judge_uc - may a request be executed
 * @rs: state
 * @hdr: its headers; on an unreliable connection, and it does not break the
 *	open message
 * @recv: as for frdma_resp_judge()
 *
 * What is not accepted is dropped without a word, and its message with it.
 */
enum frdma_resp_verdict frdma_resp_judge_uc(const struct frdma_resp *rs,
					    const struct frdma_hdr *hdr,
					    struct frdma_resp_recv recv)
{
	const struct frdma_op *op = frdma_op(hdr->opcode);

	if (op->kind == FRDMA_KIND_NONE)
		return FRDMA_RESP_BAD_OPCODE;

	/* The rest of a message whose beginning was lost or refused. */
	if (op->starts == rs->in_msg)
		return FRDMA_RESP_BAD_ORDER;

	return judge_content(rs, hdr, recv);
}

/**
 * frdma_resp_count_run - how many packets of a run may be executed
 * @rs: state
 * @hdr: headers of the first, which was judged FRDMA_RESP_ACCEPT, on whatever
 *	connection
 * @recv: as it was judged with
 * @nr: packets of the run, see frdma_hdr_may_run()
 *
 * One after the other would be accepted until they are more than the message
 * may have, or the receive request: nothing else changes from one to the next.
 *
 * Return: 1 to @nr.
 */
u32 frdma_resp_count_run(const struct frdma_resp *rs,
			 const struct frdma_hdr *hdr,
			 struct frdma_resp_recv recv, u32 nr)
{
	u32 room;

	/* Of a WRITE, a packet that ends it has to follow. */
	if (frdma_op(hdr->opcode)->kind == FRDMA_KIND_WRITE)
		room = rs->left - 1;
	else
		room = min_t(u64, recv.len, FRDMA_MSG_MAX) - rs->got;
	return min(nr, room / hdr->payload_len);
}

/**
 * frdma_resp_fault - how a refused request ends the queue pair
 * @verdict: any
 *
 * IBTA 9.7.5.2.8 and table 60. Return: a row whose nak is 0 if it does not.
 */
const struct frdma_resp_fault *frdma_resp_fault(enum frdma_resp_verdict verdict)
{
	static const struct frdma_resp_fault faults[FRDMA_RESP_NR] = {
		[FRDMA_RESP_BAD_ORDER] = {
			FRDMA_NAK_INV_REQ, FRDMA_WC_WR_FLUSH_ERR,
			FRDMA_RESP_EVENT_REQ,
		},
		[FRDMA_RESP_ASTRAY] = {
			FRDMA_NAK_ACCESS, FRDMA_WC_WR_FLUSH_ERR,
			FRDMA_RESP_EVENT_ACCESS,
		},
		[FRDMA_RESP_BAD_LENGTH] = {
			FRDMA_NAK_INV_REQ, FRDMA_WC_WR_FLUSH_ERR,
			FRDMA_RESP_EVENT_REQ,
		},
		[FRDMA_RESP_BAD_ALIGN] = {
			FRDMA_NAK_INV_REQ, FRDMA_WC_WR_FLUSH_ERR,
			FRDMA_RESP_EVENT_REQ,
		},
		[FRDMA_RESP_TOO_LONG] = {
			FRDMA_NAK_INV_REQ, FRDMA_WC_LOC_LEN_ERR,
			FRDMA_RESP_EVENT_NONE,
		},
		[FRDMA_RESP_BAD_OPCODE] = {
			FRDMA_NAK_INV_REQ, FRDMA_WC_WR_FLUSH_ERR,
			FRDMA_RESP_EVENT_REQ,
		},
		[FRDMA_RESP_NO_ACCESS] = {
			FRDMA_NAK_INV_REQ, FRDMA_WC_WR_FLUSH_ERR,
			FRDMA_RESP_EVENT_REQ,
		},
		[FRDMA_RESP_NO_RESOURCES] = {
			FRDMA_NAK_INV_REQ, FRDMA_WC_WR_FLUSH_ERR,
			FRDMA_RESP_EVENT_REQ,
		},
		[FRDMA_RESP_BAD_KEY] = {
			FRDMA_NAK_ACCESS, FRDMA_WC_LOC_ACCESS_ERR,
			FRDMA_RESP_EVENT_ACCESS,
		},
		[FRDMA_RESP_BAD_INV] = {
			FRDMA_NAK_ACCESS, FRDMA_WC_REM_ACCESS_ERR,
			FRDMA_RESP_EVENT_ACCESS,
		},
		[FRDMA_RESP_RECV_FAULT] = {
			FRDMA_NAK_OP, FRDMA_WC_LOC_PROT_ERR,
			FRDMA_RESP_EVENT_NONE,
		},
	};

	return &faults[verdict];
}

static u32 read_npkts(const struct frdma_resp *rs, u32 len)
{
	if (len <= rs->mtu)
		return 1;
	return len / rs->mtu + !!(len % rs->mtu);
}

/* Newest first: an old one may name PSNs that have come round since. */
static const struct frdma_resp_res *find_res(const struct frdma_resp *rs,
					     u32 psn)
{
	u32 i, at = rs->res_next;

	for (i = 0; i < rs->nr_res; i++) {
		const struct frdma_resp_res *res;

		at = (at ? at : rs->nr_res) - 1;
		res = &rs->res[at];
		if (res->kind != FRDMA_KIND_NONE &&
		    ((psn - res->psn) & FRDMA_PSN_MASK) < res->npkts)
			return res;
	}
	return NULL;
}

/* It may begin inside the READ that was executed, but not leave it. */
static bool is_same_read(const struct frdma_resp *rs,
			 const struct frdma_resp_res *res,
			 const struct frdma_hdr *hdr)
{
	u32 skipped = ((hdr->psn - res->psn) & FRDMA_PSN_MASK) * rs->mtu;

	return res->kind == FRDMA_KIND_READ && hdr->rkey == res->rkey &&
	       hdr->srqn == res->srqn && hdr->va == res->va + skipped &&
	       !hdr->payload_len && hdr->dma_len <= res->len - skipped;
}

/*
 * A requester that goes back sends a window of duplicates. The acknowledgement of the
 * first one covers all of them, unless something was executed since, or a READ response
 * was in progress, which that acknowledgement may not cover.
 */
static bool continues_dup(const struct frdma_resp *rs,
			  const struct frdma_hdr *hdr)
{
	return hdr->psn == rs->dup_psn && rs->epsn == rs->dup_epsn &&
	       !rs->read.active && !hdr->ack_req;
}

/**
 * frdma_resp_judge_dup - what to do with a request seen before
 * @rs: state
 * @hdr: headers of a request judged FRDMA_RESP_DUPLICATE
 *
 * IBTA 9.7.5.1.4: SEND and WRITE are only acknowledged again (the first of several in a
 * row, and those that ask for it), a READ is
 * executed again, for which the right to it is needed again, an atomic returns
 * what it returned. An ATOMIC WRITE and a FLUSH are answered again as they were
 * (A19): that takes no memory of them, since the answer says nothing but that
 * they were executed.
 */
enum frdma_dup_verdict frdma_resp_judge_dup(const struct frdma_resp *rs,
					    const struct frdma_hdr *hdr)
{
	const struct frdma_op *op = frdma_op(hdr->opcode);
	const struct frdma_resp_res *res;

	switch (op->kind) {
	case FRDMA_KIND_SEND:
	case FRDMA_KIND_WRITE:
		return continues_dup(rs, hdr) ? FRDMA_DUP_QUIET : FRDMA_DUP_ACK;
	case FRDMA_KIND_READ:
		if (op->access & ~rs->access)
			return FRDMA_DUP_DROP;
		res = find_res(rs, hdr->psn);
		return res && is_same_read(rs, res, hdr) ? FRDMA_DUP_READ :
							   FRDMA_DUP_DROP;
	case FRDMA_KIND_ATOMIC:
		res = find_res(rs, hdr->psn);
		return res && res->kind == FRDMA_KIND_ATOMIC ?
		       FRDMA_DUP_ATOMIC : FRDMA_DUP_DROP;
	case FRDMA_KIND_ATOMIC_WRITE:
	case FRDMA_KIND_FLUSH:
		return FRDMA_DUP_EMPTY;
	default:
		return FRDMA_DUP_DROP;
	}
}

static void begin_read(struct frdma_resp *rs, const struct frdma_hdr *hdr)
{
	rs->read = (struct frdma_resp_read) {
		.active	= true,
		.fresh	= true,
		.first	= hdr->psn,
		.psn	= hdr->psn,
		.rkey	= hdr->rkey,
		.srqn	= hdr->srqn,
		.left	= hdr->dma_len,
		.va	= hdr->va,
	};
}

/*
 * One in progress is the same READ, or a later one. What of it was sent before, the
 * peer asks for, too; what was not has its turn afterwards.
 */
static void repeat_read(struct frdma_resp *rs, const struct frdma_hdr *hdr)
{
	const struct frdma_resp_read before = rs->read;

	begin_read(rs, hdr);
	rs->read.asked = true;
	rs->read.obeyed = before.active && before.psn == hdr->psn &&
			  (before.told || before.obeyed);
}

/*
 * What was never sent of the last READ, which was executed, though its owner may keep
 * no READs any more. A peer that has asked for an earlier one may still take what was
 * sent of this one, if it was long on its way; or asks for all of it.
 */
static void resume_read(struct frdma_resp *rs)
{
	const struct frdma_resp_res *res = &rs->last_read;
	u32 psn = frdma_psn_add(rs->epsn, -rs->unsent);
	u32 skipped = res->npkts - rs->unsent;

	rs->read = (struct frdma_resp_read) {
		.active	= true,
		.fresh	= !skipped,
		.first	= psn,
		.psn	= psn,
		.rkey	= res->rkey,
		.srqn	= res->srqn,
		.left	= res->len - skipped * rs->mtu,
		.va	= res->va + skipped * rs->mtu,
	};
}

static const struct frdma_resp_res *save_res(struct frdma_resp *rs,
					     const struct frdma_hdr *hdr,
					     u32 npkts, u64 atomic_orig)
{
	struct frdma_resp_res *res = &rs->res[rs->res_next];

	*res = (struct frdma_resp_res) {
		.psn	= hdr->psn,
		.npkts	= npkts,
		.kind	= frdma_op(hdr->opcode)->kind,
		.rkey	= hdr->rkey,
		.srqn	= hdr->srqn,
		.len	= hdr->dma_len,
		.va	= hdr->va,
		.orig	= atomic_orig,
	};
	rs->res_next = (rs->res_next + 1) % rs->nr_res;
	return res;
}

/* By @nr packets, more than one only of a run. */
static void advance_message(struct frdma_resp *rs, const struct frdma_op *op,
			    const struct frdma_hdr *hdr, u32 nr)
{
	u32 len = nr * hdr->payload_len;

	if (op->starts) {
		rs->kind = op->kind;
		rs->srqn = hdr->srqn;
		rs->va = hdr->va;
		rs->rkey = hdr->rkey;
		rs->left = hdr->dma_len;
	}
	rs->va += len;
	rs->left -= len;
	rs->got = op->ends ? 0 : rs->got + len;
	rs->in_msg = !op->ends;
}

/* So many PSNs were executed: what was asked for has come, and maybe what was missed. */
static void advance(struct frdma_resp *rs, u32 nr)
{
	rs->epsn = frdma_psn_add(rs->epsn, nr);
	rs->nak = FRDMA_RESP_NAK_NONE;
	if (frdma_psn_diff(rs->missed_psn, rs->epsn) < 0)
		rs->missed = false;
}

/**
 * frdma_resp_commit - a request was executed
 * @rs: state
 * @hdr: headers of a request judged FRDMA_RESP_ACCEPT; its effects are done,
 *	but for the response to a READ, which begins now
 * @atomic_orig: what an atomic found in memory
 *
 * This and frdma_resp_commit_run() alone write the expected PSN, the MSN and
 * the open message.
 */
void frdma_resp_commit(struct frdma_resp *rs, const struct frdma_hdr *hdr,
		       u64 atomic_orig)
{
	const struct frdma_op *op = frdma_op(hdr->opcode);
	u32 npkts = 1;

	switch (op->kind) {
	case FRDMA_KIND_READ:
		npkts = read_npkts(rs, hdr->dma_len);
		rs->last_read = *save_res(rs, hdr, npkts, 0);
		begin_read(rs, hdr);
		rs->unsent = npkts;
		break;
	case FRDMA_KIND_ATOMIC:
		save_res(rs, hdr, 1, atomic_orig);
		break;
	case FRDMA_KIND_ATOMIC_WRITE:
	case FRDMA_KIND_FLUSH:
		break;
	default:
		advance_message(rs, op, hdr, 1);
		rs->ack_due |= hdr->ack_req;
		break;
	}

	advance(rs, npkts);
	if (op->ends)
		rs->msn = (rs->msn + 1) & FRDMA_MSN_MASK;
}

/**
 * frdma_resp_commit_run - packets of a run were executed
 * @rs: state
 * @hdr: headers of the first
 * @nr: how many, see frdma_resp_count_run(); their effects are done
 *
 * The same as frdma_resp_commit() for each of them, or, but for what is said
 * to the peer, frdma_resp_commit_uc().
 */
void frdma_resp_commit_run(struct frdma_resp *rs, const struct frdma_hdr *hdr,
			   u32 nr)
{
	advance_message(rs, frdma_op(hdr->opcode), hdr, nr);
	rs->ack_due |= hdr->ack_req;
	advance(rs, nr);
}

/**
 * frdma_resp_commit_uc - a request on an unreliable connection was executed
 * @rs: state
 * @hdr: headers of a request judged FRDMA_RESP_ACCEPT; its effects are done
 */
void frdma_resp_commit_uc(struct frdma_resp *rs, const struct frdma_hdr *hdr)
{
	advance_message(rs, frdma_op(hdr->opcode), hdr, 1);
	rs->epsn = frdma_psn_add(hdr->psn, 1);
}

/**
 * frdma_resp_abandon - forget the open message, if there is one
 * @rs: state of an unreliable connection
 *
 * The rest of it will be dropped. A receive request that it used is used by
 * the next one that needs one, from its beginning.
 */
void frdma_resp_abandon(struct frdma_resp *rs)
{
	rs->in_msg = false;
	rs->got = 0;
}

/**
 * frdma_resp_put_off - a request is not executed now, and the peer is told so
 * @rs: state
 * @verdict: FRDMA_RESP_GAP or FRDMA_RESP_NO_RECV
 *
 * Until the one that is expected comes and is executed, those behind it are
 * dropped without a word.
 */
void frdma_resp_put_off(struct frdma_resp *rs, enum frdma_resp_verdict verdict)
{
	rs->nak = verdict == FRDMA_RESP_GAP ? FRDMA_RESP_NAK_SEQ :
					      FRDMA_RESP_NAK_RNR;
	rs->missed = false;
}

/**
 * frdma_resp_miss - a request is dropped behind a READ response, or behind what is kept
 * @rs: state
 * @psn: of the request
 *
 * When that is at its end the peer is to be asked for it (frdma_resp_put_off()), or it
 * would wait for its timeout; unless it was kept, and executed then. If it was asked
 * before, it has done that since.
 */
void frdma_resp_miss(struct frdma_resp *rs, u32 psn)
{
	s32 ahead = frdma_psn_diff(psn, rs->epsn);

	if (ahead < 0 || (ahead > 0 && rs->nak != FRDMA_RESP_NAK_NONE))
		return;
	rs->nak = FRDMA_RESP_NAK_NONE;
	if (!rs->missed || frdma_psn_diff(psn, rs->missed_psn) > 0)
		rs->missed_psn = psn;
	rs->missed = true;
}

/**
 * frdma_resp_commit_dup - a request is answered again
 * @rs: state; a READ response is in progress only if it yields to this request
 * @hdr: its headers
 * @verdict: what frdma_resp_judge_dup() said
 *
 * Where a READ response is in progress, an acknowledgement that is due waits until it
 * is at its end; this request is acknowledged by itself, see frdma_resp_again_plan().
 */
void frdma_resp_commit_dup(struct frdma_resp *rs, const struct frdma_hdr *hdr,
			   enum frdma_dup_verdict verdict)
{
	switch (verdict) {
	case FRDMA_DUP_ACK:
	case FRDMA_DUP_QUIET:
		if (rs->read.active)
			break;
		rs->ack_due |= verdict == FRDMA_DUP_ACK;
		rs->dup_psn = frdma_psn_add(hdr->psn, 1);
		rs->dup_epsn = rs->epsn;
		break;
	case FRDMA_DUP_READ:
		repeat_read(rs, hdr);
		break;
	default:
		break;
	}
}

/* How far a PSN, all before which was executed, is behind what is expected: 0..2^23. */
static u32 behind(const struct frdma_resp *rs, u32 psn)
{
	return (rs->epsn - psn) & FRDMA_PSN_MASK;
}

/**
 * frdma_resp_read_is_repeated - had what is to be sent next been sent before
 * @rs: state, with a READ response in progress
 *
 * Return: true if the peer may have had it.
 */
bool frdma_resp_read_is_repeated(const struct frdma_resp *rs)
{
	return behind(rs, rs->read.psn) > rs->unsent;
}

/**
 * frdma_resp_read_was_sent - had all been sent that is to be sent
 * @rs: state, with a READ response in progress
 *
 * Return: true if the peer may have had all that it asked for.
 */
bool frdma_resp_read_was_sent(const struct frdma_resp *rs)
{
	u32 rest = read_npkts(rs, rs->read.left);

	return behind(rs, rs->read.psn) >= rs->unsent + rest;
}

/**
 * frdma_resp_read_yields - may a request come before the READ response at hand
 * @rs: state, with a READ response in progress
 * @hdr: headers of the request
 *
 * Return: true for a READ that asks again for what is to be sent next, and for all that
 * is before that: it was executed, and the peer has not had its answer. None of these
 * answers is about what comes after it.
 */
bool frdma_resp_read_yields(const struct frdma_resp *rs,
			    const struct frdma_hdr *hdr)
{
	bool is_read = frdma_op(hdr->opcode)->kind == FRDMA_KIND_READ;

	return judge_psn(rs, hdr->psn) == FRDMA_RESP_DUPLICATE &&
	       behind(rs, hdr->psn) + is_read > behind(rs, rs->read.psn);
}

/**
 * frdma_resp_read_end - the READ response in progress is at its end, or given up
 * @rs: state; what was never sent is in progress now
 */
void frdma_resp_read_end(struct frdma_resp *rs)
{
	rs->read.active = false;
	if (rs->unsent)
		resume_read(rs);
}

/**
 * frdma_resp_forget_reads - no READ is answered any more
 * @rs: state
 */
void frdma_resp_forget_reads(struct frdma_resp *rs)
{
	rs->read.active = false;
	rs->unsent = 0;
}

/**
 * frdma_resp_saved - what an atomic returned
 * @rs: state
 * @psn: of a request judged FRDMA_DUP_ATOMIC
 */
u64 frdma_resp_saved(const struct frdma_resp *rs, u32 psn)
{
	return find_res(rs, psn)->orig;
}

/**
 * frdma_resp_answered - an answer is sent that acknowledges earlier requests
 * @rs: state
 * @psn: of the answer: an atomic acknowledge, an acknowledge of an ATOMIC WRITE or
 *	FLUSH, or the last packet of a READ response
 *
 * The requester takes an answer as an acknowledgement of every earlier request (IBTA
 * 9.7.5.1.2). If the answer belongs to the newest request, no ACK is due any more.
 */
void frdma_resp_answered(struct frdma_resp *rs, u32 psn)
{
	if (frdma_psn_add(psn, 1) == rs->epsn)
		rs->ack_due = false;
}

/**
 * frdma_resp_read_sent - packets of the READ response are on their way
 * @rs: state, unchanged since frdma_resp_read_plan()
 * @hdr: that plan
 * @nr: how many: one, or at most as many as frdma_resp_read_run() said
 */
void frdma_resp_read_sent(struct frdma_resp *rs, const struct frdma_hdr *hdr,
			  u32 nr)
{
	struct frdma_resp_read *rd = &rs->read;

	rd->psn = frdma_psn_add(rd->psn, nr);
	rd->va += nr * hdr->payload_len;
	rd->left -= nr * hdr->payload_len;
	rd->fresh = false;
	rs->unsent = min(rs->unsent, behind(rs, rd->psn));
	if (frdma_op(hdr->opcode)->ends) {
		frdma_resp_answered(rs, frdma_psn_add(rd->psn, -1));
		frdma_resp_read_end(rs);
	}
}
