/* SPDX-License-Identifier: GPL-2.0 */
/* Last include of txmem.c: older kernels' shrinkers are parts of their users. */
#ifndef FRDMA_COMPAT_SHRINKER_H
#define FRDMA_COMPAT_SHRINKER_H

#include <linux/shrinker.h>

#ifndef HAVE_SHRINKER_ALLOC
#include <linux/slab.h>

static inline struct shrinker *shrinker_alloc(unsigned int flags,
					      const char *name)
{
	struct shrinker *shrinker = kzalloc(sizeof(*shrinker), GFP_KERNEL);

	if (shrinker)
		shrinker->seeks = DEFAULT_SEEKS;
	return shrinker;
}

/* If it fails, nobody asks for the memory; the end does not mind. */
static inline void shrinker_register(struct shrinker *shrinker)
{
	if (register_shrinker(shrinker, "frdma-txmem"))
		pr_warn("no shrinker: pages of packets are kept\n");
}

static inline void shrinker_free(struct shrinker *shrinker)
{
	unregister_shrinker(shrinker);
	kfree(shrinker);
}
#endif

#endif /* FRDMA_COMPAT_SHRINKER_H */
