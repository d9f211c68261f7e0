// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>
#include "icrc.h"
#include "wire.h"

static bool happens(struct wire *wire, u32 permille)
{
	return rnd_below(wire->rnd, 1000) < permille;
}

static void enqueue(struct wire *wire, const struct wire_pkt *pkt, u64 due_ns)
{
	struct wire_pkt **at = &wire->first;
	struct wire_pkt *copy = malloc(sizeof(*copy));

	*copy = *pkt;
	copy->due_ns = due_ns;
	while (*at && (*at)->due_ns <= due_ns)
		at = &(*at)->next;
	copy->next = *at;
	*at = copy;
}

/* Returns true if that is noticed: congestion bits may change on the way. */
static bool spoil(struct wire *wire, struct wire_pkt *pkt)
{
	u32 byte = rnd_below(wire->rnd, pkt->len);

	pkt->bytes[byte] ^= 1 << rnd_below(wire->rnd, 8);
	return byte != offsetof(struct frdma_bth, dqpn);
}

/**
 * wire_send - let a packet go
 * @wire: where
 * @pkt: what, to whom
 * @now_ns: when
 * @merciful: do nothing bad to it. Whoever sends is close to giving up, and
 *	is right to do so if the wire never lets a packet through
 *
 * Return: false if it will not arrive, or not as it was.
 */
bool wire_send(struct wire *wire, const struct wire_pkt *pkt, u64 now_ns,
	       bool merciful)
{
	const struct wire_mood *mood = &wire->mood;
	u64 due_ns = now_ns + mood->delay_ns;
	struct wire_pkt sent = *pkt;
	bool spoiled;

	wire->sent++;
	if (merciful) {
		enqueue(wire, &sent, due_ns);
		return true;
	}

	if (happens(wire, mood->drop))
		return false;
	if (happens(wire, mood->copy))
		enqueue(wire, &sent, due_ns + rnd_below(wire->rnd, 20000));
	spoiled = happens(wire, mood->spoil) && spoil(wire, &sent);
	if (happens(wire, mood->late))
		due_ns += rnd_below(wire->rnd, mood->late_ns);
	enqueue(wire, &sent, due_ns);
	return !spoiled;
}

/** wire_take - the next packet to arrive; the caller frees it */
struct wire_pkt *wire_take(struct wire *wire)
{
	struct wire_pkt *pkt = wire->first;

	wire->first = pkt->next;
	return pkt;
}

void wire_drain(struct wire *wire)
{
	while (wire->first)
		free(wire_take(wire));
}

/* An IPv4 and UDP header that all packets share but for their lengths. */
static u32 icrc_seed(const u8 *bytes, u32 hdr_len, u32 len)
{
	static const u8 ip[20] = { 0x45, [6] = 0x40, [8] = 64, [9] = 17 };
	static const u8 udp[8] = { 0xc0, 0x00, 0x12, 0xb7 };
	struct frdma_icrc_pseudo pseudo;

	frdma_icrc_pseudo_ipv4(&pseudo, ip, udp);
	frdma_icrc_pseudo_set(&pseudo, 0, len);
	return frdma_icrc_seed(&pseudo, bytes, hdr_len);
}

static __le32 icrc_of(const u8 *bytes, u32 hdr_len, u32 len)
{
	u32 rest = len - hdr_len - FRDMA_ICRC_LEN;

	return frdma_icrc_final(frdma_crc32(icrc_seed(bytes, hdr_len, len),
					    bytes + hdr_len, rest));
}

/**
 * wire_pack - the bytes of a packet
 * @bytes: room for WIRE_PKT_MAX
 * @hdr: its headers; payload_len is set
 * @payload: that many bytes
 *
 * Return: length of the packet.
 */
u32 wire_pack(u8 *bytes, const struct frdma_hdr *hdr, const u8 *payload)
{
	u32 hdr_len = frdma_hdr_build(bytes, hdr);
	u32 len = hdr_len;
	__le32 icrc;

	if (hdr->payload_len)
		memcpy(bytes + len, payload, hdr->payload_len);
	len += hdr->payload_len;
	memset(bytes + len, 0, hdr->pad);
	len += hdr->pad;

	icrc = icrc_of(bytes, hdr_len, len + FRDMA_ICRC_LEN);
	memcpy(bytes + len, &icrc, FRDMA_ICRC_LEN);
	return len + FRDMA_ICRC_LEN;
}

/**
 * wire_unpack - read a packet
 * @pkt: as it arrived
 * @hdr: set to its headers
 * @payload: set to its payload, inside of @pkt
 *
 * Return: false if it is damaged.
 */
bool wire_unpack(const struct wire_pkt *pkt, struct frdma_hdr *hdr,
		 const u8 **payload)
{
	__le32 icrc;

	if (frdma_hdr_parse(hdr, pkt->bytes, pkt->len, pkt->len))
		return false;
	icrc = icrc_of(pkt->bytes, hdr->hdr_len, pkt->len);
	if (memcmp(&icrc, pkt->bytes + pkt->len - FRDMA_ICRC_LEN,
		   FRDMA_ICRC_LEN))
		return false;
	*payload = pkt->bytes + hdr->hdr_len;
	return true;
}
