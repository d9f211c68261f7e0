// SPDX-License-Identifier: GPL-2.0
#include "tap.h"
#include "wire.h"
#include "wqe.h"

static const struct frdma_wqe_limits rc = {
	.transport = FRDMA_RC, .max_sge = 4, .max_inline_bytes = 128,
};

static const struct frdma_wqe_limits uc = {
	.transport = FRDMA_UC, .max_sge = 4, .max_inline_bytes = 128,
};

static const struct frdma_wqe_limits xrc = {
	.transport = FRDMA_XRC, .max_sge = 4, .max_inline_bytes = 128,
};

static const struct frdma_wqe_limits ud = {
	.transport = FRDMA_UD, .max_sge = 4, .max_inline_bytes = 128,
};

static enum frdma_wqe_verdict judge(struct frdma_send_wqe wqe, u32 sge_bytes,
				    const struct frdma_wqe_limits *limits)
{
	struct frdma_sge sge[4] = {
		{ .length = sge_bytes }, { .length = sge_bytes },
		{ .length = sge_bytes }, { .length = sge_bytes },
	};

	return frdma_wqe_judge_send(&wqe, sge, limits);
}

static enum frdma_wqe_verdict judge_op(u8 opcode,
				       const struct frdma_wqe_limits *limits)
{
	return judge((struct frdma_send_wqe) {
		.opcode = opcode, .num_sge = 1,
	}, 8, limits);
}

TEST(frdma_wr__never_null)
{
	u32 opcode;

	for (opcode = 0; opcode < 256; opcode++)
		EXPECT(frdma_wr(opcode) && frdma_wr(opcode)->name);
}

TEST(frdma_wr_opcode__is_a_packet_of_its_kind)
{
	static const enum frdma_transport transports[] = {
		FRDMA_RC, FRDMA_UC, FRDMA_UD, FRDMA_XRC,
	};
	u32 opcode, t, starts, ends;

	for (opcode = 0; opcode < 256 * 4 * 4; opcode++) {
		const struct frdma_wr *wr = frdma_wr(opcode / 16);
		const struct frdma_op *op;

		t = transports[opcode % 4];
		starts = opcode / 4 % 2;
		ends = opcode / 8 % 2;
		if (!(wr->transports & FRDMA_WR_ON(t)) || !wr->kind)
			continue;
		/* These are always one packet. */
		if (!(starts && ends) &&
		    (t == FRDMA_UD || wr->kind == FRDMA_KIND_READ ||
		     wr->kind == FRDMA_KIND_ATOMIC ||
		     wr->kind == FRDMA_KIND_FLUSH ||
		     wr->kind == FRDMA_KIND_ATOMIC_WRITE))
			continue;

		op = frdma_op(frdma_wr_opcode(wr, t, starts, ends));
		EXPECT_EQ(op->kind, wr->kind);
		EXPECT_EQ(op->starts, starts);
		EXPECT_EQ(op->ends, ends);
		EXPECT_EQ(!!(op->ext & FRDMA_EXT_IMM), wr->imm && ends);
		EXPECT_EQ(!!(op->ext & FRDMA_EXT_INV), wr->inv && ends);
	}
}

TEST(frdma_wqe_judge_send__opcodes_of_rc)
{
	u32 opcode;

	for (opcode = 0; opcode < 256; opcode++) {
		bool known = opcode <= IB_UVERBS_WR_SEND_WITH_INV ||
			     opcode == FRDMA_WR_ATOMIC_WRITE;

		/* Nothing to flush to, and memory that it has none of. */
		if (opcode == FRDMA_WR_FLUSH)
			continue;
		EXPECT_EQ(judge_op(opcode, &rc),
			  known ? FRDMA_WQE_OK : FRDMA_WQE_BAD_OPCODE);
	}
}

TEST(frdma_wqe_judge_send__opcodes_of_xrc_are_those_of_rc)
{
	u32 opcode;

	for (opcode = 0; opcode < 256; opcode++)
		EXPECT_EQ(judge_op(opcode, &xrc), judge_op(opcode, &rc));
}

TEST(frdma_wqe_judge_send__opcodes_of_uc)
{
	u32 opcode;

	for (opcode = 0; opcode < 256; opcode++) {
		bool known = opcode <= IB_UVERBS_WR_SEND_WITH_IMM ||
			     opcode == IB_UVERBS_WR_LOCAL_INV ||
			     opcode == IB_UVERBS_WR_BIND_MW;

		EXPECT_EQ(judge_op(opcode, &uc),
			  known ? FRDMA_WQE_OK : FRDMA_WQE_BAD_OPCODE);
	}
}

TEST(frdma_wqe_judge_send__opcodes_of_ud)
{
	u32 opcode;

	for (opcode = 0; opcode < 256; opcode++) {
		bool known = opcode == IB_UVERBS_WR_SEND ||
			     opcode == IB_UVERBS_WR_SEND_WITH_IMM;

		EXPECT_EQ(judge_op(opcode, &ud),
			  known ? FRDMA_WQE_OK : FRDMA_WQE_BAD_OPCODE);
	}
}

TEST(frdma_wqe_judge_send__reg_mr_is_for_the_kernel)
{
	struct frdma_wqe_limits kernel = rc;

	kernel.kernel = true;
	EXPECT_EQ(judge_op(FRDMA_WR_REG_MR, &rc), FRDMA_WQE_BAD_OPCODE);
	EXPECT_EQ(judge_op(FRDMA_WR_REG_MR, &kernel), FRDMA_WQE_OK);
}

TEST(frdma_wqe_judge_send__flags)
{
	u32 flags;

	for (flags = 0; flags < 256; flags++)
		EXPECT_EQ(judge((struct frdma_send_wqe) {
			.opcode = IB_UVERBS_WR_SEND, .flags = flags,
		}, 0, &rc), flags < 16 ? FRDMA_WQE_OK : FRDMA_WQE_BAD_FLAGS);
}

TEST(frdma_wqe_judge_send__number_of_sges)
{
	u32 n;

	for (n = 0; n <= 0xffff; n++)
		EXPECT_EQ(judge((struct frdma_send_wqe) {
			.opcode = IB_UVERBS_WR_RDMA_READ, .num_sge = n,
		}, 1, &rc), n <= 4 ? FRDMA_WQE_OK : FRDMA_WQE_BAD_SGES);
}

TEST(frdma_wqe_judge_send__sges_of_a_local_operation)
{
	EXPECT_EQ(judge((struct frdma_send_wqe) {
		.opcode = IB_UVERBS_WR_LOCAL_INV, .num_sge = 5,
	}, 0, &rc), FRDMA_WQE_BAD_SGES);
	EXPECT_EQ(judge((struct frdma_send_wqe) {
		.opcode = IB_UVERBS_WR_LOCAL_INV, .num_sge = 4,
	}, U32_MAX, &rc), FRDMA_WQE_OK);
}

TEST(frdma_wqe_judge_send__inline_length)
{
	static const u32 lens[] = { 0, 1, 127, 128, 129, 1U << 31, U32_MAX };
	u32 i;

	for (i = 0; i < ARRAY_SIZE(lens); i++)
		EXPECT_EQ(judge((struct frdma_send_wqe) {
			.opcode = IB_UVERBS_WR_RDMA_WRITE,
			.flags = FRDMA_WQE_INLINE, .inline_len = lens[i],
		}, 0, &rc), lens[i] <= 128 ? FRDMA_WQE_OK :
					      FRDMA_WQE_BAD_INLINE_LEN);
}

TEST(frdma_wqe_judge_send__inline_needs_data_to_send)
{
	u32 opcode;

	for (opcode = 0; opcode <= IB_UVERBS_WR_SEND_WITH_INV; opcode++) {
		u8 kind = frdma_wr(opcode)->kind;
		bool sends = kind == FRDMA_KIND_SEND ||
			     kind == FRDMA_KIND_WRITE;

		if (opcode == IB_UVERBS_WR_BIND_MW)
			continue;
		EXPECT_EQ(judge((struct frdma_send_wqe) {
			.opcode = opcode, .flags = FRDMA_WQE_INLINE,
		}, 0, &rc), sends ? FRDMA_WQE_OK : FRDMA_WQE_BAD_FLAGS);
	}
}

TEST(frdma_wqe_judge_send__message_length)
{
	struct frdma_send_wqe wqe = {
		.opcode = IB_UVERBS_WR_SEND, .num_sge = 4,
	};

	EXPECT_EQ(judge(wqe, FRDMA_MSG_MAX / 4, &rc), FRDMA_WQE_OK);
	EXPECT_EQ(judge(wqe, FRDMA_MSG_MAX / 4 + 1, &rc),
		  FRDMA_WQE_BAD_MSG_LEN);
	/* The sum does not fit into 32 bits. */
	EXPECT_EQ(judge(wqe, 1U << 30, &rc), FRDMA_WQE_BAD_MSG_LEN);
	EXPECT_EQ(judge(wqe, U32_MAX, &rc), FRDMA_WQE_BAD_MSG_LEN);
}

TEST(frdma_wqe_judge_send__atomics_are_eight_bytes_in_one_piece)
{
	struct frdma_send_wqe wqe = {
		.opcode = IB_UVERBS_WR_ATOMIC_FETCH_AND_ADD,
	};
	u32 n;

	for (n = 0; n <= 4; n++) {
		wqe.num_sge = n;
		EXPECT_EQ(judge(wqe, 8, &rc), n == 1 ? FRDMA_WQE_OK :
					      FRDMA_WQE_BAD_ATOMIC_LEN);
	}
	wqe.num_sge = 2;
	EXPECT_EQ(judge(wqe, 4, &rc), FRDMA_WQE_BAD_ATOMIC_LEN);
	wqe.num_sge = 1;
	EXPECT_EQ(judge(wqe, 7, &rc), FRDMA_WQE_BAD_ATOMIC_LEN);
	EXPECT_EQ(judge(wqe, 9, &rc), FRDMA_WQE_BAD_ATOMIC_LEN);
}

TEST(frdma_wqe_judge_send__atomic_write_is_eight_bytes_or_inline)
{
	struct frdma_send_wqe wqe = {
		.opcode = FRDMA_WR_ATOMIC_WRITE, .num_sge = 1,
	};
	u32 len;

	for (len = 0; len <= 16; len++)
		EXPECT_EQ(judge(wqe, len, &rc), len == 8 ? FRDMA_WQE_OK :
						FRDMA_WQE_BAD_ATOMIC_LEN);
	wqe.num_sge = 2;
	EXPECT_EQ(judge(wqe, 4, &rc), FRDMA_WQE_BAD_ATOMIC_LEN);

	wqe.num_sge = 0;
	wqe.flags = FRDMA_WQE_INLINE;
	for (wqe.inline_len = 0; wqe.inline_len <= 16; wqe.inline_len++)
		EXPECT_EQ(judge(wqe, 0, &rc), wqe.inline_len == 8 ?
			  FRDMA_WQE_OK : FRDMA_WQE_BAD_ATOMIC_LEN);
}

static enum frdma_wqe_verdict judge_flush(u32 placement, u32 select, u64 len)
{
	return judge((struct frdma_send_wqe) {
		.opcode = FRDMA_WR_FLUSH,
		.flush = { .placement = placement, .select = select,
			   .length = len },
	}, 0, &rc);
}

TEST(frdma_wqe_judge_send__flush)
{
	struct frdma_send_wqe wqe = {
		.opcode = FRDMA_WR_FLUSH, .flush.placement = 1,
	};
	u32 i;

	for (i = 0; i < 32; i++)
		EXPECT_EQ(judge_flush(i, 0, 1), i >= 1 && i <= 3 ?
			  FRDMA_WQE_OK : FRDMA_WQE_BAD_FLAGS);
	for (i = 0; i < 8; i++)
		EXPECT_EQ(judge_flush(1, i, 1), i <= 1 ? FRDMA_WQE_OK :
							 FRDMA_WQE_BAD_FLAGS);
	EXPECT_EQ(judge_flush(1 | 256, 0, 1), FRDMA_WQE_BAD_FLAGS);
	EXPECT_EQ(judge_flush(1, 0, FRDMA_MSG_MAX), FRDMA_WQE_OK);
	EXPECT_EQ(judge_flush(1, 0, FRDMA_MSG_MAX + 1ULL),
		  FRDMA_WQE_BAD_MSG_LEN);
	EXPECT_EQ(judge_flush(1, 0, 1ULL << 32), FRDMA_WQE_BAD_MSG_LEN);
	EXPECT_EQ(judge_flush(1, 1, U64_MAX), FRDMA_WQE_OK);

	wqe.num_sge = 1;
	EXPECT_EQ(judge(wqe, 0, &rc), FRDMA_WQE_BAD_SGES);
	wqe.num_sge = 0;
	wqe.flags = FRDMA_WQE_INLINE;
	EXPECT_EQ(judge(wqe, 0, &rc), FRDMA_WQE_BAD_FLAGS);
	EXPECT_EQ(judge_op(FRDMA_WR_FLUSH, &uc), FRDMA_WQE_BAD_OPCODE);
}

TEST(frdma_wqe_judge_recv__number_of_sges)
{
	static const u32 counts[] = { 0, 1, 15, 16, 17, U32_MAX };
	u32 i;

	for (i = 0; i < ARRAY_SIZE(counts); i++) {
		struct frdma_recv_wqe wqe = { .num_sge = counts[i] };

		EXPECT_EQ(frdma_wqe_judge_recv(&wqe, 16), counts[i] <= 16 ?
			  FRDMA_WQE_OK : FRDMA_WQE_BAD_SGES);
	}
}

TEST(frdma_wqe_status__every_verdict)
{
	u32 v;

	EXPECT_EQ(frdma_wqe_status(FRDMA_WQE_OK), FRDMA_WC_SUCCESS);
	EXPECT_EQ(frdma_wqe_status(FRDMA_WQE_BAD_OPCODE),
		  FRDMA_WC_LOC_QP_OP_ERR);
	EXPECT_EQ(frdma_wqe_status(FRDMA_WQE_BAD_MSG_LEN),
		  FRDMA_WC_LOC_LEN_ERR);
	for (v = FRDMA_WQE_OK + 1; v <= FRDMA_WQE_BAD_ATOMIC_LEN; v++)
		EXPECT(frdma_wqe_status(v) != FRDMA_WC_SUCCESS);
}

TEST(frdma_wqe_len__of_pieces_and_of_inline_data)
{
	struct frdma_sge sge[2] = {
		{ .length = U32_MAX }, { .length = U32_MAX },
	};
	struct frdma_send_wqe wqe = { .num_sge = 2, .inline_len = 7 };

	EXPECT_EQ(frdma_wqe_len(&wqe, sge), 2ULL * U32_MAX);
	wqe.flags = FRDMA_WQE_INLINE;
	EXPECT_EQ(frdma_wqe_len(&wqe, sge), 7);
}

TEST(frdma_wr_wants_response__of_every_opcode)
{
	EXPECT(frdma_wr_wants_response(frdma_wr(IB_UVERBS_WR_RDMA_READ)));
	EXPECT(frdma_wr_wants_response(frdma_wr(FRDMA_WR_FLUSH)));
	EXPECT(!frdma_wr_wants_response(frdma_wr(IB_UVERBS_WR_SEND)));
	EXPECT(!frdma_wr_wants_response(frdma_wr(IB_UVERBS_WR_LOCAL_INV)));
	EXPECT(!frdma_wr_wants_response(frdma_wr(0xff)));
}

TEST(frdma_wr__completes_as_what_it_is)
{
	static const u8 want[][2] = {
		{ IB_UVERBS_WR_SEND, IB_UVERBS_WC_SEND },
		{ IB_UVERBS_WR_SEND_WITH_IMM, IB_UVERBS_WC_SEND },
		{ IB_UVERBS_WR_SEND_WITH_INV, IB_UVERBS_WC_SEND },
		{ IB_UVERBS_WR_RDMA_WRITE, IB_UVERBS_WC_RDMA_WRITE },
		{ IB_UVERBS_WR_RDMA_WRITE_WITH_IMM, IB_UVERBS_WC_RDMA_WRITE },
		{ IB_UVERBS_WR_RDMA_READ, IB_UVERBS_WC_RDMA_READ },
		{ IB_UVERBS_WR_ATOMIC_CMP_AND_SWP, IB_UVERBS_WC_COMP_SWAP },
		{ IB_UVERBS_WR_ATOMIC_FETCH_AND_ADD, IB_UVERBS_WC_FETCH_ADD },
		{ FRDMA_WR_FLUSH, FRDMA_WC_FLUSH },
		{ FRDMA_WR_ATOMIC_WRITE, FRDMA_WC_ATOMIC_WRITE },
		{ IB_UVERBS_WR_LOCAL_INV, IB_UVERBS_WC_LOCAL_INV },
		{ IB_UVERBS_WR_BIND_MW, IB_UVERBS_WC_BIND_MW },
		{ FRDMA_WR_REG_MR, FRDMA_WC_REG_MR },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(want); i++)
		EXPECT_EQ(frdma_wr(want[i][0])->wc_opcode, want[i][1]);
}

/* They send nothing, so what carries a key to the peer has none of them. */
TEST(frdma_wr__local_operations)
{
	static const u8 opcodes[] = {
		IB_UVERBS_WR_LOCAL_INV, IB_UVERBS_WR_BIND_MW, FRDMA_WR_REG_MR,
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(opcodes); i++) {
		const struct frdma_wr *wr = frdma_wr(opcodes[i]);

		EXPECT_EQ(wr->transports, FRDMA_WR_ON(FRDMA_RC) |
			  FRDMA_WR_ON(FRDMA_UC) | FRDMA_WR_ON(FRDMA_XRC));
		EXPECT(!wr->inv);
	}
}
