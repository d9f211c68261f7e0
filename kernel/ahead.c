// SPDX-License-Identifier: GPL-2.0
#include <linux/slab.h>

#include "ahead.h"
#include "dev.h"
#include "qp.h"
#include "responder.h"
#include "rx.h"
#include "stats.h"

/**
 * struct early - a request, or a run, that waits for its turn
 * @item: where in the order
 * @pkt: it, judged as a packet
 * @skb: the buffer that it is in, held
 * @bytes: what it counts for
 */
struct early {
	struct frdma_kept item;
	struct frdma_rx_pkt pkt;
	struct sk_buff *skb;
	u32 bytes;
};

/* A buffer counts as often as it is held: there is a bound, and it is met. */
static bool charge(struct frdma_qp *qp, u32 bytes)
{
	struct frdma_ahead *ahead = &qp->rq.ahead;

	if (ahead->nr >= FRDMA_AHEAD_NR_MAX ||
	    ahead->bytes + bytes > FRDMA_AHEAD_BYTES_MAX)
		return false;
	if (atomic_add_return(bytes, &qp->dev->ahead_bytes) >
	    FRDMA_AHEAD_BYTES_DEV) {
		atomic_sub(bytes, &qp->dev->ahead_bytes);
		return false;
	}
	ahead->nr++;
	ahead->bytes += bytes;
	return true;
}

static void uncharge(struct frdma_qp *qp, u32 bytes)
{
	qp->rq.ahead.nr--;
	qp->rq.ahead.bytes -= bytes;
	atomic_sub(bytes, &qp->dev->ahead_bytes);
}

static void let_go(struct frdma_qp *qp, struct early *early)
{
	uncharge(qp, early->bytes);
	consume_skb(early->skb);
	kfree(early);
}

/**
 * frdma_ahead_keep - keep a request, or a run, until its turn comes
 * @qp: whose receive side the caller owns
 * @pkt: judged as a packet; ahead of what is expected
 *
 * Its buffer is held: all that was judged of it was copied, and a payload that
 * changes meanwhile is the sender's own affair, as on its way.
 *
 * Return: false if there is no room, or it is kept already.
 */
bool frdma_ahead_keep(struct frdma_qp *qp, const struct frdma_rx_pkt *pkt)
{
	struct early *early;
	u32 bytes;

	/* What never was in a buffer is not lost either. */
	if (!pkt->skb)
		return false;
	bytes = pkt->skb->truesize + sizeof(*early);
	if (!charge(qp, bytes))
		return false;
	early = kmalloc(sizeof(*early), GFP_ATOMIC | __GFP_NOWARN);
	if (!early)
		goto err_uncharge;

	early->pkt = *pkt;
	early->bytes = bytes;
	early->item.psn = pkt->hdr.psn;
	early->item.nr = pkt->nr;
	if (!frdma_kept_add(&qp->rq.ahead.list, &early->item,
			    qp->rq.resp.epsn))
		goto err_free;
	early->skb = skb_get((struct sk_buff *)pkt->skb);
	frdma_qp_count_add(qp, FRDMA_CNT_KEPT_PACKETS, pkt->nr);
	return true;

err_free:
	kfree(early);
err_uncharge:
	uncharge(qp, bytes);
	return false;
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
 * frdma_ahead_forget - drop all that is kept
 * @qp: whose receive side the caller owns
 */
void frdma_ahead_forget(struct frdma_qp *qp)
{
	struct frdma_kept *item;

	while ((item = frdma_kept_any(&qp->rq.ahead.list)))
		let_go(qp, container_of(item, struct early, item));
}
