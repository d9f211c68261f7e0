/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How long the way to the peer and back is. It is learnt from two kinds of
 * packets: from one at a time of those that are sent for the first time, and
 * from those that are sent again alone, which on a path that loses many are
 * nearly all that is answered by itself.
 *
 * The second kind is doubtful: what seemed lost may only have lost its turn, and
 * the answer is then that to the first time that it was sent. It comes sooner
 * than any answer can, which the first kind tells.
 */
#ifndef FRDMA_PROTO_RTT_H
#define FRDMA_PROTO_RTT_H

#include "env.h"
#include "psn.h"

/*
 * What a round trip takes more than at best where packets wait in queues: as
 * much again, and this, which processors may take.
 */
#define FRDMA_RTT_NOISE_NS	(500 * 1000ULL)

/* Beyond that the timeout comes first. */
#define FRDMA_RTT_DISTRUST_MAX	10

/**
 * struct frdma_rtt - what is known of the way to the peer
 * @smooth_ns: smoothed round trip; 0: not known
 * @best_ns: about the shortest of late; 0: not known
 * @timed_ns: when the packets were sent that are timed; 0: there are none
 * @timed_psn: one beyond the last of them
 * @waits: their acknowledgement waits for something that was lost before them
 * @distrust: doubles what is waited for an answer, so often: nothing was timed since
 *	so many times something was sent again for want of one
 * @asked: nothing was timed since a packet was sent again alone for want of an answer
 * @doubtful: the last packet that was sent again alone was so more than once
 *
 * Written by the owner of the send side only.
 */
struct frdma_rtt {
	u64 smooth_ns;
	u64 best_ns;
	u64 timed_ns;
	u32 timed_psn;
	bool waits;
	bool doubtful;
	u8 distrust;
	bool asked;
};

/**
 * enum frdma_mended - what it says how long an answer took
 * @FRDMA_MENDED_WELL: about a round trip
 * @FRDMA_MENDED_NEEDLESSLY: less: the packet had not been lost
 * @FRDMA_MENDED_SLOWLY: packets wait in queues
 */
enum frdma_mended {
	FRDMA_MENDED_WELL,
	FRDMA_MENDED_NEEDLESSLY,
	FRDMA_MENDED_SLOWLY,
};

void frdma_rtt_init(struct frdma_rtt *rtt);
void frdma_rtt_begin(struct frdma_rtt *rtt, u32 psn, u64 now_ns);
void frdma_rtt_end(struct frdma_rtt *rtt, u32 una_psn, u64 now_ns);
enum frdma_mended frdma_rtt_mended(struct frdma_rtt *rtt, u64 took_ns,
				   bool probed);

/** frdma_rtt_is_too_soon - can no answer come in so short a time */
static inline bool frdma_rtt_is_too_soon(const struct frdma_rtt *rtt,
					 u64 took_ns)
{
	return took_ns < rtt->best_ns - rtt->best_ns / 4;
}

/** frdma_rtt_is_slow - has it become so long that packets wait in queues */
static inline bool frdma_rtt_is_slow(const struct frdma_rtt *rtt, u64 took_ns)
{
	return rtt->best_ns &&
	       took_ns >= 2 * (rtt->best_ns + FRDMA_RTT_NOISE_NS);
}

/** frdma_rtt_distrust - all is sent again because no answer came in time (Karn) */
static inline void frdma_rtt_distrust(struct frdma_rtt *rtt)
{
	rtt->distrust = min(rtt->distrust + 1, FRDMA_RTT_DISTRUST_MAX);
}

/**
 * frdma_rtt_ask - one packet is, alone
 * @rtt: state
 *
 * Once, as it may be lost; but a way that has become longer leads to this again and
 * again, and to nothing that could be timed. See frdma_rtt_was_asked().
 */
static inline void frdma_rtt_ask(struct frdma_rtt *rtt)
{
	if (rtt->asked)
		frdma_rtt_distrust(rtt);
	rtt->asked = true;
}

/** frdma_rtt_was_asked - the answer came in time: the packet had been lost */
static inline void frdma_rtt_was_asked(struct frdma_rtt *rtt)
{
	rtt->asked = false;
}

/** frdma_rtt_disturb - something is missing before what is timed */
static inline void frdma_rtt_disturb(struct frdma_rtt *rtt)
{
	rtt->waits = true;
}

/** frdma_rtt_cancel - what is timed is about to be sent again */
static inline void frdma_rtt_cancel(struct frdma_rtt *rtt)
{
	rtt->timed_ns = 0;
}

#endif /* FRDMA_PROTO_RTT_H */
