// SPDX-License-Identifier: GPL-2.0
/*
 * Sends that the kernel's poller finds by itself. poller.sh builds and runs it:
 *
 *	poller DEVICE GID_INDEX CASE
 */
#include <linux/seccomp.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/prctl.h>

#include "../lib/lane.h"
#include "../lib/bystander.h"

/* So long that it does not end while a test looks. */
#define LONG_US	10000000

static volatile bool stopped;

static void poll_us(unsigned int us)
{
	set_attribute("poll_us", us);
}

/*
 * What is watched is so from the first doorbell on; the process is told as soon
 * as the poller has a processor.
 */
static struct lane make_watched(enum ibv_qp_type type)
{
	double end = now() + 20 * slow();
	struct lane lane = make_lane(type);
	unsigned long before;

	do {
		EXPECT(now() < end);
		before = doorbells;
		exchange(&lane);
	} while (doorbells != before);
	return lane;
}

static void no_doorbell_of(enum ibv_qp_type type)
{
	struct lane lane;
	unsigned long before;
	int i;

	poll_us(LONG_US);
	lane = make_watched(type);
	EXPECT(ring_of_sends()->flags == FRDMA_RING_WATCHED);
	before = doorbells;
	for (i = 0; i < 500; i++)
		exchange(&lane);
	EXPECT(doorbells == before);
	unmake_lane(&lane);
}

static void no_doorbell_rc(void)
{
	no_doorbell_of(IBV_QPT_RC);
}

static void no_doorbell_uc(void)
{
	no_doorbell_of(IBV_QPT_UC);
}

static void no_doorbell_ud(void)
{
	no_doorbell_of(IBV_QPT_UD);
}

/* From here on any system call but read, write and exit ends the process. */
static void no_system_call(void)
{
	struct lane lane;
	struct ibv_wc wc;
	int i, n;

	poll_us(LONG_US);
	lane = make_watched(IBV_QPT_RC);
	alarm(60 * slow());
	EXPECT(!prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT));
	for (i = 0; i < 500; i++) {
		post(&lane);
		while (!(n = ibv_poll_cq(lane.p.near_cq, 1, &wc)))
			;
		EXPECT(n == 1 && wc.status == IBV_WC_SUCCESS);
		while (!(n = ibv_poll_cq(lane.p.far_cq, 1, &wc)))
			;
		EXPECT(n == 1 && wc.status == IBV_WC_SUCCESS);
	}
	syscall(SYS_exit, 0);
}

static void flag_falls(void)
{
	volatile struct frdma_ring_head *head;
	struct lane lane;
	unsigned long before;
	double began;

	poll_us(300000);
	lane = make_lane(IBV_QPT_RC);
	head = ring_of_sends();
	began = now();
	exchange(&lane);
	while (now() - began < 0.1 && !head->flags)
		;
	flag_is(head, 0);
	/* However late we look, that cannot have been earlier. */
	EXPECT(now() - began >= 0.1);

	poll_us(LONG_US);
	before = doorbells;
	exchange(&lane);
	EXPECT(doorbells == before + 1);
	flag_is(head, FRDMA_RING_WATCHED);
	poll_us(0);
	flag_is(head, 0);
	unmake_lane(&lane);
}

/*
 * One request at a time: the next one would ring the doorbell that this one
 * failed to ring. The pause between them looks for the moment in which the
 * poller gives up: it becomes shorter where that was missed, and longer where
 * it had not come. Where the poller has to share our processor, it gives up
 * each time before we go on, and there is nothing to be seen.
 */
static void nothing_is_lost(void)
{
	unsigned int rounds = getenv("FULL") ? 200000 : 6000;
	unsigned int i, rung = 0;
	double pause = 800e-6 * slow();
	struct lane lane;

	poll_us(1000 * slow());
	lane = make_lane(IBV_QPT_RC);
	for (i = 0; i < rounds; i++) {
		unsigned long before = doorbells;

		exchange(&lane);
		if (doorbells != before) {
			rung++;
			pause -= 1e-6 * (i % 8) * slow();
		} else {
			pause += 1e-6 * (i % 8) * slow();
		}
		if (pause < 0)
			pause = 0;
		pause_for(pause);
	}
	printf("%u of %u rung for, the pause is %.0f us\n", rung, rounds,
	       pause * 1e6);
	if (rounds - rung <= rounds / 20)
		printf("no processor for the poller\n");
	EXPECT(rung > rounds / 20);
	unmake_lane(&lane);
}

/* The same with pauses of all lengths, and of several queues by turns. */
static void nothing_is_lost_of_several(void)
{
	enum { LANES = 6, ROUNDS = 3000 };
	static const enum ibv_qp_type types[] = {
		IBV_QPT_RC, IBV_QPT_UC, IBV_QPT_UD,
	};
	struct lane lanes[LANES];
	unsigned int i;

	poll_us(300);
	for (i = 0; i < LANES; i++)
		lanes[i] = make_lane(types[i % 3]);
	for (i = 0; i < ROUNDS; i++) {
		exchange(&lanes[rand() % LANES]);
		pause_for(rand() % 200 * 1e-6);
	}
	printf("%lu of %u rung for\n", doorbells, ROUNDS);
	if (doorbells >= ROUNDS)
		printf("no processor for the poller\n");
	EXPECT(doorbells);
	for (i = 0; i < LANES; i++)
		unmake_lane(&lanes[i]);
}

/* All of them get their turn. */
static void several_queues(void)
{
	enum { LANES = 16 };
	struct lane lanes[LANES];
	unsigned long before;
	int i, round;

	poll_us(LONG_US);
	for (i = 0; i < LANES; i++)
		lanes[i] = make_watched(IBV_QPT_RC);
	before = doorbells;
	for (round = 0; round < 50; round++) {
		for (i = 0; i < LANES; i++)
			post(&lanes[i]);
		for (i = 0; i < LANES; i++)
			arrives(&lanes[i]);
	}
	EXPECT(doorbells == before);
	for (i = 0; i < LANES; i++)
		unmake_lane(&lanes[i]);
}

/* Who finds no place rings, until others are idle or gone. */
static void more_than_are_watched(void)
{
	enum { PLACES = 64, LANES = PLACES + 2 };
	struct lane lanes[LANES];
	unsigned long before;
	int i;

	poll_us(LONG_US);
	for (i = 0; i < PLACES; i++)
		lanes[i] = make_watched(IBV_QPT_RC);
	for (; i < LANES; i++)
		lanes[i] = make_lane(IBV_QPT_RC);
	before = doorbells;
	for (i = 0; i < 20; i++)
		exchange(&lanes[PLACES + i % 2]);
	EXPECT(doorbells == before + 20);
	for (i = 0; i < PLACES; i++)
		exchange(&lanes[i]);
	EXPECT(doorbells == before + 20);

	unmake_lane(&lanes[0]);
	lanes[0] = make_watched(IBV_QPT_RC);
	for (i = 0; i < LANES; i++)
		unmake_lane(&lanes[i]);
}

/* What was not written to yet is faulted in, and not in the poller's memory. */
static void pages_on_demand(void)
{
	size_t len = 16 * 4096, i;
	struct ibv_send_wr wr = { .opcode = IBV_WR_RDMA_WRITE };
	unsigned char *from, *to;
	struct ibv_mr *from_mr, *to_mr;
	unsigned long before;
	struct lane lane;

	poll_us(LONG_US);
	lane = make_watched(IBV_QPT_RC);
	from = mmap(NULL, len, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	to = aligned_alloc(4096, len);
	EXPECT(from != MAP_FAILED && to);
	memset(to, 0xff, len);
	from_mr = ibv_reg_mr(pd, from, len, RIGHTS | IBV_ACCESS_ON_DEMAND);
	to_mr = ibv_reg_mr(pd, to, len, RIGHTS);
	EXPECT(from_mr && to_mr);

	before = doorbells;
	wr.wr.rdma.remote_addr = (uintptr_t)to;
	wr.wr.rdma.rkey = to_mr->rkey;
	EXPECT(post_wait(lane.p.near, lane.p.near_cq, wr, (struct ibv_sge) {
		(uintptr_t)from, len, from_mr->lkey }) == IBV_WC_SUCCESS);
	EXPECT(doorbells == before);
	for (i = 0; i < len; i++)
		EXPECT(!to[i]);
	EXPECT(!ibv_dereg_mr(from_mr) && !ibv_dereg_mr(to_mr));
	unmake_lane(&lane);
}

static void destroyed_while_watched(void)
{
	int i;

	poll_us(LONG_US);
	bystander_begins();
	for (i = 0; i < 100; i++) {
		struct lane lane = make_watched(i % 2 ? IBV_QPT_UD :
							IBV_QPT_RC);

		post(&lane);
		post(&lane);
		unmake_lane(&lane);
		bystander_goes_on();
	}
	bystander_ends();
}

/* Whoever made the error, and whether or not the flag has fallen yet. */
static void error_flushes(void)
{
	int i, j;

	poll_us(LONG_US);
	for (i = 0; i < 100; i++) {
		struct lane lane = make_watched(IBV_QPT_RC);
		volatile struct frdma_ring_head *head = ring_of_sends();
		struct ibv_send_wr wr = { .opcode = IBV_WR_RDMA_WRITE };
		struct ibv_sge sge = { (uintptr_t)memory[0], 1, mr->lkey };

		if (i % 2)
			to_error(lane.p.near);
		else
			EXPECT(post_wait(lane.p.near, lane.p.near_cq, wr,
					 sge) == IBV_WC_REM_ACCESS_ERR);
		for (j = 0; j < 5; j++) {
			EXPECT(!try_send(&lane));
			EXPECT(status(lane.p.near_cq) == IBV_WC_WR_FLUSH_ERR);
			pause_for(rand() % 20 * 1e-6);
		}
		flag_is(head, 0);
		unmake_lane(&lane);
	}
}

/* What was watched is forgotten, and goes on from its first doorbell on. */
static void reset_while_watched(void)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RESET };
	struct lane lane;
	int i;

	poll_us(LONG_US);
	lane = make_watched(IBV_QPT_RC);
	for (i = 0; i < 100; i++) {
		EXPECT(!ibv_modify_qp(lane.p.near, &attr, IBV_QP_STATE));
		EXPECT(!ibv_modify_qp(lane.p.far, &attr, IBV_QP_STATE));
		start(&lane);
		exchange(&lane);
		exchange(&lane);
	}
	unmake_lane(&lane);
}

static void *change_setting(void *arg)
{
	static const unsigned int settings[] = { LONG_US, 0, 100, 0, 1 };
	unsigned long *changes = arg;

	while (!stopped) {
		poll_us(settings[++*changes % 5]);
		usleep(rand() % 2000);
	}
	return NULL;
}

static void setting_changes(void)
{
	unsigned long changes = 0, sent = 0;
	struct lane lane = make_lane(IBV_QPT_RC);
	double end = now() + 8;
	pthread_t thread;

	EXPECT(!pthread_create(&thread, NULL, change_setting, &changes));
	for (; now() < end; sent++)
		exchange(&lane);
	stopped = true;
	pthread_join(thread, NULL);
	printf("%lu settings, %lu of %lu rung for\n", changes, doorbells, sent);
	EXPECT(changes > 50 && doorbells && doorbells < sent);

	poll_us(0);
	EXPECT(!ring_of_sends()->flags);
	unmake_lane(&lane);
}

/* Until it is killed, or the device is gone. */
static void sends_for_ever(void)
{
	struct lane lane;
	struct ibv_wc wc;
	int err = 0, n = 0;

	poll_us(LONG_US);
	lane = make_watched(IBV_QPT_RC);
	printf("sends\n");
	while (!err && n >= 0) {
		err = try_recv(&lane) ?: try_send(&lane);
		while (!err && !(n = ibv_poll_cq(lane.p.near_cq, 1, &wc)))
			;
		while (!err && n > 0 &&
		       !(n = ibv_poll_cq(lane.p.far_cq, 1, &wc)))
			;
		/* In the error state, for a moment, until the rings go. */
		if (err == ENOMEM)
			err = 0;
	}
	printf("ended by %d, %d\n", err, n);
	EXPECT(err == EIO || n < 0);
}

/* Who says that it is watched, and is not, waits; who denies it rings. */
static void own_flag(void)
{
	volatile struct frdma_ring_head *head;
	unsigned long before;
	struct lane lane;
	struct ibv_wc wc;
	int i;

	poll_us(0);
	lane = make_lane(IBV_QPT_RC);
	head = ring_of_sends();
	exchange(&lane);
	EXPECT(!head->flags);
	bystander_begins();

	head->flags = FRDMA_RING_WATCHED;
	before = doorbells;
	post(&lane);
	bystander_goes_on();
	usleep(300000 * slow());
	EXPECT(!ibv_poll_cq(lane.p.near_cq, 1, &wc));
	EXPECT(doorbells == before + 1);
	head->flags = 0;
	post(&lane);
	arrives(&lane);
	arrives(&lane);

	poll_us(LONG_US);
	exchange(&lane);
	flag_is(head, FRDMA_RING_WATCHED);
	for (i = 0; i < 100; i++) {
		head->flags = 0;
		before = doorbells;
		exchange(&lane);
		EXPECT(doorbells == before + 1);
		/* It is watched all the same. */
		head->flags = ~0U;
		exchange(&lane);
		EXPECT(doorbells == before + 1);
		bystander_goes_on();
	}
	poll_us(0);
	EXPECT(!head->flags);
	bystander_ends();
	unmake_lane(&lane);
}

/* A provider that knows of no flag rings each time. */
static void rings_all_the_same(void)
{
	struct lane lane;
	int i;

	poll_us(LONG_US);
	lane = make_watched(IBV_QPT_RC);
	for (i = 0; i < 1000; i++) {
		post(&lane);
		EXPECT(!ring_doorbell_of(ctx->cmd_fd, lane.p.near->handle));
		arrives(&lane);
	}
	unmake_lane(&lane);
}

static const struct test_case cases[] = {
	CASE(no_doorbell_rc),
	CASE(no_doorbell_uc),
	CASE(no_doorbell_ud),
	CASE(no_system_call),
	CASE(flag_falls),
	CASE(nothing_is_lost),
	CASE(nothing_is_lost_of_several),
	CASE(several_queues),
	CASE(more_than_are_watched),
	CASE(pages_on_demand),
	CASE(destroyed_while_watched),
	CASE(error_flushes),
	CASE(reset_while_watched),
	CASE(setting_changes),
	CASE(sends_for_ever),
	CASE(own_flag),
	CASE(rings_all_the_same),
	{ }
};

int main(int argc, char **argv)
{
	if (argc != 4)
		return 2;
	open_lanes(argv[1], argv[2]);
	return run_case(cases, argv[3]);
}
