// SPDX-License-Identifier: GPL-2.0
#include "rtt.h"
#include "tap.h"

#define NOW	1000000ULL
#define RTT	2000000ULL
#define PSN	0xfffffe	/* soon comes round */

/* One packet that is answered after a while. */
static void timed(struct frdma_rtt *rtt, u64 took_ns)
{
	frdma_rtt_begin(rtt, PSN, NOW);
	frdma_rtt_end(rtt, PSN, NOW + took_ns);
}

/* The same, where one before it was lost. */
static void timed_waiting(struct frdma_rtt *rtt, u64 took_ns)
{
	frdma_rtt_begin(rtt, PSN, NOW);
	frdma_rtt_disturb(rtt);
	frdma_rtt_end(rtt, PSN, NOW + took_ns);
}

static struct frdma_rtt known(void)
{
	struct frdma_rtt rtt;

	frdma_rtt_init(&rtt);
	timed(&rtt, RTT);
	return rtt;
}

TEST(frdma_rtt_end__smooths)
{
	struct frdma_rtt rtt = known();

	EXPECT_EQ(rtt.smooth_ns, RTT);
	EXPECT_EQ(rtt.best_ns, RTT);
	timed(&rtt, 9 * RTT);
	EXPECT_EQ(rtt.smooth_ns, 2 * RTT);
	EXPECT_EQ(rtt.best_ns, RTT + 8 * RTT / 32);
	timed(&rtt, RTT / 2);
	EXPECT_EQ(rtt.best_ns, RTT / 2);
}

TEST(frdma_rtt_end__one_at_a_time)
{
	struct frdma_rtt rtt;

	frdma_rtt_init(&rtt);
	frdma_rtt_begin(&rtt, PSN, NOW);
	frdma_rtt_begin(&rtt, PSN + 1, NOW + 100);
	frdma_rtt_end(&rtt, PSN - 1, NOW + 500);
	EXPECT_EQ(rtt.smooth_ns, 0);
	/* Acknowledged with others, of which it is the oldest. */
	frdma_rtt_end(&rtt, frdma_psn_add(PSN, 5), NOW + 1000);
	EXPECT_EQ(rtt.smooth_ns, 1000);
	frdma_rtt_end(&rtt, frdma_psn_add(PSN, 6), NOW + 2000);
	EXPECT_EQ(rtt.smooth_ns, 1000);
}

TEST(frdma_rtt_end__what_is_sent_again_is_not_timed)
{
	struct frdma_rtt rtt = known();

	frdma_rtt_begin(&rtt, PSN, NOW);
	frdma_rtt_cancel(&rtt);
	frdma_rtt_end(&rtt, PSN, NOW + 100 * RTT);
	EXPECT_EQ(rtt.smooth_ns, RTT);
	EXPECT_EQ(rtt.best_ns, RTT);
}

/* It may have taken longer than a round trip, but not less. */
TEST(frdma_rtt_end__what_has_waited_for_others)
{
	struct frdma_rtt rtt = known();

	timed_waiting(&rtt, 2 * RTT);
	EXPECT_EQ(rtt.smooth_ns, RTT);
	EXPECT_EQ(rtt.best_ns, RTT);
	timed_waiting(&rtt, RTT / 2);
	EXPECT_EQ(rtt.best_ns, RTT / 2);
	timed(&rtt, RTT / 2);
	EXPECT(rtt.smooth_ns < RTT);
}

TEST(frdma_rtt_mended__first_of_all)
{
	struct frdma_rtt rtt;

	frdma_rtt_init(&rtt);
	EXPECT_EQ(frdma_rtt_mended(&rtt, 100 * RTT, false), FRDMA_MENDED_WELL);
	EXPECT_EQ(rtt.smooth_ns, 100 * RTT);
	EXPECT_EQ(rtt.best_ns, 0);
}

/* Until something is timed, of either kind: then it is known how long to wait. */
TEST(frdma_rtt_ask__again_and_again)
{
	struct frdma_rtt rtt = known();

	frdma_rtt_ask(&rtt);
	EXPECT_EQ(rtt.distrust, 0);
	frdma_rtt_ask(&rtt);
	frdma_rtt_ask(&rtt);
	EXPECT_EQ(rtt.distrust, 2);
	timed_waiting(&rtt, RTT);
	EXPECT_EQ(rtt.distrust, 2);
	timed(&rtt, RTT);
	EXPECT_EQ(rtt.distrust, 0);
	frdma_rtt_ask(&rtt);
	EXPECT_EQ(rtt.distrust, 0);
	frdma_rtt_ask(&rtt);
	frdma_rtt_mended(&rtt, RTT, true);
	EXPECT_EQ(rtt.distrust, 1);
	frdma_rtt_mended(&rtt, RTT, false);
	EXPECT_EQ(rtt.distrust, 0);
	EXPECT(!rtt.asked);
}

TEST(frdma_rtt_mended__takes_longer_where_packets_wait_in_queues)
{
	const u64 slow_ns = 2 * (RTT + FRDMA_RTT_NOISE_NS);
	struct frdma_rtt rtt = known();

	EXPECT_EQ(frdma_rtt_mended(&rtt, slow_ns - 1, false),
		  FRDMA_MENDED_WELL);
	rtt = known();
	EXPECT_EQ(frdma_rtt_mended(&rtt, slow_ns, false),
		  FRDMA_MENDED_SLOWLY);
	EXPECT(rtt.smooth_ns > RTT);
}

/* Where everything else waits for others, that says how long the way is. */
TEST(frdma_rtt_mended__way_that_has_become_longer)
{
	struct frdma_rtt rtt = known();
	u32 n;

	for (n = 0; n < 1000; n++)
		frdma_rtt_mended(&rtt, 8 * RTT, false);
	EXPECT(rtt.best_ns > 7 * RTT);
	EXPECT(rtt.best_ns <= 8 * RTT);
	EXPECT_EQ(frdma_rtt_mended(&rtt, 8 * RTT, false), FRDMA_MENDED_WELL);
}

/* The answer is that to the first time that it was sent. */
TEST(frdma_rtt_mended__was_not_lost)
{
	struct frdma_rtt rtt = known();

	EXPECT_EQ(frdma_rtt_mended(&rtt, RTT * 3 / 4, false),
		  FRDMA_MENDED_WELL);
	rtt = known();
	EXPECT_EQ(frdma_rtt_mended(&rtt, RTT * 3 / 4 - 1, false),
		  FRDMA_MENDED_NEEDLESSLY);
	EXPECT_EQ(rtt.smooth_ns, RTT);
	EXPECT_EQ(rtt.best_ns, RTT);
}

/* Once it was lost as well; twice, one after the other, it is something else. */
TEST(frdma_rtt_mended__was_sent_more_than_once)
{
	struct frdma_rtt rtt = known();

	EXPECT_EQ(frdma_rtt_mended(&rtt, 9 * RTT, true), FRDMA_MENDED_WELL);
	EXPECT_EQ(frdma_rtt_mended(&rtt, 9 * RTT, true), FRDMA_MENDED_SLOWLY);
	EXPECT_EQ(frdma_rtt_mended(&rtt, 9 * RTT, true), FRDMA_MENDED_WELL);
	EXPECT_EQ(frdma_rtt_mended(&rtt, RTT, false), FRDMA_MENDED_WELL);
	EXPECT_EQ(frdma_rtt_mended(&rtt, 9 * RTT, true), FRDMA_MENDED_WELL);
	EXPECT_EQ(rtt.smooth_ns, RTT);
}
