/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How many objects there may be: the maxima that the device advertises, and the
 * memory that their user may make the kernel hold (account.h). A process that
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
 * @charge: of the object; set to the charge of its user
 * @account: the user's; NULL: a consumer in the kernel
 * @bytes: of the object, without the part of ib_core
 *
 * Context: process, may sleep; any without an account. Return: true, and
 * frdma_limit_give() is owed; false at the maximum, at the user's limit and when
 * memory is about to run out, for which verbs answer -ENOMEM.
 */
static inline bool frdma_limit_take(atomic_t *nr, int max,
				    struct frdma_charge *charge,
				    struct frdma_account *account, size_t bytes)
{
	if (!frdma_charge(charge, account, bytes + FRDMA_CORE_BYTES))
		return false;
	if (atomic_add_unless(nr, 1, max))
		return true;

	frdma_uncharge(charge);
	return false;
}

/**
 * frdma_limit_give() - count one object less
 * @nr: objects alive
 * @charge: of the object
 *
 * Context: process; any without an account.
 */
static inline void frdma_limit_give(atomic_t *nr, struct frdma_charge *charge)
{
	frdma_uncharge(charge);
	atomic_dec(nr);
}

#endif /* FRDMA_LIMIT_H */
