// SPDX-License-Identifier: GPL-2.0
/* Answers that are missing before others which are kept: only they are asked for. */
#include "ack.h"
#include "sent.h"

#define LONG	8	/* packets of a piece */

/* A READ of two pieces, a SEND and an atomic, all sent; the first answers have come. */
static void missing_at(u32 nth)
{
	sendq_init(&q);
	q.rq.read_grid = LONG;
	q.rq.rd_max = 8;
	sendq_post(&q, IB_UVERBS_WR_RDMA_READ, 2 * LONG * SENDQ_MTU);
	sendq_post(&q, IB_UVERBS_WR_SEND, 1);
	sendq_post(&q, IB_UVERBS_WR_ATOMIC_FETCH_AND_ADD, 8);
	EXPECT_EQ(sendq_send_all(&q), 4);
	while (q.rq.una_psn != sendq_psn(nth))
		frdma_ack_commit(&q.rq, q.rq.una_psn, SENDQ_NOW);
}

static enum frdma_recovery kept_from_to(u32 nth, u32 last)
{
	frdma_resend_note_ahead(&q.rq, sendq_psn(nth), last - nth + 1);
	return frdma_resend_hole(&q.rq, sendq_psn(nth));
}

static enum frdma_recovery kept_from(u32 nth)
{
	return kept_from_to(nth, nth);
}

static enum frdma_ack_verdict response(u8 opcode, u32 nth)
{
	struct frdma_hdr hdr = {
		.opcode = opcode, .psn = sendq_psn(nth),
		.syndrome = FRDMA_AETH_NO_CREDITS, .payload_len = SENDQ_MTU,
	};

	return frdma_ack_judge(&q.rq, &hdr);
}

TEST(frdma_resend_hole__asks_for_what_is_missing_and_goes_on)
{
	missing_at(2);
	EXPECT_EQ(q.rq.rd_out, 3);
	EXPECT_EQ(kept_from(5), FRDMA_RECOVERY_BEGUN);
	EXPECT(!frdma_resend_has_hole(&q.rq));
	expect_read(2, 2 * SENDQ_MTU, 3 * SENDQ_MTU, 3);
	EXPECT(frdma_resend_has_hole(&q.rq));
	EXPECT_EQ(q.rq.rd_out, 3);
	EXPECT_EQ(q.rq.psn, q.rq.end_psn);
	EXPECT_EQ(frdma_req_judge(&q.rq), FRDMA_REQ_EMPTY);

	/* It costs a retry, and is on its way. */
	EXPECT_EQ(q.rq.retry.retry_left, q.rq.retry.retry_cnt - 1);
	EXPECT_EQ(kept_from(5), FRDMA_RECOVERY_RUNS);
	frdma_ack_commit(&q.rq, sendq_psn(2), SENDQ_NOW);
	EXPECT_EQ(kept_from(5), FRDMA_RECOVERY_RUNS);
	EXPECT_EQ(q.rq.retry.retry_left, q.rq.retry.retry_cnt);

	/* All of it has come, and more is missing behind. */
	frdma_ack_commit(&q.rq, sendq_psn(4), SENDQ_NOW);
	EXPECT(!frdma_resend_has_hole(&q.rq));
	frdma_ack_commit(&q.rq, sendq_psn(5), SENDQ_NOW);
	EXPECT_EQ(kept_from(7), FRDMA_RECOVERY_BEGUN);
	expect_read(6, 6 * SENDQ_MTU, 1 * SENDQ_MTU, 1);
}

/* The peer answers a part as a READ of its own, or goes on in that before. */
TEST(frdma_ack_judge__answers_to_a_hole)
{
	missing_at(2);
	EXPECT_EQ(response(FRDMA_READ_RESP_FIRST, 2), FRDMA_ACK_LOST);
	kept_from(5);
	sendq_send_all(&q);
	EXPECT_EQ(response(FRDMA_READ_RESP_FIRST, 2), FRDMA_ACK_DATA);
	EXPECT_EQ(response(FRDMA_READ_RESP_MIDDLE, 2), FRDMA_ACK_DATA);
	EXPECT_EQ(response(FRDMA_READ_RESP_MIDDLE, 5), FRDMA_ACK_LOST);
	frdma_ack_commit(&q.rq, sendq_psn(3), SENDQ_NOW);
	EXPECT_EQ(response(FRDMA_READ_RESP_LAST, 4), FRDMA_ACK_DATA);
	frdma_ack_commit(&q.rq, sendq_psn(4), SENDQ_NOW);

	/* Behind it, those of the first time. */
	EXPECT_EQ(response(FRDMA_READ_RESP_MIDDLE, 5), FRDMA_ACK_DATA);
	frdma_ack_commit(&q.rq, sendq_psn(6), SENDQ_NOW);
	EXPECT_EQ(response(FRDMA_READ_RESP_LAST, 7), FRDMA_ACK_DATA);
	frdma_ack_commit(&q.rq, sendq_psn(7), SENDQ_NOW);
	EXPECT_EQ(q.rq.rd_out, 2);
}

/* The end of a piece is missing, and the beginning of the next: one after the other. */
TEST(frdma_resend_hole__up_to_the_end_of_a_piece)
{
	missing_at(6);
	EXPECT_EQ(kept_from(10), FRDMA_RECOVERY_BEGUN);
	expect_read(6, 6 * SENDQ_MTU, 2 * SENDQ_MTU, 2);
	frdma_ack_commit(&q.rq, sendq_psn(6), SENDQ_NOW);
	frdma_ack_commit(&q.rq, sendq_psn(7), SENDQ_NOW);
	EXPECT_EQ(q.rq.rd_out, 2);
	EXPECT_EQ(kept_from(10), FRDMA_RECOVERY_BEGUN);
	expect_read(8, 8 * SENDQ_MTU, 2 * SENDQ_MTU, 2);
}

/* That of an atomic is missing, and what acknowledges the SEND behind it is kept. */
TEST(frdma_resend_hole__of_an_atomic)
{
	missing_at(2 * LONG + 1);
	sendq_sent(&q, IB_UVERBS_WR_SEND, 1);
	EXPECT_EQ(kept_from(2 * LONG + 2), FRDMA_RECOVERY_BEGUN);
	expect_sent(FRDMA_FETCH_ADD, 2 * LONG + 1, 0, 0);
	EXPECT_EQ(q.rq.psn, q.rq.end_psn);
	EXPECT_EQ(q.rq.rd_out, 1);
}

/* A fence and the window hold back new requests only. */
TEST(frdma_req_judge__nothing_holds_back_what_asks_for_a_hole)
{
	sendq_init(&q);
	q.rq.read_grid = LONG;
	q.rq.rd_max = 3;
	sendq_post(&q, IB_UVERBS_WR_RDMA_READ, 2 * LONG * SENDQ_MTU)->wqe.flags =
		FRDMA_WQE_FENCE;
	expect_read(0, 0, LONG * SENDQ_MTU, LONG);
	frdma_req_wr(&q.rq, 0)->wqe.flags = 0;
	expect_read(LONG, LONG * SENDQ_MTU, LONG * SENDQ_MTU, LONG);
	frdma_req_wr(&q.rq, 0)->wqe.flags = FRDMA_WQE_FENCE;
	q.rq.cc.window = 1;
	EXPECT_EQ(kept_from(1), FRDMA_RECOVERY_BEGUN);
	expect_read(0, 0, 1 * SENDQ_MTU, 1);
	/* Nor does a small window make what was long fine. */
	EXPECT_EQ(q.rq.fine_psn, sendq_psn(0));
	EXPECT_EQ(q.rq.rd_out, 2);
}

/* What is behind the hole has left the network. */
TEST(frdma_req_judge__a_window_beyond_a_hole)
{
	sendq_init(&q);
	q.rq.read_grid = LONG;
	q.rq.rd_max = 16;
	q.rq.cc.window = LONG;
	sendq_post(&q, IB_UVERBS_WR_RDMA_READ, 4 * LONG * SENDQ_MTU);
	EXPECT_EQ(sendq_send_all(&q), 1);
	EXPECT_EQ(kept_from(1), FRDMA_RECOVERY_BEGUN);
	EXPECT_EQ(sendq_send_all(&q), 2);
	EXPECT_EQ(q.rq.end_psn, sendq_psn(2 * LONG));
	EXPECT_EQ(frdma_req_judge(&q.rq), FRDMA_REQ_WINDOW);
}

/* Late, but before it was asked for: there is nothing on its way. */
TEST(frdma_resend_acked__what_was_missing_has_come)
{
	missing_at(2);
	kept_from(5);
	frdma_ack_commit(&q.rq, sendq_psn(2), SENDQ_NOW);
	EXPECT_EQ(sendq_send_all(&q), 0);
	EXPECT(!frdma_resend_has_hole(&q.rq));
	EXPECT_EQ(q.rq.psn, q.rq.end_psn);
	EXPECT_EQ(kept_from(5), FRDMA_RECOVERY_BEGUN);
	expect_read(3, 3 * SENDQ_MTU, 2 * SENDQ_MTU, 2);
}

/* A packet of what was asked for is missing again, as one behind it shows. */
TEST(frdma_resend_hole__in_a_hole)
{
	missing_at(2);
	kept_from(6);
	sendq_send_all(&q);
	frdma_ack_commit(&q.rq, sendq_psn(2), SENDQ_NOW);
	EXPECT_EQ(kept_from(4), FRDMA_RECOVERY_BEGUN);
	EXPECT_EQ(kept_from(4), FRDMA_RECOVERY_RUNS);
	expect_read(3, 3 * SENDQ_MTU, 1 * SENDQ_MTU, 1);
}

/* All was sent again: what was kept before that says nothing of what is on its way. */
TEST(frdma_resend_hole__of_what_was_kept_before)
{
	missing_at(2);
	kept_from(5);
	sendq_send_all(&q);
	frdma_resend_all(&q.rq);
	sendq_send(&q);
	frdma_ack_commit(&q.rq, sendq_psn(2), SENDQ_NOW);
	EXPECT_EQ(frdma_resend_hole(&q.rq, sendq_psn(5)), FRDMA_RECOVERY_RUNS);
	EXPECT_EQ(q.rq.retry.retry_left, q.rq.retry.retry_cnt);
	EXPECT_EQ(q.rq.psn, sendq_psn(LONG));

	/* But it begins where what has come since ends. */
	frdma_resend_note_ahead(&q.rq, sendq_psn(6), 1);
	EXPECT_EQ(frdma_resend_hole(&q.rq, sendq_psn(5)), FRDMA_RECOVERY_BEGUN);
	expect_read(3, 3 * SENDQ_MTU, 2 * SENDQ_MTU, 2);
	EXPECT_EQ(q.rq.psn, sendq_psn(LONG));
}

/* Of what was asked for some is lost, and the answer to what was asked for later comes. */
static void lost_again(u8 late)
{
	missing_at(2);
	kept_from(5);
	sendq_send_all(&q);
	q.rq.resend.late = late;
	sendq_sent(&q, IB_UVERBS_WR_RDMA_READ, 4 * SENDQ_MTU);
}

TEST(frdma_resend_hole__the_end_of_its_answer_is_lost)
{
	u32 behind = 2 * LONG + 2;

	lost_again(0);
	/* None of it has come: that is a probe's, as what was asked for may be lost. */
	EXPECT_EQ(kept_from_to(5, behind), FRDMA_RECOVERY_RUNS);

	lost_again(0);
	frdma_ack_commit(&q.rq, sendq_psn(2), SENDQ_NOW);
	EXPECT_EQ(kept_from_to(5, behind - 1), FRDMA_RECOVERY_RUNS);
	EXPECT_EQ(kept_from_to(5, behind), FRDMA_RECOVERY_BEGUN);
	expect_read(3, 3 * SENDQ_MTU, 2 * SENDQ_MTU, 2);
	frdma_ack_commit(&q.rq, sendq_psn(3), SENDQ_NOW);
	EXPECT_EQ(kept_from_to(5, behind + 3), FRDMA_RECOVERY_RUNS);

	/* Answers that overtake others are waited for. */
	lost_again(3);
	frdma_ack_commit(&q.rq, sendq_psn(2), SENDQ_NOW);
	EXPECT_EQ(kept_from_to(5, behind + 1), FRDMA_RECOVERY_RUNS);
	EXPECT_EQ(kept_from_to(5, behind + 2), FRDMA_RECOVERY_BEGUN);
}

/* What had come before it was asked for was not asked for later. */
TEST(frdma_resend_hole__what_is_far_ahead_had_come_before)
{
	missing_at(2);
	frdma_resend_all(&q.rq);
	sendq_send(&q);
	frdma_ack_commit(&q.rq, sendq_psn(2), SENDQ_NOW);
	EXPECT_EQ(q.rq.psn, sendq_psn(LONG));
	EXPECT_EQ(kept_from_to(10, 12), FRDMA_RECOVERY_BEGUN);
	expect_read(3, 3 * SENDQ_MTU, 5 * SENDQ_MTU, 5);
	frdma_ack_commit(&q.rq, sendq_psn(3), SENDQ_NOW);
	EXPECT_EQ(kept_from_to(10, 12), FRDMA_RECOVERY_RUNS);
	EXPECT_EQ(kept_from_to(10, 13), FRDMA_RECOVERY_BEGUN);
}

/* One that is not kept shows it, too. */
TEST(frdma_resend_hole__there_was_no_room_for_what_shows_it)
{
	missing_at(2);
	frdma_resend_note_ahead(&q.rq, sendq_psn(4), 1);
	EXPECT_EQ(frdma_resend_hole(&q.rq, sendq_psn(6)), FRDMA_RECOVERY_BEGUN);
	expect_read(2, 2 * SENDQ_MTU, 4 * SENDQ_MTU, 4);
}

/* There was no room for one, or they have waited too long. */
TEST(frdma_resend_lacking__once_what_is_on_its_way_has_come)
{
	missing_at(2);
	EXPECT_EQ(frdma_resend_lacking(&q.rq), FRDMA_RECOVERY_RUNS);
	kept_from(3);
	sendq_send_all(&q);
	frdma_resend_let_go(&q.rq);
	EXPECT_EQ(frdma_resend_lacking(&q.rq), FRDMA_RECOVERY_RUNS);
	frdma_ack_commit(&q.rq, sendq_psn(2), SENDQ_NOW);
	EXPECT_EQ(frdma_resend_lacking(&q.rq), FRDMA_RECOVERY_BEGUN);
	EXPECT_EQ(q.rq.resend.round, 1);
	expect_read(3, 3 * SENDQ_MTU, 5 * SENDQ_MTU, 5);
	frdma_ack_commit(&q.rq, sendq_psn(3), SENDQ_NOW);
	EXPECT_EQ(frdma_resend_lacking(&q.rq), FRDMA_RECOVERY_RUNS);
	EXPECT_EQ(q.rq.resend.round, 1);
}

TEST(frdma_resend_lacking__all_was_sent_again_meanwhile)
{
	missing_at(2);
	kept_from(3);
	q.rq.resend.lacks = true;
	frdma_resend_all(&q.rq);
	sendq_send_all(&q);
	frdma_ack_commit(&q.rq, sendq_psn(2), SENDQ_NOW);
	EXPECT_EQ(frdma_resend_lacking(&q.rq), FRDMA_RECOVERY_RUNS);
	EXPECT_EQ(q.rq.resend.round, 1);
}

/* By which those were asked for that are let go later. */
TEST(frdma_resend_let_go__what_was_asked_for_since)
{
	missing_at(2);
	kept_from(3);
	frdma_resend_all(&q.rq);
	frdma_resend_let_go(&q.rq);
	EXPECT(!q.rq.resend.lacks);
	frdma_resend_note_ahead(&q.rq, sendq_psn(3), 1);
	frdma_resend_let_go(&q.rq);
	EXPECT(q.rq.resend.lacks);
}

TEST(frdma_resend_lacking__all_is_answered)
{
	missing_at(2 * LONG + 1);
	q.rq.resend.lacks = true;
	frdma_ack_commit(&q.rq, q.rq.una_psn, SENDQ_NOW);
	EXPECT_EQ(frdma_resend_lacking(&q.rq), FRDMA_RECOVERY_RUNS);
	EXPECT(!q.rq.resend.lacks);
}

TEST(frdma_resend_lacking__without_retries)
{
	missing_at(2);
	q.rq.resend.lacks = true;
	q.rq.retry.retry_left = 0;
	EXPECT_EQ(frdma_resend_lacking(&q.rq), FRDMA_RECOVERY_EXHAUSTED);
}

TEST(frdma_resend_hole__has_come_meanwhile)
{
	missing_at(5);
	EXPECT_EQ(kept_from(5), FRDMA_RECOVERY_RUNS);
	EXPECT_EQ(kept_from(3), FRDMA_RECOVERY_RUNS);
}

TEST(frdma_resend_hole__without_retries)
{
	missing_at(2);
	q.rq.retry.retry_left = 0;
	EXPECT_EQ(kept_from(5), FRDMA_RECOVERY_EXHAUSTED);
}

/* Nothing is heard of it: it is asked for once more, and then all of it. */
TEST(frdma_resend_probe__asks_for_a_hole_again)
{
	missing_at(2);
	q.rq.retry.rtt.smooth_ns = 100;
	kept_from(5);
	sendq_send_all(&q);
	q.rq.retry.probes = 2;
	EXPECT(frdma_resend_probe(&q.rq));
	EXPECT(!q.rq.retry.rtt.asked);
	expect_read(2, 2 * SENDQ_MTU, 3 * SENDQ_MTU, 3);
	q.rq.retry.probes = 1;
	EXPECT(frdma_resend_probe(&q.rq));
	EXPECT(q.rq.retry.rtt.asked);
	expect_read(2, 2 * SENDQ_MTU, 3 * SENDQ_MTU, 3);
	EXPECT_EQ(q.rq.psn, q.rq.end_psn);

	frdma_resend_all(&q.rq);
	EXPECT(!frdma_resend_has_hole(&q.rq));
	q.rq.retry.probes = 1;
	EXPECT(!frdma_resend_probe(&q.rq));
	expect_read(2, 2 * SENDQ_MTU, 6 * SENDQ_MTU, 6);
}

/* They come one by one: that says nothing of whether a peer keeps requests. */
TEST(frdma_resend_acked__a_hole_says_nothing_of_the_peer)
{
	missing_at(2);
	q.rq.resend.keeps = true;
	q.rq.cc.window = 64;
	kept_from(3);
	sendq_send_all(&q);
	frdma_ack_commit(&q.rq, sendq_psn(2), SENDQ_NOW + 100);
	EXPECT(q.rq.resend.keeps);
	EXPECT_EQ(q.rq.psn, q.rq.end_psn);
}

/* A hole of two packets, so far behind the last one: what is left of the window. */
static u32 window_behind_hole(u32 gap)
{
	missing_at(2);
	q.rq.resend.hole_psn = frdma_psn_add(sendq_psn(2), -gap);
	q.rq.cc.max = 1024;
	q.rq.cc.threshold = 320;
	q.rq.cc.window = 320;
	kept_from(4);
	sendq_send_all(&q);
	frdma_ack_commit(&q.rq, sendq_psn(2), SENDQ_NOW + 100);
	frdma_ack_commit(&q.rq, sendq_psn(3), SENDQ_NOW + 100);
	return q.rq.cc.window;
}

/* An eighth of a window. */
TEST(frdma_resend_learn__window_where_holes_are_close)
{
	EXPECT_EQ(window_behind_hole(39), 310);
	EXPECT_EQ(window_behind_hole(40), 320);
}

/* It comes by itself, too soon for an answer. */
static void is_late(void)
{
	missing_at(2);
	q.rq.retry.rtt.best_ns = 1000;
	q.rq.retry.rtt.smooth_ns = 1000;
	kept_from(3);
	sendq_send_all(&q);
	frdma_ack_commit(&q.rq, sendq_psn(2), SENDQ_NOW + 100);
}

TEST(frdma_resend_hole__not_at_once_where_answers_are_late)
{
	is_late();
	EXPECT_EQ(q.rq.resend.late, 2);
	EXPECT_EQ(kept_from(4), FRDMA_RECOVERY_RUNS);
	EXPECT_EQ(kept_from_to(4, 5), FRDMA_RECOVERY_RUNS);
	EXPECT_EQ(sendq_send_all(&q), 0);
	EXPECT(frdma_resend_has_hole(&q.rq));
	EXPECT_EQ(kept_from_to(4, 6), FRDMA_RECOVERY_BEGUN);
	expect_read(3, 3 * SENDQ_MTU, 1 * SENDQ_MTU, 1);

	/* Only now and then: less and less. */
	frdma_ack_commit(&q.rq, sendq_psn(3), SENDQ_NOW + 1000);
	EXPECT_EQ(q.rq.resend.late, 1);
	q.rq.resend.late = 0;
	kept_from(5);
	sendq_send_all(&q);
	frdma_ack_commit(&q.rq, sendq_psn(4), SENDQ_NOW + 1000);
	EXPECT_EQ(q.rq.resend.late, 0);
}

/* It comes while it is waited for: that says nothing. */
TEST(frdma_resend_learn__what_was_not_asked_for)
{
	is_late();
	kept_from(4);
	frdma_ack_commit(&q.rq, sendq_psn(3), SENDQ_NOW + 100);
	EXPECT_EQ(q.rq.resend.late, 2);
	EXPECT(!frdma_resend_has_hole(&q.rq));
}

/* Nothing else comes. */
TEST(frdma_resend_probe__asks_for_what_was_waited_for)
{
	is_late();
	kept_from(4);
	q.rq.retry.probes = 1;
	EXPECT(frdma_resend_probe(&q.rq));
	expect_read(3, 3 * SENDQ_MTU, 1 * SENDQ_MTU, 1);
	EXPECT_EQ(kept_from(4), FRDMA_RECOVERY_RUNS);
}

TEST(frdma_ack_is_ahead__of_what_is_missing)
{
	struct frdma_hdr hdr = { .psn = sendq_psn(2) };

	missing_at(2);
	EXPECT(!frdma_ack_is_ahead(&q.rq, &hdr));
	hdr.psn = sendq_psn(3);
	EXPECT(frdma_ack_is_ahead(&q.rq, &hdr));
}

/* What asks for it was all that this end had no room for. */
static void refused_at(u32 nth, bool sent_behind)
{
	missing_at(2);
	kept_from(4);
	sendq_send_all(&q);
	if (sent_behind)
		frdma_ack_commit(&q.rq, sendq_psn(2), SENDQ_NOW);
	frdma_resend_refuse(&q.rq, sendq_psn(nth), 0);
	frdma_resend_refused(&q.rq);
}

TEST(frdma_resend_refused__what_asks_for_a_hole)
{
	refused_at(2, false);
	expect_read(2, 2 * SENDQ_MTU, 2 * SENDQ_MTU, 2);
	EXPECT_EQ(q.rq.psn, q.rq.end_psn);
	EXPECT_EQ(q.rq.resend.round, 0);

	/* Something else: all is. */
	refused_at(2 * LONG, false);
	EXPECT_EQ(q.rq.resend.round, 1);
	/* What was missing has come, or some of it. */
	refused_at(2, true);
	EXPECT_EQ(q.rq.resend.round, 1);

	/* Nor was a hole that is only waited for asked for. */
	is_late();
	kept_from(4);
	q.rq.resend.hole_psn = sendq_psn(3);
	frdma_resend_refuse(&q.rq, sendq_psn(3), 0);
	frdma_resend_refused(&q.rq);
	EXPECT_EQ(q.rq.resend.round, 1);
}

/* A part of a hole is missing, and the end of the whole has come before. */
TEST(frdma_ack_judge__end_of_a_hole_before)
{
	missing_at(2);
	kept_from(5);
	sendq_send_all(&q);
	frdma_ack_commit(&q.rq, sendq_psn(2), SENDQ_NOW);
	EXPECT_EQ(kept_from(4), FRDMA_RECOVERY_BEGUN);
	sendq_send_all(&q);
	frdma_ack_commit(&q.rq, sendq_psn(3), SENDQ_NOW);
	EXPECT_EQ(response(FRDMA_READ_RESP_LAST, 4), FRDMA_ACK_DATA);
}

static bool is_old(u8 opcode, u8 syndrome, u32 round)
{
	struct frdma_hdr hdr = { .opcode = opcode, .syndrome = syndrome };
	struct frdma_kept kept = { .round = round };

	return frdma_ack_is_old(&q.rq, &kept, &hdr);
}

/* Not what was executed, nor what the peer will never do. */
TEST(frdma_ack_is_old__naks_of_what_was_sent_again)
{
	missing_at(2);
	frdma_resend_all(&q.rq);
	EXPECT(is_old(FRDMA_ACKNOWLEDGE, FRDMA_NAK_PSN, 0));
	EXPECT(is_old(FRDMA_ACKNOWLEDGE, FRDMA_AETH_RNR | 1, 0));
	EXPECT(!is_old(FRDMA_ACKNOWLEDGE, FRDMA_NAK_PSN, 1));
	EXPECT(!is_old(FRDMA_ACKNOWLEDGE, FRDMA_NAK_ACCESS, 0));
	EXPECT(!is_old(FRDMA_ACKNOWLEDGE, FRDMA_AETH_NO_CREDITS, 0));
	EXPECT(!is_old(FRDMA_READ_RESP_MIDDLE, 0, 0));
}
