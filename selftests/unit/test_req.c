// SPDX-License-Identifier: GPL-2.0
#include "ack.h"
#include "sent.h"

/* A queue pair that was reset and is connected again. */
TEST(frdma_req_init__remembers_nothing)
{
	struct frdma_req was;

	sendq_init(&q);
	was = q.rq;
	q.rq.una_psn = q.rq.psn = q.rq.end_psn = q.rq.fetch_psn = 0x123;
	q.rq.restart_psn = q.rq.fine_psn = 0x456;
	q.rq.resend.recovering = true;
	q.rq.ask = true;
	q.rq.pkt = q.rq.rd_out = q.rq.rd_old = q.rq.since_ack_req = 7;
	q.rq.retry.wait = FRDMA_WAIT_RNR;
	q.rq.retry.local_ns = 1;
	q.rq.retry.slowest_ns = 2;
	q.rq.retry.patience = FRDMA_PATIENCE_MAX;
	q.rq.retry.retry_left = q.rq.retry.rnr_left = 1;
	frdma_req_init(&q.rq, SENDQ_PSN);
	EXPECT(!memcmp(&q.rq, &was, sizeof(was)));
}

/* Slots are used again and again. */
TEST(frdma_req_fetched__the_slot_was_of_another)
{
	struct frdma_swr *wr;

	sendq_init(&q);
	wr = frdma_req_wr(&q.rq, 0);
	wr->wqe.opcode = IB_UVERBS_WR_LOCAL_INV;
	wr->done = true;
	frdma_req_fetched(&q.rq, 0);
	EXPECT(!wr->done);
	EXPECT_EQ(frdma_req_judge(&q.rq), FRDMA_REQ_LOCAL);
	EXPECT(!frdma_req_reap(&q.rq));
}

TEST(frdma_resend_all__same_packets_again)
{
	struct frdma_req_pkt first[64], again;
	u32 n = 0, i;

	sendq_init(&q);
	sendq_post(&q, IB_UVERBS_WR_SEND_WITH_IMM, 600);
	sendq_post(&q, IB_UVERBS_WR_RDMA_READ, 1500);
	sendq_post(&q, IB_UVERBS_WR_ATOMIC_CMP_AND_SWP, 8);
	sendq_post(&q, IB_UVERBS_WR_RDMA_WRITE, 300);
	while (frdma_req_judge(&q.rq) == FRDMA_REQ_SEND)
		first[n++] = sendq_send(&q);

	frdma_resend_all(&q.rq);
	for (i = 0; i < n; i++) {
		again = sendq_send(&q);
		EXPECT(is_same_packet(&again, &first[i]));
	}
	EXPECT_EQ(frdma_req_judge(&q.rq), FRDMA_REQ_EMPTY);
	EXPECT_EQ(q.rq.psn, q.rq.end_psn);
}

TEST(frdma_resend_all__inside_a_message)
{
	sendq_init(&q);
	sendq_post(&q, IB_UVERBS_WR_SEND, 1000);
	sendq_send_all(&q);
	q.rq.una_psn = sendq_psn(2);
	frdma_resend_all(&q.rq);
	expect_sent(FRDMA_SEND_MIDDLE, 2, 512, 256);
	expect_sent(FRDMA_SEND_LAST, 3, 768, 232);
}

/* What this end had no room for, the peer has not yet missed. */
TEST(frdma_resend_refused__the_peer_may_miss_the_first)
{
	sendq_init(&q);
	sendq_post(&q, IB_UVERBS_WR_SEND, 1000);
	EXPECT_EQ(sendq_send_all(&q), 4);
	frdma_resend_refused(&q.rq);
	EXPECT_EQ(sendq_send_all(&q), 4);
	EXPECT_EQ(frdma_resend_recover(&q.rq, true), FRDMA_RECOVERY_BEGUN);

	/* But what it said before that is no news. */
	frdma_resend_refused(&q.rq);
	EXPECT_EQ(frdma_resend_recover(&q.rq, true), FRDMA_RECOVERY_RUNS);
}

TEST(frdma_resend_all__does_not_repeat_local_operations)
{
	sendq_init(&q);
	sendq_post(&q, IB_UVERBS_WR_SEND, 1);
	sendq_post(&q, FRDMA_WR_REG_MR, 0);
	sendq_post(&q, IB_UVERBS_WR_SEND, 1);
	sendq_send(&q);
	frdma_req_local_done(&q.rq);
	sendq_send(&q);

	frdma_resend_all(&q.rq);
	expect_sent(FRDMA_SEND_ONLY, 0, 0, 1);
	expect_sent(FRDMA_SEND_ONLY, 1, 0, 1);
	EXPECT_EQ(frdma_req_judge(&q.rq), FRDMA_REQ_EMPTY);
}

TEST(frdma_req_seek__remembers_where_a_read_may_begin)
{
	sendq_init(&q);
	sendq_post(&q, IB_UVERBS_WR_RDMA_READ, 4 * 256);
	sendq_send_all(&q);
	q.rq.una_psn = sendq_psn(3);
	frdma_req_seek(&q.rq, sendq_psn(3));
	EXPECT_EQ(q.rq.restart_psn, sendq_psn(3));
	expect_read(3, 768, 256, 1);
}

/* What is asked goes out again alone, and that is enough. */
static void expect_asked(u8 opcode, u32 nth)
{
	struct frdma_req_pkt pkt;

	EXPECT(frdma_req_ask(&q.rq));
	pkt = sendq_send(&q);
	EXPECT_EQ(pkt.hdr.opcode, opcode);
	EXPECT_EQ(pkt.hdr.psn, sendq_psn(nth));
	EXPECT(pkt.hdr.ack_req);
	EXPECT_EQ(q.rq.psn, q.rq.end_psn);
	EXPECT_EQ(q.rq.pkt, 0);
	EXPECT(!frdma_req_ask(&q.rq));
}

TEST(frdma_req_ask__the_next_one_turned_out_bad)
{
	sendq_init(&q);
	sendq_post(&q, IB_UVERBS_WR_SEND, 1);
	sendq_post(&q, IB_UVERBS_WR_SEND, 1);
	EXPECT(!sendq_send(&q).hdr.ack_req);

	/* Its memory, say, which is looked at when it is to be sent. */
	frdma_req_wr(&q.rq, 1)->status = FRDMA_WC_LOC_PROT_ERR;
	EXPECT_EQ(frdma_req_judge(&q.rq), FRDMA_REQ_FAILED);
	expect_asked(FRDMA_SEND_ONLY, 0);
	EXPECT_EQ(frdma_req_judge(&q.rq), FRDMA_REQ_FAILED);
	EXPECT_EQ(q.rq.wr_next, 1);

	q.rq.una_psn = q.rq.psn;
	EXPECT_EQ(frdma_req_reap(&q.rq)->status, FRDMA_WC_SUCCESS);
	EXPECT_EQ(frdma_req_reap(&q.rq)->status, FRDMA_WC_LOC_PROT_ERR);
}

/* What is left of it is not sent, so nothing of it asks for what was before. */
TEST(frdma_req_ask__the_next_one_failed_in_its_middle)
{
	struct frdma_req_pkt pkt;

	sendq_init(&q);
	sendq_post(&q, IB_UVERBS_WR_SEND, 1);
	sendq_post(&q, IB_UVERBS_WR_RDMA_WRITE, 3 * SENDQ_MTU);
	sendq_send(&q);
	sendq_send(&q);
	EXPECT(!sendq_send(&q).hdr.ack_req);
	frdma_req_wr(&q.rq, 1)->status = FRDMA_WC_LOC_PROT_ERR;

	EXPECT(frdma_req_ask(&q.rq));
	pkt = sendq_send(&q);
	EXPECT_EQ(pkt.hdr.psn, sendq_psn(0));
	EXPECT(pkt.hdr.ack_req);
	EXPECT_EQ(frdma_req_judge(&q.rq), FRDMA_REQ_FAILED);
	EXPECT(!frdma_req_ask(&q.rq));

	frdma_ack_commit(&q.rq, sendq_psn(0), SENDQ_NOW);
	EXPECT_EQ(frdma_req_reap(&q.rq)->status, FRDMA_WC_SUCCESS);
	EXPECT_EQ(frdma_req_reap(&q.rq)->status, FRDMA_WC_LOC_PROT_ERR);
}

/* What was before is acknowledged, or asked for. */
TEST(frdma_req_ask__not_for_what_failed_in_its_middle)
{
	sendq_init(&q);
	sendq_post(&q, IB_UVERBS_WR_SEND, 1);
	sendq_post(&q, IB_UVERBS_WR_RDMA_WRITE, 3 * SENDQ_MTU);
	sendq_send(&q);
	sendq_send(&q);
	sendq_send(&q);
	frdma_req_wr(&q.rq, 1)->status = FRDMA_WC_LOC_PROT_ERR;
	q.rq.una_psn = sendq_psn(1);
	EXPECT(!frdma_req_ask(&q.rq));

	sendq_init(&q);
	sendq_post(&q, IB_UVERBS_WR_RDMA_READ, 1);
	sendq_post(&q, IB_UVERBS_WR_RDMA_WRITE, 3 * SENDQ_MTU);
	sendq_send(&q);
	sendq_send(&q);
	frdma_req_wr(&q.rq, 1)->status = FRDMA_WC_LOC_PROT_ERR;
	EXPECT(!frdma_req_ask(&q.rq));
}

/* As in SQD: the next one is as good as ever. */
TEST(frdma_req_ask__the_next_one_is_held_back)
{
	sendq_init(&q);
	sendq_post(&q, IB_UVERBS_WR_RDMA_WRITE, 3 * SENDQ_MTU);
	sendq_post(&q, IB_UVERBS_WR_SEND, 1);
	EXPECT(!sendq_send(&q).hdr.ack_req);
	EXPECT(!sendq_send(&q).hdr.ack_req);
	EXPECT(!sendq_send(&q).hdr.ack_req);

	expect_asked(FRDMA_WRITE_LAST, 2);
	EXPECT_EQ(q.rq.wr_next, 1);

	/* It goes on where it was, and does not ask for ever. */
	sendq_post(&q, IB_UVERBS_WR_SEND, 1);
	EXPECT(!expect_sent(FRDMA_SEND_ONLY, 3, 0, 1).hdr.ack_req);
}

/* The host has no room for the question: it is not put further back. */
TEST(frdma_req_ask__once)
{
	sendq_init(&q);
	sendq_post(&q, IB_UVERBS_WR_RDMA_WRITE, 3 * SENDQ_MTU);
	sendq_post(&q, IB_UVERBS_WR_SEND, 1);
	sendq_send(&q);
	sendq_send(&q);
	sendq_send(&q);
	EXPECT(frdma_req_ask(&q.rq));
	EXPECT(!frdma_req_ask(&q.rq));
	EXPECT_EQ(q.rq.psn, sendq_psn(2));
}

/* No timer would find out that nothing was asked for. */
TEST(frdma_req_ask__without_a_timeout)
{
	sendq_init(&q);
	q.rq.retry.timeout_ns = frdma_ack_timeout_ns(0);
	sendq_post(&q, IB_UVERBS_WR_SEND, 1);
	sendq_post(&q, IB_UVERBS_WR_SEND, 1);
	EXPECT(!sendq_send(&q).hdr.ack_req);
	EXPECT_EQ(frdma_retry_next_ns(&q.rq.retry), U64_MAX);

	frdma_req_wr(&q.rq, 1)->status = FRDMA_WC_LOC_PROT_ERR;
	expect_asked(FRDMA_SEND_ONLY, 0);
	EXPECT_EQ(frdma_retry_next_ns(&q.rq.retry), U64_MAX);
}

/* In SQD, say, on a host that had no room for the last one. */
TEST(frdma_req_ask__not_into_a_wait)
{
	sendq_init(&q);
	sendq_post(&q, IB_UVERBS_WR_SEND, 1);
	sendq_post(&q, IB_UVERBS_WR_SEND, 1);
	EXPECT(!sendq_send(&q).hdr.ack_req);
	frdma_retry_local(&q.rq.retry, 1);
	EXPECT(!frdma_req_ask(&q.rq));
	EXPECT_EQ(q.rq.psn, q.rq.end_psn);

	/* When it is over, all is sent again, and may be asked for. */
	EXPECT_EQ(frdma_retry_expire(&q.rq.retry, 1 + FRDMA_LOCAL_BACKOFF_NS),
		  FRDMA_EXPIRY_RESUME);
	frdma_resend_refused(&q.rq);
	EXPECT(!sendq_send(&q).hdr.ack_req);
	expect_asked(FRDMA_SEND_ONLY, 0);
}

TEST(frdma_req_hold__nobody_answers_what_was_not_sent)
{
	sendq_init(&q);
	sendq_post(&q, IB_UVERBS_WR_SEND, 1);
	frdma_req_hold(&q.rq, SENDQ_NOW);
	frdma_req_watch(&q.rq, SENDQ_NOW);
	EXPECT_EQ(q.rq.retry.wait, FRDMA_WAIT_NONE);
}

TEST(frdma_req_hold__what_was_sent_is_waited_for)
{
	sendq_init(&q);
	sendq_sent(&q, IB_UVERBS_WR_SEND, 1);
	sendq_post(&q, IB_UVERBS_WR_SEND, 1);
	frdma_req_hold(&q.rq, SENDQ_NOW);
	EXPECT_EQ(q.rq.retry.wait, FRDMA_WAIT_ACK);
	frdma_req_watch(&q.rq, SENDQ_NOW);
	EXPECT_EQ(q.rq.retry.wait, FRDMA_WAIT_ACK);
}

TEST(frdma_req_hold__not_if_it_cannot_be_sent_again)
{
	sendq_init(&q);
	sendq_sent(&q, IB_UVERBS_WR_SEND, 1);
	frdma_resend_all(&q.rq);
	frdma_req_hold(&q.rq, SENDQ_NOW);
	EXPECT_EQ(q.rq.retry.wait, FRDMA_WAIT_NONE);
	frdma_req_watch(&q.rq, SENDQ_NOW);
	EXPECT_EQ(q.rq.retry.wait, FRDMA_WAIT_NONE);
}

TEST(frdma_req_hold__what_was_sent_again_before_it_is_waited_for)
{
	sendq_init(&q);
	sendq_sent(&q, IB_UVERBS_WR_SEND, 1);
	sendq_sent(&q, IB_UVERBS_WR_SEND, 1);
	frdma_resend_all(&q.rq);
	sendq_send(&q);
	frdma_req_hold(&q.rq, SENDQ_NOW);
	frdma_req_watch(&q.rq, SENDQ_NOW);
	EXPECT_EQ(q.rq.retry.wait, FRDMA_WAIT_ACK);

	/* That is acknowledged: what is left is not on its way. */
	frdma_ack_commit(&q.rq, sendq_psn(0), SENDQ_NOW);
	EXPECT_EQ(q.rq.retry.wait, FRDMA_WAIT_NONE);
	EXPECT(q.rq.retry.held);
	frdma_req_watch(&q.rq, SENDQ_NOW);
	EXPECT_EQ(q.rq.retry.wait, FRDMA_WAIT_NONE);
}

/* What others lack is nothing to what was lost. */
TEST(frdma_req_hold__not_of_what_is_sent_again)
{
	sendq_init(&q);
	sendq_sent(&q, IB_UVERBS_WR_SEND, 1);
	sendq_post(&q, IB_UVERBS_WR_SEND, 1);
	frdma_req_hold(&q.rq, SENDQ_NOW);
	frdma_resend_all(&q.rq);
	EXPECT(!q.rq.retry.held);
	EXPECT_EQ(frdma_req_judge(&q.rq), FRDMA_REQ_SEND);

	frdma_req_hold(&q.rq, SENDQ_NOW);
	q.rq.resend.keeps = true;
	frdma_req_seek(&q.rq, q.rq.end_psn);
	EXPECT(frdma_resend_oldest(&q.rq));
	EXPECT(!q.rq.retry.held);
}

/* It had arrived before, after all: the next one is another. */
TEST(frdma_req_hold__not_of_what_is_behind)
{
	sendq_init(&q);
	sendq_sent(&q, IB_UVERBS_WR_SEND, 1);
	sendq_post(&q, IB_UVERBS_WR_SEND, 1);
	frdma_resend_all(&q.rq);
	frdma_req_hold(&q.rq, SENDQ_NOW);
	frdma_ack_commit(&q.rq, sendq_psn(0), SENDQ_NOW);
	EXPECT(!q.rq.retry.held);
}

/* After a hold nothing is sent again by itself, so what was sent has to ask. */
TEST(frdma_req_ask__into_a_hold)
{
	struct frdma_req_pkt pkt;

	sendq_init(&q);
	sendq_post(&q, IB_UVERBS_WR_SEND, 1);
	sendq_post(&q, IB_UVERBS_WR_SEND, 1);
	EXPECT(!sendq_send(&q).hdr.ack_req);
	frdma_retry_hold(&q.rq.retry, 1);
	EXPECT(frdma_req_ask(&q.rq));
	frdma_req_plan(&q.rq, &pkt);
	EXPECT_EQ(pkt.hdr.psn, sendq_psn(0));
	EXPECT(pkt.hdr.ack_req);
	frdma_req_sent(&q.rq, &pkt);
	EXPECT_EQ(q.rq.psn, q.rq.end_psn);
	EXPECT(frdma_retry_paused(&q.rq.retry));
}

TEST(frdma_req_ask__only_where_it_is_of_use)
{
	/* Nothing was sent. */
	sendq_init(&q);
	EXPECT(!frdma_req_ask(&q.rq));
	sendq_post(&q, IB_UVERBS_WR_SEND, 1);
	EXPECT(!frdma_req_ask(&q.rq));

	/* The last packet has asked, being the last. */
	EXPECT(sendq_send(&q).hdr.ack_req);
	EXPECT(!frdma_req_ask(&q.rq));

	/* A response is as good as an acknowledgement. */
	sendq_init(&q);
	sendq_post(&q, IB_UVERBS_WR_RDMA_READ, 1);
	sendq_post(&q, IB_UVERBS_WR_SEND, 1);
	sendq_send(&q);
	EXPECT(!frdma_req_ask(&q.rq));

	/* All of it was acknowledged with something else. */
	sendq_init(&q);
	sendq_post(&q, IB_UVERBS_WR_SEND, 1);
	sendq_post(&q, IB_UVERBS_WR_SEND, 1);
	sendq_send(&q);
	q.rq.una_psn = q.rq.psn;
	EXPECT(!frdma_req_ask(&q.rq));

	/* Nobody acknowledges datagrams. */
	sendq_init(&q);
	q.rq.transport = FRDMA_UD;
	sendq_post(&q, IB_UVERBS_WR_SEND, 1);
	sendq_post(&q, IB_UVERBS_WR_SEND, 1);
	sendq_send(&q);
	EXPECT(!frdma_req_ask(&q.rq));
}

TEST(frdma_req_reap__in_order_and_only_what_is_acknowledged)
{
	u32 nth;

	sendq_init(&q);
	sendq_post(&q, IB_UVERBS_WR_SEND, 600);
	sendq_post(&q, IB_UVERBS_WR_SEND, 0);
	sendq_send_all(&q);
	for (nth = 0; nth < 3; nth++) {
		q.rq.una_psn = sendq_psn(nth);
		EXPECT(!frdma_req_reap(&q.rq));
	}
	q.rq.una_psn = sendq_psn(3);
	EXPECT_EQ(frdma_req_reap(&q.rq)->wqe.wr_id, 0);
	EXPECT(!frdma_req_reap(&q.rq));
	q.rq.una_psn = sendq_psn(4);
	EXPECT_EQ(frdma_req_reap(&q.rq)->wqe.wr_id, 1);
	EXPECT(!frdma_req_reap(&q.rq));
}

TEST(frdma_req_reap__several_at_once)
{
	u32 i;

	sendq_init(&q);
	for (i = 0; i < 3; i++)
		sendq_post(&q, IB_UVERBS_WR_RDMA_WRITE, 300);
	sendq_send_all(&q);
	q.rq.una_psn = q.rq.psn;
	for (i = 0; i < 3; i++)
		EXPECT_EQ(frdma_req_reap(&q.rq)->wqe.wr_id, i);
	EXPECT(!frdma_req_reap(&q.rq));
}

TEST(frdma_req_reap__a_bad_one_in_its_turn)
{
	sendq_init(&q);
	sendq_post(&q, IB_UVERBS_WR_SEND, 1);
	sendq_post(&q, IB_UVERBS_WR_SEND, 1)->status = FRDMA_WC_LOC_PROT_ERR;
	EXPECT(sendq_send(&q).hdr.ack_req);
	EXPECT_EQ(frdma_req_judge(&q.rq), FRDMA_REQ_FAILED);
	EXPECT(!frdma_req_reap(&q.rq));
	q.rq.una_psn = q.rq.psn;
	EXPECT_EQ(frdma_req_reap(&q.rq)->status, FRDMA_WC_SUCCESS);
	EXPECT_EQ(frdma_req_reap(&q.rq)->status, FRDMA_WC_LOC_PROT_ERR);
}

TEST(frdma_req_reap__a_bad_one_that_was_begun)
{
	sendq_init(&q);
	sendq_post(&q, IB_UVERBS_WR_SEND, 3 * SENDQ_MTU);
	sendq_post(&q, IB_UVERBS_WR_SEND, 1);
	sendq_send(&q);
	sendq_send(&q);
	frdma_req_wr(&q.rq, 0)->status = FRDMA_WC_LOC_PROT_ERR;
	EXPECT_EQ(frdma_req_reap(&q.rq)->status, FRDMA_WC_LOC_PROT_ERR);
	EXPECT_EQ(q.rq.wr_next, 1);
	EXPECT_EQ(q.rq.pkt, 0);
}

TEST(frdma_req_fail__blames_the_oldest)
{
	sendq_init(&q);
	EXPECT(!frdma_req_fail(&q.rq, FRDMA_WC_RETRY_EXC_ERR, 3));
	sendq_post(&q, IB_UVERBS_WR_SEND, 1);
	sendq_post(&q, IB_UVERBS_WR_SEND, 1);
	EXPECT(frdma_req_fail(&q.rq, FRDMA_WC_RETRY_EXC_ERR, 3));
	EXPECT_EQ(frdma_req_reap(&q.rq)->status, FRDMA_WC_RETRY_EXC_ERR);
}

/* The rest of a train of answers, and the clock, come before it is taken. */
TEST(frdma_req_fail__the_first_verdict_stands)
{
	struct frdma_swr *wr;

	sendq_init(&q);
	sendq_post(&q, IB_UVERBS_WR_RDMA_READ, 600);
	sendq_post(&q, IB_UVERBS_WR_SEND, 1);
	sendq_send_all(&q);
	EXPECT(frdma_req_fail(&q.rq, FRDMA_WC_LOC_PROT_ERR, 7));
	EXPECT(!frdma_req_fail(&q.rq, FRDMA_WC_RETRY_EXC_ERR, 3));
	wr = frdma_req_reap(&q.rq);
	EXPECT_EQ(wr->status, FRDMA_WC_LOC_PROT_ERR);
	EXPECT_EQ(wr->vendor_err, 7);
}

TEST(frdma_req_fail__spares_what_is_complete_and_not_yet_taken)
{
	sendq_init(&q);
	sendq_post(&q, IB_UVERBS_WR_SEND, 300);
	sendq_post(&q, FRDMA_WR_REG_MR, 0);
	sendq_post(&q, IB_UVERBS_WR_RDMA_WRITE, 300);
	sendq_send_all(&q);
	frdma_req_local_done(&q.rq);
	sendq_send_all(&q);

	/* A NAK of the WRITE acknowledges the SEND. */
	q.rq.una_psn = sendq_psn(2);
	EXPECT(frdma_req_fail(&q.rq, FRDMA_WC_REM_ACCESS_ERR, 0));
	EXPECT_EQ(frdma_req_reap(&q.rq)->status, FRDMA_WC_SUCCESS);
	EXPECT_EQ(frdma_req_reap(&q.rq)->status, FRDMA_WC_SUCCESS);
	EXPECT_EQ(frdma_req_reap(&q.rq)->status, FRDMA_WC_REM_ACCESS_ERR);
}

static void expect_datagram(u32 wr_id)
{
	struct frdma_req_pkt pkt = sendq_send(&q);

	EXPECT_EQ(pkt.hdr.opcode, FRDMA_UD | FRDMA_SEND_ONLY);
	EXPECT(!pkt.hdr.ack_req);
	EXPECT_EQ(frdma_req_reap(&q.rq)->wqe.wr_id, wr_id);
	EXPECT(!frdma_req_reap(&q.rq));
}

TEST(frdma_req_sent__a_datagram_is_done)
{
	sendq_init(&q);
	q.rq.transport = FRDMA_UD;
	sendq_post(&q, IB_UVERBS_WR_SEND, 1);
	sendq_post(&q, IB_UVERBS_WR_SEND, 1);
	EXPECT(!frdma_req_reap(&q.rq));
	expect_datagram(0);
	expect_datagram(1);
	EXPECT(!frdma_req_in_flight(&q.rq));
}

TEST(frdma_req_make_local__a_datagram_too_long_leaves_no_hole)
{
	sendq_init(&q);
	q.rq.transport = FRDMA_UD;
	sendq_post(&q, IB_UVERBS_WR_SEND, SENDQ_MTU * 3);
	frdma_req_make_local(&q.rq);
	sendq_post(&q, IB_UVERBS_WR_SEND, 1);

	EXPECT_EQ(frdma_req_judge(&q.rq), FRDMA_REQ_LOCAL);
	frdma_req_local_done(&q.rq);
	EXPECT_EQ(frdma_req_reap(&q.rq)->wqe.wr_id, 0);
	EXPECT(!frdma_req_reap(&q.rq));
	expect_datagram(1);
}

/* The host had no room in the middle of a message: what was sent is gone. */
TEST(frdma_resend_all__goes_on_where_nothing_is_repeated)
{
	struct frdma_req_pkt pkt;

	sendq_init(&q);
	q.rq.transport = FRDMA_UC;
	sendq_post(&q, IB_UVERBS_WR_SEND, 1);
	sendq_post(&q, IB_UVERBS_WR_SEND, 3 * SENDQ_MTU);
	sendq_send(&q);
	EXPECT_EQ(sendq_send(&q).hdr.opcode, FRDMA_UC | FRDMA_SEND_FIRST);
	frdma_resend_all(&q.rq);
	pkt = sendq_send(&q);
	EXPECT_EQ(pkt.hdr.opcode, FRDMA_UC | FRDMA_SEND_MIDDLE);
	EXPECT_EQ(pkt.hdr.psn, sendq_psn(2));
	EXPECT_EQ(pkt.off, SENDQ_MTU);
	EXPECT_EQ(frdma_req_reap(&q.rq)->wqe.wr_id, 0);
	EXPECT(!frdma_req_reap(&q.rq));
	sendq_send(&q);
	EXPECT_EQ(frdma_req_reap(&q.rq)->wqe.wr_id, 1);
}

TEST(frdma_req_is_reliable__xrc_waits_for_acks)
{
	sendq_init(&q);
	q.rq.transport = FRDMA_XRC;
	sendq_post(&q, IB_UVERBS_WR_SEND, 1);
	EXPECT(sendq_send(&q).hdr.ack_req);
	EXPECT(!frdma_req_reap(&q.rq));
	EXPECT(frdma_req_in_flight(&q.rq));
}

TEST(frdma_req_is_datagram__on_ud_alone)
{
	sendq_init(&q);
	EXPECT(!frdma_req_is_datagram(&q.rq));
	q.rq.transport = FRDMA_UC;
	EXPECT(!frdma_req_is_datagram(&q.rq));
	q.rq.transport = FRDMA_UD;
	EXPECT(frdma_req_is_datagram(&q.rq));
}

TEST(frdma_req_repeats__until_it_is_where_it_was)
{
	sendq_init(&q);
	sendq_post(&q, IB_UVERBS_WR_SEND, 2 * SENDQ_MTU);
	EXPECT(!frdma_req_repeats(&q.rq) && frdma_req_begins(&q.rq));
	sendq_send(&q);
	EXPECT(!frdma_req_repeats(&q.rq) && !frdma_req_begins(&q.rq));
	frdma_resend_all(&q.rq);
	EXPECT(frdma_req_repeats(&q.rq) && !frdma_req_begins(&q.rq));
	sendq_send_all(&q);
	EXPECT(!frdma_req_repeats(&q.rq) && frdma_req_begins(&q.rq));
}

/* All that was sent is acknowledged while it is being sent again. */
TEST(frdma_req_seek__to_the_end_of_what_was_sent)
{
	sendq_init(&q);
	sendq_post(&q, IB_UVERBS_WR_SEND, 1);
	sendq_send_all(&q);
	frdma_resend_all(&q.rq);
	frdma_req_seek(&q.rq, sendq_psn(1));
	EXPECT_EQ(frdma_req_judge(&q.rq), FRDMA_REQ_EMPTY);

	sendq_post(&q, FRDMA_WR_REG_MR, 0);
	sendq_post(&q, IB_UVERBS_WR_SEND, 1);
	frdma_resend_all(&q.rq);
	frdma_req_seek(&q.rq, sendq_psn(1));
	EXPECT_EQ(frdma_req_judge(&q.rq), FRDMA_REQ_LOCAL);
	EXPECT_EQ(q.rq.pkt, 0);
	frdma_req_local_done(&q.rq);
	expect_sent(FRDMA_SEND_ONLY, 1, 0, 1);
}

TEST(frdma_req_forget__goes_on_where_it_is)
{
	sendq_init(&q);
	sendq_post(&q, IB_UVERBS_WR_RDMA_READ, 3 * SENDQ_MTU);
	sendq_post(&q, IB_UVERBS_WR_SEND, 3 * SENDQ_MTU);
	sendq_post(&q, IB_UVERBS_WR_SEND, 1);
	sendq_send(&q);
	sendq_send(&q);
	frdma_retry_local(&q.rq.retry, SENDQ_NOW);

	/* As the shell flushes: all that was fetched is complete. */
	q.rq.wr_una = q.rq.wr_prod;
	frdma_req_forget(&q.rq);
	EXPECT(!frdma_req_in_flight(&q.rq));
	EXPECT_EQ(frdma_req_outstanding(&q.rq), 0);
	EXPECT_EQ(frdma_req_judge(&q.rq), FRDMA_REQ_EMPTY);
	EXPECT_EQ(frdma_retry_next_ns(&q.rq.retry), U64_MAX);
	EXPECT_EQ(q.rq.rd_out, 0);
	/* Numbers of packets that were never sent are not left out. */
	EXPECT_EQ(sendq_post(&q, IB_UVERBS_WR_SEND, 1)->first_psn,
		  sendq_psn(4));
	expect_sent(FRDMA_SEND_ONLY, 4, 0, 1);
}

/* Packets that were counted before are sent again. */
TEST(frdma_resend_all__asks_as_late_as_at_first)
{
	u32 i;

	sendq_init(&q);
	sendq_post(&q, IB_UVERBS_WR_SEND, 40 * SENDQ_MTU);
	for (i = 0; i < 10; i++)
		EXPECT(!sendq_send(&q).hdr.ack_req);
	frdma_resend_all(&q.rq);
	for (i = 0; i < SENDQ_WINDOW / 4 - 1; i++)
		EXPECT(!sendq_send(&q).hdr.ack_req);
	EXPECT(sendq_send(&q).hdr.ack_req);
}

TEST(frdma_req_watch__times_what_asks_for_an_answer)
{
	sendq_init(&q);
	sendq_post(&q, IB_UVERBS_WR_SEND, 1);
	sendq_post(&q, IB_UVERBS_WR_SEND, 1);
	sendq_send(&q);
	EXPECT_EQ(q.rq.retry.rtt.timed_ns, 0);
	sendq_send(&q);
	EXPECT_EQ(q.rq.retry.rtt.timed_ns, SENDQ_NOW);
	EXPECT_EQ(q.rq.retry.rtt.timed_psn, sendq_psn(2));

	/* And a READ, until its answer begins; but not if it is sent again. */
	sendq_init(&q);
	sendq_sent(&q, IB_UVERBS_WR_RDMA_READ, 4 * SENDQ_MTU);
	EXPECT_EQ(q.rq.retry.rtt.timed_ns, SENDQ_NOW);
	EXPECT_EQ(q.rq.retry.rtt.timed_psn, sendq_psn(1));
	frdma_resend_all(&q.rq);
	sendq_send_all(&q);
	EXPECT_EQ(q.rq.retry.rtt.timed_ns, 0);
}

/* As where it is passed to a peer on the same device. */
TEST(frdma_req_watch__what_is_answered_already_is_not_timed)
{
	struct frdma_req_pkt pkt;

	sendq_init(&q);
	sendq_post(&q, IB_UVERBS_WR_SEND, 1);
	frdma_req_plan(&q.rq, &pkt);
	frdma_req_sent(&q.rq, &pkt);
	frdma_ack_commit(&q.rq, sendq_psn(0), SENDQ_NOW);
	frdma_req_watch(&q.rq, SENDQ_NOW);
	EXPECT_EQ(q.rq.retry.rtt.timed_ns, 0);
}

/* The host had no room for any: that ends like a peer that never answers. */
TEST(frdma_req_watch__waits_where_nothing_could_leave)
{
	sendq_init(&q);
	frdma_req_watch(&q.rq, SENDQ_NOW);
	EXPECT_EQ(q.rq.retry.wait, FRDMA_WAIT_NONE);
	frdma_retry_local(&q.rq.retry, SENDQ_NOW);
	frdma_req_watch(&q.rq, SENDQ_NOW);
	EXPECT_EQ(q.rq.retry.wait, FRDMA_WAIT_ACK);
}

TEST(frdma_req_is_watched__while_an_answer_is_awaited)
{
	sendq_init(&q);
	EXPECT(frdma_req_is_watched(&q.rq));
	sendq_sent(&q, IB_UVERBS_WR_SEND, 1);
	EXPECT(frdma_req_is_watched(&q.rq));

	/* Pages have to come first. */
	frdma_retry_rest(&q.rq.retry);
	EXPECT(!frdma_req_is_watched(&q.rq));
	frdma_req_watch(&q.rq, SENDQ_NOW);
	EXPECT(frdma_req_is_watched(&q.rq));
}

TEST(frdma_req_watch__what_leaves_at_last_has_all_of_its_time)
{
	const u64 timeout_ns = 2 * FRDMA_LOCAL_BACKOFF_NS;
	const u64 now_ns = SENDQ_NOW + FRDMA_LOCAL_BACKOFF_NS;
	struct frdma_req_pkt pkt;

	sendq_init(&q);
	q.rq.retry.timeout_ns = timeout_ns;
	sendq_post(&q, IB_UVERBS_WR_SEND, 1);
	frdma_retry_local(&q.rq.retry, SENDQ_NOW);
	frdma_req_watch(&q.rq, SENDQ_NOW);
	EXPECT_EQ(q.rq.retry.deadline_ns, SENDQ_NOW + timeout_ns);

	EXPECT_EQ(frdma_retry_expire(&q.rq.retry, now_ns), FRDMA_EXPIRY_RESUME);
	frdma_resend_refused(&q.rq);
	frdma_req_plan(&q.rq, &pkt);
	frdma_req_sent(&q.rq, &pkt);
	frdma_retry_taken(&q.rq.retry);
	frdma_req_watch(&q.rq, now_ns);
	EXPECT_EQ(q.rq.retry.deadline_ns, now_ns + timeout_ns);
}
