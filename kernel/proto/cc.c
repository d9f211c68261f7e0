// SPDX-License-Identifier: GPL-2.0
#include "cc.h"

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
}

/**
 * frdma_cc_acked - packets have arrived
 * @cc: state
 * @packets: how many were acknowledged at once
 */
void frdma_cc_acked(struct frdma_cc *cc, u32 packets)
{
	if (cc->window < cc->threshold) {
		cc->window = min(cc->window + packets, cc->threshold);
		return;
	}

	cc->acked += packets;
	if (cc->acked < cc->window || cc->window >= cc->max)
		return;
	cc->acked = 0;
	cc->window++;
}

/**
 * frdma_cc_lost - a packet was lost, and later ones were not
 * @cc: state
 */
void frdma_cc_lost(struct frdma_cc *cc)
{
	cc->threshold = max_t(u32, cc->window * 7 / 10, FRDMA_CC_MIN);
	cc->threshold = min(cc->threshold, cc->max);
	cc->window = cc->threshold;
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
 * frdma_cc_silent - no answer came at all
 * @cc: state
 *
 * One packet goes out as a question: if the silence was only long, its answer
 * acknowledges all the rest, and nothing else is sent twice.
 */
void frdma_cc_silent(struct frdma_cc *cc)
{
	frdma_cc_lost(cc);
	cc->window = 1;
}
