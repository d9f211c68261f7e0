// SPDX-License-Identifier: GPL-2.0
#include "pace.h"
#include "tap.h"

#define NOW	1000000000ULL	/* a second */
#define MS	1000000ULL

/* A packet each 10 microseconds, in bursts of 25. */
static const struct frdma_pace_rate rate = { .window = 200, .rtt_ns = 2 * MS };

#define BURST	25
#define HALF	13
#define EACH_NS	10000ULL

TEST(frdma_pace_credit__a_burst_after_silence)
{
	struct frdma_pace pace;

	frdma_pace_init(&pace);
	EXPECT_EQ(frdma_pace_credit(&pace, rate, NOW), BURST);
	frdma_pace_spend(&pace, rate, BURST, NOW);
	EXPECT_EQ(frdma_pace_credit(&pace, rate, NOW), 0);
	EXPECT_EQ(frdma_pace_credit(&pace, rate, NOW + 100 * MS), BURST);
}

TEST(frdma_pace_credit__half_a_burst_or_nothing)
{
	struct frdma_pace pace;
	u64 next_ns;

	frdma_pace_init(&pace);
	EXPECT_EQ(frdma_pace_next_ns(&pace, rate), 0);
	frdma_pace_spend(&pace, rate, BURST, NOW);
	next_ns = frdma_pace_next_ns(&pace, rate);
	EXPECT_EQ(next_ns, NOW + (BURST - HALF) * EACH_NS);
	EXPECT_EQ(frdma_pace_credit(&pace, rate, next_ns - 1), 0);
	EXPECT_EQ(frdma_pace_credit(&pace, rate, next_ns), BURST - HALF);
	EXPECT_EQ(frdma_pace_credit(&pace, rate, next_ns + EACH_NS),
		  BURST - HALF + 1);
}

/* What is sent whenever it may be is a window in a round trip, and a burst. */
TEST(frdma_pace_spend__a_window_in_a_round_trip)
{
	const u64 end_ns = NOW + rate.rtt_ns;
	struct frdma_pace pace;
	u64 now_ns = NOW;
	u32 sent = 0, n;

	frdma_pace_init(&pace);
	while (now_ns < end_ns) {
		n = frdma_pace_credit(&pace, rate, now_ns);
		EXPECT(n > 0);
		frdma_pace_spend(&pace, rate, n, now_ns);
		sent += n;
		now_ns = frdma_pace_next_ns(&pace, rate);
	}
	EXPECT(sent >= rate.window);
	EXPECT(sent <= rate.window + BURST);
}

TEST(frdma_pace_credit__small_windows_and_short_ways)
{
	static const struct frdma_pace_rate slow = { 1, MS };
	static const struct frdma_pace_rate fast = { 256, 100 };
	struct frdma_pace pace;

	frdma_pace_init(&pace);
	EXPECT_EQ(frdma_pace_credit(&pace, slow, NOW), FRDMA_PACE_BURST_MIN);
	frdma_pace_spend(&pace, slow, FRDMA_PACE_BURST_MIN, NOW);
	EXPECT_EQ(frdma_pace_next_ns(&pace, slow),
		  NOW + FRDMA_PACE_BURST_MIN / 2 * MS);

	/* No two of them are due at the same time. */
	frdma_pace_init(&pace);
	frdma_pace_spend(&pace, fast, 256 / FRDMA_PACE_BURSTS, NOW);
	EXPECT_EQ(frdma_pace_credit(&pace, fast, NOW), 0);
	EXPECT_EQ(frdma_pace_next_ns(&pace, fast), NOW + 16);
}
