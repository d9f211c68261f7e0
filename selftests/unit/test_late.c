// SPDX-License-Identifier: GPL-2.0
/* Timeouts and probes that an answer, which was only late, made needless (RFC 5682). */
#include "ack.h"
#include "sent.h"

#define PKTS	12

/* So many packets, all sent; then the timeout, and the first one goes again. */
static void timed_out(void)
{
	sendq_init(&q);
	sendq_sent(&q, IB_UVERBS_WR_SEND, PKTS * SENDQ_MTU);
	frdma_resend_timeout(&q.rq);
	EXPECT(q.rq.resend.by_clock);
	EXPECT_EQ(q.rq.cc.window, 1);
	EXPECT_EQ(sendq_send_all(&q), 1);
}

static void acked(u32 nth)
{
	frdma_ack_commit(&q.rq, sendq_psn(nth), SENDQ_NOW);
}

TEST(late__the_rest_is_not_sent_again)
{
	timed_out();
	acked(3);
	EXPECT_EQ(q.rq.psn, sendq_psn(PKTS));
	EXPECT(q.rq.resend.was_late);
	EXPECT_EQ(sendq_send_all(&q), 0);

	/* Another one makes it sure, and the window is what it was. */
	EXPECT(q.rq.cc.window < SENDQ_WINDOW / 2);
	acked(7);
	EXPECT(!q.rq.resend.was_late);
	EXPECT_EQ(q.rq.cc.window, SENDQ_WINDOW);
	EXPECT_EQ(q.rq.cc.threshold, SENDQ_WINDOW);
	EXPECT_EQ(q.rq.psn, sendq_psn(PKTS));
	/* The wait was longer than it seems. */
	EXPECT(q.rq.retry.patience);
}

/* That may be the answer to what was sent again. */
TEST(late__not_if_only_what_was_sent_again_is_acknowledged)
{
	timed_out();
	acked(0);
	EXPECT(!q.rq.resend.was_late);
	EXPECT_EQ(q.rq.psn, sendq_psn(1));
	EXPECT_EQ(sendq_send_all(&q), 2);
	acked(5);
	EXPECT(q.rq.resend.was_late);
	EXPECT_EQ(q.rq.psn, sendq_psn(PKTS));
}

/* The peer misses one: all from there on is sent again. */
TEST(late__but_a_packet_is_missing)
{
	timed_out();
	acked(3);
	EXPECT_EQ(frdma_resend_recover(&q.rq, true), FRDMA_RECOVERY_BEGUN);
	EXPECT(!q.rq.resend.was_late);
	EXPECT_EQ(q.rq.cc.undo_window, 0);
	EXPECT_EQ(q.rq.psn, sendq_psn(4));
	acked(4);
	EXPECT(q.rq.cc.window < SENDQ_WINDOW);
}

TEST(late__not_behind_a_nak)
{
	timed_out();
	EXPECT_EQ(frdma_resend_recover(&q.rq, true), FRDMA_RECOVERY_RUNS);
	acked(3);
	EXPECT(!q.rq.resend.was_late);
	EXPECT_EQ(q.rq.psn, sendq_psn(4));
}

/* A READ is answered by itself. */
TEST(late__not_where_a_response_is_owed)
{
	sendq_init(&q);
	sendq_sent(&q, IB_UVERBS_WR_SEND, 4 * SENDQ_MTU);
	sendq_sent(&q, IB_UVERBS_WR_RDMA_READ, SENDQ_MTU);
	frdma_resend_timeout(&q.rq);
	sendq_send_all(&q);
	acked(2);
	EXPECT(!q.rq.resend.was_late);
	EXPECT_EQ(q.rq.psn, sendq_psn(3));
}

/* Its acknowledgement covers what it kept: only one that comes too soon was late. */
TEST(late__of_a_peer_that_keeps)
{
	timed_out();
	q.rq.resend.keeps = true;
	frdma_ack_commit(&q.rq, sendq_psn(3), SENDQ_NOW + 100);
	EXPECT(!q.rq.resend.was_late);
	EXPECT_EQ(q.rq.psn, sendq_psn(4));

	timed_out();
	q.rq.resend.keeps = true;
	q.rq.retry.rtt.best_ns = 1000;
	frdma_ack_commit(&q.rq, sendq_psn(3), SENDQ_NOW + 100);
	EXPECT(q.rq.resend.was_late);
	EXPECT_EQ(q.rq.psn, sendq_psn(PKTS));
}

TEST(late__after_a_probe)
{
	sendq_init(&q);
	q.rq.retry.timeout_ns = U32_MAX;
	sendq_sent(&q, IB_UVERBS_WR_SEND, PKTS * SENDQ_MTU);
	q.rq.retry.probes = FRDMA_PROBES_ALONE + 1;
	EXPECT(frdma_resend_probe(&q.rq));
	EXPECT_EQ(sendq_send_all(&q), FRDMA_CC_MIN);
	acked(7);
	EXPECT(q.rq.resend.was_late);
	EXPECT_EQ(q.rq.psn, sendq_psn(PKTS));
	acked(9);
	EXPECT_EQ(q.rq.cc.window, SENDQ_WINDOW);
}

/* A timeout behind a probe: the window is not that of the probe. */
TEST(late__probe_and_timeout)
{
	sendq_init(&q);
	sendq_sent(&q, IB_UVERBS_WR_SEND, PKTS * SENDQ_MTU);
	q.rq.retry.probes = FRDMA_PROBES_ALONE + 1;
	EXPECT(frdma_resend_probe(&q.rq));
	frdma_resend_timeout(&q.rq);
	sendq_send_all(&q);
	acked(7);
	acked(9);
	EXPECT_EQ(q.rq.cc.window, SENDQ_WINDOW);
}

/* Nothing is restored that was not remembered. */
TEST(late__all_else_forgets_it)
{
	timed_out();
	acked(3);
	frdma_resend_all(&q.rq);
	EXPECT(!q.rq.resend.was_late);
	EXPECT(!q.rq.resend.by_clock);
	sendq_send_all(&q);
	acked(10);
	EXPECT_EQ(q.rq.psn, sendq_psn(11));
}

/* The timeout was right: a later one does not restore the window before the first. */
TEST(late__a_timeout_that_was_right_is_forgotten)
{
	u32 nth;

	timed_out();
	for (nth = 0; nth < PKTS; nth++) {
		acked(nth);
		sendq_send_all(&q);
	}
	EXPECT(!q.rq.resend.by_clock);
	EXPECT_EQ(q.rq.cc.undo_window, 0);

	/* Notifications have shrunk it to a few packets since. */
	q.rq.cc.window = FRDMA_CC_MIN;
	sendq_sent(&q, IB_UVERBS_WR_SEND, PKTS * SENDQ_MTU);
	frdma_resend_timeout(&q.rq);
	sendq_send_all(&q);
	acked(PKTS + 3);
	acked(PKTS + 7);
	EXPECT(q.rq.cc.window < SENDQ_WINDOW / 2);
}
