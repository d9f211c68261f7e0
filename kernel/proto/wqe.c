// SPDX-License-Identifier: GPL-2.0
#include "wqe.h"
#include "wire.h"

/* An extended connection can what a reliable one can (A14). */
#define ON_RC		(FRDMA_WR_ON(FRDMA_RC) | FRDMA_WR_ON(FRDMA_XRC))
#define ON_UC		FRDMA_WR_ON(FRDMA_UC)
#define ON_UD		FRDMA_WR_ON(FRDMA_UD)

/* Opcodes of the packets of a message, by [starts][ends]. */
#define PACKETS(kind, last, only)					\
	.opcode = {							\
		{ FRDMA_##kind##_MIDDLE, FRDMA_##kind##_##last },	\
		{ FRDMA_##kind##_FIRST,  FRDMA_##kind##_##only },	\
	}
#define ONE_PACKET(opcode_)	.opcode = { [1][1] = FRDMA_##opcode_ }

static const struct frdma_wr wr_table[] = {
	[IB_UVERBS_WR_SEND] = {
		.name		= "SEND",
		.kind		= FRDMA_KIND_SEND,
		.transports	= ON_RC | ON_UC | ON_UD,
		.wc_opcode	= IB_UVERBS_WC_SEND,
		PACKETS(SEND, LAST, ONLY),
	},
	[IB_UVERBS_WR_SEND_WITH_IMM] = {
		.name		= "SEND_WITH_IMM",
		.kind		= FRDMA_KIND_SEND,
		.transports	= ON_RC | ON_UC | ON_UD,
		.wc_opcode	= IB_UVERBS_WC_SEND,
		.imm		= true,
		PACKETS(SEND, LAST_IMM, ONLY_IMM),
	},
	[IB_UVERBS_WR_SEND_WITH_INV] = {
		.name		= "SEND_WITH_INV",
		.kind		= FRDMA_KIND_SEND,
		.transports	= ON_RC,
		.wc_opcode	= IB_UVERBS_WC_SEND,
		.inv		= true,
		PACKETS(SEND, LAST_INV, ONLY_INV),
	},
	[IB_UVERBS_WR_RDMA_WRITE] = {
		.name		= "RDMA_WRITE",
		.kind		= FRDMA_KIND_WRITE,
		.transports	= ON_RC | ON_UC,
		.wc_opcode	= IB_UVERBS_WC_RDMA_WRITE,
		PACKETS(WRITE, LAST, ONLY),
	},
	[IB_UVERBS_WR_RDMA_WRITE_WITH_IMM] = {
		.name		= "RDMA_WRITE_WITH_IMM",
		.kind		= FRDMA_KIND_WRITE,
		.transports	= ON_RC | ON_UC,
		.wc_opcode	= IB_UVERBS_WC_RDMA_WRITE,
		.imm		= true,
		PACKETS(WRITE, LAST_IMM, ONLY_IMM),
	},
	[IB_UVERBS_WR_RDMA_READ] = {
		.name		= "RDMA_READ",
		.kind		= FRDMA_KIND_READ,
		.transports	= ON_RC,
		.wc_opcode	= IB_UVERBS_WC_RDMA_READ,
		ONE_PACKET(READ_REQUEST),
	},
	[IB_UVERBS_WR_ATOMIC_CMP_AND_SWP] = {
		.name		= "ATOMIC_CMP_AND_SWP",
		.kind		= FRDMA_KIND_ATOMIC,
		.transports	= ON_RC,
		.wc_opcode	= IB_UVERBS_WC_COMP_SWAP,
		ONE_PACKET(COMPARE_SWAP),
	},
	[IB_UVERBS_WR_ATOMIC_FETCH_AND_ADD] = {
		.name		= "ATOMIC_FETCH_AND_ADD",
		.kind		= FRDMA_KIND_ATOMIC,
		.transports	= ON_RC,
		.wc_opcode	= IB_UVERBS_WC_FETCH_ADD,
		ONE_PACKET(FETCH_ADD),
	},
	[FRDMA_WR_FLUSH] = {
		.name		= "FLUSH",
		.kind		= FRDMA_KIND_FLUSH,
		.transports	= ON_RC,
		.wc_opcode	= FRDMA_WC_FLUSH,
		ONE_PACKET(FLUSH),
	},
	[FRDMA_WR_ATOMIC_WRITE] = {
		.name		= "ATOMIC_WRITE",
		.kind		= FRDMA_KIND_ATOMIC_WRITE,
		.transports	= ON_RC,
		.wc_opcode	= FRDMA_WC_ATOMIC_WRITE,
		ONE_PACKET(ATOMIC_WRITE),
	},
	[IB_UVERBS_WR_LOCAL_INV] = {
		.name		= "LOCAL_INV",
		.transports	= ON_RC | ON_UC,
		.wc_opcode	= IB_UVERBS_WC_LOCAL_INV,
	},
	[IB_UVERBS_WR_BIND_MW] = {
		.name		= "BIND_MW",
		.transports	= ON_RC | ON_UC,
		.wc_opcode	= IB_UVERBS_WC_BIND_MW,
	},
	[FRDMA_WR_REG_MR] = {
		.name		= "REG_MR",
		.transports	= ON_RC | ON_UC,
		.wc_opcode	= FRDMA_WC_REG_MR,
		.kernel_only	= true,
	},
};

static const struct frdma_wr unknown_wr = { .name = "unknown" };

const struct frdma_wr *frdma_wr(u8 opcode)
{
	const struct frdma_wr *wr;

	if (opcode >= ARRAY_SIZE(wr_table))
		return &unknown_wr;
	wr = &wr_table[array_index_nospec(opcode, ARRAY_SIZE(wr_table))];
	return wr->transports ? wr : &unknown_wr;
}

u64 frdma_wqe_len(const struct frdma_send_wqe *wqe,
		  const struct frdma_sge *sge)
{
	u64 len = 0;
	u32 i;

	if (wqe->flags & FRDMA_WQE_INLINE)
		return wqe->inline_len;
	for (i = 0; i < wqe->num_sge; i++)
		len += sge[i].length;
	return len;
}

static bool has_data_to_send(const struct frdma_wr *wr)
{
	return wr->kind == FRDMA_KIND_SEND || wr->kind == FRDMA_KIND_WRITE ||
	       wr->kind == FRDMA_KIND_ATOMIC_WRITE;
}

static bool is_eight_bytes(const struct frdma_wr *wr)
{
	return wr->kind == FRDMA_KIND_ATOMIC ||
	       wr->kind == FRDMA_KIND_ATOMIC_WRITE;
}

static enum frdma_wqe_verdict
judge_inline(const struct frdma_wr *wr, const struct frdma_send_wqe *wqe,
	     const struct frdma_wqe_limits *limits)
{
	if (!has_data_to_send(wr))
		return FRDMA_WQE_BAD_FLAGS;
	if (wqe->inline_len > limits->max_inline_bytes)
		return FRDMA_WQE_BAD_INLINE_LEN;
	if (is_eight_bytes(wr) && wqe->inline_len != sizeof(u64))
		return FRDMA_WQE_BAD_ATOMIC_LEN;
	return FRDMA_WQE_OK;
}

/* It moves nothing, so it has no memory of its own. */
static enum frdma_wqe_verdict judge_flush(const struct frdma_send_wqe *wqe)
{
	u32 placements = FRDMA_FLUSH_GLOBAL | FRDMA_FLUSH_PERSISTENT;

	if (wqe->num_sge)
		return FRDMA_WQE_BAD_SGES;
	if (!wqe->flush.placement || wqe->flush.placement & ~placements ||
	    wqe->flush.select > FRDMA_FLUSH_REGION)
		return FRDMA_WQE_BAD_FLAGS;
	if (wqe->flush.select == FRDMA_FLUSH_RANGE &&
	    wqe->flush.length > FRDMA_MSG_MAX)
		return FRDMA_WQE_BAD_MSG_LEN;
	return FRDMA_WQE_OK;
}

static enum frdma_wqe_verdict
judge_sges(const struct frdma_wr *wr, const struct frdma_send_wqe *wqe,
	   const struct frdma_sge *sge, const struct frdma_wqe_limits *limits)
{
	if (wqe->num_sge > limits->max_sge)
		return FRDMA_WQE_BAD_SGES;
	/* Local operations move nothing. */
	if (wr->kind == FRDMA_KIND_NONE)
		return FRDMA_WQE_OK;
	if (wr->kind == FRDMA_KIND_FLUSH)
		return judge_flush(wqe);
	if (is_eight_bytes(wr) &&
	    (wqe->num_sge != 1 || sge->length != sizeof(u64)))
		return FRDMA_WQE_BAD_ATOMIC_LEN;
	if (frdma_wqe_len(wqe, sge) > FRDMA_MSG_MAX)
		return FRDMA_WQE_BAD_MSG_LEN;
	return FRDMA_WQE_OK;
}

enum frdma_wqe_verdict
frdma_wqe_judge_send(const struct frdma_send_wqe *wqe,
		     const struct frdma_sge *sge,
		     const struct frdma_wqe_limits *limits)
{
	const struct frdma_wr *wr = frdma_wr(wqe->opcode);

	if (!(wr->transports & FRDMA_WR_ON(limits->transport)))
		return FRDMA_WQE_BAD_OPCODE;
	if (wr->kernel_only && !limits->kernel)
		return FRDMA_WQE_BAD_OPCODE;
	if (wqe->flags & ~FRDMA_WQE_KNOWN_FLAGS)
		return FRDMA_WQE_BAD_FLAGS;

	if (wqe->flags & FRDMA_WQE_INLINE)
		return judge_inline(wr, wqe, limits);
	return judge_sges(wr, wqe, sge, limits);
}

enum frdma_wqe_verdict frdma_wqe_judge_recv(const struct frdma_recv_wqe *wqe,
					    u32 max_sge)
{
	return wqe->num_sge > max_sge ? FRDMA_WQE_BAD_SGES : FRDMA_WQE_OK;
}

/* IBTA vol. 1, 10.8.3.3 and 11.6.2. */
static const u8 verdict_status[] = {
	[FRDMA_WQE_OK]			= FRDMA_WC_SUCCESS,
	[FRDMA_WQE_BAD_OPCODE]		= FRDMA_WC_LOC_QP_OP_ERR,
	[FRDMA_WQE_BAD_FLAGS]		= FRDMA_WC_LOC_QP_OP_ERR,
	[FRDMA_WQE_BAD_SGES]		= FRDMA_WC_LOC_QP_OP_ERR,
	[FRDMA_WQE_BAD_INLINE_LEN]	= FRDMA_WC_LOC_LEN_ERR,
	[FRDMA_WQE_BAD_MSG_LEN]		= FRDMA_WC_LOC_LEN_ERR,
	[FRDMA_WQE_BAD_ATOMIC_LEN]	= FRDMA_WC_LOC_LEN_ERR,
};

enum frdma_wc_status frdma_wqe_status(enum frdma_wqe_verdict verdict)
{
	return verdict_status[verdict];
}
