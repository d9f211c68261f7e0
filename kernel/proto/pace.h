/* SPDX-License-Identifier: GPL-2.0 */
/*
 * When the next packets may leave. What a peer has kept it acknowledges all at
 * once, and a window that opens so far would be a burst for which no queue on
 * the way has room. So on a path that loses packets, and is long enough for
 * timers, a window is spread over a round trip, in bursts of a fraction of it.
 */
#ifndef FRDMA_PROTO_PACE_H
#define FRDMA_PROTO_PACE_H

#include "env.h"

/* On shorter ways a timer for each burst costs more than queues do. */
#ifndef FRDMA_PACE_RTT_MIN_NS
#define FRDMA_PACE_RTT_MIN_NS	1000000ULL
#endif

/* A window leaves in so many bursts, but none is of fewer packets than this. */
#define FRDMA_PACE_BURSTS	8
#define FRDMA_PACE_BURST_MIN	8

/**
 * struct frdma_pace - when packets have left
 * @due_ns: when the last one that was sent would have left, had all of them
 *	kept their distance
 *
 * Written by the owner of the send side only.
 */
struct frdma_pace {
	u64 due_ns;
};

/**
 * struct frdma_pace_rate - how fast packets may leave
 * @window: so many in each round trip, at least one
 * @rtt_ns: the round trip
 */
struct frdma_pace_rate {
	u32 window;
	u64 rtt_ns;
};

void frdma_pace_init(struct frdma_pace *pace);
u32 frdma_pace_credit(const struct frdma_pace *pace,
		      struct frdma_pace_rate rate, u64 now_ns);
u64 frdma_pace_next_ns(const struct frdma_pace *pace,
		       struct frdma_pace_rate rate);
void frdma_pace_spend(struct frdma_pace *pace, struct frdma_pace_rate rate,
		      u32 packets, u64 now_ns);

#endif /* FRDMA_PROTO_PACE_H */
