// SPDX-License-Identifier: GPL-2.0
/* Requests that were seen before, and what is kept for them. */
#include "respond.h"

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

static struct frdma_hdr dup(u32 n, bool ack_req)
{
	struct frdma_hdr hdr = request(FRDMA_SEND_ONLY, 1);

	hdr.psn = nth(n);
	hdr.ack_req = ack_req;
	return hdr;
}

/* The acknowledgement of the first covers all of them. */
TEST(frdma_resp_judge_dup__the_first_of_several_in_a_row_is_acknowledged)
{
	u32 n;

	fresh();
	for (n = 0; n < 6; n++)
		execute(request(FRDMA_SEND_ONLY, 1));
	rs.ack_due = false;
	EXPECT_EQ(judge_dup(dup(0, false)), FRDMA_DUP_ACK);
	EXPECT(rs.ack_due);
	rs.ack_due = false;
	EXPECT_EQ(judge_dup(dup(1, false)), FRDMA_DUP_QUIET);
	EXPECT_EQ(judge_dup(dup(2, false)), FRDMA_DUP_QUIET);
	EXPECT(!rs.ack_due);

	/* One that asks is answered, and one that does not is still covered. */
	EXPECT_EQ(judge_dup(dup(3, true)), FRDMA_DUP_ACK);
	EXPECT(rs.ack_due);
	rs.ack_due = false;
	EXPECT_EQ(judge_dup(dup(4, false)), FRDMA_DUP_QUIET);
	EXPECT(!rs.ack_due);

	/* A peer that repeats from an earlier PSN has not seen that ACK. */
	EXPECT_EQ(judge_dup(dup(0, false)), FRDMA_DUP_ACK);
	EXPECT(rs.ack_due);
	rs.ack_due = false;
	execute(request(FRDMA_SEND_ONLY, 1));
	EXPECT_EQ(judge_dup(dup(1, false)), FRDMA_DUP_ACK);
	EXPECT(rs.ack_due);
}

TEST(frdma_resp_judge_dup__an_ack_that_is_due_stays_due)
{
	fresh();
	execute(request(FRDMA_SEND_ONLY, 1));
	execute(request(FRDMA_SEND_ONLY, 1));
	EXPECT_EQ(judge_dup(dup(0, false)), FRDMA_DUP_ACK);
	EXPECT_EQ(judge_dup(dup(1, false)), FRDMA_DUP_QUIET);
	EXPECT(rs.ack_due);
	rs.read.active = true;
	EXPECT_EQ(judge_dup(dup(0, false)), FRDMA_DUP_ACK);
	EXPECT(rs.ack_due);
}

/* Each is acknowledged by itself then. */
TEST(frdma_resp_judge_dup__several_in_a_row_behind_a_read_response)
{
	fresh();
	execute(request(FRDMA_SEND_ONLY, 1));
	execute(request(FRDMA_SEND_ONLY, 1));
	EXPECT_EQ(judge_dup(dup(0, false)), FRDMA_DUP_ACK);
	rs.ack_due = false;
	rs.read.active = true;
	EXPECT_EQ(judge_dup(dup(1, false)), FRDMA_DUP_ACK);
	EXPECT(!rs.ack_due);

	/* The first one is acknowledged again with all that was executed. */
	rs.read.active = false;
	EXPECT_EQ(judge_dup(dup(1, false)), FRDMA_DUP_QUIET);
	EXPECT(!rs.ack_due);
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
}

/* The answer to another request was lost, or none: that of a READ behind it waits. */
TEST(frdma_resp_read_yields__to_all_that_is_before_it)
{
	static const u8 opcodes[] = {
		FRDMA_FETCH_ADD, FRDMA_ATOMIC_WRITE, FRDMA_FLUSH,
		FRDMA_SEND_ONLY, FRDMA_WRITE_ONLY, FRDMA_WRITE_LAST,
	};
	struct frdma_hdr hdr;
	u32 i;

	fresh();
	execute(request(FRDMA_FETCH_ADD, 0));
	execute(read_request(2 * MTU));
	for (i = 0; i < ARRAY_SIZE(opcodes); i++) {
		hdr = request(opcodes[i], 0);
		hdr.psn = nth(0);
		EXPECT(frdma_resp_read_yields(&rs, &hdr));
		hdr.psn = nth(1);
		EXPECT(!frdma_resp_read_yields(&rs, &hdr));
		hdr.psn = rs.epsn;
		EXPECT(!frdma_resp_read_yields(&rs, &hdr));
	}
	hdr = request(FRDMA_FETCH_ADD, 0);
	hdr.psn = nth(0);
	EXPECT_EQ(judge_dup(hdr), FRDMA_DUP_ATOMIC);
	expect_read_packet(FRDMA_READ_RESP_FIRST, 1, MTU);
	expect_read_packet(FRDMA_READ_RESP_LAST, 2, MTU);
	EXPECT(!rs.read.active);
}

/* Half of all PSNs are behind the one that is expected, the other half is not. */
TEST(frdma_resp_read_yields__not_to_a_new_one)
{
	struct frdma_hdr hdr;

	fresh();
	execute(read_request(FRDMA_MSG_MAX));
	EXPECT_EQ(rs.epsn, frdma_psn_add(PSN, 1 << 23));
	hdr = read_request(MTU);
	EXPECT(!frdma_resp_read_yields(&rs, &hdr));
	hdr.psn = frdma_psn_add(rs.epsn, 1);
	EXPECT(!frdma_resp_read_yields(&rs, &hdr));
	hdr.psn = PSN;
	EXPECT(frdma_resp_read_yields(&rs, &hdr));
}

/* What the peer sends behind a READ that waits is dropped, and then asked for. */
TEST(frdma_resp_miss__what_is_expected_and_what_is_behind_it)
{
	struct frdma_hdr hdr = last_of_reads(1);

	EXPECT(!rs.missed);
	frdma_resp_miss(&rs, hdr.psn);
	EXPECT(!rs.missed);
	hdr.psn = nth(3);
	frdma_resp_miss(&rs, hdr.psn);
	EXPECT(rs.missed);
	frdma_resp_put_off(&rs, FRDMA_RESP_GAP);
	EXPECT(!rs.missed);
	frdma_resp_miss(&rs, hdr.psn);
	EXPECT(!rs.missed);
	hdr.psn = nth(2);
	frdma_resp_miss(&rs, hdr.psn);
	EXPECT(rs.missed && frdma_resp_is_content(&rs));
}

/* What was kept in front of it is executed first. */
TEST(frdma_resp_miss__the_last_of_several)
{
	struct frdma_hdr hdr = last_of_reads(1);

	hdr.psn = nth(2);
	frdma_resp_miss(&rs, hdr.psn);
	hdr.psn = nth(3);
	frdma_resp_miss(&rs, hdr.psn);
	hdr.psn = nth(2);
	frdma_resp_miss(&rs, hdr.psn);
	finish_read();
	execute(request(FRDMA_SEND_ONLY, 1));
	EXPECT(rs.missed);
	execute(request(FRDMA_SEND_ONLY, 1));
	EXPECT(!rs.missed);
}

TEST(frdma_resp_miss__until_it_is_executed)
{
	struct frdma_hdr hdr = last_of_reads(1);

	hdr.psn = nth(2);
	frdma_resp_miss(&rs, hdr.psn);
	finish_read();
	EXPECT(rs.missed);
	execute(request(FRDMA_SEND_ONLY, 1));
	EXPECT(!rs.missed);
	hdr.psn = rs.epsn;
	frdma_resp_miss(&rs, hdr.psn);
	frdma_resp_init(&rs, nth(0));
	EXPECT(!rs.missed);
}

/* READs are asked for again, of which the first waits: the others come behind it. */
TEST(frdma_resp_read_yields__not_to_the_next)
{
	struct frdma_hdr second = last_of_reads(2), first = second;

	finish_read();
	first.psn = nth(0);
	EXPECT_EQ(judge_dup(first), FRDMA_DUP_READ);
	EXPECT(frdma_resp_read_was_sent(&rs));
	EXPECT(!frdma_resp_read_yields(&rs, &second));
	EXPECT(frdma_resp_read_yields(&rs, &first));
}

TEST(frdma_resp_commit_dup__read_that_was_never_sent)
{
	struct frdma_hdr hdr = last_of_reads(1);

	EXPECT(!rs.read.asked);
	EXPECT_EQ(judge_dup(hdr), FRDMA_DUP_READ);
	EXPECT(!frdma_resp_read_was_sent(&rs));
	EXPECT(rs.read.asked);
	expect_read_packet(FRDMA_READ_RESP_FIRST, 0, MTU);
	EXPECT_EQ(judge_dup(hdr), FRDMA_DUP_READ);
	EXPECT(!frdma_resp_read_was_sent(&rs));
	EXPECT(rs.read.fresh);
	expect_read_packet(FRDMA_READ_RESP_FIRST, 0, MTU);
	EXPECT(!frdma_resp_read_was_sent(&rs));
	finish_read();
	EXPECT_EQ(judge_dup(hdr), FRDMA_DUP_READ);
	EXPECT(frdma_resp_read_was_sent(&rs));
	EXPECT_EQ(judge_dup(hdr), FRDMA_DUP_READ);
	EXPECT(frdma_resp_read_was_sent(&rs));
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
	EXPECT(!frdma_resp_read_was_sent(&rs));
	EXPECT_EQ(judge_dup(hdr), FRDMA_DUP_READ);
	expect_read_packet(FRDMA_READ_RESP_FIRST, 0, MTU);
	expect_read_packet(FRDMA_READ_RESP_LAST, 1, MTU);
	EXPECT(!rs.read.active);
}

/* Of a READ that waits in its middle, a part is asked for: the rest comes, too. */
TEST(frdma_resp_commit_dup__read_in_pieces)
{
	struct frdma_hdr hdr;

	fresh();
	hdr = read_request(8 * MTU);
	execute(hdr);
	expect_read_packet(FRDMA_READ_RESP_FIRST, 0, MTU);
	expect_read_packet(FRDMA_READ_RESP_MIDDLE, 1, MTU);
	expect_read_packet(FRDMA_READ_RESP_MIDDLE, 2, MTU);
	hdr.dma_len = 2 * MTU;
	EXPECT_EQ(judge_dup(hdr), FRDMA_DUP_READ);
	EXPECT(frdma_resp_read_was_sent(&rs));
	expect_read_packet(FRDMA_READ_RESP_FIRST, 0, MTU);
	expect_read_packet(FRDMA_READ_RESP_LAST, 1, MTU);
	EXPECT(!frdma_resp_read_was_sent(&rs));
	EXPECT(!frdma_resp_read_is_begun(&rs));
	EXPECT_EQ(rs.read.va, 0x1000 + 3 * MTU);
	EXPECT_EQ(rs.read.left, 5 * MTU);
	expect_read_packet(FRDMA_READ_RESP_MIDDLE, 3, MTU);
	EXPECT(frdma_resp_read_is_begun(&rs));
	finish_read();

	/* Now it was all sent: a part is a part. */
	EXPECT_EQ(judge_dup(hdr), FRDMA_DUP_READ);
	expect_read_packet(FRDMA_READ_RESP_FIRST, 0, MTU);
	expect_read_packet(FRDMA_READ_RESP_LAST, 1, MTU);
	EXPECT(!rs.read.active);
}

/* The peer was told to ask again, and does; or it asks for something else. */
TEST(frdma_resp_commit_dup__read_as_the_peer_was_told)
{
	struct frdma_hdr hdr = last_of_reads(2), first = hdr;

	EXPECT_EQ(judge_dup(hdr), FRDMA_DUP_READ);
	EXPECT(!rs.read.obeyed);
	rs.read.told = true;
	EXPECT_EQ(judge_dup(hdr), FRDMA_DUP_READ);
	EXPECT(rs.read.obeyed);
	EXPECT(!rs.read.told);
	EXPECT_EQ(judge_dup(hdr), FRDMA_DUP_READ);
	EXPECT(rs.read.obeyed);
	first.psn = nth(0);
	EXPECT_EQ(judge_dup(first), FRDMA_DUP_READ);
	EXPECT(!rs.read.obeyed);
	rs.read.told = true;
	finish_read();
	EXPECT_EQ(judge_dup(first), FRDMA_DUP_READ);
	EXPECT(!rs.read.obeyed);
}

/* No READs are kept any more, but one that was executed is answered. */
TEST(frdma_resp_read_end__before_one_that_is_not_kept)
{
	struct frdma_hdr hdr = last_of_reads(2);

	hdr.psn = nth(0);
	EXPECT_EQ(judge_dup(hdr), FRDMA_DUP_READ);
	frdma_resp_resize(&rs, NULL, 0);
	expect_read_packet(FRDMA_READ_RESP_FIRST, 0, MTU);
	expect_read_packet(FRDMA_READ_RESP_LAST, 1, MTU);
	expect_read_packet(FRDMA_READ_RESP_FIRST, 2, MTU);
	expect_read_packet(FRDMA_READ_RESP_LAST, 3, MTU);
	EXPECT(!rs.read.active);
}

/* It is acknowledged by itself, not with all that was executed. */
TEST(frdma_resp_commit_dup__write_before_a_read_that_waits)
{
	struct frdma_hdr write, ack;

	fresh();
	write = request(FRDMA_WRITE_ONLY, 1);
	write.ack_req = true;
	execute(write);
	rs.ack_due = false;
	execute(read_request(2 * MTU));
	expect_read_packet(FRDMA_READ_RESP_FIRST, 1, MTU);
	EXPECT_EQ(judge_dup(write), FRDMA_DUP_ACK);
	EXPECT(!rs.ack_due);
	frdma_resp_again_plan(&rs, write.psn, &ack);
	EXPECT_EQ(ack.opcode, FRDMA_ACKNOWLEDGE);
	EXPECT_EQ(ack.psn, nth(0));
	EXPECT_EQ(ack.syndrome, 0x1f);
	expect_read_packet(FRDMA_READ_RESP_LAST, 2, MTU);
	EXPECT_EQ(judge_dup(write), FRDMA_DUP_ACK);
	EXPECT(rs.ack_due);
}

/* Half of it was sent, and it is asked for from its beginning: that was not had. */
TEST(frdma_resp_read_was_sent__not_if_some_of_it_was_not)
{
	struct frdma_hdr hdr = last_of_reads(2);

	expect_read_packet(FRDMA_READ_RESP_FIRST, 2, MTU);
	EXPECT(!frdma_resp_read_is_repeated(&rs));
	EXPECT_EQ(judge_dup(hdr), FRDMA_DUP_READ);
	EXPECT(!frdma_resp_read_was_sent(&rs));
	EXPECT(frdma_resp_read_is_repeated(&rs));
	hdr.dma_len = MTU;
	EXPECT_EQ(judge_dup(hdr), FRDMA_DUP_READ);
	EXPECT(frdma_resp_read_was_sent(&rs));
	hdr.psn = nth(0);
	hdr.dma_len = 2 * MTU;
	EXPECT_EQ(judge_dup(hdr), FRDMA_DUP_READ);
	EXPECT(frdma_resp_read_was_sent(&rs));
}

/* A late copy of a READ does not take away the response to another. */
TEST(frdma_resp_commit_dup__read_before_one_that_waits)
{
	struct frdma_hdr third = last_of_reads(3), hdr = third;

	hdr.psn = nth(2);
	EXPECT_EQ(judge_dup(hdr), FRDMA_DUP_READ);
	EXPECT(frdma_resp_read_was_sent(&rs));
	hdr.psn = nth(0);
	EXPECT_EQ(judge_dup(hdr), FRDMA_DUP_READ);
	EXPECT(frdma_resp_read_was_sent(&rs));
	expect_read_packet(FRDMA_READ_RESP_FIRST, 0, MTU);
	expect_read_packet(FRDMA_READ_RESP_LAST, 1, MTU);
	EXPECT(!frdma_resp_read_was_sent(&rs));
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
