// SPDX-License-Identifier: GPL-2.0
#include "ack.h"
#include "rnd.h"
#include "sent.h"

/* Packet by packet, the engine would have done the same. */
static void expect_run(const struct frdma_req_pkt *run, u32 max)
{
	struct frdma_req one = q.rq;
	bool repeats = frdma_req_repeats(&one);
	struct frdma_req_pkt pkt, nth;
	u32 n;

	for (n = 0; n < run->nr; n++) {
		EXPECT_EQ(frdma_req_judge(&one), FRDMA_REQ_SEND);
		EXPECT_EQ(frdma_req_repeats(&one), repeats);
		frdma_req_plan(&one, &pkt);
		nth = frdma_req_run_nth(run, n);
		EXPECT(is_same_packet(&nth, &pkt));
		EXPECT_EQ(nth.nr, 1);
		EXPECT(n + 1 == run->nr || !pkt.hdr.ack_req);
		frdma_req_sent(&one, &pkt);
	}

	/* It ends where it must. */
	if (run->nr < max && frdma_req_judge(&one) == FRDMA_REQ_SEND) {
		frdma_req_plan(&one, &nth);
		EXPECT(nth.hdr.opcode != pkt.hdr.opcode || pkt.hdr.ack_req ||
		       frdma_op(pkt.hdr.opcode)->ends ||
		       frdma_req_repeats(&one) != repeats ||
		       run->nr == one.cc.window);
	}
	EXPECT(run->nr && run->nr <= max);
	frdma_req_sent(&q.rq, run);
	EXPECT(!memcmp(&q.rq, &one, sizeof(one)));
}

/* Send a run, which must be possible; returns how long it was. */
static u32 send_run(u32 max)
{
	struct frdma_req_pkt run;

	frdma_req_plan(&q.rq, &run);
	frdma_req_plan_run(&q.rq, &run, max);
	expect_run(&run, max);
	return run.nr;
}

TEST(frdma_req_plan_run__between_the_first_and_the_last)
{
	static const u8 transports[] = { FRDMA_RC, FRDMA_UC, FRDMA_XRC };
	u32 i, npkts;

	for (i = 0; i < ARRAY_SIZE(transports); i++) {
		for (npkts = 1; npkts < SENDQ_WINDOW / 4; npkts++) {
			sendq_init(&q);
			q.rq.transport = transports[i];
			sendq_post(&q, IB_UVERBS_WR_RDMA_WRITE,
				   npkts * SENDQ_MTU - 1);
			EXPECT_EQ(send_run(U32_MAX), 1);
			if (npkts > 2)
				EXPECT_EQ(send_run(U32_MAX), npkts - 2);
			if (npkts > 1)
				EXPECT_EQ(send_run(U32_MAX), 1);
			EXPECT_EQ(frdma_req_judge(&q.rq), FRDMA_REQ_EMPTY);
		}
	}
}

TEST(frdma_req_plan_run__no_longer_than_wanted)
{
	struct frdma_req_pkt run;

	sendq_init(&q);
	sendq_post(&q, IB_UVERBS_WR_SEND, 18 * SENDQ_MTU);
	EXPECT_EQ(send_run(U32_MAX), 1);
	EXPECT_EQ(send_run(3), 3);
	frdma_req_plan(&q.rq, &run);
	frdma_req_plan_run(&q.rq, &run, 12);
	EXPECT_EQ(run.nr, 12);
	EXPECT(run.hdr.ack_req);

	/* Fewer after all: then that one does not ask. */
	frdma_req_plan_run(&q.rq, &run, 11);
	EXPECT_EQ(run.nr, 11);
	EXPECT(!run.hdr.ack_req);
	expect_run(&run, 11);
}

TEST(frdma_req_plan_run__to_the_one_that_asks)
{
	sendq_init(&q);
	sendq_post(&q, IB_UVERBS_WR_SEND, 100 * SENDQ_MTU);
	EXPECT_EQ(send_run(U32_MAX), 1);
	EXPECT_EQ(send_run(U32_MAX), SENDQ_WINDOW / 4 - 1);
	EXPECT_EQ(send_run(U32_MAX), SENDQ_WINDOW / 4);

	/* In a window of a few, each asks. */
	q.rq.cc.window = 35;
	EXPECT_EQ(send_run(U32_MAX), 3);
	q.rq.cc.window = 36;
	q.rq.since_ack_req = 8;
	EXPECT_EQ(send_run(U32_MAX), 1);
	EXPECT_EQ(frdma_req_judge(&q.rq), FRDMA_REQ_WINDOW);
}

TEST(frdma_req_plan_run__no_further_than_the_window)
{
	sendq_init(&q);
	sendq_post(&q, IB_UVERBS_WR_SEND, 100 * SENDQ_MTU);
	while (frdma_req_judge(&q.rq) == FRDMA_REQ_SEND)
		send_run(U32_MAX);
	EXPECT_EQ(frdma_req_outstanding(&q.rq), SENDQ_WINDOW);
}

TEST(frdma_req_plan_run__what_is_repeated_by_itself)
{
	sendq_init(&q);
	sendq_post(&q, IB_UVERBS_WR_SEND, 15 * SENDQ_MTU);
	EXPECT_EQ(send_run(U32_MAX), 1);
	EXPECT_EQ(send_run(6), 6);
	frdma_resend_all(&q.rq);
	EXPECT_EQ(send_run(U32_MAX), 1);
	EXPECT_EQ(send_run(U32_MAX), 6);
	EXPECT_EQ(send_run(U32_MAX), 7);

}

/* It is sent without being judged. */
TEST(frdma_req_plan_run__what_only_asks_is_beyond_the_window)
{
	struct frdma_req_pkt run;

	sendq_init(&q);
	sendq_post(&q, IB_UVERBS_WR_SEND, 15 * SENDQ_MTU);
	EXPECT_EQ(send_run(U32_MAX), 1);
	EXPECT_EQ(send_run(6), 6);
	EXPECT(frdma_req_ask(&q.rq));
	q.rq.cc.window = frdma_req_outstanding(&q.rq);
	EXPECT_EQ(frdma_req_judge(&q.rq), FRDMA_REQ_WINDOW);
	frdma_req_plan(&q.rq, &run);
	frdma_req_plan_run(&q.rq, &run, U32_MAX);
	EXPECT_EQ(run.nr, 1);
	EXPECT(run.hdr.ack_req);
}

static void post_any(struct rnd *rnd)
{
	static const u8 opcodes[] = {
		IB_UVERBS_WR_SEND, IB_UVERBS_WR_RDMA_WRITE,
		IB_UVERBS_WR_SEND_WITH_IMM, IB_UVERBS_WR_RDMA_READ,
		IB_UVERBS_WR_ATOMIC_FETCH_AND_ADD,
	};
	u32 nr = frdma_req_is_reliable(&q.rq) ? ARRAY_SIZE(opcodes) : 3;
	u32 len = rnd_below(rnd, 40 * SENDQ_MTU);

	if (q.rq.wr_prod - q.rq.wr_una < SENDQ_SLOTS)
		sendq_post(&q, opcodes[rnd_below(rnd, nr)], len);
}

/* What the peer, the clock or the consumer may do between two runs. */
static void let_something_happen(struct rnd *rnd)
{
	struct frdma_req *rq = &q.rq;
	u32 out = frdma_req_outstanding(rq);

	switch (rnd_below(rnd, 12)) {
	case 0:
		frdma_resend_all(rq);
		break;
	case 1:
		rq->cc.window = 1 + rnd_below(rnd, SENDQ_WINDOW);
		break;
	case 2:
		if (frdma_req_ask(rq) && out <= rq->cc.window)
			break;
		frdma_resend_all(rq);
		break;
	case 3 ... 6:
		post_any(rnd);
		break;
	default:
		frdma_ack_implied(rq, frdma_psn_add(rq->una_psn,
						    rnd_below(rnd, out + 1)),
				  SENDQ_NOW);
		if (frdma_req_in_flight(rq))
			frdma_ack_commit(rq, rq->una_psn, SENDQ_NOW);
		while (frdma_req_reap(rq))
			;
		break;
	}
}

TEST(frdma_req_plan_run__is_what_would_be_sent_one_by_one)
{
	static const u8 transports[] = { FRDMA_RC, FRDMA_UC, FRDMA_XRC };
	struct rnd rnd = { 7 };
	u32 i, j, runs = 0, packets = 0;

	for (i = 0; i < 300; i++) {
		sendq_init(&q);
		q.rq.transport = transports[i % ARRAY_SIZE(transports)];
		for (j = 0; j < 300; j++) {
			u32 max = rnd_below(&rnd, 3) ? U32_MAX :
						       1 + rnd_below(&rnd, 20);

			let_something_happen(&rnd);
			if (frdma_req_judge(&q.rq) != FRDMA_REQ_SEND)
				continue;
			packets += send_run(max);
			runs++;
		}
	}

	/* It was seen a lot. */
	EXPECT(runs > 20000);
	EXPECT(packets > 3 * runs);
}
