// SPDX-License-Identifier: GPL-2.0
/*
 * Regions. Their keys, ranges and rights are judged by the kernel's mr.c, which
 * is none of the engine: here is just enough to say yes or no.
 */
#include "engine.h"

static void *find(u32 pd, u32 key, bool remote, u64 va, u64 len, u32 right)
{
	size_t i;

	for (i = 0; i < engine_play->nr_regions; i++) {
		const struct region *mr = &engine_play->regions[i];

		if (key != (remote ? mr->rkey : mr->lkey) || mr->gone)
			continue;
		if (mr->pd != pd || right & ~mr->rights ||
		    !frdma_range_in(va, len, mr->va, mr->len))
			return NULL;
		return mr->mem + (va - mr->va);
	}
	return NULL;
}

/** engine_remote - memory that the peer names, or NULL */
void *engine_remote(u32 pd, u32 rkey, u64 va, u64 len, u32 right)
{
	return find(pd, rkey, true, va, len, right);
}

/** engine_local - memory that a work request names, or NULL */
void *engine_local(u32 pd, u32 lkey, u64 va, u64 len, u32 right)
{
	return find(pd, lkey, false, va, len, right);
}
