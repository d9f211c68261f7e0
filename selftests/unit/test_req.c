// SPDX-License-Identifier: GPL-2.0
#include "ack.h"
#include "rnd.h"
#include "sendq.h"
#include "tap.h"

static struct sendq q;

/* The same on the wire, the same of the message. */
static bool is_same_packet(const struct frdma_req_pkt *a,
			   const struct frdma_req_pkt *b)
{
	u8 hdr_a[FRDMA_HDR_MAX] = { }, hdr_b[FRDMA_HDR_MAX] = { };

	frdma_hdr_build(hdr_a, &a->hdr);
	frdma_hdr_build(hdr_b, &b->hdr);
	return !memcmp(hdr_a, hdr_b, sizeof(hdr_a)) && a->off == b->off &&
	       a->len == b->len && a->span == b->span;
}

/* What the next packet must look like, and is then sent. */
static struct frdma_req_pkt expect_sent(u8 opcode, u32 nth_psn, u32 off,
					u32 len)
{
	struct frdma_req_pkt pkt = sendq_send(&q);

	EXPECT_EQ(pkt.hdr.opcode, opcode);
	EXPECT_EQ(pkt.hdr.psn, sendq_psn(nth_psn));
	EXPECT_EQ(pkt.off, off);
	EXPECT_EQ(pkt.len, len);
	EXPECT_EQ(pkt.hdr.pad, -len & 3);
	EXPECT_EQ(pkt.hdr.dqpn, 0x123456);
	EXPECT_EQ(pkt.hdr.pkey, 0xffff);
	EXPECT(pkt.hdr.migreq);
	EXPECT_EQ(pkt.hdr.tver, 0);
	return pkt;
}

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

TEST(frdma_req_plan__send_of_three_packets)
{
	sendq_init(&q);
	sendq_post(&q, IB_UVERBS_WR_SEND, 513);
	EXPECT(!expect_sent(FRDMA_SEND_FIRST, 0, 0, 256).hdr.ack_req);
	EXPECT(!expect_sent(FRDMA_SEND_MIDDLE, 1, 256, 256).hdr.ack_req);
	EXPECT(expect_sent(FRDMA_SEND_LAST, 2, 512, 1).hdr.ack_req);
	EXPECT_EQ(frdma_req_judge(&q.rq), FRDMA_REQ_EMPTY);
}

TEST(frdma_req_plan__exact_multiple_of_the_mtu)
{
	sendq_init(&q);
	sendq_post(&q, IB_UVERBS_WR_SEND, 512);
	expect_sent(FRDMA_SEND_FIRST, 0, 0, 256);
	expect_sent(FRDMA_SEND_LAST, 1, 256, 256);
	EXPECT_EQ(frdma_req_judge(&q.rq), FRDMA_REQ_EMPTY);
}

TEST(frdma_req_plan__one_packet_of_every_opcode)
{
	static const struct {
		u8 wr, rc;
	} ops[] = {
		{ IB_UVERBS_WR_SEND, FRDMA_SEND_ONLY },
		{ IB_UVERBS_WR_SEND_WITH_IMM, FRDMA_SEND_ONLY_IMM },
		{ IB_UVERBS_WR_SEND_WITH_INV, FRDMA_SEND_ONLY_INV },
		{ IB_UVERBS_WR_RDMA_WRITE, FRDMA_WRITE_ONLY },
		{ IB_UVERBS_WR_RDMA_WRITE_WITH_IMM, FRDMA_WRITE_ONLY_IMM },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(ops); i++) {
		sendq_init(&q);
		sendq_post(&q, ops[i].wr, 256);
		expect_sent(ops[i].rc, 0, 0, 256);
		sendq_init(&q);
		sendq_post(&q, ops[i].wr, 0);
		expect_sent(ops[i].rc, 0, 0, 0);
	}
}

TEST(frdma_req_plan__last_packet_of_every_opcode)
{
	static const struct {
		u8 wr, rc;
	} ops[] = {
		{ IB_UVERBS_WR_SEND, FRDMA_SEND_LAST },
		{ IB_UVERBS_WR_SEND_WITH_IMM, FRDMA_SEND_LAST_IMM },
		{ IB_UVERBS_WR_SEND_WITH_INV, FRDMA_SEND_LAST_INV },
		{ IB_UVERBS_WR_RDMA_WRITE, FRDMA_WRITE_LAST },
		{ IB_UVERBS_WR_RDMA_WRITE_WITH_IMM, FRDMA_WRITE_LAST_IMM },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(ops); i++) {
		sendq_init(&q);
		sendq_post(&q, ops[i].wr, 257);
		sendq_send(&q);
		expect_sent(ops[i].rc, 1, 256, 1);
	}
}

TEST(frdma_req_plan__write_names_the_whole_message_once)
{
	struct frdma_req_pkt pkt;

	sendq_init(&q);
	sendq_post(&q, IB_UVERBS_WR_RDMA_WRITE, 600);
	pkt = expect_sent(FRDMA_WRITE_FIRST, 0, 0, 256);
	EXPECT_EQ(pkt.hdr.va, SENDQ_VA);
	EXPECT_EQ(pkt.hdr.rkey, SENDQ_RKEY);
	EXPECT_EQ(pkt.hdr.dma_len, 600);
}

TEST(frdma_req_plan__immediate_data_and_key)
{
	struct frdma_req_pkt pkt;

	sendq_init(&q);
	sendq_post(&q, IB_UVERBS_WR_SEND_WITH_IMM, 1);
	pkt = sendq_send(&q);
	EXPECT_EQ(pkt.hdr.imm_data, 0xa1b2c3d4);
	sendq_post(&q, IB_UVERBS_WR_SEND_WITH_INV, 1);
	pkt = sendq_send(&q);
	EXPECT_EQ(pkt.hdr.inv_rkey, 0xa1b2c3d4);
}

TEST(frdma_req_plan__solicited_only_where_a_receive_ends)
{
	sendq_init(&q);
	sendq_post(&q, IB_UVERBS_WR_SEND, 257)->wqe.flags =
		FRDMA_WQE_SOLICITED;
	sendq_post(&q, IB_UVERBS_WR_RDMA_WRITE, 1)->wqe.flags =
		FRDMA_WQE_SOLICITED;
	sendq_post(&q, IB_UVERBS_WR_RDMA_WRITE_WITH_IMM, 1)->wqe.flags =
		FRDMA_WQE_SOLICITED;
	sendq_post(&q, IB_UVERBS_WR_SEND, 1);
	EXPECT(!sendq_send(&q).hdr.solicited);
	EXPECT(sendq_send(&q).hdr.solicited);
	EXPECT(!sendq_send(&q).hdr.solicited);
	EXPECT(sendq_send(&q).hdr.solicited);
	EXPECT(!sendq_send(&q).hdr.solicited);
}

TEST(frdma_req_plan__atomics)
{
	struct frdma_req_pkt pkt;

	sendq_init(&q);
	sendq_post(&q, IB_UVERBS_WR_ATOMIC_CMP_AND_SWP, 8);
	sendq_post(&q, IB_UVERBS_WR_ATOMIC_FETCH_AND_ADD, 8);
	pkt = expect_sent(FRDMA_COMPARE_SWAP, 0, 0, 0);
	EXPECT_EQ(pkt.hdr.compare, 5);
	EXPECT_EQ(pkt.hdr.swap_add, 6);
	EXPECT_EQ(pkt.hdr.va, SENDQ_VA);
	pkt = expect_sent(FRDMA_FETCH_ADD, 1, 0, 0);
	EXPECT_EQ(pkt.hdr.swap_add, 5);
	EXPECT_EQ(pkt.hdr.compare, 0);
}

TEST(frdma_req_plan__atomic_write_carries_its_eight_bytes)
{
	struct frdma_req_pkt pkt;

	sendq_init(&q);
	sendq_post(&q, FRDMA_WR_ATOMIC_WRITE, 8);
	pkt = expect_sent(FRDMA_ATOMIC_WRITE, 0, 0, 8);
	EXPECT_EQ(pkt.hdr.va, SENDQ_VA);
	EXPECT_EQ(pkt.hdr.rkey, SENDQ_RKEY);
	EXPECT_EQ(pkt.hdr.dma_len, 8);
	EXPECT_EQ(pkt.hdr.pad, 0);
	EXPECT_EQ(q.rq.rd_out, 1);
}

TEST(frdma_req_plan__flush)
{
	struct frdma_req_pkt pkt;
	struct frdma_swr *wr;

	sendq_init(&q);
	wr = sendq_post(&q, FRDMA_WR_FLUSH, 0);
	wr->wqe.flush.length = 100000;
	wr->wqe.flush.placement = FRDMA_FLUSH_PERSISTENT;
	wr->wqe.flush.select = FRDMA_FLUSH_REGION;
	pkt = expect_sent(FRDMA_FLUSH, 0, 0, 0);
	EXPECT_EQ(pkt.hdr.va, SENDQ_VA);
	EXPECT_EQ(pkt.hdr.rkey, SENDQ_RKEY);
	EXPECT_EQ(pkt.hdr.dma_len, 100000);
	EXPECT_EQ(pkt.hdr.flush_placement, FRDMA_FLUSH_PERSISTENT);
	EXPECT_EQ(pkt.hdr.flush_select, FRDMA_FLUSH_REGION);
	EXPECT_EQ(pkt.span, 1);
	EXPECT_EQ(q.rq.rd_out, 1);
}

static void expect_read(u32 nth_psn, u32 off, u32 len, u32 span)
{
	struct frdma_req_pkt pkt = sendq_send(&q);

	EXPECT_EQ(pkt.hdr.opcode, FRDMA_READ_REQUEST);
	EXPECT_EQ(pkt.hdr.psn, sendq_psn(nth_psn));
	EXPECT_EQ(pkt.hdr.va, SENDQ_VA + off);
	EXPECT_EQ(pkt.hdr.dma_len, len);
	EXPECT_EQ(pkt.span, span);
	EXPECT_EQ(pkt.len, 0);
	EXPECT_EQ(pkt.hdr.pad, 0);
}

TEST(frdma_req_plan__read_in_pieces_of_the_grid)
{
	sendq_init(&q);
	sendq_post(&q, IB_UVERBS_WR_RDMA_READ, 9 * 256 + 7);
	expect_read(0, 0, 1024, 4);
	expect_read(4, 1024, 1024, 4);
	expect_read(8, 2048, 256 + 7, 2);
	EXPECT_EQ(frdma_req_judge(&q.rq), FRDMA_REQ_EMPTY);
	EXPECT_EQ(frdma_req_outstanding(&q.rq), 10);
}

TEST(frdma_req_plan__read_in_fine_pieces_while_the_window_is_small)
{
	sendq_init(&q);
	q.rq.read_grid = 2 * FRDMA_READ_STEP;
	q.rq.cc.window = FRDMA_READ_STEP + 1;
	sendq_post(&q, IB_UVERBS_WR_RDMA_READ, 32 * 256);
	expect_read(0, 0, 1024, 4);
	/* The next begins where that ended, and may reach to the grid. */
	q.rq.cc.window = SENDQ_WINDOW;
	expect_read(4, 1024, 1024, 4);
	expect_read(8, 2048, 2048, 8);
}

TEST(frdma_req_plan__read_as_long_as_the_window)
{
	sendq_init(&q);
	q.rq.read_grid = 8;
	q.rq.cc.window = 8;
	sendq_post(&q, IB_UVERBS_WR_RDMA_READ, 8 * SENDQ_MTU);
	expect_read(0, 0, 8 * SENDQ_MTU, 8);
	EXPECT_EQ(q.rq.fine_psn, SENDQ_PSN);
}

TEST(frdma_resend_all__reads_in_fine_pieces_up_to_what_is_new)
{
	sendq_init(&q);
	q.rq.read_grid = 2 * FRDMA_READ_STEP;
	q.rq.rd_max = 2;
	sendq_post(&q, IB_UVERBS_WR_RDMA_READ, 32 * 256);
	EXPECT_EQ(sendq_send_all(&q), 2);

	q.rq.una_psn = sendq_psn(1);
	frdma_resend_all(&q.rq);
	q.rq.rd_max = 16;
	expect_read(1, 1 * 256, 3 * 256, 3);
	expect_read(4, 4 * 256, 4 * 256, 4);
	expect_read(8, 8 * 256, 4 * 256, 4);
	expect_read(12, 12 * 256, 4 * 256, 4);
	expect_read(16, 16 * 256, 8 * 256, 8);
}

TEST(frdma_req_plan__read_of_nothing)
{
	sendq_init(&q);
	sendq_post(&q, IB_UVERBS_WR_RDMA_READ, 0);
	expect_read(0, 0, 0, 1);
}

TEST(frdma_req_plan__largest_message_at_the_smallest_mtu)
{
	const struct frdma_swr *wr;

	sendq_init(&q);
	wr = sendq_post(&q, IB_UVERBS_WR_SEND, FRDMA_MSG_MAX);
	EXPECT_EQ(wr->npkts, 1U << 23);
	EXPECT_EQ(sendq_send_all(&q), 64);
	EXPECT_EQ(frdma_req_judge(&q.rq), FRDMA_REQ_WINDOW);
}

TEST(frdma_req_plan__asks_for_an_ack_in_every_quarter_of_the_window)
{
	u32 n;

	sendq_init(&q);
	sendq_post(&q, IB_UVERBS_WR_SEND, 100 * 256);
	for (n = 1; n <= SENDQ_WINDOW; n++)
		EXPECT_EQ(sendq_send(&q).hdr.ack_req,
			  n % (SENDQ_WINDOW / 4) == 0);
}

TEST(frdma_req_plan__asks_for_an_ack_before_something_waits_for_it)
{
	static const u8 waiting[] = {
		IB_UVERBS_WR_RDMA_READ, IB_UVERBS_WR_ATOMIC_FETCH_AND_ADD,
		IB_UVERBS_WR_LOCAL_INV,
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(waiting); i++) {
		sendq_init(&q);
		sendq_post(&q, IB_UVERBS_WR_SEND, 1);
		sendq_post(&q, waiting[i], 8);
		EXPECT(sendq_send(&q).hdr.ack_req);
	}

	sendq_init(&q);
	sendq_post(&q, IB_UVERBS_WR_SEND, 1);
	sendq_post(&q, IB_UVERBS_WR_SEND, 1);
	EXPECT(!sendq_send(&q).hdr.ack_req);
	EXPECT(sendq_send(&q).hdr.ack_req);
}

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

TEST(frdma_req_plan__xrc_names_the_queue_in_every_packet)
{
	static const struct {
		u8 wr, operation;
		u32 len;
	} ops[] = {
		{ IB_UVERBS_WR_SEND, FRDMA_SEND_ONLY, 1 },
		{ IB_UVERBS_WR_SEND_WITH_INV, FRDMA_SEND_ONLY_INV, 1 },
		{ IB_UVERBS_WR_RDMA_WRITE_WITH_IMM, FRDMA_WRITE_ONLY_IMM, 1 },
		{ IB_UVERBS_WR_RDMA_READ, FRDMA_READ_REQUEST, 1 },
		{ IB_UVERBS_WR_ATOMIC_CMP_AND_SWP, FRDMA_COMPARE_SWAP, 8 },
		{ IB_UVERBS_WR_ATOMIC_FETCH_AND_ADD, FRDMA_FETCH_ADD, 8 },
	};
	struct frdma_req_pkt pkt;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(ops); i++) {
		sendq_init(&q);
		q.rq.transport = FRDMA_XRC;
		sendq_post(&q, ops[i].wr, ops[i].len)->wqe.xrc.srqn =
			0xff000007;
		pkt = sendq_send(&q);
		EXPECT_EQ(pkt.hdr.opcode, FRDMA_XRC | ops[i].operation);
		EXPECT_EQ(pkt.hdr.srqn, 7);
	}

	sendq_init(&q);
	q.rq.transport = FRDMA_XRC;
	sendq_post(&q, IB_UVERBS_WR_SEND, 513)->wqe.xrc.srqn = 9;
	for (i = 0; i < 3; i++)
		EXPECT_EQ(sendq_send(&q).hdr.srqn, 9);

	/* On no other transport does it say anything. */
	sendq_init(&q);
	sendq_post(&q, IB_UVERBS_WR_SEND, 1)->wqe.xrc.srqn = 9;
	EXPECT_EQ(sendq_send(&q).hdr.srqn, 0);
}

TEST(frdma_req_plan__xrc_atomics_have_their_operands)
{
	struct frdma_req_pkt pkt;

	sendq_init(&q);
	q.rq.transport = FRDMA_XRC;
	sendq_post(&q, IB_UVERBS_WR_ATOMIC_CMP_AND_SWP, 8);
	pkt = sendq_send(&q);
	EXPECT_EQ(pkt.hdr.compare, 5);
	EXPECT_EQ(pkt.hdr.swap_add, 6);

	sendq_init(&q);
	q.rq.transport = FRDMA_XRC;
	sendq_post(&q, IB_UVERBS_WR_ATOMIC_FETCH_AND_ADD, 8);
	EXPECT_EQ(sendq_send(&q).hdr.swap_add, 5);
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

/* A second time through the same packets is finer already. */
TEST(frdma_req_sent__what_was_asked_for_in_fine_pieces_stays_so)
{
	sendq_init(&q);
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

/*
 * Two coarse pieces are on their way where the peer keeps two. Both fine
 * halves of the first, and then the second one, late, would be three.
 */
TEST(frdma_req_judge__finer_pieces_leave_room_for_what_is_late)
{
	sendq_init(&q);
	q.rq.rd_max = 2;
	q.rq.read_grid = 8;
	sendq_post(&q, IB_UVERBS_WR_RDMA_READ, 7 * SENDQ_MTU);
	sendq_post(&q, IB_UVERBS_WR_RDMA_READ, 1);
	expect_read(0, 0, 7 * SENDQ_MTU, 7);
	expect_read(7, 0, 1, 1);

	frdma_resend_all(&q.rq);
	expect_read(0, 0, 4 * SENDQ_MTU, 4);
	EXPECT_EQ(frdma_req_judge(&q.rq), FRDMA_REQ_READS);
	/* Nor after another loss, before the end was reached. */
	frdma_resend_all(&q.rq);
	expect_read(0, 0, 4 * SENDQ_MTU, 4);
	EXPECT_EQ(frdma_req_judge(&q.rq), FRDMA_REQ_READS);

	/* What is answered need not be remembered. */
	q.rq.una_psn = sendq_psn(4);
	q.rq.rd_out = 0;
	expect_read(4, 4 * SENDQ_MTU, 3 * SENDQ_MTU, 3);
	EXPECT_EQ(frdma_req_judge(&q.rq), FRDMA_REQ_READS);
	q.rq.una_psn = sendq_psn(7);
	q.rq.rd_out = 0;
	expect_read(7, 0, 1, 1);

	/* What is new is not held back by what is old. */
	sendq_post(&q, IB_UVERBS_WR_RDMA_READ, 1);
	expect_read(8, 0, 1, 1);
}

/* A READ of one fine piece comes again as it was: nothing is held back. */
TEST(frdma_req_judge__short_reads_come_again_all_at_once)
{
	sendq_init(&q);
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
	q.rq.rd_max = 3;
	q.rq.read_grid = 8;
	sendq_post(&q, IB_UVERBS_WR_RDMA_READ, 8 * SENDQ_MTU);
	sendq_send_all(&q);
	frdma_resend_all(&q.rq);
	EXPECT_EQ(q.rq.rd_old, 1);
	expect_read(0, 0, 4 * SENDQ_MTU, 4);
	expect_read(4, 4 * SENDQ_MTU, 4 * SENDQ_MTU, 4);
	EXPECT_EQ(q.rq.rd_out, 2);

	/* All was asked for again: what is late now are those pieces. */
	frdma_resend_all(&q.rq);
	EXPECT_EQ(q.rq.rd_old, 2);
}

TEST(frdma_req_judge__finer_pieces_fill_that_room)
{
	sendq_init(&q);
	q.rq.rd_max = 2;
	q.rq.read_grid = 8;
	sendq_post(&q, IB_UVERBS_WR_RDMA_READ, 8 * SENDQ_MTU);
	sendq_send_all(&q);
	frdma_resend_all(&q.rq);
	expect_read(0, 0, 4 * SENDQ_MTU, 4);
	/* One late, one out: the peer keeps two. */
	expect_read(4, 4 * SENDQ_MTU, 4 * SENDQ_MTU, 4);
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
