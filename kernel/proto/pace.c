// SPDX-License-Identifier: GPL-2.0
#include "pace.h"

/* From one packet to the next. */
static u64 distance_ns(struct frdma_pace_rate rate)
{
	return max_t(u64, rate.rtt_ns / rate.window, 1);
}

static u32 burst_of(struct frdma_pace_rate rate)
{
	return max_t(u32, rate.window / FRDMA_PACE_BURSTS,
		     FRDMA_PACE_BURST_MIN);
}

/* So many packets of a burst need not be due yet when it begins. */
static u32 most_early(struct frdma_pace_rate rate)
{
	return DIV_ROUND_UP(burst_of(rate), 2);
}

/**
 * frdma_pace_init - nothing was sent
 * @pace: state
 */
void frdma_pace_init(struct frdma_pace *pace)
{
	pace->due_ns = 0;
}

/**
 * frdma_pace_credit - how many packets may leave now
 * @pace: state
 * @rate: how fast
 * @now_ns: monotonic time
 *
 * After a silence it is a burst; else from half of one on, as fewer would be
 * trains too short to be worth it.
 */
u32 frdma_pace_credit(const struct frdma_pace *pace,
		      struct frdma_pace_rate rate, u64 now_ns)
{
	u64 early_ns = pace->due_ns - min(pace->due_ns, now_ns);
	u64 early = DIV_ROUND_UP(early_ns, distance_ns(rate));

	return early <= most_early(rate) ? burst_of(rate) - early : 0;
}

/**
 * frdma_pace_next_ns - when frdma_pace_credit() is half a burst
 * @pace: state
 * @rate: how fast
 *
 * Return: monotonic time, which may have passed.
 */
u64 frdma_pace_next_ns(const struct frdma_pace *pace,
		       struct frdma_pace_rate rate)
{
	u64 early_ns = most_early(rate) * distance_ns(rate);

	return pace->due_ns - min(pace->due_ns, early_ns);
}

/**
 * frdma_pace_spend - packets are on their way
 * @pace: state
 * @rate: how fast
 * @packets: how many
 * @now_ns: monotonic time
 */
void frdma_pace_spend(struct frdma_pace *pace, struct frdma_pace_rate rate,
		      u32 packets, u64 now_ns)
{
	pace->due_ns = max(pace->due_ns, now_ns) + packets * distance_ns(rate);
}
