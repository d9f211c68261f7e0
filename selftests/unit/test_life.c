// SPDX-License-Identifier: GPL-2.0
/* What a send side that is used again keeps of its life before: nothing. */
#include "ack.h"
#include "sendq.h"
#include "tap.h"

static struct sendq q;

/* The consumer's sq_psn has 32 bits, those of the wire have 24. */
TEST(frdma_req_init__psn_of_more_bits)
{
	sendq_init(&q);
	frdma_req_init(&q.rq, 0xff000005);
	EXPECT_EQ(q.rq.una_psn, 5);
	EXPECT_EQ(q.rq.psn, 5);
	EXPECT_EQ(q.rq.end_psn, 5);
	EXPECT_EQ(q.rq.fetch_psn, 5);
}

TEST(frdma_req_init__forgets_what_was_sent_again)
{
	u32 psn = 0x900000;

	sendq_init(&q);
	memset(&q.rq.resend, 0x5a, sizeof(q.rq.resend));
	frdma_req_init(&q.rq, psn);
	EXPECT_EQ(q.rq.resend.ahead_psn, psn);
	EXPECT_EQ(q.rq.resend.again_psn, psn);
	EXPECT_EQ(q.rq.resend.alone_psn, psn);
	EXPECT_EQ(q.rq.resend.hole_psn, psn);
	EXPECT_EQ(q.rq.resend.lost_psn, psn);
	EXPECT_EQ(q.rq.resend.paced_psn, psn);
	EXPECT_EQ(q.rq.resend.refused_psn, psn);
	EXPECT(!q.rq.resend.keeps);
	EXPECT_EQ(q.rq.resend.doubts, 0);
	EXPECT_EQ(frdma_resend_reads(&q.rq), 0);

	/* Nothing is ahead, so there is nothing to let go. */
	frdma_resend_let_go(&q.rq);
	EXPECT(!q.rq.resend.lacks);
}

TEST(frdma_req_init__forgets_the_waits)
{
	sendq_init(&q);
	q.rq.retry.held = true;
	q.rq.retry.local_ns = SENDQ_NOW;
	q.rq.retry.wait = FRDMA_WAIT_ACK;
	q.rq.retry.probe_ns = SENDQ_NOW;
	q.rq.retry.probes = 3;
	q.rq.retry.refusals = 5;
	q.rq.retry.slowest_ns = SENDQ_NOW;
	q.rq.retry.patience = 2;
	q.rq.retry.retry_left = 0;
	q.rq.retry.rnr_left = 0;
	q.rq.retry.rtt.smooth_ns = 1;
	q.rq.pace.due_ns = SENDQ_NOW;
	q.rq.asked = true;
	q.rq.ask = true;
	q.rq.pkt = 1;
	q.rq.rd_out = 1;
	q.rq.rd_old = 1;
	q.rq.since_ack_req = 1;
	frdma_req_init(&q.rq, 7);
	EXPECT(!q.rq.retry.held);
	EXPECT_EQ(frdma_retry_next_ns(&q.rq.retry), U64_MAX);
	EXPECT_EQ(q.rq.retry.probe_ns, 0);
	EXPECT_EQ(q.rq.retry.probes, 0);
	EXPECT_EQ(q.rq.retry.refusals, 0);
	EXPECT_EQ(q.rq.retry.slowest_ns, 0);
	EXPECT_EQ(q.rq.retry.patience, 0);
	EXPECT_EQ(q.rq.retry.retry_left, 7);
	EXPECT_EQ(q.rq.retry.rnr_left, 6);
	EXPECT_EQ(q.rq.retry.rtt.smooth_ns, 0);
	EXPECT_EQ(q.rq.pace.due_ns, 0);
	EXPECT(!q.rq.asked);
	EXPECT(!q.rq.ask);
	EXPECT_EQ(q.rq.pkt, 0);
	EXPECT_EQ(q.rq.rd_out, 0);
	EXPECT_EQ(q.rq.rd_old, 0);
	EXPECT_EQ(q.rq.since_ack_req, 0);
}

/* A datagram queue pair goes on with its PSNs. */
TEST(frdma_req_forget__what_is_posted_afterwards_is_sent)
{
	sendq_init(&q);
	sendq_sent(&q, IB_UVERBS_WR_SEND, 4 * SENDQ_MTU);
	sendq_post(&q, IB_UVERBS_WR_SEND, 2 * SENDQ_MTU);
	sendq_send(&q);
	q.rq.retry.held = true;
	q.rq.retry.local_ns = SENDQ_NOW;
	q.rq.wr_una = q.rq.wr_prod;
	frdma_req_watch(&q.rq, SENDQ_NOW);
	frdma_req_forget(&q.rq);
	EXPECT_EQ(q.rq.retry.rtt.timed_ns, 0);
	EXPECT_EQ(frdma_retry_next_ns(&q.rq.retry), U64_MAX);
	EXPECT(!q.rq.retry.held);
	EXPECT_EQ(q.rq.pkt, 0);

	sendq_post(&q, IB_UVERBS_WR_SEND, 2 * SENDQ_MTU);
	sendq_send_all(&q);
	EXPECT_EQ(q.rq.psn, sendq_psn(7));
	EXPECT_EQ(q.rq.wr_next, q.rq.wr_prod);
}
