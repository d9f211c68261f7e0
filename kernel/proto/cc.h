/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How much may be in flight. The network below is Ethernet without flow
 * control, so a window that a switch or a virtual NIC cannot hold is lost,
 * and go-back-N then sends all of it again: the window must follow what gets
 * through. Slow start and additive increase as in RFC 5681, in packets, and
 * multiplicative decrease by three tenths as in RFC 9438.
 *
 * Where single packets are lost and sent again alone, that one was does not say
 * that they are too many. That others follow it soon after, does, a little; and
 * to a peer that keeps the others the window grows in proportion, so that what is
 * lost at random does not keep it small. Who drops them loses a window each time
 * that it is too large; but where round trips are not twice as long as at best, and the
 * losses are far apart, it needs no smaller one than others have who do not look.
 *
 * Where switches mark packets before they drop any, the peer says so by congestion
 * notification packets (IBTA A17.9.3), and the window obeys as DCQCN has a
 * rate obey (Zhu et al., SIGCOMM 2015): less the more of them come, but once
 * for all that was under way together.
 */
#ifndef FRDMA_PROTO_CC_H
#define FRDMA_PROTO_CC_H

#include "env.h"
#include "hdr.h"

#define FRDMA_CC_INITIAL	64
#define FRDMA_CC_MIN		4

/* To a peer that drops, where losses are far apart: rdma_rxe always sends as much. */
#define FRDMA_CC_FAR_APART	128

/*
 * A packet lost so much sooner after the one before than a window, a fraction of
 * it, costs such a fraction of the window; which grows by another in a round trip.
 */
#define FRDMA_CC_SOON		8
#define FRDMA_CC_SOON_COSTS	32
#define FRDMA_CC_GROWS		64

/*
 * The receiver sends one notification in this time, as adapters do (mlx5): a sender
 * in hardware cuts its rate by little for each.
 */
#define FRDMA_CC_ECHO_NS	4000ULL

/* The sender counts one notification in this time, DCQCN's N. */
#define FRDMA_CC_NOTIFY_NS	50000ULL

/* After so long without one the congestion is thought to be less, DCQCN's K. */
#define FRDMA_CC_CALM_NS	55000ULL

/* Bytes of a notification behind its BTH, all zero (A17.9.3). */
#define FRDMA_CNP_LEN		16

/* All of the packets are marked. */
#define FRDMA_CC_ALPHA_ONE	1024

/**
 * struct frdma_cc - the congestion window of a send side
 * @window: packets that may be in flight
 * @max: bound of @window
 * @threshold: where doubling ends
 * @acked: packets acknowledged since @window last grew, beyond @threshold
 * @arrived: packets acknowledged since the last loss that did so, or might have, as
 *	far as it matters
 * @target: the window before the last notification: half of what is missing to it
 *	comes back with each round trip
 * @alpha: how much congestion there is, 0..FRDMA_CC_ALPHA_ONE, as of @noted_ns
 * @undo_window: the window that frdma_cc_remember() saw; 0: none
 * @undo_threshold: @threshold then
 * @noted_ns: when the last notification came; 0: never
 * @flight: packets not yet acknowledged of those that were under way when the
 *	window was last cut for one: they tell nothing of the new window; 0 once
 *	they are sent again
 *
 * Written by the owner of the send side only.
 */
struct frdma_cc {
	u32 window;
	u32 max;
	u32 threshold;
	u32 acked;
	u32 arrived;
	u32 target;
	u32 alpha;
	u32 undo_window;
	u32 undo_threshold;
	u64 noted_ns;
	u32 flight;
};

/**
 * struct frdma_cc_echo - notifications to the peer
 * @sent_ns: when the last one was sent; 0: never
 *
 * Written by the owner of the receive side.
 */
struct frdma_cc_echo {
	u64 sent_ns;
};

void frdma_cc_init(struct frdma_cc *cc, u32 max);
void frdma_cc_acked(struct frdma_cc *cc, u32 packets, bool kept);
void frdma_cc_lost(struct frdma_cc *cc);
void frdma_cc_dropped(struct frdma_cc *cc);
void frdma_cc_missed(struct frdma_cc *cc, u32 packets);
void frdma_cc_probe(struct frdma_cc *cc);
void frdma_cc_resume(struct frdma_cc *cc);
void frdma_cc_remember(struct frdma_cc *cc);
void frdma_cc_silent(struct frdma_cc *cc);
void frdma_cc_undo(struct frdma_cc *cc);
void frdma_cc_forget(struct frdma_cc *cc);
void frdma_cc_notified(struct frdma_cc *cc, u32 in_flight, u64 now_ns);
void frdma_cc_echo_plan(struct frdma_hdr *hdr);
bool frdma_cc_echo_due(struct frdma_cc_echo *echo, u64 now_ns);

#endif /* FRDMA_PROTO_CC_H */
