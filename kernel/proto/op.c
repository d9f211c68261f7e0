// SPDX-License-Identifier: GPL-2.0
#include "op.h"
#include "access.h"
#include "wire.h"

/* Short words for the rows below. */
#define XRCETH		FRDMA_EXT_XRCETH
#define DETH		FRDMA_EXT_DETH
#define FETH		FRDMA_EXT_FETH
#define RETH		FRDMA_EXT_RETH
#define ATOMIC		FRDMA_EXT_ATOMIC
#define AETH		FRDMA_EXT_AETH
#define ATOMIC_ACK	FRDMA_EXT_ATOMIC_ACK
#define IMM		FRDMA_EXT_IMM
#define INV		FRDMA_EXT_INV

#define STARTS		.starts = true
#define ENDS		.ends = true
#define ONLY		STARTS, ENDS
#define PAYLOAD		.payload = true
#define TAKES_RECV	.takes_recv = true
#define ENDS_RECV	.ends_recv = true
#define RESPONSE	.response = true

#define LEN_IF(ext, bit, header) \
	((ext) & (bit) ? sizeof(struct frdma_##header) : 0)

#define HDR_LEN(ext)							\
	(sizeof(struct frdma_bth) +					\
	 LEN_IF(ext, XRCETH, xrceth) +					\
	 LEN_IF(ext, DETH, deth) +					\
	 LEN_IF(ext, FETH, feth) +					\
	 LEN_IF(ext, RETH, reth) +					\
	 LEN_IF(ext, ATOMIC, atomiceth) +				\
	 LEN_IF(ext, AETH, aeth) +					\
	 LEN_IF(ext, ATOMIC_ACK, atomicacketh) +			\
	 LEN_IF(ext, IMM, immdt) +					\
	 LEN_IF(ext, INV, ieth))

#define ROW(transport, opcode_, kind_, access_, ext_, ...)		\
	[FRDMA_##transport | FRDMA_##opcode_] = {			\
		.name		= #transport " " #opcode_,		\
		.kind		= FRDMA_KIND_##kind_,			\
		.access		= access_,				\
		.ext		= ext_,					\
		.hdr_len	= HDR_LEN(ext_),			\
		__VA_ARGS__						\
	}

/* What every request of a transport carries; answers do not. */
#define EVERY_RC	0
#define EVERY_UC	0
#define EVERY_UD	DETH
#define EVERY_XRC	XRCETH

#define SEND_ROW(transport, opcode, ext, ...)				\
	ROW(transport, SEND_##opcode, SEND, 0, EVERY_##transport | (ext), \
	    PAYLOAD, __VA_ARGS__)

#define WRITE_ROW(transport, opcode, ext, ...)				\
	ROW(transport, WRITE_##opcode, WRITE, FRDMA_ACC_REMOTE_WRITE,	\
	    EVERY_##transport | (ext), PAYLOAD, __VA_ARGS__)

/* What all connections have in common (IBTA vol. 1, table 38). */
#define CONNECTED(t)							\
	SEND_ROW(t, FIRST, 0, STARTS, TAKES_RECV),			\
	SEND_ROW(t, MIDDLE, 0),						\
	SEND_ROW(t, LAST, 0, ENDS, ENDS_RECV),				\
	SEND_ROW(t, LAST_IMM, IMM, ENDS, ENDS_RECV),			\
	SEND_ROW(t, ONLY, 0, ONLY, TAKES_RECV, ENDS_RECV),		\
	SEND_ROW(t, ONLY_IMM, IMM, ONLY, TAKES_RECV, ENDS_RECV),	\
	WRITE_ROW(t, FIRST, RETH, STARTS),				\
	WRITE_ROW(t, MIDDLE, 0),					\
	WRITE_ROW(t, LAST, 0, ENDS),					\
	WRITE_ROW(t, LAST_IMM, IMM, ENDS, TAKES_RECV, ENDS_RECV),	\
	WRITE_ROW(t, ONLY, RETH, ONLY),					\
	WRITE_ROW(t, ONLY_IMM, RETH | IMM, ONLY, TAKES_RECV, ENDS_RECV)

/* What those have that are answered (the same table, and A14). */
#define RELIABLE(t)							\
	CONNECTED(t),							\
	ROW(t, READ_REQUEST, READ, FRDMA_ACC_REMOTE_READ,		\
	    EVERY_##t | RETH, ONLY),					\
	ROW(t, READ_RESP_FIRST, READ_RESP, 0, AETH, STARTS, RESPONSE,	\
	    PAYLOAD),							\
	ROW(t, READ_RESP_MIDDLE, READ_RESP, 0, 0, RESPONSE, PAYLOAD),	\
	ROW(t, READ_RESP_LAST, READ_RESP, 0, AETH, ENDS, RESPONSE,	\
	    PAYLOAD),							\
	ROW(t, READ_RESP_ONLY, READ_RESP, 0, AETH, ONLY, RESPONSE,	\
	    PAYLOAD),							\
	ROW(t, ACKNOWLEDGE, ACK, 0, AETH, ONLY, RESPONSE),		\
	ROW(t, ATOMIC_ACK, ATOMIC_ACK, 0, AETH | ATOMIC_ACK, ONLY,	\
	    RESPONSE),							\
	ROW(t, COMPARE_SWAP, ATOMIC, FRDMA_ACC_REMOTE_ATOMIC,		\
	    EVERY_##t | ATOMIC, ONLY),					\
	ROW(t, FETCH_ADD, ATOMIC, FRDMA_ACC_REMOTE_ATOMIC,		\
	    EVERY_##t | ATOMIC, ONLY),					\
	SEND_ROW(t, LAST_INV, INV, ENDS, ENDS_RECV),			\
	SEND_ROW(t, ONLY_INV, INV, ONLY, TAKES_RECV, ENDS_RECV),	\
	ROW(t, FLUSH, FLUSH, 0, EVERY_##t | FETH | RETH, ONLY),		\
	ROW(t, ATOMIC_WRITE, ATOMIC_WRITE, FRDMA_ACC_REMOTE_WRITE,	\
	    EVERY_##t | RETH, ONLY, PAYLOAD)

const struct frdma_op frdma_op_table[256] = {
	RELIABLE(RC),

	CONNECTED(UC),

	SEND_ROW(UD, ONLY, 0, ONLY, TAKES_RECV, ENDS_RECV),
	SEND_ROW(UD, ONLY_IMM, IMM, ONLY, TAKES_RECV, ENDS_RECV),

	RELIABLE(XRC),

	[FRDMA_CNP] = {
		.name		= "CNP",
		.kind		= FRDMA_KIND_CNP,
		.hdr_len	= HDR_LEN(0),
		ONLY, RESPONSE,
	},
};

const struct frdma_op frdma_op_reserved = {
	.name		= "reserved",
	.hdr_len	= HDR_LEN(0),
};
