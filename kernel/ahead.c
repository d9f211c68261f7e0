// SPDX-License-Identifier: GPL-2.0
#include <linux/ktime.h>
#include <linux/slab.h>

#include "ahead.h"
#include "dev.h"
#include "qp.h"
#include "responder.h"
#include "rx.h"
#include "stats.h"

/* So long nothing comes that is missing, and what is kept is let go. */
#define PATIENCE_NS	(4 * NSEC_PER_SEC)

/**
 * struct frdma_held - a buffer, held for one or more requests
 * @skb: it
 * @refs: requests that are in it and kept; written by the owner of their side
 * @bytes: what it counts for
 */
struct frdma_held {
	struct sk_buff *skb;
	u32 refs;
	u32 bytes;
};

/**
 * struct early - a request, or a run, that waits for its turn
 * @item: where in the order
 * @pkt: it, judged as a packet
 * @held: the buffer that it is in
 */
struct early {
	struct frdma_kept item;
	struct frdma_rx_pkt pkt;
	struct frdma_held *held;
};

static bool charge(struct frdma_qp *qp, u32 bytes)
{
	struct frdma_ahead *ahead = &qp->rq.ahead;

	if (ahead->bytes + bytes > FRDMA_AHEAD_BYTES_MAX)
		return false;
	if (atomic_add_return(bytes, &qp->dev->ahead_bytes) >
	    FRDMA_AHEAD_BYTES_DEV) {
		atomic_sub(bytes, &qp->dev->ahead_bytes);
		return false;
	}
	ahead->bytes += bytes;
	return true;
}

static void uncharge(struct frdma_qp *qp, u32 bytes)
{
	qp->rq.ahead.bytes -= bytes;
	atomic_sub(bytes, &qp->dev->ahead_bytes);
}

/* Those of a train come one after the other: the buffer held last, or anew. */
static struct frdma_held *hold(struct frdma_qp *qp, const struct sk_buff *skb)
{
	u32 bytes = skb->truesize + sizeof(struct frdma_held);
	struct frdma_held *held = qp->rq.ahead.newest;

	if (held && held->skb == skb) {
		held->refs++;
		return held;
	}
	if (!charge(qp, bytes))
		return NULL;
	held = kmalloc(sizeof(*held), GFP_ATOMIC | __GFP_NOWARN);
	if (!held) {
		uncharge(qp, bytes);
		return NULL;
	}
	held->skb = skb_get((struct sk_buff *)skb);
	held->refs = 1;
	held->bytes = bytes;
	qp->rq.ahead.newest = held;
	return held;
}

static void unhold(struct frdma_qp *qp, struct frdma_held *held)
{
	if (--held->refs)
		return;
	if (qp->rq.ahead.newest == held)
		qp->rq.ahead.newest = NULL;
	uncharge(qp, held->bytes);
	consume_skb(held->skb);
	kfree(held);
}

static void let_go(struct frdma_qp *qp, struct early *early)
{
	qp->rq.ahead.nr--;
	unhold(qp, early->held);
	kfree(early);
}

/* What is missing has so long to come. */
static void be_patient(struct frdma_qp *qp)
{
	struct frdma_ahead *ahead = &qp->rq.ahead;

	ahead->deadline_ns = ktime_get_ns() + PATIENCE_NS;
	hrtimer_start(&ahead->timer, ns_to_ktime(ahead->deadline_ns),
		      HRTIMER_MODE_ABS_SOFT);
}

static enum hrtimer_restart patience_ends(struct hrtimer *timer)
{
	struct frdma_qp *qp = container_of(timer, struct frdma_qp,
					   rq.ahead.timer);

	frdma_side_kick(&qp->rq.side);
	return HRTIMER_NORESTART;
}

/**
 * frdma_ahead_init - nothing is kept
 * @qp: zeroed
 */
void frdma_ahead_init(struct frdma_qp *qp)
{
	hrtimer_setup(&qp->rq.ahead.timer, patience_ends, CLOCK_MONOTONIC,
		      HRTIMER_MODE_ABS_SOFT);
}

/**
 * frdma_ahead_keep - keep a request, or a run, until its turn comes
 * @qp: whose receive side the caller owns
 * @pkt: judged as a packet; ahead of what is expected
 *
 * Its buffer is held: all that was judged of it was copied, and a payload that
 * changes meanwhile is the sender's own affair, as on its way. Buffers that are
 * for those who free memory are not held.
 *
 * Return: false if there is no room, or it is kept already.
 */
bool frdma_ahead_keep(struct frdma_qp *qp, const struct frdma_rx_pkt *pkt)
{
	struct frdma_ahead *ahead = &qp->rq.ahead;
	struct frdma_kept **at;
	struct early *early;

	/* What never was in a buffer is not lost either. */
	if (!pkt->skb || skb_pfmemalloc(pkt->skb) ||
	    ahead->nr >= FRDMA_AHEAD_NR_MAX)
		return false;
	at = frdma_kept_find(&ahead->list, pkt->hdr.psn, qp->rq.resp.epsn);
	if (!at)
		return false;
	early = kmalloc(sizeof(*early), GFP_ATOMIC | __GFP_NOWARN);
	if (!early)
		return false;
	early->held = hold(qp, pkt->skb);
	if (!early->held) {
		kfree(early);
		return false;
	}

	if (frdma_ahead_is_empty(ahead)) {
		frdma_kept_is_stuck(&ahead->list, qp->rq.resp.epsn);
		be_patient(qp);
	}
	early->pkt = *pkt;
	early->item.psn = pkt->hdr.psn;
	early->item.nr = pkt->nr;
	frdma_kept_add(&ahead->list, at, &early->item);
	ahead->nr++;
	frdma_qp_count_add(qp, FRDMA_CNT_KEPT_PACKETS, pkt->nr);
	return true;
}

/**
 * frdma_ahead_take - take the first of what is kept, if its turn has come
 * @qp: whose receive side the caller owns
 *
 * Return: false if it has not.
 */
bool frdma_ahead_take(struct frdma_qp *qp)
{
	const u32 epsn = qp->rq.resp.epsn;
	struct frdma_kept *item = frdma_kept_due(&qp->rq.ahead.list, epsn);
	struct early *early;

	if (!item)
		return false;
	early = container_of(item, struct early, item);
	if (!frdma_kept_is_stale(item, epsn)) {
		frdma_responder_take(qp, &early->pkt);
		qp->rq.ahead.taken = true;
	}
	let_go(qp, early);
	return true;
}

/**
 * frdma_ahead_expire - let go of what has waited too long
 * @qp: whose receive side the caller owns
 *
 * The peer has perhaps died, and others could use the memory. If not, it sends
 * all of it again.
 */
void frdma_ahead_expire(struct frdma_qp *qp)
{
	struct frdma_ahead *ahead = &qp->rq.ahead;

	if (frdma_ahead_is_empty(ahead) ||
	    ktime_get_ns() < ahead->deadline_ns)
		return;
	if (frdma_kept_is_stuck(&ahead->list, qp->rq.resp.epsn))
		frdma_ahead_forget(qp);
	else
		be_patient(qp);
}

/**
 * frdma_ahead_forget - drop all that is kept
 * @qp: whose receive side the caller owns
 */
void frdma_ahead_forget(struct frdma_qp *qp)
{
	struct frdma_kept *item;

	while ((item = frdma_kept_any(&qp->rq.ahead.list)))
		let_go(qp, container_of(item, struct early, item));
}
