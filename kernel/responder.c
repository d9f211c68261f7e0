// SPDX-License-Identifier: GPL-2.0
#include <linux/minmax.h>

#include "ahead.h"
#include "answer.h"
#include "dev.h"
#include "execute.h"
#include "proto/resp.h"
#include "proto/retry.h"
#include "qp.h"
#include "recv.h"
#include "responder.h"
#include "rx.h"
#include "stats.h"
#include "wc.h"
#include "xrc.h"

static void tell_refusal(struct frdma_qp *qp, u32 psn,
			 enum frdma_resp_verdict verdict)
{
	struct frdma_hdr hdr;

	frdma_qp_drop_unbuilt(qp, FRDMA_DROP_BAD_REQUEST);
	frdma_resp_refusal_plan(&qp->rq.resp, psn, verdict, &hdr);
	if (frdma_answer(qp, &hdr))
		frdma_qp_count(qp, FRDMA_CNT_SENT_ERR_NAKS);
}

/* The request ends the connection: tell the peer, then the owner. */
static void refuse(struct frdma_qp *qp, u32 psn,
		   enum frdma_resp_verdict verdict)
{
	static const enum ib_event_type events[] = {
		[FRDMA_RESP_EVENT_REQ]	  = IB_EVENT_QP_REQ_ERR,
		[FRDMA_RESP_EVENT_ACCESS] = IB_EVENT_QP_ACCESS_ERR,
		[FRDMA_RESP_EVENT_FATAL]  = IB_EVENT_QP_FATAL,
	};
	const struct frdma_resp_fault *fault = frdma_resp_fault(verdict);

	tell_refusal(qp, psn, verdict);

	/* A request is flushed later whose queue is not at hand (XRC). */
	if (qp->rq.have_cur && qp->rq.cq &&
	    fault->recv_status != FRDMA_WC_WR_FLUSH_ERR) {
		struct frdma_cqe cqe = {
			.status	    = fault->recv_status,
			.opcode	    = IB_WC_RECV,
			.vendor_err = verdict,
		};

		frdma_wc_recv(qp, &cqe, false);
	}
	if (fault->event != FRDMA_RESP_EVENT_NONE)
		frdma_qp_event(qp, events[fault->event]);
	frdma_qp_error(qp);
}

/* The request was executed: now it counts. */
static void commit(struct frdma_qp *qp, const struct frdma_rx_pkt *pkt,
		   u64 orig)
{
	const struct frdma_op *op = frdma_op(pkt->hdr.opcode);
	struct frdma_resp *rs = &qp->rq.resp;
	u32 len = rs->got + pkt->hdr.payload_len;

	frdma_flush_forget(&qp->rq.flush);
	qp->rq.page_in.told = 0;
	frdma_resp_commit(rs, &pkt->hdr, orig);
	frdma_executed(qp, pkt, len);
	if (op->kind == FRDMA_KIND_ATOMIC)
		frdma_answer_atomic(qp, pkt->hdr.psn, orig);
	else if (op->kind == FRDMA_KIND_ATOMIC_WRITE ||
		 op->kind == FRDMA_KIND_FLUSH)
		frdma_answer_empty(qp, pkt->hdr.psn);
}

/* So long, and seldom longer, a request and its answer are on their way. */
#define MOST_WAYS_NS		(20 * NSEC_PER_MSEC)

/* The peer has asked for it, or seen some of it, or will ask again in so long. */
static void read_is_wanted(struct frdma_qp *qp, u64 in_ns)
{
	qp->rq.read_wanted_until = ktime_get_ns() + in_ns + MOST_WAYS_NS;
}

static void answer_again(struct frdma_qp *qp, const struct frdma_rx_pkt *pkt)
{
	struct frdma_resp *rs = &qp->rq.resp;
	enum frdma_dup_verdict verdict = frdma_resp_judge_dup(rs, &pkt->hdr);

	frdma_qp_count(qp, FRDMA_CNT_DUPLICATE_REQUESTS);
	frdma_resp_commit_dup(rs, &pkt->hdr, verdict);
	switch (verdict) {
	case FRDMA_DUP_ACK:
		if (rs->read.active)
			frdma_answer_again(qp, pkt->hdr.psn);
		break;
	case FRDMA_DUP_QUIET:
		break;
	case FRDMA_DUP_READ:
		qp->rq.read_waits = false;
		read_is_wanted(qp, 0);
		break;
	case FRDMA_DUP_ATOMIC:
		frdma_answer_atomic(qp, pkt->hdr.psn,
				    frdma_resp_saved(rs, pkt->hdr.psn));
		break;
	case FRDMA_DUP_EMPTY:
		frdma_answer_empty(qp, pkt->hdr.psn);
		break;
	case FRDMA_DUP_DROP:
		frdma_qp_drop_unbuilt(qp, FRDMA_DROP_DUPLICATE);
		break;
	}
	if (qp->rq.read_refused)
		qp->rq.read_waits = false;
}

static void ask_for_missing(struct frdma_qp *qp)
{
	struct frdma_resp *rs = &qp->rq.resp;
	struct frdma_hdr hdr;

	frdma_resp_put_off(rs, FRDMA_RESP_GAP);
	frdma_resp_gap_plan(rs, &hdr);
	if (frdma_answer(qp, &hdr))
		frdma_qp_count(qp, FRDMA_CNT_SENT_SEQ_NAKS);
	else
		frdma_resp_miss(rs, rs->epsn);
}

/*
 * A request, or a run, that has to wait for what is before it. What is missing
 * is asked for once, when that is noticed; but not what came in an earlier buffer, and
 * is taken when this one was: what is still missing then is.
 */
static void put_off(struct frdma_qp *qp, const struct frdma_rx_pkt *pkt,
		    enum frdma_resp_verdict verdict)
{
	struct frdma_ahead *ahead = &qp->rq.ahead;
	struct frdma_resp *rs = &qp->rq.resp;
	bool due = verdict == FRDMA_RESP_GAP &&
		   frdma_ahead_is_due(ahead, rs->epsn);
	u32 n;

	if (verdict == FRDMA_RESP_GAP || frdma_resp_may_keep(rs, &pkt->hdr))
		frdma_qp_count_add(qp, FRDMA_CNT_OUT_OF_ORDER, pkt->nr);
	if (due)
		frdma_resp_miss(rs, pkt->hdr.psn);
	else if (verdict == FRDMA_RESP_GAP)
		ask_for_missing(qp);
	if ((due || frdma_resp_may_keep(rs, &pkt->hdr)) &&
	    frdma_ahead_keep(qp, ahead, pkt, rs->epsn, 0) == FRDMA_AHEAD_KEPT)
		return;
	for (n = 0; n < pkt->nr; n++)
		frdma_qp_drop_unbuilt(qp, FRDMA_DROP_OUT_OF_SEQUENCE);
}

/* Less than 0.32 ms pages seldom need; two more are twice as long, up to 0.49 s. */
#define PAGES_RNR_TIMER		10
#define PAGES_RNR_TIMER_MAX	31

/*
 * The consumer's timer is the least that it wants (IBTA 9.7.5.2.8), for receive
 * requests, which may come at any moment. Peers that asked for pages so often would
 * keep from the processor whoever brings them. Where they are long in coming, or
 * their user may not wait for more, a peer waits for twice as long each time.
 */
static u8 pages_timer(struct frdma_qp *qp)
{
	u32 timer = PAGES_RNR_TIMER + 2 * qp->rq.page_in.told;

	if (timer < PAGES_RNR_TIMER_MAX)
		qp->rq.page_in.told++;
	return frdma_rnr_longer(qp->attr.min_rnr_timer,
				min(timer, PAGES_RNR_TIMER_MAX));
}

static bool tell_to_wait(struct frdma_qp *qp, u32 psn, u8 timer)
{
	struct frdma_hdr hdr;

	frdma_resp_rnr_plan(&qp->rq.resp, psn, timer, &hdr);
	if (!frdma_answer(qp, &hdr))
		return false;
	frdma_qp_count(qp, FRDMA_CNT_SENT_RNR_NAKS);
	return true;
}

static void ask_to_wait(struct frdma_qp *qp, u32 psn)
{
	u8 timer = qp->attr.min_rnr_timer;

	if (frdma_flush_is_busy(&qp->rq.flush) ||
	    frdma_page_in_is_busy(&qp->rq.page_in) ||
	    frdma_page_in_take_refusal(&qp->rq.page_in))
		timer = pages_timer(qp);

	frdma_resp_put_off(&qp->rq.resp, FRDMA_RESP_NO_RECV);
	frdma_qp_drop_unbuilt(qp, FRDMA_DROP_NO_RECV);
	/* Without memory for it, ask for the request again instead. */
	if (!tell_to_wait(qp, psn, timer))
		frdma_resp_miss(&qp->rq.resp, psn);
}

/* The receive request that the packet would use, or the queue (XRC). */
static struct frdma_resp_recv look_for_recv(struct frdma_qp *qp,
					    const struct frdma_hdr *hdr)
{
	const struct frdma_op *op = frdma_op(hdr->opcode);
	struct frdma_resp_recv recv = { };

	if (!frdma_resp_expects(&qp->rq.resp, hdr))
		return recv;
	if (op->ext & FRDMA_EXT_XRCETH && !frdma_xrc_aim(qp, hdr->srqn)) {
		recv.astray = true;
		return recv;
	}
	if (op->kind != FRDMA_KIND_SEND && !op->takes_recv)
		return recv;
	recv.ready = frdma_recv_take(qp);
	if (recv.ready)
		recv.len = qp->rq.cur->fault ? U32_MAX : qp->rq.cur->len;
	return recv;
}

/*
 * The region went while its response was under way. That ends the connection, but not
 * if all of the response was sent before: the peer may have it. One that was told to
 * ask again does so for ever, where it has retries without end, unless it is told this,
 * too; but not while another is owed to it, which it would believe this to be about.
 */
static void give_up_read(struct frdma_qp *qp)
{
	struct frdma_resp *rs = &qp->rq.resp;
	struct frdma_resp_read read = rs->read;

	qp->rq.read_waits = false;
	if (!frdma_resp_read_was_sent(rs)) {
		frdma_resp_forget_reads(rs);
		refuse(qp, read.psn, FRDMA_RESP_BAD_KEY);
		return;
	}
	frdma_resp_read_end(rs);
	if ((read.told || read.obeyed) && !rs->read.active)
		tell_refusal(qp, read.psn, FRDMA_RESP_BAD_KEY);
	else
		frdma_qp_drop_unbuilt(qp, FRDMA_DROP_DUPLICATE);
}

/*
 * The response to a READ waits for pages, and is sent as soon as they have come. But
 * where too many of the user's wait already, nobody brings them: it is tried when
 * anything comes of the peer. The peer is told when to ask again, lest it runs out of
 * retries, but not what it does not ask: it had asked for this one once, and waits;
 * and no request has the PSN at which a response stops that has begun.
 */
static void hold_read(struct frdma_qp *qp)
{
	struct frdma_resp_read *read = &qp->rq.resp.read;
	u8 timer;

	qp->rq.read_waits = true;
	qp->rq.read_refused = frdma_page_in_take_refusal(&qp->rq.page_in);
	if (!read->fresh || read->told || !(read->asked || qp->rq.read_refused))
		return;
	timer = pages_timer(qp);
	read_is_wanted(qp, frdma_rnr_delay_ns(timer));
	read->told = tell_to_wait(qp, read->psn, timer);
}

/*
 * What is to be sent next was sent before, and the peer has had it, and maybe asks for
 * what follows; or it does not wait for it with its next request: that costs a retry.
 */
static bool has_had_read(const struct frdma_qp *qp)
{
	return frdma_resp_read_is_repeated(&qp->rq.resp) &&
	       ktime_get_ns() > qp->rq.read_wanted_until;
}

/* None is answered any more. */
static void forget_reads(struct frdma_qp *qp)
{
	frdma_resp_forget_reads(&qp->rq.resp);
	qp->rq.read_waits = false;
}

/*
 * Go on with the response to a READ, which does not wait, or not any more. There is one
 * still if the budget is spent, if it waits for pages, or if another has its turn now.
 * The state may have become ERR since it was looked at.
 */
static void answer_read(struct frdma_qp *qp)
{
	const struct frdma_resp_read *read = &qp->rq.resp.read;
	u32 left = read->left;

	if (!frdma_qp_can_recv(qp)) {
		forget_reads(qp);
		return;
	}
	if (qp->type == IB_QPT_XRC_TGT && !frdma_xrc_aim_read(qp, read->srqn)) {
		give_up_read(qp);
		return;
	}

	switch (frdma_answer_read(qp)) {
	case FRDMA_ANSWER_GONE:
		give_up_read(qp);
		break;
	case FRDMA_ANSWER_ABSENT:
		if (read->left != left)
			read_is_wanted(qp, 0);
		hold_read(qp);
		break;
	case FRDMA_ANSWER_SENT:
		break;
	}
}

/* Something else comes of the peer than the READ whose response waits. */
static void reconsider_read(struct frdma_qp *qp)
{
	if (has_had_read(qp)) {
		frdma_qp_drop_unbuilt(qp, FRDMA_DROP_DUPLICATE);
		frdma_resp_read_end(&qp->rq.resp);
		qp->rq.read_waits = false;
	} else if (qp->rq.read_refused) {
		qp->rq.read_waits = false;
	}
}

/* The response to a READ, if there is one, is before the request in any case. */
static void go_on_with_read(struct frdma_qp *qp, const struct frdma_rx_pkt *pkt)
{
	const struct frdma_resp *rs = &qp->rq.resp;

	if (qp->rq.read_waits && !frdma_resp_read_yields(rs, &pkt->hdr))
		reconsider_read(qp);
	if (rs->read.active && !qp->rq.read_waits)
		answer_read(qp);
}

/*
 * Nothing is executed, or acknowledged, behind a response that is not at its end: that
 * would say that it was sent. But what is before it, of which the peer has not had the
 * answer, comes before one that waits, or has its turn only now.
 */
static bool may_come_now(const struct frdma_qp *qp,
			 const struct frdma_rx_pkt *pkt)
{
	const struct frdma_resp *rs = &qp->rq.resp;

	if (!rs->read.active)
		return true;
	return (qp->rq.read_waits || !frdma_resp_read_is_begun(rs)) &&
	       frdma_resp_read_yields(rs, &pkt->hdr);
}

static void take_request(struct frdma_qp *qp, const struct frdma_rx_pkt *pkt)
{
	struct frdma_resp *rs = &qp->rq.resp;
	enum frdma_resp_verdict verdict;
	u64 orig = 0;

	if (frdma_qp_can_recv(qp))
		go_on_with_read(qp, pkt);
	if (!frdma_qp_can_recv(qp)) {
		frdma_qp_drop_unbuilt(qp, FRDMA_DROP_QP_STATE);
		return;
	}
	/* The peer is asked for what follows a response that is long, or waits. */
	if (!may_come_now(qp, pkt)) {
		frdma_resp_miss(rs, pkt->hdr.psn);
		frdma_qp_drop_unbuilt(qp, FRDMA_DROP_OUT_OF_SEQUENCE);
		return;
	}

	verdict = frdma_resp_judge(rs, &pkt->hdr,
				   look_for_recv(qp, &pkt->hdr));
	if (verdict == FRDMA_RESP_ACCEPT)
		verdict = frdma_execute(qp, pkt, &orig);

	switch (verdict) {
	case FRDMA_RESP_ACCEPT:
		commit(qp, pkt, orig);
		break;
	case FRDMA_RESP_DUPLICATE:
		answer_again(qp, pkt);
		break;
	case FRDMA_RESP_GAP:
	case FRDMA_RESP_WAITING:
		put_off(qp, pkt, verdict);
		break;
	case FRDMA_RESP_NO_RECV:
		ask_to_wait(qp, pkt->hdr.psn);
		break;
	default:
		refuse(qp, pkt->hdr.psn, verdict);
		break;
	}
}

/*
 * Requests in the middle of a message, the first of which was accepted. If one
 * of them cannot be executed, all are taken one by one: those before it are
 * executed again, to the same effect, as nothing of them was committed.
 */
static void execute_run(struct frdma_qp *qp, struct frdma_rx_pkt *pkt,
			struct frdma_resp_recv recv)
{
	struct frdma_resp *rs = &qp->rq.resp;
	u64 orig;

	pkt->nr = frdma_resp_count_run(rs, &pkt->hdr, recv, pkt->nr);
	if (frdma_execute(qp, pkt, &orig) != FRDMA_RESP_ACCEPT) {
		pkt->nr = 0;
		return;
	}
	frdma_flush_forget(&qp->rq.flush);
	qp->rq.page_in.told = 0;
	frdma_resp_commit_run(rs, &pkt->hdr, pkt->nr);
	frdma_executed(qp, pkt, 0);
}

static void take_run(struct frdma_qp *qp, struct frdma_rx_pkt *pkt)
{
	const struct frdma_resp *rs = &qp->rq.resp;
	enum frdma_resp_verdict verdict;
	struct frdma_resp_recv recv;

	if (rs->read.active || !frdma_qp_can_recv(qp)) {
		pkt->nr = 0;
		return;
	}

	recv = look_for_recv(qp, &pkt->hdr);
	verdict = frdma_resp_judge(rs, &pkt->hdr, recv);
	switch (verdict) {
	case FRDMA_RESP_ACCEPT:
		execute_run(qp, pkt, recv);
		break;
	case FRDMA_RESP_GAP:
	case FRDMA_RESP_WAITING:
		put_off(qp, pkt, verdict);
		break;
	default:
		pkt->nr = 0;
		break;
	}
}

/*
 * What the last of a train asks for leaves with the answers to the others. Whether
 * pages have come, for which a response waits, the step looks.
 */
static void take_buffer(struct frdma_qp *qp, struct sk_buff *skb)
{
	struct frdma_answers answers;

	/* A response is sent whole if more of the train follows its request. */
	if (frdma_skb_packets(skb) > 1)
		qp->rq.read_free = qp->rq.read_budget;
	frdma_answers_begin(&answers, qp);
	frdma_rx_each(qp, skb, false, take_request, take_run);
	qp->rq.read_free = 0;
	if (qp->rq.resp.read.active && !qp->rq.read_waits)
		answer_read(qp);
	frdma_answers_end(&answers, qp);
}

/**
 * frdma_responder_packet - take requests of the peer
 * @side: receive side, owned by the caller
 * @skb: consumed
 *
 * While the host has no room for answers, requests wait in the queue of the side.
 * Later requests stay behind them.
 */
void frdma_responder_packet(struct frdma_side *side, struct sk_buff *skb)
{
	struct frdma_qp *qp = frdma_qp_of_recv(side);

	if (likely(!frdma_answers_wait(qp) &&
		   skb_queue_empty_lockless(&side->packets)))
		take_buffer(qp, skb);
	else if (!frdma_side_put_off(side, skb))
		frdma_qp_drop(qp, skb, FRDMA_DROP_QUEUE_FULL);
}

/**
 * frdma_responder_take - take a request, or a run, that no buffer brings now
 * @qp: whose receive side the caller owns
 * @pkt: judged as frdma_rx_each() would; becomes what would follow it
 */
void frdma_responder_take(struct frdma_qp *qp, struct frdma_rx_pkt *pkt)
{
	struct frdma_answers answers;

	frdma_answers_begin(&answers, qp);
	frdma_rx_hand_over(qp, pkt, take_request, take_run);
	frdma_answers_end(&answers, qp);
}

/**
 * frdma_responder_answer - send the response to a READ, which was just taken
 * @qp: whose receive side the caller owns, and whose step it will run
 */
void frdma_responder_answer(struct frdma_qp *qp)
{
	struct frdma_answers answers;

	qp->rq.read_budget = FRDMA_READ_BUDGET;
	frdma_answers_begin(&answers, qp);
	answer_read(qp);
	frdma_answers_end(&answers, qp);
}

/* Once in a step it looks whether the pages have come that a response waits for. */
static bool may_have_pages(struct frdma_qp *qp)
{
	return qp->rq.read_waits && !qp->rq.read_refused &&
	       !frdma_page_in_is_busy(&qp->rq.page_in);
}

static void take_kept(struct frdma_qp *qp, const struct frdma_kept *item,
		      struct frdma_rx_pkt *pkt)
{
	frdma_responder_take(qp, pkt);
}

/*
 * Answer a READ, take what was ahead of its turn or a buffer, and so on; but no buffer
 * unless as much may be answered as a train asks for: behind a response that stops
 * in between, its rest is dropped. Behind one that waits for pages all is dropped but
 * what it yields to, and nothing kept: they may be long in coming. Nothing is taken
 * while answers wait. Returns true if there is more.
 */
static bool take_in_order(struct frdma_qp *qp)
{
	const struct frdma_resp_read *read = &qp->rq.resp.read;
	struct frdma_side *side = &qp->rq.side;
	u32 budget = FRDMA_SIDE_BUDGET;

	if (may_have_pages(qp))
		qp->rq.read_waits = false;
	while (budget && !frdma_answers_wait(qp)) {
		struct sk_buff *skb;
		u32 nr;

		if (read->active && !qp->rq.read_waits) {
			answer_read(qp);
			if (frdma_answers_wait(qp))
				return false;
			if (read->active && !qp->rq.read_waits)
				return true;
		}
		nr = qp->rq.read_waits ? 0 :
		     frdma_ahead_take(qp, &qp->rq.ahead, qp->rq.resp.epsn,
				      take_kept);
		if (nr) {
			budget -= min(budget, nr);
			continue;
		}
		if (qp->rq.read_budget < FRDMA_TRAIN_MAX)
			return !skb_queue_empty_lockless(&side->packets);
		skb = frdma_side_next_packet(side);
		if (!skb)
			return false;
		budget -= min(budget, frdma_skb_packets(skb));
		take_buffer(qp, skb);
	}
	return !frdma_answers_wait(qp);
}

/*
 * Acknowledge what was executed, all at once; where more is missing between
 * what was kept, or was dropped behind a READ response, by asking for that, unless it
 * may be among what still waits. Before the turn of what is kept has come, the peer may be sending all that it
 * was asked for, one after the other.
 */
static void acknowledge(struct frdma_qp *qp, bool more)
{
	struct frdma_ahead *ahead = &qp->rq.ahead;
	struct frdma_resp *rs = &qp->rq.resp;
	bool lacks;

	/* Neither must overtake the response to a READ. */
	if (rs->read.active || !frdma_qp_can_recv(qp) ||
	    frdma_answers_wait(qp))
		return;
	lacks = rs->missed || (ahead->taken && frdma_resp_is_content(rs) &&
			       !frdma_ahead_is_empty(ahead));
	if (!more)
		ahead->taken = false;
	if (!more && lacks) {
		rs->ack_due = false;
		ask_for_missing(qp);
	} else if (rs->ack_due) {
		frdma_answer_ack(qp);
	}
}

/* What waits behind a READ response may have come long ago: the peer was not asked for it. */
static void expire_kept(struct frdma_qp *qp)
{
	struct frdma_ahead *ahead = &qp->rq.ahead;
	struct frdma_resp *rs = &qp->rq.resp;
	u32 last_psn;

	if (frdma_ahead_is_empty(ahead))
		return;
	last_psn = ahead->list.last->psn;
	if (frdma_ahead_expire(qp, ahead, rs->epsn) && rs->read.active)
		frdma_resp_miss(rs, last_psn);
}

/**
 * frdma_responder_step - do what there is to do on the receive side
 * @side: owned by the caller
 *
 * Finish a READ response, execute what waits, acknowledge all of it at once.
 *
 * Return: true if there is more, but not now.
 */
bool frdma_responder_step(struct frdma_side *side)
{
	struct frdma_qp *qp = frdma_qp_of_recv(side);
	struct frdma_answers answers;
	bool more;

	if (!frdma_qp_can_recv(qp)) {
		forget_reads(qp);
		frdma_ahead_forget(qp, &qp->rq.ahead);
	}
	expire_kept(qp);
	frdma_answers_go_on(qp);

	frdma_answers_begin(&answers, qp);
	more = take_in_order(qp);

	/* For the next step, and for what is delivered right before it. */
	qp->rq.read_budget = FRDMA_READ_BUDGET;
	qp->rq.flush_spent = 0;

	acknowledge(qp, more);
	frdma_answers_end(&answers, qp);
	if (frdma_qp_state(qp) == IB_QPS_ERR)
		more |= frdma_recv_flush(qp);

	if (qp->rq.notify) {
		qp->rq.notify = false;
		frdma_cq_notify(qp->rq.cq);
	}
	return more;
}
