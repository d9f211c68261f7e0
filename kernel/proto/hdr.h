/* SPDX-License-Identifier: GPL-2.0 */
/* The transport headers of a packet, as plain numbers: build and parse. */
#ifndef FRDMA_PROTO_HDR_H
#define FRDMA_PROTO_HDR_H

#include "env.h"
#include "op.h"
#include "psn.h"
#include "wire.h"

/* BTH and the longest set of extension headers: those of an XRC atomic. */
#define FRDMA_HDR_MAX	(sizeof(struct frdma_bth) + \
			 sizeof(struct frdma_xrceth) + \
			 sizeof(struct frdma_atomiceth))

/**
 * struct frdma_hdr - the transport headers of one packet
 * @opcode: BTH opcode; its row in op.c says which fields below count
 * @pad: bytes between payload and ICRC, 0 to 3
 * @tver: transport version, 0
 * @solicited: event requested
 * @ack_req: acknowledgement requested
 * @migreq: migration state; true where no automatic path migration is done
 * @fecn: congestion was met on the way here
 * @becn: congestion was met on the way there
 * @pkey: partition key
 * @dqpn: destination queue pair
 * @psn: packet sequence number
 * @flush_placement: enum frdma_flush_placement, all of its bits (FETH)
 * @flush_select: enum frdma_flush_select (FETH)
 * @srqn: shared receive queue at the responder (XRCETH)
 * @va: remote address (RETH, AtomicETH)
 * @rkey: remote key (RETH, AtomicETH)
 * @dma_len: bytes of the whole message (RETH)
 * @swap_add: value to swap in or to add (AtomicETH)
 * @compare: value to compare with (AtomicETH)
 * @qkey: Q_Key (DETH)
 * @sqpn: source queue pair (DETH)
 * @syndrome: enum frdma_aeth_kind with its value (AETH)
 * @msn: message sequence number (AETH)
 * @atomic_orig: value that the memory held (AtomicAckETH)
 * @imm_data: immediate data, in the order of the wire (ImmDt)
 * @inv_rkey: key to invalidate (IETH)
 * @hdr_len: bytes of BTH and extension headers; set by parse, not used by
 *           build
 * @payload_len: bytes of payload, without pad; set by parse, not used by build
 */
struct frdma_hdr {
	u8 opcode;
	u8 pad;
	u8 tver;
	bool solicited;
	bool ack_req;
	bool migreq;
	bool fecn;
	bool becn;
	u16 pkey;
	u32 dqpn;
	u32 psn;
	u8 flush_placement;
	u8 flush_select;
	u32 srqn;
	u64 va;
	u32 rkey;
	u32 dma_len;
	u64 swap_add;
	u64 compare;
	u32 qkey;
	u32 sqpn;
	u8 syndrome;
	u32 msn;
	u64 atomic_orig;
	__be32 imm_data;
	u32 inv_rkey;
	u32 hdr_len;
	u32 payload_len;
};

/**
 * enum frdma_hdr_verdict - what parsing found
 * @FRDMA_HDR_OK: a packet of a known operation
 * @FRDMA_HDR_SHORT: ends before its headers, pad and ICRC do
 * @FRDMA_HDR_VERSION: another transport version
 * @FRDMA_HDR_OPCODE: reserved or unsupported opcode: all of the BTH, but
 *                    nothing behind it, was parsed, so that a reliable
 *                    connection can answer
 */
enum frdma_hdr_verdict {
	FRDMA_HDR_OK = 0,
	FRDMA_HDR_SHORT,
	FRDMA_HDR_VERSION,
	FRDMA_HDR_OPCODE,
};

/**
 * frdma_hdr_len() - bytes of BTH and extension headers
 * @opcode: any value; a reserved one has the BTH only
 */
static inline u32 frdma_hdr_len(u8 opcode)
{
	return frdma_op(opcode)->hdr_len;
}

/** frdma_hdr_is_nak() - does an answer with an AETH say anything but yes */
static inline bool frdma_hdr_is_nak(const struct frdma_hdr *hdr)
{
	return hdr->syndrome & (FRDMA_AETH_KIND | FRDMA_AETH_RESERVED);
}

/**
 * frdma_hdr_build() - write the headers of a packet
 * @buf: room for frdma_hdr_len(), at most FRDMA_HDR_MAX, bytes; any alignment
 * @hdr: what to write; fields that the opcode does not have are ignored,
 *       numbers are cut to the width that they have on the wire, reserved
 *       bits become zero
 *
 * Context: any. Return: bytes written.
 */
size_t frdma_hdr_build(void *buf, const struct frdma_hdr *hdr);

/**
 * frdma_hdr_build_run() - write the headers of packets that are alike
 * @buf: of the first; for each, room as for frdma_hdr_build()
 * @stride: bytes from one to the next
 * @hdr: of the first, but @ack_req is the last one's, and none before asks.
 *       PSNs count up, all else is the same
 * @nr: how many packets, at least one
 *
 * Context: any. Return: bytes of the headers of each.
 */
size_t frdma_hdr_build_run(void *buf, size_t stride,
			   const struct frdma_hdr *hdr, u32 nr);

/**
 * frdma_hdr_parse() - read the headers of a packet
 * @hdr: what was read; fields that the opcode does not have are zero. All
 *       zero on FRDMA_HDR_SHORT if not even a BTH was there
 * @buf: the BTH and what follows; any alignment
 * @avail: bytes that can be read at @buf; headers must be among them, payload
 *         need not
 * @len: bytes of the packet from BTH to ICRC, both included
 *
 * Pad and payload are only checked to fit into @len: whether they suit the
 * operation is for whoever executes it.
 *
 * Context: any. Return: enum frdma_hdr_verdict.
 */
enum frdma_hdr_verdict frdma_hdr_parse(struct frdma_hdr *hdr, const void *buf,
				       size_t avail, size_t len);

/**
 * frdma_hdr_parse_next() - read the headers of a packet like the one before
 * @hdr: headers of the one before, parsed FRDMA_HDR_OK or FRDMA_HDR_OPCODE;
 *       become those of this one
 * @last: BTH of the one before, which has no other header
 * @bth: BTH of this one, of as many bytes
 *
 * Most packets of a train differ in nothing but what counts.
 *
 * Context: any. Return: true, and frdma_hdr_parse() would have said the same;
 * false if they differ in more, and @hdr is as it was.
 */
static inline bool frdma_hdr_parse_next(struct frdma_hdr *hdr,
					const struct frdma_bth *last,
					const struct frdma_bth *bth)
{
	u32 apsn = be32_to_cpu(bth->apsn);

	if (bth->opcode != last->opcode || bth->flags != last->flags ||
	    bth->pkey != last->pkey || bth->dqpn != last->dqpn)
		return false;

	hdr->ack_req = apsn & FRDMA_BTH_ACK_REQ;
	hdr->psn = apsn & FRDMA_BTH_PSN;
	return true;
}

/** frdma_hdr_brings_data() - is there anything in it that could be less */
static inline bool frdma_hdr_brings_data(const struct frdma_hdr *hdr)
{
	return frdma_op(hdr->opcode)->payload && hdr->payload_len;
}

/**
 * frdma_hdr_may_run() - may packets follow that differ in their PSN only
 * @hdr: parsed FRDMA_HDR_OK or FRDMA_HDR_OPCODE
 *
 * So do those in the middle of a message. Such packets are a run.
 */
static inline bool frdma_hdr_may_run(const struct frdma_hdr *hdr)
{
	const struct frdma_op *op = frdma_op(hdr->opcode);

	return op->payload && !op->starts && !op->ends;
}

/**
 * frdma_hdr_next_bth() - what the next packet of a run begins with
 * @bth: of the one before, which has no other header; becomes that of the next,
 *       to the last bit
 */
static inline void frdma_hdr_next_bth(struct frdma_bth *bth)
{
	u32 apsn = be32_to_cpu(bth->apsn);

	bth->apsn = cpu_to_be32((apsn & ~FRDMA_BTH_PSN) |
				frdma_psn_add(apsn, 1));
}

/**
 * frdma_hdr_skip() - from one packet of a run to a later one
 * @hdr: headers of the one; become those of the other
 * @packets: how many to go on
 */
static inline void frdma_hdr_skip(struct frdma_hdr *hdr, u32 packets)
{
	hdr->psn = frdma_psn_add(hdr->psn, packets);
}

#endif /* FRDMA_PROTO_HDR_H */
