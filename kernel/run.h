/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Who runs an engine, where and when. A queue pair has two sides, each with
 * one owner at a time: the send side (requester and completer, which share
 * the window) and the receive side (responder).
 *
 * Whoever has work for a side enters it. If nobody is there, he owns it and
 * runs its step in place; else he leaves a note (one atomic), and the owner
 * runs another step before it leaves. An owner whose budget is spent passes
 * the side on to the side's tasklet. modify and destroy claim sides: they
 * sleep until the owner hands over.
 *
 * Ownership is the lock of all that a side owns: it is taken with bottom
 * halves off, or by a claim.
 */
#ifndef FRDMA_RUN_H
#define FRDMA_RUN_H

#include <linux/interrupt.h>
#include <linux/skbuff.h>
#include <linux/types.h>
#include <linux/udp.h>

struct frdma_charge;
struct frdma_side;

/**
 * typedef frdma_step_fn - do what there is to do on a side
 * @side: owned by the caller, bottom halves off, in an RCU read section
 *
 * Return: true if the budget was spent before the work was.
 */
typedef bool (*frdma_step_fn)(struct frdma_side *side);

/**
 * typedef frdma_packet_fn - take a packet, or a train of them
 * @side: owned by the caller, bottom halves off, in an RCU read section
 * @skb: consumed; data at the UDP header
 *
 * A step follows.
 */
typedef void (*frdma_packet_fn)(struct frdma_side *side, struct sk_buff *skb);

/**
 * struct frdma_side - one side of a queue pair
 * @word: FRDMA_SIDE_*: owner, notes, claims
 * @dead: set by the last owner: packets are no longer queued here; protected
 *	by the lock of @packets
 * @step: the engine
 * @packet: its way in for packets
 * @packets: what arrived while the side was owned by another
 * @bytes: memory of @packets, under their lock
 * @charged: part of @bytes that is charged to a pool, under the same lock
 * @charge: its account is the user's whose packets wait here
 * @pool: the device's bytes of FRDMA_POOL_KEPT
 * @tasklet: runs the side when nobody else can
 */
struct frdma_side {
	atomic_t word;
	bool dead;
	frdma_step_fn step;
	frdma_packet_fn packet;
	struct sk_buff_head packets;
	u32 bytes;
	u32 charged;
	const struct frdma_charge *charge;
	atomic_t *pool;
	struct tasklet_struct tasklet;
};

/* Packets that a step takes from the queue; then others get their turn. */
#define FRDMA_SIDE_BUDGET	256

/* Most memory that waits for an owner: a window, or a few. */
#define FRDMA_SIDE_BYTES_MAX	(4 << 20)

/*
 * Memory that waits for an owner and is charged to nobody: a train or two. The
 * owner is about to take it.
 */
#define FRDMA_SIDE_BYTES_FREE	(128 << 10)

/** frdma_skb_packets - how many packets a buffer is; data at the UDP header */
static inline u32 frdma_skb_packets(const struct sk_buff *skb)
{
	return skb_is_gso(skb) ?
	       DIV_ROUND_UP(skb->len - sizeof(struct udphdr),
			    skb_shinfo(skb)->gso_size) : 1;
}

/**
 * frdma_glance - what a field is at this moment, for people to see
 * @field: of a queue pair or completion queue that goes on working
 *
 * Who writes it has it for himself, by owning a side or by a lock, and need not
 * mark what he writes; nothing follows here from what is read.
 */
#define frdma_glance(field)	data_race(READ_ONCE(field))

void frdma_side_init(struct frdma_side *side, frdma_step_fn step,
		     frdma_packet_fn packet);
void frdma_side_set_pool(struct frdma_side *side,
			 const struct frdma_charge *charge, atomic_t *pool);
void frdma_side_kick(struct frdma_side *side);
void frdma_side_kick_later(struct frdma_side *side);
bool frdma_side_deliver(struct frdma_side *side, struct sk_buff *skb);
bool frdma_side_try_own(struct frdma_side *side);
void frdma_side_disown(struct frdma_side *side, bool more);
void frdma_side_drop_packets(struct frdma_side *side);
bool frdma_side_take_packets(struct frdma_side *side);
bool frdma_side_put_off(struct frdma_side *side, struct sk_buff *skb);
struct sk_buff *frdma_side_next_packet(struct frdma_side *side);
void frdma_side_claim(struct frdma_side *side);
void frdma_side_step(struct frdma_side *side, unsigned int most);
void frdma_side_release(struct frdma_side *side);
void frdma_side_kill(struct frdma_side *side);

#endif /* FRDMA_RUN_H */
