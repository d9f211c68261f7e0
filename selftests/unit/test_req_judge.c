// SPDX-License-Identifier: GPL-2.0
#include "sent.h"

TEST(frdma_req_judge__window)
{
	sendq_init(&q);
	q.rq.cc.window = 3;
	sendq_post(&q, IB_UVERBS_WR_SEND, 256 * 10);
	EXPECT_EQ(sendq_send_all(&q), 3);
	EXPECT_EQ(frdma_req_judge(&q.rq), FRDMA_REQ_WINDOW);
}

TEST(frdma_req_judge__no_more_reads_and_atomics_than_the_peer_keeps)
{
	u32 i;

	sendq_init(&q);
	sendq_post(&q, IB_UVERBS_WR_ATOMIC_FETCH_AND_ADD, 8);
	sendq_post(&q, FRDMA_WR_ATOMIC_WRITE, 8);
	for (i = 0; i < 5; i++)
		sendq_post(&q, IB_UVERBS_WR_RDMA_READ, 1);
	EXPECT_EQ(sendq_send_all(&q), 4);
	EXPECT_EQ(frdma_req_judge(&q.rq), FRDMA_REQ_READS);
}

/* Their number may change in SQD, after they were posted. */
TEST(frdma_req_judge__no_reads_and_atomics_where_there_may_be_none)
{
	sendq_init(&q);
	sendq_post(&q, IB_UVERBS_WR_SEND, 1);
	sendq_post(&q, IB_UVERBS_WR_RDMA_READ, 1);
	q.rq.rd_max = 0;
	sendq_send(&q);
	EXPECT_EQ(frdma_req_judge(&q.rq), FRDMA_REQ_NO_READS);
	q.rq.cc.window = 1;
	EXPECT_EQ(frdma_req_judge(&q.rq), FRDMA_REQ_NO_READS);
	q.rq.cc.window = SENDQ_WINDOW;
	q.rq.rd_max = 1;
	expect_read(1, 0, 1, 1);
}

/* What was begun when there were to be none is finished all the same. */
TEST(frdma_req_judge__reads_that_were_begun_when_there_were_to_be_none)
{
	sendq_init(&q);
	q.rq.read_grid = 4;
	sendq_post(&q, IB_UVERBS_WR_RDMA_READ, 8 * SENDQ_MTU);
	sendq_post(&q, IB_UVERBS_WR_RDMA_READ, 1);
	expect_read(0, 0, 4 * SENDQ_MTU, 4);
	q.rq.rd_max = 0;
	EXPECT_EQ(frdma_req_judge(&q.rq), FRDMA_REQ_READS);

	frdma_resend_all(&q.rq);
	expect_read(0, 0, 4 * SENDQ_MTU, 4);
	q.rq.una_psn = sendq_psn(4);
	q.rq.rd_out = 0;
	expect_read(4, 4 * SENDQ_MTU, 4 * SENDQ_MTU, 4);
	EXPECT_EQ(frdma_req_judge(&q.rq), FRDMA_REQ_NO_READS);
}

TEST(frdma_req_judge__fence_waits_for_reads_only)
{
	sendq_init(&q);
	sendq_post(&q, IB_UVERBS_WR_SEND, 1);
	sendq_post(&q, IB_UVERBS_WR_SEND, 1)->wqe.flags = FRDMA_WQE_FENCE;
	EXPECT_EQ(sendq_send_all(&q), 2);
	sendq_post(&q, IB_UVERBS_WR_RDMA_READ, 1);
	sendq_post(&q, IB_UVERBS_WR_SEND, 1)->wqe.flags = FRDMA_WQE_FENCE;
	EXPECT_EQ(sendq_send_all(&q), 1);
	EXPECT_EQ(frdma_req_judge(&q.rq), FRDMA_REQ_FENCED);
}

TEST(frdma_req_judge__invalidation_waits_for_all)
{
	sendq_init(&q);
	sendq_post(&q, IB_UVERBS_WR_SEND, 1);
	sendq_post(&q, IB_UVERBS_WR_LOCAL_INV, 0);
	sendq_send(&q);
	EXPECT_EQ(frdma_req_judge(&q.rq), FRDMA_REQ_FENCED);

	q.rq.una_psn = q.rq.psn;
	EXPECT(frdma_req_reap(&q.rq));
	EXPECT_EQ(frdma_req_judge(&q.rq), FRDMA_REQ_LOCAL);
	EXPECT(!frdma_req_reap(&q.rq));
	frdma_req_local_done(&q.rq);
	EXPECT(frdma_req_reap(&q.rq));
	EXPECT_EQ(frdma_req_judge(&q.rq), FRDMA_REQ_EMPTY);
}

TEST(frdma_req_judge__registration_does_not_wait)
{
	sendq_init(&q);
	sendq_post(&q, IB_UVERBS_WR_SEND, 1);
	sendq_post(&q, FRDMA_WR_REG_MR, 0);
	sendq_post(&q, IB_UVERBS_WR_SEND, 1);
	sendq_send(&q);
	EXPECT_EQ(frdma_req_judge(&q.rq), FRDMA_REQ_LOCAL);
	frdma_req_local_done(&q.rq);
	EXPECT_EQ(frdma_req_judge(&q.rq), FRDMA_REQ_SEND);
	/* But it completes in its turn. */
	EXPECT(!frdma_req_reap(&q.rq));
}

TEST(frdma_req_judge__silent_while_the_receiver_is_not_ready)
{
	sendq_init(&q);
	sendq_post(&q, IB_UVERBS_WR_SEND, 1);
	frdma_retry_rnr(&q.rq.retry, 1, SENDQ_NOW);
	EXPECT_EQ(frdma_req_judge(&q.rq), FRDMA_REQ_PAUSED);
}

/* They have no packets, which the window would bound. */
TEST(frdma_req_judge__local_operations_wait_for_many_that_are_not_complete)
{
	sendq_init(&q);
	sendq_post(&q, FRDMA_WR_REG_MR, 0);
	q.rq.wr_una -= FRDMA_LOCAL_MAX - 1;
	EXPECT_EQ(frdma_req_judge(&q.rq), FRDMA_REQ_LOCAL);
	q.rq.wr_una--;
	EXPECT_EQ(frdma_req_judge(&q.rq), FRDMA_REQ_FENCED);
}
