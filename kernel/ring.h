/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Rings: the memory in which work requests and completions are handed over,
 * mapped into a process or used by a consumer in the kernel.
 *
 * A ring has one producer and one consumer, and each writes one index:
 *
 *	producer			consumer
 *	--------			--------
 *	cons_acquire	<--- (B) ---	cons_release
 *	write slots			prod_acquire
 *	prod_release	---- (A) --->	read slots
 *
 * (A) makes the slots' contents visible before the index that covers them,
 * (B) keeps the producer from overwriting a slot that is still being read.
 * Which end is the kernel's own depends on the ring; the other end may be a
 * process, and then its index and its slots are hostile: a difference of
 * indices above the number of entries is an error of that process, slots are
 * copied once, and the copy is used.
 *
 * The owner of the kernel's end serialises its use; this file takes no lock.
 */
#ifndef FRDMA_RING_H
#define FRDMA_RING_H

#include <linux/atomic.h>
#include <linux/types.h>
#include <asm/barrier.h>

#include "uapi/frdma-abi.h"

struct frdma_shared;
struct ib_ucontext;

/**
 * struct frdma_ring - the kernel's view of a ring
 * @head: the shared indices, at the beginning of @mem
 * @slots: slot 0
 * @entries: number of slots, a power of two
 * @mask: @entries - 1
 * @stride: bytes from one slot to the next
 * @mem: the memory, which outlives the ring while an mmap() is under way
 *
 * Written by frdma_ring_create() only; what the kernel believes of a ring is
 * never read back from shared memory.
 */
struct frdma_ring {
	struct frdma_ring_head *head;
	void *slots;
	u32 entries;
	u32 mask;
	u32 stride;
	struct frdma_shared *mem;
};

/**
 * frdma_ring_create() - allocate a ring, all zero
 * @ring: to be filled in
 * @uctx: process that may map it, NULL for a consumer in the kernel
 * @entries: number of slots, a power of two
 * @stride: bytes of a slot, a multiple of 8
 * @desc: where it can be mapped, written on success; NULL without @uctx
 *
 * The memory is charged to the caller's memory cgroup.
 *
 * Context: process, may sleep. Return: 0; -EINVAL if the ring would be
 * larger than a mapping can be; -ENOMEM.
 */
int frdma_ring_create(struct frdma_ring *ring, struct ib_ucontext *uctx,
		      u32 entries, u32 stride, struct frdma_ring_desc *desc);

/**
 * frdma_ring_destroy() - give a ring back
 * @ring: a ring that nobody in the kernel uses any more, or one that is all
 *        zero
 *
 * Pages that a process still has mapped live as long as its mapping. What it
 * finds there are indices that cannot be, by which it knows that nobody will
 * answer any more (its device is gone).
 *
 * Context: process, may sleep.
 */
void frdma_ring_destroy(struct frdma_ring *ring);

/**
 * frdma_ring_slot() - the slot of an index
 * @ring: the ring
 * @index: any value; it is masked
 *
 * Context: any.
 */
static inline void *frdma_ring_slot(const struct frdma_ring *ring, u32 index)
{
	return ring->slots + (size_t)(index & ring->mask) * ring->stride;
}

/**
 * frdma_ring_prod_acquire() - how far the producer has come
 * @ring: a ring of which the kernel is the consumer
 *
 * Pairs with the producer's release of @prod, (A) above: slots below the
 * result can be read. Context: any.
 */
static inline u32 frdma_ring_prod_acquire(const struct frdma_ring *ring)
{
	/* (A), with the producer's release. */
	return smp_load_acquire(&ring->head->prod);
}

/**
 * frdma_ring_prod_release() - hand over the slots below an index
 * @ring: a ring of which the kernel is the producer
 * @prod: the index
 *
 * Pairs with the consumer's acquisition of @prod, (A) above. Context: any.
 */
static inline void frdma_ring_prod_release(const struct frdma_ring *ring,
					   u32 prod)
{
	/* (A), with the consumer's acquisition. */
	smp_store_release(&ring->head->prod, prod);
}

/**
 * frdma_ring_cons_acquire() - how far the consumer has come
 * @ring: a ring of which the kernel is the producer
 *
 * Pairs with the consumer's release of @cons, (B) above: slots below the
 * result can be written again. Context: any.
 */
static inline u32 frdma_ring_cons_acquire(const struct frdma_ring *ring)
{
	/* (B), with the consumer's release. */
	return smp_load_acquire(&ring->head->cons);
}

/**
 * frdma_ring_cons_release() - give the slots below an index back
 * @ring: a ring of which the kernel is the consumer
 * @cons: the index
 *
 * Pairs with the producer's acquisition of @cons, (B) above. Context: any.
 */
static inline void frdma_ring_cons_release(const struct frdma_ring *ring,
					   u32 cons)
{
	/* (B), with the producer's acquisition. */
	smp_store_release(&ring->head->cons, cons);
}

/* What both ends write to. */
static inline atomic_t *frdma_ring_armed_word(const struct frdma_ring *ring)
{
	static_assert(sizeof(atomic_t) == sizeof(ring->head->armed));

	return (atomic_t *)&ring->head->armed;
}

/**
 * frdma_ring_arm() - ask for an event
 * @ring: a ring of completions
 * @wanted: FRDMA_ARM_*, added to what was asked for before
 *
 * Followed by a full barrier. Context: any.
 */
static inline void frdma_ring_arm(const struct frdma_ring *ring, u32 wanted)
{
	atomic_or(wanted, frdma_ring_armed_word(ring));
	/* With whoever publishes, and then looks at the word. */
	smp_mb__after_atomic();
}

/** frdma_ring_armed() - what event is asked for now, FRDMA_ARM_* */
static inline u32 frdma_ring_armed(const struct frdma_ring *ring)
{
	return atomic_read(frdma_ring_armed_word(ring));
}

/** frdma_ring_disarm() - the event that was asked for is raised */
static inline void frdma_ring_disarm(const struct frdma_ring *ring)
{
	atomic_set(frdma_ring_armed_word(ring), 0);
}

#endif /* FRDMA_RING_H */
