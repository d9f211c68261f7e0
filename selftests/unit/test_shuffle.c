// SPDX-License-Identifier: GPL-2.0
#include "rnd.h"
#include "shuffle.h"
#include "tap.h"

#define NUMBERS	(1U << FRDMA_SHUFFLE_BITS)

static struct frdma_shuffle order;

static void new_order(u32 first, u32 last, u32 seed)
{
	struct rnd rnd = { .state = seed };

	order.first = first;
	order.last = last;
	rnd_fill(&rnd, order.round, sizeof(order.round));
}

/* Each number is shown as one that finds it: so no two as the same. */
static void every_number(void)
{
	u32 bad = 0, n;

	for (n = order.first; n <= order.last; n++) {
		u32 shown = frdma_shuffle_show(&order, n);

		bad += shown < order.first || shown > order.last ||
		       frdma_shuffle_find(&order, shown) != n;
	}
	EXPECT_EQ(bad, 0);
}

TEST(frdma_shuffle_show__every_queue_pair_number)
{
	new_order(16, 0xfffffe, 1);
	every_number();
}

/* Most steps lead out of a short range, and back. */
TEST(frdma_shuffle_show__short_ranges)
{
	new_order(1, NUMBERS - 1, 2);
	order.first = 5;
	order.last = 5;
	every_number();
	order.last = 104;
	every_number();
	order.first = NUMBERS - 3;
	order.last = NUMBERS - 1;
	every_number();
}

TEST(frdma_shuffle_find__what_is_never_shown)
{
	new_order(16, 0xfffffe, 3);
	EXPECT_EQ(frdma_shuffle_find(&order, 0), 15);
	EXPECT_EQ(frdma_shuffle_find(&order, 15), 15);
	EXPECT_EQ(frdma_shuffle_find(&order, 0xffffff), 15);
	EXPECT_EQ(frdma_shuffle_find(&order, ~0U), 15);
}

/* Not one after the other, nor at one distance, nor as in another order. */
TEST(frdma_shuffle_show__next_is_not_near)
{
	u32 was[64], near = 0, same = 0, distances = 0, i;

	new_order(16, 0xfffffe, 4);
	for (i = 0; i < 64; i++)
		was[i] = frdma_shuffle_show(&order, 1000 + i);
	for (i = 2; i < 64; i++) {
		near += was[i] - was[i - 1] + 1024 < 2048;
		distances += was[i] - was[i - 1] == was[i - 1] - was[i - 2];
	}
	new_order(16, 0xfffffe, 5);
	for (i = 0; i < 64; i++)
		same += was[i] == frdma_shuffle_show(&order, 1000 + i);
	EXPECT(near <= 1);
	EXPECT_EQ(distances, 0);
	EXPECT(same <= 1);
}

/*
 * Numbers that differ in their upper halves only: how often is the upper half
 * of what is shown off by the same. With four rounds, twice as often as chance
 * has it, and who has seen many learns the tables from that.
 */
TEST(frdma_shuffle_show__halves_tell_nothing)
{
	u32 half = 1U << FRDMA_SHUFFLE_HALF;
	u32 pairs = 0, low, high;

	new_order(16, 0xfffffe, 6);
	for (low = 16; low < 32; low++) {
		u32 seen[1U << FRDMA_SHUFFLE_HALF] = { };

		for (high = 0; high < half; high++) {
			u32 n = high << FRDMA_SHUFFLE_HALF | low;
			u32 off = frdma_shuffle_show(&order, n) >>
				  FRDMA_SHUFFLE_HALF ^ high;

			pairs += seen[off]++;
		}
	}
	/* 16 times half of 4095, and what is expected of its spread. */
	EXPECT(pairs > 31800 && pairs < 33800);
}
