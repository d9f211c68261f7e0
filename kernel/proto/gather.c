// SPDX-License-Identifier: GPL-2.0
#include "gather.h"

/**
 * frdma_gather_init - nothing is known of who posts, and everybody rings
 * @gather: state
 * @seen: index of the queue
 */
void frdma_gather_init(struct frdma_gather *gather, u32 seen)
{
	*gather = (struct frdma_gather) {
		.seen	  = seen,
		.patience = FRDMA_GATHER_PATIENCE_MIN,
	};
}

static void take(struct frdma_gather *gather, u32 prod, u64 now_ns)
{
	gather->seen = prod;
	gather->judged_ns = now_ns;
}

static void forget_rung(struct frdma_gather *gather)
{
	gather->rung = 0;
	gather->rung_ns = 0;
}

static void learn(struct frdma_gather *gather, u32 posted, u32 done, u64 gap_ns)
{
	if (gather->rung)
		gather->rung_ns += gap_ns;
	else
		gather->rung_done = done;
	gather->rung += posted;
	if (posted > FRDMA_GATHER_LEAST)
		forget_rung(gather);
}

/* Rung for, or seen by chance. */
static enum frdma_gather_verdict look_where_rung(struct frdma_gather *gather,
						 u32 prod, u32 done,
						 u32 interval_ns, u64 now_ns)
{
	u32 posted = prod - gather->seen;

	/* Also where somebody else has found what was rung for. */
	if (!interval_ns) {
		forget_rung(gather);
		take(gather, prod, now_ns);
		return FRDMA_GATHER_KEEP;
	}
	if (!posted)
		return FRDMA_GATHER_KEEP;
	learn(gather, posted, done,
	      min_t(u64, now_ns - gather->judged_ns,
		    (u64)interval_ns * FRDMA_GATHER_PAUSE));
	take(gather, prod, now_ns);
	if (gather->rung < gather->patience)
		return FRDMA_GATHER_KEEP;

	gather->rung_done = done - gather->rung_done;
	gather->on = true;
	gather->proven = false;
	gather->poor = false;
	gather->idle = 0;
	gather->due_ns = 0;
	return FRDMA_GATHER_BEGIN;
}

/*
 * At least as many as were completed in such a time when each was rung for. What was
 * posted then says less: into a queue that is not full, and while another processor
 * runs the engine, doorbells come as fast as nobody sends.
 */
static bool is_worth_it(const struct frdma_gather *gather, u32 posted,
			u64 now_ns)
{
	return posted >= FRDMA_GATHER_LEAST &&
	       posted * gather->rung_ns >=
	       (now_ns - gather->judged_ns) * gather->rung_done;
}

static enum frdma_gather_verdict give_up(struct frdma_gather *gather)
{
	gather->on = false;
	forget_rung(gather);
	if (gather->proven)
		gather->patience = FRDMA_GATHER_PATIENCE_MIN;
	else
		gather->patience = min(gather->patience * 2,
				       FRDMA_GATHER_PATIENCE_MAX);
	return FRDMA_GATHER_END;
}

/* It is time. Once it may be poor, since processes lose their processors. */
static enum frdma_gather_verdict judge(struct frdma_gather *gather, u32 prod,
				       u64 now_ns)
{
	u32 posted = prod - gather->seen;
	bool worth = is_worth_it(gather, posted, now_ns);

	gather->due_ns = 0;
	if (!posted && ++gather->idle < FRDMA_GATHER_IDLE)
		return FRDMA_GATHER_KEEP;

	gather->idle = 0;
	take(gather, prod, now_ns);
	if (!worth && (!gather->proven || gather->poor))
		return give_up(gather);
	gather->proven = true;
	gather->poor = !worth;
	return FRDMA_GATHER_KEEP;
}

static bool is_due(const struct frdma_gather *gather, u32 prod,
		   u32 interval_ns, u64 now_ns)
{
	u64 longest_ns = (u64)interval_ns * FRDMA_GATHER_LONGEST;

	return (gather->due_ns && now_ns >= gather->due_ns) ||
	       (prod != gather->seen &&
		now_ns - gather->judged_ns >= longest_ns);
}

/**
 * frdma_gather_look - the queue was looked at
 * @gather: state
 * @prod: index up to which requests were found
 * @done: index up to which they are complete
 * @interval_ns: of looking; 0: everybody is to ring
 * @now_ns: monotonic time
 *
 * Return: what changes.
 */
enum frdma_gather_verdict frdma_gather_look(struct frdma_gather *gather,
					    u32 prod, u32 done,
					    u32 interval_ns, u64 now_ns)
{
	if (!gather->on)
		return look_where_rung(gather, prod, done, interval_ns,
				       now_ns);
	if (!interval_ns) {
		take(gather, prod, now_ns);
		return give_up(gather);
	}
	if (!is_due(gather, prod, interval_ns, now_ns))
		return FRDMA_GATHER_KEEP;
	return judge(gather, prod, now_ns);
}

/**
 * frdma_gather_wait - all that was found is on its way: when to look again
 * @gather: state
 * @done: index up to which requests are complete
 * @interval_ns: of looking
 * @now_ns: monotonic time
 *
 * Where more has become complete the interval begins again: its processor may have
 * been taken from the process for that, and it has got something to do. The first
 * interval is twice as long, as most of it may have passed before the process runs.
 */
void frdma_gather_wait(struct frdma_gather *gather, u32 done, u32 interval_ns,
		       u64 now_ns)
{
	if (!gather->on || (gather->due_ns && gather->done == done))
		return;
	gather->done = done;
	gather->due_ns = now_ns +
			 (gather->proven ? interval_ns : 2 * interval_ns);
}
