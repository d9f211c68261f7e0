// SPDX-License-Identifier: GPL-2.0
#include "ack.h"
#include "sendq.h"
#include "tap.h"

static struct sendq q;

/* What the peer misses is the first of many packets, and it says so. */
static enum frdma_recovery misses_first(void)
{
	return frdma_resend_recover(&q.rq, true);
}

/* A peer that was seen to keep what is ahead of its turn; all is answered. */
static void peer_that_keeps(void)
{
	sendq_init(&q);
	sendq_sent(&q, IB_UVERBS_WR_SEND, 10 * SENDQ_MTU);
	misses_first();
	sendq_send(&q);
	frdma_ack_commit(&q.rq, sendq_psn(9), SENDQ_NOW + 100);
	sendq_reap_all(&q);
	EXPECT(q.rq.resend.keeps);
}

TEST(frdma_resend_recover__sequence_nak_resends_from_its_psn)
{
	const struct frdma_hdr nak = {
		.opcode = FRDMA_ACKNOWLEDGE, .psn = sendq_psn(3),
		.syndrome = FRDMA_NAK_PSN,
	};

	sendq_init(&q);
	sendq_sent(&q, IB_UVERBS_WR_SEND, 300);
	sendq_sent(&q, IB_UVERBS_WR_SEND, 300);
	EXPECT_EQ(frdma_ack_judge(&q.rq, &nak), FRDMA_ACK_SEQ_NAK);
	frdma_ack_implied(&q.rq, sendq_psn(3), SENDQ_NOW);
	EXPECT_EQ(sendq_reap_all(&q), 1);
	EXPECT_EQ(frdma_resend_recover(&q.rq, true), FRDMA_RECOVERY_BEGUN);
	EXPECT_EQ(q.rq.retry.retry_left, 6);
	EXPECT_EQ(q.rq.cc.threshold, SENDQ_WINDOW * 7 / 10);
	EXPECT_EQ(sendq_send(&q).hdr.psn, sendq_psn(3));
	EXPECT_EQ(frdma_req_judge(&q.rq), FRDMA_REQ_EMPTY);
}

TEST(frdma_resend_recover__copies_of_a_nak_cost_nothing)
{
	sendq_init(&q);
	sendq_sent(&q, IB_UVERBS_WR_SEND, 1000);
	EXPECT_EQ(frdma_resend_recover(&q.rq, true), FRDMA_RECOVERY_BEGUN);
	EXPECT_EQ(frdma_resend_recover(&q.rq, true), FRDMA_RECOVERY_RUNS);
	EXPECT_EQ(q.rq.retry.retry_left, 6);
	/* A loss after progress is another one. */
	frdma_ack_commit(&q.rq, sendq_psn(0), SENDQ_NOW);
	EXPECT_EQ(frdma_resend_recover(&q.rq, true), FRDMA_RECOVERY_BEGUN);
}

/* When the receiver was not ready, and the time that it asked for is over. */
TEST(frdma_resend_awaited__a_loss_is_news)
{
	sendq_init(&q);
	sendq_sent(&q, IB_UVERBS_WR_SEND, 4 * SENDQ_MTU);
	frdma_resend_all(&q.rq);
	EXPECT_EQ(frdma_resend_recover(&q.rq, true), FRDMA_RECOVERY_RUNS);
	frdma_resend_awaited(&q.rq);
	EXPECT_EQ(sendq_send_all(&q), 4);
	EXPECT_EQ(frdma_resend_recover(&q.rq, false), FRDMA_RECOVERY_BEGUN);
	EXPECT_EQ(sendq_send(&q).hdr.psn, sendq_psn(0));
}

/* What was said of packets behind the refused one may come that late. */
TEST(frdma_resend_awaited__one_sign_costs_nothing)
{
	sendq_init(&q);
	sendq_sent(&q, IB_UVERBS_WR_SEND, 4 * SENDQ_MTU);
	q.rq.retry.retry_left = 0;
	frdma_resend_awaited(&q.rq);
	sendq_send_all(&q);
	EXPECT_EQ(frdma_resend_recover(&q.rq, true), FRDMA_RECOVERY_BEGUN);
	/* But what is sent again has all of its time. */
	EXPECT(!frdma_req_is_watched(&q.rq));
	frdma_resend_refused(&q.rq);
	q.rq.resend.recovering = false;
	EXPECT_EQ(frdma_resend_recover(&q.rq, true),
		  FRDMA_RECOVERY_EXHAUSTED);

	/* Nor after progress. */
	frdma_resend_awaited(&q.rq);
	sendq_send_all(&q);
	frdma_ack_commit(&q.rq, sendq_psn(0), SENDQ_NOW);
	q.rq.retry.retry_left = 0;
	EXPECT_EQ(frdma_resend_recover(&q.rq, true),
		  FRDMA_RECOVERY_EXHAUSTED);
}

TEST(frdma_resend_recover__no_retry_left)
{
	sendq_init(&q);
	sendq_sent(&q, IB_UVERBS_WR_SEND, 1);
	q.rq.retry.retry_left = 0;
	EXPECT_EQ(frdma_resend_recover(&q.rq, true), FRDMA_RECOVERY_EXHAUSTED);
}

TEST(frdma_resend_recover__few_packets_until_it_is_known_whether_the_peer_keeps)
{
	sendq_init(&q);
	sendq_sent(&q, IB_UVERBS_WR_SEND, 20 * SENDQ_MTU);
	EXPECT_EQ(misses_first(), FRDMA_RECOVERY_BEGUN);
	EXPECT_EQ(sendq_send_all(&q), FRDMA_CC_MIN);
	frdma_ack_implied(&q.rq, sendq_psn(15), SENDQ_NOW + 100);
	EXPECT(q.rq.resend.keeps);
	EXPECT_EQ(q.rq.cc.window, q.rq.cc.threshold);

	/* It may miss that one, too; all behind it, it asks for if need be. */
	EXPECT_EQ(sendq_send(&q).hdr.psn, sendq_psn(15));
	EXPECT_EQ(q.rq.psn, q.rq.end_psn);
}

/* What was late was not lost; of what was dropped behind it nothing is known. */
TEST(frdma_resend_recover__nothing_is_learnt_before_anything_is_sent_again)
{
	sendq_init(&q);
	sendq_sent(&q, IB_UVERBS_WR_SEND, 20 * SENDQ_MTU);
	misses_first();
	frdma_ack_commit(&q.rq, sendq_psn(3), SENDQ_NOW + 100);
	EXPECT(!q.rq.resend.keeps);
	EXPECT_EQ(sendq_send(&q).hdr.psn, sendq_psn(4));
	EXPECT_EQ(sendq_send(&q).hdr.psn, sendq_psn(5));
}

/* Nothing came behind what was lost, so that the peer would have asked. */
TEST(frdma_resend_acked__the_tail_was_lost)
{
	peer_that_keeps();
	sendq_sent(&q, IB_UVERBS_WR_SEND, 10 * SENDQ_MTU);
	EXPECT(frdma_resend_oldest(&q.rq));
	EXPECT_EQ(sendq_send(&q).hdr.psn, sendq_psn(10));
	frdma_ack_commit(&q.rq, sendq_psn(10), SENDQ_NOW + 100);
	EXPECT(q.rq.resend.keeps);
	EXPECT_EQ(q.rq.cc.window, FRDMA_CC_MIN);
	EXPECT_EQ(sendq_send(&q).hdr.psn, sendq_psn(11));
	EXPECT_EQ(sendq_send_all(&q), FRDMA_CC_MIN - 1);

	/* And if it was not all of it, the rest is not sent once more. */
	frdma_ack_commit(&q.rq, sendq_psn(17), SENDQ_NOW + 200);
	EXPECT_EQ(sendq_send(&q).hdr.psn, sendq_psn(18));
}

/* What was posted after the probe is on its way. */
TEST(frdma_resend_acked__the_tail_was_sent_after_the_probe)
{
	peer_that_keeps();
	q.rq.cc.window = SENDQ_WINDOW;
	q.rq.cc.threshold = SENDQ_WINDOW;
	sendq_sent(&q, IB_UVERBS_WR_SEND, 1);
	EXPECT(frdma_resend_oldest(&q.rq));
	EXPECT_EQ(sendq_send(&q).hdr.psn, sendq_psn(10));
	sendq_sent(&q, IB_UVERBS_WR_SEND, 1);
	frdma_ack_commit(&q.rq, sendq_psn(10), SENDQ_NOW + 100);
	EXPECT(q.rq.resend.keeps);
	EXPECT_EQ(q.rq.cc.window, SENDQ_WINDOW);
	EXPECT_EQ(sendq_send_all(&q), 0);
}

/* Its round trip is known, and probes follow it. */
static void peer_that_is_probed(void)
{
	peer_that_keeps();
	q.rq.retry.timeout_ns = U32_MAX;
	q.rq.retry.rtt.best_ns = 1000;
	q.rq.retry.rtt.smooth_ns = 1000;
	q.rq.cc.window = SENDQ_WINDOW;
	q.rq.cc.threshold = SENDQ_WINDOW;
}

/* Ten packets, of which the first is sent again by a probe; returns when. */
static u64 probe_the_first(void)
{
	u64 now_ns;

	peer_that_is_probed();
	sendq_sent(&q, IB_UVERBS_WR_SEND, 10 * SENDQ_MTU);
	now_ns = q.rq.retry.probe_ns;
	EXPECT_EQ(frdma_retry_expire(&q.rq.retry, now_ns), FRDMA_EXPIRY_PROBE);
	EXPECT(frdma_resend_oldest(&q.rq));
	EXPECT_EQ(sendq_send_all(&q), 1);
	return now_ns;
}

TEST(frdma_resend_probe__one_packet_to_a_peer_that_keeps)
{
	peer_that_is_probed();
	sendq_sent(&q, IB_UVERBS_WR_SEND, 10 * SENDQ_MTU);
	q.rq.retry.probes = 1;
	EXPECT(frdma_resend_probe(&q.rq));
	EXPECT_EQ(sendq_send_all(&q), 1);
}

/* The first of what is sent then is lost, and the peer says so. */
TEST(frdma_resend_probe__is_answered_by_what_is_missing)
{
	u8 left;

	peer_that_is_probed();
	q.rq.resend.keeps = false;
	sendq_sent(&q, IB_UVERBS_WR_SEND, 10 * SENDQ_MTU);
	left = q.rq.retry.retry_left;
	q.rq.retry.probes = FRDMA_PROBES_MAX;
	EXPECT(frdma_resend_probe(&q.rq));
	EXPECT_EQ(sendq_send_all(&q), FRDMA_CC_MIN);
	EXPECT_EQ(frdma_resend_recover(&q.rq, true), FRDMA_RECOVERY_BEGUN);
	EXPECT_EQ(q.rq.retry.retry_left, left - 1);
	EXPECT_EQ(sendq_send_all(&q), FRDMA_CC_MIN);

	/* Where a loss was paid for, it is not once more. */
	q.rq.retry.probes = FRDMA_PROBES_MAX;
	EXPECT(frdma_resend_probe(&q.rq));
	EXPECT_EQ(frdma_resend_recover(&q.rq, true), FRDMA_RECOVERY_RUNS);
}

/* Later than that, and a few at first, which cost no retry. */
TEST(frdma_resend_probe__all_where_one_is_not_enough)
{
	u8 left;

	peer_that_is_probed();
	sendq_sent(&q, IB_UVERBS_WR_SEND, 10 * SENDQ_MTU);
	sendq_sent(&q, IB_UVERBS_WR_RDMA_READ, 1);
	left = q.rq.retry.retry_left;
	q.rq.retry.probes = FRDMA_PROBES_ALONE;
	EXPECT(!frdma_resend_probe(&q.rq));
	EXPECT_EQ(sendq_send_all(&q), 0);
	q.rq.retry.probes++;
	EXPECT(frdma_resend_probe(&q.rq));
	EXPECT_EQ(q.rq.retry.retry_left, left);
	EXPECT_EQ(q.rq.retry.wait, FRDMA_WAIT_ACK);

	EXPECT_EQ(q.rq.cc.threshold, SENDQ_WINDOW * 7 / 10);
	EXPECT_EQ(q.rq.retry.rtt.distrust, 1);

	/* None of which has left yet. */
	EXPECT(!frdma_resend_probe(&q.rq));
	EXPECT_EQ(sendq_send_all(&q), FRDMA_CC_MIN);
	frdma_ack_commit(&q.rq, q.rq.una_psn, SENDQ_NOW);
	EXPECT(sendq_send_all(&q));
}

/* The peer was slow, and answers one after the other now: nothing was lost. */
TEST(frdma_resend_acked__the_tail_was_late)
{
	u64 now_ns = probe_the_first();

	frdma_ack_commit(&q.rq, sendq_psn(10), now_ns + 1);
	EXPECT(q.rq.resend.keeps);
	EXPECT_EQ(q.rq.cc.window, SENDQ_WINDOW);
	EXPECT_EQ(sendq_send_all(&q), 0);

	/* An answer to the probe itself says that it was needed. */
	now_ns = probe_the_first();
	frdma_ack_commit(&q.rq, sendq_psn(10), now_ns + 1000);
	EXPECT_EQ(q.rq.cc.window, FRDMA_CC_MIN);
	EXPECT_EQ(sendq_send_all(&q), FRDMA_CC_MIN);
}

/* What may be the answer to either time that it was sent says nothing. */
TEST(frdma_ack_commit__round_trip_of_what_was_sent_again_alone)
{
	peer_that_keeps();
	EXPECT_EQ(q.rq.retry.rtt.smooth_ns, 0);
	sendq_sent(&q, IB_UVERBS_WR_SEND, 10 * SENDQ_MTU);
	misses_first();
	sendq_send(&q);
	frdma_ack_implied(&q.rq, sendq_psn(15), SENDQ_NOW + 100);
	EXPECT_EQ(q.rq.retry.rtt.smooth_ns, 100);
	frdma_resend_all(&q.rq);
	sendq_send_all(&q);
	frdma_ack_commit(&q.rq, sendq_psn(19), SENDQ_NOW + 1000);
	EXPECT_EQ(q.rq.retry.rtt.smooth_ns, 100);
}

TEST(frdma_resend_oldest__one_packet_and_then_on)
{
	struct frdma_req_pkt pkt;

	peer_that_keeps();
	sendq_sent(&q, IB_UVERBS_WR_SEND, 10 * SENDQ_MTU);
	sendq_post(&q, IB_UVERBS_WR_SEND, 1);
	EXPECT_EQ(misses_first(), FRDMA_RECOVERY_BEGUN);
	pkt = sendq_send(&q);
	EXPECT_EQ(pkt.hdr.psn, sendq_psn(10));
	EXPECT(pkt.hdr.ack_req);
	EXPECT_EQ(sendq_send(&q).hdr.psn, sendq_psn(20));
	EXPECT_EQ(misses_first(), FRDMA_RECOVERY_RUNS);

	/* The next that is missing. */
	frdma_ack_implied(&q.rq, sendq_psn(15), SENDQ_NOW);
	EXPECT_EQ(misses_first(), FRDMA_RECOVERY_BEGUN);
	EXPECT_EQ(sendq_send_all(&q), 1);
	EXPECT_EQ(q.rq.psn, q.rq.end_psn);
}

TEST(frdma_resend_oldest__window_shrinks_if_it_takes_long_and_once)
{
	const u64 late_ns = SENDQ_NOW + 10 * FRDMA_PROBE_MIN_NS;
	u32 window;

	peer_that_keeps();
	q.rq.retry.timeout_ns = U32_MAX;
	sendq_sent(&q, IB_UVERBS_WR_SEND, 10 * SENDQ_MTU);
	window = q.rq.cc.threshold;
	misses_first();
	sendq_send(&q);
	frdma_ack_implied(&q.rq, sendq_psn(16), SENDQ_NOW + 100);
	EXPECT_EQ(q.rq.cc.threshold, window);

	q.rq.retry.rtt.best_ns = 100;
	misses_first();
	sendq_send(&q);
	frdma_ack_implied(&q.rq, sendq_psn(18), late_ns);
	window = window * 7 / 10;
	EXPECT_EQ(q.rq.cc.threshold, window);

	misses_first();
	sendq_send(&q);
	frdma_ack_implied(&q.rq, sendq_psn(19), late_ns);
	EXPECT_EQ(q.rq.cc.threshold, window);
}

/* Or else it would be just sent again, half a circle of PSNs later. */
TEST(frdma_resend_oldest__is_forgotten)
{
	u32 n;

	peer_that_keeps();
	sendq_sent(&q, IB_UVERBS_WR_SEND, 10 * SENDQ_MTU);
	misses_first();
	sendq_send(&q);
	frdma_ack_implied(&q.rq, sendq_psn(15), SENDQ_NOW);
	for (n = 15; n < 20; n++) {
		frdma_ack_commit(&q.rq, sendq_psn(n), SENDQ_NOW);
		EXPECT_EQ(q.rq.resend.alone_psn, q.rq.una_psn);
	}
}

/* Two that were lost may be neighbours. */
TEST(frdma_resend_oldest__the_next_one_is_missing_too)
{
	peer_that_keeps();
	sendq_sent(&q, IB_UVERBS_WR_SEND, 10 * SENDQ_MTU);
	misses_first();
	sendq_send(&q);
	frdma_ack_commit(&q.rq, sendq_psn(10), SENDQ_NOW);
	EXPECT(q.rq.resend.keeps);
	EXPECT_EQ(misses_first(), FRDMA_RECOVERY_RUNS);
	EXPECT_EQ(sendq_send(&q).hdr.psn, sendq_psn(11));
	EXPECT_EQ(sendq_send_all(&q), 0);

	/* That was all; so it would be with others, later. */
	frdma_ack_implied(&q.rq, sendq_psn(15), SENDQ_NOW);
	EXPECT_EQ(q.rq.resend.in_a_row, 0);
}

/* Which cannot be sent alone, with a READ behind it. */
TEST(frdma_resend_oldest__the_next_one_is_missing_and_a_read)
{
	peer_that_keeps();
	sendq_sent(&q, IB_UVERBS_WR_SEND, 10 * SENDQ_MTU);
	misses_first();
	sendq_send(&q);
	sendq_sent(&q, IB_UVERBS_WR_RDMA_READ, 1);
	frdma_ack_commit(&q.rq, sendq_psn(10), SENDQ_NOW);
	EXPECT_EQ(sendq_send_all(&q), 10);
}

TEST(frdma_resend_oldest__let_down)
{
	u32 n;

	peer_that_keeps();
	sendq_sent(&q, IB_UVERBS_WR_SEND, 10 * SENDQ_MTU);
	misses_first();
	for (n = 0; n < FRDMA_IN_A_ROW_MAX; n++) {
		EXPECT_EQ(sendq_send_all(&q), 1);
		frdma_ack_commit(&q.rq, sendq_psn(10 + n), SENDQ_NOW);
		EXPECT(q.rq.resend.keeps);
	}
	EXPECT_EQ(sendq_send_all(&q), 1);
	frdma_ack_commit(&q.rq, sendq_psn(10 + n), SENDQ_NOW);
	EXPECT(!q.rq.resend.keeps);
	EXPECT_EQ(misses_first(), FRDMA_RECOVERY_RUNS);
	EXPECT_EQ(sendq_send_all(&q), 9 - n);
}

/* What is late may be so more often; but what seems late may be lost. */
TEST(frdma_resend_oldest__all_of_them_are_late)
{
	u32 n;

	peer_that_keeps();
	q.rq.retry.rtt.best_ns = 1000;
	sendq_sent(&q, IB_UVERBS_WR_SEND, 20 * SENDQ_MTU);
	misses_first();
	for (n = 0; n < FRDMA_LATE_IN_A_ROW_MAX + 1; n++) {
		EXPECT_EQ(sendq_send(&q).hdr.psn, sendq_psn(10 + n));
		EXPECT_EQ(sendq_send_all(&q), 0);
		EXPECT(q.rq.resend.keeps);
		frdma_ack_commit(&q.rq, sendq_psn(10 + n), SENDQ_NOW + 1);
	}
	EXPECT(!q.rq.resend.keeps);
	EXPECT_EQ(sendq_send_all(&q), 20 - n);
}

/* One message at a time, of which each twentieth is lost, is no congestion. */
TEST(frdma_ack_commit__tails_that_are_lost_far_apart)
{
	u32 i, psn = 10;
	u64 now_ns;

	peer_that_is_probed();
	for (i = 0; i < 400; i++) {
		now_ns = SENDQ_NOW;
		sendq_sent(&q, IB_UVERBS_WR_SEND, 1);
		if (i % 20 == 19) {
			now_ns = q.rq.retry.probe_ns;
			EXPECT_EQ(frdma_retry_expire(&q.rq.retry, now_ns),
				  FRDMA_EXPIRY_PROBE);
			EXPECT(frdma_resend_oldest(&q.rq));
			EXPECT_EQ(sendq_send_all(&q), 1);
		}
		frdma_ack_commit(&q.rq, sendq_psn(psn++), now_ns + 1000);
		EXPECT_EQ(sendq_reap_all(&q), 1);
	}
	EXPECT_EQ(q.rq.cc.window, SENDQ_WINDOW);
}

/* A probe was planned, or sent, before the peer could say what it misses. */
TEST(frdma_resend_recover__the_peer_says_later_what_it_misses)
{
	peer_that_keeps();
	sendq_sent(&q, IB_UVERBS_WR_SEND, 10 * SENDQ_MTU);
	EXPECT(frdma_resend_oldest(&q.rq));
	EXPECT_EQ(misses_first(), FRDMA_RECOVERY_RUNS);
	EXPECT(q.rq.resend.missed);
	sendq_send(&q);
	frdma_ack_commit(&q.rq, sendq_psn(10), SENDQ_NOW);
	EXPECT_EQ(sendq_send_all(&q), 1);

	peer_that_keeps();
	sendq_sent(&q, IB_UVERBS_WR_SEND, 10 * SENDQ_MTU);
	EXPECT(frdma_resend_oldest(&q.rq));
	sendq_send(&q);
	EXPECT_EQ(frdma_resend_recover(&q.rq, false), FRDMA_RECOVERY_RUNS);
	EXPECT(!q.rq.resend.missed);
	EXPECT_EQ(misses_first(), FRDMA_RECOVERY_RUNS);
	EXPECT(q.rq.resend.missed);
	frdma_ack_commit(&q.rq, sendq_psn(10), SENDQ_NOW);
	EXPECT_EQ(sendq_send_all(&q), 1);
}

/* A peer that keeps, and a window of a message that is longer. */
static void twenty_of_a_hundred(void)
{
	peer_that_keeps();
	q.rq.cc.window = 20;
	q.rq.cc.threshold = 20;
	sendq_post(&q, IB_UVERBS_WR_SEND, 100 * SENDQ_MTU);
	EXPECT_EQ(sendq_send_all(&q), 20);
}

/* Those behind what is missing have left the network. */
TEST(frdma_req_judge__another_window_while_one_is_missing)
{
	twenty_of_a_hundred();
	misses_first();
	EXPECT_EQ(sendq_send_all(&q), 1 + 20);
	EXPECT_EQ(frdma_req_outstanding(&q.rq), 40);

	/* One at most before the next one, which is sent again at once. */
	frdma_ack_implied(&q.rq, sendq_psn(15), SENDQ_NOW);
	EXPECT_EQ(frdma_req_judge(&q.rq), FRDMA_REQ_WINDOW);
	misses_first();
	EXPECT_EQ(sendq_send(&q).hdr.psn, sendq_psn(15));
	EXPECT_EQ(sendq_send_all(&q), 5);
}

/* A probe does not say where they are: they may wait in a queue. */
TEST(frdma_req_judge__no_other_window_after_a_probe)
{
	twenty_of_a_hundred();
	EXPECT(frdma_resend_oldest(&q.rq));
	EXPECT_EQ(sendq_send_all(&q), 1);
	EXPECT_EQ(frdma_req_outstanding(&q.rq), 20);

	/* But that it misses the first does, when the peer says so. */
	EXPECT_EQ(misses_first(), FRDMA_RECOVERY_RUNS);
	EXPECT_EQ(sendq_send_all(&q), 20);
	frdma_ack_commit(&q.rq, sendq_psn(10), SENDQ_NOW);
	EXPECT_EQ(sendq_send(&q).hdr.psn, sendq_psn(11));
	EXPECT_EQ(frdma_req_outstanding(&q.rq), 39);
}

/* By the same words as it says so, it is seen to keep. */
TEST(frdma_req_judge__another_window_at_the_first_of_all)
{
	sendq_init(&q);
	sendq_post(&q, IB_UVERBS_WR_SEND, 200 * SENDQ_MTU);
	EXPECT_EQ(sendq_send_all(&q), SENDQ_WINDOW);
	misses_first();
	EXPECT_EQ(sendq_send_all(&q), FRDMA_CC_MIN);
	frdma_ack_implied(&q.rq, sendq_psn(40), SENDQ_NOW);
	EXPECT_EQ(misses_first(), FRDMA_RECOVERY_RUNS);
	EXPECT_EQ(sendq_send(&q).hdr.psn, sendq_psn(40));
	sendq_send_all(&q);
	EXPECT_EQ(frdma_req_outstanding(&q.rq), 2 * q.rq.cc.window);
}

TEST(frdma_req_judge__not_more_than_the_peer_keeps)
{
	peer_that_keeps();
	q.rq.cc.max = 1024;
	q.rq.cc.window = 400;
	sendq_post(&q, IB_UVERBS_WR_SEND, 2000 * SENDQ_MTU);
	EXPECT_EQ(sendq_send_all(&q), 400);
	misses_first();
	EXPECT_EQ(sendq_send_all(&q), FRDMA_KEPT_SPAN - 400);
	EXPECT_EQ(frdma_req_outstanding(&q.rq), FRDMA_KEPT_SPAN - 1U);

	/* Nor more bytes. */
	peer_that_keeps();
	q.rq.mtu = 4096;
	q.rq.cc.max = 1024;
	q.rq.cc.window = 200;
	sendq_post(&q, IB_UVERBS_WR_SEND, 2000 * 4096);
	EXPECT_EQ(sendq_send_all(&q), 200);
	misses_first();
	EXPECT_EQ(sendq_send_all(&q), 1 + FRDMA_BEYOND_BYTES_MAX / 4096);
}

/* What it is answered with would not be kept. */
TEST(frdma_req_judge__no_read_beyond_the_window)
{
	peer_that_keeps();
	q.rq.cc.window = 20;
	q.rq.cc.threshold = 20;
	sendq_post(&q, IB_UVERBS_WR_SEND, 20 * SENDQ_MTU);
	sendq_post(&q, IB_UVERBS_WR_RDMA_READ, 1);
	EXPECT_EQ(sendq_send_all(&q), 20);
	misses_first();
	EXPECT_EQ(sendq_send_all(&q), 1);
	EXPECT_EQ(frdma_req_judge(&q.rq), FRDMA_REQ_WINDOW);
}

/* It is asked for more often, too. */
TEST(frdma_req_plan__asks_more_often_where_packets_are_lost)
{
	u32 n;

	peer_that_keeps();
	q.rq.cc.window = 32;
	q.rq.cc.threshold = 32;
	sendq_post(&q, IB_UVERBS_WR_SEND, 100 * SENDQ_MTU);
	for (n = 1; n <= 32; n++)
		EXPECT_EQ(sendq_send(&q).hdr.ack_req, n % 4 == 0);
}

TEST(frdma_resend_oldest__was_the_only_one)
{
	peer_that_keeps();
	sendq_sent(&q, IB_UVERBS_WR_SEND, 1);
	misses_first();
	sendq_send(&q);
	frdma_ack_commit(&q.rq, sendq_psn(10), SENDQ_NOW);
	EXPECT(q.rq.resend.keeps);
	EXPECT_EQ(sendq_send_all(&q), 0);
}

TEST(frdma_resend_oldest__arrived_before_it_was_sent_again)
{
	peer_that_keeps();
	sendq_sent(&q, IB_UVERBS_WR_SEND, 10 * SENDQ_MTU);
	misses_first();
	frdma_ack_commit(&q.rq, sendq_psn(13), SENDQ_NOW);
	EXPECT(!q.rq.resend.alone);
	EXPECT(q.rq.resend.keeps);
	EXPECT_EQ(sendq_send_all(&q), 0);
}

/* All from the oldest on is being sent again when another one is missing. */
TEST(frdma_resend_oldest__in_the_middle_of_a_restart)
{
	peer_that_keeps();
	sendq_sent(&q, IB_UVERBS_WR_SEND, 10 * SENDQ_MTU);
	frdma_resend_all(&q.rq);
	sendq_send(&q);
	sendq_send(&q);
	frdma_ack_commit(&q.rq, sendq_psn(10), SENDQ_NOW);
	misses_first();
	EXPECT_EQ(sendq_send(&q).hdr.psn, sendq_psn(11));
	EXPECT_EQ(sendq_send(&q).hdr.psn, sendq_psn(12));

	/* And beyond all of that, something has arrived. */
	frdma_ack_commit(&q.rq, sendq_psn(12), SENDQ_NOW);
	misses_first();
	frdma_ack_commit(&q.rq, sendq_psn(17), SENDQ_NOW);
	EXPECT_EQ(sendq_send(&q).hdr.psn, sendq_psn(18));
	EXPECT_EQ(sendq_send_all(&q), 0);
}

/* What the READ is answered with may have been lost as well. */
TEST(frdma_resend_acked__asks_again_for_what_is_answered)
{
	sendq_init(&q);
	sendq_sent(&q, IB_UVERBS_WR_SEND, 10 * SENDQ_MTU);
	sendq_sent(&q, IB_UVERBS_WR_RDMA_READ, 1);
	misses_first();
	sendq_send(&q);
	frdma_ack_implied(&q.rq, sendq_psn(8), SENDQ_NOW);
	EXPECT(q.rq.resend.keeps);
	EXPECT_EQ(sendq_send(&q).hdr.psn, sendq_psn(8));
	EXPECT_EQ(sendq_send_all(&q), 2);
}

/* A READ is answered packet by packet, whoever does it. */
static void read_behind_the_first(void)
{
	sendq_sent(&q, IB_UVERBS_WR_SEND, 1);
	sendq_sent(&q, IB_UVERBS_WR_RDMA_READ, 8 * SENDQ_MTU);
	sendq_sent(&q, IB_UVERBS_WR_SEND, 10 * SENDQ_MTU);
	misses_first();
	EXPECT(q.rq.resend.trying);
	sendq_send_all(&q);
}

TEST(frdma_resend_acked__a_read_does_not_tell_whether_the_peer_keeps)
{
	/* One that does. */
	peer_that_keeps();
	read_behind_the_first();
	frdma_ack_commit(&q.rq, sendq_psn(11), SENDQ_NOW);
	EXPECT(q.rq.resend.keeps);
	EXPECT(!q.rq.resend.trying);
	frdma_ack_commit(&q.rq, sendq_psn(18), SENDQ_NOW);
	sendq_reap_all(&q);
	frdma_ack_commit(&q.rq, sendq_psn(19), SENDQ_NOW);
	EXPECT(q.rq.resend.keeps);

	/* One of which nothing is known: it is tried again the next time. */
	sendq_init(&q);
	read_behind_the_first();
	frdma_ack_commit(&q.rq, sendq_psn(1), SENDQ_NOW);
	EXPECT(!q.rq.resend.keeps);
	EXPECT(!q.rq.resend.trying);
	EXPECT_EQ(q.rq.resend.doubts, 0);
	EXPECT_EQ(q.rq.resend.spare, 0);
}

TEST(frdma_resend_oldest__not_with_reads_nor_what_was_not_sent)
{
	peer_that_keeps();
	EXPECT(!frdma_resend_oldest(&q.rq));
	sendq_sent(&q, IB_UVERBS_WR_RDMA_READ, 1);
	EXPECT(!frdma_resend_oldest(&q.rq));
	EXPECT_EQ(frdma_resend_recover(&q.rq, false), FRDMA_RECOVERY_BEGUN);
	EXPECT(!q.rq.resend.trying);
	EXPECT_EQ(sendq_send_all(&q), 1);
}

#define FAR_NS	(2 * FRDMA_PACE_RTT_MIN_NS)

/* A peer that keeps, far away, which misses a packet; a window is 40. */
static void peer_far_away(void)
{
	peer_that_keeps();
	q.rq.retry.timeout_ns = U32_MAX;
	q.rq.cc.window = 40;
	q.rq.cc.threshold = 40;
	sendq_post(&q, IB_UVERBS_WR_SEND, 200 * SENDQ_MTU);
	EXPECT_EQ(sendq_send_all(&q), 40);
	misses_first();
	EXPECT_EQ(sendq_send(&q).hdr.psn, sendq_psn(10));
	frdma_ack_commit(&q.rq, sendq_psn(49), SENDQ_NOW + FAR_NS);
	EXPECT_EQ(q.rq.retry.rtt.smooth_ns, FAR_NS);
}

TEST(frdma_req_credit__a_window_is_spread_over_a_round_trip)
{
	const u64 now_ns = SENDQ_NOW + FAR_NS;
	u32 n;

	peer_far_away();
	EXPECT(frdma_req_is_paced(&q.rq));
	EXPECT_EQ(frdma_req_credit(&q.rq, now_ns), FRDMA_PACE_BURST_MIN);
	for (n = 0; n < FRDMA_PACE_BURST_MIN; n++)
		sendq_send(&q);
	frdma_req_spend(&q.rq, n, now_ns);
	EXPECT_EQ(frdma_req_credit(&q.rq, now_ns), 0);
	EXPECT_EQ(frdma_req_next_ns(&q.rq), now_ns +
		  FAR_NS / q.rq.cc.window * FRDMA_PACE_BURST_MIN / 2);

	/* But not what the peer misses. */
	misses_first();
	EXPECT_EQ(frdma_req_credit(&q.rq, now_ns), 1);
	EXPECT_EQ(sendq_send(&q).hdr.psn, sendq_psn(50));
	EXPECT_EQ(frdma_req_credit(&q.rq, now_ns), 0);
}

TEST(frdma_req_next_ns__of_what_may_be_sent)
{
	peer_far_away();
	sendq_send_all(&q);
	EXPECT_EQ(frdma_req_judge(&q.rq), FRDMA_REQ_WINDOW);
	EXPECT_EQ(frdma_req_next_ns(&q.rq), U64_MAX);
}

TEST(frdma_req_is_paced__only_where_packets_were_lost_of_late)
{
	/* Nothing was lost. */
	sendq_init(&q);
	sendq_sent(&q, IB_UVERBS_WR_SEND, 1);
	frdma_ack_commit(&q.rq, sendq_psn(0), SENDQ_NOW + FAR_NS);
	EXPECT_EQ(q.rq.retry.rtt.smooth_ns, FAR_NS);
	EXPECT(!frdma_req_is_paced(&q.rq));
	EXPECT_EQ(frdma_req_credit(&q.rq, 0), U32_MAX);
	EXPECT_EQ(frdma_req_next_ns(&q.rq), U64_MAX);
	frdma_req_spend(&q.rq, 100, SENDQ_NOW);
	EXPECT_EQ(q.rq.pace.due_ns, 0);

	/* The peer is near. */
	peer_that_keeps();
	sendq_sent(&q, IB_UVERBS_WR_SEND, 10 * SENDQ_MTU);
	misses_first();
	sendq_send(&q);
	frdma_ack_commit(&q.rq, sendq_psn(19), SENDQ_NOW + 100);
	EXPECT(!frdma_req_is_paced(&q.rq));

	/* It was long ago. */
	peer_far_away();
	q.rq.resend.paced_psn = frdma_psn_add(q.rq.una_psn, 10);
	sendq_sent(&q, IB_UVERBS_WR_SEND, 1);
	frdma_ack_commit(&q.rq, sendq_psn(50 + 8), SENDQ_NOW);
	EXPECT(frdma_req_is_paced(&q.rq));
	frdma_ack_commit(&q.rq, sendq_psn(50 + 20), SENDQ_NOW);
	EXPECT(!frdma_req_is_paced(&q.rq));
	EXPECT_EQ(q.rq.resend.paced_psn, q.rq.una_psn);
}

TEST(frdma_req_new_way__nothing_is_known_of_it)
{
	peer_far_away();
	frdma_req_new_way(&q.rq);
	EXPECT_EQ(q.rq.retry.rtt.smooth_ns, 0);
	EXPECT_EQ(q.rq.cc.window, FRDMA_CC_INITIAL);
	EXPECT(!frdma_req_is_paced(&q.rq));
}

/* A trial that a timeout ends teaches nothing. */
TEST(frdma_resend_all__ends_a_trial)
{
	sendq_init(&q);
	sendq_sent(&q, IB_UVERBS_WR_SEND, 4 * SENDQ_MTU);
	q.rq.resend.keeps = true;
	EXPECT(frdma_resend_oldest(&q.rq));
	sendq_send(&q);
	q.rq.resend.missed = true;
	q.rq.resend.trying = true;
	q.rq.resend.hole = true;
	frdma_resend_all(&q.rq);
	EXPECT(!q.rq.resend.missed);
	EXPECT(!q.rq.resend.trying);
	EXPECT(!q.rq.resend.hole);
	EXPECT_EQ(q.rq.resend.alone_psn, q.rq.una_psn);
	sendq_send_all(&q);
	frdma_ack_commit(&q.rq, sendq_psn(0), SENDQ_NOW);
	EXPECT_EQ(q.rq.psn, sendq_psn(4));
}

/* Half of the circle later they would lie ahead. */
TEST(frdma_resend_acked__what_is_remembered_follows_the_window)
{
	sendq_init(&q);
	sendq_sent(&q, IB_UVERBS_WR_SEND, 4 * SENDQ_MTU);
	frdma_ack_commit(&q.rq, sendq_psn(3), SENDQ_NOW);
	EXPECT_EQ(q.rq.resend.ahead_psn, sendq_psn(4));
	EXPECT_EQ(q.rq.resend.lost_psn, sendq_psn(4));
	EXPECT_EQ(q.rq.resend.again_psn, sendq_psn(4));
	EXPECT_EQ(q.rq.resend.alone_psn, sendq_psn(4));
	EXPECT_EQ(q.rq.resend.paced_psn, sendq_psn(4));
}

TEST(frdma_resend_acked__a_peer_that_keeps_is_not_doubted)
{
	sendq_init(&q);
	sendq_sent(&q, IB_UVERBS_WR_SEND, 8 * SENDQ_MTU);
	q.rq.resend.doubts = 3;
	EXPECT_EQ(frdma_resend_recover(&q.rq, true), FRDMA_RECOVERY_BEGUN);
	sendq_send(&q);
	frdma_ack_commit(&q.rq, sendq_psn(5), SENDQ_NOW);
	EXPECT(q.rq.resend.keeps);
	EXPECT_EQ(q.rq.resend.doubts, 0);
}
