// SPDX-License-Identifier: GPL-2.0
#include "moderate.h"

#include <linux/ktime.h>

void frdma_moderation_init(struct frdma_moderation *mod,
			   enum hrtimer_restart (*expired)(struct hrtimer *))
{
	hrtimer_setup(&mod->timer, expired, CLOCK_MONOTONIC,
		      HRTIMER_MODE_REL_SOFT);
}

/* A count without a period would never end, and one needs no waiting. */
void frdma_moderation_set(struct frdma_moderation *mod, u16 count,
			  u16 period_us)
{
	bool waits = count > 1 && period_us;

	mod->count = waits ? count : 0;
	mod->period_us = waits ? period_us : 0;
}

bool frdma_moderation_holds(struct frdma_moderation *mod, bool urgent)
{
	if (likely(!mod->count))
		return false;

	if (urgent || ++mod->held >= mod->count) {
		/* If it runs already, it waits for push_lock: see there. */
		hrtimer_try_to_cancel(&mod->timer);
		mod->held = 0;
		return false;
	}
	if (mod->held == 1)
		hrtimer_start(&mod->timer,
			      ns_to_ktime(mod->period_us * NSEC_PER_USEC),
			      HRTIMER_MODE_REL_SOFT);
	return true;
}
