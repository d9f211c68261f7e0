/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Packet sequence numbers: 24 bits, compared by signed distance (IBTA vol. 1,
 * 9.7.1). The simulator builds the engine with fewer bits, so that every
 * distance and every wrap-around can be enumerated.
 */
#ifndef FRDMA_PROTO_PSN_H
#define FRDMA_PROTO_PSN_H

#include "env.h"

#ifndef FRDMA_PSN_BITS
#define FRDMA_PSN_BITS	24
#endif

#define FRDMA_PSN_MASK	((1U << FRDMA_PSN_BITS) - 1)

/* Half of the circle: what is so far away or farther ahead lies behind. */
#define FRDMA_PSN_HALF	(1U << (FRDMA_PSN_BITS - 1))

/**
 * frdma_psn_add() - the number that follows after some packets
 * @psn: where to begin
 * @packets: how many packets to go on; a negative count goes back
 *
 * Return: @psn + @packets on the circle.
 */
static inline u32 frdma_psn_add(u32 psn, u32 packets)
{
	return (psn + packets) & FRDMA_PSN_MASK;
}

/**
 * frdma_psn_diff() - signed distance on the circle
 * @a: a packet sequence number
 * @b: another
 *
 * Bits above FRDMA_PSN_BITS are ignored in both.
 *
 * Return: how far @a is ahead of @b, negative if it is behind; exactly half
 * of the circle counts as behind.
 */
static inline s32 frdma_psn_diff(u32 a, u32 b)
{
	return (s32)((a - b) << (32 - FRDMA_PSN_BITS)) >> (32 - FRDMA_PSN_BITS);
}

/**
 * frdma_psn_in() - is a number in a half-open interval of the circle?
 * @psn: the number
 * @from: first number of the interval
 * @to: the number after its last; the interval is empty if it is @from
 */
static inline bool frdma_psn_in(u32 psn, u32 from, u32 to)
{
	return ((psn - from) & FRDMA_PSN_MASK) < ((to - from) & FRDMA_PSN_MASK);
}

#endif /* FRDMA_PROTO_PSN_H */
