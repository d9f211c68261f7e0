/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Moderation: the event that a completion causes waits for more of them, or
 * for some time, so that a busy consumer is woken less often.
 */
#ifndef FRDMA_MODERATE_H
#define FRDMA_MODERATE_H

#include <linux/hrtimer.h>
#include <linux/types.h>

/**
 * struct frdma_moderation - how long the events of a completion queue wait
 * @count: for so many completions; 0: events do not wait
 * @period_us: and at most so many microseconds from the first of them on
 * @held: completions since the event was asked for that have not caused it
 * @timer: the end of @period_us
 *
 * All but @timer is guarded by the completion queue's push_lock.
 */
struct frdma_moderation {
	u16 count;
	u16 period_us;
	u32 held;
	struct hrtimer timer;
};

/**
 * frdma_moderation_init() - events do not wait
 * @mod: to be filled in
 * @expired: callback of its timer, called with bottom halves off
 *
 * Context: any.
 */
void frdma_moderation_init(struct frdma_moderation *mod,
			   enum hrtimer_restart (*expired)(struct hrtimer *));

/**
 * frdma_moderation_set() - what events wait for
 * @mod: moderation
 * @count: completions
 * @period_us: microseconds; without both, events do not wait
 *
 * Context: push_lock held.
 */
void frdma_moderation_set(struct frdma_moderation *mod, u16 count,
			  u16 period_us);

/**
 * frdma_moderation_holds() - does the event of a completion wait
 * @mod: moderation
 * @urgent: this one may not
 *
 * Called for each completion between the consumer's request and its event.
 *
 * Context: push_lock held, bottom halves off.
 */
bool frdma_moderation_holds(struct frdma_moderation *mod, bool urgent);

#endif /* FRDMA_MODERATE_H */
