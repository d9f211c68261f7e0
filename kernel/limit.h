/* SPDX-License-Identifier: GPL-2.0 */
/* Object counts against the maxima that the device advertises. */
#ifndef FRDMA_LIMIT_H
#define FRDMA_LIMIT_H

#include <linux/atomic.h>

/**
 * frdma_limit_take() - count one more object, if there may be one more
 * @nr: objects alive; never above @max
 * @max: the advertised maximum, a constant
 *
 * Context: any. Return: true, and frdma_limit_give() is owed; false at the
 * maximum, for which verbs answer -ENOMEM.
 */
static inline bool frdma_limit_take(atomic_t *nr, int max)
{
	return atomic_add_unless(nr, 1, max);
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
