// SPDX-License-Identifier: GPL-2.0
/*
 * Packets that a peer should not send, one at a time, to queue pairs of every
 * kind: what is counted, what is answered, who is harmed. peer.sh builds and
 * runs it:
 *
 *	peer DEVICE GID_INDEX CASE...
 */
#include "../lib/pair.h"
#include "../lib/bystander.h"
#include "../lib/statistic.h"
#include "victim.h"
#include "attack.h"
#include "operation.h"
#include "outcome.h"
#include "lot.h"

/*
 * Opcodes
 */

static void opcodes_at(struct victim *v)
{
	static struct packet packet;
	char words[256];
	int opcode;

	for (opcode = 0; opcode < 256; opcode++) {
		words_of(v, opcode, words, sizeof(words));
		if (is_response(opcode))
			snprintf(words, sizeof(words),
				 "0x%02x len=0 psn=%u", opcode, ASKED_PSN);
		build(&packet, v, "%s", words);
		expect(v, &packet, outcome_of(v, opcode));
	}
}

static void opcodes(void)
{
	struct victim *v;

	for (v = victims; v < victims + KINDS; v++)
		opcodes_at(v);
}

/*
 * Fields
 */

/** typedef rule_fn - what comes of a value, if @usual comes of the right one */
typedef struct outcome (*rule_fn)(const struct victim *v, uint64_t value,
				  struct outcome usual);

static struct outcome ignored(const struct victim *v, uint64_t value,
			      struct outcome usual)
{
	return usual;
}

/* Executed, but not acknowledged yet. */
static struct outcome asked_for(const struct victim *v, uint64_t value,
				struct outcome usual)
{
	if (!value)
		usual.syndrome = SILENT;
	return usual;
}

static struct outcome version(const struct victim *v, uint64_t value,
			      struct outcome usual)
{
	return value ? DROPPED("bad_version") : usual;
}

static struct outcome partition(const struct victim *v, uint64_t value,
				struct outcome usual)
{
	return (value & 0x7fff) == 0x7fff ? usual : DROPPED("bad_pkey");
}

static struct outcome destination(const struct victim *v, uint64_t value,
				  struct outcome usual)
{
	const struct victim *other;

	if (value == v->qpn)
		return usual;
	if (value == 1)
		return v->kind == UD ? DROPPED("bad_qkey") :
				       DROPPED("wrong_transport");
	for (other = victims; other < victims + KINDS; other++)
		if (value == other->qpn)
			return SKIPPED;
	return value == witness.qpn ? SKIPPED : DROPPED("no_qp");
}

/* So far ahead of what is missing a request may wait for it. */
#define KEPT_SPAN	512

/* Half of the circle is behind, the other half ahead. */
static struct outcome sequence(const struct victim *v, uint64_t value,
			       struct outcome usual)
{
	uint32_t ahead = (value - v->psn) & 0xffffff;

	if (!ahead)
		return usual;
	if (ahead < KEPT_SPAN)
		return (struct outcome) { "kept_packets", 0x60 };
	if (ahead < 0x800000)
		return (struct outcome) { "drop_out_of_sequence", 0x60 };
	return (struct outcome) { "duplicate_requests", ACK };
}

static struct outcome key(const struct victim *v, uint64_t value,
			  struct outcome usual)
{
	return value == lent_mr->rkey ? usual : refused(v, NAK_ACCESS);
}

static bool is_lent(uint64_t va, uint64_t len)
{
	uint64_t first = (uintptr_t)lent;

	return va >= first && va - first <= LENT - len;
}

static struct outcome address(const struct victim *v, uint64_t value,
			      struct outcome usual)
{
	return is_lent(value, 64) ? usual : refused(v, NAK_ACCESS);
}

static struct outcome address_of_eight(const struct victim *v, uint64_t value,
				       struct outcome usual)
{
	if (value & 7)
		return refused(v, NAK_REQUEST);
	return is_lent(value, 8) ? usual : refused(v, NAK_ACCESS);
}

static struct outcome length(const struct victim *v, uint64_t value,
			     struct outcome usual)
{
	return value == 64 ? usual : refused(v, NAK_REQUEST);
}

static struct outcome length_of_eight(const struct victim *v, uint64_t value,
				      struct outcome usual)
{
	return value == 8 ? usual : refused(v, NAK_REQUEST);
}

/* Up to what is lent it is answered, in as many packets as that takes. */
static struct outcome length_to_read(const struct victim *v, uint64_t value,
				     struct outcome usual)
{
	if (value > 1U << 31)
		return refused(v, NAK_REQUEST);
	if (value > LENT)
		return refused(v, NAK_ACCESS);
	return value > MTU ? SKIPPED : usual;
}

static struct outcome flushed(const struct victim *v, uint64_t value,
			      struct outcome usual)
{
	if (value > 1U << 31)
		return refused(v, NAK_REQUEST);
	return value > LENT ? refused(v, NAK_ACCESS) : usual;
}

static struct outcome selected(const struct victim *v, uint64_t value,
			       struct outcome usual)
{
	return value < 2 ? usual : refused(v, NAK_REQUEST);
}

/* To make it persistent, nobody has the right. */
static struct outcome placed(const struct victim *v, uint64_t value,
			     struct outcome usual)
{
	return value == 1 ? usual : refused(v, NAK_REQUEST);
}

static struct outcome queue_key(const struct victim *v, uint64_t value,
				struct outcome usual)
{
	return value == QKEY ? usual : DROPPED("bad_qkey");
}

static struct outcome shared_queue(const struct victim *v, uint64_t value,
				   struct outcome usual)
{
	return value == v->srqn ? usual : refused(v, NAK_ACCESS);
}

static struct outcome port(const struct victim *v, uint64_t value,
			   struct outcome usual)
{
	return value == 4791 ? usual : (struct outcome) { NULL, SILENT };
}

/* A right value is built into the packet where none is given. */
static struct outcome lost(const struct victim *v, uint64_t value,
			   struct outcome usual)
{
	return LOST;
}

/* Over IPv6, Linux takes 0 for the length of what has come. */
static struct outcome udp_length(const struct victim *v, uint64_t value,
				 struct outcome usual)
{
	return value || !peer.ipv6 ? LOST : usual;
}

/* A rule: the packet counts with one value of the field only. */
#define LOST_UNLESS(only)						\
static struct outcome lost_unless_##only(const struct victim *v,	\
					 uint64_t value,		\
					 struct outcome usual)		\
{									\
	return value == (only) ? usual : LOST;				\
}

LOST_UNLESS(0)
LOST_UNLESS(4)
LOST_UNLESS(5)
LOST_UNLESS(6)
LOST_UNLESS(17)

/** struct sweep - a field of a kind of packet gets many values */
struct sweep {
	enum kind kind;
	uint8_t opcode;
	const char *field;
	unsigned int width;
	rule_fn rule;
};

static const struct sweep sweeps[] = {
	{ RC, 0x04, "se", 1, ignored },
	{ RC, 0x04, "migreq", 1, ignored },
	{ RC, 0x04, "tver", 4, version },
	{ RC, 0x04, "pkey", 16, partition },
	{ RC, 0x04, "fecn", 1, ignored },
	{ RC, 0x04, "becn", 1, ignored },
	{ RC, 0x04, "resv6", 6, ignored },
	{ RC, 0x04, "resv7", 7, ignored },
	{ RC, 0x04, "dqpn", 24, destination },
	{ RC, 0x04, "ack", 1, asked_for },
	{ RC, 0x04, "psn", 24, sequence },
	{ RC, 0x05, "imm", 32, ignored },
	{ RC, 0x0a, "va", 64, address },
	{ RC, 0x0a, "rkey", 32, key },
	{ RC, 0x0a, "dma", 32, length },
	{ RC, 0x0a, "psn", 24, sequence },
	{ RC, 0x0c, "va", 64, address },
	{ RC, 0x0c, "rkey", 32, key },
	{ RC, 0x0c, "dma", 32, length_to_read },
	{ RC, 0x13, "va", 64, address_of_eight },
	{ RC, 0x13, "rkey", 32, key },
	{ RC, 0x13, "swap", 64, ignored },
	{ RC, 0x13, "compare", 64, ignored },
	{ RC, 0x14, "va", 64, address_of_eight },
	{ RC, 0x14, "add", 64, ignored },
	{ RC, 0x17, "inv", 32, ignored },
	{ RC, 0x1c, "select", 2, selected },
	{ RC, 0x1c, "placement", 4, placed },
	{ RC, 0x1c, "resv26", 26, ignored },
	{ RC, 0x1c, "va", 64, address },
	{ RC, 0x1c, "rkey", 32, key },
	{ RC, 0x1c, "dma", 32, flushed },
	{ RC, 0x1d, "va", 64, address_of_eight },
	{ RC, 0x1d, "rkey", 32, key },
	{ RC, 0x1d, "dma", 32, length_of_eight },
	{ UC, 0x24, "se", 1, ignored },
	{ UC, 0x24, "migreq", 1, ignored },
	{ UC, 0x24, "tver", 4, version },
	{ UC, 0x24, "pkey", 16, partition },
	{ UC, 0x24, "dqpn", 24, destination },
	{ UC, 0x24, "fecn", 1, ignored },
	{ UC, 0x24, "becn", 1, ignored },
	{ UC, 0x24, "resv6", 6, ignored },
	{ UC, 0x24, "ack", 1, ignored },
	{ UC, 0x24, "resv7", 7, ignored },
	{ UC, 0x24, "psn", 24, ignored },
	{ UC, 0x25, "imm", 32, ignored },
	{ UC, 0x2a, "va", 64, address },
	{ UC, 0x2a, "rkey", 32, key },
	{ UC, 0x2a, "dma", 32, length },
	{ UD, 0x64, "se", 1, ignored },
	{ UD, 0x64, "migreq", 1, ignored },
	{ UD, 0x64, "tver", 4, version },
	{ UD, 0x64, "pkey", 16, partition },
	{ UD, 0x64, "dqpn", 24, destination },
	{ UD, 0x64, "fecn", 1, ignored },
	{ UD, 0x64, "becn", 1, ignored },
	{ UD, 0x64, "resv6", 6, ignored },
	{ UD, 0x64, "ack", 1, ignored },
	{ UD, 0x64, "resv7", 7, ignored },
	{ UD, 0x64, "psn", 24, ignored },
	{ UD, 0x64, "qkey", 32, queue_key },
	{ UD, 0x64, "resv8", 8, ignored },
	{ UD, 0x64, "sqpn", 24, ignored },
	{ UD, 0x65, "imm", 32, ignored },
	{ XRC_TARGET, 0xa4, "se", 1, ignored },
	{ XRC_TARGET, 0xa4, "migreq", 1, ignored },
	{ XRC_TARGET, 0xa4, "tver", 4, version },
	{ XRC_TARGET, 0xa4, "pkey", 16, partition },
	{ XRC_TARGET, 0xa4, "fecn", 1, ignored },
	{ XRC_TARGET, 0xa4, "becn", 1, ignored },
	{ XRC_TARGET, 0xa4, "resv6", 6, ignored },
	{ XRC_TARGET, 0xa4, "dqpn", 24, destination },
	{ XRC_TARGET, 0xa4, "ack", 1, asked_for },
	{ XRC_TARGET, 0xa4, "resv7", 7, ignored },
	{ XRC_TARGET, 0xa4, "psn", 24, sequence },
	{ XRC_TARGET, 0xa4, "resv8", 8, ignored },
	{ XRC_TARGET, 0xa4, "srqn", 24, shared_queue },
	{ XRC_TARGET, 0xa5, "imm", 32, ignored },
	{ XRC_TARGET, 0xaa, "rkey", 32, key },
	{ XRC_TARGET, 0xaa, "va", 64, address },
	{ XRC_TARGET, 0xaa, "dma", 32, length },
	{ XRC_TARGET, 0xac, "srqn", 24, shared_queue },
	{ }
};

static const struct sweep network_sweeps[] = {
	{ RC, 0x04, "version", 4, lost_unless_4 },
	{ RC, 0x04, "tos", 8, ignored },	/* marks, too, but for CNPs */
	{ RC, 0x04, "ttl", 8, ignored },
	{ RC, 0x04, "ip_id", 16, ignored },
	{ RC, 0x04, "evil", 1, ignored },
	{ RC, 0x04, "df", 1, ignored },
	{ RC, 0x04, "protocol", 8, lost_unless_17 },
	{ RC, 0x04, "ihl", 4, lost_unless_5 },
	{ RC, 0x04, "ip_len", 16, lost },
	{ RC, 0x04, "more", 1, lost_unless_0 },
	{ RC, 0x04, "fragment", 13, lost_unless_0 },
	{ RC, 0x04, "udp_len", 16, udp_length },
	{ RC, 0x04, "sport", 16, ignored },
	{ RC, 0x04, "dport", 16, port },
	{ UD, 0x64, "tos", 8, ignored },
	{ UD, 0x64, "udp_len", 16, udp_length },
	{ }
};

static const struct sweep network6_sweeps[] = {
	{ RC, 0x04, "version", 4, lost_unless_6 },
	{ RC, 0x04, "protocol", 8, lost_unless_17 },
	{ RC, 0x04, "tclass", 8, ignored },
	{ RC, 0x04, "flow", 20, ignored },
	{ RC, 0x04, "hops", 8, ignored },
	{ RC, 0x04, "ip6_len", 16, lost },
	{ RC, 0x04, "udp_len", 16, udp_length },
	{ RC, 0x04, "sport", 16, ignored },
	{ RC, 0x04, "dport", 16, port },
	{ }
};

/* What would be right, where that is not 0. */
static uint64_t right_value(const struct victim *v, const char *field)
{
	const struct {
		const char *field;
		uint64_t value;
	} right[] = {
		{ "pkey", 0xffff }, { "dqpn", v->qpn }, { "psn", v->psn },
		{ "va", (uintptr_t)lent }, { "rkey", lent_mr->rkey },
		{ "dma", 64 }, { "qkey", QKEY }, { "srqn", v->srqn },
		{ "dport", 4791 },
	};
	size_t i;

	for (i = 0; i < COUNT(right); i++)
		if (!strcmp(right[i].field, field))
			return right[i].value;
	return 0;
}

/* Not @field=, but all else of the words. */
static void leave_out(char *words, const char *field)
{
	size_t len = strlen(field);
	char *at = words;

	while ((at = strstr(at, field))) {
		if (at[-1] == ' ' && at[len] == '=') {
			memset(at, ' ', strcspn(at, " "));
			return;
		}
		at += len;
	}
}

static void try_value(const struct sweep *s, uint64_t value)
{
	struct victim *v = &victims[s->kind];
	static struct packet packet;
	struct outcome outcome;
	char words[512];

	if (s->width < 64)
		value &= (1ULL << s->width) - 1;
	outcome = s->rule(v, value, outcome_of(v, s->opcode));
	if (!strcmp(outcome.counter ?: "", "skipped"))
		return;
	/* Without the right to flush, that comes first; behind it, the key. */
	if (s->opcode == FLUSH && !can_flush())
		outcome = REFUSED(NAK_REQUEST);
	words_of(v, s->opcode, words, sizeof(words));
	leave_out(words, s->field);
	build(&packet, v, "%s %s=%llu", words, s->field,
	      (unsigned long long)value);
	expect(v, &packet, outcome);
}

static void sweep(const struct sweep *s)
{
	uint64_t right = right_value(&victims[s->kind], s->field), value;
	unsigned int bit, i;

	if (s->width <= 8) {
		for (value = 0; value < 1U << s->width; value++)
			try_value(s, value);
		return;
	}
	try_value(s, 0);
	try_value(s, ~0ULL);
	for (bit = 0; bit < s->width; bit++)
		try_value(s, right ^ 1ULL << bit);
	for (i = 1; i < 4; i++) {
		try_value(s, right + i);
		try_value(s, right - i);
		try_value(s, (uint64_t)random() << 32 ^ random());
	}
	/* The edges of the window, and of the circle. */
	try_value(s, right + (1 << 23) - 1);
	try_value(s, right + (1 << 23) + 1);
	try_value(s, right + LENT - 64);
	try_value(s, right + LENT - 63);
}

static void fields(void)
{
	const struct sweep *s;

	for (s = sweeps; s->field; s++)
		sweep(s);
}

static void network_fields(void)
{
	const struct sweep *s = peer.ipv6 ? network6_sweeps : network_sweeps;

	for (; s->field; s++)
		sweep(s);
}

/*
 * Lengths
 */

/* IBTA 9.2.3: pads fill up to four bytes, and belong to the payload's. */
static struct outcome outcome_of_pad(const struct victim *v, uint8_t opcode,
				     uint32_t bytes, uint32_t pad)
{
	if (pad > bytes)
		return DROPPED("short");
	if (v->kind != UD && bytes % 4)
		return refused(v, NAK_REQUEST);
	return outcome_of(v, opcode);
}

static void pads_at(struct victim *v, uint8_t opcode)
{
	static struct packet packet;
	uint32_t bytes, pad;
	char words[256];

	for (bytes = 0; bytes < 10; bytes++)
		for (pad = 0; pad < 4; pad++) {
			words_of(v, opcode, words, sizeof(words));
			leave_out(words, "len");
			build(&packet, v, "%s len=%u pad=%u keep=%u", words,
			      bytes, pad, hdr_len(v, opcode) + bytes);
			if (operations[opcode & OPERATION].reaches)
				build(&packet, v,
				      "%s len=%u pad=%u keep=%u dma=%u", words,
				      bytes, pad, hdr_len(v, opcode) + bytes,
				      bytes - pad);
			expect(v, &packet, outcome_of_pad(v, opcode, bytes,
							  pad));
		}
}

static void pads(void)
{
	pads_at(&victims[RC], 0x04);
	pads_at(&victims[RC], 0x0a);
	pads_at(&victims[UC], 0x24);
	pads_at(&victims[UC], 0x2a);
	pads_at(&victims[UD], 0x64);
	pads_at(&victims[XRC_TARGET], 0xa4);
}

static void payload_is(struct victim *v, uint8_t opcode, uint32_t len,
		       struct outcome outcome)
{
	static struct packet packet;
	char words[256];

	words_of(v, opcode, words, sizeof(words));
	leave_out(words, "len");
	build(&packet, v, "%s len=%u", words, len);
	expect(v, &packet, outcome);
}

/* Messages that do not fit packets, packets that do not fit path or request. */
static void wrong_sizes(void)
{
	static const uint32_t first[] = { 0, 4, MTU - 4, MTU + 4, 1400 };
	struct victim *rc = &victims[RC], *uc = &victims[UC];
	size_t i;

	for (i = 0; i < COUNT(first); i++) {
		payload_is(rc, 0x00, first[i], refused(rc, NAK_REQUEST));
		payload_is(rc, 0x06, first[i], refused(rc, NAK_REQUEST));
		payload_is(uc, 0x20, first[i], refused(uc, NAK_REQUEST));
	}
	for (i = MTU + 1; i < 1400; i += 75) {
		payload_is(rc, 0x04, i, refused(rc, NAK_REQUEST));
		payload_is(rc, 0x0a, i, refused(rc, NAK_REQUEST));
		payload_is(uc, 0x24, i, refused(uc, NAK_REQUEST));
		payload_is(&victims[XRC_TARGET], 0xa4, i,
			   refused(&victims[XRC_TARGET], NAK_REQUEST));
	}
	for (i = 4; i < 64; i += 4) {
		payload_is(rc, 0x0c, i, refused(rc, NAK_REQUEST));
		payload_is(rc, 0x14, i, refused(rc, NAK_REQUEST));
		if (i != 8)
			payload_is(rc, 0x1d, i, refused(rc, NAK_REQUEST));
	}
	payload_is(&victims[GSI], 0x64, 257, DROPPED("bad_length"));
	payload_is(&victims[GSI], 0x64, 1400, DROPPED("bad_length"));
}

/* Cut behind every byte of its headers, with a right ICRC behind that. */
static void truncated_at(struct victim *v, uint8_t opcode)
{
	static struct packet packet;
	char words[256];
	uint32_t keep;

	words_of(v, opcode, words, sizeof(words));
	for (keep = 0; keep < hdr_len(v, opcode); keep++) {
		build(&packet, v, "%s keep=%u", words, keep);
		expect(v, &packet, DROPPED("short"));
	}
}

static void truncated(void)
{
	static const enum kind kinds[] = { RC, UC, UD, XRC_TARGET };
	struct victim *v;
	uint8_t op;
	size_t i;

	for (i = 0; i < COUNT(kinds); i++)
		for (op = 0; op < 32; op++) {
			v = &victims[kinds[i]];
			if (!operations[op].exists ||
			    (v->kind == UC && op >= READ_REQUEST) ||
			    (v->kind == UD && op != SEND_ONLY &&
			     op != SEND_ONLY_IMM))
				continue;
			truncated_at(v, v->transport | op);
		}
}

/* UDP without any byte of ours, and with fewer than a header. */
static void next_to_nothing(void)
{
	static struct packet packet;
	uint32_t len;

	for (len = 0; len < 12; len++) {
		build(&packet, &victims[RC], "0x04");
		packet.len = packet.at[HDR_BTH] + len;
		packet_fit(&packet);
		expect(&victims[RC], &packet, DROPPED("short"));
	}
}

/* Every bit that the ICRC covers, and of itself. */
static void flipped_at(struct victim *v, uint8_t opcode)
{
	static struct packet good, packet;
	uint32_t bit, byte;
	char words[256];

	words_of(v, opcode, words, sizeof(words));
	build(&good, v, "%s", words);
	for (bit = 0; bit < 8 * (good.len - good.at[HDR_BTH]); bit++) {
		packet = good;
		byte = bit / 8;
		packet.bytes[packet.at[HDR_BTH] + byte] ^= 1 << bit % 8;
		expect(v, &packet, byte == 4 ? outcome_of(v, opcode) :
			(struct outcome) { ANY_DROP, SILENT });
	}
}

static void flipped_bits(void)
{
	flipped_at(&victims[RC], 0x0c);
	flipped_at(&victims[UC], 0x25);
	flipped_at(&victims[UD], 0x64);
	flipped_at(&victims[XRC_TARGET], 0xb4);
}

/* A notification is a packet as any: who cannot obey does not count it unread. */
static void flipped_bits_of_notifications(void)
{
	struct victim *v;

	for (v = victims; v < victims + KINDS; v++)
		flipped_at(v, CNP);
}

/*
 * Replays
 */

static void replays(void)
{
	static const uint8_t opcodes[] = {
		0x04, 0x0a, 0x0c, 0x14, 0x13, 0x1d, 0x05, 0x0b,
	};
	static const enum kind kinds[] = { RC, XRC_TARGET };
	static struct packet packets[COUNT(opcodes)];
	unsigned char was[LENT];
	static struct reaction r;
	struct victim *v;
	char words[256];
	size_t i, k, n;

	for (k = 0; k < COUNT(kinds); k++) {
		v = &victims[kinds[k]];
		for (i = 0; i < COUNT(opcodes); i++, v->psn++) {
			words_of(v, v->transport | opcodes[i], words,
				 sizeof(words));
			build(&packets[i], v, "%s", words);
			attack_with(&packets[i], v, &r);
			EXPECT(executed(&r) == 1 && r.answers == 1);
		}
		EXPECT(victim_poll(v) == 3);
		memcpy(was, lent, LENT);
		for (n = 0; n < 32; n++) {
			attack_with(&packets[random() % COUNT(opcodes)], v, &r);
			EXPECT(!executed(&r) && r.answers <= 1 && !r.strange);
			EXPECT(counted(&r, "duplicate_requests") == 1);
		}
		EXPECT(!victim_poll(v) && !memcmp(was, lent, LENT));
		EXPECT(victim_state(v) == IBV_QPS_RTS);
		victim_heal(v);
	}
}

/*
 * Source ports: of connections to one peer, whose numbers are not one after
 * the other either.
 */
static void source_ports(void)
{
	struct ibv_send_wr *bad, wr = { .opcode = IBV_WR_RDMA_WRITE };
	static struct packet packet;
	uint32_t ports[NUMBERS];
	size_t i;

	for (i = 0; i < NUMBERS; i++) {
		struct victim v = {
			.kind = RC, .name = "RC", .type = IBV_QPT_RC,
			.peer_qpn = random() & 0xffffff,
		};

		make_victim(&v);
		EXPECT(!ibv_post_send(v.qp, &wr, &bad));
		await_packet(&packet);
		EXPECT(dqpn_of(&packet) == v.peer_qpn);
		ports[i] = packet.bytes[packet.at[HDR_UDP]] << 8 |
			   packet.bytes[packet.at[HDR_UDP] + 1];
		EXPECT(ports[i] >= 0xc000);
		unmake_victim(&v);
	}
	for (i = 0; i < NUMBERS; i++)
		ports[i] &= 0x3fff;
	no_rule(ports, NUMBERS, 14, 6);
}

static const struct test_case cases[] = {
	CASE(opcodes), CASE(fields), CASE(network_fields), CASE(pads),
	CASE(wrong_sizes), CASE(truncated), CASE(next_to_nothing),
	CASE(flipped_bits), CASE(flipped_bits_of_notifications), CASE(replays),
	CASE(source_ports), { }
};

int main(int argc, char **argv)
{
	if (argc < 4)
		return 2;
	begin_attack(argv[1], argv[2]);
	return attack_by(cases, argv + 3);
}
