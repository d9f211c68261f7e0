/* SPDX-License-Identifier: GPL-2.0 */
/* Numbers that look random and are the same in every run. */
#ifndef FRDMA_RND_H
#define FRDMA_RND_H

/**
 * struct rnd - a xorshift generator
 * @state: the seed, not 0
 * @bytes: what a fuzzer wants the dice to show, before they roll freely
 * @left: how many of those
 */
struct rnd {
	u64 state;
	const u8 *bytes;
	size_t left;
};

/* Two bytes a number: enough for all that is rolled for here. */
static inline u64 rnd_wanted(struct rnd *rnd)
{
	u64 value = rnd->bytes[0] << 8 | rnd->bytes[1];

	rnd->bytes += 2;
	rnd->left -= 2;
	return value << 32 | value;
}

static inline u64 rnd_u64(struct rnd *rnd)
{
	if (rnd->left >= 2)
		return rnd_wanted(rnd);
	rnd->state ^= rnd->state << 13;
	rnd->state ^= rnd->state >> 7;
	rnd->state ^= rnd->state << 17;
	return rnd->state * 0x2545f4914f6cdd1dULL;
}

/* One of 0 .. n - 1. */
static inline u32 rnd_below(struct rnd *rnd, u32 n)
{
	return (rnd_u64(rnd) >> 32) % n;
}

static inline void rnd_fill(struct rnd *rnd, void *buf, size_t len)
{
	u8 *at = buf;

	while (len--)
		*at++ = rnd_u64(rnd) >> 56;
}

#endif /* FRDMA_RND_H */
