// SPDX-License-Identifier: GPL-2.0
#include "resp.h"
#include "rnd.h"
#include "tap.h"
#include "wire.h"

#define MTU	256
#define PSN	0xfffffe
#define NR_RES	4

static struct frdma_resp rs;
static struct frdma_resp_res res[NR_RES];
static const struct frdma_resp_recv no_recv;
static const struct frdma_resp_recv recv_1k = { .ready = true, .len = 1024 };

static void fresh(void)
{
	rs = (struct frdma_resp) {
		.mtu = MTU, .access = FRDMA_ACC_REMOTE,
		.res = res, .nr_res = NR_RES,
	};
	frdma_resp_init(&rs, PSN);
}

static u32 nth(u32 n)
{
	return frdma_psn_add(PSN, n);
}

/* A well-formed request at the expected PSN. */
static struct frdma_hdr request(u8 opcode, u32 len)
{
	return (struct frdma_hdr) {
		.opcode = opcode, .psn = rs.epsn, .ack_req = true,
		.payload_len = len, .pad = -len & 3,
		.va = 0x1000, .rkey = 7, .dma_len = len,
	};
}

static struct frdma_hdr read_request(u32 len)
{
	struct frdma_hdr hdr = request(FRDMA_READ_REQUEST, 0);

	hdr.dma_len = len;
	return hdr;
}

static struct frdma_hdr atomic_write(void)
{
	return request(FRDMA_ATOMIC_WRITE, 8);
}

static struct frdma_hdr flush(u8 placement, u8 select)
{
	struct frdma_hdr hdr = request(FRDMA_FLUSH, 0);

	hdr.flush_placement = placement;
	hdr.flush_select = select;
	hdr.dma_len = 3000;
	return hdr;
}

static enum frdma_resp_verdict judge(struct frdma_hdr hdr)
{
	return frdma_resp_judge(&rs, &hdr, recv_1k);
}

/* It must be right, and is executed. */
static void execute(struct frdma_hdr hdr)
{
	EXPECT_EQ(judge(hdr), FRDMA_RESP_ACCEPT);
	frdma_resp_commit(&rs, &hdr, 0x4242);
}

/* FIRST of a WRITE whose message is longer than a packet. */
static struct frdma_hdr write_first(u32 total)
{
	struct frdma_hdr hdr = request(FRDMA_WRITE_FIRST, MTU);

	hdr.dma_len = total;
	return hdr;
}

TEST(frdma_resp_commit__send_only)
{
	fresh();
	execute(request(FRDMA_SEND_ONLY, 100));
	EXPECT_EQ(rs.epsn, nth(1));
	EXPECT_EQ(rs.msn, 1);
	EXPECT(rs.ack_due);
	EXPECT(!rs.in_msg);
}

TEST(frdma_resp_commit__message_over_the_wrap)
{
	fresh();
	execute(request(FRDMA_SEND_FIRST, MTU));
	execute(request(FRDMA_SEND_MIDDLE, MTU));
	EXPECT_EQ(rs.got, 2 * MTU);
	execute(request(FRDMA_SEND_LAST_IMM, 3));
	EXPECT_EQ(rs.epsn, 1);
	EXPECT_EQ(rs.msn, 1);
	EXPECT_EQ(rs.got, 0);
}

TEST(frdma_resp_commit__ack_only_where_it_is_asked_for)
{
	struct frdma_hdr hdr;

	fresh();
	hdr = request(FRDMA_SEND_ONLY, 1);
	hdr.ack_req = false;
	execute(hdr);
	EXPECT(!rs.ack_due);
}

TEST(frdma_resp_commit__msn_comes_round)
{
	fresh();
	rs.msn = FRDMA_MSN_MASK;
	execute(request(FRDMA_SEND_ONLY, 1));
	EXPECT_EQ(rs.msn, 0);
}

TEST(frdma_resp_judge__gap_once)
{
	struct frdma_hdr hdr;
	u32 ahead;

	fresh();
	for (ahead = 1; ahead < FRDMA_PSN_HALF; ahead *= 2) {
		hdr = request(FRDMA_SEND_ONLY, 1);
		hdr.psn = frdma_psn_add(rs.epsn, ahead);
		rs.nak = FRDMA_RESP_NAK_NONE;
		EXPECT_EQ(judge(hdr), FRDMA_RESP_GAP);
		frdma_resp_put_off(&rs, FRDMA_RESP_GAP);
		EXPECT_EQ(rs.nak, FRDMA_RESP_NAK_SEQ);
		EXPECT_EQ(judge(hdr), FRDMA_RESP_WAITING);
		/* After a receiver-not-ready NAK no other is sent. */
		frdma_resp_put_off(&rs, FRDMA_RESP_NO_RECV);
		EXPECT_EQ(rs.nak, FRDMA_RESP_NAK_RNR);
		EXPECT_EQ(judge(hdr), FRDMA_RESP_WAITING);
	}

	execute(request(FRDMA_SEND_ONLY, 1));
	hdr = request(FRDMA_SEND_ONLY, 1);
	hdr.psn = frdma_psn_add(hdr.psn, 1);
	EXPECT_EQ(judge(hdr), FRDMA_RESP_GAP);
}

TEST(frdma_resp_judge__half_the_circle_is_a_duplicate)
{
	struct frdma_hdr hdr;

	fresh();
	hdr = request(FRDMA_SEND_ONLY, 1);
	hdr.psn = frdma_psn_add(rs.epsn, FRDMA_PSN_HALF);
	EXPECT_EQ(judge(hdr), FRDMA_RESP_DUPLICATE);
	hdr.psn = frdma_psn_add(rs.epsn, FRDMA_PSN_HALF - 1);
	EXPECT_EQ(judge(hdr), FRDMA_RESP_GAP);
}

TEST(frdma_resp_judge__no_receive_request)
{
	static const u8 taking[] = {
		FRDMA_SEND_FIRST, FRDMA_SEND_ONLY, FRDMA_SEND_ONLY_IMM,
		FRDMA_SEND_ONLY_INV, FRDMA_WRITE_ONLY_IMM,
	};
	struct frdma_hdr hdr;
	u32 i;

	fresh();
	for (i = 0; i < ARRAY_SIZE(taking); i++) {
		hdr = request(taking[i], MTU);
		EXPECT_EQ(frdma_resp_judge(&rs, &hdr, no_recv),
			  FRDMA_RESP_NO_RECV);
	}
	hdr = request(FRDMA_WRITE_ONLY, MTU);
	EXPECT_EQ(frdma_resp_judge(&rs, &hdr, no_recv), FRDMA_RESP_ACCEPT);

	/* With immediate data only its end takes one. */
	hdr = write_first(MTU + 1);
	EXPECT_EQ(frdma_resp_judge(&rs, &hdr, no_recv), FRDMA_RESP_ACCEPT);
	frdma_resp_commit(&rs, &hdr, 0);
	hdr = request(FRDMA_WRITE_LAST_IMM, 1);
	EXPECT_EQ(frdma_resp_judge(&rs, &hdr, no_recv), FRDMA_RESP_NO_RECV);
}

/* What may follow what: by kind and place, not opcode by opcode. */
static void expect_order(const u8 *before, u8 opcode, bool right)
{
	u32 len = opcode == FRDMA_READ_REQUEST ||
		  opcode == FRDMA_COMPARE_SWAP ? 0 :
		  frdma_op(opcode)->ends ? 1 : MTU;
	struct frdma_hdr hdr;

	fresh();
	if (before && frdma_op(*before)->kind == FRDMA_KIND_WRITE)
		execute(write_first(frdma_op(opcode)->ends ? MTU + 1 :
							     MTU * 3));
	else if (before)
		execute(request(*before, MTU));

	hdr = request(opcode, len);
	if (opcode == FRDMA_WRITE_FIRST)
		hdr.dma_len = MTU + 1;
	EXPECT_EQ(judge(hdr), right ? FRDMA_RESP_ACCEPT :
				      FRDMA_RESP_BAD_ORDER);
}

TEST(frdma_resp_judge__order_of_packets)
{
	static const u8 opcodes[] = {
		FRDMA_SEND_FIRST, FRDMA_SEND_MIDDLE, FRDMA_SEND_LAST,
		FRDMA_SEND_LAST_IMM, FRDMA_SEND_LAST_INV, FRDMA_SEND_ONLY,
		FRDMA_SEND_ONLY_IMM, FRDMA_SEND_ONLY_INV,
		FRDMA_WRITE_FIRST, FRDMA_WRITE_MIDDLE, FRDMA_WRITE_LAST,
		FRDMA_WRITE_LAST_IMM, FRDMA_WRITE_ONLY, FRDMA_WRITE_ONLY_IMM,
		FRDMA_READ_REQUEST, FRDMA_COMPARE_SWAP,
	};
	static const u8 send_first = FRDMA_SEND_FIRST;
	static const u8 write_first = FRDMA_WRITE_FIRST;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(opcodes); i++) {
		const struct frdma_op *op = frdma_op(opcodes[i]);

		expect_order(NULL, opcodes[i], op->starts);
		expect_order(&send_first, opcodes[i],
			     !op->starts && op->kind == FRDMA_KIND_SEND);
		expect_order(&write_first, opcodes[i],
			     !op->starts && op->kind == FRDMA_KIND_WRITE);
	}
}

TEST(frdma_resp_judge__reserved_opcodes)
{
	static const u8 reserved[] = { 0x15, 0x18, 0x19, 0x1a, 0x1b, 0x1f };
	u32 i;

	for (i = 0; i < ARRAY_SIZE(reserved); i++) {
		fresh();
		EXPECT_EQ(judge(request(reserved[i], 0)),
			  FRDMA_RESP_BAD_OPCODE);
	}
}

TEST(frdma_resp_judge__payload_of_first_and_middle_is_the_mtu)
{
	struct frdma_hdr hdr;

	fresh();
	EXPECT_EQ(judge(request(FRDMA_SEND_FIRST, MTU - 4)),
		  FRDMA_RESP_BAD_LENGTH);
	EXPECT_EQ(judge(request(FRDMA_SEND_FIRST, MTU + 4)),
		  FRDMA_RESP_BAD_LENGTH);
	hdr = request(FRDMA_SEND_FIRST, MTU);
	hdr.pad = 1;
	EXPECT_EQ(judge(hdr), FRDMA_RESP_BAD_LENGTH);
	execute(request(FRDMA_SEND_FIRST, MTU));
	EXPECT_EQ(judge(request(FRDMA_SEND_MIDDLE, MTU - 4)),
		  FRDMA_RESP_BAD_LENGTH);
}

TEST(frdma_resp_judge__payload_of_last_and_only)
{
	fresh();
	EXPECT_EQ(judge(request(FRDMA_SEND_ONLY, MTU + 1)),
		  FRDMA_RESP_BAD_LENGTH);
	EXPECT_EQ(judge(request(FRDMA_SEND_ONLY, 0)), FRDMA_RESP_ACCEPT);
	execute(request(FRDMA_SEND_FIRST, MTU));
	EXPECT_EQ(judge(request(FRDMA_SEND_LAST, 0)), FRDMA_RESP_BAD_LENGTH);
	EXPECT_EQ(judge(request(FRDMA_SEND_LAST, MTU + 1)),
		  FRDMA_RESP_BAD_LENGTH);
	EXPECT_EQ(judge(request(FRDMA_SEND_LAST, MTU)), FRDMA_RESP_ACCEPT);
}

TEST(frdma_resp_judge__pad_makes_a_multiple_of_four)
{
	struct frdma_hdr hdr;
	u32 len, pad;

	fresh();
	for (len = 0; len < 8; len++) {
		for (pad = 0; pad < 4; pad++) {
			hdr = request(FRDMA_SEND_ONLY, len);
			hdr.pad = pad;
			EXPECT_EQ(judge(hdr), (len + pad) % 4 ||
				  pad != (-len & 3) ? FRDMA_RESP_BAD_LENGTH :
						      FRDMA_RESP_ACCEPT);
		}
	}
}

TEST(frdma_resp_judge__write_brings_what_it_announced)
{
	struct frdma_hdr hdr;

	fresh();
	hdr = request(FRDMA_WRITE_ONLY, 8);
	hdr.dma_len = 9;
	EXPECT_EQ(judge(hdr), FRDMA_RESP_BAD_LENGTH);
	hdr.dma_len = 7;
	EXPECT_EQ(judge(hdr), FRDMA_RESP_BAD_LENGTH);
	EXPECT_EQ(judge(write_first(MTU)), FRDMA_RESP_BAD_LENGTH);

	execute(write_first(2 * MTU + 5));
	EXPECT_EQ(rs.va, 0x1000 + MTU);
	EXPECT_EQ(judge(request(FRDMA_WRITE_LAST, 5)), FRDMA_RESP_BAD_LENGTH);
	execute(request(FRDMA_WRITE_MIDDLE, MTU));
	EXPECT_EQ(judge(request(FRDMA_WRITE_MIDDLE, MTU)),
		  FRDMA_RESP_BAD_LENGTH);
	EXPECT_EQ(judge(request(FRDMA_WRITE_LAST, 4)), FRDMA_RESP_BAD_LENGTH);
	EXPECT_EQ(judge(request(FRDMA_WRITE_LAST, 6)), FRDMA_RESP_BAD_LENGTH);
	execute(request(FRDMA_WRITE_LAST, 5));
}

TEST(frdma_resp_judge__largest_message)
{
	fresh();
	EXPECT_EQ(judge(write_first(FRDMA_MSG_MAX)), FRDMA_RESP_ACCEPT);
	EXPECT_EQ(judge(write_first(FRDMA_MSG_MAX + 1)),
		  FRDMA_RESP_BAD_LENGTH);
	EXPECT_EQ(judge(read_request(FRDMA_MSG_MAX)), FRDMA_RESP_ACCEPT);
	EXPECT_EQ(judge(read_request(FRDMA_MSG_MAX + 1)),
		  FRDMA_RESP_BAD_LENGTH);
}

TEST(frdma_resp_judge__send_up_to_the_largest_message)
{
	struct frdma_resp_recv recv = { .ready = true, .len = U32_MAX };
	struct frdma_hdr hdr;

	fresh();
	execute(request(FRDMA_SEND_FIRST, MTU));
	rs.got = FRDMA_MSG_MAX - MTU;
	hdr = request(FRDMA_SEND_LAST, MTU);
	EXPECT_EQ(frdma_resp_judge(&rs, &hdr, recv), FRDMA_RESP_ACCEPT);
	rs.got++;
	EXPECT_EQ(frdma_resp_judge(&rs, &hdr, recv), FRDMA_RESP_BAD_LENGTH);
}

TEST(frdma_resp_judge__read_and_atomic_have_no_payload)
{
	fresh();
	EXPECT_EQ(judge(request(FRDMA_READ_REQUEST, 4)),
		  FRDMA_RESP_BAD_LENGTH);
	EXPECT_EQ(judge(request(FRDMA_FETCH_ADD, 4)), FRDMA_RESP_BAD_LENGTH);
}

/* What has no payload has no pad either. */
TEST(frdma_resp_judge__no_pad_without_payload)
{
	static const u8 opcodes[] = {
		FRDMA_READ_REQUEST, FRDMA_COMPARE_SWAP, FRDMA_FETCH_ADD,
		FRDMA_FLUSH, FRDMA_SEND_ONLY, FRDMA_WRITE_ONLY,
	};
	struct frdma_hdr hdr;
	u32 i;

	fresh();
	rs.access |= FRDMA_ACC_FLUSH;
	for (i = 0; i < ARRAY_SIZE(opcodes); i++) {
		hdr = request(opcodes[i], 0);
		hdr.flush_placement = FRDMA_FLUSH_GLOBAL;
		EXPECT_EQ(judge(hdr), FRDMA_RESP_ACCEPT);
		hdr.pad = 1;
		EXPECT_EQ(judge(hdr), FRDMA_RESP_BAD_LENGTH);
	}
}

TEST(frdma_resp_judge__send_of_another_length_than_its_place)
{
	fresh();
	EXPECT_EQ(judge(request(FRDMA_SEND_FIRST, MTU - 4)),
		  FRDMA_RESP_BAD_LENGTH);
	EXPECT_EQ(judge(request(FRDMA_SEND_ONLY, MTU + 4)),
		  FRDMA_RESP_BAD_LENGTH);
	execute(request(FRDMA_SEND_FIRST, MTU));
	EXPECT_EQ(judge(request(FRDMA_SEND_LAST, 0)), FRDMA_RESP_BAD_LENGTH);
}

TEST(frdma_resp_judge__atomic_write_is_eight_bytes)
{
	struct frdma_hdr hdr;
	u32 len;

	fresh();
	for (len = 0; len <= 16; len++) {
		hdr = request(FRDMA_ATOMIC_WRITE, len);
		EXPECT_EQ(judge(hdr), len == 8 ? FRDMA_RESP_ACCEPT :
						 FRDMA_RESP_BAD_LENGTH);
		hdr = atomic_write();
		hdr.dma_len = len;
		EXPECT_EQ(judge(hdr), len == 8 ? FRDMA_RESP_ACCEPT :
						 FRDMA_RESP_BAD_LENGTH);
	}
	hdr = atomic_write();
	hdr.pad = 1;
	EXPECT_EQ(judge(hdr), FRDMA_RESP_BAD_LENGTH);
}

TEST(frdma_resp_judge__flush)
{
	struct frdma_hdr hdr;
	u32 i;

	fresh();
	rs.access = FRDMA_ACC_FLUSH;
	for (i = 0; i < 16; i++)
		EXPECT_EQ(judge(flush(i, 0)), i >= 1 && i <= 3 ?
			  FRDMA_RESP_ACCEPT : FRDMA_RESP_BAD_OPCODE);
	for (i = 0; i < 4; i++)
		EXPECT_EQ(judge(flush(1, i)), i <= 1 ?
			  FRDMA_RESP_ACCEPT : FRDMA_RESP_BAD_OPCODE);

	hdr = flush(1, FRDMA_FLUSH_RANGE);
	hdr.va = 3;
	hdr.dma_len = FRDMA_MSG_MAX;
	EXPECT_EQ(judge(hdr), FRDMA_RESP_ACCEPT);
	hdr.dma_len++;
	EXPECT_EQ(judge(hdr), FRDMA_RESP_BAD_LENGTH);
	hdr.flush_select = FRDMA_FLUSH_REGION;
	EXPECT_EQ(judge(hdr), FRDMA_RESP_ACCEPT);
	hdr.payload_len = 4;
	EXPECT_EQ(judge(hdr), FRDMA_RESP_BAD_LENGTH);

	rs.nr_res = 0;
	EXPECT_EQ(judge(flush(1, 0)), FRDMA_RESP_NO_RESOURCES);
}

TEST(frdma_resp_judge__flush_needs_the_right_for_each_placement)
{
	static const u16 rights[] = {
		[FRDMA_FLUSH_GLOBAL] = FRDMA_ACC_FLUSH_GLOBAL,
		[FRDMA_FLUSH_PERSISTENT] = FRDMA_ACC_FLUSH_PERSISTENT,
		[3] = FRDMA_ACC_FLUSH,
	};
	u32 placement, have;

	fresh();
	for (placement = 1; placement <= 3; placement++)
		for (have = 0; have <= 3; have++) {
			struct frdma_hdr hdr = flush(placement, 0);

			rs.access = FRDMA_ACC_REMOTE | have << 8;
			EXPECT_EQ(judge(hdr), placement & ~have ?
				  FRDMA_RESP_NO_ACCESS : FRDMA_RESP_ACCEPT);
			EXPECT_EQ(frdma_resp_flush_access(&hdr),
				  rights[placement]);
		}
}

TEST(frdma_resp_judge__longer_than_the_receive_request)
{
	struct frdma_resp_recv recv = { .ready = true, .len = 300 };
	struct frdma_hdr hdr;

	fresh();
	execute(request(FRDMA_SEND_FIRST, MTU));
	hdr = request(FRDMA_SEND_LAST, 44);
	EXPECT_EQ(frdma_resp_judge(&rs, &hdr, recv), FRDMA_RESP_ACCEPT);
	hdr = request(FRDMA_SEND_LAST, 45);
	EXPECT_EQ(frdma_resp_judge(&rs, &hdr, recv), FRDMA_RESP_TOO_LONG);
	/* A WRITE does not go where the receive request points. */
	fresh();
	recv.len = 0;
	hdr = request(FRDMA_WRITE_ONLY_IMM, 45);
	EXPECT_EQ(frdma_resp_judge(&rs, &hdr, recv), FRDMA_RESP_ACCEPT);
}

TEST(frdma_resp_judge__rights_of_the_queue_pair)
{
	static const struct {
		u8 opcode, right;
	} ops[] = {
		{ FRDMA_WRITE_ONLY, FRDMA_ACC_REMOTE_WRITE },
		{ FRDMA_READ_REQUEST, FRDMA_ACC_REMOTE_READ },
		{ FRDMA_FETCH_ADD, FRDMA_ACC_REMOTE_ATOMIC },
		{ FRDMA_COMPARE_SWAP, FRDMA_ACC_REMOTE_ATOMIC },
		{ FRDMA_ATOMIC_WRITE, FRDMA_ACC_REMOTE_WRITE },
	};
	u32 i, len;

	for (i = 0; i < ARRAY_SIZE(ops); i++) {
		fresh();
		len = ops[i].opcode == FRDMA_ATOMIC_WRITE ? 8 : 0;
		rs.access = FRDMA_ACC_REMOTE & ~ops[i].right;
		EXPECT_EQ(judge(request(ops[i].opcode, len)),
			  FRDMA_RESP_NO_ACCESS);
		rs.access = ops[i].right;
		EXPECT_EQ(judge(request(ops[i].opcode, len)),
			  FRDMA_RESP_ACCEPT);
	}
	rs.access = 0;
	EXPECT_EQ(judge(request(FRDMA_SEND_ONLY, 0)), FRDMA_RESP_ACCEPT);
}

TEST(frdma_resp_judge__no_reads_and_atomics_without_resources)
{
	fresh();
	rs.nr_res = 0;
	EXPECT_EQ(judge(read_request(1)), FRDMA_RESP_NO_RESOURCES);
	EXPECT_EQ(judge(request(FRDMA_FETCH_ADD, 0)),
		  FRDMA_RESP_NO_RESOURCES);
	EXPECT_EQ(judge(atomic_write()), FRDMA_RESP_NO_RESOURCES);
}

TEST(frdma_resp_judge__atomic_on_eight_bytes)
{
	struct frdma_hdr hdr;
	u32 va;

	fresh();
	for (va = 0x1000; va < 0x1010; va++) {
		hdr = request(FRDMA_FETCH_ADD, 0);
		hdr.va = va;
		EXPECT_EQ(judge(hdr), va % 8 ? FRDMA_RESP_BAD_ALIGN :
					       FRDMA_RESP_ACCEPT);
		hdr = atomic_write();
		hdr.va = va;
		EXPECT_EQ(judge(hdr), va % 8 ? FRDMA_RESP_BAD_ALIGN :
					       FRDMA_RESP_ACCEPT);
	}
}

TEST(frdma_resp_fault__nak_of_every_verdict)
{
	static const u8 naks[FRDMA_RESP_NR] = {
		[FRDMA_RESP_BAD_ORDER]		= FRDMA_NAK_INV_REQ,
		[FRDMA_RESP_ASTRAY]		= FRDMA_NAK_ACCESS,
		[FRDMA_RESP_BAD_LENGTH]		= FRDMA_NAK_INV_REQ,
		[FRDMA_RESP_BAD_ALIGN]		= FRDMA_NAK_INV_REQ,
		[FRDMA_RESP_TOO_LONG]		= FRDMA_NAK_INV_REQ,
		[FRDMA_RESP_BAD_OPCODE]		= FRDMA_NAK_INV_REQ,
		[FRDMA_RESP_NO_ACCESS]		= FRDMA_NAK_INV_REQ,
		[FRDMA_RESP_NO_RESOURCES]	= FRDMA_NAK_INV_REQ,
		[FRDMA_RESP_BAD_KEY]		= FRDMA_NAK_ACCESS,
		[FRDMA_RESP_BAD_INV]		= FRDMA_NAK_ACCESS,
		[FRDMA_RESP_RECV_FAULT]		= FRDMA_NAK_OP,
	};
	u32 v;

	for (v = 0; v < FRDMA_RESP_NR; v++) {
		const struct frdma_resp_fault *fault = frdma_resp_fault(v);

		EXPECT_EQ(fault->nak, naks[v]);
		EXPECT_EQ(!!fault->recv_status, !!naks[v]);
	}
	EXPECT_EQ(frdma_resp_fault(FRDMA_RESP_TOO_LONG)->recv_status,
		  FRDMA_WC_LOC_LEN_ERR);
	EXPECT_EQ(frdma_resp_fault(FRDMA_RESP_RECV_FAULT)->recv_status,
		  FRDMA_WC_LOC_PROT_ERR);
}

static void expect_read_packet(u8 opcode, u32 n, u32 len)
{
	struct frdma_hdr hdr;

	EXPECT(rs.read.active);
	frdma_resp_read_plan(&rs, &hdr);
	EXPECT_EQ(hdr.opcode, opcode);
	EXPECT_EQ(hdr.psn, nth(n));
	EXPECT_EQ(hdr.payload_len, len);
	EXPECT_EQ(hdr.pad, -len & 3);
	EXPECT_EQ(hdr.syndrome, 0x1f);
	EXPECT_EQ(hdr.msn, rs.msn);
	frdma_resp_read_sent(&rs, &hdr, 1);
}

TEST(frdma_resp_read_plan__response_of_several_packets)
{
	fresh();
	execute(read_request(3 * MTU + 2));
	EXPECT_EQ(rs.epsn, nth(4));
	EXPECT_EQ(rs.msn, 1);
	expect_read_packet(FRDMA_READ_RESP_FIRST, 0, MTU);
	EXPECT_EQ(rs.read.va, 0x1000 + MTU);
	expect_read_packet(FRDMA_READ_RESP_MIDDLE, 1, MTU);
	expect_read_packet(FRDMA_READ_RESP_MIDDLE, 2, MTU);
	expect_read_packet(FRDMA_READ_RESP_LAST, 3, 2);
	EXPECT(!rs.read.active);
}

TEST(frdma_resp_read_plan__response_of_one_packet)
{
	static const u32 lens[] = { 0, 1, MTU };
	u32 i;

	for (i = 0; i < ARRAY_SIZE(lens); i++) {
		fresh();
		execute(read_request(lens[i]));
		EXPECT_EQ(rs.epsn, nth(1));
		expect_read_packet(FRDMA_READ_RESP_ONLY, 0, lens[i]);
		EXPECT(!rs.read.active);
	}
}

TEST(frdma_resp_read_plan__exact_multiple_of_the_mtu)
{
	fresh();
	execute(read_request(2 * MTU));
	EXPECT_EQ(rs.epsn, nth(2));
	expect_read_packet(FRDMA_READ_RESP_FIRST, 0, MTU);
	expect_read_packet(FRDMA_READ_RESP_LAST, 1, MTU);
	EXPECT(!rs.read.active);
}

/* Packet by packet, the engine would have done the same. */
static u32 send_response_run(u32 max)
{
	struct frdma_resp one = rs;
	struct frdma_hdr hdr, next;
	u32 nr, n;

	frdma_resp_read_plan(&rs, &hdr);
	nr = frdma_resp_read_run(&rs, &hdr, max);
	for (n = 0; n < nr; n++) {
		EXPECT(one.read.active);
		frdma_resp_read_plan(&one, &next);
		EXPECT_EQ(next.psn, frdma_psn_add(hdr.psn, n));
		next.psn = hdr.psn;
		EXPECT(!memcmp(&next, &hdr, sizeof(hdr)));
		frdma_resp_read_sent(&one, &next, 1);
	}
	frdma_resp_read_sent(&rs, &hdr, nr);
	EXPECT(!memcmp(&rs, &one, sizeof(one)));
	return nr;
}

TEST(frdma_resp_read_run__between_the_first_and_the_last)
{
	u32 npkts, left;

	for (npkts = 1; npkts < 9; npkts++) {
		for (left = 1; left <= MTU; left += MTU - 1) {
			fresh();
			execute(read_request((npkts - 1) * MTU + left));
			EXPECT_EQ(send_response_run(U32_MAX), 1);
			if (npkts > 2)
				EXPECT_EQ(send_response_run(U32_MAX),
					  npkts - 2);
			if (npkts > 1)
				EXPECT_EQ(send_response_run(U32_MAX), 1);
			EXPECT(!rs.read.active);
		}
	}
}

TEST(frdma_resp_read_run__no_longer_than_wanted)
{
	fresh();
	execute(read_request(9 * MTU));
	EXPECT_EQ(send_response_run(5), 1);
	EXPECT_EQ(send_response_run(5), 5);
	EXPECT_EQ(send_response_run(5), 2);
	EXPECT_EQ(send_response_run(5), 1);
	EXPECT(!rs.read.active);
}

TEST(frdma_resp_read_run__of_nothing)
{
	fresh();
	execute(read_request(0));
	EXPECT_EQ(send_response_run(U32_MAX), 1);
	EXPECT(!rs.read.active);
}

static enum frdma_dup_verdict judge_dup(struct frdma_hdr hdr)
{
	enum frdma_dup_verdict verdict;

	EXPECT_EQ(judge(hdr), FRDMA_RESP_DUPLICATE);
	verdict = frdma_resp_judge_dup(&rs, &hdr);
	frdma_resp_commit_dup(&rs, &hdr, verdict);
	return verdict;
}

static void finish_read(void)
{
	struct frdma_hdr hdr;

	while (rs.read.active) {
		frdma_resp_read_plan(&rs, &hdr);
		frdma_resp_read_sent(&rs, &hdr, 1);
	}
}

TEST(frdma_resp_judge_dup__send_and_write_are_acknowledged_again)
{
	struct frdma_hdr send, write;

	fresh();
	send = request(FRDMA_SEND_ONLY, 1);
	execute(send);
	write = request(FRDMA_WRITE_ONLY, 1);
	execute(write);
	rs.ack_due = false;
	EXPECT_EQ(judge_dup(send), FRDMA_DUP_ACK);
	EXPECT(rs.ack_due);
	rs.ack_due = false;
	EXPECT_EQ(judge_dup(write), FRDMA_DUP_ACK);
	EXPECT(rs.ack_due);
	EXPECT_EQ(rs.epsn, nth(2));
	EXPECT_EQ(rs.msn, 2);
}

TEST(frdma_resp_judge_dup__before_the_first_request)
{
	struct frdma_hdr hdr;

	fresh();
	hdr = request(FRDMA_SEND_ONLY, 1);
	hdr.psn = nth(-1);
	EXPECT_EQ(judge_dup(hdr), FRDMA_DUP_ACK);
	/* So rq_psn - 1 is acknowledged, and not something made up. */
	EXPECT_EQ(rs.epsn, nth(0));
	hdr.opcode = FRDMA_READ_REQUEST;
	EXPECT_EQ(judge_dup(hdr), FRDMA_DUP_DROP);
}

TEST(frdma_resp_judge_dup__read_whole)
{
	struct frdma_hdr hdr;

	fresh();
	hdr = read_request(2 * MTU);
	execute(hdr);
	finish_read();
	EXPECT_EQ(judge_dup(hdr), FRDMA_DUP_READ);
	expect_read_packet(FRDMA_READ_RESP_FIRST, 0, MTU);
	expect_read_packet(FRDMA_READ_RESP_LAST, 1, MTU);
	EXPECT_EQ(rs.epsn, nth(2));
	EXPECT_EQ(rs.msn, 1);
}

/* So many READs of two packets, none of them answered but the last, which waits. */
static struct frdma_hdr last_of_reads(u32 nr)
{
	struct frdma_hdr hdr;

	fresh();
	while (nr--) {
		finish_read();
		hdr = read_request(2 * MTU);
		execute(hdr);
	}
	return hdr;
}

TEST(frdma_resp_read_yields__to_what_it_has_not_sent)
{
	struct frdma_hdr hdr = last_of_reads(2);

	EXPECT(frdma_resp_read_yields(&rs, &hdr));
	hdr.psn = nth(0);
	EXPECT(frdma_resp_read_yields(&rs, &hdr));
	hdr.psn = nth(3);
	EXPECT(!frdma_resp_read_yields(&rs, &hdr));
	expect_read_packet(FRDMA_READ_RESP_FIRST, 2, MTU);
	EXPECT(frdma_resp_read_yields(&rs, &hdr));
	hdr.psn = nth(4);
	EXPECT(!frdma_resp_read_yields(&rs, &hdr));
	hdr = request(FRDMA_SEND_ONLY, 0);
	hdr.psn = nth(1);
	EXPECT(!frdma_resp_read_yields(&rs, &hdr));
}

/* READs are asked for again, of which the first waits: the others come behind it. */
TEST(frdma_resp_read_yields__not_to_the_next)
{
	struct frdma_hdr second = last_of_reads(2), first = second;

	finish_read();
	first.psn = nth(0);
	EXPECT_EQ(judge_dup(first), FRDMA_DUP_READ);
	EXPECT(rs.read.again);
	EXPECT(!frdma_resp_read_yields(&rs, &second));
	EXPECT(frdma_resp_read_yields(&rs, &first));
}

TEST(frdma_resp_commit_dup__read_that_was_never_sent)
{
	struct frdma_hdr hdr = last_of_reads(1);

	EXPECT(!rs.read.asked);
	EXPECT_EQ(judge_dup(hdr), FRDMA_DUP_READ);
	EXPECT(!rs.read.again);
	EXPECT(rs.read.asked);
	expect_read_packet(FRDMA_READ_RESP_FIRST, 0, MTU);
	EXPECT_EQ(judge_dup(hdr), FRDMA_DUP_READ);
	EXPECT(!rs.read.again);
	EXPECT(rs.read.fresh);
	finish_read();
	EXPECT_EQ(judge_dup(hdr), FRDMA_DUP_READ);
	EXPECT(rs.read.again);
	EXPECT_EQ(judge_dup(hdr), FRDMA_DUP_READ);
	EXPECT(rs.read.again);
}

/* The rest of it is asked for, then all: that is not another. */
TEST(frdma_resp_commit_dup__read_from_its_middle_and_whole)
{
	struct frdma_hdr hdr = last_of_reads(1), rest = hdr;

	rest.psn = nth(1);
	rest.va += MTU;
	rest.dma_len = MTU;
	expect_read_packet(FRDMA_READ_RESP_FIRST, 0, MTU);
	EXPECT_EQ(judge_dup(rest), FRDMA_DUP_READ);
	EXPECT(!rs.read.again);
	EXPECT_EQ(judge_dup(hdr), FRDMA_DUP_READ);
	EXPECT(!rs.read.again);
	finish_read();
	EXPECT(!rs.read.active);
}

/* A late copy of a READ does not take away the response to another. */
TEST(frdma_resp_commit_dup__read_before_one_that_waits)
{
	struct frdma_hdr third = last_of_reads(3), hdr = third;

	hdr.psn = nth(2);
	EXPECT_EQ(judge_dup(hdr), FRDMA_DUP_READ);
	EXPECT(rs.read.again);
	hdr.psn = nth(0);
	EXPECT_EQ(judge_dup(hdr), FRDMA_DUP_READ);
	EXPECT(rs.read.again);
	expect_read_packet(FRDMA_READ_RESP_FIRST, 0, MTU);
	expect_read_packet(FRDMA_READ_RESP_LAST, 1, MTU);
	EXPECT(!rs.read.again);
	expect_read_packet(FRDMA_READ_RESP_FIRST, 4, MTU);
	expect_read_packet(FRDMA_READ_RESP_LAST, 5, MTU);
	EXPECT(!rs.read.active);
}

TEST(frdma_resp_forget_reads__all)
{
	struct frdma_hdr hdr = last_of_reads(2);

	hdr.psn = nth(0);
	EXPECT_EQ(judge_dup(hdr), FRDMA_DUP_READ);
	frdma_resp_forget_reads(&rs);
	EXPECT(!rs.read.active);
	frdma_resp_read_end(&rs);
	EXPECT(!rs.read.active);
}

TEST(frdma_resp_judge_dup__read_from_the_middle)
{
	struct frdma_hdr hdr;

	fresh();
	hdr = read_request(3 * MTU);
	execute(hdr);
	finish_read();
	hdr.psn = nth(1);
	hdr.va += MTU;
	hdr.dma_len = 2 * MTU;
	EXPECT_EQ(judge_dup(hdr), FRDMA_DUP_READ);
	expect_read_packet(FRDMA_READ_RESP_FIRST, 1, MTU);
	expect_read_packet(FRDMA_READ_RESP_LAST, 2, MTU);
}

TEST(frdma_resp_judge_dup__read_that_is_another_one)
{
	struct frdma_hdr hdr, other;

	fresh();
	hdr = read_request(2 * MTU);
	execute(hdr);
	finish_read();

	other = hdr;
	other.rkey++;
	EXPECT_EQ(judge_dup(other), FRDMA_DUP_DROP);
	other = hdr;
	other.va++;
	EXPECT_EQ(judge_dup(other), FRDMA_DUP_DROP);
	other = hdr;
	other.dma_len++;
	EXPECT_EQ(judge_dup(other), FRDMA_DUP_DROP);
	other = hdr;
	other.psn = nth(1);
	EXPECT_EQ(judge_dup(other), FRDMA_DUP_DROP);
	other = hdr;
	other.payload_len = 4;
	EXPECT_EQ(judge_dup(other), FRDMA_DUP_DROP);
	/* Not even an atomic of the same address. */
	other = request(FRDMA_FETCH_ADD, 0);
	other.psn = hdr.psn;
	EXPECT_EQ(judge_dup(other), FRDMA_DUP_DROP);
	EXPECT(!rs.read.active);
}

TEST(frdma_resp_judge_dup__read_behind_the_one_that_is_kept)
{
	struct frdma_hdr hdr;

	fresh();
	execute(read_request(2 * MTU));
	finish_read();
	execute(request(FRDMA_SEND_ONLY, 0));
	hdr = read_request(0);
	hdr.psn = nth(2);
	hdr.va += 2 * MTU;
	EXPECT_EQ(judge_dup(hdr), FRDMA_DUP_DROP);
}

/* The right was there when it was asked for first, and was taken away. */
TEST(frdma_resp_judge_dup__read_without_the_right)
{
	struct frdma_hdr hdr;

	fresh();
	hdr = read_request(MTU);
	execute(hdr);
	finish_read();
	rs.access = FRDMA_ACC_REMOTE & ~FRDMA_ACC_REMOTE_READ;
	EXPECT_EQ(judge_dup(hdr), FRDMA_DUP_DROP);
	EXPECT(!rs.read.active);
	rs.access = FRDMA_ACC_REMOTE_READ;
	EXPECT_EQ(judge_dup(hdr), FRDMA_DUP_READ);
}

TEST(frdma_resp_init__forgets_what_was_kept)
{
	struct frdma_hdr hdr[NR_RES];
	u32 i;

	fresh();
	for (i = 0; i < NR_RES; i++) {
		hdr[i] = request(FRDMA_FETCH_ADD, 0);
		execute(hdr[i]);
	}
	frdma_resp_init(&rs, nth(NR_RES));
	for (i = 0; i < NR_RES; i++)
		EXPECT_EQ(judge_dup(hdr[i]), FRDMA_DUP_DROP);
}

TEST(frdma_resp_judge_dup__atomic_is_not_executed_again)
{
	struct frdma_hdr hdr;

	fresh();
	hdr = request(FRDMA_FETCH_ADD, 0);
	execute(hdr);
	EXPECT_EQ(judge_dup(hdr), FRDMA_DUP_ATOMIC);
	EXPECT_EQ(frdma_resp_saved(&rs, hdr.psn), 0x4242);
	hdr.opcode = FRDMA_READ_REQUEST;
	EXPECT_EQ(judge_dup(hdr), FRDMA_DUP_DROP);
}

TEST(frdma_resp_commit__atomic_write_is_not_acknowledged_but_answered)
{
	struct frdma_hdr hdr;

	fresh();
	execute(request(FRDMA_SEND_ONLY, 1));
	rs.ack_due = false;
	execute(atomic_write());
	EXPECT_EQ(rs.epsn, nth(2));
	EXPECT_EQ(rs.msn, 2);
	EXPECT(!rs.ack_due && !rs.in_msg);

	frdma_resp_empty_plan(&rs, nth(1), &hdr);
	EXPECT_EQ(hdr.opcode, FRDMA_READ_RESP_ONLY);
	EXPECT_EQ(hdr.psn, nth(1));
	EXPECT_EQ(hdr.msn, 2);
	EXPECT_EQ(hdr.syndrome, FRDMA_AETH_ACK | FRDMA_AETH_NO_CREDITS);
	EXPECT_EQ(hdr.payload_len, 0);
}

TEST(frdma_resp_judge_dup__atomic_write_is_answered_however_old)
{
	struct frdma_hdr hdr;
	u32 i;

	fresh();
	hdr = atomic_write();
	execute(hdr);
	for (i = 0; i <= NR_RES; i++)
		execute(request(FRDMA_FETCH_ADD, 0));
	EXPECT_EQ(judge(hdr), FRDMA_RESP_DUPLICATE);
	EXPECT_EQ(judge_dup(hdr), FRDMA_DUP_EMPTY);
	hdr.opcode = FRDMA_FLUSH;
	EXPECT_EQ(judge_dup(hdr), FRDMA_DUP_EMPTY);
	frdma_resp_commit_dup(&rs, &hdr, FRDMA_DUP_EMPTY);
	EXPECT(!rs.ack_due && !rs.read.active);
	EXPECT_EQ(rs.epsn, nth(NR_RES + 2));
}

TEST(frdma_resp_judge_dup__only_the_newest_are_kept)
{
	struct frdma_hdr hdr[NR_RES + 1];
	u32 i;

	fresh();
	for (i = 0; i <= NR_RES; i++) {
		hdr[i] = request(FRDMA_FETCH_ADD, 0);
		execute(hdr[i]);
	}
	EXPECT_EQ(judge_dup(hdr[0]), FRDMA_DUP_DROP);
	for (i = 1; i <= NR_RES; i++)
		EXPECT_EQ(judge_dup(hdr[i]), FRDMA_DUP_ATOMIC);
}

/* More room, less, none, and a ring that has come round or not. */
TEST(frdma_resp_resize__the_newest_stay)
{
	static const u32 sizes[] = { 8, NR_RES, 3, 1, 0 };
	struct frdma_hdr hdr[NR_RES + 2];
	struct frdma_resp_res room[8];
	u32 done, i, s;

	for (s = 0; s < ARRAY_SIZE(sizes); s++) {
		for (done = 0; done <= NR_RES + 2; done++) {
			u32 stay = min(min(done, (u32)NR_RES), sizes[s]);

			fresh();
			for (i = 0; i < done; i++) {
				hdr[i] = request(FRDMA_FETCH_ADD, 0);
				execute(hdr[i]);
			}
			memset(room, 0, sizeof(room));
			EXPECT(frdma_resp_resize(&rs, sizes[s] ? room : NULL,
						 sizes[s]) == res);
			EXPECT_EQ(rs.nr_res, sizes[s]);
			for (i = 0; i < done; i++)
				EXPECT_EQ(judge_dup(hdr[i]), i + stay < done ?
					  FRDMA_DUP_DROP : FRDMA_DUP_ATOMIC);

			/* The next one takes the place of the oldest. */
			if (!sizes[s])
				continue;
			execute(request(FRDMA_FETCH_ADD, 0));
			for (i = 0; i < done; i++)
				EXPECT_EQ(judge_dup(hdr[i]),
					  i + min(stay, sizes[s] - 1) < done ?
					  FRDMA_DUP_DROP : FRDMA_DUP_ATOMIC);
		}
	}
}

TEST(frdma_resp_resize__from_nothing)
{
	struct frdma_hdr hdr;

	fresh();
	rs.res = NULL;
	rs.nr_res = 0;
	EXPECT(!frdma_resp_resize(&rs, res, NR_RES));
	hdr = request(FRDMA_FETCH_ADD, 0);
	execute(hdr);
	EXPECT_EQ(judge_dup(hdr), FRDMA_DUP_ATOMIC);
}

TEST(frdma_resp_judge_dup__psns_have_come_round)
{
	struct frdma_hdr hdr;
	u32 i;

	fresh();
	execute(request(FRDMA_FETCH_ADD, 0));
	/* As many SENDs as bring the same PSN up again. */
	for (i = 0; i < FRDMA_PSN_MASK; i++) {
		hdr = request(FRDMA_SEND_ONLY, 0);
		frdma_resp_commit(&rs, &hdr, 0);
	}
	hdr = request(FRDMA_COMPARE_SWAP, 0);
	EXPECT_EQ(hdr.psn, nth(0));
	frdma_resp_commit(&rs, &hdr, 0x9999);
	EXPECT_EQ(judge_dup(hdr), FRDMA_DUP_ATOMIC);
	EXPECT_EQ(frdma_resp_saved(&rs, hdr.psn), 0x9999);
}

TEST(frdma_resp_judge__changes_nothing)
{
	struct rnd rnd = { 3 };
	struct frdma_resp before;
	struct frdma_hdr hdr;
	u32 i;

	fresh();
	execute(request(FRDMA_SEND_FIRST, MTU));
	before = rs;
	for (i = 0; i < 10000; i++) {
		rnd_fill(&rnd, &hdr, sizeof(hdr));
		hdr.solicited = hdr.ack_req = hdr.migreq = false;
		hdr.fecn = hdr.becn = false;
		hdr.opcode &= 0x1f;
		hdr.psn = frdma_psn_add(rs.epsn, rnd_below(&rnd, 3) - 1);
		if (frdma_op(hdr.opcode)->response)
			continue;
		frdma_resp_judge(&rs, &hdr, recv_1k);
		EXPECT(!memcmp(&before, &rs, sizeof(rs)));
	}
}

/*
 * Unreliable connections.
 */

static enum frdma_resp_verdict judge_uc(struct frdma_hdr hdr)
{
	hdr.opcode |= FRDMA_UC;
	return frdma_resp_judge_uc(&rs, &hdr, recv_1k);
}

/* As its owner does it. */
static enum frdma_resp_verdict take_uc(struct frdma_hdr hdr)
{
	enum frdma_resp_verdict verdict;

	hdr.opcode |= FRDMA_UC;
	if (frdma_resp_breaks(&rs, &hdr))
		frdma_resp_abandon(&rs);
	verdict = frdma_resp_judge_uc(&rs, &hdr, recv_1k);
	if (verdict == FRDMA_RESP_ACCEPT)
		frdma_resp_commit_uc(&rs, &hdr);
	else
		frdma_resp_abandon(&rs);
	return verdict;
}

TEST(frdma_resp_judge_uc__message_over_the_wrap)
{
	fresh();
	EXPECT_EQ(take_uc(request(FRDMA_SEND_FIRST, MTU)), FRDMA_RESP_ACCEPT);
	EXPECT_EQ(take_uc(request(FRDMA_SEND_MIDDLE, MTU)), FRDMA_RESP_ACCEPT);
	EXPECT_EQ(rs.got, 2 * MTU);
	EXPECT_EQ(take_uc(request(FRDMA_SEND_LAST_IMM, 3)), FRDMA_RESP_ACCEPT);
	EXPECT_EQ(rs.epsn, 1);
	EXPECT(!rs.in_msg);
	EXPECT_EQ(rs.got, 0);
	EXPECT(!rs.ack_due);
}

/* E1: the rest of the message is dropped, and the next one is taken. */
TEST(frdma_resp_judge_uc__lost_middle)
{
	struct frdma_hdr hdr;

	fresh();
	take_uc(request(FRDMA_SEND_FIRST, MTU));
	hdr = request(FRDMA_SEND_MIDDLE, MTU);
	hdr.psn = frdma_psn_add(hdr.psn, 1);
	EXPECT_EQ(take_uc(hdr), FRDMA_RESP_BAD_ORDER);
	hdr.psn = frdma_psn_add(hdr.psn, 1);
	EXPECT_EQ(take_uc(hdr), FRDMA_RESP_BAD_ORDER);
	hdr.opcode = FRDMA_SEND_LAST;
	hdr.psn = frdma_psn_add(hdr.psn, 1);
	EXPECT_EQ(take_uc(hdr), FRDMA_RESP_BAD_ORDER);
	EXPECT_EQ(rs.got, 0);

	hdr = request(FRDMA_SEND_ONLY, 9);
	hdr.psn = 77;
	EXPECT_EQ(take_uc(hdr), FRDMA_RESP_ACCEPT);
	EXPECT_EQ(rs.epsn, 78);
}

/* E2: any PSN begins a message, also one that was seen before. */
TEST(frdma_resp_judge_uc__beginning_with_any_psn)
{
	struct frdma_hdr hdr;
	u32 ahead;

	for (ahead = 0; ahead <= FRDMA_PSN_MASK; ahead += 0xfff) {
		fresh();
		hdr = write_first(2 * MTU);
		hdr.psn = nth(ahead);
		EXPECT_EQ(take_uc(hdr), FRDMA_RESP_ACCEPT);
		EXPECT_EQ(rs.epsn, nth(ahead + 1));
		EXPECT_EQ(take_uc(request(FRDMA_WRITE_LAST, MTU)),
			  FRDMA_RESP_ACCEPT);
	}
}

TEST(frdma_resp_judge_uc__lost_last)
{
	struct frdma_hdr hdr;

	/* With the expected PSN, as after a sender's local error. */
	fresh();
	take_uc(request(FRDMA_SEND_FIRST, MTU));
	take_uc(request(FRDMA_SEND_MIDDLE, MTU));
	EXPECT_EQ(take_uc(request(FRDMA_SEND_FIRST, MTU)), FRDMA_RESP_ACCEPT);
	EXPECT_EQ(rs.got, MTU);

	/* And with a later one. */
	hdr = request(FRDMA_WRITE_ONLY, 5);
	hdr.psn = frdma_psn_add(hdr.psn, 1);
	EXPECT_EQ(take_uc(hdr), FRDMA_RESP_ACCEPT);
	EXPECT(!rs.in_msg);
	EXPECT_EQ(rs.got, 0);
}

TEST(frdma_resp_judge_uc__other_kind_inside_a_message)
{
	fresh();
	take_uc(request(FRDMA_SEND_FIRST, MTU));
	EXPECT_EQ(take_uc(request(FRDMA_WRITE_MIDDLE, MTU)),
		  FRDMA_RESP_BAD_ORDER);
	EXPECT_EQ(take_uc(request(FRDMA_SEND_LAST, 1)), FRDMA_RESP_BAD_ORDER);
}

TEST(frdma_resp_judge_uc__length)
{
	struct frdma_hdr hdr;

	fresh();
	EXPECT_EQ(take_uc(request(FRDMA_SEND_FIRST, MTU - 4)),
		  FRDMA_RESP_BAD_LENGTH);
	EXPECT_EQ(take_uc(request(FRDMA_SEND_ONLY, MTU + 4)),
		  FRDMA_RESP_BAD_LENGTH);

	/* E4: what is announced does not come. */
	EXPECT_EQ(take_uc(write_first(2 * MTU)), FRDMA_RESP_ACCEPT);
	EXPECT_EQ(take_uc(request(FRDMA_WRITE_LAST, MTU - 4)),
		  FRDMA_RESP_BAD_LENGTH);
	EXPECT(!rs.in_msg);

	/* Of a receive request of 1 KiB. */
	take_uc(request(FRDMA_SEND_FIRST, MTU));
	take_uc(request(FRDMA_SEND_MIDDLE, MTU));
	take_uc(request(FRDMA_SEND_MIDDLE, MTU));
	take_uc(request(FRDMA_SEND_MIDDLE, MTU));
	hdr = request(FRDMA_SEND_LAST, 1);
	EXPECT_EQ(take_uc(hdr), FRDMA_RESP_TOO_LONG);
	EXPECT(!rs.in_msg);
}

TEST(frdma_resp_judge_uc__refused_beginning)
{
	struct frdma_hdr hdr;

	fresh();
	hdr = request(FRDMA_UC | FRDMA_SEND_FIRST, MTU);
	EXPECT_EQ(frdma_resp_judge_uc(&rs, &hdr, no_recv), FRDMA_RESP_NO_RECV);
	hdr = request(FRDMA_UC | FRDMA_WRITE_ONLY_IMM, 4);
	EXPECT_EQ(frdma_resp_judge_uc(&rs, &hdr, no_recv), FRDMA_RESP_NO_RECV);
	hdr = request(FRDMA_UC | FRDMA_WRITE_ONLY, 4);
	EXPECT_EQ(frdma_resp_judge_uc(&rs, &hdr, no_recv), FRDMA_RESP_ACCEPT);
	rs.access = FRDMA_ACC_REMOTE_READ;
	EXPECT_EQ(frdma_resp_judge_uc(&rs, &hdr, no_recv),
		  FRDMA_RESP_NO_ACCESS);
}

/* Nothing that needs an answer exists on an unreliable connection. */
TEST(frdma_resp_judge_uc__opcodes)
{
	u32 opcode;

	fresh();
	for (opcode = FRDMA_READ_REQUEST; opcode < 0x20; opcode++)
		EXPECT_EQ(judge_uc(request(opcode, 0)), FRDMA_RESP_BAD_OPCODE);
}

/* A request for a shared receive queue. */
static struct frdma_hdr xrc_request(u8 operation, u32 len, u32 srqn)
{
	struct frdma_hdr hdr = request(FRDMA_XRC | operation, len);

	hdr.srqn = srqn;
	return hdr;
}

TEST(frdma_resp_judge__a_message_is_for_one_queue)
{
	u32 srqn;

	fresh();
	execute(xrc_request(FRDMA_SEND_FIRST, MTU, 7));
	for (srqn = 0; srqn < 16; srqn++)
		EXPECT_EQ(judge(xrc_request(FRDMA_SEND_MIDDLE, MTU, srqn)),
			  srqn == 7 ? FRDMA_RESP_ACCEPT :
				      FRDMA_RESP_BAD_ORDER);
	execute(xrc_request(FRDMA_SEND_MIDDLE, MTU, 7));
	execute(xrc_request(FRDMA_SEND_LAST, 1, 7));

	/* And the next one for whichever it likes. */
	execute(xrc_request(FRDMA_WRITE_ONLY, 1, 8));
	execute(xrc_request(FRDMA_SEND_ONLY, 1, 9));
}

TEST(frdma_resp_judge__astray_after_what_was_seen_and_before_all_else)
{
	static const struct frdma_resp_recv astray = { .astray = true };
	static const u8 operations[] = {
		FRDMA_SEND_ONLY, FRDMA_WRITE_ONLY, FRDMA_WRITE_ONLY_IMM,
		FRDMA_READ_REQUEST, FRDMA_FETCH_ADD, FRDMA_COMPARE_SWAP,
	};
	struct frdma_hdr hdr;
	u32 i;

	fresh();
	execute(xrc_request(FRDMA_SEND_ONLY, 1, 7));
	for (i = 0; i < ARRAY_SIZE(operations); i++) {
		hdr = xrc_request(operations[i], 0, 7);
		EXPECT_EQ(frdma_resp_judge(&rs, &hdr, astray),
			  FRDMA_RESP_ASTRAY);

		/* Nobody is told by this which rights and lengths would do. */
		hdr.payload_len = MTU + 1;
		rs.access = 0;
		EXPECT_EQ(frdma_resp_judge(&rs, &hdr, astray),
			  FRDMA_RESP_ASTRAY);
		rs.access = FRDMA_ACC_REMOTE;

		hdr.psn = frdma_psn_add(rs.epsn, 1);
		EXPECT_EQ(frdma_resp_judge(&rs, &hdr, astray), FRDMA_RESP_GAP);
		hdr.psn = frdma_psn_add(rs.epsn, -1);
		EXPECT_EQ(frdma_resp_judge(&rs, &hdr, astray),
			  FRDMA_RESP_DUPLICATE);
	}
	hdr = xrc_request(FRDMA_SEND_MIDDLE, MTU, 7);
	EXPECT_EQ(frdma_resp_judge(&rs, &hdr, astray), FRDMA_RESP_BAD_ORDER);
}

TEST(frdma_resp_read_plan__answers_on_the_transport_of_the_request)
{
	struct frdma_hdr hdr = { }, packet;
	u8 operations[3], i;

	fresh();
	rs.transport = FRDMA_XRC;
	hdr = xrc_request(FRDMA_READ_REQUEST, 0, 7);
	hdr.dma_len = 3 * MTU;
	execute(hdr);
	EXPECT_EQ(rs.read.srqn, 7);
	for (i = 0; i < 3; i++) {
		frdma_resp_read_plan(&rs, &packet);
		EXPECT_EQ(frdma_opcode_transport(packet.opcode), FRDMA_XRC);
		operations[i] = frdma_opcode_operation(packet.opcode);
		frdma_resp_read_sent(&rs, &packet, 1);
	}
	EXPECT_EQ(operations[0], FRDMA_READ_RESP_FIRST);
	EXPECT_EQ(operations[1], FRDMA_READ_RESP_MIDDLE);
	EXPECT_EQ(operations[2], FRDMA_READ_RESP_LAST);
	EXPECT(!rs.read.active);
}

/* The queue says whose memory it is: with another it is another READ. */
TEST(frdma_resp_judge_dup__read_for_another_queue)
{
	struct frdma_hdr hdr;

	fresh();
	hdr = xrc_request(FRDMA_READ_REQUEST, 0, 7);
	hdr.dma_len = MTU;
	execute(hdr);
	EXPECT_EQ(frdma_resp_judge_dup(&rs, &hdr), FRDMA_DUP_READ);
	hdr.srqn = 8;
	EXPECT_EQ(frdma_resp_judge_dup(&rs, &hdr), FRDMA_DUP_DROP);
}

TEST(frdma_resp_judge_dup__what_no_request_is)
{
	struct frdma_hdr hdr;
	u32 opcode;

	fresh();
	for (opcode = 0; opcode < 256; opcode++) {
		const struct frdma_op *op = frdma_op(opcode);
		enum frdma_dup_verdict want = FRDMA_DUP_DROP;

		hdr = request(opcode, 0);
		hdr.psn = frdma_psn_add(rs.epsn, -1);
		if (op->kind == FRDMA_KIND_SEND || op->kind == FRDMA_KIND_WRITE)
			want = FRDMA_DUP_ACK;
		else if (op->kind == FRDMA_KIND_ATOMIC_WRITE ||
			 op->kind == FRDMA_KIND_FLUSH)
			want = FRDMA_DUP_EMPTY;
		EXPECT_EQ(judge_dup(hdr), want);
	}
}

TEST(frdma_resp_expects__the_next_one_alone)
{
	struct frdma_hdr hdr;

	fresh();
	hdr = request(FRDMA_SEND_ONLY, 1);
	EXPECT(frdma_resp_expects(&rs, &hdr));
	hdr.psn = nth(1);
	EXPECT(!frdma_resp_expects(&rs, &hdr));
	hdr.psn = frdma_psn_add(rs.epsn, -1);
	EXPECT(!frdma_resp_expects(&rs, &hdr));
}

static void expect_answer(const struct frdma_hdr *hdr, u8 opcode, u32 psn,
			  u8 syndrome)
{
	EXPECT_EQ(hdr->opcode, FRDMA_XRC | opcode);
	EXPECT_EQ(hdr->psn, psn);
	EXPECT_EQ(hdr->syndrome, syndrome);
	EXPECT_EQ(hdr->msn, 1);
	EXPECT_EQ(hdr->payload_len, 0);
	EXPECT(hdr->migreq && !hdr->pad && !hdr->ack_req && !hdr->solicited);
}

TEST(frdma_resp_ack_plan__every_answer_without_payload)
{
	struct frdma_hdr hdr;
	u32 v;

	fresh();
	rs.transport = FRDMA_XRC;
	execute(request(FRDMA_SEND_ONLY, 1));

	frdma_resp_ack_plan(&rs, &hdr);
	expect_answer(&hdr, FRDMA_ACKNOWLEDGE, nth(0), 0x1f);
	frdma_resp_gap_plan(&rs, &hdr);
	expect_answer(&hdr, FRDMA_ACKNOWLEDGE, nth(1), 0x60);
	frdma_resp_rnr_plan(&rs, nth(1), 0x15, &hdr);
	expect_answer(&hdr, FRDMA_ACKNOWLEDGE, nth(1), 0x35);
	frdma_resp_rnr_plan(&rs, nth(1), 0xff, &hdr);
	expect_answer(&hdr, FRDMA_ACKNOWLEDGE, nth(1), 0x3f);
	frdma_resp_empty_plan(&rs, nth(1), &hdr);
	expect_answer(&hdr, FRDMA_READ_RESP_ONLY, nth(1), 0x1f);
	frdma_resp_atomic_plan(&rs, nth(1), 0x1122334455667788, &hdr);
	expect_answer(&hdr, FRDMA_ATOMIC_ACK, nth(1), 0x1f);
	EXPECT_EQ(hdr.atomic_orig, 0x1122334455667788);

	for (v = FRDMA_RESP_BAD_ORDER; v < FRDMA_RESP_NR; v++) {
		frdma_resp_refusal_plan(&rs, nth(1), v, &hdr);
		expect_answer(&hdr, FRDMA_ACKNOWLEDGE, nth(1),
			      frdma_resp_fault(v)->nak);
		EXPECT(frdma_hdr_is_nak(&hdr));
	}
}

/*
 * Runs: as many packets as would be accepted one after the other, and the same
 * state after them.
 */

/* A message of which some packets have come, and the receive request. */
static struct frdma_resp_recv random_open_message(struct rnd *rnd, u8 opcode)
{
	struct frdma_resp_recv recv = { .ready = true };

	fresh();
	rs.epsn = rnd_u64(rnd) & FRDMA_PSN_MASK;
	rs.msn = rnd_u64(rnd) & FRDMA_MSN_MASK;
	rs.access = rnd_below(rnd, 8) ? rs.access : 0;
	rs.nak = rnd_below(rnd, 3);
	rs.ack_due = rnd_below(rnd, 2);
	rs.in_msg = rnd_below(rnd, 8);
	rs.kind = frdma_op(opcode)->kind;
	rs.va = rnd_u64(rnd);
	rs.got = rnd_below(rnd, 40) * MTU;
	rs.left = rnd_below(rnd, 40 * MTU);
	if (!rnd_below(rnd, 4))
		rs.left -= rs.left % MTU;
	recv.len = rs.got + rnd_below(rnd, 40 * MTU);
	if (!rnd_below(rnd, 8)) {
		rs.got = FRDMA_MSG_MAX - rnd_below(rnd, 40) * MTU;
		recv.len = U32_MAX;
	}
	return recv;
}

static void expect_run_as_one_by_one(struct rnd *rnd, u8 opcode)
{
	struct frdma_resp_recv recv = random_open_message(rnd, opcode);
	struct frdma_hdr hdr = request(opcode, MTU), next;
	u32 i, taken, nr = 1 + rnd_below(rnd, 64);
	struct frdma_resp one_by_one, uc;

	hdr.ack_req = rnd_below(rnd, 2);
	if (frdma_resp_judge(&rs, &hdr, recv) != FRDMA_RESP_ACCEPT)
		return;

	taken = frdma_resp_count_run(&rs, &hdr, recv, nr);
	EXPECT(1 <= taken && taken <= nr);
	one_by_one = rs;
	uc = rs;
	next = hdr;
	for (i = 0; i < nr; i++) {
		if (frdma_resp_judge(&one_by_one, &next, recv) !=
		    FRDMA_RESP_ACCEPT)
			break;
		frdma_resp_commit(&one_by_one, &next, 0);
		EXPECT(!frdma_resp_breaks(&uc, &next));
		EXPECT_EQ(frdma_resp_judge_uc(&uc, &next, recv),
			  FRDMA_RESP_ACCEPT);
		frdma_resp_commit_uc(&uc, &next);
		frdma_hdr_skip(&next, 1);
	}
	EXPECT_EQ(taken, i);
	frdma_resp_commit_run(&rs, &hdr, taken);
	EXPECT(!memcmp(&rs, &one_by_one, sizeof(rs)));

	/* What of it is said to the peer has no meaning there. */
	uc.ack_due = rs.ack_due;
	uc.nak = rs.nak;
	EXPECT(!memcmp(&rs, &uc, sizeof(rs)));
}

TEST(frdma_resp_commit_run__as_one_by_one)
{
	struct rnd rnd = { .state = 1 };
	u32 i;

	for (i = 0; i < 200000; i++)
		expect_run_as_one_by_one(&rnd, i & 1 ? FRDMA_SEND_MIDDLE :
						       FRDMA_WRITE_MIDDLE);
}

/* The last packet of a WRITE has to be one that says so. */
TEST(frdma_resp_count_run__leaves_a_write_its_end)
{
	struct frdma_hdr hdr;

	fresh();
	execute(write_first(5 * MTU));
	hdr = request(FRDMA_WRITE_MIDDLE, MTU);
	EXPECT_EQ(frdma_resp_count_run(&rs, &hdr, no_recv, 9), 3);
	fresh();
	execute(write_first(5 * MTU + 1));
	hdr = request(FRDMA_WRITE_MIDDLE, MTU);
	EXPECT_EQ(frdma_resp_count_run(&rs, &hdr, no_recv, 9), 4);
}

TEST(frdma_resp_count_run__as_long_as_the_receive_request)
{
	struct frdma_resp_recv recv = { .ready = true };
	struct frdma_hdr hdr;
	u32 len;

	for (len = 2 * MTU; len < 8 * MTU; len++) {
		fresh();
		execute(request(FRDMA_SEND_FIRST, MTU));
		hdr = request(FRDMA_SEND_MIDDLE, MTU);
		recv.len = len;
		EXPECT_EQ(frdma_resp_count_run(&rs, &hdr, recv, 64),
			  len / MTU - 1);
	}
}

TEST(frdma_resp_may_keep__what_is_behind_something_that_was_asked_for)
{
	struct frdma_hdr hdr;

	fresh();
	hdr = request(FRDMA_SEND_ONLY, 8);
	EXPECT(frdma_resp_is_content(&rs));
	hdr.psn = nth(2);
	EXPECT(!frdma_resp_may_keep(&rs, &hdr));
	frdma_resp_put_off(&rs, FRDMA_RESP_GAP);
	EXPECT(!frdma_resp_is_content(&rs));
	EXPECT(frdma_resp_may_keep(&rs, &hdr));
	hdr.psn = rs.epsn;
	EXPECT(!frdma_resp_may_keep(&rs, &hdr));
	hdr.psn = nth(2);
	frdma_resp_put_off(&rs, FRDMA_RESP_NO_RECV);
	EXPECT(!frdma_resp_may_keep(&rs, &hdr));
}
