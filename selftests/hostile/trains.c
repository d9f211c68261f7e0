// SPDX-License-Identifier: GPL-2.0
/*
 * Trains: what a guest of this host, or a container, can send in one piece. peer.sh
 * builds and runs it:
 *
 *	trains DEVICE GID_INDEX CASE...
 */
#include "../lib/pair.h"
#include "../lib/bystander.h"
#include "../lib/statistic.h"
#include "../lib/trains.h"
#include "victim.h"
#include "attack.h"
#include "frame.h"
#include "operation.h"

#define LONGEST	40

/* The most packets of a train that kernels make, and that a queue pair takes. */
#define UDP_TRAIN	128
#define STEP	256

/**
 * struct train - packets of one flow, as one
 * @frame: it
 * @len: bytes of that, from the header of IP on
 * @nr: number of packets
 */
struct train {
	struct frame frame;
	size_t len;
	uint32_t nr;
};

static uint32_t ip_len(void)
{
	return peer.ipv6 ? IPV6 : IPV4;
}

/* What a SEND to that kind has to say, besides. */
static const char *words_of_kind(const struct victim *v)
{
	static char words[64];

	words[0] = '\0';
	if (v->kind == UD)
		snprintf(words, sizeof(words), " qkey=%u", QKEY);
	if (v->kind == XRC_TARGET)
		snprintf(words, sizeof(words), " srqn=%u", v->srqn);
	return words;
}

static void train_begins(struct train *train)
{
	train->len = 0;
	train->nr = 0;
}

/* The packet behind those that are there. */
static void train_put(struct train *train, const struct packet *packet)
{
	size_t bth = packet->at[HDR_BTH];

	if (!train->nr++) {
		frame_of(&train->frame, packet);
		train->len = packet->len;
		return;
	}
	memcpy(train->frame.bytes + train->len, packet->bytes + bth,
	       packet->len - bth);
	train->len += packet->len - bth;
}

/* The words for the place of the next one. */
static const char *next_place(const struct train *train, uint32_t psn)
{
	static char words[64];

	snprintf(words, sizeof(words), peer.ipv6 ? "psn=%u" : "psn=%u ip_id=%u",
		 psn, train->nr);
	return words;
}

/* A SEND of @len bytes. */
static void train_add(struct train *train, const struct victim *v,
		      uint32_t len, const char *words)
{
	static struct packet packet;

	build(&packet, v, "0x%02x ack len=%u %s%s %s",
	      v->transport | SEND_ONLY, len,
	      next_place(train, v->psn + train->nr), words_of_kind(v), words);
	train_put(train, &packet);
}

/* READs that @packets answer each. Returns the PSN behind them. */
static uint32_t train_of_reads(struct train *train, const struct victim *v,
			       uint32_t psn, uint32_t nr, uint32_t packets)
{
	static struct packet packet;

	for (train_begins(train); nr; nr--, psn += packets) {
		build(&packet, v, "0x%02x len=0 va=%llu rkey=%u dma=%u %s",
		      v->transport | READ_REQUEST,
		      (unsigned long long)(uintptr_t)lent, lent_mr->rkey,
		      packets * MTU, next_place(train, psn));
		train_put(train, &packet);
	}
	return psn;
}

static uint32_t sum16(const uint8_t *at, size_t len)
{
	uint32_t sum = 0;

	for (; len > 1; at += 2, len -= 2)
		sum += at[0] << 8 | at[1];
	return sum;
}

static uint16_t folded(uint32_t sum)
{
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return sum;
}

static void put16(uint8_t *at, uint16_t value)
{
	at[0] = value >> 8;
	at[1] = value;
}

/* Lengths and checksums of headers that stand for all. */
static void fit_train(struct train *train)
{
	uint8_t *ip = train->frame.bytes;
	uint16_t udp_len = train->len - ip_len();
	uint8_t *udp = ip + ip_len();

	if (peer.ipv6) {
		put16(ip + 4, udp_len);
	} else {
		put16(ip + 2, train->len);
		put16(ip + 10, 0);
		put16(ip + 10, ~folded(sum16(ip, IPV4)));
	}
	put16(udp + 4, udp_len);
	/* The addresses lie right before; the rest is added by who cuts it. */
	put16(udp + 6, folded(sum16(udp - (peer.ipv6 ? 32 : 8),
				    peer.ipv6 ? 32 : 8) + 17 + udp_len));
}

/* Returns whether this kernel sends it. */
static bool train_leaves(struct train *train, uint16_t size)
{
	fit_train(train);
	train->frame.how = (struct virtio_net_hdr) {
		.flags = VIRTIO_NET_HDR_F_NEEDS_CSUM,
		.gso_type = VIRTIO_NET_HDR_GSO_UDP_L4,
		.hdr_len = ETHERNET + ip_len() + UDP, .gso_size = size,
		.csum_start = ETHERNET + ip_len(), .csum_offset = 6,
	};
	return send_frame(&train->frame, train->len);
}

/* Bytes of its packets, from BTH to ICRC. */
static uint32_t bytes_of(const struct victim *v, uint32_t len)
{
	return hdr_len(v, v->transport | SEND_ONLY) + len + 4;
}

/* That they come whole, or the rest says nothing. */
static bool trains_come(struct train *train, struct victim *v)
{
	static struct reaction r;
	uint32_t i;

	train_begins(train);
	for (i = 0; i < 3; i++)
		train_add(train, v, 64, "");
	reaction_begins(&r);
	if (!train_leaves(train, bytes_of(v, 64)))
		return false;
	reaction_ends(&r, v);
	if (executed(&r) != 3 || dropped(&r) ||
	    counted(&r, "rx_trains") != 1) {
		print_reaction(&r);
		exit(1);
	}
	victim_heal(v);
	return true;
}

#define SOME	(~0ULL)

/*
 * What a train brings about that is cut at @size: how many of its packets are
 * executed, and dropped. The rest came before their turn, and are kept. Returns
 * whether this kernel sends it.
 */
static bool train_is(struct train *train, struct victim *v, uint16_t size,
		     uint64_t done, uint64_t gone, const char *what)
{
	static struct reaction r;
	uint64_t kept, nr;

	reaction_begins(&r);
	if (!train_leaves(train, size))
		return false;
	reaction_ends(&r, v);
	nr = counted(&r, "rx_packets") - 1;
	kept = counted(&r, "kept_packets");
	if (executed(&r) != done || (gone != SOME && dropped(&r) != gone) ||
	    executed(&r) + dropped(&r) + kept < nr || r.strange ||
	    r.answers > train->nr + 1) {
		printf("%s, %s, cut at %u: %llu and %llu expected; ", v->name,
		       what, size, (unsigned long long)done,
		       (unsigned long long)gone);
		print_reaction(&r);
		exit(1);
	}
	others_are_well(v);
	victim_heal(v);
	return true;
}

/* As many packets as a kernel makes a train of, and more than a step has. */
static void longest_train_to(struct train *train, struct victim *v)
{
	static struct reaction r;
	uint32_t i;

	/* Most find no receive request. */
	train_begins(train);
	for (i = 0; i < UDP_TRAIN; i++)
		train_add(train, v, 8, "");
	reaction_begins(&r);
	EXPECT(train_leaves(train, bytes_of(v, 8)));
	reaction_ends(&r, v);
	EXPECT(executed(&r) && !counted(&r, "drop_queue_full"));
	others_are_well(v);
	victim_heal(v);

	train_begins(train);
	for (i = 0; i < STEP + 1; i++)
		train_add(train, v, 8, "");
	if (!train_is(train, v, bytes_of(v, 8), 0, i, "too many packets"))
		printf("this kernel refuses trains of %u packets\n", i);
}

/* A SEND to @v that is as long as one of 64 bytes to @like. */
static void train_add_like(struct train *train, struct victim *v,
			   struct victim *like)
{
	char psn[32];

	snprintf(psn, sizeof(psn), "psn=%u", v->psn);
	train_add(train, v, bytes_of(like, 64) - bytes_of(v, 64) + 64, psn);
}

/*
 * A host that forwards merges packets by their addresses and ports: each queue
 * pair gets its own. A packet for an unknown queue pair is dropped once.
 */
static void for_several(struct train *train, struct victim *v)
{
	static struct reaction r;
	char psn[32];
	size_t k;

	train_begins(train);
	train_add(train, v, 64, "");
	for (k = 0; k < COUNT(receivers); k++)
		if (receivers[k] != v)
			train_add_like(train, receivers[k], v);
	train_add(train, v, 64, "dqpn=0x123456");
	snprintf(psn, sizeof(psn), "psn=%u", v->psn + 1);
	train_add(train, v, 64, psn);
	reaction_begins(&r);
	if (!train_leaves(train, bytes_of(v, 64)))
		return;
	reaction_ends(&r, v);
	if (executed(&r) != COUNT(receivers) + 1 || dropped(&r) != 1 ||
	    counted(&r, "drop_mixed_train") != 1 ||
	    counted(&r, "rx_packets") != train->nr + 1) {
		printf("%s, and others: ", v->name);
		print_reaction(&r);
		exit(1);
	}
	for (k = 0; k < COUNT(receivers); k++)
		victim_heal(receivers[k]);
}

/* What follows a notification is for the other side. */
static void behind_a_notification(struct train *train, struct victim *v)
{
	char psn[2][32];

	static struct packet packet;
	static struct reaction r;
	uint32_t bytes = bytes_of(v, 16);

	train_begins(train);
	build(&packet, v, "0x81 len=%u becn %s", bytes - 16,
	      next_place(train, 0));
	train_put(train, &packet);
	snprintf(psn[0], sizeof(psn[0]), "psn=%u", v->psn);
	train_add(train, v, 16, psn[0]);
	snprintf(psn[1], sizeof(psn[1]), "psn=%u", v->psn + 1);
	train_add(train, v, 16, psn[1]);
	reaction_begins(&r);
	if (!train_leaves(train, bytes))
		return;
	reaction_ends(&r, v);
	EXPECT(counted(&r, "rcvd_cnps") == 1 && executed(&r) == 2);
	EXPECT(!dropped(&r));
	others_are_well(v);
	victim_heal(v);
}

/* By identifications which are not in a row. */
static void trains_numbered_otherwise(struct train *train, struct victim *v)
{
	bool ordered = v->kind == RC || v->kind == XRC_TARGET;
	uint32_t bytes = bytes_of(v, 64);

	/* All alike, as GRO may find them: they are right. */
	train_begins(train);
	train_add(train, v, 64, "ip_id=0");
	train_add(train, v, 64, "ip_id=0");
	train_add(train, v, 64, "ip_id=0");
	train_is(train, v, bytes, 3, 0, "numbered alike");

	/* What is damaged of these shows nothing. */
	train_begins(train);
	train_add(train, v, 64, "ip_id=0");
	train_add(train, v, 64, "ip_id=0 late.resv7=7");
	train_add(train, v, 64, "ip_id=0");
	train_is(train, v, bytes, ordered ? 1 : 2, 1, "damaged, numbered alike");

	/* The second is neither like the first nor the next. */
	train_begins(train);
	train_add(train, v, 64, "");
	train_add(train, v, 64, "ip_id=7");
	train_add(train, v, 64, "");
	train_is(train, v, bytes, ordered ? 1 : 2, 1, "a number of its own");

	/* The third is not as the second has shown. */
	train_begins(train);
	train_add(train, v, 64, "ip_id=0");
	train_add(train, v, 64, "ip_id=0");
	train_add(train, v, 64, "");
	train_is(train, v, bytes, 2, 1, "a number of two rules");
}

static void trains_to(struct train *train, struct victim *v)
{
	bool ordered = v->kind == RC || v->kind == XRC_TARGET;
	uint32_t bytes = bytes_of(v, 64), size, i;

	/* The second is for somebody else. */
	train_begins(train);
	train_add(train, v, 64, "");
	train_add(train, v, 64, "dqpn=0x123456");
	train_add(train, v, 64, "");
	train_is(train, v, bytes, ordered ? 1 : 2, 1, "somebody else's packet");

	/* The second has a wrong ICRC. */
	train_begins(train);
	train_add(train, v, 64, "");
	train_add(train, v, 64, "late.resv7=7");
	train_add(train, v, 64, "");
	train_is(train, v, bytes, ordered ? 1 : 2, 1, "a wrong ICRC");

	behind_a_notification(train, v);
	for_several(train, v);
	if (!peer.ipv6)
		trains_numbered_otherwise(train, v);

	/* The last is shorter than anything can be. */
	train_begins(train);
	train_add(train, v, 64, "");
	train_add(train, v, 64, "");
	train->len -= bytes - 12;
	train_is(train, v, bytes, 1, 1, "a stump");

	/* Cut where no packet begins, the last neither: none is one. */
	bytes = bytes_of(v, 8);
	for (size = 1; size < 3 * bytes; size += 3) {
		if (!(size % bytes) || !((LONGEST - 1) * bytes % size))
			continue;
		train_begins(train);
		for (i = 0; i < LONGEST; i++)
			train_add(train, v, 8, "");
		train_is(train, v, size, 0, SOME, "cut elsewhere");
	}
}

static void trains(void)
{
	static struct train train;
	size_t k;

	for (k = 0; k < COUNT(receivers); k++) {
		if (!trains_come(&train, receivers[k])) {
			printf("this kernel sends no trains\n");
			return;
		}
		trains_to(&train, receivers[k]);
		longest_train_to(&train, receivers[k]);
	}
}

/*
 * Of the first train a step answers four READs, the next one the fifth. Meanwhile the
 * others come, which ask for 60 packets each: in the fourth of them its budget would
 * end.
 */
static void trains_of_reads(void)
{
	struct victim *v = &victims[RC];
	uint16_t size = hdr_len(v, v->transport | READ_REQUEST) + 4;
	static struct reaction r;
	static struct train train;
	double end = now() + 20;
	uint32_t psn, i;

	reaction_begins(&r);
	psn = train_of_reads(&train, v, v->psn, 5, 64);
	EXPECT(train_leaves(&train, size));
	for (i = 0; i < 6; i++) {
		psn = train_of_reads(&train, v, psn, 3, 20);
		EXPECT(train_leaves(&train, size));
	}
	do
		reaction_ends(&r, v);
	while (counted(&r, "rx_read_requests") < 23 && now() < end);

	if (counted(&r, "rx_read_requests") != 23 || dropped(&r) || r.strange) {
		print_reaction(&r);
		exit(1);
	}
	take_all();
	victim_heal(v);
}

static const struct test_case cases[] = {
	CASE(trains), CASE(trains_of_reads), { }
};

int main(int argc, char **argv)
{
	if (argc < 4)
		return 2;
	begin_attack(argv[1], argv[2]);
	open_frames();
	return attack_by(cases, argv + 3);
}
