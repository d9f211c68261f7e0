/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The hostile peer: packets on the far end of a veth pair, described in the
 * words of conformance scripts, and what comes of each. Include it after
 * victim.h, lib/statistic.h and lib/bystander.h; link it with the player's
 * packet.c, format.c, match.c, script.c, value.c and device_wire.c.
 *
 * A queue pair that nobody attacks, the witness, is asked for an ACK after each
 * packet. Packets are taken in their order, so all that the attack brings about
 * has come before it; and the witness is well.
 */
#ifndef FRDMA_TEST_ATTACK_H
#define FRDMA_TEST_ATTACK_H

#include <arpa/inet.h>
#include <poll.h>
#include <sched.h>
#include <stdarg.h>

#include "../conformance/device.h"
#include "../conformance/match.h"

#define WITNESS_QPN	0x7700ff
#define SILENT		(-1)
#define NOTIFICATION	0x81

/**
 * struct reaction - what comes of a packet, or of several
 * @before: counters
 * @after: counters
 * @answers: number of packets to the peer of the victim, but for notifications
 * @notifications: number of those, that a packet of the peer was marked
 * @syndrome: of the last of those that had one, or SILENT
 * @strange: number of packets to anybody else
 */
struct reaction {
	struct statistic before, after;
	unsigned int answers;
	unsigned int notifications;
	int syndrome;
	unsigned int strange;
};

static struct packet_peer peer;		/* of the witness */
static struct victim witness = {
	.kind = RC, .name = "witness", .type = IBV_QPT_RC,
	.peer_qpn = WITNESS_QPN,
};

static inline bool find_no_name(void *arg, const char *name,
				enum meaning meaning, uint64_t *value)
{
	return false;
}

static const struct names no_names = { .find = find_no_name };

/* The packet that the words describe; @text is cut into them. */
static inline void build_words(struct packet *packet,
			       const struct packet_peer *to, char *text)
{
	struct line line = { .words = { { .name = "<" } }, .nr = 1 };
	char *word, *rest = NULL, why[128];

	for (word = strtok_r(text, " ", &rest); word;
	     word = strtok_r(NULL, " ", &rest)) {
		struct word *w = &line.words[line.nr++];
		char *equals = strchr(word, '=');

		EXPECT(line.nr <= LINE_WORDS);
		w->name = word;
		if (equals) {
			*equals = '\0';
			w->value = equals + 1;
		}
	}
	if (!packet_build(packet, &line, to, &no_names, why, sizeof(why))) {
		printf("%s: %s\n", text, why);
		exit(1);
	}
}

static inline struct packet_peer peer_of(const struct victim *v)
{
	struct packet_peer to = peer;

	to.qpn = v->qpn;
	to.peer_qpn = v->peer_qpn;
	return to;
}

/* For a victim, with the PSN that it expects unless they say otherwise. */
__attribute__((format(printf, 3, 4)))
static inline void build(struct packet *packet, const struct victim *v,
			 const char *words, ...)
{
	struct packet_peer to = peer_of(v);
	char text[512];
	va_list args;

	va_start(args, words);
	vsnprintf(text, sizeof(text), words, args);
	va_end(args);
	if (!strstr(text, " psn="))
		snprintf(text + strlen(text), sizeof(text) - strlen(text),
			 " psn=%u", v->psn);
	build_words(packet, &to, text);
}

static inline uint32_t get24(const uint8_t *at)
{
	return at[0] << 16 | at[1] << 8 | at[2];
}

static inline uint32_t dqpn_of(const struct packet *packet)
{
	return get24(packet->bytes + packet->at[HDR_BTH] + 5);
}

static inline uint32_t psn_of(const struct packet *packet)
{
	return get24(packet->bytes + packet->at[HDR_BTH] + 9);
}

static inline int syndrome_of(const struct packet *packet)
{
	return packet->has & 1U << HDR_AETH ?
	       packet->bytes[packet->at[HDR_AETH]] : SILENT;
}

/* The next packet that the victims' host has sent, within 20 s. */
static inline void await_packet(struct packet *packet)
{
	struct pollfd fd = { .fd = wire_fd(), .events = POLLIN };
	double end = now() + 20;

	while (!wire_take(packet)) {
		EXPECT(now() < end);
		poll(&fd, 1, 100);
	}
}

static inline void note_answer(struct reaction *r, const struct victim *v,
			       const struct packet *packet)
{
	if (!v || dqpn_of(packet) != v->peer_qpn) {
		r->strange++;
		return;
	}
	EXPECT(packet_icrc(packet) == (packet->bytes[packet->len - 4] |
	       packet->bytes[packet->len - 3] << 8 |
	       packet->bytes[packet->len - 2] << 16 |
	       (uint32_t)packet->bytes[packet->len - 1] << 24));
	if (packet->bytes[packet->at[HDR_BTH]] == NOTIFICATION) {
		r->notifications++;
		return;
	}
	r->answers++;
	if (syndrome_of(packet) != SILENT)
		r->syndrome = syndrome_of(packet);
}

/* Asks the witness; takes what comes before its answer. */
static inline void settle(struct reaction *r, const struct victim *v)
{
	static struct packet packet;
	char text[64];

	snprintf(text, sizeof(text), "WRITE_ONLY ack psn=%u", witness.psn);
	build_words(&packet, &peer, text);
	wire_deliver(&packet);
	for (;;) {
		await_packet(&packet);
		if (dqpn_of(&packet) == WITNESS_QPN)
			break;
		note_answer(r, v, &packet);
	}
	EXPECT(syndrome_of(&packet) == 0x1f && psn_of(&packet) == witness.psn);
	witness.psn = (witness.psn + 1) & 0xffffff;
}

static inline void reaction_begins(struct reaction *r)
{
	r->answers = 0;
	r->notifications = 0;
	r->strange = 0;
	r->syndrome = SILENT;
	statistic_read(&r->before);
}

static inline void reaction_ends(struct reaction *r, const struct victim *v)
{
	settle(r, v);
	statistic_read(&r->after);
}

/* Has a network marked it: the lower bits of its traffic class (RFC 3168)? */
static inline bool met_congestion(const struct packet *packet)
{
	uint8_t class = packet->has & 1U << HDR_IPV6 ? packet->bytes[1] >> 4 :
						       packet->bytes[1];

	return (class & 3) == 3;
}

/* What comes of one packet. Only one that was marked is notified. */
static inline void attack_with(const struct packet *packet,
			       const struct victim *v, struct reaction *r)
{
	reaction_begins(r);
	wire_deliver(packet);
	reaction_ends(r, v);
	EXPECT(r->notifications <= met_congestion(packet));
}

static inline uint64_t counted(const struct reaction *r, const char *name)
{
	return statistic_since(&r->before, &r->after, name);
}

/* Packets dropped, for whatever reason. */
static inline uint64_t dropped(const struct reaction *r)
{
	uint64_t sum = 0;
	size_t i;

	for (i = 0; i < r->after.nr; i++)
		if (!strncmp(r->after.name[i], "drop_", 5))
			sum += r->after.value[i] - r->before.value[i];
	return sum;
}

/* Requests executed for the peer, but for what the witness was asked. */
static inline uint64_t executed(const struct reaction *r)
{
	return counted(r, "rx_send_requests") +
	       counted(r, "rx_write_requests") - 1 +
	       counted(r, "rx_read_requests") +
	       counted(r, "rx_atomic_requests") +
	       counted(r, "rx_atomic_write_requests") +
	       counted(r, "rx_flush_requests");
}

/* What has come, from who was healed since. */
static inline void take_all(void)
{
	static struct packet packet;

	while (wire_take(&packet))
		;
}

/* Lets a victim ask for something itself; what it has sent is taken. */
static inline void ask(struct victim *v, enum ibv_wr_opcode opcode,
		       uint32_t len)
{
	struct ibv_sge sge = { (uintptr_t)lent, len, lent_mr->lkey };
	struct ibv_send_wr *bad, wr = {
		.sg_list = &sge, .num_sge = 1, .opcode = opcode,
		.qp_type.xrc.remote_srqn = 1,
	};
	static struct reaction r;

	if (opcode == IBV_WR_ATOMIC_FETCH_AND_ADD)
		wr.wr.atomic.remote_addr = 8;
	take_all();
	reaction_begins(&r);
	EXPECT(!ibv_post_send(v->qp, &wr, &bad));
	reaction_ends(&r, v);
	EXPECT(r.answers == 1 && !r.strange && !dropped(&r));
}

static inline void print_reaction(const struct reaction *r)
{
	size_t i;

	printf("answers: %u, syndrome 0x%x, to others: %u; counted:",
	       r->answers, r->syndrome, r->strange);
	for (i = 0; i < r->after.nr; i++)
		if (r->after.value[i] != r->before.value[i])
			printf(" %s %+lld", r->after.name[i], (long long)
			       (r->after.value[i] - r->before.value[i]));
	printf("\n");
}

/* All packets of this thread take one way, and keep their order. */
static inline void stay_on_cpu(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	EXPECT(!sched_setaffinity(0, sizeof(set), &set));
}

/*
 * Takes the peer's place opposite of a device, and makes what it can attack.
 * The family is that of the GID.
 */
static inline void begin_attack(const char *device, const char *gid)
{
	union ibv_gid own, of_peer;

	stay_on_cpu(0);
	open_device(device, gid);
	statistic_open(device);
	EXPECT(wire_open("conf0", "conf1"));
	EXPECT(!ibv_query_gid(ctx, 1, gid_index, &own));
	peer.ipv6 = own.raw[10] != 0xff;
	peer.host = ntohl(inet_addr(HOST4));
	peer.peer = ntohl(inet_addr(PEER4));
	inet_pton(AF_INET6, HOST6, peer.host6);
	inet_pton(AF_INET6, PEER6, peer.peer6);
	inet_pton(AF_INET6, peer.ipv6 ? PEER6 : "::ffff:" PEER4, of_peer.raw);
	make_victims(&of_peer);
	make_victim(&witness);
	peer.qpn = witness.qpn;
	peer.peer_qpn = witness.peer_qpn;
	bystander_begins();
}

/* Nobody was harmed for good, and nothing is left. */
static inline void end_attack(void)
{
	struct victim *v;

	for (v = victims; v < victims + KINDS; v++)
		victim_heal(v);
	others_are_well(NULL);
	bystander_goes_on();
	bystander_ends();
	unmake_victim(&witness);
	unmake_victims();
}

/* The cases whose names follow, and the end. */
static inline int attack_by(const struct test_case *cases, char **names)
{
	int err = 0;

	for (; *names && !err; names++) {
		printf("%s\n", *names);
		err = run_case(cases, *names);
	}
	guard_is_whole();
	end_attack();
	return err;
}

#endif /* FRDMA_TEST_ATTACK_H */
