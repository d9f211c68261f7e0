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

/* No packet was seen so far. */
static void pseudo_start(struct frdma_icrc_pseudo *pseudo)
{
	pseudo->udp_len = 0;
	pseudo->ip_id = 0;
	pseudo->repeats = false;
	pseudo->have_crc = false;
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
	pseudo_start(pseudo);
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
	pseudo_start(pseudo);
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

void frdma_icrc_pseudo_set(struct frdma_icrc_pseudo *pseudo, u16 ip_id,
			   size_t transport_len)
{
	u16 udp_len = FRDMA_ICRC_UDP_LEN + transport_len;

	pseudo->ip_id = pseudo_is_ipv6(pseudo) ? 0 : ip_id;
	pseudo->repeats = udp_len == pseudo->udp_len;
	if (pseudo->repeats)
		return;

	set_lengths(pseudo, udp_len);
	pseudo->udp_len = udp_len;
	pseudo->have_crc = false;
}

/* One pass over one buffer: the CRC is dearest to begin. */
static u32 crc_of_headers(struct frdma_icrc_pseudo *pseudo,
			  const void *transport, size_t hdr_len)
{
	u8 buf[FRDMA_ICRC_PSEUDO_MAX + FRDMA_HDR_MAX];
	u8 *bth = buf + pseudo->len;

	if (pseudo->udp_len && !pseudo_is_ipv6(pseudo))
		put_u16(pseudo->bytes + IPV4_ID, pseudo->ip_id);
	memcpy(buf, pseudo->bytes, pseudo->len);
	memcpy(bth, transport, hdr_len);
	bth[BTH_VARIANT] = 0xff;

	return frdma_crc32(CRC_AFTER_LRH, buf, pseudo->len + hdr_len);
}

/* But for what counts from packet to packet. */
static bool bth_is_like(const struct frdma_bth *a, const struct frdma_bth *b)
{
	return a->opcode == b->opcode && a->flags == b->flags &&
	       a->pkey == b->pkey &&
	       !((a->dqpn ^ b->dqpn) & cpu_to_be32(FRDMA_BTH_DQPN));
}

/*
 * A CRC is linear: each bit that is another one than it was changes the same
 * bits of the state behind the BTH. What counts changes its lowest bits.
 */
static u32 crc_of_bits(const u32 *bit, u32 changed)
{
	u32 crc = 0;

	for (; changed; changed >>= 1, bit++)
		if (changed & 1)
			crc ^= *bit;
	return crc;
}

static u32 crc_of_ip_id(u16 changed)
{
	static const u32 bit[16] = {
		0xcf9e17c8, 0x444d29d1, 0x889a53a2, 0xca45a105,
		0x4ffa444b, 0x9ff48896, 0xe498176d, 0x1241289b,
		0x9570d495, 0xf190af6b, 0x38505897, 0x70a0b12e,
		0xe141625c, 0x19f3c2f9, 0x33e785f2, 0x67cf0be4,
	};

	return crc_of_bits(bit, changed);
}

static u32 crc_of_apsn(u32 changed)
{
	static const u32 bit[32] = {
		0x77073096, 0xee0e612c, 0x076dc419, 0x0edb8832,
		0x1db71064, 0x3b6e20c8, 0x76dc4190, 0xedb88320,
		0x191b3141, 0x32366282, 0x646cc504, 0xc8d98a08,
		0x4ac21251, 0x958424a2, 0xf0794f05, 0x3b83984b,
		0x01c26a37, 0x0384d46e, 0x0709a8dc, 0x0e1351b8,
		0x1c26a370, 0x384d46e0, 0x709a8dc0, 0xe1351b80,
		0xb8bc6765, 0xaa09c88b, 0x8f629757, 0xc5b428ef,
		0x5019579f, 0xa032af3e, 0x9b14583d, 0xed59b63b,
	};

	return crc_of_bits(bit, changed);
}

/* The state behind the BTH of a packet as long as the one before. */
static u32 crc_of_bth(struct frdma_icrc_pseudo *pseudo,
		      const struct frdma_bth *bth)
{
	struct frdma_bth *last = &pseudo->crc_bth;

	if (pseudo->have_crc && bth_is_like(bth, last))
		pseudo->crc ^= crc_of_ip_id(pseudo->ip_id ^
					    pseudo->crc_ip_id) ^
			       crc_of_apsn(be32_to_cpu(bth->apsn) ^
					   be32_to_cpu(last->apsn));
	else
		pseudo->crc = crc_of_headers(pseudo, bth, sizeof(*bth));

	pseudo->have_crc = true;
	pseudo->crc_ip_id = pseudo->ip_id;
	*last = *bth;
	return pseudo->crc;
}

u32 frdma_icrc_seed(struct frdma_icrc_pseudo *pseudo, const void *transport,
		    size_t hdr_len)
{
	const size_t bth_len = sizeof(struct frdma_bth);
	u32 crc;

	if (!pseudo->repeats)
		return crc_of_headers(pseudo, transport, hdr_len);

	crc = crc_of_bth(pseudo, transport);
	if (hdr_len == bth_len)
		return crc;
	return frdma_crc32(crc, transport + bth_len, hdr_len - bth_len);
}
