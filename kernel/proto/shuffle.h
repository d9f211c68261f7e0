/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A secret order of numbers, so that who has seen some does not know the next.
 *
 * Objects are numbered one after the other, which keeps the table that finds
 * them small, and shown under another number: a permutation of all numbers of
 * 24 bits, made of six rounds of a Feistel network whose round functions are
 * tables of random bytes. The tables of up to five rounds can be worked out by
 * who has seen enough of the numbers (Biryukov, Leurent, Perrin: Cryptanalysis
 * of Feistel networks with secret round functions), and a process can make as
 * many objects as it takes.
 */
#ifndef FRDMA_PROTO_SHUFFLE_H
#define FRDMA_PROTO_SHUFFLE_H

#include "env.h"

#define FRDMA_SHUFFLE_BITS	24
#define FRDMA_SHUFFLE_ROUNDS	6

#define FRDMA_SHUFFLE_HALF	(FRDMA_SHUFFLE_BITS / 2)
#define FRDMA_SHUFFLE_MASK	((1U << FRDMA_SHUFFLE_HALF) - 1)

/**
 * struct frdma_shuffle - an order; the numbers first to last keep to themselves
 * @first: lowest number, shown or not
 * @last: highest
 * @round: random, each half a number wide; bits above that are not looked at
 */
struct frdma_shuffle {
	u32 first;
	u32 last;
	u16 round[FRDMA_SHUFFLE_ROUNDS][1U << FRDMA_SHUFFLE_HALF];
};

static inline u32 frdma_shuffle_forth(const struct frdma_shuffle *s, u32 n)
{
	u32 high = n >> FRDMA_SHUFFLE_HALF, low = n & FRDMA_SHUFFLE_MASK;
	unsigned int i;

	for (i = 0; i < FRDMA_SHUFFLE_ROUNDS; i++) {
		u32 mixed = high ^ (s->round[i][low] & FRDMA_SHUFFLE_MASK);

		high = low;
		low = mixed;
	}
	return high << FRDMA_SHUFFLE_HALF | low;
}

static inline u32 frdma_shuffle_back(const struct frdma_shuffle *s, u32 n)
{
	u32 high = n >> FRDMA_SHUFFLE_HALF, low = n & FRDMA_SHUFFLE_MASK;
	unsigned int i;

	for (i = FRDMA_SHUFFLE_ROUNDS; i-- > 0; ) {
		u32 mixed = low ^ (s->round[i][high] & FRDMA_SHUFFLE_MASK);

		low = high;
		high = mixed;
	}
	return high << FRDMA_SHUFFLE_HALF | low;
}

static inline bool frdma_shuffle_has(const struct frdma_shuffle *s, u32 n)
{
	return n >= s->first && n <= s->last;
}

/**
 * frdma_shuffle_show - the number to show for one
 * @s: order
 * @n: from @s->first to @s->last
 *
 * Steps that lead out of the range are gone on from until they lead back, as
 * they do: each number is led to by one.
 *
 * Return: the number, in the same range.
 */
static inline u32 frdma_shuffle_show(const struct frdma_shuffle *s, u32 n)
{
	do
		n = frdma_shuffle_forth(s, n);
	while (!frdma_shuffle_has(s, n));
	return n;
}

/**
 * frdma_shuffle_find - the number that is shown as @shown
 * @s: order
 * @shown: any number, a peer's perhaps
 *
 * Return: the number; one below @s->first if @shown is never shown.
 */
static inline u32 frdma_shuffle_find(const struct frdma_shuffle *s, u32 shown)
{
	if (!frdma_shuffle_has(s, shown))
		return s->first - 1;
	do
		shown = frdma_shuffle_back(s, shown);
	while (!frdma_shuffle_has(s, shown));
	return shown;
}

#endif /* FRDMA_PROTO_SHUFFLE_H */
