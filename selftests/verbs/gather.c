// SPDX-License-Identifier: GPL-2.0
/*
 * Sends that are posted one by one, and gathered by the kernel. gather.sh builds
 * and runs it:
 *
 *	gather DEVICE GID_INDEX CASE
 */
#include <pthread.h>
#include <sched.h>

#include "../lib/lane.h"
#include "../lib/bystander.h"

#define DEPTH	256

static volatile bool stopped;

/* Emulated processors do not do much in 16 microseconds. */
static unsigned int interval_us(void)
{
	return slow() > 1 ? 1000 : 400;
}

/** struct stream - messages of a lane that are on their way */
struct stream {
	struct lane lane;
	unsigned long sent, complete, received;
};

static struct stream make_stream(enum ibv_qp_type type)
{
	struct stream s = { };
	int i;

	lane_depth = DEPTH;
	s.lane = make_lane(type);
	for (i = 0; i < DEPTH; i++)
		EXPECT(!try_recv(&s.lane));
	return s;
}

static void reap(struct stream *s)
{
	struct ibv_wc wc;

	while (ibv_poll_cq(s->lane.p.near_cq, 1, &wc) > 0) {
		EXPECT(wc.status == IBV_WC_SUCCESS);
		s->complete++;
	}
	while (ibv_poll_cq(s->lane.p.far_cq, 1, &wc) > 0) {
		EXPECT(wc.status == IBV_WC_SUCCESS);
		s->received++;
		EXPECT(!try_recv(&s->lane));
	}
}

static void wait_until_complete(struct stream *s, unsigned long number)
{
	double end = now() + 20 * slow();

	do {
		reap(s);
		EXPECT(now() < end);
	} while (s->complete < number || s->received < number);
}

/* One by one, and nothing is waited for while there is room. */
static void stream(struct stream *s, unsigned int messages)
{
	while (messages--) {
		if (s->sent - s->received == DEPTH ||
		    s->sent - s->complete == DEPTH)
			wait_until_complete(s, s->sent - DEPTH / 2);
		EXPECT(!try_send(&s->lane));
		s->sent++;
	}
}

/* Until nobody has to ring; then some hundred are on their way. */
static struct stream make_gathered(enum ibv_qp_type type)
{
	double end = now() + 20 * slow();
	struct stream s = make_stream(type);
	unsigned long before;

	do {
		EXPECT(now() < end);
		before = doorbells;
		stream(&s, DEPTH / 2);
	} while (doorbells != before);
	return s;
}

static void finish(struct stream *s)
{
	wait_until_complete(s, s->sent);
	unmake_lane(&s->lane);
}

static void gathers(enum ibv_qp_type type)
{
	unsigned int messages = 20000;
	struct stream s = make_stream(type);

	set_attribute("gather_us", interval_us());
	stream(&s, messages);
	printf("%lu of %u rung for\n", doorbells, messages);
	EXPECT(doorbells < messages / 2);
	flag_is(ring_of_sends(), 0);
	finish(&s);
}

static void gathers_rc(void)
{
	gathers(IBV_QPT_RC);
}

static void gathers_uc(void)
{
	gathers(IBV_QPT_UC);
}

static void gathers_ud(void)
{
	gathers(IBV_QPT_UD);
}

/* Who waits for each message is not made to wait for a timer, but for trials. */
static void who_waits_rings(void)
{
	struct lane lane = make_lane(IBV_QPT_RC);
	unsigned int messages = 3000, i;

	set_attribute("gather_us", interval_us());
	for (i = 0; i < messages; i++)
		exchange(&lane);
	printf("%lu of %u rung for\n", doorbells, messages);
	EXPECT(doorbells > messages - 50);
	unmake_lane(&lane);
}

static void not_wanted(void)
{
	unsigned int messages = 5000;
	struct stream s = make_stream(IBV_QPT_RC);

	set_attribute("gather_us", 0);
	stream(&s, messages);
	EXPECT(doorbells == messages);
	finish(&s);
}

/* Who leaves softirqs no processor is not to need them. */
static void real_time_rings(void)
{
	struct sched_param first = { .sched_priority = 1 };
	unsigned int messages = 5000;
	struct stream s;

	set_attribute("gather_us", interval_us());
	s = make_stream(IBV_QPT_RC);
	EXPECT(!sched_setscheduler(0, SCHED_FIFO, &first));
	stream(&s, messages);
	EXPECT(doorbells == messages);
	finish(&s);
}

/*
 * Bursts and pauses of all lengths: after each, all arrives. What nobody has rung
 * for, as the flag was about to fall, would never.
 */
static void nothing_is_lost(void)
{
	static const enum ibv_qp_type types[] = {
		IBV_QPT_RC, IBV_QPT_UC, IBV_QPT_UD,
	};
	unsigned int rounds = getenv("FULL") ? 20000 : 600, i, n;
	struct stream s[3];

	set_attribute("gather_us", interval_us() / 4);
	for (i = 0; i < 3; i++)
		s[i] = make_stream(types[i]);
	for (i = 0; i < rounds; i++) {
		n = rand() % 3;
		stream(&s[n], 1 + rand() % 300);
		pause_for(rand() % 1000 * 1e-6);
		stream(&s[n], 1 + rand() % 4);
		wait_until_complete(&s[n], s[n].sent);
	}
	printf("%lu of %lu rung for\n", doorbells,
	       s[0].sent + s[1].sent + s[2].sent);
	EXPECT(doorbells > rounds);
	EXPECT(doorbells < s[0].sent + s[1].sent + s[2].sent - rounds);
	for (i = 0; i < 3; i++)
		finish(&s[i]);
}

/* The interval is shorter and longer, not at all, and there is a poller, too. */
static void *change_settings(void *arg)
{
	static const unsigned int settings[] = { 16, 0, 1000, 100, 1 };
	unsigned long *changes = arg;

	while (!stopped) {
		set_attribute("gather_us", settings[++*changes % 5]);
		set_attribute("poll_us", *changes % 4 ? 0 : 500);
		usleep(rand() % 3000);
	}
	return NULL;
}

static void settings_change(void)
{
	struct stream s = make_stream(IBV_QPT_RC);
	unsigned long changes = 0;
	double end = now() + 6;
	pthread_t thread;

	EXPECT(!pthread_create(&thread, NULL, change_settings, &changes));
	while (now() < end) {
		stream(&s, 1 + rand() % 1000);
		wait_until_complete(&s, s.sent);
	}
	stopped = true;
	pthread_join(thread, NULL);
	printf("%lu settings, %lu of %lu rung for\n", changes, doorbells,
	       s.sent);
	EXPECT(changes > 50 && doorbells && doorbells < s.sent);

	set_attribute("poll_us", 0);
	set_attribute("gather_us", 0);
	stream(&s, 1);
	flag_is(ring_of_sends(), 0);
	finish(&s);
}

static int next_status(struct stream *s)
{
	int how = status(s->lane.p.near_cq);

	s->complete++;
	return how;
}

/* What nobody has rung for is flushed, whether the flag has fallen yet or not. */
static void error_flushes(void)
{
	int i, j;

	set_attribute("gather_us", interval_us());
	for (i = 0; i < 30; i++) {
		struct stream s = make_gathered(i % 2 ? IBV_QPT_UD :
							IBV_QPT_RC);
		volatile struct frdma_ring_head *head = ring_of_sends();

		to_error(s.lane.p.near);
		while (s.complete < s.sent)
			next_status(&s);
		for (j = 0; j < 5; j++) {
			EXPECT(!try_send(&s.lane));
			EXPECT(next_status(&s) == IBV_WC_WR_FLUSH_ERR);
		}
		flag_is(head, 0);
		unmake_lane(&s.lane);
	}
}

/* A reset forgets what was gathered; from then on everybody rings. */
static void reset_while_gathered(void)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RESET };
	int i;

	set_attribute("gather_us", interval_us());
	for (i = 0; i < 30; i++) {
		struct stream s = make_gathered(IBV_QPT_RC);

		EXPECT(!ibv_modify_qp(s.lane.p.near, &attr, IBV_QP_STATE));
		EXPECT(!ibv_modify_qp(s.lane.p.far, &attr, IBV_QP_STATE));
		EXPECT(!ring_of_sends()->flags);
		start(&s.lane);
		exchange(&s.lane);
		exchange(&s.lane);
		unmake_lane(&s.lane);
	}
}

/* What has begun has ended, and both ends know it. */
static void wait_until_drained(struct stream *s)
{
	double end = now() + 20 * slow();
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	do {
		EXPECT(now() < end);
		EXPECT(!ibv_query_qp(s->lane.p.near, &attr, IBV_QP_STATE,
				     &init));
		reap(s);
	} while (attr.sq_draining || s->complete != s->received);
}

/* In SQD nothing begins, also if nobody rings (IBTA 10.3.1.6); then all does. */
static void drained_while_gathered(void)
{
	struct ibv_qp_attr sqd = { .qp_state = IBV_QPS_SQD };
	struct ibv_qp_attr rts = { .qp_state = IBV_QPS_RTS };
	int i;

	set_attribute("gather_us", interval_us());
	for (i = 0; i < 30; i++) {
		struct stream s = make_gathered(IBV_QPT_RC);
		unsigned long received;

		EXPECT(!ibv_modify_qp(s.lane.p.near, &sqd, IBV_QP_STATE));
		wait_until_drained(&s);
		received = s.received;
		while (s.sent - received < 10) {
			EXPECT(!try_send(&s.lane));
			s.sent++;
		}
		usleep(2000);
		reap(&s);
		EXPECT(s.received == received);
		EXPECT(!ibv_modify_qp(s.lane.p.near, &rts, IBV_QP_STATE));
		finish(&s);
	}
}

/* What was posted last is on its way, though nobody has rung for it. */
static void last_words_arrive(void)
{
	int i;

	set_attribute("gather_us", 1000);
	for (i = 0; i < 30; i++) {
		struct stream s = make_gathered(i % 2 ? IBV_QPT_UD :
							IBV_QPT_RC);

		wait_until_complete(&s, s.sent);
		stream(&s, 1);
		if (i % 3)
			to_error(s.lane.p.near);
		else
			EXPECT(!ibv_destroy_qp(s.lane.p.near));
		while (s.received < s.sent) {
			EXPECT(status(s.lane.p.far_cq) == IBV_WC_SUCCESS);
			s.received++;
		}
		if (!(i % 3)) {
			EXPECT(!ibv_destroy_qp(s.lane.p.far));
			continue;
		}
		unmake_lane(&s.lane);
	}
}

static void *spin(void *arg)
{
	while (!*(volatile bool *)arg)
		;
	return NULL;
}

static void run_on(pthread_t thread, int cpu)
{
	struct sched_param first = { .sched_priority = 1 };
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	EXPECT(!pthread_setaffinity_np(thread, sizeof(set), &set));
	EXPECT(!pthread_setschedparam(thread, SCHED_FIFO, &first));
}

/* Likewise, of what the poller was to look for, which has no processor now. */
static void last_words_unseen(void)
{
	struct sched_param others = { };
	int i;

	set_attribute("poll_us", 10000000);
	for (i = 0; i < 10; i++) {
		struct stream s = make_gathered(i % 2 ? IBV_QPT_UD :
							IBV_QPT_RC);
		unsigned long before = doorbells;
		bool end = false;
		pthread_t thread;

		wait_until_complete(&s, s.sent);
		EXPECT(!pthread_create(&thread, NULL, spin, &end));
		run_on(thread, 1);
		run_on(pthread_self(), 0);
		stream(&s, 1);
		to_error(s.lane.p.near);
		end = true;
		EXPECT(!pthread_setschedparam(pthread_self(), SCHED_OTHER,
					      &others));
		pthread_join(thread, NULL);
		EXPECT(doorbells == before);
		EXPECT(status(s.lane.p.far_cq) == IBV_WC_SUCCESS);
		unmake_lane(&s.lane);
	}
}

static void destroyed_while_gathered(void)
{
	int i;

	set_attribute("gather_us", interval_us());
	bystander_begins();
	for (i = 0; i < 60; i++) {
		struct stream s = make_gathered(i % 2 ? IBV_QPT_UD :
							IBV_QPT_RC);

		unmake_lane(&s.lane);
		bystander_goes_on();
	}
	bystander_ends();
}

/* Until it is killed, or the device is gone. */
static void streams_for_ever(void)
{
	struct stream s;
	struct ibv_wc wc;
	int err = 0, n = 0;

	set_attribute("gather_us", interval_us());
	s = make_gathered(IBV_QPT_RC);
	printf("streams\n");
	while (!err && n >= 0) {
		err = try_send(&s.lane);
		if (err == ENOMEM)
			err = 0;
		while (!err && (n = ibv_poll_cq(s.lane.p.near_cq, 1, &wc)) > 0)
			;
		while (!err && n >= 0 &&
		       (n = ibv_poll_cq(s.lane.p.far_cq, 1, &wc)) > 0)
			err = try_recv(&s.lane);
	}
	printf("ended by %d, %d\n", err, n);
	EXPECT(err == EIO || n < 0);
}

static const struct test_case cases[] = {
	CASE(gathers_rc),
	CASE(gathers_uc),
	CASE(gathers_ud),
	CASE(who_waits_rings),
	CASE(not_wanted),
	CASE(real_time_rings),
	CASE(nothing_is_lost),
	CASE(settings_change),
	CASE(error_flushes),
	CASE(reset_while_gathered),
	CASE(drained_while_gathered),
	CASE(last_words_arrive),
	CASE(last_words_unseen),
	CASE(destroyed_while_gathered),
	CASE(streams_for_ever),
	{ }
};

int main(int argc, char **argv)
{
	if (argc != 4)
		return 2;
	open_lanes(argv[1], argv[2]);
	return run_case(cases, argv[3]);
}
