// SPDX-License-Identifier: GPL-2.0
/* The receive side, as the kernel's responder.c, recv.c and uc.c have it. */
#include <stdlib.h>

#include "engine.h"

void engine_responder_init(struct engine_qp *qp)
{
	const struct queue_pair *spec = qp->spec;

	qp->resp = (struct frdma_resp) {
		.mtu		= spec->mtu,
		.transport	= qp->req.transport,
		.access		= spec->rights,
		.res		= qp->res,
		.nr_res		= min(spec->dest_rd, (u32)ENGINE_RES),
	};
	frdma_resp_init(&qp->resp, spec->rq_psn);
	qp->rq = &qp->own;
}

static void complete(struct engine_qp *qp, struct done *done)
{
	done->at_ns = engine_now_ns;
	done->recv = true;
	done->qp = qp->spec;
	done->id = qp->cur.id;
	done->src_qp = qp->spec->type == IS_XRC_TGT ? qp->spec->peer_qpn : 0;
	qp->have_cur = false;
	play_done(engine_play, done);
}

static bool take_recv(struct engine_qp *qp)
{
	if (qp->have_cur)
		return true;
	if (qp->rq->cons == qp->rq->prod)
		return false;
	qp->cur = qp->rq->recvs[qp->rq->cons++ % ENGINE_DEPTH];
	qp->have_cur = true;
	return true;
}

/* What a target has not taken stays in the queue. */
static bool has_to_flush(struct engine_qp *qp)
{
	if (qp->spec->type != IS_XRC_TGT)
		return take_recv(qp);
	return qp->have_cur && engine_aim(qp, qp->srqn);
}

static void flush(struct engine_qp *qp)
{
	while (has_to_flush(qp)) {
		struct done done = { .status = FRDMA_WC_WR_FLUSH_ERR };

		complete(qp, &done);
	}
}

static void answer_atomic(struct engine_qp *qp, u32 psn, u64 orig)
{
	struct frdma_hdr hdr;

	frdma_resp_atomic_plan(&qp->resp, psn, orig, &hdr);
	engine_send(qp, &hdr, NULL);
}

static void answer_empty(struct engine_qp *qp, u32 psn)
{
	struct frdma_hdr hdr;

	frdma_resp_empty_plan(&qp->resp, psn, &hdr);
	engine_send(qp, &hdr, NULL);
}

/* What the kernel does about a request that ends the connection. */
static void refuse(struct engine_qp *qp, u32 psn,
		   enum frdma_resp_verdict verdict)
{
	static const int events[] = {
		[FRDMA_RESP_EVENT_REQ] = 2,
		[FRDMA_RESP_EVENT_ACCESS] = 3,
		[FRDMA_RESP_EVENT_FATAL] = 1,
	};
	const struct frdma_resp_fault *fault = frdma_resp_fault(verdict);
	struct frdma_hdr hdr;

	frdma_resp_refusal_plan(&qp->resp, psn, verdict, &hdr);
	engine_send(qp, &hdr, NULL);
	if (qp->have_cur && fault->recv_status != FRDMA_WC_WR_FLUSH_ERR) {
		struct done done = { .status = fault->recv_status };

		complete(qp, &done);
	}
	if (fault->event != FRDMA_RESP_EVENT_NONE)
		play_event(engine_play, events[fault->event]);
	engine_error(qp, STATE_ERR);
}

/* The memory of a receive request is judged as far as the packet uses it. */
static bool store_send(struct engine_qp *qp, const u8 *payload, u32 len)
{
	u8 *to = engine_local(qp->pd, qp->cur.lkey,
			      qp->cur.addr + qp->resp.got, len, RIGHT_LOCAL);

	if (to)
		memcpy(to, payload, len);
	return to;
}

static enum frdma_resp_verdict execute_send(struct engine_qp *qp,
					    const struct frdma_hdr *hdr,
					    const u8 *payload)
{
	size_t i;

	if (hdr->payload_len && !store_send(qp, payload, hdr->payload_len))
		return FRDMA_RESP_RECV_FAULT;
	if (!(frdma_op(hdr->opcode)->ext & FRDMA_EXT_INV))
		return FRDMA_RESP_ACCEPT;

	/* None of these regions may be invalidated by the peer. */
	for (i = 0; i < engine_play->nr_regions; i++)
		if (engine_play->regions[i].rkey == hdr->inv_rkey)
			break;
	return FRDMA_RESP_BAD_INV;
}

static enum frdma_resp_verdict execute_write(struct engine_qp *qp,
					     const struct frdma_hdr *hdr,
					     const u8 *payload)
{
	const struct frdma_resp *rs = &qp->resp;
	bool starts = frdma_op(hdr->opcode)->starts;
	u32 len = starts ? hdr->dma_len : hdr->payload_len;
	u8 *to;

	if (!len)
		return FRDMA_RESP_ACCEPT;
	to = engine_remote(qp->pd, starts ? hdr->rkey : rs->rkey,
			   starts ? hdr->va : rs->va, len, RIGHT_WRITE);
	if (!to)
		return FRDMA_RESP_BAD_KEY;
	memcpy(to, payload, hdr->payload_len);
	return FRDMA_RESP_ACCEPT;
}

static enum frdma_resp_verdict execute_atomic(const struct engine_qp *qp,
					      const struct frdma_hdr *hdr,
					      u64 *orig)
{
	u64 *at = engine_remote(qp->pd, hdr->rkey, hdr->va, sizeof(*at), RIGHT_ATOMIC);

	if (!at)
		return FRDMA_RESP_BAD_KEY;
	*orig = *at;
	if (!frdma_opcode_swaps(hdr->opcode))
		*at += hdr->swap_add;
	else if (*orig == hdr->compare)
		*at = hdr->swap_add;
	return FRDMA_RESP_ACCEPT;
}

static enum frdma_resp_verdict execute(struct engine_qp *qp,
				       const struct frdma_hdr *hdr,
				       const u8 *payload, u64 *orig)
{
	bool all = hdr->flush_select == FRDMA_FLUSH_REGION;
	u8 *to;

	switch (frdma_op(hdr->opcode)->kind) {
	case FRDMA_KIND_SEND:
		return execute_send(qp, hdr, payload);
	case FRDMA_KIND_WRITE:
		return execute_write(qp, hdr, payload);
	case FRDMA_KIND_READ:
		return !hdr->dma_len || engine_remote(qp->pd, hdr->rkey, hdr->va,
						      hdr->dma_len, RIGHT_READ) ?
		       FRDMA_RESP_ACCEPT : FRDMA_RESP_BAD_KEY;
	case FRDMA_KIND_ATOMIC_WRITE:
		to = engine_remote(qp->pd, hdr->rkey, hdr->va, 8, RIGHT_WRITE);
		if (!to)
			return FRDMA_RESP_BAD_KEY;
		memcpy(to, payload, 8);
		return FRDMA_RESP_ACCEPT;
	case FRDMA_KIND_FLUSH:
		return engine_remote(qp->pd, hdr->rkey, hdr->va,
				     all ? 0 : hdr->dma_len,
				     frdma_resp_flush_access(hdr)) ?
		       FRDMA_RESP_ACCEPT : FRDMA_RESP_BAD_KEY;
	default:
		return execute_atomic(qp, hdr, orig);
	}
}

static void executed(struct engine_qp *qp, const struct frdma_hdr *hdr, u32 len)
{
	const struct frdma_op *op = frdma_op(hdr->opcode);
	struct done done = {
		.len = len,
		.write = op->kind == FRDMA_KIND_WRITE,
		.imm = op->ext & FRDMA_EXT_IMM,
		.inv = op->ext & FRDMA_EXT_INV,
	};

	if (!op->ends_recv)
		return;
	done.ex = done.imm ? be32_to_cpu(hdr->imm_data) : hdr->inv_rkey;
	complete(qp, &done);
}

/* The region, or the queue that the request named, is gone. */
static void give_up_read(struct engine_qp *qp)
{
	struct frdma_resp *rs = &qp->resp;
	u32 psn = rs->read.psn;

	if (frdma_resp_read_was_sent(rs)) {
		frdma_resp_read_end(rs);
	} else {
		frdma_resp_forget_reads(rs);
		refuse(qp, psn, FRDMA_RESP_BAD_KEY);
	}
}

static void send_read_response(struct engine_qp *qp)
{
	struct frdma_resp *rs = &qp->resp;

	if (rs->read.active && qp->spec->type == IS_XRC_TGT &&
	    !engine_aim_read(qp, rs->read.srqn))
		give_up_read(qp);
	while (rs->read.active) {
		struct frdma_hdr hdr;
		void *from = NULL;

		frdma_resp_read_plan(rs, &hdr);
		if (hdr.payload_len)
			from = engine_remote(qp->pd, rs->read.rkey, rs->read.va,
					     hdr.payload_len, RIGHT_READ);
		if (hdr.payload_len && !from) {
			give_up_read(qp);
			return;
		}
		engine_send(qp, &hdr, from);
		frdma_resp_read_sent(rs, &hdr, 1);
	}
}

static void commit(struct engine_qp *qp, const struct frdma_hdr *hdr, u64 orig)
{
	u8 kind = frdma_op(hdr->opcode)->kind;
	u32 len = qp->resp.got + hdr->payload_len;

	frdma_resp_commit(&qp->resp, hdr, orig);
	executed(qp, hdr, len);
	if (kind == FRDMA_KIND_ATOMIC)
		answer_atomic(qp, hdr->psn, orig);
	else if (kind == FRDMA_KIND_ATOMIC_WRITE || kind == FRDMA_KIND_FLUSH)
		answer_empty(qp, hdr->psn);
}

static void repeat(struct engine_qp *qp, const struct frdma_hdr *hdr)
{
	struct frdma_resp *rs = &qp->resp;
	enum frdma_dup_verdict verdict = frdma_resp_judge_dup(rs, hdr);

	frdma_resp_commit_dup(rs, hdr, verdict);
	if (verdict == FRDMA_DUP_ATOMIC)
		answer_atomic(qp, hdr->psn, frdma_resp_saved(rs, hdr->psn));
	else if (verdict == FRDMA_DUP_EMPTY)
		answer_empty(qp, hdr->psn);
}

static struct frdma_resp_recv look_for_recv(struct engine_qp *qp,
					    const struct frdma_hdr *hdr)
{
	const struct frdma_op *op = frdma_op(hdr->opcode);
	struct frdma_resp_recv recv = { };

	if (op->ext & FRDMA_EXT_XRCETH && !engine_aim(qp, hdr->srqn)) {
		recv.astray = true;
		return recv;
	}
	if (op->kind != FRDMA_KIND_SEND && !op->takes_recv)
		return recv;
	recv.ready = take_recv(qp);
	if (recv.ready)
		recv.len = qp->cur.len;
	return recv;
}

static void put_off(struct engine_qp *qp, const struct frdma_hdr *hdr,
		    const u8 *payload)
{
	if (frdma_resp_may_keep(&qp->resp, hdr))
		engine_keep(&qp->kept, qp->resp.epsn, hdr, payload, 0);
}

static void ask_for_missing(struct engine_qp *qp)
{
	struct frdma_hdr hdr;

	frdma_resp_put_off(&qp->resp, FRDMA_RESP_GAP);
	frdma_resp_gap_plan(&qp->resp, &hdr);
	engine_send(qp, &hdr, NULL);
}

static void take_reliable(struct engine_qp *qp, const struct frdma_hdr *hdr,
			  const u8 *payload)
{
	struct frdma_resp *rs = &qp->resp;
	struct frdma_resp_recv recv = { };
	enum frdma_resp_verdict verdict;
	struct frdma_hdr answer;
	u64 orig = 0;

	if (hdr->psn == rs->epsn)
		recv = look_for_recv(qp, hdr);
	verdict = frdma_resp_judge(rs, hdr, recv);
	if (verdict == FRDMA_RESP_ACCEPT)
		verdict = execute(qp, hdr, payload, &orig);

	switch (verdict) {
	case FRDMA_RESP_ACCEPT:
		commit(qp, hdr, orig);
		break;
	case FRDMA_RESP_DUPLICATE:
		repeat(qp, hdr);
		break;
	case FRDMA_RESP_GAP:
		ask_for_missing(qp);
		put_off(qp, hdr, payload);
		break;
	case FRDMA_RESP_NO_RECV:
		frdma_resp_put_off(rs, verdict);
		frdma_resp_rnr_plan(rs, hdr->psn, qp->spec->rnr_timer,
				    &answer);
		engine_send(qp, &answer, NULL);
		break;
	case FRDMA_RESP_WAITING:
		put_off(qp, hdr, payload);
		break;
	default:
		refuse(qp, hdr->psn, verdict);
		break;
	}
}

static void take_unreliable(struct engine_qp *qp, const struct frdma_hdr *hdr,
			    const u8 *payload)
{
	struct frdma_resp *rs = &qp->resp;
	struct frdma_resp_recv recv = { };
	enum frdma_resp_verdict verdict;
	u64 orig;
	u32 len;

	if (frdma_resp_breaks(rs, hdr))
		frdma_resp_abandon(rs);
	if (frdma_op(hdr->opcode)->starts != rs->in_msg)
		recv = look_for_recv(qp, hdr);
	verdict = frdma_resp_judge_uc(rs, hdr, recv);
	if (verdict == FRDMA_RESP_ACCEPT)
		verdict = execute(qp, hdr, payload, &orig);
	if (verdict == FRDMA_RESP_RECV_FAULT) {
		struct done done = { .status = FRDMA_WC_LOC_PROT_ERR };

		complete(qp, &done);
		engine_error(qp, STATE_ERR);
	}
	if (verdict != FRDMA_RESP_ACCEPT) {
		frdma_resp_abandon(rs);
		return;
	}
	len = rs->got + hdr->payload_len;
	frdma_resp_commit_uc(rs, hdr);
	executed(qp, hdr, len);
}

/**
 * engine_responder_request - the peer asks for something
 * @qp: of whom
 * @hdr: headers of a request of its transport
 * @payload: what they say
 */
void engine_responder_request(struct engine_qp *qp,
			      const struct frdma_hdr *hdr, const u8 *payload)
{
	if (qp->state != STATE_RTS && qp->state != STATE_RTR)
		return;
	if (qp->spec->type == IS_UC)
		take_unreliable(qp, hdr, payload);
	else
		take_reliable(qp, hdr, payload);
}

/* Returns true if there were any. */
static bool take_kept(struct engine_qp *qp)
{
	struct frdma_resp *rs = &qp->resp;
	struct frdma_kept *item;
	bool any = false;

	while ((item = frdma_kept_due(&qp->kept, rs->epsn))) {
		struct early *early = (struct early *)item;

		if (!frdma_kept_is_stale(item, rs->epsn)) {
			engine_responder_request(qp, &early->hdr,
						 early->payload);
			any = true;
		}
		send_read_response(qp);
		free(early);
	}
	return any;
}

void engine_responder_step(struct engine_qp *qp)
{
	struct frdma_resp *rs = &qp->resp;
	struct frdma_hdr hdr;

	send_read_response(qp);
	if (take_kept(qp) && qp->kept.first && frdma_resp_is_content(rs) &&
	    qp->state != STATE_ERR) {
		rs->ack_due = false;
		ask_for_missing(qp);
	}
	if (rs->ack_due && qp->state != STATE_ERR) {
		rs->ack_due = false;
		frdma_resp_ack_plan(rs, &hdr);
		engine_send(qp, &hdr, NULL);
	}
	if (qp->state == STATE_ERR)
		flush(qp);
}
