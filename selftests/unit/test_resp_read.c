// SPDX-License-Identifier: GPL-2.0
/* Responses to READs. */
#include "respond.h"

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

/* IBTA 9.7.5.1.2: the last packet of a response acknowledges all before it. */
TEST(frdma_resp_read_sent__acknowledges_what_came_before)
{
	struct frdma_hdr packet;

	fresh();
	execute(request(FRDMA_SEND_ONLY, 1));
	execute(read_request(2 * MTU));
	EXPECT(rs.ack_due);
	frdma_resp_read_plan(&rs, &packet);
	frdma_resp_read_sent(&rs, &packet, 1);
	EXPECT(rs.ack_due);
	frdma_resp_read_plan(&rs, &packet);
	frdma_resp_read_sent(&rs, &packet, 1);
	EXPECT(!rs.ack_due);
}

/* Another request was executed after that one. */
TEST(frdma_resp_answered__leaves_a_later_request)
{
	fresh();
	execute(request(FRDMA_SEND_ONLY, 1));
	execute(request(FRDMA_SEND_ONLY, 1));
	frdma_resp_answered(&rs, frdma_psn_add(rs.epsn, -2));
	EXPECT(rs.ack_due);
	frdma_resp_answered(&rs, frdma_psn_add(rs.epsn, -1));
	EXPECT(!rs.ack_due);
}
