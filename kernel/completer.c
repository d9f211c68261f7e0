// SPDX-License-Identifier: GPL-2.0
#include <linux/ktime.h>

#include "ahead.h"
#include "completer.h"
#include "dev.h"
#include "proto/ack.h"
#include "qp.h"
#include "rx.h"
#include "sge.h"
#include "stats.h"
#include "trace.h"

static void fail(struct frdma_qp *qp, u8 status, enum frdma_ack_verdict verdict)
{
	if (!frdma_req_fail(&qp->sq.req, status, verdict))
		return;
	if (status == FRDMA_WC_RETRY_EXC_ERR ||
	    status == FRDMA_WC_RNR_RETRY_EXC_ERR)
		frdma_qp_count(qp, FRDMA_CNT_RETRY_EXCEEDED);
}

/* Store the payload of a READ response where the work request wants it. */
static enum frdma_mr_fault store_data(struct frdma_qp *qp,
				      const struct frdma_rx_pkt *pkt)
{
	struct frdma_ack_data to = frdma_ack_locate(&qp->sq.req, pkt->hdr.psn);

	if (!pkt->hdr.payload_len)
		return FRDMA_MR_OK;
	return frdma_sge_scatter_payload(qp->dev, qp->pd, to.wr->sge,
					 to.wr->wqe.num_sge, to.off,
					 pkt->payload, frdma_rx_len(pkt));
}

static enum frdma_mr_fault store_atomic(struct frdma_qp *qp,
					const struct frdma_rx_pkt *pkt)
{
	struct frdma_ack_data to = frdma_ack_locate(&qp->sq.req, pkt->hdr.psn);
	u64 orig = pkt->hdr.atomic_orig;

	return frdma_sge_scatter(qp->dev, qp->pd, to.wr->sge,
				 to.wr->wqe.num_sge, 0, &orig, sizeof(orig));
}

static void recover(struct frdma_qp *qp, enum frdma_recovery recovery,
		    enum frdma_ack_verdict verdict)
{
	struct frdma_req *rq = &qp->sq.req;
	bool asked = verdict == FRDMA_ACK_SEQ_NAK;

	switch (recovery) {
	case FRDMA_RECOVERY_RUNS:
		return;
	case FRDMA_RECOVERY_EXHAUSTED:
		fail(qp, FRDMA_WC_RETRY_EXC_ERR, verdict);
		return;
	case FRDMA_RECOVERY_BEGUN:
		break;
	}
	frdma_qp_count(qp, asked ? FRDMA_CNT_RETRY_SEQ :
				     FRDMA_CNT_RETRY_IMPLIED);
	trace_frdma_retry(qp->dev->ndev->ifindex, qp->qpn, rq->una_psn,
			  asked ? "sequence" : "implied",
			  rq->retry.retry_left);
}

static void ask_for_hole(struct frdma_qp *qp)
{
	recover(qp, frdma_resend_hole(&qp->sq.req,
				      qp->sq.ahead.list.first->psn),
		FRDMA_ACK_LOST);
}

static void ask_for_all(struct frdma_qp *qp)
{
	recover(qp, frdma_resend_recover(&qp->sq.req, false), FRDMA_ACK_LOST);
}

/* What was let go: now, or behind those that are kept. */
static void ask_for_lacking(struct frdma_qp *qp)
{
	recover(qp, frdma_resend_lacking(&qp->sq.req), FRDMA_ACK_LOST);
}

/*
 * An answer, or a run, shows that one before it is missing. It is kept, and only what is
 * missing is asked for. Where there is no room for it, all is.
 */
static void put_aside(struct frdma_qp *qp, const struct frdma_rx_pkt *pkt,
		      u64 now_ns)
{
	enum frdma_ahead_fate fate = FRDMA_AHEAD_TWICE;
	struct frdma_ahead *ahead = &qp->sq.ahead;
	struct frdma_req *rq = &qp->sq.req;
	u32 n;

	frdma_ack_implied(rq, pkt->hdr.psn, now_ns);
	if (frdma_ack_is_ahead(rq, &pkt->hdr)) {
		frdma_resend_note_ahead(rq, pkt->hdr.psn, pkt->nr);
		fate = frdma_ahead_keep(qp, ahead, pkt, rq->una_psn,
					rq->resend.round);
	}
	for (n = 0; fate != FRDMA_AHEAD_KEPT && n < pkt->nr; n++)
		frdma_qp_drop_unbuilt(qp, FRDMA_DROP_OUT_OF_SEQUENCE);
	if (fate == FRDMA_AHEAD_NO_ROOM) {
		frdma_resend_let_go(rq);
		ask_for_lacking(qp);
	} else if (frdma_ahead_is_empty(ahead)) {
		ask_for_all(qp);
	} else {
		ask_for_hole(qp);
	}
}

static void take_response(struct frdma_qp *qp, const struct frdma_rx_pkt *pkt,
			  enum frdma_ack_verdict verdict, u64 now_ns)
{
	struct frdma_req *rq = &qp->sq.req;
	enum frdma_mr_fault fault;

	if (verdict == FRDMA_ACK_DATA) {
		frdma_ack_note(rq, &pkt->hdr);
		fault = store_data(qp, pkt);
	} else {
		fault = store_atomic(qp, pkt);
	}
	if (fault == FRDMA_MR_OK) {
		frdma_ack_commit(rq, pkt->hdr.psn, now_ns);
		return;
	}
	frdma_ack_implied(rq, pkt->hdr.psn, now_ns);
	/* That a page has gone is no fault of the peer's: no retry is spent. */
	if (fault != FRDMA_MR_ABSENT) {
		fail(qp, FRDMA_WC_LOC_PROT_ERR, verdict);
		return;
	}
	frdma_resend_all(rq);
	trace_frdma_retry(qp->dev->ndev->ifindex, qp->qpn, rq->una_psn, "pages",
			  rq->retry.retry_left);
}

static void wait_for_receiver(struct frdma_qp *qp, const struct frdma_hdr *hdr,
			      u64 now_ns)
{
	struct frdma_req *rq = &qp->sq.req;

	frdma_qp_count(qp, FRDMA_CNT_RCVD_RNR_NAKS);
	if (!frdma_ack_wait(rq, hdr, now_ns)) {
		fail(qp, FRDMA_WC_RNR_RETRY_EXC_ERR, FRDMA_ACK_RNR_NAK);
		return;
	}
	frdma_qp_count(qp, FRDMA_CNT_RETRY_RNR);
	trace_frdma_retry(qp->dev->ndev->ifindex, qp->qpn, rq->una_psn, "rnr",
			  rq->retry.rnr_left);
}

static void refused(struct frdma_qp *qp, enum frdma_ack_verdict verdict)
{
	static const u8 status[] = {
		[FRDMA_ACK_REM_INV_REQ]	= FRDMA_WC_REM_INV_REQ_ERR,
		[FRDMA_ACK_REM_ACCESS]	= FRDMA_WC_REM_ACCESS_ERR,
		[FRDMA_ACK_REM_OP]	= FRDMA_WC_REM_OP_ERR,
		[FRDMA_ACK_BAD_RESP]	= FRDMA_WC_BAD_RESP_ERR,
	};

	if (verdict != FRDMA_ACK_BAD_RESP)
		frdma_qp_count(qp, FRDMA_CNT_RCVD_ERR_NAKS);
	fail(qp, status[verdict], verdict);
}

/* Good news only: NAKs and READ responses have counters of their own. */
static void count_answer(const struct frdma_qp *qp, const struct frdma_hdr *hdr)
{
	u8 kind = frdma_op(hdr->opcode)->kind;

	if (kind != FRDMA_KIND_ACK && kind != FRDMA_KIND_ATOMIC_ACK)
		return;
	if (!frdma_hdr_is_nak(hdr))
		frdma_qp_count(qp, FRDMA_CNT_RCVD_ACKS);
}

static void trace_answer(const struct frdma_qp *qp, const struct frdma_hdr *hdr)
{
	if (frdma_op(hdr->opcode)->kind != FRDMA_KIND_ACK)
		return;
	if (frdma_hdr_is_nak(hdr))
		trace_frdma_nak(qp->dev->ndev->ifindex, qp->qpn, false, hdr);
	else
		trace_frdma_ack(qp->dev->ndev->ifindex, qp->qpn, false, hdr);
}

static void take_known_answer(struct frdma_qp *qp,
			      const struct frdma_rx_pkt *pkt)
{
	enum frdma_ack_verdict verdict;
	struct frdma_req *rq = &qp->sq.req;
	u32 psn = pkt->hdr.psn;
	u64 now_ns;

	/* Nothing was asked before RTS, and nothing is answered, or obeyed, after an error. */
	if (!frdma_qp_can_send(qp)) {
		frdma_qp_drop_unbuilt(qp, FRDMA_DROP_QP_STATE);
		return;
	}

	now_ns = ktime_get_ns();
	verdict = frdma_ack_judge(rq, &pkt->hdr);

	switch (verdict) {
	case FRDMA_ACK_DATA:
	case FRDMA_ACK_ATOMIC:
		take_response(qp, pkt, verdict, now_ns);
		return;
	case FRDMA_ACK_PROGRESS:
		frdma_ack_commit(rq, psn, now_ns);
		return;
	case FRDMA_ACK_CONGESTED:
		frdma_qp_count(qp, FRDMA_CNT_RCVD_CNPS);
		/* Without a window it cannot send less. */
		if (frdma_req_is_reliable(rq))
			frdma_cc_notified(&rq->cc, frdma_req_outstanding(rq),
					  now_ns);
		return;
	case FRDMA_ACK_STALE:
		frdma_qp_drop_unbuilt(qp, FRDMA_DROP_DUPLICATE);
		return;
	case FRDMA_ACK_GHOST:
		frdma_qp_drop_unbuilt(qp, FRDMA_DROP_GHOST_ACK);
		return;
	case FRDMA_ACK_LOST:
		put_aside(qp, pkt, now_ns);
		return;
	default:
		break;
	}

	/* The rest is bad news; but what came before it has arrived. */
	frdma_ack_implied(rq, psn, now_ns);
	switch (verdict) {
	case FRDMA_ACK_SEQ_NAK:
		frdma_qp_count(qp, FRDMA_CNT_RCVD_SEQ_NAKS);
		recover(qp, frdma_resend_recover(rq, true), verdict);
		break;
	case FRDMA_ACK_RNR_NAK:
		wait_for_receiver(qp, &pkt->hdr, now_ns);
		break;
	default:
		refused(qp, verdict);
		break;
	}
}

static void take_answer(struct frdma_qp *qp, const struct frdma_rx_pkt *pkt)
{
	if (frdma_qp_can_send(qp)) {
		trace_answer(qp, &pkt->hdr);
		count_answer(qp, &pkt->hdr);
	}
	take_known_answer(qp, pkt);
}

/*
 * Packets in the middle of a READ response. If one of them cannot be stored,
 * all are taken one by one.
 */
static void take_run(struct frdma_qp *qp, struct frdma_rx_pkt *pkt)
{
	enum frdma_ack_verdict verdict = frdma_ack_judge(&qp->sq.req, &pkt->hdr);
	struct frdma_req *rq = &qp->sq.req;
	u32 nr = pkt->nr;

	if (frdma_qp_can_send(qp) && verdict == FRDMA_ACK_LOST) {
		put_aside(qp, pkt, ktime_get_ns());
		return;
	}
	pkt->nr = 0;
	if (!frdma_qp_can_send(qp) || verdict != FRDMA_ACK_DATA)
		return;

	pkt->nr = frdma_ack_count_run(rq, &pkt->hdr, nr);
	if (store_data(qp, pkt) == FRDMA_MR_OK)
		frdma_ack_commit_run(rq, pkt->hdr.psn, pkt->nr,
				     ktime_get_ns());
	else
		pkt->nr = 0;
}

static void take_kept(struct frdma_qp *qp, const struct frdma_kept *item,
		      struct frdma_rx_pkt *pkt)
{
	struct frdma_req *rq = &qp->sq.req;

	if (frdma_ack_is_old(rq, item, &pkt->hdr)) {
		frdma_qp_drop_unbuilt(qp, FRDMA_DROP_DUPLICATE);
		return;
	}
	frdma_rx_hand_over(qp, pkt, take_known_answer, take_run);
}

/* Returns what is left of a budget of packets. */
static u32 take_due(struct frdma_qp *qp, u32 budget)
{
	u32 nr;

	while (budget) {
		nr = frdma_ahead_take(qp, &qp->sq.ahead, qp->sq.req.una_psn,
				      take_kept);
		if (!nr)
			break;
		budget -= min(budget, nr);
	}
	return budget;
}

/* What is kept speaks of what was before it, too. Returns true if that is news. */
static bool speaks_of_more(struct frdma_qp *qp)
{
	return frdma_ack_implied(&qp->sq.req, qp->sq.ahead.list.first->psn,
				 ktime_get_ns());
}

/**
 * frdma_completer_step - take answers whose turn has come meanwhile
 * @qp: whose send side the caller owns, and can send
 *
 * And then ask for what is missing next.
 *
 * Return: true if there are more, but not now.
 */
bool frdma_completer_step(struct frdma_qp *qp)
{
	struct frdma_ahead *ahead = &qp->sq.ahead;
	u32 budget = FRDMA_SIDE_BUDGET;

	if (likely(frdma_ahead_is_empty(ahead)) &&
	    likely(!qp->sq.req.resend.lacks))
		return false;
	do {
		budget = take_due(qp, budget);
		if (!frdma_qp_can_send(qp))
			return false;
		if (!budget)
			return true;
	} while (!frdma_ahead_is_empty(ahead) && speaks_of_more(qp));
	if (!frdma_ahead_is_empty(ahead))
		ask_for_hole(qp);
	else
		ask_for_lacking(qp);
	return false;
}

/**
 * frdma_completer_expire - let go of answers that have waited too long for their turn
 * @qp: whose send side the caller owns
 */
void frdma_completer_expire(struct frdma_qp *qp)
{
	struct frdma_req *rq = &qp->sq.req;

	if (!frdma_ahead_expire(qp, &qp->sq.ahead, rq->una_psn))
		return;
	frdma_resend_let_go(rq);
	ask_for_lacking(qp);
}

/**
 * frdma_completer_packet - take what the responder sent
 * @side: send side, owned by the caller; a step follows
 * @skb: consumed
 */
void frdma_completer_packet(struct frdma_side *side, struct sk_buff *skb)
{
	struct frdma_qp *qp = frdma_qp_of_send(side);

	frdma_rx_each(qp, skb, true, take_answer, take_run);
	/* Or what the next buffer brings would be ahead, too. */
	take_due(qp, FRDMA_SIDE_BUDGET / 4);
}

/**
 * frdma_completer_take - take an answer, or a run, that never was in a buffer
 * @qp: whose send side the caller owns
 * @pkt: judged as frdma_rx_each() would; becomes what would follow it
 *
 * No step need follow: whoever is answered so has nothing under way elsewhere.
 */
void frdma_completer_take(struct frdma_qp *qp, struct frdma_rx_pkt *pkt)
{
	frdma_rx_hand_over(qp, pkt, take_answer, take_run);
}
