// SPDX-License-Identifier: GPL-2.0
#include "kept.h"
#include "rnd.h"
#include "tap.h"

static struct frdma_kept of(u32 psn, u32 nr)
{
	return (struct frdma_kept) { .psn = psn & FRDMA_PSN_MASK, .nr = nr };
}

static bool keep(struct frdma_kept_list *list, struct frdma_kept *item, u32 epsn)
{
	struct frdma_kept **at = frdma_kept_find(list, item->psn, epsn);

	if (at)
		frdma_kept_add(list, at, item);
	return at;
}

TEST(frdma_kept_due__nothing_is_kept)
{
	struct frdma_kept_list list = { };

	EXPECT(!frdma_kept_due(&list, 100));
	EXPECT(!frdma_kept_any(&list));
}

TEST(frdma_kept_due__when_its_turn_has_come)
{
	struct frdma_kept_list list = { };
	struct frdma_kept a = of(101, 1);

	EXPECT(!frdma_kept_is_due(&list, 101));
	EXPECT(keep(&list, &a, 100));
	EXPECT(!frdma_kept_is_due(&list, 100));
	EXPECT(!frdma_kept_due(&list, 100));
	EXPECT(frdma_kept_is_due(&list, 101));
	EXPECT(frdma_kept_is_due(&list, 102));
	EXPECT(frdma_kept_due(&list, 101) == &a);
	EXPECT(!frdma_kept_due(&list, 102));
}

TEST(frdma_kept_due__later_than_its_turn)
{
	struct frdma_kept_list list = { };
	struct frdma_kept a = of(101, 3);

	EXPECT(keep(&list, &a, 100));
	EXPECT(frdma_kept_due(&list, 103) == &a);
	EXPECT(!frdma_kept_is_stale(&a, 103));
	EXPECT(frdma_kept_is_stale(&a, 104));
	EXPECT(frdma_kept_is_stale(&a, 105));
}

TEST(frdma_kept_find__not_twice)
{
	struct frdma_kept_list list = { };
	struct frdma_kept a = of(102, 1), b = of(102, 4), c = of(105, 1);
	struct frdma_kept d = of(105, 1);

	EXPECT(keep(&list, &a, 100));
	EXPECT(!keep(&list, &b, 100));
	EXPECT(keep(&list, &c, 100));
	EXPECT(!keep(&list, &d, 100));
	EXPECT(!keep(&list, &b, 100));
	EXPECT(frdma_kept_any(&list) == &a);
	EXPECT(frdma_kept_any(&list) == &c);
	EXPECT(!frdma_kept_any(&list));
}

TEST(frdma_kept_find__not_from_far_away)
{
	struct frdma_kept_list list = { };
	struct frdma_kept near = of(100 + FRDMA_KEPT_SPAN - 1, 1);
	struct frdma_kept far = of(100 + FRDMA_KEPT_SPAN, 1);

	EXPECT(!keep(&list, &far, 100));
	EXPECT(keep(&list, &near, 100));
	EXPECT(frdma_kept_any(&list) == &near);
}

TEST(frdma_kept_is_stuck__since_the_last_time)
{
	struct frdma_kept_list list = { };

	frdma_kept_is_stuck(&list, 100);
	EXPECT(frdma_kept_is_stuck(&list, 100));
	EXPECT(!frdma_kept_is_stuck(&list, 101));
	EXPECT(frdma_kept_is_stuck(&list, 101));
}

/* In any order, across the end of the circle, they come out in theirs. */
TEST(frdma_kept_add__any_order)
{
	struct frdma_kept item[32];
	struct rnd rnd = { 1 };
	u32 i, round;

	for (round = 0; round < 1000; round++) {
		u32 epsn = rnd_u64(&rnd) & FRDMA_PSN_MASK;
		struct frdma_kept_list list = { };
		u64 added = 0;

		while (added != U32_MAX) {
			i = rnd_below(&rnd, 32);
			item[i] = added & BIT_ULL(i) ? item[i] :
						       of(epsn + 1 + i, 1);
			EXPECT_EQ(added & BIT_ULL(i) ? false :
				  keep(&list, &item[i], epsn),
				  !(added & BIT_ULL(i)));
			added |= BIT_ULL(i);
		}
		for (i = 0; i < 32; i++)
			EXPECT(frdma_kept_due(&list, epsn + 1 + i) == &item[i]);
		EXPECT(!frdma_kept_any(&list));
	}
}
