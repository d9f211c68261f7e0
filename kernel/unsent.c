// SPDX-License-Identifier: GPL-2.0
#include <linux/ktime.h>

#include "ahead.h"
#include "dev.h"
#include "proto/retry.h"
#include "qp.h"
#include "stats.h"
#include "tx.h"
#include "unsent.h"

/**
 * frdma_unsent_init - nothing is kept
 * @unsent: to be set up
 */
void frdma_unsent_init(struct frdma_unsent *unsent)
{
	*unsent = (struct frdma_unsent) { };
	__skb_queue_head_init(&unsent->trains);
}

/**
 * frdma_unsent_pause - the host has no room: send nothing for a while
 * @unsent: of the side that the caller owns
 *
 * The pause is the requester's: 0.2 ms, twice as long after each refusal.
 */
void frdma_unsent_pause(struct frdma_unsent *unsent)
{
	unsent->retry_ns = ktime_get_ns() +
			   (FRDMA_LOCAL_BACKOFF_NS << unsent->refusals);
	unsent->refusals = min(unsent->refusals + 1, FRDMA_REFUSALS_MAX);
}

static bool charge(struct frdma_unsent *unsent, const struct frdma_qp *qp,
		   u32 len)
{
	if (unsent->bytes + len > FRDMA_UNSENT_BYTES_MAX)
		return false;
	if (!frdma_pool_take(qp->charge.account, FRDMA_POOL_KEPT,
			     &qp->dev->ahead_bytes, FRDMA_AHEAD_BYTES_DEV, len))
		return false;
	unsent->bytes += len;
	return true;
}

static void uncharge(struct frdma_unsent *unsent, const struct frdma_qp *qp,
		     u32 len)
{
	unsent->bytes -= len;
	frdma_pool_give(qp->charge.account, FRDMA_POOL_KEPT,
			&qp->dev->ahead_bytes, len);
}

/**
 * frdma_unsent_keep - keep a train behind those that are kept
 * @unsent: of the side that the caller owns
 * @qp: its queue pair
 * @skb: the train, at its IP header, with a reference to its route; consumed on
 *	success
 *
 * Return: false if it would take too much memory, of the side or of its user.
 */
bool frdma_unsent_keep(struct frdma_unsent *unsent, const struct frdma_qp *qp,
		       struct sk_buff *skb)
{
	if (!charge(unsent, qp, skb->truesize))
		return false;
	__skb_queue_tail(&unsent->trains, skb);
	return true;
}

/* The stack has refused the first train again. Returns true if that was once too often. */
static bool is_hopeless(struct frdma_unsent *unsent)
{
	if (unsent->refusals < FRDMA_REFUSALS_MAX)
		return false;
	unsent->tries = min(unsent->tries + 1, FRDMA_UNSENT_TRIES);
	return unsent->tries == FRDMA_UNSENT_TRIES;
}

/**
 * frdma_unsent_send - give the stack what it refused, once the pause is over
 * @unsent: of the side that the caller owns
 * @qp: its queue pair
 * @sk: owner of what the side sends
 *
 * Context: as a step of a side. Return: true if the side may send.
 */
bool frdma_unsent_send(struct frdma_unsent *unsent, const struct frdma_qp *qp,
		       struct sock *sk)
{
	struct sk_buff *skb;

	if (!frdma_unsent_waits(unsent))
		return true;
	if (ktime_get_ns() < unsent->retry_ns)
		return false;

	while ((skb = skb_peek(&unsent->trains))) {
		bool sent = frdma_tx_again(qp, skb, sk);

		if (!sent && !is_hopeless(unsent)) {
			frdma_unsent_pause(unsent);
			return false;
		}
		if (sent)
			unsent->tries = 0;
		else
			frdma_tx_give_up(qp, skb);
		__skb_unlink(skb, &unsent->trains);
		uncharge(unsent, qp, skb->truesize);
		consume_skb(skb);
	}
	unsent->retry_ns = 0;
	unsent->refusals = 0;
	unsent->tries = 0;
	return true;
}

/**
 * frdma_unsent_forget - drop what is kept
 * @unsent: of the side that the caller owns
 * @qp: its queue pair
 */
void frdma_unsent_forget(struct frdma_unsent *unsent, const struct frdma_qp *qp)
{
	struct sk_buff *skb;

	while ((skb = __skb_dequeue(&unsent->trains))) {
		uncharge(unsent, qp, skb->truesize);
		kfree_skb(skb);
	}
	unsent->retry_ns = 0;
	unsent->refusals = 0;
	unsent->tries = 0;
}
