// SPDX-License-Identifier: GPL-2.0
#include "access.h"
#include "op.h"
#include "tap.h"

/* The specification's tables once more, as one line per opcode. */
static const struct {
	u8 opcode;
	u8 kind;
	u8 hdr_len;
	const char *flags;
} expected[] = {
	/* s: starts, e: ends, p: payload, r: takes, R: ends a receive */
	{ 0x00, FRDMA_KIND_SEND,	12,	"spr" },
	{ 0x01, FRDMA_KIND_SEND,	12,	"p" },
	{ 0x02, FRDMA_KIND_SEND,	12,	"epR" },
	{ 0x03, FRDMA_KIND_SEND,	16,	"epR" },
	{ 0x04, FRDMA_KIND_SEND,	12,	"seprR" },
	{ 0x05, FRDMA_KIND_SEND,	16,	"seprR" },
	{ 0x06, FRDMA_KIND_WRITE,	28,	"sp" },
	{ 0x07, FRDMA_KIND_WRITE,	12,	"p" },
	{ 0x08, FRDMA_KIND_WRITE,	12,	"ep" },
	{ 0x09, FRDMA_KIND_WRITE,	16,	"eprR" },
	{ 0x0a, FRDMA_KIND_WRITE,	28,	"sep" },
	{ 0x0b, FRDMA_KIND_WRITE,	32,	"seprR" },
	{ 0x0c, FRDMA_KIND_READ,	28,	"se" },
	{ 0x0d, FRDMA_KIND_READ_RESP,	16,	"spa" },
	{ 0x0e, FRDMA_KIND_READ_RESP,	12,	"pa" },
	{ 0x0f, FRDMA_KIND_READ_RESP,	16,	"epa" },
	{ 0x10, FRDMA_KIND_READ_RESP,	16,	"sepa" },
	{ 0x11, FRDMA_KIND_ACK,		16,	"sea" },
	{ 0x12, FRDMA_KIND_ATOMIC_ACK,	24,	"sea" },
	{ 0x13, FRDMA_KIND_ATOMIC,	40,	"se" },
	{ 0x14, FRDMA_KIND_ATOMIC,	40,	"se" },
	{ 0x16, FRDMA_KIND_SEND,	16,	"epR" },
	{ 0x17, FRDMA_KIND_SEND,	16,	"seprR" },
	{ 0x1c, FRDMA_KIND_FLUSH,	32,	"se" },
	{ 0x1d, FRDMA_KIND_ATOMIC_WRITE, 28,	"sep" },
	{ 0x20, FRDMA_KIND_SEND,	12,	"spr" },
	{ 0x21, FRDMA_KIND_SEND,	12,	"p" },
	{ 0x22, FRDMA_KIND_SEND,	12,	"epR" },
	{ 0x23, FRDMA_KIND_SEND,	16,	"epR" },
	{ 0x24, FRDMA_KIND_SEND,	12,	"seprR" },
	{ 0x25, FRDMA_KIND_SEND,	16,	"seprR" },
	{ 0x26, FRDMA_KIND_WRITE,	28,	"sp" },
	{ 0x27, FRDMA_KIND_WRITE,	12,	"p" },
	{ 0x28, FRDMA_KIND_WRITE,	12,	"ep" },
	{ 0x29, FRDMA_KIND_WRITE,	16,	"eprR" },
	{ 0x2a, FRDMA_KIND_WRITE,	28,	"sep" },
	{ 0x2b, FRDMA_KIND_WRITE,	32,	"seprR" },
	{ 0x64, FRDMA_KIND_SEND,	20,	"seprR" },
	{ 0x65, FRDMA_KIND_SEND,	24,	"seprR" },
	{ 0x81, FRDMA_KIND_CNP,		12,	"sea" },
	{ 0xa0, FRDMA_KIND_SEND,	16,	"spr" },
	{ 0xa1, FRDMA_KIND_SEND,	16,	"p" },
	{ 0xa2, FRDMA_KIND_SEND,	16,	"epR" },
	{ 0xa3, FRDMA_KIND_SEND,	20,	"epR" },
	{ 0xa4, FRDMA_KIND_SEND,	16,	"seprR" },
	{ 0xa5, FRDMA_KIND_SEND,	20,	"seprR" },
	{ 0xa6, FRDMA_KIND_WRITE,	32,	"sp" },
	{ 0xa7, FRDMA_KIND_WRITE,	16,	"p" },
	{ 0xa8, FRDMA_KIND_WRITE,	16,	"ep" },
	{ 0xa9, FRDMA_KIND_WRITE,	20,	"eprR" },
	{ 0xaa, FRDMA_KIND_WRITE,	32,	"sep" },
	{ 0xab, FRDMA_KIND_WRITE,	36,	"seprR" },
	{ 0xac, FRDMA_KIND_READ,	32,	"se" },
	{ 0xad, FRDMA_KIND_READ_RESP,	16,	"spa" },
	{ 0xae, FRDMA_KIND_READ_RESP,	12,	"pa" },
	{ 0xaf, FRDMA_KIND_READ_RESP,	16,	"epa" },
	{ 0xb0, FRDMA_KIND_READ_RESP,	16,	"sepa" },
	{ 0xb1, FRDMA_KIND_ACK,		16,	"sea" },
	{ 0xb2, FRDMA_KIND_ATOMIC_ACK,	24,	"sea" },
	{ 0xb3, FRDMA_KIND_ATOMIC,	44,	"se" },
	{ 0xb4, FRDMA_KIND_ATOMIC,	44,	"se" },
	{ 0xb6, FRDMA_KIND_SEND,	20,	"epR" },
	{ 0xb7, FRDMA_KIND_SEND,	20,	"seprR" },
	{ 0xbc, FRDMA_KIND_FLUSH,	36,	"se" },
	{ 0xbd, FRDMA_KIND_ATOMIC_WRITE, 32,	"sep" },
};

TEST(frdma_op__is_what_the_specification_says)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(expected); i++) {
		const struct frdma_op *op = frdma_op(expected[i].opcode);
		const char *flags = expected[i].flags;

		EXPECT_EQ(op->kind, expected[i].kind);
		EXPECT_EQ(op->hdr_len, expected[i].hdr_len);
		EXPECT_EQ(op->starts, !!strchr(flags, 's'));
		EXPECT_EQ(op->ends, !!strchr(flags, 'e'));
		EXPECT_EQ(op->payload, !!strchr(flags, 'p'));
		EXPECT_EQ(op->takes_recv, !!strchr(flags, 'r'));
		EXPECT_EQ(op->ends_recv, !!strchr(flags, 'R'));
		EXPECT_EQ(op->response, !!strchr(flags, 'a'));
	}
}

TEST(frdma_op__knows_no_other)
{
	size_t i;
	u32 opcode;

	for (opcode = 0; opcode < 256; opcode++) {
		const struct frdma_op *op = frdma_op(opcode);
		bool known = false;

		for (i = 0; i < ARRAY_SIZE(expected); i++)
			known |= expected[i].opcode == opcode;
		EXPECT(op && op->name);
		EXPECT_EQ(op->kind != FRDMA_KIND_NONE, known);
		EXPECT(known || (!op->access && !op->ext && !op->payload));
	}
}

TEST(frdma_op__asks_for_the_right_of_its_kind)
{
	static const u8 rights[] = {
		[FRDMA_KIND_WRITE]	= FRDMA_ACC_REMOTE_WRITE,
		[FRDMA_KIND_READ]	= FRDMA_ACC_REMOTE_READ,
		[FRDMA_KIND_ATOMIC]	= FRDMA_ACC_REMOTE_ATOMIC,
		[FRDMA_KIND_ATOMIC_WRITE] = FRDMA_ACC_REMOTE_WRITE,
		[FRDMA_KIND_CNP]	= 0,
	};
	u32 opcode;

	for (opcode = 0; opcode < 256; opcode++) {
		const struct frdma_op *op = frdma_op(opcode);

		EXPECT_EQ(op->access, rights[op->kind]);
	}
}

TEST(frdma_op__uc_is_rc_with_another_transport)
{
	u32 opcode;

	for (opcode = 0; opcode <= FRDMA_WRITE_ONLY_IMM; opcode++) {
		const struct frdma_op *rc = frdma_op(FRDMA_RC | opcode);
		const struct frdma_op *uc = frdma_op(FRDMA_UC | opcode);

		EXPECT_EQ(uc->kind, rc->kind);
		EXPECT_EQ(uc->ext, rc->ext);
		EXPECT_EQ(uc->access, rc->access);
		EXPECT(!strcmp(uc->name + 3, rc->name + 3));
	}
}

TEST(frdma_op__xrc_is_rc_with_a_queue_in_every_request)
{
	u32 operation;

	for (operation = 0; operation < 0x20; operation++) {
		const struct frdma_op *rc = frdma_op(FRDMA_RC | operation);
		const struct frdma_op *xrc = frdma_op(FRDMA_XRC | operation);
		bool request = rc->kind != FRDMA_KIND_NONE && !rc->response;

		EXPECT_EQ(xrc->kind, rc->kind);
		EXPECT_EQ(xrc->ext, rc->ext | (request ? FRDMA_EXT_XRCETH : 0));
		EXPECT_EQ(xrc->access, rc->access);
		EXPECT_EQ(frdma_opcode_operation(FRDMA_XRC | operation),
			  operation);
	}
}

TEST(frdma_opcode_transport__of_reserved_opcodes_too)
{
	EXPECT_EQ(frdma_opcode_transport(0x15), FRDMA_RC);
	EXPECT_EQ(frdma_opcode_transport(0x3f), FRDMA_UC);
	EXPECT_EQ(frdma_opcode_transport(0x44), FRDMA_RD);
	EXPECT_EQ(frdma_opcode_transport(0x7f), FRDMA_UD);
	EXPECT_EQ(frdma_opcode_transport(0x81), FRDMA_CN);
	EXPECT_EQ(frdma_opcode_transport(0xa0), FRDMA_XRC);
}

TEST(frdma_opcode_is_on__of_every_opcode)
{
	u32 opcode;

	for (opcode = 0; opcode < 256; opcode++) {
		EXPECT_EQ(frdma_opcode_is_on(opcode, FRDMA_RC),
			  opcode < 0x20 || opcode == FRDMA_CNP);
		EXPECT_EQ(frdma_opcode_is_on(opcode, FRDMA_UC),
			  (opcode >= 0x20 && opcode < 0x40) ||
			  opcode == FRDMA_CNP);
		EXPECT_EQ(frdma_opcode_is_on(opcode, FRDMA_UD),
			  (opcode >= 0x60 && opcode < 0x80) ||
			  opcode == FRDMA_CNP);
		EXPECT_EQ(frdma_opcode_is_on(opcode, FRDMA_XRC),
			  (opcode >= 0xa0 && opcode < 0xc0) ||
			  opcode == FRDMA_CNP);
	}
}

TEST(frdma_opcode_swaps__on_both_transports_that_have_it)
{
	EXPECT(frdma_opcode_swaps(FRDMA_COMPARE_SWAP));
	EXPECT(frdma_opcode_swaps(FRDMA_XRC | FRDMA_COMPARE_SWAP));
	EXPECT(!frdma_opcode_swaps(FRDMA_FETCH_ADD));
	EXPECT(!frdma_opcode_swaps(FRDMA_XRC | FRDMA_FETCH_ADD));
}

TEST(frdma_kind_wants_response__what_memory_it_needs)
{
	static const struct {
		u8 kind;
		bool wants;
		bool brings;
	} rows[] = {
		{ FRDMA_KIND_NONE, false, false },
		{ FRDMA_KIND_SEND, false, false },
		{ FRDMA_KIND_WRITE, false, false },
		{ FRDMA_KIND_READ, true, true },
		{ FRDMA_KIND_ATOMIC, true, true },
		{ FRDMA_KIND_ATOMIC_WRITE, true, false },
		{ FRDMA_KIND_FLUSH, true, false },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		EXPECT_EQ(frdma_kind_wants_response(rows[i].kind),
			  rows[i].wants);
		EXPECT_EQ(frdma_kind_brings_data(rows[i].kind),
			  rows[i].brings);
	}
}
