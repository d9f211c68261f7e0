// SPDX-License-Identifier: GPL-2.0
/*
 * A peer that sends more than anybody can take, of what nobody wants. Traffic
 * of others goes on, memory does not grow, and all is counted. flood.sh builds
 * and runs it:
 *
 *	flood DEVICE GID_INDEX PACKETS CASE
 */
#include <glob.h>
#include <pthread.h>

#include "../lib/pair.h"
#include "../lib/bystander.h"
#include "../lib/meminfo.h"
#include "../lib/statistic.h"
#include "victim.h"
#include "attack.h"
#include "operation.h"

#define VARIANTS	64
#define MIB		(1 << 20)
#define IPV6		40		/* bytes of its header */

static struct packet variants[VARIANTS];
static unsigned int nr_variants;
static unsigned long nr_packets;
static bool of_fragments;
static bool others_are_spared;		/* the bystander's packets */
static volatile bool flooding;

static struct packet *next_variant(void)
{
	EXPECT(nr_variants < VARIANTS);
	return &variants[nr_variants++];
}

/* A number in the words of a host of the peer's network. */
static const char *host(unsigned int i)
{
	static char text[32];

	snprintf(text, sizeof(text), peer.ipv6 ? "fd79::%u" : "10.79.0.%u", i);
	return text;
}

/* Its first part, of so many bytes behind the IP header. */
static void cut(struct packet *packet, uint32_t at)
{
	static struct packet rest;
	uint8_t *header = packet->bytes + IPV6;

	if (!peer.ipv6) {
		packet_split(packet, &rest, at);
		return;
	}
	memmove(header + 8, header, at);
	memcpy(header, (uint8_t[8]) { packet->bytes[6], 0, 0, 1 }, 8);
	packet->bytes[6] = 44;
	packet->bytes[4] = (at + 8) >> 8;
	packet->bytes[5] = at + 8;
	packet->len = IPV6 + 8 + at;
}

/* Makes something else of a fragment: none is ever whole. */
static void renumber(struct packet *packet, unsigned long i)
{
	if (peer.ipv6) {
		memcpy(packet->bytes + IPV6 + 4, &(uint32_t) { i }, 4);
		return;
	}
	packet->bytes[4] = i >> 8;
	packet->bytes[5] = i;
	packet_fit(packet);
}

static void *send_them(void *arg)
{
	unsigned long i;

	stay_on_cpu(1);
	for (i = 0; i < nr_packets; i++) {
		if (of_fragments)
			renumber(&variants[i % nr_variants], i);
		wire_deliver(&variants[i % nr_variants]);
	}
	flooding = false;
	return NULL;
}

static uint64_t of_interface(const char *interface, const char *name)
{
	unsigned long long value;
	char path[128];
	FILE *f;

	snprintf(path, sizeof(path), "/sys/class/net/%s/statistics/%s",
		 interface, name);
	f = fopen(path, "re");
	EXPECT(f && fscanf(f, "%llu", &value) == 1);
	fclose(f);
	return value;
}

/* What the interfaces could not take; some count it at both ends. */
static uint64_t not_taken(void)
{
	return of_interface("conf0", "rx_dropped") +
	       of_interface("conf1", "tx_dropped");
}

/** struct toll - what a flood costs others */
struct toll {
	double before, least, after;	/* bytes of memory */
	double worst;			/* seconds for a round of the bystander */
	unsigned int rounds;
	uint64_t lost;
};

/* With the pages that CPUs keep at hand, which the kernel counts as used. */
static double bytes_spare(void)
{
	FILE *f = fopen("/proc/zoneinfo", "re");
	unsigned long pages, all = 0;
	char line[256];

	EXPECT(f);
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, " count: %lu", &pages) == 1)
			all += pages;
	fclose(f);
	return bytes_available() + (double)all * sysconf(_SC_PAGESIZE);
}

/*
 * KASAN keeps what is freed for a while, up to a 32nd of memory, unless the cache that
 * it is of is shrunk.
 */
static void empty_quarantine(void)
{
	glob_t caches;
	size_t i;

	if (glob("/sys/kernel/slab/*/shrink", 0, NULL, &caches))
		return;
	for (i = 0; i < caches.gl_pathc; i++) {
		FILE *f = fopen(caches.gl_pathv[i], "we");

		if (f) {
			fputs("1", f);
			fclose(f);
		}
	}
	globfree(&caches);
}

static void watch(struct toll *toll)
{
	double begin, bytes;

	do {
		begin = now();
		bystander_goes_on();
		if (now() - begin > toll->worst)
			toll->worst = now() - begin;
		bytes = bytes_spare();
		if (bytes < toll->least)
			toll->least = bytes;
		toll->rounds++;
	} while (flooding);
}

/*
 * Nothing is kept for long: a connection that nobody answers for has some seconds
 * to give back what waits for it, or is ahead of its turn. A packet that was lost for
 * good has half a KiB at least.
 */
static void memory_is_back(struct toll *toll)
{
	double kept = nr_packets * 512.0, end = now() + 20 * slow();

	kept = kept < 4.0 * MIB ? 4.0 * MIB : kept > 16.0 * MIB ? 16.0 * MIB :
	       kept;
	do {
		empty_quarantine();
		toll->after = bytes_spare();
	} while (toll->after < toll->before - kept && now() < end);
	printf("%+.1f MiB after\n", (toll->after - toll->before) / MIB);
	EXPECT(toll->after >= toll->before - kept);
	EXPECT(toll->least >= toll->before - 128.0 * MIB);
}

/* The bystander's packets, of each round a message and its ACK. */
static uint64_t of_others(const struct toll *toll, const struct reaction *r)
{
	EXPECT(!counted(r, "loopback_packets") != others_are_spared);
	return others_are_spared ? 0 : 2 * toll->rounds;
}

static void flood(const struct victim *v, struct reaction *r)
{
	struct toll toll = { .lost = not_taken() };
	pthread_t sender;

	empty_quarantine();
	toll.before = bytes_spare();
	toll.least = toll.before;
	reaction_begins(r);
	flooding = true;
	EXPECT(!pthread_create(&sender, NULL, send_them, NULL));
	watch(&toll);
	EXPECT(!pthread_join(sender, NULL));
	take_all();
	reaction_ends(r, v);
	others_are_well(v);
	toll.lost = not_taken() - toll.lost;
	printf("%lu packets, %llu not taken; %u rounds of others, at most "
	       "%.0f ms; memory %+.1f MiB at worst, ",
	       nr_packets, (unsigned long long)toll.lost, toll.rounds,
	       toll.worst * 1000, (toll.least - toll.before) / MIB);
	memory_is_back(&toll);
	/* Each is counted, by us or by the interface. */
	EXPECT(of_fragments || dropped(r) + counted(r, "rcvd_cnps") + toll.lost +
	       counted(r, "rx_packets") >= nr_packets + of_others(&toll, r));
	nr_variants = 0;
}

/* Nothing was executed but what the bystander sends. */
static bool nothing_done(const struct reaction *r)
{
	struct victim *v;

	for (v = victims; v < victims + KINDS; v++)
		if (victim_poll(v))
			return false;
	return executed(r) == counted(r, "rx_send_requests");
}

/*
 * What there is to flood with
 */

static void nobody(void)
{
	static struct reaction r;
	int i;

	for (i = 0; i < VARIANTS; i++)
		build(next_variant(), &victims[RC],
		      "SEND_ONLY len=64 dqpn=%lu", 16 + random() % 0xffff00);
	flood(NULL, &r);
	EXPECT(counted(&r, "drop_no_qp") == dropped(&r) && dropped(&r));
	EXPECT(!r.answers && !r.strange);
}

/* As from so many hosts, with management packets that mean nothing. */
static void gsi(void)
{
	static struct reaction r;
	int i;

	for (i = 0; i < VARIANTS; i++)
		build(next_variant(), &victims[GSI],
		      "UD_SEND_ONLY len=256 qkey=%u src=%s",
		      GSI_QKEY, host(10 + i));
	flood(NULL, &r);
	EXPECT(!r.answers);
}

static void notifications(void)
{
	struct victim *v;
	static struct reaction r;

	for (v = victims; v < victims + KINDS; v++)
		build(next_variant(), v, "0x81 len=16");
	flood(NULL, &r);
	EXPECT(counted(&r, "rcvd_cnps") && nothing_done(&r) && !dropped(&r));
	EXPECT(!r.answers && !r.strange);
}

/* All of what is lent, again and again: the longest answer to a packet. */
static void reads(void)
{
	struct victim *v = &victims[RC];
	static struct reaction r;

	nr_packets /= LENT / MTU;
	build(next_variant(), v, "READ_REQUEST dma=%u va=%llu rkey=%u", LENT,
	      (unsigned long long)(uintptr_t)lent, lent_mr->rkey);
	flood(v, &r);
	EXPECT(victim_state(v) == IBV_QPS_RTS);
	victim_heal(v);
}

/* A receiver that has posted nothing, and a gap that is never filled. */
static void negative_answers(void)
{
	struct victim *v = &victims[XRC_TARGET];
	static struct reaction r;
	uint32_t i;

	for (i = 0; i < VARIANTS; i++)
		build(next_variant(), v,
		      "XRC_SEND_ONLY len=64 srqn=%u psn=%u ack", v->srqn,
		      v->psn + 1 + i);
	flood(v, &r);
	EXPECT(nothing_done(&r) && victim_state(v) == IBV_QPS_RTS);
	victim_heal(v);
}

/* To all kinds at a time, and none is right. */
static void rubbish(void)
{
	static struct reaction r;
	struct victim *v;
	char words[256];
	int i;

	for (i = 0; i < VARIANTS; i++) {
		v = &victims[i % KINDS];
		words_of(v, v->transport | i % 32, words, sizeof(words));
		build(next_variant(), v, "%s late.resv7=5", words);
	}
	flood(NULL, &r);
	EXPECT(nothing_done(&r) && dropped(&r) && !r.answers && !r.strange);
}

/* First pieces, whose rest never comes. */
static void fragments(void)
{
	static struct reaction r;
	struct packet *first;
	int i;

	for (i = 0; i < VARIANTS; i++) {
		first = next_variant();
		build(first, &victims[UD], "UD_SEND_ONLY len=1200 qkey=%u %s "
		      "src=%s", QKEY, peer.ipv6 ? "" : "df=0", host(10 + i));
		cut(first, 800);
	}
	of_fragments = true;
	flood(NULL, &r);
	EXPECT(nothing_done(&r) && !r.answers && !r.strange);
}

static const struct test_case cases[] = {
	CASE(nobody), CASE(gsi), CASE(notifications), CASE(reads),
	CASE(negative_answers), CASE(rubbish), CASE(fragments), { }
};

/* Whether the link spares peers on it their packets. */
static bool spares(const char *device)
{
	char path[128];
	int answer;
	FILE *f;

	snprintf(path, sizeof(path), "/sys/class/infiniband/%s/loopback",
		 device);
	f = fopen(path, "re");
	EXPECT(f && fscanf(f, "%d", &answer) == 1);
	fclose(f);
	return answer;
}

int main(int argc, char **argv)
{
	int err;

	if (argc != 5)
		return 2;
	others_are_spared = spares(argv[1]);
	/* Packets of others get lost, too, where a host cannot take more. */
	qp_timeout = 18;
	nr_packets = arg_number(argv[3]);
	begin_attack(argv[1], argv[2]);
	err = run_case(cases, argv[4]);
	guard_is_whole();
	end_attack();
	return err;
}
