// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>
#include <stdlib.h>
#include "hdr.h"
#include "icrc.h"
#include "rnd.h"
#include "tap.h"

#define ETH_LEN		14
#define FRAME_MAX	512

static struct rnd rnd = { 2 };

/**
 * struct packet - from the IP header on
 * @bytes: of it
 * @len: how many, ICRC included
 * @ip_len: of the IP header: 20 or 40
 */
struct packet {
	u8 bytes[FRAME_MAX];
	u32 len;
	u32 ip_len;
};

/* The engine's ICRC of a packet, as a receiver computes it. */
static u32 engine_icrc(const struct packet *pkt)
{
	const u8 *udp = pkt->bytes + pkt->ip_len;
	const u8 *bth = udp + FRDMA_ICRC_UDP_LEN;
	u32 hdr_len = frdma_hdr_len(bth[0]);
	const u8 *end = pkt->bytes + pkt->len - FRDMA_ICRC_LEN;
	struct frdma_icrc_pseudo pseudo;
	u32 crc;

	if (pkt->ip_len == FRDMA_ICRC_IPV4_LEN)
		frdma_icrc_pseudo_ipv4(&pseudo, pkt->bytes, udp);
	else
		frdma_icrc_pseudo_ipv6(&pseudo, pkt->bytes, udp);
	crc = frdma_icrc_seed(&pseudo, bth, hdr_len);
	crc = frdma_crc32(crc, bth + hdr_len, end - bth - hdr_len);
	return frdma_icrc_final(crc);
}

static u32 stored_icrc(const struct packet *pkt)
{
	u32 icrc;

	memcpy(&icrc, pkt->bytes + pkt->len - FRDMA_ICRC_LEN, sizeof(icrc));
	return icrc;
}

/* The definition itself: bit by bit, field by field, all in one place. */
static u32 reference_icrc(const struct packet *pkt)
{
	u32 udp = pkt->ip_len, bth = udp + 8, i, bit, crc = 0xffffffff;
	u8 copy[8 + FRAME_MAX], *ip = copy + 8;

	memset(copy, 0xff, 8);
	memcpy(ip, pkt->bytes, pkt->len);
	if (pkt->ip_len == 20) {
		ip[1] = 0xff;
		ip[8] = 0xff;
		ip[10] = ip[11] = 0xff;
	} else {
		ip[0] |= 0x0f;
		ip[1] = ip[2] = ip[3] = 0xff;
		ip[7] = 0xff;
	}
	ip[udp + 6] = ip[udp + 7] = 0xff;
	ip[bth + 4] = 0xff;

	for (i = 0; i < 8 + pkt->len - 4; i++) {
		for (bit = 0; bit < 8; bit++) {
			u32 in = copy[i] >> bit & 1;

			crc = crc >> 1 ^ ((crc ^ in) & 1 ? 0xedb88320 : 0);
		}
	}
	return htole32(~crc);
}

static void put_be16(u8 *at, u16 value)
{
	at[0] = value >> 8;
	at[1] = value;
}

/* A packet with an arbitrary, but formally right, IP and UDP header. */
static void make_packet(struct packet *pkt, u32 ip_len, u8 opcode, u32 payload)
{
	struct frdma_hdr hdr = { .opcode = opcode, .pad = -payload & 3 };
	u8 *udp = pkt->bytes + ip_len, *bth = udp + 8;
	u32 transport;

	rnd_fill(&rnd, pkt->bytes, sizeof(pkt->bytes));
	frdma_hdr_build(bth, &hdr);
	transport = frdma_hdr_len(opcode) + payload + hdr.pad + 4;
	put_be16(udp + 4, 8 + transport);
	if (ip_len == 20) {
		pkt->bytes[0] = 0x45;
		put_be16(pkt->bytes + 2, 28 + transport);
	} else {
		pkt->bytes[0] = 0x60 | (pkt->bytes[0] & 15);
		put_be16(pkt->bytes + 4, 8 + transport);
	}
	pkt->ip_len = ip_len;
	pkt->len = ip_len + 8 + transport;
}

static u32 read_hex(const char *line, u8 *bytes, u32 max)
{
	u32 n = 0;

	while (n < max && sscanf(line + 2 * n, "%2hhx", &bytes[n]) == 1)
		n++;
	return n;
}

TEST(frdma_icrc__frames_of_another_adapter)
{
	FILE *file = fopen(TEST_DATA "/icrc-frames.hex", "r");
	char line[2 * FRAME_MAX];
	u32 frames = 0;

	EXPECT(file);
	while (file && fgets(line, sizeof(line), file)) {
		u8 frame[FRAME_MAX];
		struct packet pkt;
		u32 n;

		if (line[0] == '#')
			continue;
		n = read_hex(line, frame, sizeof(frame));
		EXPECT(n > ETH_LEN + 28 + 16);
		memcpy(pkt.bytes, frame + ETH_LEN, n - ETH_LEN);
		pkt.len = n - ETH_LEN;
		pkt.ip_len = frame[ETH_LEN] >> 4 == 4 ? 20 : 40;
		EXPECT_EQ(engine_icrc(&pkt), stored_icrc(&pkt));
		EXPECT_EQ(reference_icrc(&pkt), stored_icrc(&pkt));
		frames++;
	}
	EXPECT_EQ(frames, 3);
	if (file)
		fclose(file);
}

TEST(frdma_icrc__every_opcode_and_pad)
{
	u32 opcode, payload;
	struct packet pkt;

	for (opcode = 0; opcode < 256; opcode++) {
		for (payload = 0; payload < 9; payload++) {
			make_packet(&pkt, 20, opcode, payload);
			EXPECT_EQ(engine_icrc(&pkt), reference_icrc(&pkt));
			make_packet(&pkt, 40, opcode, payload);
			EXPECT_EQ(engine_icrc(&pkt), reference_icrc(&pkt));
		}
	}
}

/* As a receiver takes a packet: headers, then the ICRC. */
static bool is_accepted(const struct packet *pkt)
{
	u32 front = pkt->ip_len + FRDMA_ICRC_UDP_LEN;
	u32 len = pkt->len > front ? pkt->len - front : 0;
	const u8 *bth = pkt->bytes + front;
	struct frdma_hdr hdr;
	u8 *exact = malloc(len);
	bool good;

	/* In memory of that size, so that reading on is seen. */
	memcpy(exact, bth, len);
	good = frdma_hdr_parse(&hdr, exact, len, len) == FRDMA_HDR_OK &&
	       engine_icrc(pkt) == stored_icrc(pkt);
	free(exact);
	return good;
}

/* As if it had been sent so short: IP and UDP agree with what is there. */
static void cut(struct packet *pkt, u32 len)
{
	u8 *udp = pkt->bytes + pkt->ip_len;

	pkt->len = len;
	put_be16(udp + 4, len - pkt->ip_len);
	if (pkt->ip_len == 20)
		put_be16(pkt->bytes + 2, len);
	else
		put_be16(pkt->bytes + 4, len - pkt->ip_len);
}

static void reject_every_prefix(u32 ip_len, u8 opcode, u32 payload)
{
	u32 front = ip_len + FRDMA_ICRC_UDP_LEN, icrc, full, len;
	struct packet pkt, prefix;

	make_packet(&pkt, ip_len, opcode, payload);
	icrc = engine_icrc(&pkt);
	memcpy(pkt.bytes + pkt.len - FRDMA_ICRC_LEN, &icrc, sizeof(icrc));
	EXPECT(is_accepted(&pkt));

	full = pkt.len;
	for (len = front; len < full; len++) {
		/* Cut on the way, and sent so by a peer that cannot count. */
		prefix = pkt;
		prefix.len = len;
		EXPECT(!is_accepted(&prefix));
		cut(&prefix, len);
		EXPECT(!is_accepted(&prefix));
	}
}

TEST(frdma_icrc__every_prefix_of_every_packet_is_rejected)
{
	u32 opcode, payload;

	for (opcode = 0; opcode < 256; opcode++) {
		const struct frdma_op *op = frdma_op(opcode);

		if (op->kind == FRDMA_KIND_NONE)
			continue;
		for (payload = 0; payload <= 64; payload += 1 + payload / 8) {
			if (payload && !op->payload)
				break;
			reject_every_prefix(20, opcode, payload);
			reject_every_prefix(40, opcode, payload);
		}
	}
}

/* What routers change, and what the BTH reserves: all else is covered. */
static bool is_variant(const struct packet *pkt, u32 byte, u32 bit)
{
	u32 udp = pkt->ip_len, bth = udp + 8;

	if (byte == udp + 6 || byte == udp + 7 || byte == bth + 4)
		return true;
	if (pkt->ip_len == 20)
		return byte == 1 || byte == 8 || byte == 10 || byte == 11;
	return (byte == 0 && bit < 4) || (byte >= 1 && byte <= 3) || byte == 7;
}

static void flip_every_bit(u32 ip_len, u8 opcode)
{
	struct packet pkt;
	u32 byte, bit, icrc;

	make_packet(&pkt, ip_len, opcode, 5);
	icrc = engine_icrc(&pkt);
	for (byte = 0; byte < pkt.len - FRDMA_ICRC_LEN; byte++) {
		/* Another opcode has other headers. */
		if (byte == ip_len + 8)
			continue;
		for (bit = 0; bit < 8; bit++) {
			pkt.bytes[byte] ^= 1 << bit;
			EXPECT((engine_icrc(&pkt) == icrc) ==
			       is_variant(&pkt, byte, bit));
			pkt.bytes[byte] ^= 1 << bit;
		}
	}
}

TEST(frdma_icrc__covers_what_it_should_in_ipv4)
{
	flip_every_bit(20, FRDMA_WRITE_ONLY_IMM);
	flip_every_bit(20, FRDMA_SEND_MIDDLE);
	flip_every_bit(20, FRDMA_COMPARE_SWAP);
}

TEST(frdma_icrc__covers_what_it_should_in_ipv6)
{
	flip_every_bit(40, FRDMA_WRITE_ONLY_IMM);
	flip_every_bit(40, FRDMA_SEND_MIDDLE);
	flip_every_bit(40, FRDMA_COMPARE_SWAP);
}

/* A sender patches one pseudo header; a receiver sees each packet whole. */
static void patch_for_each(u32 ip_len)
{
	struct frdma_icrc_pseudo pseudo;
	struct packet pkt;
	u32 payload;

	make_packet(&pkt, ip_len, FRDMA_SEND_MIDDLE, 0);
	if (ip_len == 20)
		frdma_icrc_pseudo_ipv4(&pseudo, pkt.bytes, pkt.bytes + ip_len);
	else
		frdma_icrc_pseudo_ipv6(&pseudo, pkt.bytes, pkt.bytes + ip_len);

	for (payload = 0; payload < 300; payload++) {
		u8 *udp = pkt.bytes + ip_len, *bth = udp + 8;
		u32 pad = -payload & 3, transport = 12 + payload + pad + 4;
		u16 id = 0xfff0 + payload;
		u32 crc;

		frdma_icrc_pseudo_set(&pseudo, id, transport);
		crc = frdma_icrc_seed(&pseudo, bth, 12);
		crc = frdma_crc32(crc, bth + 12, payload + pad);

		put_be16(udp + 4, 8 + transport);
		if (ip_len == 20) {
			put_be16(pkt.bytes + 2, 28 + transport);
			put_be16(pkt.bytes + 4, id);
		} else {
			put_be16(pkt.bytes + 4, 8 + transport);
		}
		pkt.len = ip_len + 8 + transport;
		EXPECT_EQ(frdma_icrc_final(crc), reference_icrc(&pkt));
	}
}

TEST(frdma_icrc_pseudo_set__every_segment_of_an_ipv4_train)
{
	patch_for_each(20);
}

TEST(frdma_icrc_pseudo_set__every_segment_of_an_ipv6_train)
{
	patch_for_each(40);
}

TEST(frdma_icrc_final__least_significant_byte_first)
{
	/* CRC-32 of "123456789" is a constant that everybody knows. */
	u32 crc = frdma_crc32(0xffffffff, "123456789", 9);
	__le32 icrc = frdma_icrc_final(crc);
	static const u8 expected[4] = { 0x26, 0x39, 0xf4, 0xcb };

	EXPECT(!memcmp(&icrc, expected, sizeof(expected)));
}

/*
 * One length again and again: the CRC in front is patched, not made anew. What
 * counts from packet to packet takes any value, and at times all else is new.
 */
static void seed_any_after_any(u32 ip_len, u8 opcode)
{
	u32 hdr_len = frdma_hdr_len(opcode), i;
	struct frdma_icrc_pseudo pseudo;
	struct packet pkt;
	u8 *bth = pkt.bytes + ip_len + FRDMA_ICRC_UDP_LEN;

	make_packet(&pkt, ip_len, opcode, 8);
	if (ip_len == FRDMA_ICRC_IPV4_LEN)
		frdma_icrc_pseudo_ipv4(&pseudo, pkt.bytes, bth - 8);
	else
		frdma_icrc_pseudo_ipv6(&pseudo, pkt.bytes, bth - 8);

	for (i = 0; i < 2000; i++) {
		u16 id = rnd_u64(&rnd);
		u32 crc;

		rnd_fill(&rnd, bth + 8 + i % 4, 4 - i % 4);
		if (i % 16 == 0)
			bth[1 + i / 16 % 7] ^= 1 << i / 128 % 8;
		frdma_icrc_pseudo_set(&pseudo, id, hdr_len + 8 + 4);
		crc = frdma_icrc_seed(&pseudo, bth, hdr_len);
		crc = frdma_crc32(crc, bth + hdr_len, 8);

		if (ip_len == FRDMA_ICRC_IPV4_LEN)
			put_be16(pkt.bytes + 4, id);
		EXPECT_EQ(frdma_icrc_final(crc), reference_icrc(&pkt));
	}
}

TEST(frdma_icrc_seed__any_packet_after_any_of_its_length)
{
	static const u8 opcodes[] = {
		FRDMA_SEND_MIDDLE, FRDMA_WRITE_ONLY, FRDMA_ACKNOWLEDGE,
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(opcodes); i++) {
		seed_any_after_any(FRDMA_ICRC_IPV4_LEN, opcodes[i]);
		seed_any_after_any(FRDMA_ICRC_IPV6_LEN, opcodes[i]);
	}
}

/* Another operation of the same length is no neighbour. */
TEST(frdma_icrc_seed__the_last_of_a_message_behind_its_middle)
{
	struct frdma_icrc_pseudo pseudo;
	struct packet pkt;
	u32 i;

	make_packet(&pkt, 20, FRDMA_SEND_MIDDLE, 8);
	frdma_icrc_pseudo_ipv4(&pseudo, pkt.bytes, pkt.bytes + 20);
	put_be16(pkt.bytes + 4, 5);
	for (i = 0; i < 8; i++) {
		u32 crc;

		pkt.bytes[28] = i % 4 == 3 ? FRDMA_SEND_LAST :
					     FRDMA_SEND_MIDDLE;
		frdma_icrc_pseudo_set(&pseudo, 5, 12 + 8 + 4);
		crc = frdma_icrc_seed(&pseudo, pkt.bytes + 28, 12);
		crc = frdma_crc32(crc, pkt.bytes + 40, 8);
		EXPECT_EQ(frdma_icrc_final(crc), reference_icrc(&pkt));
	}
}

/* Sets the PSN of a BTH, and leaves what shares its word. */
static void put_psn(u8 *bth, u32 psn)
{
	bth[9] = psn >> 16;
	put_be16(bth + 10, psn);
}

/*
 * Some runs one after the other. Each begins anywhere, often where much carries,
 * has any bits in its BTH, and may be cut short by a packet that was foretold
 * and did not come.
 */
static void seed_runs(u32 ip_len, bool id_counts)
{
	static const u32 carries[] = {
		0, 0xff, 0xffff, 0x7fffff, 0xfffffe, 0xffffff,
	};
	struct frdma_icrc_pseudo pseudo;
	struct packet pkt;
	u8 *bth = pkt.bytes + ip_len + FRDMA_ICRC_UDP_LEN;
	u32 run, i, psn, crc;
	u16 id;

	make_packet(&pkt, ip_len, FRDMA_SEND_MIDDLE, 8);
	if (ip_len == FRDMA_ICRC_IPV4_LEN)
		frdma_icrc_pseudo_ipv4(&pseudo, pkt.bytes, bth - 8);
	else
		frdma_icrc_pseudo_ipv6(&pseudo, pkt.bytes, bth - 8);

	for (run = 0; run < 500 && !tap_failed(); run++) {
		rnd_fill(&rnd, bth + 1, 11);
		psn = rnd_u64(&rnd);
		if (run % 2)
			psn = carries[run / 2 % ARRAY_SIZE(carries)] - run % 3;
		id = run % 5 ? rnd_u64(&rnd) : -(run % 7);

		for (i = 0; i < 40; i++, psn++, id += id_counts) {
			put_psn(bth, psn);
			frdma_icrc_pseudo_set(&pseudo, id, 12 + 8 + 4);
			crc = i ? frdma_icrc_seed_next(&pseudo, id_counts) :
				  frdma_icrc_seed(&pseudo, bth, 12);
			EXPECT(!memcmp(&pseudo.crc_bth, bth, 12));
			crc = frdma_crc32(crc, bth + 12, 8);
			if (ip_len == FRDMA_ICRC_IPV4_LEN)
				put_be16(pkt.bytes + 4, id);
			EXPECT_EQ(frdma_icrc_final(crc), reference_icrc(&pkt));
		}
		if (run % 4 == 3)
			frdma_icrc_seed_next(&pseudo, id_counts);
	}
}

TEST(frdma_icrc_seed_next__runs_of_any_begin)
{
	seed_runs(FRDMA_ICRC_IPV4_LEN, true);
	seed_runs(FRDMA_ICRC_IPV6_LEN, true);
}

TEST(frdma_icrc_seed_next__runs_of_one_identification)
{
	seed_runs(FRDMA_ICRC_IPV4_LEN, false);
	seed_runs(FRDMA_ICRC_IPV6_LEN, false);
}
