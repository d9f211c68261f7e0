// SPDX-License-Identifier: GPL-2.0
#include "flush.h"

#include <linux/ioport.h>
#include <linux/libnvdimm.h>
#include <linux/mm.h>
#include <linux/sched.h>
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

void frdma_flush_persistent(const struct frdma_mr *mr, u64 addr, u64 len)
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
