/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What has to come of a packet, by a reading of the specification of its own,
 * and whether it does. Include it after operation.h.
 */
#ifndef FRDMA_TEST_OUTCOME_H
#define FRDMA_TEST_OUTCOME_H

#define NAK_REQUEST	0x61
#define NAK_ACCESS	0x62
#define ACK		0x1f

/** struct outcome - what has to come of a packet
 * @counter: what is counted, of drops, requests executed and the like; NULL:
 *	nothing of that, as of the middle of a message; ANY_DROP
 * @syndrome: of the answer, or SILENT
 *
 * A NAK other than that for a gap ends the victim; nothing else does.
 */
struct outcome {
	const char *counter;
	int syndrome;
};

#define ANY_DROP	"drop_"
/* The network may lose it; else it is dropped. */
#define LOST		((struct outcome) { "lost", SILENT })
/* Another victim would be hit, or the outcome is too long to be looked at. */
#define SKIPPED		((struct outcome) { "skipped", SILENT })
#define DROPPED(why)	((struct outcome) { "drop_" why, SILENT })
#define REFUSED(nak)	((struct outcome) { "drop_bad_request", nak })

/* Without an answer for those who give none. */
static inline struct outcome answered(const struct victim *v,
				       const char *counter)
{
	bool answers = v->kind == RC || v->kind == XRC_TARGET;

	return (struct outcome) { counter, answers ? ACK : SILENT };
}

static inline struct outcome refused(const struct victim *v, int nak)
{
	return v->kind == UC ? DROPPED("bad_request") : REFUSED(nak);
}

/* Those of which one is counted. */
static inline uint64_t counted_in_all(const struct reaction *r)
{
	return dropped(r) + executed(r) + counted(r, "rcvd_cnps") +
	       counted(r, "duplicate_requests") + counted(r, "kept_packets");
}

static inline bool count_is(const struct reaction *r, const char *counter)
{
	if (!counter)
		return !counted_in_all(r);
	if (!strcmp(counter, "lost"))
		return dropped(r) <= 1 && counted_in_all(r) == dropped(r);
	if (counted_in_all(r) != 1)
		return false;
	if (!strcmp(counter, ANY_DROP))
		return dropped(r) == 1;
	/* One of these was asked of the witness. */
	return counted(r, counter) ==
	       1U + !strcmp(counter, "rx_write_requests");
}

static inline bool ends(struct outcome outcome)
{
	return outcome.syndrome > 0x60;
}

/* One packet of many: now and then, look who else there is. */
static inline void look_around(const struct victim *v)
{
	static unsigned int packets;

	if (++packets % 256)
		return;
	others_are_well(v);
	bystander_goes_on();
	guard_is_whole();
}

static inline bool is_expected(const struct reaction *r, struct outcome outcome,
			enum ibv_qp_state state)
{
	return count_is(r, outcome.counter) &&
	       r->answers == (outcome.syndrome != SILENT) &&
	       r->syndrome == outcome.syndrome && !r->strange &&
	       state == (ends(outcome) ? IBV_QPS_ERR : IBV_QPS_RTS);
}

/* Sends a packet to a victim, which is as it was before when this returns. */
static inline void expect(struct victim *v, const struct packet *packet,
		   struct outcome outcome)
{
	static struct reaction r;
	enum ibv_qp_state state;
	char text[512];

	attack_with(packet, v, &r);
	state = victim_state(v);
	if (!is_expected(&r, outcome, state)) {
		packet_print(packet, text, sizeof(text));
		printf("%s: %s\nexpected %s and 0x%x; state %d, ", v->name,
		       text, outcome.counter ?: "nothing", outcome.syndrome,
		       state);
		print_reaction(&r);
		exit(1);
	}
	victim_poll(v);
	look_around(v);

	/* What is dropped without a word must leave no trace. */
	if (!outcome.counter || strncmp(outcome.counter, "drop_", 5) ||
	    outcome.syndrome != SILENT)
		victim_heal(v);
}

static inline struct outcome outcome_of_reliable(const struct victim *v,
						 uint8_t opcode)
{
	const struct operation *op = &operations[opcode & OPERATION];

	switch (opcode & OPERATION) {
	case SEND_ONLY_INV:
		return REFUSED(NAK_ACCESS);
	case FLUSH:
		if (!can_flush())
			return REFUSED(NAK_REQUEST);
		break;
	}
	return op->starts ? answered(v, op->counter) : REFUSED(NAK_REQUEST);
}

static inline struct outcome outcome_of_uc(uint8_t opcode)
{
	const struct operation *op = &operations[opcode & OPERATION];

	if ((opcode & OPERATION) >= READ_REQUEST)
		return DROPPED("bad_request");
	if (!op->starts)
		return DROPPED("out_of_sequence");
	return (struct outcome) { op->counter, SILENT };
}

/* What has to come of a packet in which nothing but the opcode may be wrong. */
static inline struct outcome outcome_of(const struct victim *v, uint8_t opcode)
{
	uint8_t op = opcode & OPERATION;

	if (opcode == CNP)
		return (struct outcome) { "rcvd_cnps", SILENT };
	if ((opcode & TRANSPORT) != v->transport)
		return DROPPED("wrong_transport");
	if (is_response(opcode))
		return DROPPED("ghost_ack");

	switch (v->kind) {
	case XRC_INITIATOR:
		return DROPPED("wrong_transport");
	case UC:
		return outcome_of_uc(opcode);
	case UD:
	case GSI:
		if (op != SEND_ONLY && op != SEND_ONLY_IMM)
			return DROPPED("bad_opcode");
		return (struct outcome) { "rx_send_requests", SILENT };
	default:
		return outcome_of_reliable(v, opcode);
	}
}

#endif /* FRDMA_TEST_OUTCOME_H */
