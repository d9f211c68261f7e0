/* SPDX-License-Identifier: GPL-2.0 */
/* A responder for its tests, and what its peer sends it. */
#ifndef FRDMA_RESPOND_H
#define FRDMA_RESPOND_H

#include "resp.h"
#include "tap.h"

#define MTU	256
#define PSN	0xfffffe
#define NR_RES	4

static struct frdma_resp rs;
static struct frdma_resp_res res[NR_RES];
static const struct frdma_resp_recv no_recv;
static const struct frdma_resp_recv recv_1k = { .ready = true, .len = 1024 };

static inline void fresh(void)
{
	rs = (struct frdma_resp) {
		.mtu = MTU, .access = FRDMA_ACC_REMOTE,
		.res = res, .nr_res = NR_RES,
	};
	frdma_resp_init(&rs, PSN);
}

static inline u32 nth(u32 n)
{
	return frdma_psn_add(PSN, n);
}

/* A well-formed request at the expected PSN. */
static inline struct frdma_hdr request(u8 opcode, u32 len)
{
	return (struct frdma_hdr) {
		.opcode = opcode, .psn = rs.epsn, .ack_req = true,
		.payload_len = len, .pad = -len & 3,
		.va = 0x1000, .rkey = 7, .dma_len = len,
	};
}

static inline struct frdma_hdr read_request(u32 len)
{
	struct frdma_hdr hdr = request(FRDMA_READ_REQUEST, 0);

	hdr.dma_len = len;
	return hdr;
}

static inline struct frdma_hdr atomic_write(void)
{
	return request(FRDMA_ATOMIC_WRITE, 8);
}

static inline struct frdma_hdr flush(u8 placement, u8 select)
{
	struct frdma_hdr hdr = request(FRDMA_FLUSH, 0);

	hdr.flush_placement = placement;
	hdr.flush_select = select;
	hdr.dma_len = 3000;
	return hdr;
}

static inline enum frdma_resp_verdict judge(struct frdma_hdr hdr)
{
	return frdma_resp_judge(&rs, &hdr, recv_1k);
}

/* It must be right, and is executed. */
static inline void execute(struct frdma_hdr hdr)
{
	EXPECT_EQ(judge(hdr), FRDMA_RESP_ACCEPT);
	frdma_resp_commit(&rs, &hdr, 0x4242);
}

/* FIRST of a WRITE whose message is longer than a packet. */
static inline struct frdma_hdr write_first(u32 total)
{
	struct frdma_hdr hdr = request(FRDMA_WRITE_FIRST, MTU);

	hdr.dma_len = total;
	return hdr;
}

static inline void expect_read_packet(u8 opcode, u32 n, u32 len)
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

static inline enum frdma_dup_verdict judge_dup(struct frdma_hdr hdr)
{
	enum frdma_dup_verdict verdict;

	EXPECT_EQ(judge(hdr), FRDMA_RESP_DUPLICATE);
	verdict = frdma_resp_judge_dup(&rs, &hdr);
	frdma_resp_commit_dup(&rs, &hdr, verdict);
	return verdict;
}

static inline void finish_read(void)
{
	struct frdma_hdr hdr;

	while (rs.read.active) {
		frdma_resp_read_plan(&rs, &hdr);
		frdma_resp_read_sent(&rs, &hdr, 1);
	}
}

#endif /* FRDMA_RESPOND_H */
