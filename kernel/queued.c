// SPDX-License-Identifier: GPL-2.0
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/rcupdate.h>
#include <linux/security.h>

#include "limit.h"
#include "queued.h"
#include "run.h"

/* Headers of a packet below its payload, its share of a buffer included. */
#define PACKET_OVERHEAD		64

/* Called for each freed buffer, in any context. */
static void packets_freed(struct sock *sk)
{
	struct frdma_queued *queued;

	rcu_read_lock();
	queued = rcu_dereference_sk_user_data(sk);

	/* Pairs with the barrier in wait_for_room(): bytes before flag. */
	smp_mb();
	if (queued && frdma_queued_waits(queued) &&
	    sk_wmem_alloc_get(sk) <= READ_ONCE(queued->wake_bytes) &&
	    test_and_clear_bit(FRDMA_QUEUED_WAITS, &queued->flags))
		frdma_side_kick_later(queued->side);
	rcu_read_unlock();
}

/**
 * frdma_queued_init - give the packets of a side an owner
 * @queued: zeroed
 * @side: to be kicked when packets are freed
 * @like: a socket of the kernel, whose kind and security label @queued->sk gets
 *
 * The owner belongs to the first network namespace, which never ends: a packet
 * may outlive that of its link in a queue of another one.
 *
 * Context: may sleep. Return: 0; -ENOMEM.
 */
int frdma_queued_init(struct frdma_queued *queued, struct frdma_side *side,
		      const struct sock *like)
{
	struct sock *sk;

	sk = sk_alloc(&init_net, like->sk_family, FRDMA_GFP_OBJECT,
		      like->sk_prot, 1);
	if (!sk)
		return -ENOMEM;
	sock_init_data(NULL, sk);
	security_sk_clone(like, sk);

	queued->sk = sk;
	queued->side = side;
	queued->limit = FRDMA_QUEUED_INITIAL;
	queued->write_space = sk->sk_write_space;
	rcu_assign_sk_user_data(sk, queued);
	sk->sk_write_space = packets_freed;
	return 0;
}

/**
 * frdma_queued_end - the side sends nothing any more
 * @queued: what is still in a queue keeps @queued->sk alive
 *
 * Whoever frees a packet may still use @queued in an RCU read section.
 *
 * Context: may sleep.
 */
void frdma_queued_end(struct frdma_queued *queued)
{
	struct sock *sk = queued->sk;

	if (!sk)
		return;
	queued->sk = NULL;
	rcu_assign_sk_user_data(sk, NULL);
	WRITE_ONCE(sk->sk_write_space, queued->write_space);
	sock_put(sk);
}

/**
 * frdma_queued_exit - the end of packets_freed()
 *
 * sock_wfree() reads @sk_write_space and calls it with preemption on. A task that
 * was preempted in between, or outside the RCU read section of packets_freed(),
 * still runs code of this module.
 *
 * Context: module exit, after the last link. May sleep.
 */
void frdma_queued_exit(void)
{
	synchronize_rcu_tasks();
}

/*
 * The queue was full, and the host has freed some of it since: at that rate the
 * limit is what it sends in FRDMA_QUEUED_NS. The rate includes the time that
 * the side needs to notice.
 *
 * If nothing is left, the host ran dry: it waited for the side, and the rate is
 * that of the side. A driver that frees many frames at once needs a longer queue
 * (dynamic queue limits, lib/dynamic_queue_limits.c).
 */
static void learn_limit(struct frdma_queued *queued, u32 bytes,
			u32 packet_bytes)
{
	u64 elapsed_ns = ktime_get_ns() - queued->full_ns + 1;
	u64 freed = bytes < queued->full_bytes ? queued->full_bytes - bytes : 0;
	u64 limit = div64_u64(freed * FRDMA_QUEUED_NS, elapsed_ns);
	u32 least = max_t(u32, FRDMA_QUEUED_MIN,
			  2 * (packet_bytes + PACKET_OVERHEAD));

	if (!bytes)
		limit = max(limit, 2 * (u64)queued->limit);
	queued->full_ns = 0;
	queued->limit = clamp_t(u64, limit, least, FRDMA_QUEUED_MAX);
}

/**
 * frdma_queued_refused - the stack had no room for a train
 * @queued: of the side that the caller owns
 *
 * A queue may be shorter than a train: later trains are shorter.
 */
void frdma_queued_refused(struct frdma_queued *queued)
{
	queued->limit = max_t(u32, queued->limit / 2, FRDMA_QUEUED_MIN);
}

/* Returns false if enough was freed meanwhile. */
static bool wait_for_room(struct frdma_queued *queued, u32 bytes)
{
	queued->full_ns = ktime_get_ns();
	queued->full_bytes = bytes;
	WRITE_ONCE(queued->wake_bytes, min(bytes, queued->limit) / 2);
	set_bit(FRDMA_QUEUED_WAITS, &queued->flags);

	/* Pairs with the barrier in packets_freed(): flag before bytes. */
	smp_mb__after_atomic();
	return sk_wmem_alloc_get(queued->sk) > queued->wake_bytes ||
	       !test_and_clear_bit(FRDMA_QUEUED_WAITS, &queued->flags);
}

/**
 * frdma_queued_room - how many packets may be queued now
 * @queued: of the side that the caller owns, which does not wait
 * @packet_bytes: payload of each
 *
 * Return: a number of packets; 0: the side waits from now on, and is kicked.
 */
u32 frdma_queued_room(struct frdma_queued *queued, u32 packet_bytes)
{
	u32 bytes = sk_wmem_alloc_get(queued->sk);

	if (unlikely(queued->full_ns))
		learn_limit(queued, bytes, packet_bytes);
	if (unlikely(queued->overdue)) {
		queued->overdue = false;
		return 1;
	}
	if (unlikely(bytes >= queued->limit)) {
		if (wait_for_room(queued, bytes))
			return 0;
		return 1;
	}
	return max((queued->limit - bytes) / (packet_bytes + PACKET_OVERHEAD),
		   1U);
}

/**
 * frdma_queued_look - end a wait that lasts too long
 * @queued: of the side that the caller owns
 * @now_ns: ktime_get_ns()
 *
 * Some drivers free what they have sent when they send the next packet.
 */
void frdma_queued_look(struct frdma_queued *queued, u64 now_ns)
{
	if (now_ns < frdma_queued_next_ns(queued))
		return;
	if (test_and_clear_bit(FRDMA_QUEUED_WAITS, &queued->flags))
		queued->overdue = true;
}
