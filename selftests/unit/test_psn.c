// SPDX-License-Identifier: GPL-2.0
#include "psn.h"
#include "tap.h"

#define CIRCLE		(FRDMA_PSN_MASK + 1)

/* All numbers if there are few, else those around which things change. */
static u32 nth_psn(u32 i)
{
	static const u32 edges[] = {
		0, CIRCLE / 4, CIRCLE / 2, CIRCLE / 4 * 3, CIRCLE,
	};

	return CIRCLE <= 256 ? i : edges[i / 8] + i % 8 - 4;
}

static u32 nr_psns(void)
{
	return CIRCLE <= 256 ? CIRCLE : 5 * 8;
}

static s32 modelled_diff(u32 a, u32 b)
{
	u32 ahead = (a % CIRCLE + CIRCLE - b % CIRCLE) % CIRCLE;

	return ahead < CIRCLE / 2 ? (s32)ahead : (s32)ahead - (s32)CIRCLE;
}

TEST(frdma_psn_add__stays_on_the_circle)
{
	u32 i, n;

	for (i = 0; i < nr_psns(); i++) {
		for (n = 0; n < 3 * 8; n++) {
			u32 psn = frdma_psn_add(nth_psn(i), n);

			EXPECT_EQ(psn, (nth_psn(i) + n) % CIRCLE);
			EXPECT_EQ(frdma_psn_add(psn, -n),
				  nth_psn(i) % CIRCLE);
		}
	}
}

TEST(frdma_psn_diff__every_pair)
{
	u32 i, j;

	for (i = 0; i < nr_psns(); i++) {
		for (j = 0; j < nr_psns(); j++)
			EXPECT(frdma_psn_diff(nth_psn(i), nth_psn(j)) ==
			       modelled_diff(nth_psn(i), nth_psn(j)));
	}
}

TEST(frdma_psn_diff__half_the_circle_is_behind)
{
	EXPECT(frdma_psn_diff(CIRCLE / 2, 0) == -(s32)(CIRCLE / 2));
	EXPECT(frdma_psn_diff(0, CIRCLE / 2) == -(s32)(CIRCLE / 2));
	EXPECT(frdma_psn_diff(CIRCLE / 2 - 1, 0) == (s32)(CIRCLE / 2 - 1));
}

TEST(frdma_psn_diff__ignores_what_is_above_the_circle)
{
	EXPECT(frdma_psn_diff(0xffffffff, FRDMA_PSN_MASK) == 0);
	EXPECT(frdma_psn_diff(CIRCLE, FRDMA_PSN_MASK) == 1);
}

TEST(frdma_psn_diff__undoes_add)
{
	s32 n;
	u32 i;

	for (i = 0; i < nr_psns(); i++) {
		for (n = -4; n < 4; n++)
			EXPECT(frdma_psn_diff(frdma_psn_add(nth_psn(i), n),
					      nth_psn(i)) == n);
	}
}

TEST(frdma_psn_in__walks_the_interval)
{
	u32 i, len, n;

	for (i = 0; i < nr_psns(); i++) {
		u32 from = nth_psn(i) & FRDMA_PSN_MASK;

		for (len = 0; len < 8; len++) {
			u32 to = frdma_psn_add(from, len);

			for (n = 0; n < 8; n++)
				EXPECT(frdma_psn_in(frdma_psn_add(from, n),
						    from, to) == (n < len));
		}
	}
}
