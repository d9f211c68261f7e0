// SPDX-License-Identifier: GPL-2.0
/*
 * Checked traffic between two links of one host, in one process:
 *
 *	flow [-k KIND,...] [-t TIMEOUT] [-r RETRIES] [-n ROUNDS] [-s BYTES]
 *		[-m MTU] [-p PAUSE] [-c CLASS] [-N NETNS] DEV GID DEV GID
 *
 * KINDs are rc (the default), xrc, uc, ud, multicast; each is a flow of its
 * own. What is reliable writes to the far end, sends to it, counts there and
 * reads back, in each round, and nothing may be missing. What is unreliable
 * sends some messages in each round: what arrives has to be whole. Between
 * rounds there is a PAUSE of so many milliseconds, or none. The path MTU is 1024,
 * or MTU. Packets have the traffic class CLASS, or 0. The second DEV is looked for in the network namespace
 * NETNS (a file), or here.
 *
 * It says "flows" once every flow has done a round, then prints a dot for each
 * tenth of a second, or longer, in which every flow has done another. It ends
 * at SIGTERM, after ROUNDS, or when all flows have failed, and well if none
 * has. Each flow that fails says why.
 */
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../number.h"
#include "flow.h"

int flow_timeout = 18, flow_retries = 7;
const char *flow_far_netns;
uint32_t flow_bytes = 16384;
uint8_t flow_class;
enum ibv_mtu flow_mtu = IBV_MTU_1024;

static volatile sig_atomic_t stopped;
static uint32_t max_rounds = UINT32_MAX;
static unsigned int pause_ms;

static const struct kind *const kinds[] = {
	&flow_rc, &flow_xrc, &flow_uc, &flow_ud, &flow_multicast,
};

#define NR_KINDS	(sizeof(kinds) / sizeof(kinds[0]))

static struct flow flows[NR_KINDS];
static unsigned int nr_flows;

static void stop(int sig)
{
	(void)sig;
	stopped = 1;
}

/* The flow ends; the others go on. */
void flow_die(struct flow *f, const char *format, ...)
{
	char text[200];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	printf("\n%s: %s\n", f->kind->name, text);
	__atomic_store_n(&f->failed, true, __ATOMIC_RELEASE);
	__atomic_store_n(&f->done, true, __ATOMIC_RELEASE);
	pthread_exit(NULL);
}

static void *run_flow(void *arg)
{
	struct flow *f = arg;
	uint32_t round;

	flow_connect(f);
	f->kind->begin(f);
	for (round = 0; f->rounds < max_rounds && !stopped; round++) {
		if (f->kind->round(f, round))
			__atomic_add_fetch(&f->rounds, 1, __ATOMIC_RELAXED);
		if (pause_ms)
			usleep(pause_ms * 1000);
	}
	__atomic_store_n(&f->done, true, __ATOMIC_RELEASE);
	return NULL;
}

/* True if every flow has done a round since the last time, or all it had to. */
static bool all_moved(uint32_t *seen)
{
	uint32_t rounds[NR_KINDS];
	unsigned int i;

	for (i = 0; i < nr_flows; i++) {
		rounds[i] = __atomic_load_n(&flows[i].rounds, __ATOMIC_RELAXED);
		if (rounds[i] == seen[i] && rounds[i] != max_rounds)
			return false;
	}
	memcpy(seen, rounds, sizeof(rounds));
	return true;
}

static bool all_done(void)
{
	unsigned int i;

	for (i = 0; i < nr_flows; i++)
		if (!__atomic_load_n(&flows[i].done, __ATOMIC_ACQUIRE))
			return false;
	return true;
}

static void watch(void)
{
	uint32_t seen[NR_KINDS] = { };
	bool flowing = false;

	while (!all_done()) {
		usleep(flowing ? 100000 : 1000);
		if (!all_moved(seen))
			continue;
		printf(flowing ? "." : "flows\n");
		flowing = true;
	}
	if (!flowing && all_moved(seen))
		printf("flows\n");
}

/* How it went; true if well. */
static bool say_end(const struct flow *f)
{
	printf("\n%s: %u rounds", f->kind->name, f->rounds);
	if (f->posted)
		printf(", %u of %u messages", f->arrived, f->posted);
	return !f->failed;
}

static void choose_kinds(char *names)
{
	char *name;
	size_t i;

	nr_flows = 0;
	for (name = strtok(names, ","); name; name = strtok(NULL, ",")) {
		for (i = 0; i < NR_KINDS; i++)
			if (!strcmp(name, kinds[i]->name))
				break;
		if (i == NR_KINDS || nr_flows == NR_KINDS)
			exit(2);
		flows[nr_flows++].kind = kinds[i];
	}
}

static enum ibv_mtu mtu_of(int bytes)
{
	enum ibv_mtu mtu = IBV_MTU_256;

	while (mtu <= IBV_MTU_4096 && 128 << mtu != bytes)
		mtu++;
	if (mtu > IBV_MTU_4096)
		exit(2);
	return mtu;
}

static void parse_options(int argc, char **argv)
{
	int option;

	while ((option = getopt(argc, argv, "k:t:r:n:s:m:p:c:N:")) != -1)
		switch (option) {
		case 'k':
			choose_kinds(optarg);
			break;
		case 't':
			flow_timeout = arg_number(optarg);
			break;
		case 'r':
			flow_retries = arg_number(optarg);
			break;
		case 'n':
			max_rounds = arg_number(optarg);
			break;
		case 's':
			flow_bytes = arg_number(optarg);
			break;
		case 'm':
			flow_mtu = mtu_of(arg_number(optarg));
			break;
		case 'p':
			pause_ms = arg_number(optarg);
			break;
		case 'c':
			flow_class = arg_number(optarg);
			break;
		case 'N':
			flow_far_netns = optarg;
			break;
		default:
			exit(2);
		}
	if (argc - optind != 4 || flow_bytes < 64 || flow_bytes % 8)
		exit(2);
	if (!nr_flows)
		flows[nr_flows++].kind = &flow_rc;
}

int main(int argc, char **argv)
{
	bool well = true;
	unsigned int i;

	setvbuf(stdout, NULL, _IONBF, 0);
	parse_options(argc, argv);
	argv += optind;
	signal(SIGTERM, stop);
	for (i = 0; i < nr_flows; i++) {
		flows[i].near.device = argv[0];
		flows[i].near.gid_index = arg_number(argv[1]);
		flows[i].far.device = argv[2];
		flows[i].far.gid_index = arg_number(argv[3]);
		if (pthread_create(&flows[i].thread, NULL, run_flow, &flows[i]))
			return 2;
	}

	watch();
	for (i = 0; i < nr_flows; i++) {
		pthread_join(flows[i].thread, NULL);
		well &= say_end(&flows[i]);
	}
	printf("\n");
	return !well;
}
