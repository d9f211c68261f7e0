/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What random.c has made: objects by kind, some of them gone again. Threads
 * share it, as they share the handles. Whoever touches a ring holds the lock of
 * its kind; calls are made without one.
 */
#ifndef FRDMA_TEST_TABLE_H
#define FRDMA_TEST_TABLE_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/mman.h>

#include "../../../kernel/uapi/frdma-abi.h"

/* Those up to DM have memory to map. */
enum kind {
	NOTHING, CQ, QP, SRQ, DM, PD, CHANNEL, AH, MR, MW, XRCD, EVENTS,
	NR_KINDS,
};

#define SLOTS		24
#define RING_ROOM	(64 << 10)

/** struct ring - a mapped ring, or device memory; @at: NULL if there is none */
struct ring {
	unsigned char *at;
	uint32_t entries, stride;
};

/**
 * struct object - what is known of one
 * @handle: of the kernel, or a file
 * @number: QPN, SRQN, local key, number of an address handle
 * @type: of a queue pair; what may be done with a region
 * @group: the last byte of a group that a queue pair is in
 * @state: the state that a queue pair is in, unless someone else changed it
 */
struct object {
	bool used;
	uint32_t handle, number, rkey, type, state, group;
	uint64_t addr, len;
	struct ring ring[2];
};

struct table {
	pthread_mutex_t lock;
	struct object objects[SLOTS];
};

static struct table tables[NR_KINDS];

/* Where rings are mapped; nothing else ever is. */
static unsigned char *zone;

#define ZONE	((size_t)(DM + 1) * SLOTS * 2 * RING_ROOM)

static inline void *ring_place(enum kind kind, int slot, int which)
{
	return zone + ((kind * SLOTS + slot) * 2 + which) * (size_t)RING_ROOM;
}

static inline void ring_unmap(enum kind kind, int slot, int which)
{
	mmap(ring_place(kind, slot, which), RING_ROOM, PROT_NONE,
	     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
	tables[kind].objects[slot].ring[which].at = NULL;
}

/* Large ones, and those that are gone already, are left alone. */
static inline void ring_map(enum kind kind, int slot, int which, int fd,
			    const struct frdma_ring_desc *desc)
{
	struct ring *ring = &tables[kind].objects[slot].ring[which];
	void *at;

	ring_unmap(kind, slot, which);
	if (!desc->mmap_size || desc->mmap_size > RING_ROOM)
		return;
	at = mmap(ring_place(kind, slot, which), desc->mmap_size,
		  PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd,
		  desc->mmap_offset);
	if (at == MAP_FAILED) {
		ring_unmap(kind, slot, which);
		return;
	}
	*ring = (struct ring) { at, desc->entries, desc->stride };
}

static inline void table_init(void)
{
	int kind, slot, which;

	for (kind = 0; kind < NR_KINDS; kind++)
		pthread_mutex_init(&tables[kind].lock, NULL);
	for (kind = CQ; kind <= DM; kind++)
		for (slot = 0; slot < SLOTS; slot++)
			for (which = 0; which < 2; which++)
				ring_unmap(kind, slot, which);
}

/* A slot in use, from @from on; -1 if there is none. */
static inline int table_find(enum kind kind, unsigned int from)
{
	unsigned int i;

	for (i = 0; i < SLOTS; i++)
		if (tables[kind].objects[(from + i) % SLOTS].used)
			return (from + i) % SLOTS;
	return -1;
}

static inline int table_free_slot(enum kind kind)
{
	int i;

	for (i = 0; i < SLOTS; i++)
		if (!tables[kind].objects[i].used)
			return i;
	return -1;
}

static inline bool table_is_full(enum kind kind)
{
	return table_free_slot(kind) < 0;
}

#endif /* FRDMA_TEST_TABLE_H */
