/* SPDX-License-Identifier: GPL-2.0 */
/* The opcodes of the base transport header, and what each of them means. */
#ifndef FRDMA_PROTO_OP_H
#define FRDMA_PROTO_OP_H

#include "env.h"

/**
 * enum frdma_transport - upper three bits of an opcode, in place
 * @FRDMA_RC: reliable connection
 * @FRDMA_UC: unreliable connection
 * @FRDMA_RD: reliable datagram; nobody builds it
 * @FRDMA_UD: unreliable datagram
 * @FRDMA_CN: congestion notification (A17)
 * @FRDMA_XRC: extended reliable connection (A14)
 */
enum frdma_transport {
	FRDMA_RC	= 0x00,
	FRDMA_UC	= 0x20,
	FRDMA_RD	= 0x40,
	FRDMA_UD	= 0x60,
	FRDMA_CN	= 0x80,
	FRDMA_XRC	= 0xa0,
};

#define FRDMA_OPCODE_TRANSPORT	GENMASK(7, 5)

/*
 * Operations under their names in the specification, as RC numbers them. UC
 * has those up to WRITE_ONLY_IMM, UD has SEND_ONLY and SEND_ONLY_IMM, XRC has
 * all, each with its own transport in the upper bits: FRDMA_UD |
 * FRDMA_SEND_ONLY.
 */
enum frdma_opcode {
	FRDMA_SEND_FIRST	= 0x00,
	FRDMA_SEND_MIDDLE	= 0x01,
	FRDMA_SEND_LAST		= 0x02,
	FRDMA_SEND_LAST_IMM	= 0x03,
	FRDMA_SEND_ONLY		= 0x04,
	FRDMA_SEND_ONLY_IMM	= 0x05,
	FRDMA_WRITE_FIRST	= 0x06,
	FRDMA_WRITE_MIDDLE	= 0x07,
	FRDMA_WRITE_LAST	= 0x08,
	FRDMA_WRITE_LAST_IMM	= 0x09,
	FRDMA_WRITE_ONLY	= 0x0a,
	FRDMA_WRITE_ONLY_IMM	= 0x0b,
	FRDMA_READ_REQUEST	= 0x0c,
	FRDMA_READ_RESP_FIRST	= 0x0d,
	FRDMA_READ_RESP_MIDDLE	= 0x0e,
	FRDMA_READ_RESP_LAST	= 0x0f,
	FRDMA_READ_RESP_ONLY	= 0x10,
	FRDMA_ACKNOWLEDGE	= 0x11,
	FRDMA_ATOMIC_ACK	= 0x12,
	FRDMA_COMPARE_SWAP		= 0x13,
	FRDMA_FETCH_ADD		= 0x14,
	FRDMA_SEND_LAST_INV	= 0x16,
	FRDMA_SEND_ONLY_INV	= 0x17,
	FRDMA_FLUSH		= 0x1c,
	FRDMA_ATOMIC_WRITE	= 0x1d,

	/* The one opcode of its transport, complete. */
	FRDMA_CNP		= 0x81,
};

/**
 * enum frdma_ext - extension headers, in the order they have on the wire
 * @FRDMA_EXT_XRCETH: struct frdma_xrceth
 * @FRDMA_EXT_DETH: struct frdma_deth
 * @FRDMA_EXT_FETH: struct frdma_feth
 * @FRDMA_EXT_RETH: struct frdma_reth
 * @FRDMA_EXT_ATOMIC: struct frdma_atomiceth
 * @FRDMA_EXT_AETH: struct frdma_aeth
 * @FRDMA_EXT_ATOMIC_ACK: struct frdma_atomicacketh
 * @FRDMA_EXT_IMM: struct frdma_immdt
 * @FRDMA_EXT_INV: struct frdma_ieth
 */
enum frdma_ext {
	FRDMA_EXT_XRCETH	= BIT(8),
	FRDMA_EXT_DETH		= BIT(0),
	FRDMA_EXT_FETH		= BIT(7),
	FRDMA_EXT_RETH		= BIT(1),
	FRDMA_EXT_ATOMIC	= BIT(2),
	FRDMA_EXT_AETH		= BIT(3),
	FRDMA_EXT_ATOMIC_ACK	= BIT(4),
	FRDMA_EXT_IMM		= BIT(5),
	FRDMA_EXT_INV		= BIT(6),
};

/**
 * enum frdma_kind - what an opcode is part of
 * @FRDMA_KIND_NONE: reserved, or not supported
 * @FRDMA_KIND_SEND: request: SEND
 * @FRDMA_KIND_WRITE: request: RDMA WRITE
 * @FRDMA_KIND_READ: request: RDMA READ
 * @FRDMA_KIND_ATOMIC: request: compare and swap, or fetch and add
 * @FRDMA_KIND_ATOMIC_WRITE: request: eight bytes at once (A19)
 * @FRDMA_KIND_FLUSH: request: what was written be where it is wanted (A19)
 * @FRDMA_KIND_READ_RESP: response: data of an RDMA READ; without data, the
 *	answer to an ATOMIC WRITE or FLUSH
 * @FRDMA_KIND_ACK: response: acknowledgement, positive or negative
 * @FRDMA_KIND_ATOMIC_ACK: response: result of an atomic operation
 * @FRDMA_KIND_CNP: congestion notification: a response, to whatever was marked
 */
enum frdma_kind {
	FRDMA_KIND_NONE = 0,
	FRDMA_KIND_SEND,
	FRDMA_KIND_WRITE,
	FRDMA_KIND_READ,
	FRDMA_KIND_ATOMIC,
	FRDMA_KIND_ATOMIC_WRITE,
	FRDMA_KIND_FLUSH,
	FRDMA_KIND_READ_RESP,
	FRDMA_KIND_ACK,
	FRDMA_KIND_ATOMIC_ACK,
	FRDMA_KIND_CNP,
};

/** frdma_kind_wants_response() - is a request answered by more than an ACK */
static inline bool frdma_kind_wants_response(u8 kind)
{
	return kind == FRDMA_KIND_READ || kind == FRDMA_KIND_ATOMIC ||
	       kind == FRDMA_KIND_ATOMIC_WRITE || kind == FRDMA_KIND_FLUSH;
}

/** frdma_kind_brings_data() - does its answer bring data to the requester */
static inline bool frdma_kind_brings_data(u8 kind)
{
	return kind == FRDMA_KIND_READ || kind == FRDMA_KIND_ATOMIC;
}

/**
 * struct frdma_op - what an opcode means
 * @name: as the specification writes it, for people
 * @ext: FRDMA_EXT_*, the extension headers that follow the BTH
 * @hdr_len: bytes of BTH and extension headers
 * @kind: enum frdma_kind
 * @access: FRDMA_ACC_*, what the queue pair must allow its peer; for a FLUSH
 *          its headers say it
 * @starts: first packet of a message
 * @ends: last packet of a message; a packet that starts and does not end, or
 *        does neither, carries exactly one path MTU
 * @payload: may carry payload
 * @takes_recv: a receive request must be at hand for it, and none is yet:
 *              SEND where it starts, WRITE with immediate data where it ends
 * @ends_recv: completes a receive request, and so may solicit an event
 * @response: goes from responder to requester
 */
struct frdma_op {
	const char *name;
	u16 ext;
	u8 hdr_len;
	u8 kind;
	u8 access;
	bool starts	: 1;
	bool ends	: 1;
	bool payload	: 1;
	bool takes_recv	: 1;
	bool ends_recv	: 1;
	bool response	: 1;
};

extern const struct frdma_op frdma_op_table[256];
extern const struct frdma_op frdma_op_reserved;

/**
 * frdma_op() - what an opcode means
 * @opcode: from the BTH, any value
 *
 * Context: any. Return: a row of a constant table, never NULL; kind is
 * FRDMA_KIND_NONE for what is reserved or not supported.
 */
static inline const struct frdma_op *frdma_op(u8 opcode)
{
	const struct frdma_op *op = &frdma_op_table[opcode];

	return op->kind == FRDMA_KIND_NONE ? &frdma_op_reserved : op;
}

/**
 * frdma_opcode_transport() - the transport that an opcode belongs to
 * @opcode: any value; reserved operations have a transport, too
 */
static inline enum frdma_transport frdma_opcode_transport(u8 opcode)
{
	return opcode & FRDMA_OPCODE_TRANSPORT;
}

/**
 * frdma_opcode_operation() - what an opcode asks for, on whatever transport
 * @opcode: any value
 *
 * Return: as RC numbers it.
 */
static inline u8 frdma_opcode_operation(u8 opcode)
{
	return opcode & ~FRDMA_OPCODE_TRANSPORT;
}

/** frdma_transport_is_reliable() - are there answers, and so a window */
static inline bool frdma_transport_is_reliable(enum frdma_transport transport)
{
	return transport == FRDMA_RC || transport == FRDMA_XRC;
}

/**
 * frdma_opcode_is_on() - does an opcode belong to a transport
 * @opcode: any value
 * @transport: of a queue pair
 *
 * Notifications have a transport of their own, and are for all (A17.9.3).
 */
static inline bool frdma_opcode_is_on(u8 opcode, enum frdma_transport transport)
{
	return frdma_opcode_transport(opcode) == transport ||
	       opcode == FRDMA_CNP;
}

/** frdma_opcode_swaps() - does an atomic compare and swap; else it adds */
static inline bool frdma_opcode_swaps(u8 opcode)
{
	return frdma_opcode_operation(opcode) == FRDMA_COMPARE_SWAP;
}

#endif /* FRDMA_PROTO_OP_H */
