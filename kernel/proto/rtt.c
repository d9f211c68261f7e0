// SPDX-License-Identifier: GPL-2.0
#include "rtt.h"

/*
 * The best is forgotten, as ways change; slower where nothing else is known than
 * what was sent again alone.
 */
#define FORGET		32
#define FORGET_MENDED	128

/**
 * frdma_rtt_init - nothing is known
 * @rtt: state
 */
void frdma_rtt_init(struct frdma_rtt *rtt)
{
	*rtt = (struct frdma_rtt) { };
}

/**
 * frdma_rtt_begin - packets have left, for the first time
 * @rtt: state
 * @psn: one beyond the last of them
 * @now_ns: monotonic time, not 0
 *
 * They are timed if no others are.
 */
void frdma_rtt_begin(struct frdma_rtt *rtt, u32 psn, u64 now_ns)
{
	if (rtt->timed_ns)
		return;
	rtt->timed_ns = now_ns;
	rtt->timed_psn = psn;
	rtt->waits = false;
}

/* RFC 6298. */
static void smooth(struct frdma_rtt *rtt, u64 took_ns)
{
	rtt->distrust = 0;
	rtt->asked = false;
	if (!rtt->smooth_ns)
		rtt->smooth_ns = took_ns;
	rtt->smooth_ns += took_ns / 8 - rtt->smooth_ns / 8;
}

/* What has waited for others may have taken longer than a round trip. */
static void note_best(struct frdma_rtt *rtt, u64 took_ns)
{
	if (!rtt->best_ns || took_ns < rtt->best_ns)
		rtt->best_ns = took_ns;
	else if (!rtt->waits)
		rtt->best_ns += (took_ns - rtt->best_ns) / FORGET;
}

/**
 * frdma_rtt_end - packets are acknowledged
 * @rtt: state
 * @una_psn: the oldest that is not
 * @now_ns: monotonic time
 *
 * A round trip is never shorter than the best, but what was sent again alone
 * may have said so.
 */
void frdma_rtt_end(struct frdma_rtt *rtt, u32 una_psn, u64 now_ns)
{
	u64 took_ns = now_ns - rtt->timed_ns;

	if (!rtt->timed_ns || frdma_psn_diff(una_psn, rtt->timed_psn) < 0)
		return;
	rtt->timed_ns = 0;
	if (!rtt->waits)
		smooth(rtt, took_ns);
	note_best(rtt, took_ns);
	rtt->smooth_ns = max(rtt->smooth_ns, rtt->best_ns);
}

/**
 * frdma_rtt_mended - a packet that was sent again alone is acknowledged
 * @rtt: state
 * @took_ns: since it was sent again
 * @probed: since it was sent again first; it was so more than once
 *
 * As Karn says, a time in which it was sent once more is not that of a round
 * trip. That it was has one of two reasons: that packet was lost as well, or
 * else the answer waited. The first seldom comes twice, one after the other.
 */
enum frdma_mended frdma_rtt_mended(struct frdma_rtt *rtt, u64 took_ns,
				   bool probed)
{
	bool twice = rtt->doubtful;
	bool slow;

	if (frdma_rtt_is_too_soon(rtt, took_ns))
		return FRDMA_MENDED_NEEDLESSLY;

	rtt->doubtful = probed && !twice;
	if (probed)
		return twice ? FRDMA_MENDED_SLOWLY : FRDMA_MENDED_WELL;
	slow = frdma_rtt_is_slow(rtt, took_ns);
	smooth(rtt, took_ns);
	if (rtt->best_ns && took_ns > rtt->best_ns)
		rtt->best_ns += (took_ns - rtt->best_ns) / FORGET_MENDED;
	return slow ? FRDMA_MENDED_SLOWLY : FRDMA_MENDED_WELL;
}
