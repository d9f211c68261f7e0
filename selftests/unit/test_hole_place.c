// SPDX-License-Identifier: GPL-2.0
/*
 * A request for missing responses needs a place among the READs that both ends agreed
 * upon (max_rd_atomic): an adapter answers one READ too many with NAK Invalid Request.
 */
#include "ack.h"
#include "sent.h"

#define PIECE	8	/* packets */

/* READs of one piece each, as many as may be out; the first @answered packets came. */
static void reads_out(u32 rd_max, u32 answered)
{
	u32 n;

	sendq_init(&q);
	q.rq.read_grid = PIECE;
	q.rq.rd_max = rd_max;
	for (n = 0; n < rd_max; n++)
		sendq_sent(&q, IB_UVERBS_WR_RDMA_READ, PIECE * SENDQ_MTU);
	for (n = 0; n < answered; n++)
		frdma_ack_commit(&q.rq, sendq_psn(n), SENDQ_NOW);
	EXPECT_EQ(q.rq.rd_out, rd_max);
}

static enum frdma_recovery ahead(u32 first, u32 last)
{
	frdma_resend_note_ahead(&q.rq, sendq_psn(last), 1);
	return frdma_resend_hole(&q.rq, sendq_psn(first));
}

static void expire_probe(void)
{
	q.rq.retry.probes++;
}

TEST(hole_place__all_places_are_taken_until_the_response_is_at_its_end)
{
	reads_out(1, 2);
	EXPECT_EQ(ahead(4, 4), FRDMA_RECOVERY_RUNS);
	EXPECT_EQ(ahead(4, 6), FRDMA_RECOVERY_RUNS);
	EXPECT_EQ(frdma_req_judge(&q.rq), FRDMA_REQ_EMPTY);
	EXPECT_EQ(q.rq.retry.retry_left, q.rq.retry.retry_cnt);
	EXPECT_EQ(ahead(4, 7), FRDMA_RECOVERY_BEGUN);
	expect_read(2, 2 * SENDQ_MTU, 2 * SENDQ_MTU, 2);
	EXPECT_EQ(frdma_resend_reads(&q.rq), 1);
}

/* The last packet is lost, but a response to a later request shows that it was sent. */
TEST(hole_place__a_later_response_shows_that_the_responder_is_past)
{
	reads_out(2, 2);
	EXPECT_EQ(ahead(4, 6), FRDMA_RECOVERY_RUNS);
	EXPECT_EQ(ahead(4, 8), FRDMA_RECOVERY_BEGUN);
	expect_read(2, 2 * SENDQ_MTU, 2 * SENDQ_MTU, 2);
	EXPECT_EQ(frdma_resend_reads(&q.rq), 2);
}

TEST(hole_place__a_free_place_is_taken_and_counts)
{
	reads_out(2, 2);
	q.rq.rd_max = 3;
	EXPECT_EQ(ahead(4, 4), FRDMA_RECOVERY_BEGUN);
	expect_read(2, 2 * SENDQ_MTU, 2 * SENDQ_MTU, 2);
	EXPECT_EQ(frdma_resend_reads(&q.rq), 3);

	sendq_post(&q, IB_UVERBS_WR_RDMA_READ, 1);
	EXPECT_EQ(frdma_req_judge(&q.rq), FRDMA_REQ_READS);
	frdma_resend_note_ahead(&q.rq, sendq_psn(7), 1);
	EXPECT_EQ(frdma_resend_reads(&q.rq), 2);
	EXPECT_EQ(frdma_req_judge(&q.rq), FRDMA_REQ_SEND);
}

/* What asked for a hole may be on its way, though a part of the hole came meanwhile. */
TEST(hole_place__two_holes_of_one_response)
{
	reads_out(1, 0);
	EXPECT_EQ(ahead(4, 7), FRDMA_RECOVERY_BEGUN);
	expect_read(0, 0, 4 * SENDQ_MTU, 4);
	frdma_ack_commit(&q.rq, sendq_psn(0), SENDQ_NOW);
	EXPECT_EQ(ahead(2, 7), FRDMA_RECOVERY_RUNS);
	EXPECT(!q.rq.resend.hole_waits);
	frdma_ack_commit(&q.rq, sendq_psn(3), SENDQ_NOW);
	EXPECT_EQ(frdma_resend_reads(&q.rq), 1);
	EXPECT_EQ(ahead(6, 7), FRDMA_RECOVERY_BEGUN);
	expect_read(4, 4 * SENDQ_MTU, 2 * SENDQ_MTU, 2);
}

/* Such a response may have been on its way before the READ was asked for again. */
TEST(hole_place__a_response_to_what_was_sent_before_shows_nothing)
{
	reads_out(1, 2);
	frdma_resend_all(&q.rq);
	sendq_send_all(&q);
	frdma_ack_commit(&q.rq, sendq_psn(2), SENDQ_NOW);
	EXPECT_EQ(ahead(5, 7), FRDMA_RECOVERY_RUNS);
	q.rq.rd_max = 2;
	EXPECT_EQ(ahead(5, 7), FRDMA_RECOVERY_BEGUN);
}

TEST(hole_place__a_probe_asks_when_the_responder_is_silent)
{
	reads_out(1, 2);
	EXPECT_EQ(ahead(4, 4), FRDMA_RECOVERY_RUNS);
	expire_probe();
	EXPECT(!frdma_resend_probe(&q.rq));
	EXPECT_EQ(ahead(4, 5), FRDMA_RECOVERY_RUNS);
	expire_probe();
	EXPECT(!frdma_resend_probe(&q.rq));
	expire_probe();
	EXPECT(frdma_resend_probe(&q.rq));
	expect_read(2, 2 * SENDQ_MTU, 2 * SENDQ_MTU, 2);

	/* The request may be lost as well: it counts as one READ. */
	expire_probe();
	EXPECT(frdma_resend_probe(&q.rq));
	expect_read(2, 2 * SENDQ_MTU, 2 * SENDQ_MTU, 2);
	EXPECT_EQ(q.rq.resend.hole_reads, 1);
}

TEST(hole_place__a_request_that_this_host_refused_has_no_place)
{
	reads_out(1, 2);
	EXPECT_EQ(ahead(4, 7), FRDMA_RECOVERY_BEGUN);
	sendq_send(&q);
	frdma_resend_refuse(&q.rq, sendq_psn(2), 0);
	frdma_resend_refused(&q.rq);
	expect_read(2, 2 * SENDQ_MTU, 2 * SENDQ_MTU, 2);
	EXPECT_EQ(q.rq.resend.hole_reads, 1);
	EXPECT_EQ(frdma_resend_reads(&q.rq), 1);
}

/* An atomic is answered by one packet. */
TEST(hole_place__of_an_atomic)
{
	sendq_init(&q);
	q.rq.rd_max = 2;
	sendq_sent(&q, IB_UVERBS_WR_ATOMIC_FETCH_AND_ADD, 8);
	sendq_sent(&q, IB_UVERBS_WR_RDMA_READ, 4 * SENDQ_MTU);
	EXPECT_EQ(ahead(1, 1), FRDMA_RECOVERY_BEGUN);
	expect_sent(FRDMA_FETCH_ADD, 0, 0, 0);
	EXPECT_EQ(frdma_resend_reads(&q.rq), 2);
}

/* Half of the circle later the PSNs that are remembered would seem to lie ahead. */
TEST(hole_place__nothing_is_left_when_the_hole_is_filled)
{
	reads_out(1, 0);
	EXPECT_EQ(ahead(4, 7), FRDMA_RECOVERY_BEGUN);
	sendq_send(&q);
	frdma_ack_commit(&q.rq, sendq_psn(3), SENDQ_NOW);
	EXPECT_EQ(q.rq.resend.hole_reads, 0);
	frdma_ack_commit(&q.rq, sendq_psn(7), SENDQ_NOW);
	EXPECT_EQ(q.rq.resend.again_psn, sendq_psn(8));
	sendq_reap_all(&q);
	frdma_req_forget(&q.rq);
	EXPECT_EQ(frdma_resend_reads(&q.rq), 0);
}

/* Responses that were kept are let go, and the hole goes further then. */
TEST(hole_place__a_hole_becomes_longer)
{
	reads_out(1, 0);
	q.rq.rd_max = 8;
	EXPECT_EQ(ahead(3, 3), FRDMA_RECOVERY_BEGUN);
	expect_read(0, 0, 3 * SENDQ_MTU, 3);
	frdma_ack_commit(&q.rq, sendq_psn(0), SENDQ_NOW);
	q.rq.resend.late = 3;
	EXPECT_EQ(ahead(2, 3), FRDMA_RECOVERY_RUNS);
	EXPECT(q.rq.resend.hole_waits);
	EXPECT_EQ(ahead(4, 7), FRDMA_RECOVERY_BEGUN);
	expect_read(1, 1 * SENDQ_MTU, 3 * SENDQ_MTU, 3);
	EXPECT_EQ(q.rq.resend.hole_reads, 2);
	EXPECT_EQ(q.rq.resend.hole_end_psn, sendq_psn(4));
	EXPECT_EQ(frdma_resend_reads(&q.rq), 2);
}
