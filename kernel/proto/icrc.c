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
 * bits of the state behind the BTH. What counts up changes its lowest bits, all
 * up to some bit: so low[n] is what bits n to 0 change together, and any other
 * change is put together of such.
 */
static u32 crc_of_bits(const u32 *low, u32 changed)
{
	u32 ends = changed ^ changed >> 1, crc = 0;

	for (; ends; ends &= ends - 1)
		crc ^= low[__ffs(ends)];
	return crc;
}

static const u32 low_of_ip_id[16] = {
	0xcf9e17c8, 0x8bd33e19, 0x03496dbb, 0xc90cccbe,
	0x86f688f5, 0x19020063, 0xfd9a170e, 0xefdb3f95,
	0x7aabeb00, 0x8b3b446b, 0xb36b1cfc, 0xc3cbadd2,
	0x228acf8e, 0x3b790d77, 0x089e8885, 0x6f518361,
};

static const u32 low_of_apsn[32] = {
	0x77073096, 0x990951ba, 0x9e6495a3, 0x90bf1d91,
	0x8d080df5, 0xb6662d3d, 0xc0ba6cad, 0x2d02ef8d,
	0x3419decc, 0x062fbc4e, 0x6243794a, 0xaa9af342,
	0xe058e113, 0x75dcc5b1, 0x85a58ab4, 0xbe2612ff,
	0xbfe478c8, 0xbc60aca6, 0xbb69047a, 0xb57a55c2,
	0xa95cf6b2, 0x9111b052, 0xe18b3d92, 0x00be2612,
	0xb8024177, 0x120b89fc, 0x9d691eab, 0x58dd3644,
	0x08c461db, 0xa8f6cee5, 0x33e296d8, 0xdebb20e3,
};

/*
 * A number, with bits up to @top, counts up by one: all of it changes up to its
 * lowest zero, or, if it has none, all of it.
 */
static u32 crc_of_step(const u32 *low, u32 number, u32 top)
{
	return low[__ffs(~number | top)];
}

/* The state behind the BTH of a packet; kept for the next of its length. */
static u32 crc_of_bth(struct frdma_icrc_pseudo *pseudo,
		      const struct frdma_bth *bth)
{
	struct frdma_bth *last = &pseudo->crc_bth;

	if (pseudo->have_crc && bth_is_like(bth, last))
		pseudo->crc ^= crc_of_bits(low_of_ip_id, pseudo->ip_id ^
					   pseudo->crc_ip_id) ^
			       crc_of_bits(low_of_apsn,
					   be32_to_cpu(bth->apsn ^ last->apsn));
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

	if (hdr_len == bth_len)
		return crc_of_bth(pseudo, transport);
	if (!pseudo->repeats)
		return crc_of_headers(pseudo, transport, hdr_len);

	crc = crc_of_bth(pseudo, transport);
	return frdma_crc32(crc, transport + bth_len, hdr_len - bth_len);
}

u32 frdma_icrc_seed_next(struct frdma_icrc_pseudo *pseudo, bool id_counts)
{
	struct frdma_bth *bth = &pseudo->crc_bth;

	pseudo->crc ^= crc_of_step(low_of_apsn, be32_to_cpu(bth->apsn),
				   FRDMA_PSN_HALF);
	frdma_hdr_next_bth(bth);
	if (id_counts && !pseudo_is_ipv6(pseudo)) {
		pseudo->crc ^= crc_of_step(low_of_ip_id, pseudo->crc_ip_id,
					   BIT(15));
		pseudo->crc_ip_id++;
		pseudo->ip_id = pseudo->crc_ip_id;
	}
	return pseudo->crc;
}
