// SPDX-License-Identifier: GPL-2.0
/* The send side, as the kernel's requester.c and completer.c have it. */
#include <stdlib.h>

#include "engine.h"

#define READ_GRID	64	/* as FRDMA_READ_GRID of the kernel */
#define WINDOW		256

void engine_requester_init(struct engine_qp *qp)
{
	static const u8 transports[] = {
		[IS_RC] = FRDMA_RC, [IS_UC] = FRDMA_UC,
		[IS_XRC_INI] = FRDMA_XRC, [IS_XRC_TGT] = FRDMA_XRC,
	};
	const struct queue_pair *spec = qp->spec;

	qp->req = (struct frdma_req) {
		.slots		= qp->slots,
		.stride		= sizeof(qp->slots[0]),
		.mask		= ENGINE_DEPTH - 1,
		.transport	= transports[spec->type],
		.rd_max		= spec->rd,
		.read_grid	= READ_GRID,
		.mtu		= spec->mtu,
		.dqpn		= spec->peer_qpn,
		.pkey		= FRDMA_PKEY_DEFAULT,
		.retry = {
			.timeout_ns	= frdma_ack_timeout_ns(spec->timeout),
			.retry_cnt	= spec->retry,
			.rnr_retry	= spec->rnr_retry,
		},
	};
	frdma_req_init(&qp->req, spec->sq_psn);
	frdma_cc_init(&qp->req.cc, WINDOW);
}

static const struct frdma_sge *sge_of(const struct engine_qp *qp,
				      const struct frdma_swr *wr)
{
	return &qp->sges[wr - qp->slots];
}

static void *local_memory(const struct engine_qp *qp,
			  const struct frdma_swr *wr, u32 off, u32 len)
{
	bool brings = frdma_kind_brings_data(frdma_wr(wr->wqe.opcode)->kind);
	const struct frdma_sge *sge = sge_of(qp, wr);

	return engine_local(0, sge->lkey, sge->addr + off, len,
			    brings ? RIGHT_LOCAL : 0);
}

static void fill_slot(struct frdma_swr *wr, const struct request *rq)
{
	struct frdma_send_wqe *wqe = &wr->wqe;

	*wr = (struct frdma_swr) {
		.wqe = {
			.wr_id		= rq->id,
			.opcode		= rq->op,
			.flags		= FRDMA_WQE_SIGNALED |
				(rq->fence ? FRDMA_WQE_FENCE : 0) |
				(rq->solicited ? FRDMA_WQE_SOLICITED : 0),
			.num_sge	= !!rq->len,
			.rkey		= rq->rkey,
			.remote_addr	= rq->va,
		},
	};
	if (frdma_wr(rq->op)->imm)
		wqe->ex = (__force u32)cpu_to_be32(rq->imm);
	else if (frdma_wr(rq->op)->inv)
		wqe->ex = rq->rkey;
	wqe->xrc.srqn = rq->srqn;
	switch (rq->op) {
	case DO_COMPARE_SWAP:
		wqe->atomic.compare_add = rq->compare;
		wqe->atomic.swap = rq->swap;
		break;
	case DO_FETCH_ADD:
		wqe->atomic.compare_add = rq->swap;
		break;
	case DO_FLUSH:
		wqe->num_sge = 0;
		wqe->flush.length = rq->len;
		wqe->flush.placement = rq->placement;
		wqe->flush.select = rq->select;
		break;
	}
}

static void fetch_posted(struct engine_qp *qp)
{
	const struct frdma_wqe_limits limits = {
		.transport = qp->req.transport, .max_sge = 1,
	};
	struct frdma_req *rq = &qp->req;

	while (rq->wr_prod != qp->post_prod) {
		u32 i = rq->wr_prod % ENGINE_DEPTH;
		const struct request *from = &qp->posted[i];
		struct frdma_swr *wr = &qp->slots[i];
		struct frdma_sge *sge = &qp->sges[i];
		enum frdma_wqe_verdict verdict;

		fill_slot(wr, from);
		*sge = (struct frdma_sge) { from->addr, from->len, from->lkey };
		verdict = frdma_wqe_judge_send(&wr->wqe, sge, &limits);
		wr->status = frdma_wqe_status(verdict);
		frdma_req_fetched(rq, wr->status ? 0 :
				  frdma_wqe_len(&wr->wqe, sge));
	}
}

static void send_next(struct engine_qp *qp)
{
	struct frdma_req *rq = &qp->req;
	struct frdma_swr *wr = frdma_req_wr(rq, rq->wr_next);
	struct frdma_req_pkt pkt;
	void *from = NULL;

	if (wr->wqe.num_sge &&
	    !local_memory(qp, wr, 0, sge_of(qp, wr)->length)) {
		wr->status = FRDMA_WC_LOC_PROT_ERR;
		return;
	}
	frdma_req_plan(rq, &pkt);
	pkt.hdr.payload_len = pkt.len;
	if (pkt.len)
		from = local_memory(qp, wr, pkt.off, pkt.len);
	engine_send(qp, &pkt.hdr, from);
	frdma_req_sent(rq, &pkt);
	frdma_req_spend(rq, 1, engine_now_ns);
	frdma_req_watch(rq, engine_now_ns);
}

static void transmit(struct engine_qp *qp)
{
	struct frdma_req *rq = &qp->req;

	for (;;) {
		switch (frdma_req_judge(rq)) {
		case FRDMA_REQ_SEND:
			if (!frdma_req_credit(rq, engine_now_ns))
				return;
			send_next(qp);
			break;
		case FRDMA_REQ_NO_READS:
			frdma_req_wr(rq, rq->wr_next)->status =
				FRDMA_WC_LOC_QP_OP_ERR;
			break;
		case FRDMA_REQ_FAILED:
			if (!frdma_req_ask(rq))
				return;
			break;
		case FRDMA_REQ_LOCAL:
			/* No region here can be invalidated. */
			frdma_req_wr(rq, rq->wr_next)->status =
				FRDMA_WC_MW_BIND_ERR;
			break;
		default:
			return;
		}
	}
}

static void complete(struct engine_qp *qp, const struct frdma_swr *wr,
		     u8 status)
{
	struct done done = {
		.at_ns = engine_now_ns, .qp = qp->spec, .id = wr->wqe.wr_id,
		.status = status,
		.len = frdma_kind_brings_data(wr->kind) ? wr->len : 0,
	};

	play_done(engine_play, &done);
}

static void reap(struct engine_qp *qp)
{
	struct frdma_swr *wr;

	while ((wr = frdma_req_reap(&qp->req))) {
		complete(qp, wr, wr->status);
		if (wr->status) {
			engine_error(qp, qp->spec->type == IS_UC ? STATE_SQE :
								   STATE_ERR);
			return;
		}
	}
}

static void flush(struct engine_qp *qp)
{
	struct frdma_req *rq = &qp->req;

	fetch_posted(qp);
	while (rq->wr_una != rq->wr_prod)
		complete(qp, frdma_req_wr(rq, rq->wr_una++),
			 FRDMA_WC_WR_FLUSH_ERR);
	frdma_req_forget(rq);
}

static void look_at_clock(struct engine_qp *qp)
{
	struct frdma_req *rq = &qp->req;

	switch (frdma_retry_expire(&rq->retry, engine_now_ns)) {
	case FRDMA_EXPIRY_NOT_YET:
		break;
	case FRDMA_EXPIRY_PROBE:
		frdma_resend_probe(rq);
		break;
	case FRDMA_EXPIRY_RESEND:
		frdma_resend_timeout(rq);
		break;
	case FRDMA_EXPIRY_RESUME:
		frdma_resend_refused(rq);
		break;
	case FRDMA_EXPIRY_READY:
		frdma_resend_awaited(rq);
		break;
	case FRDMA_EXPIRY_EXHAUSTED:
		frdma_req_fail(rq, FRDMA_WC_RETRY_EXC_ERR, 0);
		break;
	}
}

void engine_requester_step(struct engine_qp *qp)
{
	u32 una;

	if (qp->state == STATE_RTS) {
		look_at_clock(qp);
		reap(qp);
	}
	do {
		una = qp->req.wr_una;
		if (qp->state != STATE_RTS)
			break;
		fetch_posted(qp);
		transmit(qp);
		reap(qp);
	} while (qp->req.wr_una != una);
	if (qp->state == STATE_ERR || qp->state == STATE_SQE)
		flush(qp);
}

static void store(struct engine_qp *qp, const struct frdma_hdr *hdr,
		  const void *data, u32 len)
{
	struct frdma_req *rq = &qp->req;
	struct frdma_ack_data to = frdma_ack_locate(rq, hdr->psn);
	void *at = local_memory(qp, to.wr, to.off, len);

	if (len && !at) {
		frdma_ack_implied(rq, hdr->psn, engine_now_ns);
		frdma_req_fail(rq, FRDMA_WC_LOC_PROT_ERR, 0);
		return;
	}
	if (len)
		memcpy(at, data, len);
	frdma_ack_commit(rq, hdr->psn, engine_now_ns);
}

static void recover(struct frdma_req *rq, enum frdma_recovery recovery)
{
	if (recovery == FRDMA_RECOVERY_EXHAUSTED)
		frdma_req_fail(rq, FRDMA_WC_RETRY_EXC_ERR, 0);
}

static void put_aside(struct engine_qp *qp, const struct frdma_hdr *hdr,
		      const u8 *payload)
{
	struct frdma_req *rq = &qp->req;

	frdma_ack_implied(rq, hdr->psn, engine_now_ns);
	if (frdma_ack_is_ahead(rq, hdr)) {
		frdma_resend_note_ahead(rq, hdr->psn, 1);
		engine_keep(&qp->ahead, rq->una_psn, hdr, payload,
			    rq->resend.round);
	}
	recover(rq, qp->ahead.first ?
		    frdma_resend_hole(rq, qp->ahead.first->psn) :
		    frdma_resend_recover(rq, false));
}

static void take_bad_news(struct engine_qp *qp, const struct frdma_hdr *hdr,
			  enum frdma_ack_verdict verdict)
{
	static const u8 status[] = {
		[FRDMA_ACK_REM_INV_REQ]	= FRDMA_WC_REM_INV_REQ_ERR,
		[FRDMA_ACK_REM_ACCESS]	= FRDMA_WC_REM_ACCESS_ERR,
		[FRDMA_ACK_REM_OP]	= FRDMA_WC_REM_OP_ERR,
		[FRDMA_ACK_BAD_RESP]	= FRDMA_WC_BAD_RESP_ERR,
	};
	struct frdma_req *rq = &qp->req;

	frdma_ack_implied(rq, hdr->psn, engine_now_ns);
	switch (verdict) {
	case FRDMA_ACK_SEQ_NAK:
		recover(rq, frdma_resend_recover(rq, true));
		break;
	case FRDMA_ACK_RNR_NAK:
		frdma_resend_all(rq);
		if (!frdma_retry_rnr(&rq->retry,
				     hdr->syndrome & FRDMA_AETH_VALUE,
				     engine_now_ns))
			frdma_req_fail(rq, FRDMA_WC_RNR_RETRY_EXC_ERR, 0);
		break;
	default:
		frdma_req_fail(rq, status[verdict], 0);
		break;
	}
}

static void take_answer(struct engine_qp *qp, const struct frdma_hdr *hdr,
			const u8 *payload)
{
	enum frdma_ack_verdict verdict;

	if (qp->state != STATE_RTS)
		return;
	verdict = frdma_ack_judge(&qp->req, hdr);
	switch (verdict) {
	case FRDMA_ACK_DATA:
		frdma_ack_note(&qp->req, hdr);
		store(qp, hdr, payload, hdr->payload_len);
		break;
	case FRDMA_ACK_ATOMIC:
		store(qp, hdr, &hdr->atomic_orig, sizeof(hdr->atomic_orig));
		break;
	case FRDMA_ACK_PROGRESS:
		frdma_ack_commit(&qp->req, hdr->psn, engine_now_ns);
		break;
	case FRDMA_ACK_CONGESTED:
		if (frdma_req_is_reliable(&qp->req))
			frdma_cc_notified(&qp->req.cc,
					  frdma_req_outstanding(&qp->req),
					  engine_now_ns);
		break;
	case FRDMA_ACK_STALE:
	case FRDMA_ACK_GHOST:
		break;
	case FRDMA_ACK_LOST:
		put_aside(qp, hdr, payload);
		break;
	default:
		take_bad_news(qp, hdr, verdict);
		break;
	}
}

/* Returns true if what is kept speaks of more than was known. */
static bool take_ahead(struct engine_qp *qp)
{
	struct frdma_req *rq = &qp->req;
	struct frdma_kept *item;

	while ((item = frdma_kept_due(&qp->ahead, rq->una_psn))) {
		struct early *early = (struct early *)item;

		if (!frdma_kept_is_stale(item, rq->una_psn) &&
		    !frdma_ack_is_old(rq, item, &early->hdr))
			take_answer(qp, &early->hdr, early->payload);
		free(early);
	}
	return qp->ahead.first &&
	       frdma_ack_implied(rq, qp->ahead.first->psn, engine_now_ns);
}

/**
 * engine_requester_answer - the peer answers
 * @qp: whom
 * @hdr: headers of a response
 * @payload: what they say
 *
 * What was ahead of its turn may have it now.
 */
void engine_requester_answer(struct engine_qp *qp, const struct frdma_hdr *hdr,
			     const u8 *payload)
{
	struct frdma_req *rq = &qp->req;

	take_answer(qp, hdr, payload);
	while (take_ahead(qp))
		;
	if (qp->ahead.first && qp->state == STATE_RTS)
		recover(rq, frdma_resend_hole(rq, qp->ahead.first->psn));
}
