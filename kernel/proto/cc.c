// SPDX-License-Identifier: GPL-2.0
#include "cc.h"
#include "op.h"

/**
 * frdma_cc_init - nothing is known of the path
 * @cc: state
 * @max: most packets in flight
 */
void frdma_cc_init(struct frdma_cc *cc, u32 max)
{
	cc->max = max;
	cc->window = min_t(u32, FRDMA_CC_INITIAL, max);
	cc->threshold = max;
	cc->acked = 0;
	cc->arrived = 0;
	cc->target = 0;
	cc->alpha = FRDMA_CC_ALPHA_ONE;
	cc->undo_window = 0;
	cc->undo_threshold = 0;
	cc->noted_ns = 0;
	cc->flight = 0;
}

/* By how much the window grows in a round trip, where it does not double. */
static u32 step_up(const struct frdma_cc *cc, bool kept)
{
	if (cc->target <= cc->window)
		return kept ? DIV_ROUND_UP(cc->window, FRDMA_CC_GROWS) : 1;
	return DIV_ROUND_UP(cc->target - cc->window, 2);
}

/**
 * frdma_cc_acked - packets have arrived
 * @cc: state
 * @packets: how many were acknowledged at once
 * @kept: of what is sent to the peer, single packets are sent again
 */
void frdma_cc_acked(struct frdma_cc *cc, u32 packets, bool kept)
{
	u32 old = min(packets, cc->flight);

	cc->arrived = min(cc->arrived + packets, 2 * cc->max);
	cc->flight -= old;
	packets -= old;
	if (cc->window < cc->threshold) {
		cc->window = min(cc->window + packets, cc->threshold);
		return;
	}

	cc->acked += packets;
	if (cc->acked < cc->window || cc->window >= cc->max)
		return;
	cc->acked = 0;
	cc->window = min(cc->window + step_up(cc, kept), cc->max);
}

/**
 * frdma_cc_lost - a packet was lost, and later ones were not
 * @cc: state
 */
void frdma_cc_lost(struct frdma_cc *cc)
{
	cc->threshold = max_t(u32, cc->window * 7 / 10, FRDMA_CC_MIN);
	cc->threshold = min(cc->threshold, cc->max);
	cc->window = min(cc->window, cc->threshold);
	cc->acked = 0;
	cc->arrived = 0;
	cc->target = 0;
}

/**
 * frdma_cc_dropped - a packet was lost, and later ones were dropped for that
 * @cc: state
 *
 * The round trip does not say that they are too many. If the loss before does not
 * either, since two windows have arrived after it, a window of some size is left as
 * it is.
 */
void frdma_cc_dropped(struct frdma_cc *cc)
{
	u32 least = min_t(u32, cc->window, FRDMA_CC_FAR_APART);
	bool soon = cc->arrived < 2 * cc->window;

	frdma_cc_lost(cc);
	if (soon)
		return;
	cc->window = max(cc->window, least);
	cc->threshold = max(cc->threshold, least);
}

/**
 * frdma_cc_missed - a packet was lost, and later ones were kept
 * @cc: state
 * @packets: from the one that was lost before, to that one
 */
void frdma_cc_missed(struct frdma_cc *cc, u32 packets)
{
	u32 cost = cc->window / FRDMA_CC_SOON_COSTS;

	if (packets >= cc->window / FRDMA_CC_SOON || !cost)
		return;
	/* Where it still doubles, that goes on, but less far. */
	cc->threshold -= cc->threshold / FRDMA_CC_SOON_COSTS;
	cc->window -= cost;
	cc->acked = 0;
}

/**
 * frdma_cc_probe - after a loss, begin with a few packets
 * @cc: state
 *
 * Until frdma_cc_resume(), or as what is acknowledged lets it grow.
 */
void frdma_cc_probe(struct frdma_cc *cc)
{
	cc->window = min_t(u32, cc->window, FRDMA_CC_MIN);
	cc->flight = 0;
}

/**
 * frdma_cc_resume - end of what frdma_cc_probe() began
 * @cc: state
 */
void frdma_cc_resume(struct frdma_cc *cc)
{
	cc->window = max(cc->window, cc->threshold);
}

/**
 * frdma_cc_remember - the window is about to shrink because no answer came in time
 * @cc: state
 *
 * A window that did so before is not the one to come back to.
 */
void frdma_cc_remember(struct frdma_cc *cc)
{
	if (cc->undo_window && cc->window <= FRDMA_CC_MIN)
		return;
	cc->undo_window = cc->window;
	cc->undo_threshold = cc->threshold;
}

/**
 * frdma_cc_silent - no answer came at all
 * @cc: state
 *
 * One packet goes out as a question: if the silence was only long, its answer
 * acknowledges all the rest, and nothing else is sent twice. If it stays without
 * answer, that says nothing more of how many there may be (RFC 5681, 3.1); nor does
 * it behind frdma_cc_probe(), which has made the window small.
 */
void frdma_cc_silent(struct frdma_cc *cc)
{
	bool small = cc->window <= FRDMA_CC_MIN;
	u32 threshold = cc->threshold;

	frdma_cc_remember(cc);
	frdma_cc_lost(cc);
	if (small)
		cc->threshold = max(cc->threshold, threshold);
	cc->window = 1;
	cc->flight = 0;
}

/**
 * frdma_cc_undo - the answer was only late: see frdma_cc_remember()
 * @cc: state
 *
 * Nothing was lost, so the window is what it was (RFC 4015).
 */
void frdma_cc_undo(struct frdma_cc *cc)
{
	cc->window = max(cc->window, cc->undo_window);
	cc->threshold = max(cc->threshold, cc->undo_threshold);
	cc->undo_window = 0;
}

/**
 * frdma_cc_forget - what shrank the window was no late answer
 * @cc: state; frdma_cc_undo() restores nothing until frdma_cc_remember()
 */
void frdma_cc_forget(struct frdma_cc *cc)
{
	cc->undo_window = 0;
}

/* A sixteenth of it fades in each time in which nothing was notified. */
static void grow_calm(struct frdma_cc *cc, u64 now_ns)
{
	u64 at_ns = cc->noted_ns + FRDMA_CC_CALM_NS;

	for (; cc->alpha && at_ns <= now_ns; at_ns += FRDMA_CC_CALM_NS)
		cc->alpha -= DIV_ROUND_UP(cc->alpha, 16);
}

static u32 cut(const struct frdma_cc *cc, u32 window)
{
	window -= DIV_ROUND_UP(window * cc->alpha, 2 * FRDMA_CC_ALPHA_ONE);
	return max_t(u32, window, 1);
}

/**
 * frdma_cc_notified - packets of ours, or for us, were marked
 * @cc: state
 * @in_flight: packets that are not acknowledged
 * @now_ns: monotonic time
 *
 * A notification does not count within FRDMA_CC_NOTIFY_NS of the last one. The first
 * halves the window; of a probe, or after silence, what it will be.
 */
void frdma_cc_notified(struct frdma_cc *cc, u32 in_flight, u64 now_ns)
{
	if (cc->noted_ns && now_ns - cc->noted_ns < FRDMA_CC_NOTIFY_NS)
		return;

	if (cc->noted_ns)
		grow_calm(cc, now_ns);
	cc->alpha += DIV_ROUND_UP(FRDMA_CC_ALPHA_ONE - cc->alpha, 16);
	cc->noted_ns = now_ns;
	if (cc->flight)
		return;

	cc->flight = in_flight;
	cc->acked = 0;
	if (cc->window < cc->threshold && cc->threshold < cc->max) {
		cc->threshold = cut(cc, cc->threshold);
		cc->window = min(cc->window, cc->threshold);
	} else {
		cc->target = cc->window;
		cc->window = cut(cc, cc->window);
		cc->threshold = cc->window;
	}
}

/**
 * frdma_cc_echo_due - a packet has come that was marked: tell the peer?
 * @echo: state
 * @now_ns: monotonic time
 *
 * Return: true if it is to be told now.
 */
bool frdma_cc_echo_due(struct frdma_cc_echo *echo, u64 now_ns)
{
	if (echo->sent_ns && now_ns - echo->sent_ns < FRDMA_CC_ECHO_NS)
		return false;
	echo->sent_ns = now_ns;
	return true;
}

/**
 * frdma_cc_echo_plan - the headers of a notification (A17.9.3)
 * @hdr: set, but for whom it is for
 */
void frdma_cc_echo_plan(struct frdma_hdr *hdr)
{
	*hdr = (struct frdma_hdr) {
		.opcode		= FRDMA_CNP,
		.becn		= true,
		.payload_len	= FRDMA_CNP_LEN,
	};
}
