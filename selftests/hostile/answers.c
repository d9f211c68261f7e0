// SPDX-License-Identifier: GPL-2.0
/*
 * Answers that a peer should not give, one at a time, to what queue pairs have
 * asked it for: what becomes of the question, what is written, who is harmed.
 * peer.sh builds and runs it:
 *
 *	answers DEVICE GID_INDEX CASE...
 */
#include "../lib/pair.h"
#include "../lib/bystander.h"
#include "../lib/statistic.h"
#include "victim.h"
#include "attack.h"
#include "operation.h"
#include "outcome.h"

#define NO_STATUS	(-1)
#define UNTOUCHED	0x33

static int status_after(struct victim *v)
{
	struct ibv_wc wc;

	return ibv_poll_cq(v->cq, 1, &wc) > 0 ? (int)wc.status : NO_STATUS;
}

/*
 * Answers of whatever kind
 */

/* IBTA table 44. What is reserved breaks the connection that it came by. */
static int status_of_ack(uint8_t syndrome)
{
	if (syndrome < 0x20)
		return IBV_WC_SUCCESS;
	if (syndrome < 0x40 || syndrome == 0x60)
		return NO_STATUS;
	if (syndrome == 0x61)
		return IBV_WC_REM_INV_REQ_ERR;
	if (syndrome == 0x62)
		return IBV_WC_REM_ACCESS_ERR;
	if (syndrome == 0x63)
		return IBV_WC_REM_OP_ERR;
	return IBV_WC_BAD_RESP_ERR;
}

static void syndromes_of(enum ibv_wr_opcode opcode, uint32_t len,
			 const char *words, bool answer)
{
	struct victim *v = &victims[RC];
	static struct packet packet;
	static struct reaction r;
	int syndrome, got, want;

	for (syndrome = 0; syndrome < 256; syndrome++) {
		victim_heal(v);
		ask(v, opcode, len);
		build(&packet, v, "%s syndrome=%u psn=%u", words, syndrome,
		      ASKED_PSN);
		attack_with(&packet, v, &r);
		want = status_of_ack(syndrome);
		if (answer && syndrome >= 0x20)
			want = IBV_WC_BAD_RESP_ERR;
		got = status_after(v);
		if (got != want || r.strange || executed(&r) ||
		    (victim_state(v) == IBV_QPS_ERR) != (want > 0)) {
			printf("%s syndrome 0x%x: status %d, not %d; ", words,
			       syndrome, got, want);
			print_reaction(&r);
			exit(1);
		}
		look_around(v);
	}
	victim_heal(v);
}

static void syndromes(void)
{
	syndromes_of(IBV_WR_SEND, 64, "ACKNOWLEDGE", false);
	syndromes_of(IBV_WR_RDMA_READ, 64, "READ_RESP_ONLY len=64", true);
	syndromes_of(IBV_WR_ATOMIC_FETCH_AND_ADD, 8, "ATOMIC_ACK", true);
}

/* Every answer there is, to a question of each kind; PSNs that nobody used. */
static void wrong_answers_to(enum ibv_wr_opcode opcode, uint32_t len,
			     uint8_t right, uint32_t right_len)
{
	static const uint32_t lens[] = { 0, 8, 64, 68, MTU, 1400 };
	static const int away[] = { -1, 1, 2, 256, 1 << 23, -(1 << 23) + 1 };
	struct victim *v = &victims[RC];
	static struct packet packet;
	static struct reaction r;
	uint8_t answer;
	size_t i;

	for (answer = READ_RESP_FIRST; answer <= ATOMIC_ACK; answer++)
		for (i = 0; i < COUNT(lens); i++) {
			victim_heal(v);
			ask(v, opcode, len);
			build(&packet, v, "0x%02x len=%u psn=%u", answer,
			      lens[i], ASKED_PSN);
			attack_with(&packet, v, &r);
			EXPECT(!r.strange && !executed(&r));
			EXPECT((status_after(v) == IBV_WC_SUCCESS) ==
			       (answer == right && (answer != READ_RESP_ONLY ||
						    lens[i] == right_len)));
			look_around(v);
		}
	for (i = 0; i < COUNT(away); i++) {
		victim_heal(v);
		ask(v, opcode, len);
		build(&packet, v, "0x%02x len=%u psn=%u", right, right_len,
		      (ASKED_PSN + away[i]) & 0xffffff);
		attack_with(&packet, v, &r);
		EXPECT(dropped(&r) == 1 && status_after(v) == NO_STATUS);
		EXPECT(victim_state(v) == IBV_QPS_RTS);
	}
	victim_heal(v);
}

static void wrong_answers(void)
{
	wrong_answers_to(IBV_WR_SEND, 64, 0x11, 0);
	wrong_answers_to(IBV_WR_RDMA_READ, 64, READ_RESP_ONLY, 64);
	wrong_answers_to(IBV_WR_ATOMIC_FETCH_AND_ADD, 8, ATOMIC_ACK, 0);
}

/*
 * Answers of the right kind
 */

/* What a victim asks for, and the right answer. */
static const struct question {
	enum ibv_wr_opcode opcode;
	uint32_t len;
	uint8_t answer;
	uint32_t answer_len;
} questions[] = {
	{ IBV_WR_SEND, 64, ACKNOWLEDGE, 0 },
	{ IBV_WR_RDMA_READ, 64, READ_RESP_ONLY, 64 },
	{ IBV_WR_ATOMIC_FETCH_AND_ADD, 8, ATOMIC_ACK, 0 },
};

static const enum kind askers[] = { RC, XRC_INITIATOR };

/* Nothing has come of a packet but that it is counted, once, as dropped. */
static void expect_dropped(struct victim *v, const struct packet *packet,
			   const char *counter)
{
	static struct reaction r;
	char text[512];

	attack_with(packet, v, &r);
	if (dropped(&r) != 1 || counted(&r, counter) != 1 || executed(&r) ||
	    r.answers || r.strange || status_after(v) != NO_STATUS ||
	    victim_state(v) != IBV_QPS_RTS) {
		packet_print(packet, text, sizeof(text));
		printf("%s: %s\nexpected %s; ", v->name, text, counter);
		print_reaction(&r);
		exit(1);
	}
	look_around(v);
}

/* The right answer, with whatever the words add to it. */
static void expect_answered(struct victim *v, const struct question *q,
			    const char *words)
{
	static struct packet packet;
	static struct reaction r;

	build(&packet, v, "0x%02x len=%u psn=%u %s", v->transport | q->answer,
	      q->answer_len, ASKED_PSN, words);
	attack_with(&packet, v, &r);
	EXPECT(!dropped(&r) && !executed(&r) && !r.answers && !r.strange);
	EXPECT(status_after(v) == IBV_WC_SUCCESS);
	EXPECT(status_after(v) == NO_STATUS);
	EXPECT(victim_state(v) == IBV_QPS_RTS);
	look_around(v);
}

/* An answer is known by its PSN: its MSN may be any. */
static void number_is(struct victim *v, const struct question *q, uint32_t msn)
{
	char words[32];

	victim_heal(v);
	ask(v, q->opcode, q->len);
	snprintf(words, sizeof(words), "msn=%u", msn & 0xffffff);
	expect_answered(v, q, words);
}

static void message_numbers(void)
{
	struct victim *v = &victims[RC];
	unsigned int bit, i;
	size_t q;

	for (bit = 0; bit < 24; bit++)
		number_is(v, &questions[bit % COUNT(questions)], 1 << bit);
	for (q = 0; q < COUNT(questions); q++) {
		number_is(v, &questions[q], 0);
		number_is(v, &questions[q], ~0);
		for (i = 0; i < 4; i++)
			number_is(v, &questions[q], random());
	}
}

/* What an atomic has found comes to eight bytes, whatever it is. */
static void original_is(struct victim *v, uint64_t value)
{
	const struct question *q = &questions[2];
	char words[64];
	uint64_t got;
	size_t i;

	memset(lent, UNTOUCHED, 64);
	victim_heal(v);
	ask(v, q->opcode, q->len);
	snprintf(words, sizeof(words), "orig=%llu", (unsigned long long)value);
	expect_answered(v, q, words);
	memcpy(&got, lent, sizeof(got));
	EXPECT(got == value);
	for (i = sizeof(got); i < 64; i++)
		EXPECT(lent[i] == UNTOUCHED);
}

static void originals(void)
{
	struct victim *v;
	unsigned int bit, i;
	size_t k;

	for (bit = 0; bit < 64; bit++)
		original_is(&victims[askers[bit % COUNT(askers)]], 1ULL << bit);
	for (k = 0; k < COUNT(askers); k++) {
		v = &victims[askers[k]];
		original_is(v, 0);
		original_is(v, ~0ULL);
		for (i = 0; i < 4; i++)
			original_is(v, (uint64_t)random() << 32 ^ random());
	}
}

/* Bytes of its headers: no answer names a queue. */
static uint32_t answer_hdr_len(uint8_t answer)
{
	return answer == READ_RESP_MIDDLE ? 12 : answer == ATOMIC_ACK ? 24 : 16;
}

/* Cut behind every byte of their headers; then the whole one is taken. */
static void cut_answers(void)
{
	static struct packet packet;
	struct victim *v;
	uint32_t keep;
	uint8_t op;
	size_t k;

	for (k = 0; k < COUNT(askers); k++) {
		v = &victims[askers[k]];
		victim_heal(v);
		ask(v, questions[1].opcode, questions[1].len);
		for (op = READ_RESP_FIRST; op <= ATOMIC_ACK; op++)
			for (keep = 0; keep < answer_hdr_len(op); keep++) {
				build(&packet, v, "0x%02x psn=%u keep=%u",
				      v->transport | op, ASKED_PSN, keep);
				expect_dropped(v, &packet, "drop_short");
			}
		expect_answered(v, &questions[1], "");
	}
}

/* Whatever is said of what was not asked, or is over. */
static void answers_to_nothing(void)
{
	static const int syndromes[] = {
		0x00, 0x1f, 0x20, 0x3f, 0x40, 0x60, 0x61, 0x62, 0x63, 0x64,
		0x7f, 0x80, 0xff,
	};
	static const int away[] = {
		1, (1 << 23) - 1, -1, -(1 << 23) + 1,
	};
	static struct packet packet;
	struct victim *v;
	size_t k, s, i;

	for (k = 0; k < COUNT(askers); k++) {
		v = &victims[askers[k]];
		victim_heal(v);
		ask(v, questions[0].opcode, questions[0].len);
		for (s = 0; s < COUNT(syndromes); s++)
			for (i = 0; i < COUNT(away); i++) {
				build(&packet, v, "0x%02x psn=%u syndrome=%d",
				      v->transport | ACKNOWLEDGE,
				      (ASKED_PSN + away[i]) & 0xffffff,
				      syndromes[s]);
				expect_dropped(v, &packet, away[i] > 0 ?
					       "drop_ghost_ack" :
					       "drop_duplicate");
			}
		expect_answered(v, &questions[0], "");
	}
}

/*
 * READ responses of several packets
 */

#define PARTS		3
#define LAST_LEN	64
#define READ_LEN	((PARTS - 1) * MTU + LAST_LEN)

/** struct part - a packet of a response
 * @v: who has asked
 * @at: for which place of the response it says it is, by its PSN
 * @op: FIRST, MIDDLE, LAST or ONLY
 * @len: bytes of payload
 */
struct part {
	struct victim *v;
	unsigned int at;
	uint8_t op;
	uint32_t len;
};

/* Of a response that begins at the place @from. */
static struct part right_part(struct victim *v, unsigned int at,
			      unsigned int from)
{
	bool starts = at == from, ends = at == PARTS - 1;

	return (struct part) {
		.v = v, .at = at, .len = ends ? LAST_LEN : MTU,
		.op = starts ? ends ? READ_RESP_ONLY : READ_RESP_FIRST :
			       ends ? READ_RESP_LAST : READ_RESP_MIDDLE,
	};
}

static const struct packet *packet_of(const struct part *p)
{
	static struct packet packet;

	build(&packet, p->v, "0x%02x len=%u psn=%u payload=%u",
	      p->v->transport | p->op, p->len, ASKED_PSN + p->at, p->at * MTU);
	return &packet;
}

/* So much of the response is there, and not a byte of the rest. */
static bool has_read(uint32_t len)
{
	uint32_t i;

	for (i = 0; i < READ_LEN + MTU; i++)
		if (lent[i] != (i < len ? pattern(i) : UNTOUCHED))
			return false;
	return true;
}

static void take_part(const struct part *p)
{
	static struct reaction r;

	attack_with(packet_of(p), p->v, &r);
	if (dropped(&r) || executed(&r) || r.answers || r.strange ||
	    victim_state(p->v) != IBV_QPS_RTS) {
		printf("%s: place %u, 0x%02x, %u bytes; status %d, state %d; ",
		       p->v->name, p->at, p->op, p->len, status_after(p->v),
		       victim_state(p->v));
		print_reaction(&r);
		exit(1);
	}
}

/* The rest, of a response that begins there. */
static void take_parts(struct victim *v, unsigned int at, unsigned int from)
{
	for (; at < PARTS; at++) {
		struct part p = right_part(v, at, from);

		EXPECT(status_after(v) == NO_STATUS);
		take_part(&p);
	}
	EXPECT(status_after(v) == IBV_WC_SUCCESS && has_read(READ_LEN));
}

/* Has asked, and has got what comes before that place. */
static void wait_for_part(struct victim *v, unsigned int at)
{
	unsigned int i;

	victim_heal(v);
	memset(lent, UNTOUCHED, READ_LEN + MTU);
	ask(v, IBV_WR_RDMA_READ, READ_LEN);
	for (i = 0; i < at; i++) {
		struct part p = right_part(v, i, 0);

		take_part(&p);
	}
}

/* What is not there yet it asks for again; of what has come it says where it went. */
static void expect_asked_again(const struct part *p, unsigned int missing,
			       const char *fate)
{
	static struct packet again;
	static struct reaction r;
	struct victim *v = p->v;

	reaction_begins(&r);
	wire_deliver(packet_of(p));
	await_packet(&again);
	EXPECT(dqpn_of(&again) == v->peer_qpn);
	EXPECT(again.bytes[again.at[HDR_BTH]] ==
	       (v->transport | READ_REQUEST));
	EXPECT(psn_of(&again) == ASKED_PSN + missing);
	reaction_ends(&r, v);
	EXPECT(counted(&r, "retry_implied") == 1 && counted(&r, fate) == 1);
	EXPECT(dropped(&r) == !strncmp(fate, "drop_", 5));
	EXPECT(!executed(&r) && !r.answers && !r.strange);
	EXPECT(status_after(v) == NO_STATUS);
	EXPECT(victim_state(v) == IBV_QPS_RTS && has_read(missing * MTU));
}

static void expect_end(const struct part *p)
{
	static struct reaction r;
	struct victim *v = p->v;

	attack_with(packet_of(p), v, &r);
	EXPECT(status_after(v) == IBV_WC_BAD_RESP_ERR);
	EXPECT(victim_state(v) == IBV_QPS_ERR && has_read(p->at * MTU));
	EXPECT(!executed(&r) && !r.answers && !r.strange);
}

/*
 * A length that no packet at this place can have ends the connection; an
 * opcode may be one of an answer that came too late.
 */
static void try_part(struct part p)
{
	struct part right = right_part(p.v, p.at, 0);

	wait_for_part(p.v, p.at);
	if (p.len != right.len)
		expect_end(&p);
	else if (p.op == right.op)
		take_parts(p.v, p.at, 0);
	else {
		expect_asked_again(&p, p.at, "drop_out_of_sequence");
		take_parts(p.v, p.at, p.at);
	}
	look_around(p.v);
}

static void parts(void)
{
	static const uint32_t lens[] = {
		0, LAST_LEN - 4, LAST_LEN, LAST_LEN + 4, MTU, MTU + 4,
	};
	struct part p = { };
	size_t k, i;

	for (k = 0; k < COUNT(askers); k++) {
		p.v = &victims[askers[k]];
		for (p.at = 0; p.at < PARTS; p.at++)
			for (p.op = READ_RESP_FIRST; p.op <= READ_RESP_ONLY;
			     p.op++)
				for (i = 0; i < COUNT(lens); i++) {
					p.len = lens[i];
					try_part(p);
				}
		victim_heal(p.v);
	}
}

/* One is missing; one comes again, with other bytes. */
static void parts_out_of_turn(void)
{
	struct victim *v;
	unsigned int at;
	struct part p;
	size_t k;

	for (k = 0; k < COUNT(askers); k++) {
		v = &victims[askers[k]];
		for (at = 0; at < PARTS - 1; at++) {
			wait_for_part(v, at);
			p = right_part(v, at + 1, 0);
			expect_asked_again(&p, at, "kept_packets");
			/* No more was asked for, nor is to come. */
			p = right_part(v, at, at);
			p.op = READ_RESP_ONLY;
			take_part(&p);
			take_parts(v, at + 2, 0);

			wait_for_part(v, at + 1);
			p = right_part(v, at, 0);
			memset(lent, UNTOUCHED, (at + 1) * MTU);
			expect_dropped(v, packet_of(&p), "drop_duplicate");
			EXPECT(has_read(0));
		}
		victim_heal(v);
	}
}

static const struct test_case cases[] = {
	CASE(syndromes), CASE(wrong_answers), CASE(message_numbers),
	CASE(originals), CASE(cut_answers), CASE(answers_to_nothing),
	CASE(parts), CASE(parts_out_of_turn), { }
};

int main(int argc, char **argv)
{
	if (argc < 4)
		return 2;
	begin_attack(argv[1], argv[2]);
	return attack_by(cases, argv + 3);
}
