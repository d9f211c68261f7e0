// SPDX-License-Identifier: GPL-2.0
#include "grace.h"

#include <linux/delay.h>
#include <linux/ktime.h>
#include <linux/minmax.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>

/*
 * The rate of grace periods is at most one per 200 us. Each interrupts a CPU for
 * about 2 us: one percent of its time. A burst of 256 does not wait, so that a
 * program with some regions ends quickly.
 */
#define INTERVAL_NS	(200 * NSEC_PER_USEC)
#define BURST_NS	(256 * INTERVAL_NS)

/* Guards grace_paid_until; held while a grace period is waited for. */
static DEFINE_MUTEX(grace_mutex);

/* The time up to which intervals are used up, ktime_get_ns(). */
static u64 grace_paid_until;

static void wait_for_turn(void)
{
	u64 now = ktime_get_ns();
	u64 ahead;

	lockdep_assert_held(&grace_mutex);
	grace_paid_until = max(grace_paid_until, now);
	ahead = grace_paid_until - now;
	grace_paid_until += INTERVAL_NS;
	if (ahead > BURST_NS)
		usleep_range((ahead - BURST_NS) / NSEC_PER_USEC + 1,
			     (ahead - BURST_NS) / NSEC_PER_USEC + 100);
}

void frdma_grace_period(void)
{
	struct rcu_gp_oldstate before;

	get_state_synchronize_rcu_full(&before);
	mutex_lock(&grace_mutex);
	/* Another caller's grace period may have been enough. */
	if (!poll_state_synchronize_rcu_full(&before)) {
		wait_for_turn();
		synchronize_rcu_expedited();
	}
	mutex_unlock(&grace_mutex);
}
