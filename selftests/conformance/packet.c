// SPDX-License-Identifier: GPL-2.0
#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#include "format.h"

#define ROCE_PORT	4791
#define A_SPORT		0xc123

/* CRC-32 as the specification draws it: one bit after the other. */
static uint32_t crc_bitwise(uint32_t crc, const uint8_t *at, size_t len)
{
	int bit;

	for (; len--; at++)
		for (crc ^= *at, bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? 0xedb88320 : 0);
	return crc;
}

/**
 * packet_icrc - what its ICRC must be
 * @packet: laid out; the last four bytes are not read
 */
uint32_t packet_icrc(const struct packet *packet)
{
	static const uint8_t lrh[8] = {
		0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff
	};
	static const char * const masked[] = {
		"tos", "ttl", "ip_csum", "tclass", "flow", "hops", "udp_csum",
		"fecn", "becn", "resv6",
	};
	struct packet copy = *packet;
	uint32_t crc;
	size_t i;

	for (i = 0; i < sizeof(masked) / sizeof(masked[0]); i++)
		set_field(&copy, masked[i], ~0ULL);
	crc = crc_bitwise(~0U, lrh, sizeof(lrh));
	crc = ~crc_bitwise(crc, copy.bytes, copy.len - ICRC_LEN);
	return crc;
}

/** packet_stored_icrc - the ICRC that it has */
uint32_t packet_stored_icrc(const struct packet *packet)
{
	const uint8_t *at = packet->bytes + packet->len - ICRC_LEN;

	return at[0] | at[1] << 8 | at[2] << 16 | (uint32_t)at[3] << 24;
}

static void store_icrc(struct packet *packet, uint32_t icrc)
{
	uint8_t *at = packet->bytes + packet->len - ICRC_LEN;
	int i;

	for (i = 0; i < ICRC_LEN; i++)
		at[i] = icrc >> 8 * i;
}

static uint32_t sum16(const uint8_t *at, size_t len, uint32_t sum)
{
	for (; len > 1; at += 2, len -= 2)
		sum += at[0] << 8 | at[1];
	if (len)
		sum += at[0] << 8;
	return sum;
}

static uint16_t folded(uint32_t sum)
{
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return ~sum;
}

static uint16_t ip_checksum(const struct packet *packet)
{
	return folded(sum16(packet->bytes, header_len[HDR_IPV4], 0) -
		      get_field(packet, "ip_csum"));
}

/** packet_udp_checksum - what its UDP checksum must be, if it has one */
uint16_t packet_udp_checksum(const struct packet *packet)
{
	uint32_t udp = packet->at[HDR_UDP], len = packet->len - udp;
	bool ipv6 = packet->has & HAS(IPV6);
	uint32_t addresses = ipv6 ? 8 : 12;
	uint32_t sum = sum16(packet->bytes + addresses, udp - addresses,
			     17 + len);

	sum = sum16(packet->bytes + udp, len, sum) -
	      get_field(packet, "udp_csum");
	return folded(sum) ?: 0xffff;
}

static void set_lengths(struct packet *packet)
{
	uint32_t udp_len = packet->len - packet->at[HDR_UDP];

	set_field(packet, "udp_len", udp_len);
	set_field(packet, "ip_len", packet->len);
	set_field(packet, "ip6_len", udp_len);
}

static void set_defaults(struct packet *packet, const struct packet_peer *peer,
			 uint8_t opcode)
{
	if (peer->ipv6) {
		packet->bytes[0] = 0x60;
		packet->bytes[6] = 17;
		set_field(packet, "hops", 64);
		memcpy(packet->bytes + 8, peer->peer6, 16);
		memcpy(packet->bytes + 24, peer->host6, 16);
	} else {
		packet->bytes[0] = 0x45;
		packet->bytes[9] = 17;
		set_field(packet, "df", 1);
		set_field(packet, "ttl", 64);
		set_field(packet, "src", peer->peer);
		set_field(packet, "dst", peer->host);
	}
	set_field(packet, "sport", A_SPORT);
	set_field(packet, "dport", ROCE_PORT);
	set_field(packet, "opcode", opcode);
	set_field(packet, "migreq", 1);
	set_field(packet, "pkey", 0xffff);
	set_field(packet, "dqpn", peer->qpn);
	set_field(packet, "sqpn", peer->peer_qpn);
	set_field(packet, "credits", 0x1f);
}

/* "dst=ff0e::1": addresses of IPv6 are no numbers. */
static bool set_address6(struct packet *packet, const char *name,
			 const char *text)
{
	uint32_t at = !strcmp(name, "src") ? 8 : 24;

	return packet->has & HAS(IPV6) && text &&
	       (!strcmp(name, "src") || !strcmp(name, "dst")) &&
	       inet_pton(AF_INET6, text, packet->bytes + at) == 1;
}

#define LATE	"late."

/* Takes the words of the line that name fields, early or late ones. */
static bool set_named(struct packet *packet, struct line *line,
		      const struct names *names, bool late, char *why,
		      size_t why_size)
{
	size_t i;

	for (i = 2; i < line->nr; i++) {
		struct word *word = &line->words[i];
		bool is_late = !strncmp(word->name, LATE, strlen(LATE));
		const char *name = word->name + (is_late ? strlen(LATE) : 0);
		const struct field *f = find_field(packet, name);
		uint64_t value = 1;

		if (word->used || is_late != late)
			continue;
		word->used = true;
		if (set_address6(packet, name, word->value))
			continue;
		if (!f || (word->value && !value_of(word->value, f->meaning,
						    names, &value))) {
			snprintf(why, why_size, "cannot set %s", word->name);
			return false;
		}
		set_field(packet, name, value);
	}
	return true;
}

static bool number(struct line *line, const char *name,
		   const struct names *names, uint64_t otherwise,
		   uint64_t *value)
{
	const char *text = line_value(line, name);

	*value = otherwise;
	return !text || value_of(text, MEANS_NUMBER, names, value);
}

static void fill_payload(struct packet *packet, uint64_t from, uint64_t pad)
{
	uint8_t *at = packet->bytes + packet->payload;
	uint32_t i;

	for (i = 0; i < packet->payload_len; i++)
		at[i] = pattern(from + i);
	memset(at + packet->payload_len, 0, pad);
}

/**
 * packet_read_bytes - "0104": bytes, as many as there are
 * @text: those
 * @bytes: set
 * @room: for so many
 * @nr: set to how many there are
 *
 * Return: false if they are none, or more than @room.
 */
bool packet_read_bytes(const char *text, uint8_t *bytes, size_t room,
		       size_t *nr)
{
	unsigned int byte;

	for (*nr = 0; text[0] && *nr < room; text += 2, ++*nr) {
		if (!text[1] || sscanf(text, "%2x", &byte) != 1)
			return false;
		bytes[*nr] = byte;
	}
	return !text[0];
}

/* Those bytes, and nothing behind them. */
static bool fill_bytes(struct packet *packet, const char *text)
{
	uint8_t *at = packet->bytes + packet->payload;
	size_t nr;

	memset(at, 0, packet->payload_len);
	return packet_read_bytes(text, at, packet->payload_len, &nr);
}

/* Four bytes of options, which do nothing, behind the IPv4 header. */
static void add_options(struct packet *packet)
{
	uint8_t *at = packet->bytes + header_len[HDR_IPV4];

	memmove(at + 4, at, packet->len - header_len[HDR_IPV4]);
	memset(at, 1, 4);
	packet->len += 4;
	set_field(packet, "ihl", 6);
	set_field(packet, "ip_len", packet->len);
	set_field(packet, "ip_csum", 0);
	set_field(packet, "ip_csum", folded(sum16(packet->bytes, 24, 0)));
}

/**
 * packet_build - the packet that a line describes
 * @packet: set
 * @line: "< OPCODE ..."
 * @peer: what it does not say
 * @names: for its values
 * @why: set to what is wrong with it
 * @why_size: room for that
 */
bool packet_build(struct packet *packet, struct line *line,
		  const struct packet_peer *peer, const struct names *names,
		  char *why, size_t why_size)
{
	uint64_t len, pad, from, keep, syndrome, at, vlan;
	int64_t flip;
	bool checksum, bad_checksum, options;
	const char *nak, *begins;
	uint8_t opcode;
	int answer;

	memset(packet, 0, sizeof(*packet));
	snprintf(why, why_size, "cannot read it");
	if (!read_opcode(line, &opcode, &answer))
		return false;
	lay_out(packet, headers_of(opcode) | HAS(UDP) | HAS(BTH) |
		(peer->ipv6 ? HAS(IPV6) : HAS(IPV4)));
	set_defaults(packet, peer, opcode);
	if (answer >= 0) {
		set_field(packet, "kind", answers[answer].kind);
		set_field(packet, "credits", answers[answer].value);
	}
	nak = nak_of(line, answer);
	if (nak && !value_of(nak, MEANS_NUMBER, names, &syndrome))
		return false;
	if (nak)
		set_field(packet, "syndrome", syndrome);

	if (!number(line, "len", names, 0, &len) || len > PACKET_MAX - 200 ||
	    !number(line, "pad", names, -len & 3, &pad) || pad > 3 ||
	    !number(line, "payload", names, 0, &from) ||
	    !number(line, "flip", names, ~0ULL, &at) ||
	    !number(line, "keep", names, ~0ULL, &keep) ||
	    !number(line, "vlan", names, 0, &vlan))
		return false;
	packet->vlan = vlan;
	flip = at;
	packet->payload_len = len;
	fill_payload(packet, from, pad);
	begins = line_value(line, "begins");
	if (begins && !fill_bytes(packet, begins))
		return false;
	set_field(packet, "pad", pad);
	set_field(packet, "dma", len);
	packet->len = packet->payload + len + pad;
	if (keep < packet->len - packet->at[HDR_BTH])
		packet->len = packet->at[HDR_BTH] + keep;
	packet->len += ICRC_LEN;
	set_lengths(packet);

	options = line_flag(line, "options");
	checksum = line_flag(line, "udp_checksum");
	bad_checksum = line_flag(line, "bad_udp_checksum");
	if (!set_named(packet, line, names, false, why, why_size))
		return false;
	store_icrc(packet, packet_icrc(packet));
	if (!set_named(packet, line, names, true, why, why_size))
		return false;
	if (flip >= 0)
		packet->bytes[packet->at[HDR_BTH] + flip] ^= 4;
	if (checksum || bad_checksum)
		set_field(packet, "udp_csum", packet_udp_checksum(packet) ^
			  (bad_checksum ? 0x5555 : 0));
	set_field(packet, "ip_csum", ip_checksum(packet));
	if (options)
		add_options(packet);
	return true;
}

/**
 * packet_fit - the lengths in its headers, once bytes were added or cut off
 * @packet: its @len and @bytes are right
 */
void packet_fit(struct packet *packet)
{
	set_lengths(packet);
	set_field(packet, "ip_csum", ip_checksum(packet));
}

/** packet_seal - the right ICRC, once bytes were changed */
void packet_seal(struct packet *packet)
{
	store_icrc(packet, packet_icrc(packet));
}

/** packet_step - the same with the next PSN */
void packet_step(struct packet *packet)
{
	set_field(packet, "psn", get_field(packet, "psn") + 1);
	packet_seal(packet);
}

/**
 * packet_split - make two fragments of a packet of IPv4
 * @first: the packet; becomes the first
 * @second: set to the other
 * @at: bytes behind the IP header in the first, a multiple of eight
 */
void packet_split(struct packet *first, struct packet *second, uint32_t at)
{
	uint32_t ip = header_len[HDR_IPV4];

	*second = *first;
	second->len = first->len - at;
	memmove(second->bytes + ip, first->bytes + ip + at, second->len - ip);
	set_field(second, "fragment", at / 8);
	first->len = ip + at;
	set_field(first, "more", 1);
	set_field(first, "ip_len", first->len);
	set_field(second, "ip_len", second->len);
	set_field(first, "ip_csum", ip_checksum(first));
	set_field(second, "ip_csum", ip_checksum(second));
}

/**
 * packet_read - find out what a packet has
 * @packet: its @len and @bytes are set
 *
 * Return: false if it is none of RoCE, or too short for its headers.
 */
bool packet_read(struct packet *packet)
{
	uint32_t ip = packet->bytes[0] >> 4 == 6 ? HAS(IPV6) : HAS(IPV4);
	uint32_t pad;

	if (packet->len < header_len[HDR_IPV6])
		return false;
	lay_out(packet, ip | HAS(UDP) | HAS(BTH));
	if (packet->len < packet->payload + ICRC_LEN ||
	    packet->bytes[ip == HAS(IPV6) ? 6 : 9] != 17 ||
	    get_field(packet, "dport") != ROCE_PORT)
		return false;

	/* Ethernet may have padded it. */
	if (packet->len > packet->at[HDR_UDP] + get_field(packet, "udp_len"))
		packet->len = packet->at[HDR_UDP] +
			      get_field(packet, "udp_len");
	lay_out(packet, packet->has |
		headers_of(get_field(packet, "opcode")));
	pad = get_field(packet, "pad");
	if (packet->len < packet->payload + pad + ICRC_LEN)
		return false;
	packet->payload_len = packet->len - packet->payload - pad - ICRC_LEN;
	return true;
}
