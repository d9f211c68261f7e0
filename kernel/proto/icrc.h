/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The invariant CRC of RoCE v2 (IBTA vol. 1, 7.8.1, and annex A17): a CRC-32
 * over eight bytes of ones, the IP header, the UDP header, the transport
 * headers, payload and pad, with all that changes on the way masked to ones.
 *
 * A sender keeps one struct frdma_icrc_pseudo per peer and patches it per
 * packet; a receiver makes one from each packet that it got:
 *
 *	frdma_icrc_pseudo_ipv4(&pseudo, ip_hdr(skb), udp_hdr(skb));
 *	crc = frdma_icrc_seed(&pseudo, bth, hdr.hdr_len);
 *	crc = frdma_crc32(crc, payload, payload_len + pad);
 *	ok  = frdma_icrc_final(crc) == icrc;
 */
#ifndef FRDMA_PROTO_ICRC_H
#define FRDMA_PROTO_ICRC_H

#include "env.h"
#include "wire.h"

#define FRDMA_ICRC_IPV4_LEN	20
#define FRDMA_ICRC_IPV6_LEN	40
#define FRDMA_ICRC_UDP_LEN	8
#define FRDMA_ICRC_PSEUDO_MAX	(FRDMA_ICRC_IPV6_LEN + FRDMA_ICRC_UDP_LEN)

/**
 * struct frdma_icrc_pseudo - IP and UDP header with their variant fields masked
 * @bytes: the headers; the identification is that of @ip_id when it is needed
 * @len: bytes of it: 28 or 48; 0 before it is made
 * @repeats: the packet is as long as the one before
 * @have_crc: @crc and what begins so are set: by a packet of this length that has
 *            a BTH only, or the second one of any
 * @udp_len: length in the UDP header, once it is set; 0: not yet
 * @ip_id: the identification that was set last; 0 with IPv6
 * @crc_ip_id: that of the packet whose CRC is kept
 * @crc: the state behind the BTH of a packet of this length
 * @crc_bth: its BTH
 */
struct frdma_icrc_pseudo {
	u8 bytes[FRDMA_ICRC_PSEUDO_MAX];
	u8 len;
	bool repeats;
	bool have_crc;
	u16 udp_len;
	u16 ip_id;
	u16 crc_ip_id;
	u32 crc;
	struct frdma_bth crc_bth;
};

/**
 * frdma_icrc_pseudo_ipv4() - mask the headers of an IPv4 packet
 * @pseudo: where to put them
 * @ip: 20 bytes; a header with options is none of RoCE
 * @udp: 8 bytes
 *
 * Context: any.
 */
void frdma_icrc_pseudo_ipv4(struct frdma_icrc_pseudo *pseudo, const void *ip,
			    const void *udp);

/**
 * frdma_icrc_pseudo_ipv6() - mask the headers of an IPv6 packet
 * @pseudo: where to put them
 * @ip: 40 bytes; the UDP header is the next one
 * @udp: 8 bytes
 *
 * Context: any.
 */
void frdma_icrc_pseudo_ipv6(struct frdma_icrc_pseudo *pseudo, const void *ip,
			    const void *udp);

/**
 * frdma_icrc_pseudo_set() - say what one packet has of its own
 * @pseudo: made by frdma_icrc_pseudo_ipv4() or _ipv6()
 * @ip_id: IPv4 identification, no meaning with IPv6
 * @transport_len: bytes from BTH to ICRC, both included: the lengths of both
 *                 headers are derived from it
 *
 * Context: any.
 */
void frdma_icrc_pseudo_set(struct frdma_icrc_pseudo *pseudo, u16 ip_id,
			   size_t transport_len);

/**
 * frdma_icrc_seed() - the CRC up to where the payload begins
 * @pseudo: IP and UDP header; keeps what makes the next packet cheap
 * @transport: BTH and extension headers
 * @hdr_len: bytes of those, at least 12 and at most FRDMA_HDR_MAX
 *
 * Context: any where frdma_crc32() can run. Return: state for frdma_crc32(),
 * to go on with payload and pad.
 */
u32 frdma_icrc_seed(struct frdma_icrc_pseudo *pseudo,
		    const void *transport, size_t hdr_len);

/**
 * frdma_icrc_seed_next() - as frdma_icrc_seed(), for the next packet of a run
 * @pseudo: seeded with the BTH of the packet before, which has no other header
 * @id_counts: its IPv4 identification is the next one, too; no meaning with IPv6
 *
 * The next packet is as long, and nothing else in front of its payload is
 * another but the PSN, which has counted up by one.
 * Its BTH, all bits of it, is in @pseudo->crc_bth then: for a receiver to
 * compare.
 *
 * Context: any. Return: state for frdma_crc32(), to go on with the payload.
 */
u32 frdma_icrc_seed_next(struct frdma_icrc_pseudo *pseudo, bool id_counts);

/**
 * frdma_icrc_final() - the ICRC, as it is stored behind payload and pad
 * @crc: state after the last pad byte
 */
static inline __le32 frdma_icrc_final(u32 crc)
{
	return cpu_to_le32(~crc);
}

#endif /* FRDMA_PROTO_ICRC_H */
