/* SPDX-License-Identifier: GPL-2.0 */
/*
 * When to look for work requests instead of being told of each. Who posts one by
 * one, without waiting for what it has posted, pays for a doorbell and for packets
 * that travel alone; looked for in intervals, the same requests leave in trains.
 * Who waits for each would wait longer by that. Nothing tells one from the other
 * but a trial: for one interval nobody has to ring, and if less is posted in it
 * than was completed in such a time with doorbells, the next trial is long in
 * coming.
 */
#ifndef FRDMA_PROTO_GATHER_H
#define FRDMA_PROTO_GATHER_H

#include "env.h"

/* Fewer in an interval are not worth the timer. More at once are a list. */
#define FRDMA_GATHER_LEAST	4

/* Intervals without any: who posts has no processor, or has nothing to post. */
#define FRDMA_GATHER_IDLE	8

/* What is longer, in intervals, is a pause, and counts as that. */
#define FRDMA_GATHER_PAUSE	8

/* Intervals after which it is judged, whatever was acknowledged meanwhile. */
#define FRDMA_GATHER_LONGEST	16

/* Doorbells of one by one before a trial; where trials fail, twice as many. */
#define FRDMA_GATHER_PATIENCE_MIN	32U
#define FRDMA_GATHER_PATIENCE_MAX	8192U

/**
 * struct frdma_gather - how a send queue is posted to
 * @on: the queue is looked at in intervals: nobody has to ring
 * @proven: that was worth it once since it is
 * @poor: the last time it was not
 * @idle: intervals in which nothing was posted, one after the other
 * @seen: index of the queue as it was last judged
 * @done: index up to which requests were complete when @due_ns was set
 * @rung: requests that came one by one since the last trial, or list, or look at
 *	which gathering was not wanted
 * @rung_ns: the time that they took, from the first on
 * @rung_done: what was complete when the first of them came; as soon as @on, how
 *	many were completed in @rung_ns
 * @patience: so many before the next trial
 * @judged_ns: when @seen was
 * @due_ns: when to look again, if @on; 0: to be set
 *
 * Written by the owner of the send side only.
 */
struct frdma_gather {
	bool on;
	bool proven;
	bool poor;
	u8 idle;
	u32 seen;
	u32 done;
	u32 rung;
	u32 patience;
	u32 rung_done;
	u64 rung_ns;
	u64 judged_ns;
	u64 due_ns;
};

/**
 * enum frdma_gather_verdict - what changes
 * @FRDMA_GATHER_KEEP: nothing
 * @FRDMA_GATHER_BEGIN: from now on nobody has to ring
 * @FRDMA_GATHER_END: from now on everybody has to, and the queue is looked at once
 *	more after that was said
 */
enum frdma_gather_verdict {
	FRDMA_GATHER_KEEP,
	FRDMA_GATHER_BEGIN,
	FRDMA_GATHER_END,
};

void frdma_gather_init(struct frdma_gather *gather, u32 seen);
enum frdma_gather_verdict frdma_gather_look(struct frdma_gather *gather,
					    u32 prod, u32 done,
					    u32 interval_ns, u64 now_ns);
void frdma_gather_wait(struct frdma_gather *gather, u32 done, u32 interval_ns,
		       u64 now_ns);

/** frdma_gather_next_ns - when to look at the queue again; U64_MAX: when rung */
static inline u64 frdma_gather_next_ns(const struct frdma_gather *gather)
{
	return gather->on ? gather->due_ns : U64_MAX;
}

#endif /* FRDMA_PROTO_GATHER_H */
