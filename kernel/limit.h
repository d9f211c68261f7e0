/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How many objects there may be: the maxima that the device advertises, the share of
 * their user, and the memory that it may make the kernel hold (account.h). A process that
 * asks for more than there is gets ENOMEM, and no process is killed for it.
 */
#ifndef FRDMA_LIMIT_H
#define FRDMA_LIMIT_H

#include <linux/atomic.h>
#include <linux/gfp.h>

#include "account.h"

/* For all that an object is made of: it fails where there is no more. */
#define FRDMA_GFP_OBJECT	(GFP_KERNEL_ACCOUNT | __GFP_RETRY_MAYFAIL | \
				 __GFP_NOWARN)

/*
 * The same of vmalloc(), of which some kernels after 6.18 warn that it does not
 * know __GFP_RETRY_MAYFAIL: one pass of reclaim, and no process killed either.
 */
#define FRDMA_GFP_PAGES		(GFP_KERNEL_ACCOUNT | __GFP_NORETRY | \
				 __GFP_NOWARN)

/**
 * frdma_limit_take() - count one more object, if there may be one more
 * @nr: objects alive; never above @max
 * @max: the advertised maximum, a constant
 * @pool: of objects of that kind
 * @charge: of the object; set to the charge of its user
 * @account: the user's; NULL: a consumer in the kernel
 * @bytes: of the object, without the part of ib_core
 *
 * Context: process, may sleep; any without an account. Return: true, and
 * frdma_limit_give() is owed; false at the maximum, at the user's share of it, at
 * the user's limit and when memory is about to run out, for which verbs answer
 * -ENOMEM.
 */
static inline bool frdma_limit_take(atomic_t *nr, int max, enum frdma_pool pool,
				    struct frdma_charge *charge,
				    struct frdma_account *account, size_t bytes)
{
	if (!frdma_charge(charge, account, bytes + FRDMA_CORE_BYTES))
		return false;
	if (frdma_pool_take(account, pool, nr, max, 1))
		return true;

	frdma_uncharge(charge);
	return false;
}

/**
 * frdma_limit_give() - count one object less
 * @nr: objects alive
 * @pool: of objects of that kind
 * @charge: of the object
 *
 * Context: process; any without an account.
 */
static inline void frdma_limit_give(atomic_t *nr, enum frdma_pool pool,
				    struct frdma_charge *charge)
{
	frdma_pool_give(charge->account, pool, nr, 1);
	frdma_uncharge(charge);
}

#endif /* FRDMA_LIMIT_H */
