// SPDX-License-Identifier: GPL-2.0
/* The two ends of a ring, in memory that may be shared with a process. */
#include "ring.h"

#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/overflow.h>

#include "shared.h"
#include "uctx.h"

/* Bytes of the whole mapping, SIZE_MAX if there are too many. */
static size_t ring_bytes(u32 entries, u32 stride)
{
	size_t size;

	size = size_add(size_mul(entries, stride), FRDMA_RING_SLOTS);
	return size > INT_MAX ? SIZE_MAX : PAGE_ALIGN(size);
}

static int ring_offer(struct frdma_shared *mem, struct ib_ucontext *uctx,
		      u32 entries, u32 stride, size_t size,
		      struct frdma_ring_desc *desc)
{
	u64 offset;
	int err;

	err = frdma_shared_offer(mem, uctx, size, &offset);
	if (err)
		return err;

	*desc = (struct frdma_ring_desc) {
		.mmap_offset	= offset,
		.mmap_size	= size,
		.entries	= entries,
		.stride		= stride,
	};
	return 0;
}

int frdma_ring_create(struct frdma_ring *ring, struct ib_ucontext *uctx,
		      u32 entries, u32 stride, struct frdma_ring_desc *desc)
{
	size_t size = ring_bytes(entries, stride);
	struct frdma_shared *mem;
	void *kaddr;
	int err;

	if (!is_power_of_2(entries) || size == SIZE_MAX)
		return -EINVAL;

	mem = frdma_shared_alloc(size, frdma_uctx_account(uctx));
	if (!mem)
		return -ENOMEM;

	if (uctx) {
		err = ring_offer(mem, uctx, entries, stride, size, desc);
		if (err) {
			frdma_shared_end(mem);
			return err;
		}
	}

	kaddr = frdma_shared_kaddr(mem);
	*ring = (struct frdma_ring) {
		.head		= kaddr,
		.slots		= kaddr + FRDMA_RING_SLOTS,
		.entries	= entries,
		.mask		= entries - 1,
		.stride		= stride,
		.mem		= mem,
	};
	return 0;
}

/*
 * Tells a process that goes on polling: to a consumer more slots seem ready
 * than there are, to a producer more seem free. Each looks at the index that
 * it does not own itself.
 */
static void ring_close(const struct frdma_ring *ring)
{
	u32 prod = READ_ONCE(ring->head->prod);
	u32 cons = READ_ONCE(ring->head->cons);

	/* Who posts has to ring, and is told then. */
	WRITE_ONCE(ring->head->flags, FRDMA_RING_NEED_DOORBELL);
	WRITE_ONCE(ring->head->prod, cons + 4 * ring->entries);
	WRITE_ONCE(ring->head->cons, prod + 4 * ring->entries);
}

void frdma_ring_destroy(struct frdma_ring *ring)
{
	if (!ring->mem)
		return;

	ring_close(ring);
	frdma_shared_end(ring->mem);
	*ring = (struct frdma_ring) {};
}
