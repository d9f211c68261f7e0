// SPDX-License-Identifier: GPL-2.0
#include "flush.h"

#include <linux/bottom_half.h>
#include <linux/ioport.h>
#include <linux/libnvdimm.h>
#include <linux/mm.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/sizes.h>
#include <asm/barrier.h>

#include "mr.h"
#include "pages.h"

static bool is_persistent(void *kaddr, size_t len)
{
	phys_addr_t start = virt_to_phys(kaddr);

	return region_intersects(start, len, IORESOURCE_MEM,
				 IORES_DESC_PERSISTENT_MEMORY) ==
	       REGION_INTERSECTS ||
	       region_intersects(start, len, IORESOURCE_MEM,
				 IORES_DESC_PERSISTENT_MEMORY_LEGACY) ==
	       REGION_INTERSECTS;
}

bool frdma_pages_are_persistent(const struct frdma_pages *pages, u64 offset,
				u64 length)
{
	void *kaddr;
	size_t n;

	for (; length; length -= n, offset += n) {
		n = frdma_pages_run(pages, offset, length, &kaddr);
		if (!is_persistent(kaddr, n))
			return false;
		cond_resched();
	}
	return true;
}

void frdma_flush_global(void)
{
	/* For devices, too, hence not of the kind that is for CPUs only. */
	wmb();
}

/* Not inlined: verbs/persistent probes it. */
noinline void frdma_flush_persistent(const struct frdma_mr *mr, u64 addr,
				     u64 len)
{
	void *kaddr;
	size_t n;

	for (; len; len -= n, addr += n) {
		n = frdma_mr_run(mr, addr, len, &kaddr);
		arch_wb_cache_pmem(kaddr, n);
	}
	/* The lines written back are in memory before the answer leaves. */
	pmem_wmb();
}

/*
 * Work items
 */

/* They use a CPU each: a few of them at a time. */
#define FLUSHES_MAX	4

/*
 * Bytes that a work item writes back, for about 3 ms. Then it goes to the end of
 * the queue: a long FLUSH of one user does not delay a short one of another.
 */
#define FLUSH_TURN	SZ_16M

static struct workqueue_struct *flush_wq;

/* Enters the region for the next piece. Returns false if it has gone. */
static bool flush_piece(struct frdma_flush *flush)
{
	const struct frdma_flush_range *range = &flush->range;
	u64 len = min_t(u64, range->len - flush->done, FRDMA_FLUSH_AT_ONCE);
	u64 addr = range->addr + flush->done;
	enum frdma_mr_fault fault;
	struct frdma_mr *mr;

	local_bh_disable();
	rcu_read_lock();
	mr = frdma_mr_enter(flush->dev, range->pd, flush->qpn, range->rkey,
			    addr, len, range->access, &fault);
	if (mr) {
		frdma_flush_persistent(mr, addr, len);
		frdma_mr_leave(mr);
		flush->done += len;
	}
	rcu_read_unlock();
	local_bh_enable();
	return mr;
}

/* The state that the work item leaves: BUSY if its turn is over. */
static enum frdma_flush_state write_back(struct frdma_flush *flush)
{
	u64 end = min_t(u64, flush->range.len, flush->done + FLUSH_TURN);

	while (flush->done < end) {
		if (READ_ONCE(flush->cancelled) || !flush_piece(flush))
			return FRDMA_FLUSH_IDLE;
		cond_resched();
	}
	return end < flush->range.len ? FRDMA_FLUSH_BUSY : FRDMA_FLUSH_DONE;
}

static void write_back_work(struct work_struct *work)
{
	struct frdma_flush *flush = container_of(work, struct frdma_flush,
						 work);
	enum frdma_flush_state state = write_back(flush);

	/* Refused if frdma_flush_cancel() is waiting, which sets IDLE. */
	if (state == FRDMA_FLUSH_BUSY)
		queue_work(flush_wq, work);
	else
		/* With the acquire in frdma_flush_is_busy(). */
		smp_store_release(&flush->state, state);
}

void frdma_flush_init(struct frdma_flush *flush, struct frdma_dev *dev)
{
	INIT_WORK(&flush->work, write_back_work);
	flush->dev = dev;
}

void frdma_flush_begin(struct frdma_flush *flush, u32 qpn,
		       const struct frdma_flush_range *range)
{
	flush->qpn = qpn;
	flush->range = *range;
	flush->done = 0;
	WRITE_ONCE(flush->state, FRDMA_FLUSH_BUSY);
	queue_work(flush_wq, &flush->work);
}

bool frdma_flush_is_done(const struct frdma_flush *flush,
			 const struct frdma_flush_range *range)
{
	const struct frdma_flush_range *done = &flush->range;

	return READ_ONCE(flush->state) == FRDMA_FLUSH_DONE &&
	       done->request == range->request && done->pd == range->pd &&
	       done->rkey == range->rkey && done->access == range->access &&
	       done->addr == range->addr && done->len == range->len;
}

void frdma_flush_cancel(struct frdma_flush *flush)
{
	WRITE_ONCE(flush->cancelled, true);
	cancel_work_sync(&flush->work);
	flush->cancelled = false;
	flush->state = FRDMA_FLUSH_IDLE;
}

int __init frdma_flush_queue_init(void)
{
	flush_wq = alloc_workqueue("frdma_flush", WQ_UNBOUND, FLUSHES_MAX);
	return flush_wq ? 0 : -ENOMEM;
}

void frdma_flush_queue_exit(void)
{
	destroy_workqueue(flush_wq);
}
