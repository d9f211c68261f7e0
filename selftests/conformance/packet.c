// SPDX-License-Identifier: GPL-2.0
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "packet.h"

#define ROCE_PORT	4791
#define A_SPORT		0xc123
#define PACKET_BYTES	64	/* that a script spells out */

#define HAS(header)	(1U << HDR_##header)

static const uint8_t header_len[HDR_NR] = {
	[HDR_IPV4] = 20, [HDR_IPV6] = 40, [HDR_UDP] = 8, [HDR_BTH] = 12,
	[HDR_XRCETH] = 4, [HDR_DETH] = 8, [HDR_FETH] = 4, [HDR_RETH] = 16,
	[HDR_ATOMICETH] = 28, [HDR_AETH] = 4, [HDR_ATOMICACKETH] = 8,
	[HDR_IMMDT] = 4, [HDR_IETH] = 4,
};

/* What scripts call by name, and where it lies: bits from a header's start. */
static const struct field {
	const char *name;
	uint8_t header;
	uint16_t bit;
	uint8_t width;
	enum meaning meaning;
} fields[] = {
	{ "version",	HDR_IPV4, 0, 4 },
	{ "ihl",	HDR_IPV4, 4, 4 },
	{ "tos",	HDR_IPV4, 8, 8 },
	{ "ip_len",	HDR_IPV4, 16, 16 },
	{ "ip_id",	HDR_IPV4, 32, 16 },
	{ "evil",	HDR_IPV4, 48, 1 },
	{ "df",		HDR_IPV4, 49, 1 },
	{ "more",	HDR_IPV4, 50, 1 },
	{ "fragment",	HDR_IPV4, 51, 13 },
	{ "ttl",	HDR_IPV4, 64, 8 },
	{ "protocol",	HDR_IPV4, 72, 8 },
	{ "ip_csum",	HDR_IPV4, 80, 16 },
	{ "src",	HDR_IPV4, 96, 32, MEANS_HOST },
	{ "dst",	HDR_IPV4, 128, 32, MEANS_HOST },
	{ "version",	HDR_IPV6, 0, 4 },
	{ "tclass",	HDR_IPV6, 4, 8 },
	{ "flow",	HDR_IPV6, 12, 20 },
	{ "ip6_len",	HDR_IPV6, 32, 16 },
	{ "protocol",	HDR_IPV6, 48, 8 },
	{ "hops",	HDR_IPV6, 56, 8 },
	{ "sport",	HDR_UDP, 0, 16 },
	{ "dport",	HDR_UDP, 16, 16 },
	{ "udp_len",	HDR_UDP, 32, 16 },
	{ "udp_csum",	HDR_UDP, 48, 16 },
	{ "opcode",	HDR_BTH, 0, 8 },
	{ "se",		HDR_BTH, 8, 1 },
	{ "migreq",	HDR_BTH, 9, 1 },
	{ "pad",	HDR_BTH, 10, 2 },
	{ "tver",	HDR_BTH, 12, 4 },
	{ "pkey",	HDR_BTH, 16, 16 },
	{ "fecn",	HDR_BTH, 32, 1 },
	{ "becn",	HDR_BTH, 33, 1 },
	{ "resv6",	HDR_BTH, 34, 6 },
	{ "dqpn",	HDR_BTH, 40, 24, MEANS_QPN },
	{ "ack",	HDR_BTH, 64, 1 },
	{ "resv7",	HDR_BTH, 65, 7 },
	{ "psn",	HDR_BTH, 72, 24 },
	{ "resv8",	HDR_XRCETH, 0, 8 },
	{ "srqn",	HDR_XRCETH, 8, 24, MEANS_SRQN },
	{ "qkey",	HDR_DETH, 0, 32 },
	{ "resv8",	HDR_DETH, 32, 8 },
	{ "sqpn",	HDR_DETH, 40, 24, MEANS_QPN },
	{ "resv26",	HDR_FETH, 0, 26 },
	{ "select",	HDR_FETH, 26, 2 },
	{ "placement",	HDR_FETH, 28, 4 },
	{ "va",		HDR_RETH, 0, 64, MEANS_ADDRESS },
	{ "rkey",	HDR_RETH, 64, 32, MEANS_RKEY },
	{ "dma",	HDR_RETH, 96, 32 },
	{ "va",		HDR_ATOMICETH, 0, 64, MEANS_ADDRESS },
	{ "rkey",	HDR_ATOMICETH, 64, 32, MEANS_RKEY },
	{ "swap",	HDR_ATOMICETH, 96, 64 },
	{ "add",	HDR_ATOMICETH, 96, 64 },
	{ "compare",	HDR_ATOMICETH, 160, 64 },
	{ "syndrome",	HDR_AETH, 0, 8 },
	{ "kind",	HDR_AETH, 0, 3 },
	{ "credits",	HDR_AETH, 3, 5 },
	{ "timer",	HDR_AETH, 3, 5 },
	{ "msn",	HDR_AETH, 8, 24 },
	{ "orig",	HDR_ATOMICACKETH, 0, 64 },
	{ "imm",	HDR_IMMDT, 0, 32 },
	{ "inv",	HDR_IETH, 0, 32, MEANS_RKEY },
};

#define NR_FIELDS	(sizeof(fields) / sizeof(fields[0]))

/* Operations, as RC numbers them, and what follows their BTH. */
static const struct {
	const char *name;
	uint32_t has;
} operations[32] = {
	[0x00] = { "SEND_FIRST", 0 },
	[0x01] = { "SEND_MIDDLE", 0 },
	[0x02] = { "SEND_LAST", 0 },
	[0x03] = { "SEND_LAST_IMM", HAS(IMMDT) },
	[0x04] = { "SEND_ONLY", 0 },
	[0x05] = { "SEND_ONLY_IMM", HAS(IMMDT) },
	[0x06] = { "WRITE_FIRST", HAS(RETH) },
	[0x07] = { "WRITE_MIDDLE", 0 },
	[0x08] = { "WRITE_LAST", 0 },
	[0x09] = { "WRITE_LAST_IMM", HAS(IMMDT) },
	[0x0a] = { "WRITE_ONLY", HAS(RETH) },
	[0x0b] = { "WRITE_ONLY_IMM", HAS(RETH) | HAS(IMMDT) },
	[0x0c] = { "READ_REQUEST", HAS(RETH) },
	[0x0d] = { "READ_RESP_FIRST", HAS(AETH) },
	[0x0e] = { "READ_RESP_MIDDLE", 0 },
	[0x0f] = { "READ_RESP_LAST", HAS(AETH) },
	[0x10] = { "READ_RESP_ONLY", HAS(AETH) },
	[0x11] = { "ACKNOWLEDGE", HAS(AETH) },
	[0x12] = { "ATOMIC_ACK", HAS(AETH) | HAS(ATOMICACKETH) },
	[0x13] = { "COMPARE_SWAP", HAS(ATOMICETH) },
	[0x14] = { "FETCH_ADD", HAS(ATOMICETH) },
	[0x16] = { "SEND_LAST_INV", HAS(IETH) },
	[0x17] = { "SEND_ONLY_INV", HAS(IETH) },
	[0x1c] = { "FLUSH", HAS(FETH) | HAS(RETH) },
	[0x1d] = { "ATOMIC_WRITE", HAS(RETH) },
};

#define XRC		"XRC_"
#define XRC_BITS	0xa0

/* Transports: the upper three bits of an opcode, and what it adds. */
static const struct {
	const char *prefix;
	uint8_t bits;
	uint32_t has;
} transports[] = {
	{ "UC_", 0x20, 0 },
	{ "UD_", 0x60, HAS(DETH) },
	{ XRC, XRC_BITS, HAS(XRCETH) },
	{ "", 0x00, 0 },
};

#define NR_TRANSPORTS	(sizeof(transports) / sizeof(transports[0]))

/* Three kinds of ACKNOWLEDGE, by the upper bits of their syndromes. */
static const struct {
	const char *name;
	uint8_t kind;
	uint8_t value;
} answers[] = {
	{ "ACK", 0, 0x1f },
	{ "RNR", 1, 0 },
	{ "NAK", 3, 0 },
};

#define NR_ANSWERS	(sizeof(answers) / sizeof(answers[0]))
#define OPCODE_ACK	0x11
#define OPCODE_CNP	0x81

/* READ_RESP_FIRST to ATOMIC_ACK */
static bool is_answer(uint8_t operation)
{
	return operation >= 0x0d && operation <= 0x12;
}

static uint32_t headers_of(uint8_t opcode)
{
	uint32_t has = operations[opcode & 0x1f].has;
	size_t i;

	for (i = 0; i < NR_TRANSPORTS; i++) {
		if (transports[i].bits != (opcode & 0xe0))
			continue;
		/* What answers carries no header of its transport. */
		return is_answer(opcode & 0x1f) ||
		       !operations[opcode & 0x1f].name ?
		       has : has | transports[i].has;
	}
	return 0;
}

static bool opcode_of(const char *name, uint8_t *opcode)
{
	size_t i, op;
	char *end;

	for (i = 0; i < NR_TRANSPORTS; i++) {
		size_t len = strlen(transports[i].prefix);

		if (strncmp(name, transports[i].prefix, len))
			continue;
		for (op = 0; op < 32; op++)
			if (operations[op].name &&
			    !strcmp(name + len, operations[op].name)) {
				*opcode = transports[i].bits | op;
				return true;
			}
	}
	*opcode = strtoul(name, &end, 0);
	return end != name && !*end;
}

static uint64_t get_bits(const uint8_t *at, uint32_t bit, uint32_t width)
{
	uint64_t value = 0;

	for (; width--; bit++)
		value = value << 1 | (at[bit / 8] >> (7 - bit % 8) & 1);
	return value;
}

static void set_bits(uint8_t *at, uint32_t bit, uint32_t width, uint64_t value)
{
	while (width--) {
		uint32_t b = bit + width;
		uint8_t mask = 0x80 >> b % 8;

		at[b / 8] = value & 1 ? at[b / 8] | mask : at[b / 8] & ~mask;
		value >>= 1;
	}
}

/* The field of that name that the packet has, or NULL. */
static const struct field *find_field(const struct packet *packet,
				      const char *name)
{
	size_t i;

	for (i = 0; i < NR_FIELDS; i++)
		if (!strcmp(fields[i].name, name) &&
		    packet->has & 1U << fields[i].header)
			return &fields[i];
	return NULL;
}

static uint64_t get_field(const struct packet *packet, const char *name)
{
	const struct field *f = find_field(packet, name);

	return f ? get_bits(packet->bytes + packet->at[f->header], f->bit,
			    f->width) : 0;
}

static bool set_field(struct packet *packet, const char *name, uint64_t value)
{
	const struct field *f = find_field(packet, name);

	if (!f)
		return false;
	set_bits(packet->bytes + packet->at[f->header], f->bit, f->width,
		 value);
	return true;
}

/* Where everything lies, as far as the opcode says. */
static void lay_out(struct packet *packet, uint32_t has)
{
	uint32_t at = 0;
	int i;

	packet->has = has;
	for (i = 0; i < HDR_NR; i++) {
		packet->at[i] = at;
		if (has & 1U << i)
			at += header_len[i];
	}
	packet->payload = at;
}

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

static uint32_t stored_icrc(const struct packet *packet)
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

static uint16_t udp_checksum(const struct packet *packet)
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

/* The opcode that begins the line, and what it says of an AETH. */
static bool read_opcode(struct line *line, uint8_t *opcode, int *answer)
{
	const char *name = line_next(line);
	bool xrc = name && !strncmp(name, XRC, strlen(XRC));
	const char *kind = xrc ? name + strlen(XRC) : name;
	size_t i;

	*answer = -1;
	for (i = 0; name && i < NR_ANSWERS; i++)
		if (!strcmp(kind, answers[i].name)) {
			*answer = i;
			*opcode = OPCODE_ACK | (xrc ? XRC_BITS : 0);
			return true;
		}
	return name && opcode_of(name, opcode);
}

/* "NAK 0x61": the word behind it is the syndrome. */
static const char *nak_of(struct line *line, int answer)
{
	if (answer < 0 || strcmp(answers[answer].name, "NAK"))
		return NULL;
	return line_next(line);
}

static void fill_payload(struct packet *packet, uint64_t from, uint64_t pad)
{
	uint8_t *at = packet->bytes + packet->payload;
	uint32_t i;

	for (i = 0; i < packet->payload_len; i++)
		at[i] = pattern(from + i);
	memset(at + packet->payload_len, 0, pad);
}

/* "begins=0104": bytes of the payload, as many as there are. */
static bool read_bytes(const char *text, uint8_t *bytes, size_t room,
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
	return read_bytes(text, at, packet->payload_len, &nr);
}

static bool payload_begins(const struct packet *packet, const char *text)
{
	uint8_t bytes[PACKET_BYTES];
	size_t nr;

	return read_bytes(text, bytes, sizeof(bytes), &nr) &&
	       nr <= packet->payload_len &&
	       !memcmp(bytes, packet->bytes + packet->payload, nr);
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
		set_field(packet, "udp_csum", udp_checksum(packet) ^
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

static bool pad_is_zero(const struct packet *packet)
{
	uint32_t i, pad = get_field(packet, "pad");

	if (pad != (-packet->payload_len & 3))
		return false;
	for (i = 0; i < pad; i++)
		if (packet->bytes[packet->payload + packet->payload_len + i])
			return false;
	return true;
}

/* None is right as well. */
static bool udp_checksum_is_right(const struct packet *packet)
{
	uint64_t got = get_field(packet, "udp_csum");

	return !got || got == udp_checksum(packet);
}

/* What holds for every packet that is sent. */
static bool is_well_formed(const struct packet *packet,
			   const struct packet_peer *peer, char *why,
			   size_t why_size)
{
	static const char * const zero[] = {
		"tver", "resv6", "resv7", "fecn",
	};
	uint32_t icrc = packet_icrc(packet);
	size_t i;

	if (stored_icrc(packet) != icrc) {
		snprintf(why, why_size, "its ICRC is 0x%08x, not 0x%08x",
			 stored_icrc(packet), icrc);
		return false;
	}
	if (!pad_is_zero(packet)) {
		snprintf(why, why_size, "its pad is wrong");
		return false;
	}
	if (!udp_checksum_is_right(packet)) {
		snprintf(why, why_size, "its UDP checksum is 0x%04x, not 0x%04x",
			 (unsigned int)get_field(packet, "udp_csum"),
			 udp_checksum(packet));
		return false;
	}
	for (i = 0; i < sizeof(zero) / sizeof(zero[0]); i++)
		if (get_field(packet, zero[i])) {
			snprintf(why, why_size, "%s is not zero", zero[i]);
			return false;
		}
	if (get_field(packet, "becn") !=
	    (get_field(packet, "opcode") == OPCODE_CNP)) {
		snprintf(why, why_size, "becn is wrong");
		return false;
	}
	return true;
}

static bool payload_is(const struct packet *packet, uint64_t from)
{
	uint32_t i;

	for (i = 0; i < packet->payload_len; i++)
		if (packet->bytes[packet->payload + i] != pattern(from + i))
			return false;
	return true;
}

/* One word of the line. */
static bool word_fits(const struct packet *packet, struct word *word,
		      const struct names *names, bool any, char *why,
		      size_t why_size)
{
	const char *name = word->name, *want = word->value ?: "1";
	bool absent = !word->value && !strncmp(name, "no_", 3);
	const struct field *f;
	uint64_t got, from;

	word->used = true;
	if (!strcmp(name, "payload")) {
		if (value_of(want, MEANS_NUMBER, names, &from) &&
		    payload_is(packet, from))
			return true;
		snprintf(why, why_size, "another payload");
		return false;
	}
	if (!strcmp(name, "begins")) {
		if (payload_begins(packet, want))
			return true;
		snprintf(why, why_size, "another payload");
		return false;
	}
	if (absent) {
		name += 3;
		want = "0";
	}
	f = find_field(packet, name);
	got = !strcmp(name, "len") ? packet->payload_len :
	      !strcmp(name, "vlan") ? packet->vlan : get_field(packet, name);
	if (!f && strcmp(name, "len") && strcmp(name, "vlan")) {
		snprintf(why, why_size, "no %s in it", name);
		return false;
	}
	if (value_is(want, f ? f->meaning : MEANS_NUMBER, names, got, any))
		return true;
	snprintf(why, why_size, "%s is 0x%llx, not %s", name,
		 (unsigned long long)got, want);
	return false;
}

/* Is it "ACK", "NAK 0x61", or whatever opcode the line names. */
static bool is_of_kind(const struct packet *packet, struct line *line,
		       const struct names *names, bool any, char *why,
		       size_t why_size)
{
	uint64_t got = get_field(packet, "opcode");
	const char *nak;
	uint8_t opcode;
	int answer;

	if (!read_opcode(line, &opcode, &answer)) {
		snprintf(why, why_size, "the script names no opcode");
		return false;
	}
	nak = nak_of(line, answer);
	if (got != opcode)
		goto err_other;
	if (answer >= 0 && get_field(packet, "kind") != answers[answer].kind)
		goto err_other;
	if (nak && !value_is(nak, MEANS_NUMBER, names,
			     get_field(packet, "syndrome"), any)) {
		snprintf(why, why_size, "the syndrome is 0x%llx",
			 (unsigned long long)get_field(packet, "syndrome"));
		return false;
	}
	return true;

err_other:
	snprintf(why, why_size, "another packet");
	return false;
}

/**
 * packet_matches - is it the one that a line describes
 * @packet: as it was sent, read
 * @line: "> OPCODE ..."
 * @peer: to whom it must go
 * @names: for the values of the line
 * @any: all alternatives are right, not only the first
 * @why: set to what is different
 * @why_size: room for that
 */
bool packet_matches(const struct packet *packet, struct line *line,
		    const struct packet_peer *peer, const struct names *names,
		    bool any, char *why, size_t why_size)
{
	bool dqpn_given = line_value(line, "dqpn"), tagged = false, fits;
	size_t i;

	fits = is_of_kind(packet, line, names, any, why, why_size) &&
	       is_well_formed(packet, peer, why, why_size);
	for (i = 2; i < line->nr; i++) {
		struct word *word = &line->words[i];
		bool known = word->used && strcmp(word->name, "dqpn");

		tagged |= !strcmp(word->name, "vlan");
		if (fits && !known)
			fits = word_fits(packet, word, names, any, why,
					 why_size);
		word->used = true;
	}
	if (fits && !tagged && packet->vlan) {
		snprintf(why, why_size, "it is in VLAN %u", packet->vlan);
		fits = false;
	}
	if (fits && !dqpn_given &&
	    get_field(packet, "dqpn") != peer->peer_qpn) {
		snprintf(why, why_size, "it is for queue pair 0x%llx",
			 (unsigned long long)get_field(packet, "dqpn"));
		fits = false;
	}
	return fits;
}

/** packet_print - a packet in the words of scripts, for people */
void packet_print(const struct packet *packet, char *text, size_t size)
{
	uint8_t opcode = get_field(packet, "opcode");
	const char *name = operations[opcode & 0x1f].name;
	size_t i, used;

	used = snprintf(text, size, "%s (0x%02x) len=%u", name ?: "reserved",
			opcode, packet->payload_len);
	for (i = 0; i < NR_FIELDS && used < size; i++) {
		const struct field *f = &fields[i];

		if (f->header < HDR_BTH || !(packet->has & 1U << f->header) ||
		    !strcmp(f->name, "opcode") || !strcmp(f->name, "kind") ||
		    !strcmp(f->name, "credits") || !strcmp(f->name, "timer"))
			continue;
		if (f->header == HDR_BTH && !get_field(packet, f->name))
			continue;
		used += snprintf(text + used, size - used, " %s=0x%llx",
				 f->name, (unsigned long long)
				 get_field(packet, f->name));
	}
}
