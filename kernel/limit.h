/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How many objects there may be: the maxima that the device advertises, and
 * memory. Who asks for more than there is must be told so, and no process be
 * killed for it, which need not be the same one.
 */
#ifndef FRDMA_LIMIT_H
#define FRDMA_LIMIT_H

#include <linux/atomic.h>
#include <linux/gfp.h>
#include <linux/mm.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/sizes.h>

/* For all that an object is made of: it fails where there is no more. */
#define FRDMA_GFP_OBJECT	(GFP_KERNEL_ACCOUNT | __GFP_RETRY_MAYFAIL | \
				 __GFP_NOWARN)

/*
 * The same of vmalloc(), of which some kernels after 6.18 warn that it does not
 * know __GFP_RETRY_MAYFAIL: one pass of reclaim, and no process killed either.
 */
#define FRDMA_GFP_PAGES		(GFP_KERNEL_ACCOUNT | __GFP_NORETRY | \
				 __GFP_NOWARN)

/*
 * What must be left for a process to get an object. The core has a part of
 * each object, and the process, too, and these are asked for in a way that
 * kills when there is nothing.
 */
#define FRDMA_SPARE_BYTES	SZ_16M

/**
 * frdma_memory_suffices() - may that much be allocated for an object?
 * @bytes: how much; 0 for what is small
 *
 * Always for who asks in the kernel: it may be about to free memory.
 *
 * Context: any.
 */
static inline bool frdma_memory_suffices(size_t bytes)
{
	u64 needed = (u64)bytes + FRDMA_SPARE_BYTES;

	if (!in_task() || !current->mm)
		return true;
	return si_mem_available() > (long)(needed >> PAGE_SHIFT);
}

/**
 * frdma_limit_take() - count one more object, if there may be one more
 * @nr: objects alive; never above @max
 * @max: the advertised maximum, a constant
 *
 * Context: any. Return: true, and frdma_limit_give() is owed; false at the
 * maximum, and when memory is about to run out, for which verbs answer
 * -ENOMEM.
 */
static inline bool frdma_limit_take(atomic_t *nr, int max)
{
	return frdma_memory_suffices(0) && atomic_add_unless(nr, 1, max);
}

/**
 * frdma_limit_give() - count one object less
 * @nr: objects alive
 *
 * Context: any.
 */
static inline void frdma_limit_give(atomic_t *nr)
{
	atomic_dec(nr);
}

#endif /* FRDMA_LIMIT_H */
