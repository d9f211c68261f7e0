/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How much may be in flight. The network below is Ethernet without flow
 * control, so a window that a switch or a virtual NIC cannot hold is lost,
 * and go-back-N then sends all of it again: the window must follow what gets
 * through. Slow start and additive increase as in RFC 5681, in packets, and
 * multiplicative decrease by three tenths as in RFC 9438.
 */
#ifndef FRDMA_PROTO_CC_H
#define FRDMA_PROTO_CC_H

#include "env.h"

#define FRDMA_CC_INITIAL	64
#define FRDMA_CC_MIN		4

/**
 * struct frdma_cc - the congestion window of a send side
 * @window: packets that may be in flight
 * @max: bound of @window
 * @threshold: where doubling ends
 * @acked: packets acknowledged since @window last grew, beyond @threshold
 *
 * Written by the owner of the send side only.
 */
struct frdma_cc {
	u32 window;
	u32 max;
	u32 threshold;
	u32 acked;
};

void frdma_cc_init(struct frdma_cc *cc, u32 max);
void frdma_cc_acked(struct frdma_cc *cc, u32 packets);
void frdma_cc_lost(struct frdma_cc *cc);
void frdma_cc_probe(struct frdma_cc *cc);
void frdma_cc_resume(struct frdma_cc *cc);
void frdma_cc_silent(struct frdma_cc *cc);

#endif /* FRDMA_PROTO_CC_H */
