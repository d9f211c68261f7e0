// SPDX-License-Identifier: GPL-2.0
/* What this end had no room for, and when it is sent after all. */
#include "ack.h"
#include "sendq.h"
#include "tap.h"

static struct sendq q;

/* What has left before is not sent again. */
TEST(frdma_resend_refused__begins_with_what_was_refused)
{
	sendq_init(&q);
	sendq_sent(&q, IB_UVERBS_WR_SEND, 4 * SENDQ_MTU);
	frdma_resend_refuse(&q.rq, sendq_psn(0), 3);
	frdma_resend_refused(&q.rq);
	EXPECT_EQ(sendq_send(&q).hdr.psn, sendq_psn(3));
	EXPECT_EQ(q.rq.psn, q.rq.end_psn);

	/* Nor is it where nothing was planned that was refused. */
	frdma_resend_refuse(&q.rq, sendq_psn(0), 4);
	frdma_resend_refused(&q.rq);
	EXPECT_EQ(q.rq.psn, sendq_psn(4));
}

/*
 * What leaves between refusals, too few at a time to be asked about, is asked about
 * before the window is full.
 */
TEST(frdma_resend_refused__asks_about_what_has_left)
{
	bool asked = false;
	u32 i;

	sendq_init(&q);
	q.rq.cc.window = 64;
	q.rq.cc.threshold = 64;
	sendq_post(&q, IB_UVERBS_WR_SEND, 200 * SENDQ_MTU);
	while (!asked && frdma_req_judge(&q.rq) == FRDMA_REQ_SEND) {
		u32 psn = q.rq.psn;

		for (i = 0; i < 5 && frdma_req_judge(&q.rq) ==
		     FRDMA_REQ_SEND; i++)
			asked |= sendq_send(&q).hdr.ack_req;
		frdma_resend_refuse(&q.rq, psn, i);
		frdma_resend_refused(&q.rq);
	}
	EXPECT(asked);
}

/* What was acknowledged meanwhile, or is being sent again, comes first. */
TEST(frdma_resend_refused__not_beyond_what_is_missing)
{
	sendq_init(&q);
	sendq_sent(&q, IB_UVERBS_WR_SEND, 4 * SENDQ_MTU);
	frdma_resend_refuse(&q.rq, sendq_psn(0), 1);
	frdma_ack_commit(&q.rq, sendq_psn(1), SENDQ_NOW);
	frdma_resend_refused(&q.rq);
	EXPECT_EQ(sendq_send(&q).hdr.psn, sendq_psn(2));

	frdma_resend_refuse(&q.rq, sendq_psn(0), 3);
	frdma_resend_all(&q.rq);
	frdma_resend_refused(&q.rq);
	EXPECT_EQ(sendq_send(&q).hdr.psn, sendq_psn(2));
}

/* Which READs are out is known of all, or of none. */
TEST(frdma_resend_refused__all_of_it_with_reads)
{
	sendq_init(&q);
	sendq_post(&q, IB_UVERBS_WR_RDMA_READ, SENDQ_MTU);
	sendq_post(&q, IB_UVERBS_WR_SEND, 2 * SENDQ_MTU);
	sendq_send_all(&q);
	frdma_resend_refuse(&q.rq, sendq_psn(0), 2);
	frdma_resend_refused(&q.rq);
	EXPECT_EQ(sendq_send(&q).hdr.psn, sendq_psn(0));
}

TEST(frdma_resend_refused__what_was_to_go_alone_does)
{
	sendq_init(&q);
	sendq_sent(&q, IB_UVERBS_WR_SEND, 4 * SENDQ_MTU);
	q.rq.resend.keeps = true;
	EXPECT(frdma_resend_oldest(&q.rq));
	frdma_resend_refuse(&q.rq, sendq_psn(0), 0);
	frdma_resend_refused(&q.rq);
	EXPECT_EQ(sendq_send(&q).hdr.psn, sendq_psn(0));
}

/* A full queue refuses many that are under way together. */
TEST(frdma_resend_refuse__shrinks_the_window_once)
{
	u32 window;

	sendq_init(&q);
	q.rq.cc.window = 100;
	sendq_sent(&q, IB_UVERBS_WR_SEND, 4 * SENDQ_MTU);
	frdma_resend_refuse(&q.rq, sendq_psn(0), 2);
	window = q.rq.cc.window;
	EXPECT(window < 100);
	frdma_resend_refuse(&q.rq, sendq_psn(0), 3);
	EXPECT_EQ(q.rq.cc.window, window);

	frdma_ack_commit(&q.rq, sendq_psn(3), SENDQ_NOW);
	sendq_sent(&q, IB_UVERBS_WR_SEND, SENDQ_MTU);
	frdma_resend_refuse(&q.rq, sendq_psn(0), 4);
	EXPECT(q.rq.cc.window < window);
}

/* A wait of this end is no part of a round trip. */
TEST(frdma_resend_refused__what_was_refused_is_not_timed)
{
	sendq_init(&q);
	sendq_sent(&q, IB_UVERBS_WR_SEND, 4 * SENDQ_MTU);
	frdma_req_watch(&q.rq, SENDQ_NOW);
	EXPECT(q.rq.retry.rtt.timed_ns);
	frdma_resend_refuse(&q.rq, sendq_psn(0), 3);
	frdma_resend_refused(&q.rq);
	EXPECT_EQ(q.rq.retry.rtt.timed_ns, 0);
}

/* The oldest packet is sent with the others, not alone: its ACK teaches nothing. */
TEST(frdma_resend_refused__of_what_was_sent_again_alone)
{
	sendq_init(&q);
	sendq_sent(&q, IB_UVERBS_WR_SEND, 4 * SENDQ_MTU);
	q.rq.resend.keeps = true;
	EXPECT(frdma_resend_oldest(&q.rq));
	sendq_send(&q);
	frdma_resend_refuse(&q.rq, sendq_psn(0), 0);
	frdma_resend_refused(&q.rq);
	sendq_send_all(&q);
	frdma_ack_commit(&q.rq, sendq_psn(0), SENDQ_NOW);
	EXPECT_EQ(q.rq.psn, sendq_psn(4));
	EXPECT(q.rq.resend.keeps);
}

/* The next packet would have asked for an acknowledgement of these. */
TEST(frdma_resend_refused__what_has_left_may_not_have_asked)
{
	sendq_init(&q);
	sendq_sent(&q, IB_UVERBS_WR_SEND, 4 * SENDQ_MTU);
	EXPECT_EQ(q.rq.since_ack_req, 0);
	frdma_resend_refuse(&q.rq, sendq_psn(0), 3);
	frdma_resend_refused(&q.rq);
	EXPECT_EQ(q.rq.since_ack_req, 3);
	EXPECT(frdma_req_ask(&q.rq));
}

/* What this host refused is no loss, so a NAK tells of one. */
TEST(frdma_resend_refused__a_loss_behind_it_is_news)
{
	sendq_init(&q);
	sendq_post(&q, IB_UVERBS_WR_RDMA_READ, SENDQ_MTU);
	sendq_post(&q, IB_UVERBS_WR_SEND, 2 * SENDQ_MTU);
	sendq_send_all(&q);
	frdma_resend_refuse(&q.rq, sendq_psn(0), 2);
	frdma_resend_refused(&q.rq);
	EXPECT(!q.rq.resend.recovering);
	sendq_send_all(&q);
	EXPECT_EQ(frdma_resend_recover(&q.rq, true), FRDMA_RECOVERY_BEGUN);
}
