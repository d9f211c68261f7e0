/* SPDX-License-Identifier: GPL-2.0 */
/* What the requester's tests expect of the packets of their send queue. */
#ifndef FRDMA_SENT_H
#define FRDMA_SENT_H

#include <string.h>

#include "hdr.h"
#include "sendq.h"
#include "tap.h"

static struct sendq q;

/* The same on the wire, the same of the message. */
static inline bool is_same_packet(const struct frdma_req_pkt *a,
				  const struct frdma_req_pkt *b)
{
	u8 hdr_a[FRDMA_HDR_MAX] = { }, hdr_b[FRDMA_HDR_MAX] = { };

	frdma_hdr_build(hdr_a, &a->hdr);
	frdma_hdr_build(hdr_b, &b->hdr);
	return !memcmp(hdr_a, hdr_b, sizeof(hdr_a)) && a->off == b->off &&
	       a->len == b->len && a->span == b->span;
}

/* What the next packet must look like, and is then sent. */
static inline struct frdma_req_pkt expect_sent(u8 opcode, u32 nth_psn, u32 off,
					       u32 len)
{
	struct frdma_req_pkt pkt = sendq_send(&q);

	EXPECT_EQ(pkt.hdr.opcode, opcode);
	EXPECT_EQ(pkt.hdr.psn, sendq_psn(nth_psn));
	EXPECT_EQ(pkt.off, off);
	EXPECT_EQ(pkt.len, len);
	EXPECT_EQ(pkt.hdr.pad, -len & 3);
	EXPECT_EQ(pkt.hdr.dqpn, 0x123456);
	EXPECT_EQ(pkt.hdr.pkey, 0xffff);
	EXPECT(pkt.hdr.migreq);
	EXPECT_EQ(pkt.hdr.tver, 0);
	return pkt;
}

static inline void expect_read(u32 nth_psn, u32 off, u32 len, u32 span)
{
	struct frdma_req_pkt pkt = sendq_send(&q);

	EXPECT_EQ(pkt.hdr.opcode, FRDMA_READ_REQUEST);
	EXPECT_EQ(pkt.hdr.psn, sendq_psn(nth_psn));
	EXPECT_EQ(pkt.hdr.va, SENDQ_VA + off);
	EXPECT_EQ(pkt.hdr.dma_len, len);
	EXPECT_EQ(pkt.span, span);
	EXPECT_EQ(pkt.len, 0);
	EXPECT_EQ(pkt.hdr.pad, 0);
}

#endif /* FRDMA_SENT_H */
