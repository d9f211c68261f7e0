// SPDX-License-Identifier: GPL-2.0
#include "cc.h"
#include "rnd.h"
#include "tap.h"

#define MAX	1024

static struct frdma_cc fresh(u32 max)
{
	struct frdma_cc cc;

	frdma_cc_init(&cc, max);
	return cc;
}

TEST(frdma_cc_init__never_more_than_the_maximum)
{
	EXPECT_EQ(fresh(MAX).window, FRDMA_CC_INITIAL);
	EXPECT_EQ(fresh(1).window, 1);
}

TEST(frdma_cc_acked__doubles_per_round_trip)
{
	struct frdma_cc cc = fresh(MAX);
	u32 before = cc.window, i;

	for (i = 0; i < before; i++)
		frdma_cc_acked(&cc, 1);
	EXPECT_EQ(cc.window, 2 * before);
	frdma_cc_acked(&cc, 2 * before);
	EXPECT_EQ(cc.window, 4 * before);
}

TEST(frdma_cc_acked__grows_by_one_after_a_loss)
{
	struct frdma_cc cc = fresh(MAX);
	u32 before, i;

	frdma_cc_lost(&cc);
	before = cc.window;
	EXPECT_EQ(before, FRDMA_CC_INITIAL * 7 / 10);
	for (i = 0; i < before; i++)
		frdma_cc_acked(&cc, 1);
	EXPECT_EQ(cc.window, before + 1);
	for (i = 0; i < before; i++)
		frdma_cc_acked(&cc, 1);
	EXPECT_EQ(cc.window, before + 1);
	frdma_cc_acked(&cc, 1);
	EXPECT_EQ(cc.window, before + 2);

	/* What was acknowledged before a loss does not count behind it. */
	frdma_cc_acked(&cc, before);
	frdma_cc_lost(&cc);
	before = cc.window;
	frdma_cc_acked(&cc, before - 1);
	EXPECT_EQ(cc.window, before);
}

TEST(frdma_cc_acked__stops_at_the_maximum)
{
	struct frdma_cc cc = fresh(100);
	u32 i;

	for (i = 0; i < 10000; i++)
		frdma_cc_acked(&cc, 1);
	EXPECT_EQ(cc.window, 100);
}

TEST(frdma_cc_silent__asks_with_one_packet_and_doubles_again)
{
	struct frdma_cc cc = fresh(MAX);

	frdma_cc_silent(&cc);
	EXPECT_EQ(cc.window, 1);
	EXPECT_EQ(cc.threshold, FRDMA_CC_INITIAL * 7 / 10);
	frdma_cc_acked(&cc, 1);
	EXPECT_EQ(cc.window, 2);
	frdma_cc_acked(&cc, 100);
	EXPECT_EQ(cc.window, FRDMA_CC_INITIAL * 7 / 10);
}

TEST(frdma_cc__stays_in_its_bounds)
{
	static const u32 maxima[] = { 1, 3, FRDMA_CC_MIN, 63, 64, 65, MAX };
	struct rnd rnd = { 5 };
	u32 i, n;

	for (i = 0; i < ARRAY_SIZE(maxima); i++) {
		struct frdma_cc cc = fresh(maxima[i]);

		for (n = 0; n < 10000; n++) {
			switch (rnd_below(&rnd, 20)) {
			case 0:
				frdma_cc_lost(&cc);
				break;
			case 1:
				frdma_cc_silent(&cc);
				break;
			default:
				frdma_cc_acked(&cc, rnd_below(&rnd, 100));
				break;
			}
			EXPECT(cc.window >= 1 && cc.window <= maxima[i]);
			EXPECT(cc.threshold <= maxima[i]);
		}
	}
}

TEST(frdma_cc_probe__few_packets_until_it_is_over)
{
	struct frdma_cc cc = fresh(MAX);

	frdma_cc_lost(&cc);
	frdma_cc_probe(&cc);
	EXPECT_EQ(cc.window, FRDMA_CC_MIN);
	frdma_cc_resume(&cc);
	EXPECT_EQ(cc.window, FRDMA_CC_INITIAL * 7 / 10);
	frdma_cc_resume(&cc);
	EXPECT_EQ(cc.window, FRDMA_CC_INITIAL * 7 / 10);
}
