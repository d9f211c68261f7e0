// SPDX-License-Identifier: GPL-2.0
/*
 * Runs: as many packets as would be accepted one after the other, and the same
 * state after them.
 */
#include "respond.h"
#include "rnd.h"

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
