// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <config.h>

#include <sys/mman.h>

#include <infiniband/driver.h>

#include "ring.h"

int frdma_ring_map(struct frdma_ring *ring, int fd,
		   const struct frdma_ring_desc *desc)
{
	uint64_t slots_bytes = (uint64_t)desc->entries * desc->stride;
	void *head;

	*ring = (struct frdma_ring) {};
	if (!desc->entries)
		return 0;
	if (desc->entries & (desc->entries - 1) ||
	    desc->mmap_size < FRDMA_RING_SLOTS + slots_bytes)
		return EPROTO;

	head = mmap(NULL, desc->mmap_size, PROT_READ | PROT_WRITE, MAP_SHARED,
		    fd, desc->mmap_offset);
	if (head == MAP_FAILED)
		return errno;

	ring->head = head;
	ring->size = desc->mmap_size;
	ring->entries = desc->entries;
	ring->stride = desc->stride;
	return 0;
}

void frdma_ring_unmap(struct frdma_ring *ring)
{
	if (!ring->entries)
		return;

	munmap(ring->head, ring->size);
}
