// SPDX-License-Identifier: GPL-2.0
#include "icrc.h"
#include "wire.h"
#include "hdr.h"

/*
 * What the CRC register holds after the eight bytes of ones that stand for
 * the local route header.
 */
#define CRC_AFTER_LRH	0xdebb20e3U

/* Offsets in the headers around ours, which RFCs 791, 8200 and 768 define. */
#define IPV4_TOS	1
#define IPV4_TOT_LEN	2
#define IPV4_ID		4
#define IPV4_TTL	8
#define IPV4_CHECK	10
#define IPV6_PAYLOAD_LEN 4
#define IPV6_HOP_LIMIT	7
#define UDP_LEN		4
#define UDP_CHECK	6
/* FECN, BECN and reserved bits share the byte in front of the QPN. */
#define BTH_VARIANT	offsetof(struct frdma_bth, dqpn)

static void put_u16(u8 *at, u16 value)
{
	at[0] = value >> 8;
	at[1] = value;
}

static void copy_udp_masked(u8 *to, const void *udp)
{
	memcpy(to, udp, FRDMA_ICRC_UDP_LEN);
	put_u16(to + UDP_CHECK, 0xffff);
}

void frdma_icrc_pseudo_ipv4(struct frdma_icrc_pseudo *pseudo, const void *ip,
			    const void *udp)
{
	u8 *to = pseudo->bytes;

	memcpy(to, ip, FRDMA_ICRC_IPV4_LEN);
	to[IPV4_TOS] = 0xff;
	to[IPV4_TTL] = 0xff;
	put_u16(to + IPV4_CHECK, 0xffff);

	copy_udp_masked(to + FRDMA_ICRC_IPV4_LEN, udp);
	pseudo->len = FRDMA_ICRC_IPV4_LEN + FRDMA_ICRC_UDP_LEN;
}

void frdma_icrc_pseudo_ipv6(struct frdma_icrc_pseudo *pseudo, const void *ip,
			    const void *udp)
{
	u8 *to = pseudo->bytes;

	memcpy(to, ip, FRDMA_ICRC_IPV6_LEN);
	/* Version, then traffic class and flow label: 4 bits, 28 ones. */
	to[0] |= 0x0f;
	memset(to + 1, 0xff, 3);
	to[IPV6_HOP_LIMIT] = 0xff;

	copy_udp_masked(to + FRDMA_ICRC_IPV6_LEN, udp);
	pseudo->len = FRDMA_ICRC_IPV6_LEN + FRDMA_ICRC_UDP_LEN;
}

void frdma_icrc_pseudo_set(struct frdma_icrc_pseudo *pseudo, u16 ip_id,
			   size_t transport_len)
{
	u8 *udp = pseudo->bytes + pseudo->len - FRDMA_ICRC_UDP_LEN;
	u16 udp_len = FRDMA_ICRC_UDP_LEN + transport_len;

	put_u16(udp + UDP_LEN, udp_len);
	if (pseudo->len == FRDMA_ICRC_PSEUDO_MAX) {
		put_u16(pseudo->bytes + IPV6_PAYLOAD_LEN, udp_len);
		return;
	}
	put_u16(pseudo->bytes + IPV4_TOT_LEN, FRDMA_ICRC_IPV4_LEN + udp_len);
	put_u16(pseudo->bytes + IPV4_ID, ip_id);
}

u32 frdma_icrc_seed(const struct frdma_icrc_pseudo *pseudo,
		    const void *transport, size_t hdr_len)
{
	u8 buf[FRDMA_ICRC_PSEUDO_MAX + FRDMA_HDR_MAX];
	u8 *bth = buf + pseudo->len;

	/* One pass over one buffer: the CRC is dearest to begin. */
	memcpy(buf, pseudo->bytes, pseudo->len);
	memcpy(bth, transport, hdr_len);
	bth[BTH_VARIANT] = 0xff;

	return frdma_crc32(CRC_AFTER_LRH, buf, pseudo->len + hdr_len);
}
