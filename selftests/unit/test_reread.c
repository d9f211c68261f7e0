// SPDX-License-Identifier: GPL-2.0
/* READs that are asked for again, and in what pieces. */
#include "ack.h"
#include "sent.h"

TEST(frdma_resend_all__reads_in_fine_pieces_up_to_what_is_new)
{
	sendq_init(&q);
	q.rq.resend.parts = true;
	q.rq.read_grid = 2 * FRDMA_READ_STEP;
	q.rq.rd_max = 2;
	sendq_post(&q, IB_UVERBS_WR_RDMA_READ, 32 * 256);
	EXPECT_EQ(sendq_send_all(&q), 2);

	q.rq.una_psn = sendq_psn(1);
	q.rq.rd_max = 16;
	frdma_resend_all(&q.rq);
	expect_read(1, 1 * 256, 3 * 256, 3);
	expect_read(4, 4 * 256, 4 * 256, 4);
	expect_read(8, 8 * 256, 4 * 256, 4);
	expect_read(12, 12 * 256, 4 * 256, 4);
	expect_read(16, 16 * 256, 8 * 256, 8);
}

TEST(frdma_resend_all__inside_a_read_asks_for_the_rest_of_the_piece)
{
	sendq_init(&q);
	sendq_post(&q, IB_UVERBS_WR_RDMA_READ, 7 * 256);
	sendq_send_all(&q);
	q.rq.una_psn = sendq_psn(1);
	frdma_resend_all(&q.rq);
	expect_read(1, 256, 768, 3);
	expect_read(4, 1024, 768, 3);
}

/*
 * rdma_rxe is silent to a part of a READ that is before one that was asked for later,
 * so that each has to reach to the end, or to be answered before the next.
 */
TEST(frdma_resend_all__one_part_of_a_read_while_others_are_not_known)
{
	sendq_init(&q);
	q.rq.read_grid = 2 * FRDMA_READ_STEP;
	sendq_post(&q, IB_UVERBS_WR_RDMA_READ, 8 * 256);
	expect_read(0, 0, 8 * 256, 8);
	q.rq.una_psn = sendq_psn(1);
	q.rq.cc.window = 1;
	frdma_resend_all(&q.rq);
	/* After silence little by little, but not before the last is answered. */
	expect_read(1, 256, 3 * 256, 3);
	q.rq.cc.window = FRDMA_READ_STEP;
	EXPECT_EQ(frdma_req_judge(&q.rq), FRDMA_REQ_READS);
	q.rq.una_psn = sendq_psn(4);
	q.rq.rd_out = 0;
	expect_read(4, 4 * 256, 4 * 256, 4);
	EXPECT(!frdma_req_is_fine(&q.rq, sendq_psn(4)));
	q.rq.una_psn = sendq_psn(6);
	frdma_resend_all(&q.rq);
	expect_read(6, 6 * 256, 2 * 256, 2);

	/* What is new may be asked for as the window has it. */
	q.rq.una_psn = sendq_psn(8);
	q.rq.rd_out = 0;
	sendq_post(&q, IB_UVERBS_WR_RDMA_READ, 8 * 256);
	expect_read(8, 0, 4 * 256, 4);
	EXPECT_EQ(q.rq.fine_psn, sendq_psn(12));
}

/* A second time through the same packets is finer already. */
TEST(frdma_req_sent__what_was_asked_for_in_fine_pieces_stays_so)
{
	sendq_init(&q);
	q.rq.resend.parts = true;
	q.rq.read_grid = 8;
	q.rq.cc.window = 7;
	sendq_post(&q, IB_UVERBS_WR_RDMA_READ, 8 * SENDQ_MTU);
	expect_read(0, 0, 4 * SENDQ_MTU, 4);
	EXPECT_EQ(q.rq.fine_psn, sendq_psn(4));
	expect_read(4, 4 * SENDQ_MTU, 4 * SENDQ_MTU, 4);
	EXPECT_EQ(q.rq.fine_psn, sendq_psn(8));
	frdma_resend_all(&q.rq);
	expect_read(0, 0, 4 * SENDQ_MTU, 4);
	EXPECT_EQ(q.rq.fine_psn, sendq_psn(8));
	expect_read(4, 4 * SENDQ_MTU, 4 * SENDQ_MTU, 4);

	/* One packet is a piece of its own. */
	q.rq.una_psn = sendq_psn(8);
	q.rq.rd_out = 0;
	sendq_post(&q, IB_UVERBS_WR_RDMA_READ, 1);
	expect_read(8, 0, 1, 1);
	EXPECT_EQ(q.rq.fine_psn, sendq_psn(9));
}

/*
 * Two coarse pieces are on their way where the peer keeps four. Four fine
 * parts of the first, and then the second one, late, would be five.
 */
TEST(frdma_req_judge__finer_pieces_leave_room_for_what_is_late)
{
	sendq_init(&q);
	q.rq.resend.parts = true;
	q.rq.rd_max = 4;
	q.rq.read_grid = 16;
	sendq_post(&q, IB_UVERBS_WR_RDMA_READ, 15 * SENDQ_MTU);
	sendq_post(&q, IB_UVERBS_WR_RDMA_READ, 1);
	expect_read(0, 0, 15 * SENDQ_MTU, 15);
	expect_read(15, 0, 1, 1);

	frdma_resend_all(&q.rq);
	EXPECT_EQ(sendq_send_all(&q), 3);
	EXPECT_EQ(frdma_req_judge(&q.rq), FRDMA_REQ_READS);
	/* Nor after another loss, before the end was reached. */
	frdma_resend_all(&q.rq);
	expect_read(0, 0, 4 * SENDQ_MTU, 4);
	expect_read(4, 4 * SENDQ_MTU, 4 * SENDQ_MTU, 4);
	expect_read(8, 8 * SENDQ_MTU, 4 * SENDQ_MTU, 4);
	EXPECT_EQ(frdma_req_judge(&q.rq), FRDMA_REQ_READS);

	/* What is answered need not be remembered. */
	q.rq.una_psn = sendq_psn(12);
	q.rq.rd_out = 0;
	expect_read(12, 12 * SENDQ_MTU, 3 * SENDQ_MTU, 3);
	expect_read(15, 0, 1, 1);

	/* What is new is not held back by what is old. */
	sendq_post(&q, IB_UVERBS_WR_RDMA_READ, 1);
	expect_read(16, 0, 1, 1);
}

/* Where the peer keeps just those, parts of them would come one by one. */
TEST(frdma_resend_all__long_pieces_stay_so_where_they_leave_no_room)
{
	sendq_init(&q);
	q.rq.resend.parts = true;
	q.rq.rd_max = 3;
	q.rq.read_grid = 8;
	sendq_post(&q, IB_UVERBS_WR_RDMA_READ, 16 * SENDQ_MTU);
	EXPECT_EQ(sendq_send_all(&q), 2);
	q.rq.una_psn = sendq_psn(1);
	frdma_resend_all(&q.rq);
	expect_read(1, 1 * SENDQ_MTU, 7 * SENDQ_MTU, 7);
	expect_read(8, 8 * SENDQ_MTU, 8 * SENDQ_MTU, 8);
}

/* Nor do those that were not sent yet count. */
TEST(frdma_resend_all__reads_that_are_fine_are_not_held_back)
{
	sendq_init(&q);
	q.rq.resend.parts = true;
	q.rq.read_grid = 64;
	q.rq.cc.window = 32;
	sendq_post(&q, IB_UVERBS_WR_RDMA_READ, 16 * SENDQ_MTU);
	sendq_post(&q, IB_UVERBS_WR_SEND, 1);
	sendq_post(&q, IB_UVERBS_WR_RDMA_READ, 16 * SENDQ_MTU);
	EXPECT_EQ(sendq_send_all(&q), 5);
	frdma_resend_all(&q.rq);
	EXPECT_EQ(q.rq.rd_old, 0);
	EXPECT_EQ(sendq_send_all(&q), 5);
}

/* A READ of one fine piece comes again as it was: nothing is held back. */
TEST(frdma_req_judge__short_reads_come_again_all_at_once)
{
	sendq_init(&q);
	q.rq.resend.parts = true;
	q.rq.rd_max = 2;
	q.rq.read_grid = 8;
	sendq_post(&q, IB_UVERBS_WR_SEND, 1);
	sendq_post(&q, IB_UVERBS_WR_RDMA_READ, 4 * SENDQ_MTU);
	sendq_post(&q, IB_UVERBS_WR_RDMA_READ, 1);
	sendq_send_all(&q);
	frdma_resend_all(&q.rq);
	expect_sent(FRDMA_SEND_ONLY, 0, 0, 1);
	expect_read(1, 0, 4 * SENDQ_MTU, 4);
	expect_read(5, 0, 1, 1);
}

/* As many as the peer keeps, those that are late among them, and no fewer. */
TEST(frdma_req_judge__finer_pieces_use_the_room_that_there_is)
{
	sendq_init(&q);
	q.rq.resend.parts = true;
	q.rq.rd_max = 3;
	q.rq.read_grid = 8;
	sendq_post(&q, IB_UVERBS_WR_RDMA_READ, 8 * SENDQ_MTU);
	sendq_send_all(&q);
	frdma_resend_all(&q.rq);
	EXPECT_EQ(q.rq.rd_old, 1);
	expect_read(0, 0, 4 * SENDQ_MTU, 4);
	expect_read(4, 4 * SENDQ_MTU, 4 * SENDQ_MTU, 4);
	EXPECT_EQ(q.rq.rd_out, 2);

	/* All was asked for again, and what is late now would be those pieces. */
	frdma_resend_all(&q.rq);
	EXPECT_EQ(q.rq.rd_old, 0);
}

/* One that does not, too, gets all pieces again at once: they take the same places. */
TEST(frdma_req_judge__pieces_come_again_as_they_were)
{
	sendq_init(&q);
	q.rq.rd_max = 3;
	q.rq.read_grid = 8;
	sendq_post(&q, IB_UVERBS_WR_RDMA_READ, 24 * SENDQ_MTU);
	sendq_send_all(&q);
	frdma_resend_all(&q.rq);
	expect_read(0, 0, 8 * SENDQ_MTU, 8);
	expect_read(8, 8 * SENDQ_MTU, 8 * SENDQ_MTU, 8);
	expect_read(16, 16 * SENDQ_MTU, 8 * SENDQ_MTU, 8);

	/* Fine ones, of a small window, likewise. */
	sendq_init(&q);
	q.rq.rd_max = 3;
	q.rq.read_grid = 16;
	q.rq.cc.window = 15;
	sendq_post(&q, IB_UVERBS_WR_RDMA_READ, 12 * SENDQ_MTU);
	EXPECT_EQ(sendq_send_all(&q), 3);
	frdma_resend_all(&q.rq);
	EXPECT_EQ(q.rq.rd_old, 0);
	EXPECT_EQ(sendq_send_all(&q), 3);
}

/* That the peer knows parts is learnt while long pieces are asked for again. */
TEST(frdma_req_judge__long_pieces_stay_so_and_leave_room)
{
	sendq_init(&q);
	q.rq.rd_max = 3;
	q.rq.read_grid = 8;
	sendq_post(&q, IB_UVERBS_WR_RDMA_READ, 24 * SENDQ_MTU);
	sendq_send_all(&q);
	EXPECT_EQ(q.rq.rd_out, 3);
	q.rq.una_psn = sendq_psn(2);
	frdma_resend_all(&q.rq);
	expect_read(2, 2 * SENDQ_MTU, 6 * SENDQ_MTU, 6);

	q.rq.resend.parts = true;
	q.rq.cc.window = FRDMA_READ_STEP;
	q.rq.una_psn = sendq_psn(8);
	q.rq.rd_out = 0;
	expect_read(8, 8 * SENDQ_MTU, 8 * SENDQ_MTU, 8);
	EXPECT_EQ(q.rq.rd_old, 3);

	/* Three are late: parts would have to come one at a time. */
	q.rq.una_psn = sendq_psn(9);
	q.rq.cc.window = SENDQ_WINDOW;
	frdma_resend_all(&q.rq);
	expect_read(9, 9 * SENDQ_MTU, 7 * SENDQ_MTU, 7);
	expect_read(16, 16 * SENDQ_MTU, 8 * SENDQ_MTU, 8);
}

TEST(frdma_req_judge__finer_pieces_fill_that_room)
{
	sendq_init(&q);
	q.rq.resend.parts = true;
	q.rq.rd_max = 2;
	q.rq.read_grid = 8;
	sendq_post(&q, IB_UVERBS_WR_RDMA_READ, 8 * SENDQ_MTU);
	sendq_send_all(&q);
	frdma_resend_all(&q.rq);
	expect_read(0, 0, 4 * SENDQ_MTU, 4);
	/* One late, one out: the peer keeps two. */
	expect_read(4, 4 * SENDQ_MTU, 4 * SENDQ_MTU, 4);
}

static bool knows_parts_after(u8 opcode, u32 nth)
{
	struct frdma_hdr hdr = {
		.opcode = opcode, .psn = sendq_psn(nth),
		.syndrome = FRDMA_AETH_NO_CREDITS,
	};

	frdma_ack_note(&q.rq, &hdr);
	return q.rq.resend.parts;
}

/* What begins where a piece may is perhaps the answer to what was asked for first. */
TEST(frdma_ack_note__answers_that_begin_within_a_piece)
{
	sendq_init(&q);
	q.rq.read_grid = 3 * FRDMA_READ_STEP;
	sendq_sent(&q, IB_UVERBS_WR_RDMA_READ, 6 * FRDMA_READ_STEP * SENDQ_MTU);
	EXPECT(!knows_parts_after(FRDMA_READ_RESP_FIRST, 0));
	EXPECT(!knows_parts_after(FRDMA_READ_RESP_FIRST, FRDMA_READ_STEP));
	EXPECT(!knows_parts_after(FRDMA_READ_RESP_FIRST, q.rq.read_grid));
	EXPECT(!knows_parts_after(FRDMA_READ_RESP_MIDDLE, 2));
	EXPECT(!knows_parts_after(FRDMA_READ_RESP_LAST, 2 * q.rq.read_grid - 1));
	EXPECT(knows_parts_after(FRDMA_READ_RESP_FIRST, 2));
	EXPECT(knows_parts_after(FRDMA_READ_RESP_FIRST, 0));
	frdma_resend_init(&q.rq.resend, SENDQ_PSN);
	EXPECT(knows_parts_after(FRDMA_READ_RESP_ONLY, 2 * q.rq.read_grid - 1));
}

/* How often answers have to be waited for until all that was sent is asked for again. */
static u32 rounds(void)
{
	u32 end_psn = q.rq.end_psn, n = 0, to;

	while (frdma_psn_diff(end_psn, q.rq.psn) > 0 && n < 100) {
		while (frdma_psn_diff(end_psn, q.rq.psn) > 0 && sendq_send(&q).nr)
			;
		n++;
		for (to = q.rq.psn; q.rq.una_psn != to;)
			frdma_ack_commit(&q.rq, q.rq.una_psn, SENDQ_NOW);
	}
	return n;
}

static void send_long_reads(u32 rd_max, u32 window, u32 len)
{
	sendq_init(&q);
	q.rq.resend.parts = true;
	q.rq.rd_max = rd_max;
	q.rq.read_grid = 64;
	q.rq.cc.max = 1024;
	q.rq.cc.window = window;
	sendq_post(&q, IB_UVERBS_WR_RDMA_READ, len);
	sendq_send_all(&q);
}

/* What was not sent of it is not long. */
TEST(frdma_resend_all__fine_pieces_of_a_long_read)
{
	send_long_reads(16, 60, 1024 * SENDQ_MTU);
	EXPECT_EQ(q.rq.fine_psn, q.rq.end_psn);
	frdma_resend_all(&q.rq);
	EXPECT_EQ(q.rq.rd_old, 0);
	EXPECT_EQ(rounds(), 1);
}

/* Of two long pieces, and again while their parts are asked for. */
TEST(frdma_resend_all__again_while_parts_are_asked_for)
{
	send_long_reads(16, 128, 1024 * SENDQ_MTU);
	EXPECT_EQ(q.rq.rd_out, 2);
	frdma_resend_all(&q.rq);
	sendq_send_all(&q);
	frdma_resend_all(&q.rq);
	EXPECT_EQ(q.rq.rd_old, 2);
	EXPECT_EQ(rounds(), 3);
}

/* The window has grown meanwhile. All comes again as it was, at once. */
TEST(frdma_resend_all__fine_pieces_and_a_long_one)
{
	send_long_reads(16, 60, 60 * SENDQ_MTU);
	q.rq.cc.window = 128;
	sendq_post(&q, IB_UVERBS_WR_RDMA_READ, 64 * SENDQ_MTU);
	sendq_send_all(&q);
	EXPECT_EQ(q.rq.rd_out, 16);
	frdma_resend_all(&q.rq);
	EXPECT_EQ(rounds(), 1);
}

/* A message of 2 GiB is half of the circle, at its beginning and at its end. */
TEST(frdma_resend_all__long_pieces_of_the_longest_read)
{
	send_long_reads(4, 256, 1U << 31);
	EXPECT_EQ(q.rq.rd_out, 4);
	frdma_resend_all(&q.rq);
	EXPECT_EQ(q.rq.rd_old, 4);

	send_long_reads(4, 256, 1U << 31);
	while (q.rq.pkt) {
		if (q.rq.pkt <= (1U << 23) - 192) {
			q.rq.una_psn = q.rq.psn;
			q.rq.fine_psn = q.rq.psn;
			q.rq.rd_out = 0;
		}
		sendq_send(&q);
	}
	EXPECT_EQ(q.rq.rd_out, 3);
	frdma_resend_all(&q.rq);
	EXPECT_EQ(q.rq.rd_old, 3);
}
