// SPDX-License-Identifier: GPL-2.0
/* Runs of a READ's response, and the pieces that they are of. */
#include "ack.h"
#include "rnd.h"
#include "sendq.h"
#include "tap.h"

static struct sendq q;

/* A full packet from within a response. */
static struct frdma_hdr middle(u32 nth)
{
	return (struct frdma_hdr) {
		.opcode = FRDMA_READ_RESP_MIDDLE, .psn = sendq_psn(nth),
		.syndrome = FRDMA_AETH_NO_CREDITS, .payload_len = SENDQ_MTU,
	};
}

/* READs of which some was asked for, in pieces or again, and some has come. */
static void random_reads(struct rnd *rnd)
{
	u32 i, nr = 1 + rnd_below(rnd, 4), answered;

	sendq_init(&q);
	q.rq.read_grid = 1 + rnd_below(rnd, 32);
	q.rq.resend.parts = rnd_below(rnd, 2);
	q.rq.cc.window = 1 + rnd_below(rnd, SENDQ_WINDOW);
	for (i = 0; i < nr; i++)
		sendq_post(&q, rnd_below(rnd, 4) ? IB_UVERBS_WR_RDMA_READ :
						   IB_UVERBS_WR_RDMA_WRITE,
			   1 + rnd_below(rnd, 40 * SENDQ_MTU));
	sendq_send_all(&q);
	if (!rnd_below(rnd, 3)) {
		frdma_resend_all(&q.rq);
		q.rq.cc.window = 1 + rnd_below(rnd, SENDQ_WINDOW);
		sendq_send_all(&q);
	}
	answered = rnd_below(rnd, (q.rq.end_psn - q.rq.una_psn) &
				  FRDMA_PSN_MASK);
	for (i = 0; i < answered; i++)
		frdma_ack_commit(&q.rq, q.rq.una_psn, SENDQ_NOW);
	if (!rnd_below(rnd, 3))
		frdma_resend_all(&q.rq);
}

/* But for what a path or a patience learns from each answer. */
static void expect_same_window(const struct frdma_req *a,
			       const struct frdma_req *b)
{
	EXPECT_EQ(a->una_psn, b->una_psn);
	EXPECT_EQ(a->psn, b->psn);
	EXPECT_EQ(a->end_psn, b->end_psn);
	EXPECT_EQ(a->pkt, b->pkt);
	EXPECT_EQ(a->wr_next, b->wr_next);
	EXPECT_EQ(a->restart_psn, b->restart_psn);
	EXPECT_EQ(a->fine_psn, b->fine_psn);
	EXPECT_EQ(a->resend.recovering, b->resend.recovering);
	EXPECT_EQ(a->rd_out, b->rd_out);
	EXPECT_EQ(a->rd_old, b->rd_old);
	EXPECT_EQ(a->retry.wait, b->retry.wait);
	EXPECT_EQ(a->retry.retry_left, b->retry.retry_left);
}

/* Returns how many packets of the run were left for the next one. */
static u32 expect_run(struct frdma_hdr hdr, u32 nr)
{
	u32 i, taken = frdma_ack_count_run(&q.rq, &hdr, nr);
	struct frdma_hdr next = hdr;
	struct frdma_req one_by_one = q.rq;

	EXPECT(1 <= taken && taken <= nr);
	for (i = 0; i < taken; i++) {
		struct frdma_ack_data data, to;

		EXPECT_EQ(frdma_ack_judge(&one_by_one, &next), FRDMA_ACK_DATA);
		to = frdma_ack_locate(&q.rq, hdr.psn);
		data = frdma_ack_locate(&one_by_one, next.psn);
		EXPECT(data.wr == to.wr);
		EXPECT_EQ(data.off, to.off + i * SENDQ_MTU);
		frdma_ack_commit(&one_by_one, next.psn, SENDQ_NOW);
		frdma_hdr_skip(&next, 1);
	}
	frdma_ack_commit_run(&q.rq, hdr.psn, taken, SENDQ_NOW);
	expect_same_window(&q.rq, &one_by_one);
	return nr - taken;
}

TEST(frdma_ack_count_run__as_one_by_one)
{
	struct rnd rnd = { .state = 1 };
	u32 i, most = 0;

	for (i = 0; i < 100000; i++) {
		struct frdma_hdr hdr = middle(0);
		u32 left, nr = 1 + rnd_below(&rnd, 40);

		random_reads(&rnd);
		hdr.psn = q.rq.una_psn;
		if (frdma_ack_judge(&q.rq, &hdr) != FRDMA_ACK_DATA)
			continue;
		left = expect_run(hdr, nr);
		most = max(most, nr - left);

		/* A run goes on behind what ends a fine piece, and only there. */
		hdr.psn = q.rq.una_psn;
		if (left && frdma_ack_judge(&q.rq, &hdr) == FRDMA_ACK_DATA)
			EXPECT(frdma_psn_diff(hdr.psn, q.rq.fine_psn) <= 3);
	}
	EXPECT(most > 25);
}

TEST(frdma_ack_count_run__up_to_the_end_of_a_response)
{
	struct frdma_hdr hdr;

	sendq_init(&q);
	q.rq.read_grid = 8;
	sendq_sent(&q, IB_UVERBS_WR_RDMA_READ, 20 * SENDQ_MTU);
	hdr = middle(1);
	frdma_ack_commit(&q.rq, sendq_psn(0), SENDQ_NOW);
	EXPECT_EQ(frdma_ack_count_run(&q.rq, &hdr, 4), 4);
	EXPECT_EQ(frdma_ack_count_run(&q.rq, &hdr, 9), 6);
	frdma_ack_commit(&q.rq, sendq_psn(16), SENDQ_NOW);
	hdr.psn = sendq_psn(17);
	EXPECT_EQ(frdma_ack_count_run(&q.rq, &hdr, 9), 2);
}

/* A long piece of a READ is under way when the window gets small. */
TEST(frdma_ack_commit__long_piece_stays_long_in_a_small_window)
{
	struct frdma_hdr hdr;
	u32 n;

	sendq_init(&q);
	q.rq.read_grid = 32;
	q.rq.rd_max = 2;
	sendq_post(&q, IB_UVERBS_WR_RDMA_READ, 96 * SENDQ_MTU);
	EXPECT_EQ(sendq_send(&q).span, 32);
	q.rq.cc.window = 31;
	EXPECT_EQ(sendq_send(&q).span, 0);
	q.rq.cc.window = 40;
	EXPECT_EQ(sendq_send(&q).span, 32);
	q.rq.cc.window = 31;

	/* All but the last of the first piece: none is answered. */
	hdr = middle(1);
	for (n = 0; n < 31; n++) {
		hdr.psn = sendq_psn(n);
		frdma_ack_commit(&q.rq, hdr.psn, SENDQ_NOW);
		EXPECT_EQ(q.rq.rd_out, 2);
	}
	frdma_ack_commit(&q.rq, sendq_psn(31), SENDQ_NOW);
	EXPECT_EQ(q.rq.rd_out, 1);

	/* Behind a long piece, another; behind none, those that the window wants. */
	q.rq.cc.window = 31;
	frdma_ack_commit(&q.rq, sendq_psn(40), SENDQ_NOW);
	q.rq.cc.window = 31;
	EXPECT_EQ(sendq_send(&q).span, 32);
	EXPECT_EQ(q.rq.rd_out, 2);
	for (n = 41; n < 63; n++) {
		frdma_ack_commit(&q.rq, sendq_psn(n), SENDQ_NOW);
		EXPECT_EQ(q.rq.rd_out, 2);
	}
}
