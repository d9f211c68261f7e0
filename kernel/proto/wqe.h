/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Work requests: what each opcode is, and whether a snapshot of a slot can be
 * carried out at all. Keys and addresses are judged later, when memory is
 * looked up.
 */
#ifndef FRDMA_PROTO_WQE_H
#define FRDMA_PROTO_WQE_H

#include "env.h"
#include "op.h"
#include "wc.h"
#include "../uapi/frdma-abi.h"

/* Number of IB_WR_REG_MR, which no process can post. */
#define FRDMA_WR_REG_MR		0x20

/* Numbers of ib_user_verbs.h that it has since Linux 6.2. */
#define FRDMA_WR_FLUSH		14
#define FRDMA_WR_ATOMIC_WRITE	15
#define FRDMA_WC_FLUSH		8
#define FRDMA_WC_ATOMIC_WRITE	9

/*
 * Opcode of its completion: IB_WC_REG_MR has another number in each kernel,
 * so whoever hands completions to kernel consumers translates.
 */
#define FRDMA_WC_REG_MR		0x7f

/**
 * enum frdma_wqe_flag - flags of a send work request
 * @FRDMA_WQE_FENCE: wait for READs and atomics before it
 * @FRDMA_WQE_SIGNALED: success is reported
 * @FRDMA_WQE_SOLICITED: ask the peer to raise a solicited event
 * @FRDMA_WQE_INLINE: the data are in the slot
 *
 * The numbers are those of enum ib_send_flags and enum ibv_send_flags.
 */
enum frdma_wqe_flag {
	FRDMA_WQE_FENCE	= BIT(0),
	FRDMA_WQE_SIGNALED	= BIT(1),
	FRDMA_WQE_SOLICITED	= BIT(2),
	FRDMA_WQE_INLINE	= BIT(3),
};

#define FRDMA_WQE_KNOWN_FLAGS	(FRDMA_WQE_FENCE | FRDMA_WQE_SIGNALED | \
				 FRDMA_WQE_SOLICITED | FRDMA_WQE_INLINE)

/* A bit for each enum frdma_transport. */
#define FRDMA_WR_ON(transport)	BIT((transport) >> 5)

/**
 * struct frdma_wr - what the opcode of a send work request means
 * @name: for people
 * @kind: enum frdma_kind of its packets; NONE: it sends none
 * @opcode: opcodes of its packets, as RC numbers them, by [starts][ends]
 * @wc_opcode: IB_UVERBS_WC_* or FRDMA_WC_REG_MR, opcode of its completion
 * @transports: FRDMA_WR_ON() of where it is allowed
 * @kernel_only: not for processes
 * @imm: carries immediate data
 * @inv: carries a key to invalidate, for the peer or for this host
 */
struct frdma_wr {
	const char *name;
	u8 kind;
	u8 opcode[2][2];
	u8 wc_opcode;
	u8 transports;
	bool kernel_only	: 1;
	bool imm		: 1;
	bool inv		: 1;
};

/**
 * frdma_wr() - what the opcode of a send work request means
 * @opcode: IB_UVERBS_WR_* or FRDMA_WR_REG_MR, any value
 *
 * Context: any. Return: a row of a constant table, never NULL; an unknown
 * opcode is allowed on no transport.
 */
const struct frdma_wr *frdma_wr(u8 opcode);

/** frdma_wr_wants_response() - is it answered by more than an ACK */
static inline bool frdma_wr_wants_response(const struct frdma_wr *wr)
{
	return frdma_kind_wants_response(wr->kind);
}

/**
 * frdma_wr_opcode() - opcode of a packet of a work request
 * @wr: a row whose kind is not NONE; only SEND and WRITE have more than one
 *      packet
 * @transport: one that the row allows
 * @starts: it is the first packet
 * @ends: it is the last packet
 */
static inline u8 frdma_wr_opcode(const struct frdma_wr *wr,
				 enum frdma_transport transport, bool starts,
				 bool ends)
{
	return transport | wr->opcode[starts][ends];
}

/**
 * struct frdma_wqe_limits - what the queue pair can take
 * @transport: enum frdma_transport; the GSI QP is UD
 * @kernel: the consumer is in the kernel
 * @max_sge: scatter/gather entries in a slot
 * @max_inline_bytes: inline data in a slot
 */
struct frdma_wqe_limits {
	u8 transport;
	bool kernel;
	u16 max_sge;
	u32 max_inline_bytes;
};

/**
 * enum frdma_wqe_verdict - can a work request be carried out?
 * @FRDMA_WQE_OK: as far as the slot alone tells
 * @FRDMA_WQE_BAD_OPCODE: unknown, not for this transport, or for the kernel only
 * @FRDMA_WQE_BAD_FLAGS: unknown flag, or INLINE with an operation that has no
 *                   data to send, or a FLUSH to nowhere
 * @FRDMA_WQE_BAD_SGES: more scatter/gather entries than the slot has
 * @FRDMA_WQE_BAD_INLINE_LEN: more inline data than the slot has
 * @FRDMA_WQE_BAD_MSG_LEN: more than the largest message
 * @FRDMA_WQE_BAD_ATOMIC_LEN: the result of an atomic, and what an ATOMIC WRITE
 *                   writes, is eight bytes, in one piece
 */
enum frdma_wqe_verdict {
	FRDMA_WQE_OK = 0,
	FRDMA_WQE_BAD_OPCODE,
	FRDMA_WQE_BAD_FLAGS,
	FRDMA_WQE_BAD_SGES,
	FRDMA_WQE_BAD_INLINE_LEN,
	FRDMA_WQE_BAD_MSG_LEN,
	FRDMA_WQE_BAD_ATOMIC_LEN,
};

/**
 * frdma_wqe_judge_send() - can this send work request be carried out?
 * @wqe: a private copy of the slot
 * @sge: private copy of its @wqe->num_sge entries; not read before that
 *       number was found to be in @limits, so the copy may end at max_sge
 * @limits: what the queue pair can take
 *
 * Context: any.
 */
enum frdma_wqe_verdict
frdma_wqe_judge_send(const struct frdma_send_wqe *wqe,
		     const struct frdma_sge *sge,
		     const struct frdma_wqe_limits *limits);

/**
 * frdma_wqe_judge_recv() - can this receive work request be carried out?
 * @wqe: a private copy of the slot
 * @max_sge: scatter/gather entries in a slot
 *
 * Context: any.
 */
enum frdma_wqe_verdict frdma_wqe_judge_recv(const struct frdma_recv_wqe *wqe,
					    u32 max_sge);

/**
 * frdma_wqe_status() - how a work request with such a verdict completes
 * @verdict: the judgement
 */
enum frdma_wc_status frdma_wqe_status(enum frdma_wqe_verdict verdict);

/**
 * frdma_wqe_len() - bytes that a send work request moves
 * @wqe: a copy whose num_sge is in the limits
 * @sge: its entries
 *
 * Return: bytes; 64 bits, so that no sum of entries wraps.
 */
u64 frdma_wqe_len(const struct frdma_send_wqe *wqe,
		  const struct frdma_sge *sge);

#endif /* FRDMA_PROTO_WQE_H */
