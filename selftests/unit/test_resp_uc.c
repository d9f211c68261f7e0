// SPDX-License-Identifier: GPL-2.0
/* Unreliable connections. */
#include "respond.h"

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
