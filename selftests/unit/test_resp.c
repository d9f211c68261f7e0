// SPDX-License-Identifier: GPL-2.0
#include "respond.h"
#include "rnd.h"

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
}

TEST(frdma_resp_fault__what_the_owner_is_told)
{
	static const struct {
		u8 verdict, recv_status, event;
	} want[] = {
		{ FRDMA_RESP_BAD_ORDER, FRDMA_WC_WR_FLUSH_ERR,
		  FRDMA_RESP_EVENT_REQ },
		{ FRDMA_RESP_ASTRAY, FRDMA_WC_WR_FLUSH_ERR,
		  FRDMA_RESP_EVENT_ACCESS },
		{ FRDMA_RESP_BAD_LENGTH, FRDMA_WC_WR_FLUSH_ERR,
		  FRDMA_RESP_EVENT_REQ },
		{ FRDMA_RESP_BAD_ALIGN, FRDMA_WC_WR_FLUSH_ERR,
		  FRDMA_RESP_EVENT_REQ },
		{ FRDMA_RESP_TOO_LONG, FRDMA_WC_LOC_LEN_ERR,
		  FRDMA_RESP_EVENT_NONE },
		{ FRDMA_RESP_BAD_OPCODE, FRDMA_WC_WR_FLUSH_ERR,
		  FRDMA_RESP_EVENT_REQ },
		{ FRDMA_RESP_NO_ACCESS, FRDMA_WC_WR_FLUSH_ERR,
		  FRDMA_RESP_EVENT_REQ },
		{ FRDMA_RESP_NO_RESOURCES, FRDMA_WC_WR_FLUSH_ERR,
		  FRDMA_RESP_EVENT_REQ },
		{ FRDMA_RESP_BAD_KEY, FRDMA_WC_LOC_ACCESS_ERR,
		  FRDMA_RESP_EVENT_ACCESS },
		{ FRDMA_RESP_BAD_INV, FRDMA_WC_REM_ACCESS_ERR,
		  FRDMA_RESP_EVENT_ACCESS },
		{ FRDMA_RESP_RECV_FAULT, FRDMA_WC_LOC_PROT_ERR,
		  FRDMA_RESP_EVENT_NONE },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(want); i++) {
		const struct frdma_resp_fault *fault =
			frdma_resp_fault(want[i].verdict);

		EXPECT_EQ(fault->recv_status, want[i].recv_status);
		EXPECT_EQ(fault->event, want[i].event);
	}
}

TEST(frdma_resp_init__forgets_the_connection_before)
{
	fresh();
	rs.read.active = true;
	rs.unsent = 3;
	rs.got = 5;
	rs.left = 7;
	rs.srqn = 9;
	rs.msn = 11;
	rs.in_msg = true;
	rs.ack_due = true;
	rs.missed = true;
	rs.nak = FRDMA_RESP_NAK_SEQ;
	rs.res_next = 1;
	res[2].kind = FRDMA_KIND_READ;
	frdma_resp_init(&rs, 0xff000005);
	EXPECT_EQ(rs.epsn, 5);
	EXPECT(!rs.read.active);
	EXPECT_EQ(rs.unsent, 0);
	EXPECT_EQ(rs.got, 0);
	EXPECT_EQ(rs.left, 0);
	EXPECT_EQ(rs.srqn, 0);
	EXPECT_EQ(rs.msn, 0);
	EXPECT(!rs.in_msg);
	EXPECT(!rs.ack_due);
	EXPECT(!rs.missed);
	EXPECT(frdma_resp_is_content(&rs));
	EXPECT_EQ(rs.res_next, 0);
	EXPECT_EQ(res[2].kind, FRDMA_KIND_NONE);
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
