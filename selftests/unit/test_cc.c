// SPDX-License-Identifier: GPL-2.0
#include "cc.h"
#include "op.h"
#include "rnd.h"
#include "tap.h"

#define MAX	1024
#define NOW	1000000000ULL	/* a second */

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
		frdma_cc_acked(&cc, 1, true);
	EXPECT_EQ(cc.window, 2 * before);
	frdma_cc_acked(&cc, 2 * before, true);
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
		frdma_cc_acked(&cc, 1, true);
	EXPECT_EQ(cc.window, before + 1);
	for (i = 0; i < before; i++)
		frdma_cc_acked(&cc, 1, true);
	EXPECT_EQ(cc.window, before + 1);
	frdma_cc_acked(&cc, 1, true);
	EXPECT_EQ(cc.window, before + 2);

	/* What was acknowledged before a loss does not count behind it. */
	frdma_cc_acked(&cc, before, true);
	frdma_cc_lost(&cc);
	before = cc.window;
	frdma_cc_acked(&cc, before - 1, true);
	EXPECT_EQ(cc.window, before);
}

TEST(frdma_cc_acked__stops_at_the_maximum)
{
	struct frdma_cc cc = fresh(100);
	u32 i;

	for (i = 0; i < 10000; i++)
		frdma_cc_acked(&cc, 1, true);
	EXPECT_EQ(cc.window, 100);
}

TEST(frdma_cc_silent__asks_with_one_packet_and_doubles_again)
{
	struct frdma_cc cc = fresh(MAX);

	frdma_cc_silent(&cc);
	EXPECT_EQ(cc.window, 1);
	EXPECT_EQ(cc.threshold, FRDMA_CC_INITIAL * 7 / 10);
	frdma_cc_acked(&cc, 1, true);
	EXPECT_EQ(cc.window, 2);
	frdma_cc_acked(&cc, 100, true);
	EXPECT_EQ(cc.window, FRDMA_CC_INITIAL * 7 / 10);
}

/* The same packet, once more: of the network that says nothing new. */
TEST(frdma_cc_silent__again_and_again)
{
	struct frdma_cc cc = fresh(MAX);

	frdma_cc_silent(&cc);
	frdma_cc_silent(&cc);
	frdma_cc_silent(&cc);
	EXPECT_EQ(cc.window, 1);
	EXPECT_EQ(cc.threshold, FRDMA_CC_INITIAL * 7 / 10);

	/* After an answer it does. */
	frdma_cc_acked(&cc, 19, true);
	EXPECT_EQ(cc.window, 20);
	frdma_cc_silent(&cc);
	EXPECT_EQ(cc.threshold, 14);
}

/* A probe had gone before: what it left is no sign of anything. */
TEST(frdma_cc_silent__behind_a_probe)
{
	struct frdma_cc cc = fresh(MAX);

	cc.window = 100;
	frdma_cc_lost(&cc);
	frdma_cc_probe(&cc);
	frdma_cc_silent(&cc);
	EXPECT_EQ(cc.window, 1);
	EXPECT_EQ(cc.threshold, 70);
}

/* A window as small as what a probe leaves, and a larger one that becomes as small. */
TEST(frdma_cc_silent__in_slow_start)
{
	struct frdma_cc cc = fresh(MAX);

	cc.threshold = 100;
	cc.window = FRDMA_CC_MIN;
	frdma_cc_silent(&cc);
	EXPECT_EQ(cc.threshold, 100);
	cc.window = FRDMA_CC_MIN + 1;
	frdma_cc_silent(&cc);
	EXPECT_EQ(cc.threshold, FRDMA_CC_MIN);
}

/* Marks had made it as small as that: then it is lost that counts. */
TEST(frdma_cc_silent__where_the_window_was_one_packet)
{
	struct frdma_cc cc = fresh(MAX);
	u32 n;

	for (n = 0; n < 8; n++)
		frdma_cc_notified(&cc, 0, NOW + n * FRDMA_CC_NOTIFY_NS);
	EXPECT_EQ(cc.window, 1);
	frdma_cc_silent(&cc);
	EXPECT_EQ(cc.window, 1);
	EXPECT_EQ(cc.threshold, FRDMA_CC_MIN);
	EXPECT_EQ(cc.target, 0);
}

TEST(frdma_cc__stays_in_its_bounds)
{
	static const u32 maxima[] = { 1, 3, FRDMA_CC_MIN, 63, 64, 65, MAX };
	struct rnd rnd = { 5 };
	u64 now_ns = NOW;
	u32 i, n;

	for (i = 0; i < ARRAY_SIZE(maxima); i++) {
		struct frdma_cc cc = fresh(maxima[i]);

		for (n = 0; n < 10000; n++) {
			switch (rnd_below(&rnd, 25)) {
			case 0:
				frdma_cc_lost(&cc);
				break;
			case 1:
				frdma_cc_silent(&cc);
				break;
			case 2:
				now_ns += rnd_below(&rnd, 200000);
				frdma_cc_notified(&cc, cc.window, now_ns);
				break;
			default:
				frdma_cc_acked(&cc, rnd_below(&rnd, 100), true);
				break;
			}
			EXPECT(cc.window >= 1 && cc.window <= maxima[i]);
			EXPECT(cc.threshold <= maxima[i]);
			EXPECT(cc.alpha <= FRDMA_CC_ALPHA_ONE);
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

TEST(frdma_cc_dropped__a_small_window_stays_where_losses_are_far_apart)
{
	struct frdma_cc cc = fresh(MAX);

	/* The first one may be a sign. */
	frdma_cc_dropped(&cc);
	EXPECT_EQ(cc.window, FRDMA_CC_INITIAL * 7 / 10);
	cc.window = 100;
	frdma_cc_acked(&cc, 199, false);
	cc.window = 100;
	frdma_cc_dropped(&cc);
	EXPECT_EQ(cc.window, 70);

	cc.window = 100;
	frdma_cc_acked(&cc, 199, false);
	frdma_cc_acked(&cc, 1, false);
	cc.window = 100;
	frdma_cc_dropped(&cc);
	EXPECT_EQ(cc.window, 100);
	EXPECT_EQ(cc.threshold, 100);

	/* Each loss counts anew. */
	frdma_cc_dropped(&cc);
	EXPECT_EQ(cc.window, 70);
}

TEST(frdma_cc_dropped__a_large_window_shrinks)
{
	struct frdma_cc cc = fresh(MAX);

	cc.window = MAX;
	frdma_cc_acked(&cc, 2 * MAX, false);
	frdma_cc_dropped(&cc);
	EXPECT_EQ(cc.window, MAX * 7 / 10);
	cc.window = FRDMA_CC_FAR_APART + 1;
	frdma_cc_acked(&cc, 3 * cc.window, false);
	cc.window = FRDMA_CC_FAR_APART + 1;
	frdma_cc_dropped(&cc);
	EXPECT_EQ(cc.window, FRDMA_CC_FAR_APART);
}

TEST(frdma_cc_missed__only_what_is_lost_soon_after_another)
{
	struct frdma_cc cc = fresh(MAX);

	frdma_cc_acked(&cc, 256 - FRDMA_CC_INITIAL, true);
	EXPECT_EQ(cc.window, 256);
	frdma_cc_missed(&cc, 32);
	EXPECT_EQ(cc.window, 256);
	frdma_cc_missed(&cc, 31);
	EXPECT_EQ(cc.window, 248);
	EXPECT_EQ(cc.threshold, MAX - MAX / 32);

	/* Of few there is nothing to take; nor ends that their doubling. */
	frdma_cc_silent(&cc);
	frdma_cc_acked(&cc, 30, true);
	EXPECT_EQ(cc.window, 31);
	frdma_cc_missed(&cc, 1);
	EXPECT_EQ(cc.window, 31);
	EXPECT_EQ(cc.threshold, 248 * 7 / 10);
	frdma_cc_acked(&cc, 33, true);
	EXPECT_EQ(cc.window, 64);
	frdma_cc_missed(&cc, 1);
	EXPECT_EQ(cc.window, 62);
	EXPECT_EQ(cc.threshold, 173 - 5);
}

TEST(frdma_cc_acked__grows_in_proportion)
{
	struct frdma_cc cc = fresh(258);

	cc.window = 256;
	cc.threshold = 256;
	frdma_cc_acked(&cc, 255, true);
	EXPECT_EQ(cc.window, 256);
	frdma_cc_acked(&cc, 1, true);
	EXPECT_EQ(cc.window, 258);

	/* But not where each loss is that of a window. */
	cc.window = 256;
	cc.threshold = 256;
	frdma_cc_acked(&cc, 256, false);
	EXPECT_EQ(cc.window, 257);
}

static void round_trip(struct frdma_cc *cc)
{
	frdma_cc_acked(cc, cc->window, true);
}

TEST(frdma_cc_notified__halves_the_window_at_first)
{
	struct frdma_cc cc = fresh(MAX);

	frdma_cc_notified(&cc, 0, NOW);
	EXPECT_EQ(cc.window, FRDMA_CC_INITIAL / 2);
	/* What was acknowledged before does not count behind it. */
	frdma_cc_acked(&cc, FRDMA_CC_INITIAL / 2 - 1, true);
	EXPECT_EQ(cc.window, FRDMA_CC_INITIAL / 2);
}

TEST(frdma_cc_notified__half_of_it_comes_back_each_time)
{
	struct frdma_cc cc = fresh(MAX);

	frdma_cc_notified(&cc, 0, NOW);
	round_trip(&cc);
	EXPECT_EQ(cc.window, 48);
	round_trip(&cc);
	EXPECT_EQ(cc.window, 56);
	round_trip(&cc);
	EXPECT_EQ(cc.window, 60);
	round_trip(&cc);
	round_trip(&cc);
	round_trip(&cc);
	EXPECT_EQ(cc.window, 64);
	round_trip(&cc);
	EXPECT_EQ(cc.window, 65);
}

/* What was under way says nothing of the new window, nor cuts it again. */
TEST(frdma_cc_notified__once_for_a_flight)
{
	struct frdma_cc cc = fresh(MAX);
	u32 n;

	frdma_cc_notified(&cc, 64, NOW);
	for (n = 1; n < 10; n++)
		frdma_cc_notified(&cc, 64, NOW + n * FRDMA_CC_NOTIFY_NS);
	EXPECT_EQ(cc.window, 32);
	frdma_cc_acked(&cc, 63, true);
	frdma_cc_notified(&cc, 32, NOW + n++ * FRDMA_CC_NOTIFY_NS);
	EXPECT_EQ(cc.window, 32);
	frdma_cc_acked(&cc, 1, true);
	EXPECT_EQ(cc.window, 32);
	frdma_cc_notified(&cc, 32, NOW + n * FRDMA_CC_NOTIFY_NS);
	EXPECT_EQ(cc.window, 16);
}

/* What is acknowledged after that was sent again, in a window of its own. */
TEST(frdma_cc_notified__the_flight_ends_with_what_was_lost)
{
	struct frdma_cc cc = fresh(MAX);

	frdma_cc_notified(&cc, 64, NOW);
	frdma_cc_silent(&cc);
	frdma_cc_acked(&cc, 1, true);
	EXPECT_EQ(cc.window, 2);

	cc = fresh(MAX);
	frdma_cc_notified(&cc, 64, NOW);
	frdma_cc_lost(&cc);
	frdma_cc_probe(&cc);
	frdma_cc_acked(&cc, FRDMA_CC_MIN, true);
	EXPECT_EQ(cc.window, 2 * FRDMA_CC_MIN);
}

/* It is the window before a loss that a probe goes back to, or half of it. */
TEST(frdma_cc_notified__while_a_loss_is_mended)
{
	struct frdma_cc cc = fresh(MAX);

	frdma_cc_lost(&cc);
	frdma_cc_probe(&cc);
	frdma_cc_notified(&cc, 0, NOW);
	EXPECT_EQ(cc.window, FRDMA_CC_MIN);
	frdma_cc_resume(&cc);
	EXPECT_EQ(cc.window, FRDMA_CC_INITIAL * 7 / 20);
	frdma_cc_silent(&cc);
	frdma_cc_notified(&cc, 0, NOW + FRDMA_CC_NOTIFY_NS);
	EXPECT_EQ(cc.window, 1);
	EXPECT(cc.threshold > 5);
}

/* Not more, when packets are lost as well. */
TEST(frdma_cc_lost__does_not_grow)
{
	struct frdma_cc cc = fresh(MAX);
	u32 n;

	for (n = 0; n < 8; n++)
		frdma_cc_notified(&cc, 0, NOW + n * FRDMA_CC_NOTIFY_NS);
	EXPECT_EQ(cc.window, 1);
	frdma_cc_lost(&cc);
	EXPECT_EQ(cc.window, 1);
}

/* What is lost says more than what is marked. */
TEST(frdma_cc_notified__not_after_a_loss)
{
	struct frdma_cc cc = fresh(MAX);
	u32 before;

	frdma_cc_notified(&cc, 0, NOW);
	frdma_cc_lost(&cc);
	before = cc.window;
	round_trip(&cc);
	EXPECT_EQ(cc.window, before + 1);
}

/* Down to one packet, if they do not end; copies of one are one. */
TEST(frdma_cc_notified__again_and_again)
{
	struct frdma_cc cc = fresh(MAX);
	u32 n;

	frdma_cc_notified(&cc, 0, NOW);
	frdma_cc_notified(&cc, 0, NOW + 1);
	EXPECT_EQ(cc.window, 32);
	for (n = 1; n < 5; n++)
		frdma_cc_notified(&cc, 0, NOW + n * FRDMA_CC_NOTIFY_NS);
	EXPECT_EQ(cc.window, 2);
	for (; n < 6; n++)
		frdma_cc_notified(&cc, 0, NOW + n * FRDMA_CC_NOTIFY_NS);
	EXPECT_EQ(cc.window, 1);
}

/* Seldom ones make it less by little, and those of long ago not at all. */
TEST(frdma_cc_notified__as_they_come)
{
	struct frdma_cc cc = fresh(1600);
	u64 now_ns = NOW;
	u32 n;

	cc.window = 1600;
	frdma_cc_notified(&cc, 0, now_ns);
	EXPECT_EQ(cc.window, 800);
	cc.window = 1600;
	now_ns += 10 * FRDMA_CC_CALM_NS;
	frdma_cc_notified(&cc, 0, now_ns);
	EXPECT(cc.window > 1100 && cc.window < 1250);
	cc.window = 1600;
	now_ns += 3600 * NOW;
	frdma_cc_notified(&cc, 0, now_ns);
	EXPECT_EQ(cc.alpha, FRDMA_CC_ALPHA_ONE / 16);
	EXPECT_EQ(cc.window, 1550);
	for (n = 0; n < 100; n++) {
		cc.window = 1600;
		now_ns += FRDMA_CC_NOTIFY_NS;
		frdma_cc_notified(&cc, 0, now_ns);
	}
	EXPECT(cc.window < 820);
}

TEST(frdma_cc_echo_due__at_most_so_often)
{
	struct frdma_cc_echo echo = { };

	EXPECT(frdma_cc_echo_due(&echo, 1));
	EXPECT(!frdma_cc_echo_due(&echo, FRDMA_CC_ECHO_NS));
	EXPECT(frdma_cc_echo_due(&echo, FRDMA_CC_ECHO_NS + 1));
	EXPECT(!frdma_cc_echo_due(&echo, 2 * FRDMA_CC_ECHO_NS));
}

/* Adapters send one in 4 us, and senders in hardware are tuned for that. */
TEST(frdma_cc_echo_due__as_often_as_adapters)
{
	struct frdma_cc_echo echo = { };

	EXPECT(frdma_cc_echo_due(&echo, NOW));
	EXPECT(frdma_cc_echo_due(&echo, NOW + 4000));
}

/* However many notifications an interval has, one counts. */
TEST(frdma_cc_notified__more_often)
{
	struct frdma_cc often = fresh(MAX), seldom = fresh(MAX);
	u64 at_ns;

	for (at_ns = NOW; at_ns < NOW + 10 * FRDMA_CC_NOTIFY_NS; at_ns += 5000)
		frdma_cc_notified(&often, 64, at_ns);
	for (at_ns = NOW; at_ns < NOW + 10 * FRDMA_CC_NOTIFY_NS;
	     at_ns += FRDMA_CC_NOTIFY_NS)
		frdma_cc_notified(&seldom, 64, at_ns);
	EXPECT_EQ(often.alpha, seldom.alpha);
	EXPECT_EQ(often.window, seldom.window);
}

TEST(frdma_cc_echo_plan__headers)
{
	struct frdma_hdr hdr;

	frdma_cc_echo_plan(&hdr);
	EXPECT_EQ(hdr.opcode, FRDMA_CNP);
	EXPECT(hdr.becn && !hdr.fecn && !hdr.ack_req);
	EXPECT_EQ(hdr.psn, 0);
	EXPECT_EQ(hdr.payload_len, 16);
	EXPECT_EQ(hdr.pad, 0);
}

/* Where it is below its threshold, but was never cut, it is what shrinks. */
TEST(frdma_cc_notified__a_window_below_its_threshold)
{
	struct frdma_cc cc;

	frdma_cc_init(&cc, 512);
	cc.window = 100;
	cc.threshold = 120;
	frdma_cc_notified(&cc, 0, NOW);
	EXPECT_EQ(cc.window, 60);
}

/* Three quarters of the interval are too soon, all of it is not. */
TEST(frdma_cc_notified__an_interval_later)
{
	struct frdma_cc cc;

	frdma_cc_init(&cc, 512);
	frdma_cc_notified(&cc, 0, NOW);
	frdma_cc_notified(&cc, 0, NOW + FRDMA_CC_NOTIFY_NS * 3 / 4);
	EXPECT_EQ(cc.window, 32);
	frdma_cc_notified(&cc, 0, NOW + FRDMA_CC_NOTIFY_NS);
	EXPECT_EQ(cc.window, 16);
}

TEST(frdma_cc_dropped__a_window_above_half_of_the_maximum)
{
	struct frdma_cc cc;

	frdma_cc_init(&cc, 256);
	cc.window = 150;
	cc.threshold = 150;
	frdma_cc_acked(&cc, 400, false);
	frdma_cc_dropped(&cc);
	EXPECT_EQ(cc.window, FRDMA_CC_FAR_APART);
}

/* A queue pair that is used again has another path. */
TEST(frdma_cc_init__forgets_the_path_before)
{
	struct frdma_cc cc, fresh = { };

	memset(&cc, 0x5a, sizeof(cc));
	frdma_cc_init(&cc, 256);
	frdma_cc_init(&fresh, 256);
	EXPECT_EQ(cc.window, fresh.window);
	EXPECT_EQ(cc.threshold, 256);
	EXPECT_EQ(cc.acked, 0);
	EXPECT_EQ(cc.arrived, 0);
	EXPECT_EQ(cc.target, 0);
	EXPECT_EQ(cc.alpha, FRDMA_CC_ALPHA_ONE);
	EXPECT_EQ(cc.noted_ns, 0);
	EXPECT_EQ(cc.flight, 0);
	EXPECT_EQ(cc.undo_window, 0);
	EXPECT_EQ(cc.undo_threshold, 0);
}
