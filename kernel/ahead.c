// SPDX-License-Identifier: GPL-2.0
#include <linux/ktime.h>
#include <linux/slab.h>

#include "ahead.h"
#include "dev.h"
#include "qp.h"
#include "rx.h"
#include "stats.h"

/* So long nothing comes that is missing, and what is kept is let go. */
#define PATIENCE_NS	(4 * NSEC_PER_SEC)

/**
 * struct frdma_held - a buffer, held for one or more packets
 * @skb: it
 * @refs: packets, or runs, that are in it and kept; written by the owner of their side
 * @bytes: what it counts for
 */
struct frdma_held {
	struct sk_buff *skb;
	u32 refs;
	u32 bytes;
};

/**
 * struct early - a packet, or a run, that waits for its turn
 * @item: where in the order
 * @pkt: it, judged as a packet
 * @held: the buffer that it is in
 */
struct early {
	struct frdma_kept item;
	struct frdma_rx_pkt pkt;
	struct frdma_held *held;
};

static bool charge(struct frdma_qp *qp, struct frdma_ahead *ahead, u32 bytes)
{
	if (ahead->bytes + bytes > FRDMA_AHEAD_BYTES_MAX)
		return false;
	if (!frdma_pool_take(qp->charge.account, FRDMA_POOL_KEPT,
			     &qp->dev->ahead_bytes, FRDMA_AHEAD_BYTES_DEV,
			     bytes))
		return false;
	ahead->bytes += bytes;
	return true;
}

static void uncharge(struct frdma_qp *qp, struct frdma_ahead *ahead, u32 bytes)
{
	ahead->bytes -= bytes;
	frdma_pool_give(qp->charge.account, FRDMA_POOL_KEPT,
			&qp->dev->ahead_bytes, bytes);
}

/* Those of a train come one after the other: the buffer held last, or anew. */
static struct frdma_held *hold(struct frdma_qp *qp, struct frdma_ahead *ahead,
			       const struct sk_buff *skb)
{
	u32 bytes = skb->truesize + sizeof(struct frdma_held);
	struct frdma_held *held = ahead->newest;

	if (held && held->skb == skb) {
		held->refs++;
		return held;
	}
	if (!charge(qp, ahead, bytes))
		return NULL;
	held = kmalloc(sizeof(*held), GFP_ATOMIC | __GFP_NOWARN);
	if (!held) {
		uncharge(qp, ahead, bytes);
		return NULL;
	}
	held->skb = skb_get((struct sk_buff *)skb);
	held->refs = 1;
	held->bytes = bytes;
	ahead->newest = held;
	return held;
}

static void unhold(struct frdma_qp *qp, struct frdma_ahead *ahead,
		   struct frdma_held *held)
{
	if (--held->refs)
		return;
	if (ahead->newest == held)
		ahead->newest = NULL;
	uncharge(qp, ahead, held->bytes);
	consume_skb(held->skb);
	kfree(held);
}

static void let_go(struct frdma_qp *qp, struct frdma_ahead *ahead,
		   struct early *early)
{
	ahead->nr--;
	unhold(qp, ahead, early->held);
	uncharge(qp, ahead, sizeof(*early));
	kfree(early);
}

/* Room for a packet, or a run, in a buffer. NULL: there is none. */
static struct early *make_early(struct frdma_qp *qp, struct frdma_ahead *ahead,
				const struct sk_buff *skb)
{
	struct early *early;

	if (!charge(qp, ahead, sizeof(*early)))
		return NULL;
	early = kmalloc(sizeof(*early), GFP_ATOMIC | __GFP_NOWARN);
	if (!early)
		goto err_uncharge;
	early->held = hold(qp, ahead, skb);
	if (early->held)
		return early;

	kfree(early);
err_uncharge:
	uncharge(qp, ahead, sizeof(*early));
	return NULL;
}

/* What is missing has so long to come. */
static void be_patient(struct frdma_ahead *ahead)
{
	ahead->deadline_ns = ktime_get_ns() + PATIENCE_NS;
	if (ahead->timer)
		hrtimer_start(ahead->timer, ns_to_ktime(ahead->deadline_ns),
			      HRTIMER_MODE_ABS_SOFT);
}

/**
 * frdma_ahead_keep - keep a packet, or a run, until its turn comes
 * @qp: whose packet it is
 * @ahead: of that side of it which the caller owns
 * @pkt: judged as a packet; ahead of @psn
 * @psn: what has its turn next
 * @round: noted with it, for frdma_ack_is_old()
 *
 * Its buffer is held: all that was judged of it was copied, and a payload that
 * changes meanwhile is the sender's own affair, as on its way. Buffers that are
 * for those who free memory are not held.
 */
enum frdma_ahead_fate frdma_ahead_keep(struct frdma_qp *qp,
				       struct frdma_ahead *ahead,
				       const struct frdma_rx_pkt *pkt, u32 psn,
				       u32 round)
{
	struct frdma_kept **at;
	struct early *early;

	/* What never was in a buffer is not lost either. */
	if (!pkt->skb || skb_pfmemalloc(pkt->skb) ||
	    ahead->nr >= FRDMA_AHEAD_NR_MAX)
		return FRDMA_AHEAD_NO_ROOM;
	at = frdma_kept_find(&ahead->list, pkt->hdr.psn, psn);
	if (!at)
		return FRDMA_AHEAD_TWICE;
	early = make_early(qp, ahead, pkt->skb);
	if (!early)
		return FRDMA_AHEAD_NO_ROOM;

	if (frdma_ahead_is_empty(ahead)) {
		frdma_kept_is_stuck(&ahead->list, psn);
		be_patient(ahead);
	}
	early->pkt = *pkt;
	early->item.psn = pkt->hdr.psn;
	early->item.nr = pkt->nr;
	early->item.round = round;
	frdma_kept_add(&ahead->list, at, &early->item);
	ahead->nr++;
	frdma_qp_count_add(qp, FRDMA_CNT_KEPT_PACKETS, pkt->nr);
	return FRDMA_AHEAD_KEPT;
}

/**
 * frdma_ahead_take - take the first of what is kept, if its turn has come
 * @qp: for which it is
 * @ahead: of that side of it which the caller owns
 * @psn: what has its turn
 * @take: called for it, unless all of it is before @psn
 *
 * Return: how many packets that were, at least 1; 0 if its turn has not come.
 */
u32 frdma_ahead_take(struct frdma_qp *qp, struct frdma_ahead *ahead, u32 psn,
		     frdma_ahead_fn take)
{
	struct frdma_kept *item = frdma_kept_due(&ahead->list, psn);
	struct early *early;
	u32 nr = 1;

	if (!item)
		return 0;
	early = container_of(item, struct early, item);
	if (!frdma_kept_is_stale(item, psn)) {
		nr = item->nr;
		take(qp, item, &early->pkt);
		ahead->taken = true;
	}
	let_go(qp, ahead, early);
	return nr;
}

/**
 * frdma_ahead_expire - let go of what has waited too long
 * @qp: for which it is
 * @ahead: of that side of it which the caller owns
 * @psn: what has its turn next
 *
 * The peer has perhaps died, and others could use the memory.
 *
 * Return: true if that was done.
 */
bool frdma_ahead_expire(struct frdma_qp *qp, struct frdma_ahead *ahead,
			u32 psn)
{
	if (frdma_ahead_is_empty(ahead) ||
	    ktime_get_ns() < ahead->deadline_ns)
		return false;
	if (!frdma_kept_is_stuck(&ahead->list, psn)) {
		be_patient(ahead);
		return false;
	}
	frdma_ahead_forget(qp, ahead);
	return true;
}

/**
 * frdma_ahead_forget - drop all that is kept
 * @qp: for which it is
 * @ahead: of that side of it which the caller owns
 */
void frdma_ahead_forget(struct frdma_qp *qp, struct frdma_ahead *ahead)
{
	struct frdma_kept *item;

	while ((item = frdma_kept_any(&ahead->list)))
		let_go(qp, ahead, container_of(item, struct early, item));
}
