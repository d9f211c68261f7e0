// SPDX-License-Identifier: GPL-2.0
#include <linux/minmax.h>

#include "answer.h"
#include "dev.h"
#include "execute.h"
#include "lent.h"
#include "loopback.h"
#include "mr.h"
#include "proto/resp.h"
#include "qp.h"
#include "stats.h"
#include "trace.h"

/**
 * frdma_answers_begin - what is answered from here on leaves together
 * @answers: to be set up
 * @qp: whose receive side the caller owns until frdma_answers_end()
 *
 * Context: as a step of a side.
 */
void frdma_answers_begin(struct frdma_answers *answers, struct frdma_qp *qp)
{
	answers->begun = false;
	if (!qp->rq.answers)
		qp->rq.answers = answers;
}

/**
 * frdma_answers_end - send what was answered
 * @answers: begun by the caller; part of another section: that one sends it
 * @qp: whose they are
 */
void frdma_answers_end(struct frdma_answers *answers, struct frdma_qp *qp)
{
	if (qp->rq.answers != answers)
		return;
	qp->rq.answers = NULL;
	if (answers->begun)
		frdma_tx_end(&answers->tx);
	if (unlikely(frdma_answers_wait(qp)))
		frdma_answers_wake_later(qp);
}

/**
 * frdma_answers_wake_later - start the timer for answers that wait
 * @qp: whose receive side the caller owns, and whose answers wait
 */
void frdma_answers_wake_later(struct frdma_qp *qp)
{
	u64 next_ns = min(frdma_unsent_next_ns(&qp->rq.unsent),
			  frdma_queued_next_ns(&qp->rq.queued));

	if (next_ns != U64_MAX)
		hrtimer_start(&qp->rq.unsent_timer, ns_to_ktime(next_ns),
			      HRTIMER_MODE_ABS_SOFT);
}

/**
 * frdma_answers_go_on - answer what had to wait, if it may leave now
 * @qp: whose receive side the caller owns
 */
void frdma_answers_go_on(struct frdma_qp *qp)
{
	struct frdma_rq *rq = &qp->rq;

	if (likely(!frdma_answers_wait(qp)))
		return;
	frdma_queued_look(&rq->queued, ktime_get_ns());
	frdma_unsent_send(&rq->unsent, qp, rq->queued.sk);
}

/* The burst of the section, which begins with the first answer. */
static struct frdma_tx *burst(struct frdma_qp *qp)
{
	struct frdma_answers *answers = qp->rq.answers;
	struct frdma_flow flow;

	if (!answers->begun) {
		flow = frdma_flow_to_peer(qp, &qp->rq.route);
		flow.lane = &qp->rq.lane;
		flow.queued = &qp->rq.queued;
		flow.unsent = &qp->rq.unsent;
		frdma_tx_begin(&answers->tx, &flow);
		answers->begun = true;
	}
	return &answers->tx;
}

static bool add_packet(struct frdma_qp *qp, const struct frdma_hdr *hdr)
{
	struct frdma_tx *tx = burst(qp);

	if (!frdma_tx_reserve(tx, hdr, 0, 1))
		return false;
	frdma_tx_commit(tx);
	trace_frdma_tx(qp->dev->ndev->ifindex, qp->qpn, hdr->opcode, hdr->psn,
		       0, 1);
	return true;
}

/**
 * frdma_answer - send what has no payload: an ACK, a NAK, what an atomic found
 * @qp: whose receive side the caller owns, between frdma_answers_begin() and
 *	frdma_answers_end(), as for all that follows
 * @hdr: its headers; who it is for is filled in here
 *
 * Return: false if there is no memory for it.
 */
bool frdma_answer(struct frdma_qp *qp, struct frdma_hdr *hdr)
{
	static const struct frdma_lent nothing;

	hdr->dqpn = qp->attr.dest_qp_num;
	hdr->pkey = FRDMA_PKEY_DEFAULT;

	if (frdma_hdr_is_nak(hdr))
		trace_frdma_nak(qp->dev->ndev->ifindex, qp->qpn, true, hdr);
	else
		trace_frdma_ack(qp->dev->ndev->ifindex, qp->qpn, true, hdr);

	if (!qp->rq.loop)
		return add_packet(qp, hdr);
	frdma_loopback_answer(qp, hdr, 0, 1, &nothing);
	return true;
}

/* ACKs, and what atomics have found. */
static bool acknowledge(struct frdma_qp *qp, struct frdma_hdr *hdr)
{
	if (!frdma_answer(qp, hdr))
		return false;
	frdma_qp_count(qp, FRDMA_CNT_SENT_ACKS);
	return true;
}

/**
 * frdma_answer_ack - acknowledge all that was executed
 * @qp: responder
 */
void frdma_answer_ack(struct frdma_qp *qp)
{
	struct frdma_hdr hdr;

	frdma_resp_ack_plan(&qp->rq.resp, &hdr);
	qp->rq.resp.ack_due = false;
	if (!acknowledge(qp, &hdr))
		qp->rq.resp.ack_due = true;
}

/**
 * frdma_answer_again - acknowledge what was executed before a READ
 * @qp: responder, of which a READ response is in progress
 * @psn: of a SEND or WRITE before that, which has come again
 */
void frdma_answer_again(struct frdma_qp *qp, u32 psn)
{
	struct frdma_hdr hdr;

	frdma_resp_again_plan(&qp->rq.resp, psn, &hdr);
	acknowledge(qp, &hdr);
}

/**
 * frdma_answer_atomic - tell what an atomic has found
 * @qp: responder
 * @psn: of the request
 * @orig: what was there before
 */
void frdma_answer_atomic(struct frdma_qp *qp, u32 psn, u64 orig)
{
	struct frdma_hdr hdr;

	frdma_resp_atomic_plan(&qp->rq.resp, psn, orig, &hdr);
	if (acknowledge(qp, &hdr))
		frdma_resp_answered(&qp->rq.resp, psn);
}

/**
 * frdma_answer_empty - say that an ATOMIC WRITE, or a FLUSH, is done
 * @qp: responder
 * @psn: of the request
 */
void frdma_answer_empty(struct frdma_qp *qp, u32 psn)
{
	struct frdma_hdr hdr;

	frdma_resp_empty_plan(&qp->rq.resp, psn, &hdr);
	if (frdma_answer(qp, &hdr))
		frdma_resp_answered(&qp->rq.resp, psn);
}

/*
 * Enter the memory of the next packets of the response, which may go while that is
 * under way: of @nr, or of fewer, if it is not all there or not all theirs any
 * more. The last of these says why.
 * What is absent, as memory that is not pinned may be, is waited for, since the
 * request was accepted.
 */
static enum frdma_resp_verdict enter_response(struct frdma_qp *qp, u32 len,
					      u32 *nr, struct frdma_mr **mr)
{
	const struct frdma_resp_read *read = &qp->rq.resp.read;
	const int access = IB_ACCESS_REMOTE_READ;
	enum frdma_resp_verdict verdict;

	for (; *nr > 1; *nr /= 2) {
		*mr = frdma_execute_enter(qp, read->rkey, read->va, *nr * len,
					  access);
		if (!*mr)
			continue;
		if (!frdma_mr_is_absent(*mr, read->va, *nr * len, access))
			return FRDMA_RESP_ACCEPT;
		frdma_mr_leave(*mr);
	}

	*mr = frdma_execute_enter(qp, read->rkey, read->va, len, access);
	if (!*mr)
		return FRDMA_RESP_BAD_KEY;
	verdict = frdma_execute_page_in(qp, *mr, read->va, len, read->left,
					access);
	if (verdict != FRDMA_RESP_ACCEPT)
		frdma_mr_leave(*mr);
	return verdict;
}

/*
 * The payload of reserved packets, or of fewer. What is not pinned has a lock while
 * it is entered, so whatever makes room has been done before: it may send.
 */
static enum frdma_resp_verdict fill_response(struct frdma_qp *qp,
					     struct frdma_tx *tx, u32 len,
					     u32 *nr)
{
	enum frdma_resp_verdict verdict;
	struct frdma_mr *mr;

	verdict = enter_response(qp, len, nr, &mr);
	if (verdict != FRDMA_RESP_ACCEPT)
		return verdict;

	frdma_tx_shorten(tx, *nr);
	frdma_mr_read(mr, qp->rq.resp.read.va, &tx->to, *nr * len);
	frdma_mr_leave(mr);
	return FRDMA_RESP_ACCEPT;
}

/*
 * Packets of a response that queues of this host have room for. What was built
 * before counts when the stack has it.
 */
static u32 room_for_response(struct frdma_qp *qp)
{
	struct frdma_queued *queued = &qp->rq.queued;
	u32 mtu = qp->rq.resp.mtu, room, open;
	struct frdma_tx *tx = burst(qp);

	if (qp->rq.read_free)
		return qp->rq.read_free;
	room = frdma_queued_room(queued, mtu);
	open = frdma_tx_open_packets(tx);
	if (!room || room > open)
		return room ? room - open : 0;
	frdma_tx_push(tx);
	return frdma_answers_wait(qp) ? 0 : frdma_queued_room(queued, mtu);
}

/* Build @nr packets, or fewer: none without memory, and then answers wait. */
static enum frdma_resp_verdict build_response(struct frdma_qp *qp,
					      const struct frdma_hdr *hdr,
					      u32 *nr)
{
	enum frdma_resp_verdict verdict = FRDMA_RESP_ACCEPT;
	struct frdma_tx *tx = burst(qp);
	u32 len = hdr->payload_len;

	*nr = frdma_tx_reserve(tx, hdr, len, *nr);
	if (!*nr)
		return FRDMA_RESP_ACCEPT;
	if (len)
		verdict = fill_response(qp, tx, len, nr);
	if (verdict != FRDMA_RESP_ACCEPT)
		return verdict;

	frdma_tx_commit(tx);
	trace_frdma_tx(qp->dev->ndev->ifindex, qp->qpn, hdr->opcode, hdr->psn,
		       len, *nr);
	return FRDMA_RESP_ACCEPT;
}

/*
 * Lend the region for @nr packets, or for fewer: for none if it can not be. One
 * that is not pinned has a lock, which its destination may have to take, too.
 */
static enum frdma_resp_verdict lend_response(struct frdma_qp *qp,
					     const struct frdma_hdr *hdr,
					     u32 *nr)
{
	enum frdma_resp_verdict verdict;
	struct frdma_lent lent = { };
	u32 len = hdr->payload_len;
	struct frdma_mr *mr;

	if (!len) {
		frdma_loopback_answer(qp, hdr, 0, 1, &lent);
		return FRDMA_RESP_ACCEPT;
	}

	*nr = min(*nr, frdma_loopback_run_max(len));
	verdict = enter_response(qp, len, nr, &mr);
	if (verdict != FRDMA_RESP_ACCEPT)
		return verdict;

	if (mr->kind != FRDMA_MR_ODP)
		frdma_mr_lend(mr, qp->rq.resp.read.va, *nr * len, &lent);
	*nr = min(*nr, lent.len / len);
	if (*nr)
		frdma_loopback_answer(qp, hdr, len, *nr, &lent);
	frdma_mr_leave(mr);
	return FRDMA_RESP_ACCEPT;
}

/*
 * Send packets of the response that are alike. Returns FRDMA_RESP_NO_RECV if it
 * waits for pages.
 */
static enum frdma_resp_verdict send_response_run(struct frdma_qp *qp)
{
	enum frdma_resp_verdict verdict = FRDMA_RESP_ACCEPT;
	struct frdma_resp *rs = &qp->rq.resp;
	struct frdma_hdr hdr;
	u32 most, nr = 0;

	frdma_resp_read_plan(rs, &hdr);
	hdr.dqpn = qp->attr.dest_qp_num;
	hdr.pkey = FRDMA_PKEY_DEFAULT;
	most = frdma_resp_read_run(rs, &hdr, max(qp->rq.read_budget, 1U));

	if (qp->rq.loop) {
		nr = most;
		verdict = lend_response(qp, &hdr, &nr);
	}
	if (verdict == FRDMA_RESP_ACCEPT && !nr) {
		nr = min(most, room_for_response(qp));
		if (nr)
			verdict = build_response(qp, &hdr, &nr);
	}
	if (verdict != FRDMA_RESP_ACCEPT || !nr)
		return verdict;

	frdma_resp_read_sent(rs, &hdr, nr);
	qp->rq.read_budget -= min(nr, qp->rq.read_budget);
	qp->rq.read_free -= min(nr, qp->rq.read_free);
	return FRDMA_RESP_ACCEPT;
}

/*
 * What fits into one packet is sent in any case: behind a response that waits the
 * rest of a train is dropped, and a train has no more of these READs than a step may
 * take packets. What a train of ours asks for there is room for anyway (tx.h).
 */
static bool may_go_on(const struct frdma_qp *qp, u32 first)
{
	const struct frdma_resp *rs = &qp->rq.resp;

	return !frdma_answers_wait(qp) &&
	       rs->read.active && rs->read.first == first &&
	       (qp->rq.read_budget || rs->read.left <= rs->mtu);
}

/**
 * frdma_answer_read - go on with the response to a READ
 * @qp: responder, of which one is active
 *
 * Return: how far that went. One is active still if some of it is left, or if one that
 * was not sent has its turn now.
 */
enum frdma_answer_fate frdma_answer_read(struct frdma_qp *qp)
{
	enum frdma_resp_verdict verdict = FRDMA_RESP_ACCEPT;
	u32 first = qp->rq.resp.read.first;

	qp->rq.read_waits = false;
	qp->rq.read_refused = false;
	while (verdict == FRDMA_RESP_ACCEPT && may_go_on(qp, first))
		verdict = send_response_run(qp);

	switch (verdict) {
	case FRDMA_RESP_ACCEPT:
		return FRDMA_ANSWER_SENT;
	case FRDMA_RESP_NO_RECV:
		return FRDMA_ANSWER_ABSENT;
	default:
		return FRDMA_ANSWER_GONE;
	}
}
