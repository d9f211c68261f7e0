// SPDX-License-Identifier: GPL-2.0
#include <linux/bits.h>
#include <linux/skbuff.h>

#include "dev.h"
#include "mixed.h"
#include "proto/hdr.h"
#include "proto/op.h"
#include "qp.h"
#include "run.h"
#include "rx.h"

/* Above the 24 bits of a queue pair's number. */
#define KEY_OF_RESPONSE		BIT(24)

static u32 key_of(const struct frdma_hdr *hdr)
{
	return hdr->dqpn |
	       (frdma_op(hdr->opcode)->response ? KEY_OF_RESPONSE : 0);
}

/* Returns the side's place, or @mixed->nr if it was not seen yet. */
static u32 find_side(const struct frdma_mixed *mixed, u32 key)
{
	u32 i;

	for (i = 0; i < mixed->nr && mixed->key[i] != key; i++)
		;
	return i;
}

/* @side takes its own packets of the train, and skips the others. */
static bool deliver_clone(struct frdma_side *side, const struct sk_buff *skb)
{
	struct sk_buff *copy = skb_clone((struct sk_buff *)skb, GFP_ATOMIC);

	if (!copy)
		return false;
	((struct frdma_rx_cb *)copy->cb)->part = true;
	if (frdma_side_deliver(side, copy))
		return true;
	kfree_skb(copy);
	return false;
}

/**
 * frdma_mixed_pass_on - a packet of a train is for another side
 * @mixed: the other sides that have got the train
 * @qp: queue pair that got the train; the caller owns one of its sides
 * @skb: the train, as frdma_rx_each() has it; not one of a group
 * @hdr: headers of the packet, not verified
 *
 * A side does not pass a clone on, so the calls nest once.
 *
 * Context: bottom halves off, in an RCU read section.
 * Return: true if that side has the train; false if there is no such side, or
 * if it cannot take the train.
 */
bool frdma_mixed_pass_on(struct frdma_mixed *mixed, const struct frdma_qp *qp,
			 const struct sk_buff *skb, const struct frdma_hdr *hdr)
{
	u32 key = key_of(hdr);
	u32 at = find_side(mixed, key);
	struct frdma_qp *other;

	if (at < mixed->nr)
		return !(mixed->refused & BIT(at));
	if (at == FRDMA_MIXED_MAX)
		return false;

	/* A side is asked once, whatever it says: each try costs a clone. */
	mixed->key[mixed->nr++] = key;
	other = frdma_qp_find(qp->dev->net, hdr->dqpn);
	if (other && deliver_clone(key & KEY_OF_RESPONSE ? &other->sq.side :
							   &other->rq.side,
				   skb))
		return true;
	mixed->refused |= BIT(at);
	return false;
}
