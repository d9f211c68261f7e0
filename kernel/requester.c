// SPDX-License-Identifier: GPL-2.0
#include <linux/ktime.h>

#include "burst.h"
#include "completer.h"
#include "cq.h"
#include "dev.h"
#include "fetch.h"
#include "local.h"
#include "qp.h"
#include "requester.h"
#include "stats.h"
#include "trace.h"
#include "wc.h"

/*
 * IBTA 10.3.1; or pages that are not there, or may not even be waited for; or
 * earlier packets that the host has still no room for.
 */
static bool is_at_rest(const struct frdma_qp *qp)
{
	return frdma_qp_is_held_back(qp) || qp->sq.req.retry.held ||
	       frdma_unsent_waits(&qp->sq.unsent) ||
	       frdma_page_in_is_busy(&qp->sq.page_in);
}

/* What of the budget may be used now. */
static u32 may_leave(const struct frdma_req *rq, u32 budget)
{
	if (!frdma_req_is_paced(rq))
		return budget;
	return min(budget, frdma_req_credit(rq, ktime_get_ns()));
}

/* What the queue pair allows is known when it is to be sent: modify in SQD. */
static void refuse_read(struct frdma_qp *qp)
{
	struct frdma_req *rq = &qp->sq.req;

	frdma_req_wr(rq, rq->wr_next)->status = FRDMA_WC_LOC_QP_OP_ERR;
	frdma_qp_count(qp, FRDMA_CNT_LOCAL_ERRORS);
}

/*
 * Send what may be sent, as far as the budget goes. What was sent must not wait
 * for an acknowledgement that the next packet would have asked for.
 */
static void transmit(struct frdma_qp *qp, u32 *budget)
{
	struct frdma_req *rq = &qp->sq.req;
	u32 most;

	while (*budget && !is_at_rest(qp) &&
	       !frdma_queued_waits(&qp->sq.queued)) {
		switch (frdma_req_judge(rq)) {
		case FRDMA_REQ_SEND:
			most = may_leave(rq, *budget);
			if (!most)
				return;
			*budget -= frdma_burst_send(qp, most);
			break;
		case FRDMA_REQ_LOCAL:
			if (!frdma_local_execute(qp))
				return;
			--*budget;
			break;
		case FRDMA_REQ_EMPTY:
			frdma_fetch(qp);
			if (rq->wr_next == rq->wr_prod)
				return;
			break;
		case FRDMA_REQ_NO_READS:
			refuse_read(qp);
			break;
		case FRDMA_REQ_FAILED:
			if (!frdma_req_ask(rq))
				return;
			break;
		default:
			return;
		}
	}
	if (*budget && is_at_rest(qp) && frdma_req_ask(rq))
		*budget -= frdma_burst_send(qp, 1);
}

/*
 * Who sees a completion may post in its place at once, so the slot is given
 * back first. The work request itself is a copy, ours until the next fetch.
 */
static void complete_oldest(struct frdma_qp *qp, const struct frdma_swr *wr,
			    u8 status)
{
	frdma_ring_cons_release(&qp->sq.ring, qp->sq.req.wr_una);
	frdma_wc_send(qp, wr, status);
}

/* What is wrong completes when its turn comes to be sent, not before. */
static bool oldest_is_held_back(const struct frdma_qp *qp)
{
	const struct frdma_req *rq = &qp->sq.req;

	return rq->wr_una == rq->wr_next && frdma_qp_is_held_back(qp);
}

static void reap(struct frdma_qp *qp)
{
	struct frdma_swr *wr;

	while (!oldest_is_held_back(qp) && (wr = frdma_req_reap(&qp->sq.req))) {
		complete_oldest(qp, wr, wr->status);
		if (wr->status) {
			frdma_qp_send_error(qp);
			break;
		}
	}
}

/*
 * IBTA 10.3.1.7: all that was posted completes, in order, as flushed. Returns
 * true if there may be more.
 */
static bool flush(struct frdma_qp *qp)
{
	struct frdma_req *rq = &qp->sq.req;
	bool any;

	frdma_fetch(qp);
	any = rq->wr_una != rq->wr_prod;
	while (rq->wr_una != rq->wr_prod)
		complete_oldest(qp, frdma_req_wr(rq, rq->wr_una++),
				FRDMA_WC_WR_FLUSH_ERR);

	/* With nothing to flush, too: what failed has left PSNs unused. */
	frdma_req_forget(rq);
	return any;
}

static void look_at_clock(struct frdma_qp *qp, u64 now_ns)
{
	struct frdma_req *rq = &qp->sq.req;

	/* The timer has fired, or is about to. */
	if (qp->sq.timer_ns && qp->sq.timer_ns <= now_ns)
		qp->sq.timer_ns = 0;

	/* Nothing can be sent again: the time is not the peer's. */
	if (frdma_page_in_is_busy(&qp->sq.page_in))
		return;

	switch (frdma_retry_expire(&rq->retry, now_ns)) {
	case FRDMA_EXPIRY_NOT_YET:
		return;
	case FRDMA_EXPIRY_PROBE:
		if (frdma_resend_probe(rq))
			frdma_qp_count(qp, FRDMA_CNT_PROBES);
		return;
	case FRDMA_EXPIRY_RESUME:
		frdma_resend_refused(rq);
		return;
	case FRDMA_EXPIRY_READY:
		frdma_resend_awaited(rq);
		return;
	case FRDMA_EXPIRY_RESEND:
		frdma_resend_timeout(rq);
		frdma_qp_count(qp, FRDMA_CNT_RETRY_TIMEOUTS);
		trace_frdma_retry(qp->dev->ndev->ifindex, qp->qpn, rq->una_psn,
				  "timeout", rq->retry.retry_left);
		return;
	case FRDMA_EXPIRY_EXHAUSTED:
		if (frdma_req_fail(rq, FRDMA_WC_RETRY_EXC_ERR, 0))
			frdma_qp_count(qp, FRDMA_CNT_RETRY_EXCEEDED);
		return;
	}
}

/* One timer, lazily: it may fire early, but not late. */
static void wake_at(struct frdma_qp *qp, u64 next_ns)
{
	if (next_ns == U64_MAX)
		return;
	if (qp->sq.timer_ns && qp->sq.timer_ns <= next_ns)
		return;
	qp->sq.timer_ns = next_ns;
	hrtimer_start(&qp->sq.timer, ns_to_ktime(next_ns),
		      HRTIMER_MODE_ABS_SOFT);
}

static void set_timer(struct frdma_qp *qp)
{
	struct frdma_req *rq = &qp->sq.req;
	u64 next_ns;

	/* What wakes this side then is that the pages have come. */
	if (frdma_page_in_is_busy(&qp->sq.page_in)) {
		frdma_retry_rest(&rq->retry);
		wake_at(qp, min(frdma_ahead_next_ns(&qp->sq.ahead),
				frdma_unsent_next_ns(&qp->sq.unsent)));
		return;
	}
	/* And then nothing may be left to send that would begin a wait. */
	if (!frdma_req_is_watched(rq))
		frdma_req_watch(rq, ktime_get_ns());

	if (qp->sq.gather.on)
		frdma_gather_wait(&qp->sq.gather, rq->wr_una,
				  frdma_gather_ns(qp->dev), ktime_get_ns());

	next_ns = min(frdma_retry_next_ns(&rq->retry),
		      frdma_gather_next_ns(&qp->sq.gather));
	next_ns = min(next_ns, frdma_ahead_next_ns(&qp->sq.ahead));
	next_ns = min(next_ns, frdma_unsent_next_ns(&qp->sq.unsent));
	next_ns = min(next_ns, frdma_queued_next_ns(&qp->sq.queued));
	if (!is_at_rest(qp) && !frdma_queued_waits(&qp->sq.queued))
		next_ns = min(next_ns, frdma_req_next_ns(rq));
	wake_at(qp, next_ns);
}

/*
 * IBTA 10.3.1.6: all that was begun is complete. What the host refused before any
 * of it counted as sent has not begun, and so is not waited for either.
 */
static void come_to_rest(struct frdma_qp *qp)
{
	if (frdma_req_in_flight(&qp->sq.req) || !frdma_qp_is_held_back(qp))
		return;
	frdma_retry_rest(&qp->sq.req.retry);
	if (qp->sq.drained)
		return;
	qp->sq.drained = true;
	if (qp->sq.drain_event)
		frdma_qp_event(qp, IB_EVENT_SQ_DRAINED);
}

/*
 * The whole word: what a process has written there does not matter. Nor does what
 * the poller has, if it watches the ring, too: who rings does no harm.
 */
static void end_gathering(struct frdma_qp *qp)
{
	WRITE_ONCE(qp->sq.ring.head->flags, 0);

	/*
	 * Pairs with the barrier of the process between its index and the flag:
	 * either it sees that it has to ring, or the fetch that follows sees its
	 * request.
	 */
	smp_mb();
}

/* Longer ones make trains by themselves. */
#define GATHER_LEN_MAX		8192

/*
 * In what intervals to look for what is posted; 0: not at all. Softirqs, and with
 * them timers, may have to wait for ksoftirqd (threadirqs; older kernels, while that
 * runs): who rings with a real-time priority, and polls for his completions with it,
 * too, would keep it from its processor, and wait for himself.
 */
static u32 gather_ns(const struct frdma_qp *qp)
{
	const struct frdma_req *rq = &qp->sq.req;

	if (frdma_req_wr(rq, rq->wr_prod - 1)->len > GATHER_LEN_MAX ||
	    READ_ONCE(qp->sq.real_time))
		return 0;
	return frdma_gather_ns(qp->dev);
}

/* What a process posts one by one is looked for instead of rung for. */
static void gather(struct frdma_qp *qp, u64 now_ns)
{
	const struct frdma_req *rq = &qp->sq.req;

	switch (frdma_gather_look(&qp->sq.gather, rq->wr_prod, rq->wr_una,
				  gather_ns(qp), now_ns)) {
	case FRDMA_GATHER_KEEP:
		break;
	case FRDMA_GATHER_BEGIN:
		WRITE_ONCE(qp->sq.ring.head->flags, FRDMA_RING_WATCHED);
		break;
	case FRDMA_GATHER_END:
		end_gathering(qp);
		frdma_fetch(qp);
		break;
	}
}

/* Nobody looks where nothing may be sent, and nothing is known of who posts next. */
static void stop_gathering(struct frdma_qp *qp)
{
	if (qp->sq.gather.on)
		end_gathering(qp);
	frdma_gather_init(&qp->sq.gather, qp->sq.req.wr_prod);
}

/* Unreliable packets that the host had no room for. */
static void send_unsent(struct frdma_qp *qp)
{
	if (!frdma_unsent_waits(&qp->sq.unsent))
		return;
	frdma_unsent_send(&qp->sq.unsent, qp, qp->sq.queued.sk);
	qp->sq.abroad_at = jiffies;
}

/* Returns true if there is more to send, but not now. */
static bool send_posted(struct frdma_qp *qp)
{
	u32 budget = FRDMA_BURST_MAX;
	u64 now_ns = ktime_get_ns();
	u32 una;

	frdma_completer_expire(qp);
	look_at_clock(qp, now_ns);
	frdma_queued_look(&qp->sq.queued, now_ns);
	send_unsent(qp);
	reap(qp);
	if (!frdma_qp_can_send(qp))
		return false;
	frdma_fetch(qp);
	if (qp->user)
		gather(qp, now_ns);

	/* What is complete may let more begin: a fence, an invalidation. */
	do {
		una = qp->sq.req.wr_una;
		transmit(qp, &budget);
		reap(qp);
	} while (budget && qp->sq.req.wr_una != una && frdma_qp_can_send(qp));

	come_to_rest(qp);
	set_timer(qp);
	return !budget;
}

/**
 * frdma_requester_step - do what there is to do on the send side
 * @side: owned by the caller
 *
 * Digest what the peer answered, send what may be sent, complete what is
 * complete.
 *
 * Return: true if there is more, but not now.
 */
bool frdma_requester_step(struct frdma_side *side)
{
	struct frdma_qp *qp = frdma_qp_of_send(side);
	bool more = frdma_side_take_packets(side);

	if (frdma_qp_can_send(qp))
		more |= frdma_completer_step(qp);
	if (frdma_qp_can_send(qp))
		more |= send_posted(qp);
	if (!frdma_qp_can_send(qp)) {
		stop_gathering(qp);
		frdma_ahead_forget(qp, &qp->sq.ahead);
		frdma_unsent_forget(&qp->sq.unsent, qp);
	}
	if (frdma_qp_is_flushing_sends(qp))
		more |= flush(qp);

	if (qp->sq.notify) {
		qp->sq.notify = false;
		frdma_cq_notify(qp->sq.cq);
	}
	return more;
}
