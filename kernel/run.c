// SPDX-License-Identifier: GPL-2.0
#include <linux/rcupdate.h>
#include <linux/wait_bit.h>

#include "account.h"
#include "ahead.h"
#include "run.h"

/* Somebody owns the side. */
#define FRDMA_SIDE_OWNED	BIT(0)
/* A note: there is more to do. */
#define FRDMA_SIDE_WORK		BIT(1)
/* Somebody sleeps until the side is handed over. */
#define FRDMA_SIDE_CLAIMED	BIT(2)
/* It was handed over. */
#define FRDMA_SIDE_GRANTED	BIT(3)

static bool frdma_side_leave(struct frdma_side *side)
{
	int old = atomic_read(&side->word);
	int new;

	/*
	 * Release: what the owner wrote is seen by the next one, whose
	 * atomic in frdma_side_deliver(), frdma_side_enter() or the claim
	 * is the acquire.
	 */
	do {
		if (old & FRDMA_SIDE_CLAIMED)
			new = (old & ~FRDMA_SIDE_CLAIMED) | FRDMA_SIDE_GRANTED;
		else if (old & FRDMA_SIDE_WORK)
			return false;
		else
			new = 0;
	} while (!atomic_try_cmpxchg(&side->word, &old, new));

	if (new & FRDMA_SIDE_GRANTED)
		wake_up_var(&side->word);
	return true;
}

/* Own the side, or leave a note for its owner. */
static bool frdma_side_enter(struct frdma_side *side)
{
	int old = atomic_fetch_or(FRDMA_SIDE_OWNED | FRDMA_SIDE_WORK,
				  &side->word);

	return !(old & FRDMA_SIDE_OWNED);
}

/* Notes that an owner follows before it makes room for others. */
#define FRDMA_SIDE_ROUNDS	8

/* To the tasklet; or not, if somebody sleeps for it. Then it has to be left. */
static bool frdma_side_pass_on(struct frdma_side *side)
{
	atomic_or(FRDMA_SIDE_WORK, &side->word);
	if (atomic_read(&side->word) & FRDMA_SIDE_CLAIMED)
		return false;
	tasklet_schedule(&side->tasklet);
	return true;
}

/* The side is owned by the caller, who gives it up or passes it on. */
static void frdma_side_run(struct frdma_side *side)
{
	unsigned int round = 0;

	do {
		atomic_andnot(FRDMA_SIDE_WORK, &side->word);

		/* Notes left before this point are seen by the step. */
		smp_mb__after_atomic();
		if (!side->step(side) && ++round < FRDMA_SIDE_ROUNDS)
			continue;
		if (frdma_side_pass_on(side))
			return;
	} while (!frdma_side_leave(side));
}

/* Scheduled by an owner, whose ownership it takes over. */
static void frdma_side_tasklet(struct tasklet_struct *t)
{
	struct frdma_side *side = from_tasklet(side, t, tasklet);

	rcu_read_lock();
	frdma_side_run(side);
	rcu_read_unlock();
}

/**
 * frdma_side_init - a side that nobody owns
 * @side: to be set up
 * @step: its engine
 * @packet: that engine's way in for packets
 */
void frdma_side_init(struct frdma_side *side, frdma_step_fn step,
		     frdma_packet_fn packet)
{
	atomic_set(&side->word, 0);
	side->dead = false;
	side->bytes = 0;
	side->charged = 0;
	side->step = step;
	side->packet = packet;
	skb_queue_head_init(&side->packets);
	tasklet_setup(&side->tasklet, frdma_side_tasklet);
}

/**
 * frdma_side_set_pool - name the user whose packets wait here
 * @side: that nobody owns yet
 * @charge: of the queue pair; it lives until frdma_side_kill()
 * @pool: the device's bytes of FRDMA_POOL_KEPT
 */
void frdma_side_set_pool(struct frdma_side *side,
			 const struct frdma_charge *charge, atomic_t *pool)
{
	side->charge = charge;
	side->pool = pool;
}

/**
 * frdma_side_kick - there is work: do it here, or let the owner do it
 * @side: of a queue pair that the caller keeps alive
 *
 * Context: softirq, or a task with interrupts on. Not where the caller's own
 * frames may hold what a completion handler needs: see
 * frdma_side_kick_later().
 */
void frdma_side_kick(struct frdma_side *side)
{
	local_bh_disable();
	rcu_read_lock();
	if (frdma_side_enter(side))
		frdma_side_run(side);
	rcu_read_unlock();
	local_bh_enable();
}

/**
 * frdma_side_kick_later - there is work: have it done soon
 * @side: of a queue pair that the caller keeps alive
 *
 * Context: any.
 */
void frdma_side_kick_later(struct frdma_side *side)
{
	if (frdma_side_enter(side))
		tasklet_schedule(&side->tasklet);
}

/* Charge the user for @bytes of packets, except for @free bytes. */
static bool frdma_side_charge(struct frdma_side *side, u32 bytes, u32 free)
{
	u32 more;

	if (likely(bytes <= side->charged + free))
		return true;

	more = bytes - side->charged - free;
	if (!frdma_pool_take(side->charge->account, FRDMA_POOL_KEPT, side->pool,
			     FRDMA_AHEAD_BYTES_DEV, more))
		return false;
	side->charged += more;
	return true;
}

/* The charge is never more than what waits, so an empty queue has none. */
static void frdma_side_uncharge(struct frdma_side *side)
{
	u32 less;

	if (likely(side->charged <= side->bytes))
		return;

	less = side->charged - side->bytes;
	side->charged = side->bytes;
	frdma_pool_give(side->charge->account, FRDMA_POOL_KEPT, side->pool,
			less);
}

static bool frdma_side_queue(struct frdma_side *side, struct sk_buff *skb,
			     u32 free)
{
	bool queued = false;

	spin_lock(&side->packets.lock);
	if (!side->dead && side->bytes < FRDMA_SIDE_BYTES_MAX &&
	    frdma_side_charge(side, side->bytes + skb->truesize, free)) {
		__skb_queue_tail(&side->packets, skb);
		side->bytes += skb->truesize;
		queued = true;
	}
	spin_unlock(&side->packets.lock);
	return queued;
}

/**
 * frdma_side_try_own - own a side that nobody owns and nobody wants
 * @side: of a queue pair found under RCU
 *
 * The caller may own another side: nobody waits here.
 *
 * Context: bottom halves off, until frdma_side_disown(), in the same RCU read
 * section. Return: true, and frdma_side_disown() is owed.
 */
bool frdma_side_try_own(struct frdma_side *side)
{
	return atomic_cmpxchg(&side->word, 0, FRDMA_SIDE_OWNED) == 0;
}

/**
 * frdma_side_deliver - take a packet here, or leave it for the owner
 * @side: of a queue pair found under RCU
 * @skb: consumed on success; data at the UDP header
 *
 * If the side's word is 0, nobody owns it, and nothing waits that came on
 * this CPU: a flow, which stays on its CPU, keeps its order.
 *
 * A buffer is taken whole, so it may have no more packets than a step has. Kernels
 * make buffers of 128 packets at most; of who makes them himself, a guest say, some
 * kernels take longer ones.
 *
 * Context: softirq, bottom halves off. Return: false if there is no room or the side is dead.
 */
bool frdma_side_deliver(struct frdma_side *side, struct sk_buff *skb)
{
	if (unlikely(frdma_skb_packets(skb) > FRDMA_SIDE_BUDGET))
		return false;

	if (frdma_side_try_own(side)) {
		side->packet(side, skb);
		frdma_side_run(side);
		return true;
	}

	if (!frdma_side_queue(side, skb, FRDMA_SIDE_BYTES_FREE))
		return false;
	if (frdma_side_enter(side))
		frdma_side_run(side);
	return true;
}

/**
 * frdma_side_put_off - take a packet in a later step
 * @side: owned by the caller, whose steps take no packet until further notice
 * @skb: consumed on success; data at the UDP header
 *
 * Packets keep their order: this one comes behind those that wait already. The
 * wait may be long, so all of them are charged to the user.
 *
 * Context: bottom halves off. Return: false if there is no room, in the side or in
 * the user's share of the pool.
 */
bool frdma_side_put_off(struct frdma_side *side, struct sk_buff *skb)
{
	return frdma_side_queue(side, skb, 0);
}

/**
 * frdma_side_disown - end of what frdma_side_try_own() began
 * @side: owned by the caller, who has run its step
 * @more: that step left something to do
 *
 * Notes that were left meanwhile are followed by the tasklet: the caller has
 * work of its own.
 */
void frdma_side_disown(struct frdma_side *side, bool more)
{
	for (; more || !frdma_side_leave(side); more = false)
		if (frdma_side_pass_on(side))
			return;
}

/**
 * frdma_side_next_packet - what was left for the owner
 * @side: owned by the caller
 *
 * Return: a packet, now the caller's, or NULL.
 */
struct sk_buff *frdma_side_next_packet(struct frdma_side *side)
{
	struct sk_buff *skb;

	/* Whoever queues after this look leaves a note after queueing. */
	if (skb_queue_empty_lockless(&side->packets))
		return NULL;

	spin_lock_bh(&side->packets.lock);
	skb = __skb_dequeue(&side->packets);
	if (skb) {
		side->bytes -= skb->truesize;
		frdma_side_uncharge(side);
	}
	spin_unlock_bh(&side->packets.lock);
	return skb;
}

/**
 * frdma_side_drop_packets - forget what was left for the owner
 * @side: owned by the caller
 */
void frdma_side_drop_packets(struct frdma_side *side)
{
	struct sk_buff *skb;

	while ((skb = frdma_side_next_packet(side)))
		kfree_skb(skb);
}

/**
 * frdma_side_take_packets - take what was left for the owner
 * @side: owned by the caller
 *
 * Return: true if the budget ended before the packets did.
 */
bool frdma_side_take_packets(struct frdma_side *side)
{
	u32 budget = FRDMA_SIDE_BUDGET;

	while (budget) {
		struct sk_buff *skb = frdma_side_next_packet(side);

		if (!skb)
			return false;
		budget -= min(budget, frdma_skb_packets(skb));
		side->packet(side, skb);
	}
	return true;
}

/**
 * frdma_side_claim - own the side from a task
 * @side: whose claims the caller serialises by a mutex
 *
 * Context: may sleep, for as long as the owner needs for one step.
 */
void frdma_side_claim(struct frdma_side *side)
{
	int old;

	might_sleep();
	old = atomic_fetch_or(FRDMA_SIDE_OWNED | FRDMA_SIDE_CLAIMED,
			      &side->word);
	if (old & FRDMA_SIDE_OWNED)
		wait_var_event(&side->word, atomic_read(&side->word) &
			       FRDMA_SIDE_GRANTED);
	atomic_andnot(FRDMA_SIDE_CLAIMED | FRDMA_SIDE_GRANTED, &side->word);

	/* Pairs with the release in frdma_side_leave(). */
	smp_mb__after_atomic();
}

/**
 * frdma_side_step - do what there is to do, and keep the side
 * @side: claimed by the caller
 * @most: steps, each of which may spend its budget; fewer where less is to be done
 *
 * Context: may sleep, between steps.
 */
void frdma_side_step(struct frdma_side *side, unsigned int most)
{
	bool more = true;

	for (; more && most; most--) {
		local_bh_disable();
		rcu_read_lock();
		more = side->step(side);
		rcu_read_unlock();
		local_bh_enable();
		cond_resched();
	}
}

/**
 * frdma_side_release - give up a claimed side
 * @side: claimed by the caller
 *
 * Runs a step first: what was left meanwhile is done now.
 */
void frdma_side_release(struct frdma_side *side)
{
	local_bh_disable();
	rcu_read_lock();
	frdma_side_run(side);
	rcu_read_unlock();
	local_bh_enable();
}

/**
 * frdma_side_kill - own the side for ever
 * @side: claimed by the caller, of a queue pair that nobody can find anew
 *
 * Packets that wait are dropped; those who still hold the queue pair under
 * RCU leave notes that nobody reads, and queue nothing.
 *
 * Context: may sleep.
 */
void frdma_side_kill(struct frdma_side *side)
{
	spin_lock_bh(&side->packets.lock);
	side->dead = true;
	spin_unlock_bh(&side->packets.lock);
	frdma_side_drop_packets(side);
	tasklet_kill(&side->tasklet);
}
