// SPDX-License-Identifier: GPL-2.0
/*
 * Packets that were right once, changed by chance, in bursts. peer.sh builds
 * and runs it; the same seed makes the same packets again:
 *
 *	mutants DEVICE GID_INDEX SEED BURSTS
 */
#include "../lib/pair.h"
#include "../lib/bystander.h"
#include "../lib/statistic.h"
#include "victim.h"
#include "attack.h"
#include "operation.h"

#define BURST		8

/* A READ of all that is lent, or what was asked for, sent again. */
#define ANSWERS_MAX	(LENT / MTU + 8)

static uint64_t state;

/* xorshift64* */
static uint32_t rnd(uint32_t below)
{
	state ^= state >> 12;
	state ^= state << 25;
	state ^= state >> 27;
	return (state * 0x2545f4914f6cdd1dULL >> 33) % below;
}

/* What a peer may get wrong, and still have the ICRC right. */
static void slip(char *words, size_t size)
{
	static const char *const fields[] = {
		"se", "fecn", "becn", "resv6=63", "resv7=127", "pkey=0x7fff",
		"pkey=0xfffe", "tver=1", "migreq=0",
	};

	words[0] = '\0';
	switch (rnd(8)) {
	case 0:
		snprintf(words, size, "psn=%u",
			 (FIRST_PSN + rnd(8) - 4) & 0xffffff);
		break;
	case 1:
		snprintf(words, size, "psn=%u", rnd(1 << 24));
		break;
	case 2:
		snprintf(words, size, "pad=%u", rnd(4));
		break;
	case 3:
		snprintf(words, size, "keep=%u", rnd(100));
		break;
	case 4:
		snprintf(words, size, "%s", fields[rnd(COUNT(fields))]);
		break;
	case 5:
		snprintf(words, size, "flip=%u", rnd(28));
		break;
	}
}

/* Mostly what the victim is for, with its bytes changed or not. */
static void make_mutant(struct packet *packet, const struct victim *v)
{
	uint8_t opcode = rnd(4) ? v->transport | rnd(32) : rnd(256);
	char words[256], more[64];
	uint32_t changes, at;

	words_of(v, opcode, words, sizeof(words));
	slip(more, sizeof(more));
	if (is_response(opcode) && !strstr(more, "psn="))
		build(packet, v, "%s %s psn=%u", words, more,
		      ASKED_PSN + rnd(2));
	else
		build(packet, v, "%s %s", words, more);

	if (!rnd(4)) {
		packet->len = packet->at[HDR_BTH] + rnd(1400);
		packet_fit(packet);
	}
	for (changes = rnd(4); changes; changes--) {
		at = rnd(4) ? packet->at[HDR_BTH] + rnd(60) : rnd(packet->len);
		if (at < packet->len)
			packet->bytes[at] ^= rnd(2) ? 1 << rnd(8) : rnd(256);
	}
	if (rnd(3) && packet->len > packet->at[HDR_BTH] + 16)
		packet_seal(packet);
}

/* Is it of the right peer, and whole: nothing else may be answered. */
static bool deserves_answer(const struct packet *packet, const struct victim *v)
{
	const uint8_t *ip = packet->bytes, *end = ip + packet->len;
	const uint8_t *bth = ip + packet->at[HDR_BTH];
	static struct packet right;

	build(&right, v, "SEND_ONLY");
	return end >= bth + 16 && !(bth[1] & 0xf) &&
	       (bth[2] & 0x7f) == 0x7f && bth[3] == 0xff &&
	       get24(bth + 5) == v->qpn &&
	       !memcmp(ip + (peer.ipv6 ? 8 : 12),
		       right.bytes + (peer.ipv6 ? 8 : 12),
		       peer.ipv6 ? 32 : 8) &&
	       packet_icrc(packet) == (end[-4] | end[-3] << 8 | end[-2] << 16 |
				       (uint32_t)end[-1] << 24);
}

static void question(struct victim *v)
{
	static const enum ibv_wr_opcode opcodes[] = {
		IBV_WR_SEND, IBV_WR_RDMA_READ, IBV_WR_ATOMIC_FETCH_AND_ADD,
	};
	uint32_t which = rnd(COUNT(opcodes));

	if (v->kind == RC || v->kind == XRC_INITIATOR)
		ask(v, opcodes[which], which == 2 ? 8 : 64);
}

static void burst(struct victim *v)
{
	static struct packet packets[BURST];
	uint32_t nr = 1 + rnd(BURST), deserving = 0, i;
	static struct reaction r;
	enum ibv_qp_state after;

	if (!rnd(3))
		question(v);
	for (i = 0; i < nr; i++) {
		make_mutant(&packets[i], v);
		deserving += deserves_answer(&packets[i], v);
	}
	reaction_begins(&r);
	for (i = 0; i < nr; i++)
		wire_deliver(&packets[i]);
	reaction_ends(&r, v);
	after = victim_state(v);
	if (r.strange || r.answers > deserving * ANSWERS_MAX ||
	    (after != IBV_QPS_RTS && after != IBV_QPS_ERR) ||
	    (after == IBV_QPS_ERR && !deserving)) {
		printf("%s: %u of %u deserve an answer; state %d; ", v->name,
		       deserving, nr, after);
		print_reaction(&r);
		exit(1);
	}
	victim_heal(v);
}

int main(int argc, char **argv)
{
	unsigned long bursts, i;

	if (argc != 5)
		return 2;
	begin_attack(argv[1], argv[2]);
	state = arg_number(argv[3]) | 1ULL << 63;
	bursts = arg_number(argv[4]);
	printf("seed %s\n", argv[3]);
	for (i = 0; i < bursts; i++) {
		struct victim *v = &victims[rnd(KINDS)];

		burst(v);
		if (i % 32)
			continue;
		others_are_well(NULL);
		bystander_goes_on();
		guard_is_whole();
	}
	end_attack();
	printf("%lu bursts\n", bursts);
	return 0;
}
