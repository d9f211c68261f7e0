// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>
#include <string.h>

#include "format.h"

const uint8_t header_len[HDR_NR] = {
	[HDR_IPV4] = 20, [HDR_IPV6] = 40, [HDR_UDP] = 8, [HDR_BTH] = 12,
	[HDR_XRCETH] = 4, [HDR_DETH] = 8, [HDR_FETH] = 4, [HDR_RETH] = 16,
	[HDR_ATOMICETH] = 28, [HDR_AETH] = 4, [HDR_ATOMICACKETH] = 8,
	[HDR_IMMDT] = 4, [HDR_IETH] = 4,
};

/* What scripts call by name; none behind the last. */
const struct field fields[] = {
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
	{ }
};

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

/* READ_RESP_FIRST to ATOMIC_ACK */
static bool is_answer(uint8_t operation)
{
	return operation >= 0x0d && operation <= 0x12;
}

/** headers_of - what packets of an opcode have behind UDP: bits of enum header */
uint32_t headers_of(uint8_t opcode)
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

/** operation_name - of an opcode, without its transport; NULL: reserved */
const char *operation_name(uint8_t opcode)
{
	return operations[opcode & 0x1f].name;
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

/** find_field - the field of that name that the packet has, or NULL */
const struct field *find_field(const struct packet *packet, const char *name)
{
	size_t i;

	for (i = 0; fields[i].name; i++)
		if (!strcmp(fields[i].name, name) &&
		    packet->has & 1U << fields[i].header)
			return &fields[i];
	return NULL;
}

/** get_field - its value, in the order of this host; 0 if the packet has none */
uint64_t get_field(const struct packet *packet, const char *name)
{
	const struct field *f = find_field(packet, name);

	return f ? get_bits(packet->bytes + packet->at[f->header], f->bit,
			    f->width) : 0;
}

/** set_field - set it; false if the packet has none */
bool set_field(struct packet *packet, const char *name, uint64_t value)
{
	const struct field *f = find_field(packet, name);

	if (!f)
		return false;
	set_bits(packet->bytes + packet->at[f->header], f->bit, f->width,
		 value);
	return true;
}

/** lay_out - where everything lies in a packet that has these headers */
void lay_out(struct packet *packet, uint32_t has)
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

/* By the upper bits of their syndromes. */
const struct answer answers[] = {
	{ "ACK", 0, 0x1f },
	{ "RNR", 1, 0 },
	{ "NAK", 3, 0 },
};

#define NR_ANSWERS	(sizeof(answers) / sizeof(answers[0]))
#define OPCODE_ACK	0x11

/**
 * read_opcode - the opcode that begins a line
 * @line: nothing of it was read
 * @opcode: set
 * @answer: set to the kind of ACKNOWLEDGE that it names, in answers[]; or -1
 */
bool read_opcode(struct line *line, uint8_t *opcode, int *answer)
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

/** nak_of - "NAK 0x61": the syndrome behind such an opcode, or NULL */
const char *nak_of(struct line *line, int answer)
{
	if (answer < 0 || strcmp(answers[answer].name, "NAK"))
		return NULL;
	return line_next(line);
}
