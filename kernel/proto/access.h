/* SPDX-License-Identifier: GPL-2.0 */
/* Rights to memory, and the arithmetic of address ranges. */
#ifndef FRDMA_PROTO_ACCESS_H
#define FRDMA_PROTO_ACCESS_H

#include "env.h"

/**
 * enum frdma_access - rights of a region, a window or a queue pair
 * @FRDMA_ACC_LOCAL_WRITE: receives, READ responses and atomics may store
 * @FRDMA_ACC_REMOTE_WRITE: the peer may WRITE
 * @FRDMA_ACC_REMOTE_READ: the peer may READ
 * @FRDMA_ACC_REMOTE_ATOMIC: the peer may compare and swap, fetch and add
 * @FRDMA_ACC_FLUSH_GLOBAL: the peer may FLUSH to where all see it
 * @FRDMA_ACC_FLUSH_PERSISTENT: the peer may FLUSH to persistent memory
 *
 * The numbers are those of enum ib_uverbs_access_flags; of the last two,
 * those that it has since Linux 6.2.
 */
enum frdma_access {
	FRDMA_ACC_LOCAL_WRITE	= IB_UVERBS_ACCESS_LOCAL_WRITE,
	FRDMA_ACC_REMOTE_WRITE	= IB_UVERBS_ACCESS_REMOTE_WRITE,
	FRDMA_ACC_REMOTE_READ	= IB_UVERBS_ACCESS_REMOTE_READ,
	FRDMA_ACC_REMOTE_ATOMIC	= IB_UVERBS_ACCESS_REMOTE_ATOMIC,
	FRDMA_ACC_FLUSH_GLOBAL	= BIT(8),
	FRDMA_ACC_FLUSH_PERSISTENT = BIT(9),
};

#define FRDMA_ACC_FLUSH		(FRDMA_ACC_FLUSH_GLOBAL | \
				 FRDMA_ACC_FLUSH_PERSISTENT)

/* What moves data, of what a queue pair can allow its peer. */
#define FRDMA_ACC_REMOTE	(FRDMA_ACC_REMOTE_WRITE | \
				 FRDMA_ACC_REMOTE_READ | \
				 FRDMA_ACC_REMOTE_ATOMIC)

/**
 * frdma_range_in() - does a range lie within another?
 * @addr: first byte of the range
 * @len: bytes in it; an empty range may also begin right behind the other
 * @start: first byte of the other range
 * @size: bytes in that
 *
 * Neither a range that runs over the end of the address space nor one that
 * is longer than the other passes.
 */
static inline bool frdma_range_in(u64 addr, u64 len, u64 start, u64 size)
{
	return addr >= start && len <= size && addr - start <= size - len;
}

#endif /* FRDMA_PROTO_ACCESS_H */
