// SPDX-License-Identifier: GPL-2.0
/* The copy of kernel/copy.c: its bytes, and the order of its stores. */
#include <linux/compiler.h>
#include "../../kernel/copy.h"
#include "rnd.h"
#include "tap.h"

#define LENGTHS		200
#define SRC_ALIGNMENTS	8
#define DST_ALIGNMENTS	16
#define CANARY		0xa5

/**
 * struct seen - the stores of a copy so far
 * @next: the byte that must be stored next
 * @size: bytes of the last store
 * @loose: stores since the last barrier
 * @bad: a store was out of order, not aligned or larger than a word
 */
static struct seen {
	const u8 *next;
	size_t size;
	size_t loose;
	bool bad;
} seen;

void test_stores(const void *at, size_t size)
{
	seen.bad |= at != seen.next || (uintptr_t)at % size ||
		    size > FRDMA_COPY_WORD;
	seen.next += size;
	seen.size = size;
	seen.loose++;
}

void test_orders_stores(void)
{
	seen.loose = 0;
}

/* The largest aligned store that can end a copy. */
static size_t largest_last(const u8 *dst, size_t len)
{
	size_t size = FRDMA_COPY_WORD;

	while (size > len || (uintptr_t)(dst + len) % size)
		size /= 2;
	return size;
}

static void check_copy(u8 *dst, const u8 *src, size_t len)
{
	seen = (struct seen) { .next = dst };
	frdma_copy_words(dst, src, len);
	EXPECT(!seen.bad);
	EXPECT_EQ(seen.next - dst, len);
	if (!len)
		return;
	EXPECT_EQ(seen.loose, 1);
	EXPECT_EQ(seen.size, largest_last(dst, len));
	EXPECT(!memcmp(dst, src, len));
	EXPECT_EQ(dst[-1], CANARY);
	EXPECT_EQ(dst[len], CANARY);
}

TEST(frdma_copy_words__ascends_stores_once_and_ends_behind_a_barrier)
{
	static u8 to[DST_ALIGNMENTS + LENGTHS + 2] __attribute__((aligned(64)));
	static u8 from[SRC_ALIGNMENTS + LENGTHS] __attribute__((aligned(64)));
	struct rnd rnd = { 5 };
	size_t s, d, len;

	rnd_fill(&rnd, from, sizeof(from));
	for (s = 0; s < SRC_ALIGNMENTS; s++)
		for (d = 1; d <= DST_ALIGNMENTS; d++)
			for (len = 0; len <= LENGTHS && !tap_failed(); len++) {
				memset(to, CANARY, sizeof(to));
				check_copy(to + d, from + s, len);
			}
}
