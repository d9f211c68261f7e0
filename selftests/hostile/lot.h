/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Might a sequence of numbers have been drawn by lot? What is looked at is how
 * often a distance, a pattern of bits or a distance of distances comes again,
 * how often each bit is set, and whether numbers rise. Drawn by lot, all bounds
 * hold but once in millions of times. Include it after pair.h.
 */
#ifndef FRDMA_TEST_LOT_H
#define FRDMA_TEST_LOT_H

#define NUMBERS	1000

static inline int by_value(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

/* How often the most frequent value comes. */
static inline unsigned int most_frequent(const uint32_t *values, size_t nr)
{
	unsigned int best = 0, run = 0;
	uint32_t *sorted = malloc(nr * sizeof(*sorted));
	size_t i;

	EXPECT(sorted);
	memcpy(sorted, values, nr * sizeof(*sorted));
	qsort(sorted, nr, sizeof(*sorted), by_value);
	for (i = 0; i < nr; i++) {
		run = i && sorted[i] == sorted[i - 1] ? run + 1 : 1;
		best = run > best ? run : best;
	}
	free(sorted);
	return best;
}

static inline unsigned int ascents(const uint32_t *values, size_t nr)
{
	unsigned int up = 0;
	size_t i;

	for (i = 1; i < nr; i++)
		up += values[i] > values[i - 1];
	return up;
}

/* Is @n half of @nr, but for @factor roots of it, which is given squared. */
static inline bool is_near_half(size_t n, size_t nr, size_t factor)
{
	ssize_t off = 2 * n - nr;

	return off * off <= (ssize_t)(factor * nr);
}

/* A bit that is set in most of them, or in few, says something of the next. */
static inline void bits_are_fair(const uint32_t *values, size_t nr,
				 unsigned int bits)
{
	unsigned int bit, set;
	size_t i;

	for (bit = 0; bit < bits; bit++) {
		for (i = set = 0; i < nr; i++)
			set += values[i] >> bit & 1;
		if (!is_near_half(set, nr, 49))
			printf("bit %u: %u of %zu\n", bit, set, nr);
		EXPECT(is_near_half(set, nr, 49));
	}
}

/* @often: the same distance may come so often by chance. */
static inline void no_rule(const uint32_t *values, size_t nr,
			   unsigned int bits, unsigned int often)
{
	uint32_t mask = bits == 32 ? ~0U : (1U << bits) - 1;
	uint32_t distance[NUMBERS], pattern[NUMBERS], second[NUMBERS];
	size_t i;

	EXPECT(nr <= NUMBERS);
	for (i = 0; i + 1 < nr; i++) {
		distance[i] = (values[i + 1] - values[i]) & mask;
		pattern[i] = values[i + 1] ^ values[i];
	}
	for (i = 0; i + 2 < nr; i++)
		second[i] = (distance[i + 1] - distance[i]) & mask;
	printf("%zu values: the same distance %u times, pattern %u, "
	       "distance of distances %u; %u rise\n", nr,
	       most_frequent(distance, nr - 1), most_frequent(pattern, nr - 1),
	       most_frequent(second, nr - 2), ascents(values, nr));
	EXPECT(most_frequent(distance, nr - 1) <= often);
	EXPECT(most_frequent(pattern, nr - 1) <= often);
	EXPECT(most_frequent(second, nr - 2) <= often);
	EXPECT(is_near_half(ascents(values, nr), nr, 16));
	bits_are_fair(values, nr, bits);
}

#endif /* FRDMA_TEST_LOT_H */
