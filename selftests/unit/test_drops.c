// SPDX-License-Identifier: GPL-2.0
/* A peer that drops what is behind a hole, as rdma_rxe does; what it is sent again. */
#include "ack.h"
#include "sendq.h"
#include "tap.h"

static struct sendq q;

/* What the peer misses is the first of many packets, and it says so. */
static enum frdma_recovery misses_first(void)
{
	return frdma_resend_recover(&q.rq, true);
}

/*
 * It was seen to drop; a large window, the round trip that is known, and more than
 * two windows since the last loss.
 */
static void peer_that_drops(u64 best_ns, u64 smooth_ns)
{
	sendq_init(&q);
	q.rq.resend.doubts = 1;
	q.rq.resend.spare = 3;
	q.rq.cc.max = 200;
	q.rq.cc.window = 100;
	q.rq.cc.arrived = 200;
	q.rq.retry.rtt.best_ns = best_ns;
	q.rq.retry.rtt.smooth_ns = smooth_ns;
	sendq_sent(&q, IB_UVERBS_WR_SEND, 10 * SENDQ_MTU);
	EXPECT_EQ(misses_first(), FRDMA_RECOVERY_BEGUN);
}

/* What it misses it may have said before: that all of it comes then, says that it keeps. */
TEST(frdma_resend_probe__while_it_is_found_out_whether_the_peer_keeps)
{
	sendq_init(&q);
	sendq_sent(&q, IB_UVERBS_WR_SEND, 10 * SENDQ_MTU);
	EXPECT_EQ(misses_first(), FRDMA_RECOVERY_BEGUN);
	EXPECT(q.rq.resend.trying);
	EXPECT_EQ(sendq_send_all(&q), FRDMA_CC_MIN);
	q.rq.retry.probes = FRDMA_PROBES_MAX;
	EXPECT(frdma_resend_probe(&q.rq));
	EXPECT_EQ(sendq_send_all(&q), FRDMA_CC_MIN);
	frdma_ack_commit(&q.rq, sendq_psn(9), SENDQ_NOW);
	EXPECT(q.rq.resend.keeps);
}

/* All ten are acknowledged, and then one of those that follow. */
static void expect_no_doubts(void)
{
	frdma_ack_commit(&q.rq, sendq_psn(9), SENDQ_NOW);
	sendq_reap_all(&q);
	sendq_sent(&q, IB_UVERBS_WR_SEND, 4 * SENDQ_MTU);
	frdma_ack_commit(&q.rq, sendq_psn(10), SENDQ_NOW);
	EXPECT_EQ(q.rq.resend.doubts, 0);
}

/* But if none of them came, and silence has ended that, it is not found out. */
TEST(frdma_resend_all__what_was_being_found_out_is_not)
{
	sendq_init(&q);
	sendq_sent(&q, IB_UVERBS_WR_SEND, 10 * SENDQ_MTU);
	EXPECT_EQ(misses_first(), FRDMA_RECOVERY_BEGUN);
	sendq_send_all(&q);
	frdma_cc_silent(&q.rq.cc);
	frdma_resend_all(&q.rq);
	EXPECT_EQ(sendq_send_all(&q), 1);
	expect_no_doubts();
}

/* Nor if it was late, and came before anything was sent again. */
TEST(frdma_resend_acked__what_was_being_found_out_is_not)
{
	sendq_init(&q);
	sendq_sent(&q, IB_UVERBS_WR_SEND, 10 * SENDQ_MTU);
	EXPECT_EQ(misses_first(), FRDMA_RECOVERY_BEGUN);
	expect_no_doubts();
}

/* That it misses one is no sign, but that it takes long to tell so is. */
TEST(frdma_resend_recover__window_to_a_peer_that_drops)
{
	peer_that_drops(1, 1 + 2 * FRDMA_RTT_NOISE_NS);
	EXPECT_EQ(q.rq.cc.window, 100);

	/* Another of those, so soon: once for all of them. */
	sendq_send_all(&q);
	frdma_ack_commit(&q.rq, sendq_psn(0), SENDQ_NOW);
	EXPECT_EQ(frdma_resend_recover(&q.rq, true), FRDMA_RECOVERY_BEGUN);
	EXPECT_EQ(q.rq.cc.window, 100);

	peer_that_drops(1, 2 + 2 * FRDMA_RTT_NOISE_NS);
	EXPECT_EQ(q.rq.cc.window, 70);
}

/* All of it was sent again, and then some once more: the first of these is answered. */
TEST(frdma_resend_probe__says_nothing_of_a_peer_that_drops)
{
	peer_that_drops(1, 1);
	EXPECT_EQ(sendq_send_all(&q), 10);
	q.rq.retry.probes = FRDMA_PROBES_MAX;
	EXPECT(frdma_resend_probe(&q.rq));
	EXPECT_EQ(sendq_send_all(&q), FRDMA_CC_MIN);
	frdma_ack_commit(&q.rq, sendq_psn(7), SENDQ_NOW);
	EXPECT(!q.rq.resend.keeps);
	EXPECT_EQ(q.rq.resend.doubts, 1);
}

TEST(frdma_resend_recover__window_where_no_round_trip_is_known)
{
	peer_that_drops(0, 0);
	EXPECT_EQ(q.rq.cc.window, 70);
}

TEST(frdma_resend_recover__peer_that_drops_is_tried_ever_more_seldom)
{
	u32 n, psn = 0, tried = 0, losses = 0;

	sendq_init(&q);
	while (tried < FRDMA_DOUBTS_MAX + 2) {
		sendq_sent(&q, IB_UVERBS_WR_SEND, 10 * SENDQ_MTU);
		EXPECT_EQ(misses_first(), FRDMA_RECOVERY_BEGUN);
		losses++;
		tried += q.rq.resend.trying;
		sendq_send_all(&q);
		for (n = 0; n < 10; n++) {
			frdma_ack_commit(&q.rq, sendq_psn(psn++),
					 SENDQ_NOW + 100);
			EXPECT(!q.rq.resend.keeps);
			sendq_send_all(&q);
		}
		sendq_reap_all(&q);
	}
	/* After 2, 4, 8, 16, 32, and 32 again. */
	EXPECT_EQ(losses, tried + 2 + 4 + 8 + 16 + 32 + 32);
}

/* But what is answered before it does. */
TEST(frdma_resend_acked__drops_what_is_before_a_read)
{
	sendq_init(&q);
	sendq_sent(&q, IB_UVERBS_WR_SEND, 10 * SENDQ_MTU);
	sendq_sent(&q, IB_UVERBS_WR_RDMA_READ, 1);
	misses_first();
	EXPECT_EQ(sendq_send_all(&q), FRDMA_CC_MIN);
	frdma_ack_commit(&q.rq, sendq_psn(0), SENDQ_NOW);
	EXPECT(!q.rq.resend.trying);
	EXPECT_EQ(q.rq.resend.doubts, 1);
}
