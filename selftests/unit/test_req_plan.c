// SPDX-License-Identifier: GPL-2.0
#include "sent.h"

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
