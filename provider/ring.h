/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The process's end of a ring shared with the kernel; see frdma-abi.h for the
 * other end.
 *
 * Barriers come in pairs across the mapping:
 *
 *	here					in the kernel
 *	write slot, release prod		acquire prod, copy slot
 *	acquire cons, overwrite slot		copy slot, release cons
 *	acquire prod, read entry		write entry, release prod
 *	read entry, release cons		acquire cons, overwrite entry
 *	release prod, fence, read flags		change flags, fence, read prod
 *
 * The last pair is Dekker's: if the kernel misses the new slot, this side
 * sees that it has to ring the doorbell: the flag of a receive queue set, that
 * of a send queue cleared.
 *
 * The indices of this side live in private memory and are only ever written
 * to the mapping. When the kernel gives a ring up (the device is unplugged) it
 * leaves indices that cannot be: more slots than the ring has. That is
 * reported as EIO.
 */
#ifndef FRDMA_RING_H
#define FRDMA_RING_H

#include <errno.h>
#include <stddef.h>
#include <stdint.h>

#include <rdma/frdma-abi.h>

/**
 * struct frdma_ring - one side of a mapped ring
 * @head: start of the mapping; NULL while @entries is 0
 * @size: bytes mapped
 * @entries: number of slots, a power of two; 0: there is no ring
 * @stride: bytes from slot to slot
 * @index: what this side last released: prod of a producer, cons of a
 *	consumer. Runs freely
 * @end: the slots from @index up to here are known to be this side's
 *
 * Whoever owns the ring serialises its use.
 */
struct frdma_ring {
	struct frdma_ring_head *head;
	size_t size;
	uint32_t entries;
	uint32_t stride;
	uint32_t index;
	uint32_t end;
};

/**
 * frdma_ring_map() - map a ring that the kernel made
 * @ring: filled in; with no entries if the kernel made none
 * @fd: of the device
 * @desc: where the kernel says that the ring is
 *
 * The kernel keeps the mapping out of a child's memory (VM_DONTCOPY): the
 * child would consume the parent's completions.
 *
 * Return: 0; EPROTO: the description contradicts itself; else errno of
 * mmap().
 */
int frdma_ring_map(struct frdma_ring *ring, int fd,
		   const struct frdma_ring_desc *desc);

/**
 * frdma_ring_unmap() - unmap it
 * @ring: the ring, or one without entries
 */
void frdma_ring_unmap(struct frdma_ring *ring);

static inline void *frdma_ring_slot(const struct frdma_ring *ring,
				    uint32_t index)
{
	size_t slot = index & (ring->entries - 1);

	return (char *)ring->head + FRDMA_RING_SLOTS + slot * ring->stride;
}

static inline int frdma_ring_extend(struct frdma_ring *ring, uint32_t at,
				    uint32_t end)
{
	if (end - at > ring->entries)
		return EIO;

	ring->end = end;
	return 0;
}

/**
 * frdma_ring_room() - may a producer fill slot @at?
 * @ring: the producer's side
 * @at: @ring->index, or the slot after the last one that was found free
 *
 * Return: 0, ENOMEM (full) or EIO (device gone).
 */
static inline int frdma_ring_room(struct frdma_ring *ring, uint32_t at)
{
	uint32_t cons;
	int err;

	if (at != ring->end)
		return 0;
	if (!ring->entries)
		return ENOMEM;

	/* Pairs with the kernel's release of cons: it is done with the slot. */
	cons = __atomic_load_n(&ring->head->cons, __ATOMIC_ACQUIRE);
	err = frdma_ring_extend(ring, at, cons + ring->entries);
	if (err)
		return err;

	return at == ring->end ? ENOMEM : 0;
}

/**
 * frdma_ring_publish() - hand all slots before @at to the kernel
 * @ring: the producer's side
 * @at: first slot that is not filled
 */
static inline void frdma_ring_publish(struct frdma_ring *ring, uint32_t at)
{
	ring->index = at;
	/* Pairs with the kernel's acquire of prod: it sees the slots filled. */
	__atomic_store_n(&ring->head->prod, at, __ATOMIC_RELEASE);
}

/**
 * frdma_ring_asleep() - must the kernel be told of what was published?
 * @ring: the producer's side, after frdma_ring_publish()
 */
static inline int frdma_ring_asleep(const struct frdma_ring *ring)
{
	/* Pairs with the kernel's fence between its flag and its last look. */
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	return !!(__atomic_load_n(&ring->head->flags, __ATOMIC_RELAXED) &
		  FRDMA_RING_NEED_DOORBELL);
}

/**
 * frdma_ring_watched() - does the kernel find by itself what was published?
 * @ring: the producer's side of sends, after frdma_ring_publish()
 */
static inline int frdma_ring_watched(const struct frdma_ring *ring)
{
	/* Pairs with the kernel's fence between its flag and its last look. */
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	return !!(__atomic_load_n(&ring->head->flags, __ATOMIC_RELAXED) &
		  FRDMA_RING_WATCHED);
}

/**
 * frdma_ring_arm() - ask for an event
 * @ring: the consumer's side
 * @wanted: FRDMA_ARM_*, added to what was asked for before
 *
 * Whoever polls after it finds what came too early to raise the event.
 */
static inline void frdma_ring_arm(const struct frdma_ring *ring,
				  uint32_t wanted)
{
	/* Pairs with the kernel's fence between its entry and its look here. */
	__atomic_fetch_or(&ring->head->armed, wanted, __ATOMIC_SEQ_CST);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
}

/**
 * frdma_ring_ready() - may a consumer read slot @at?
 * @ring: the consumer's side
 * @at: @ring->index, or the slot after the last one that was found ready
 *
 * Return: 0, ENOENT (nothing there) or EIO (device gone).
 */
static inline int frdma_ring_ready(struct frdma_ring *ring, uint32_t at)
{
	uint32_t prod;
	int err;

	if (at != ring->end)
		return 0;

	/* Pairs with the kernel's release of prod: the entry is complete. */
	prod = __atomic_load_n(&ring->head->prod, __ATOMIC_ACQUIRE);
	err = frdma_ring_extend(ring, at, prod);
	if (err)
		return err;

	return at == ring->end ? ENOENT : 0;
}

/**
 * frdma_ring_release() - give all slots before @at back to the kernel
 * @ring: the consumer's side
 * @at: first slot that was not read
 */
static inline void frdma_ring_release(struct frdma_ring *ring, uint32_t at)
{
	ring->index = at;
	/* Pairs with the kernel's acquire of cons: it may reuse the slots. */
	__atomic_store_n(&ring->head->cons, at, __ATOMIC_RELEASE);
}

#endif /* FRDMA_RING_H */
