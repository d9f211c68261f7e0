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
	pseudo->udp_len = 0;
	pseudo->have_crc = false;
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
	pseudo->udp_len = 0;
	pseudo->have_crc = false;
}

static bool pseudo_is_ipv6(const struct frdma_icrc_pseudo *pseudo)
{
	return pseudo->len == FRDMA_ICRC_PSEUDO_MAX;
}

static void set_lengths(struct frdma_icrc_pseudo *pseudo, u16 udp_len)
{
	u8 *udp = pseudo->bytes + pseudo->len - FRDMA_ICRC_UDP_LEN;

	put_u16(udp + UDP_LEN, udp_len);
	if (pseudo_is_ipv6(pseudo))
		put_u16(pseudo->bytes + IPV6_PAYLOAD_LEN, udp_len);
	else
		put_u16(pseudo->bytes + IPV4_TOT_LEN,
			FRDMA_ICRC_IPV4_LEN + udp_len);
}

/*
 * A CRC is linear: each bit of the IPv4 identification that is another one
 * changes the same bits of the state behind the UDP header.
 */
static u32 crc_of_id(u16 changed)
{
	static const u32 bit[16] = {
		0x9b73ead4, 0xed96d3e9, 0x005ca193, 0x00b94326,
		0x0172864c, 0x02e50c98, 0x05ca1930, 0x0b943260,
		0x81256527, 0xd93bcc0f, 0x69069e5f, 0xd20d3cbe,
		0x7f6b7f3d, 0xfed6fe7a, 0x26dcfab5, 0x4db9f56a,
	};
	const u32 *next = bit;
	u32 crc = 0;

	for (; changed; changed >>= 1, next++)
		if (changed & 1)
			crc ^= *next;
	return crc;
}

void frdma_icrc_pseudo_set(struct frdma_icrc_pseudo *pseudo, u16 ip_id,
			   size_t transport_len)
{
	u16 udp_len = FRDMA_ICRC_UDP_LEN + transport_len;
	bool same = udp_len == pseudo->udp_len;

	if (same && pseudo->have_crc) {
		if (!pseudo_is_ipv6(pseudo))
			pseudo->crc ^= crc_of_id(ip_id ^ pseudo->ip_id);
		pseudo->ip_id = ip_id;
		return;
	}

	set_lengths(pseudo, udp_len);
	if (!pseudo_is_ipv6(pseudo))
		put_u16(pseudo->bytes + IPV4_ID, ip_id);
	pseudo->udp_len = udp_len;
	pseudo->ip_id = ip_id;
	pseudo->have_crc = same;
	if (same)
		pseudo->crc = frdma_crc32(CRC_AFTER_LRH, pseudo->bytes,
					  pseudo->len);
}

u32 frdma_icrc_seed(const struct frdma_icrc_pseudo *pseudo,
		    const void *transport, size_t hdr_len)
{
	u8 buf[FRDMA_ICRC_PSEUDO_MAX + FRDMA_HDR_MAX];
	u32 front = pseudo->have_crc ? 0 : pseudo->len;
	u8 *bth = buf + front;

	/* One pass over one buffer: the CRC is dearest to begin. */
	memcpy(buf, pseudo->bytes, front);
	memcpy(bth, transport, hdr_len);
	bth[BTH_VARIANT] = 0xff;

	return frdma_crc32(pseudo->have_crc ? pseudo->crc : CRC_AFTER_LRH,
			   buf, front + hdr_len);
}
