// SPDX-License-Identifier: GPL-2.0
/*
 * Events that wait for more completions. moderation.sh builds and runs it:
 *
 *	moderation DEVICE GID_INDEX CASE
 */
#include <poll.h>
#include <stdbool.h>

#include "../lib/pair.h"

/* The longest that there is, in microseconds. */
#define PERIOD_US	65535

/* A guest may stall for longer than that; then the case is tried again. */
#define TRIES		10

static char buffer[64];
static struct ibv_mr *mr;
static struct ibv_comp_channel *channel;
static struct pair p;

/* As make_pair(), but that near's completions cause events. */
static struct pair make_heard_pair(void)
{
	struct pair q;

	q.near_cq = ibv_create_cq(ctx, 32, NULL, channel, 0);
	q.far_cq = ibv_create_cq(ctx, 32, NULL, NULL, 0);
	EXPECT(q.near_cq && q.far_cq);
	q.near = make_qp(q.near_cq, 16);
	q.far = make_qp(q.far_cq, 16);
	EXPECT(q.near && q.far);
	EXPECT(!connect_qp(q.near, q.far->qp_num));
	EXPECT(!connect_qp(q.far, q.near->qp_num));
	return q;
}

static void moderate(int count, int period_us)
{
	struct ibv_modify_cq_attr attr = {
		.attr_mask = IBV_CQ_ATTR_MODERATE,
		.moderate = { .cq_count = count, .cq_period = period_us },
	};

	EXPECT(!ibv_modify_cq(p.near_cq, &attr));
}

static void send_one(uint32_t lkey)
{
	struct ibv_sge sge = { (uintptr_t)buffer, 8, lkey };
	struct ibv_send_wr wr = {
		.sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_RDMA_WRITE,
		.wr.rdma = { .remote_addr = (uintptr_t)buffer + 8,
			     .rkey = mr->rkey },
	}, *bad;

	EXPECT(!ibv_post_send(p.near, &wr, &bad));
}

static bool event_within(int ms)
{
	struct pollfd fd = { .fd = channel->fd, .events = POLLIN };
	struct ibv_cq *cq;
	void *context;

	if (poll(&fd, 1, ms) != 1)
		return false;
	EXPECT(!ibv_get_cq_event(channel, &cq, &context));
	ibv_ack_cq_events(cq, 1);
	return true;
}

static int poll_all(void)
{
	struct ibv_wc wc[16];
	int n, all = 0;

	while ((n = ibv_poll_cq(p.near_cq, 16, wc)) > 0)
		all += n;
	EXPECT(!n);
	return all;
}

static void wait_for_completions(int n)
{
	double end = now() + 20 * slow();

	while (n && now() < end)
		n -= poll_all();
	EXPECT(!n);
}

static void arm(void)
{
	EXPECT(!ibv_req_notify_cq(p.near_cq, 0));
}

static void device_says_so(void)
{
	struct ibv_device_attr_ex attr;

	EXPECT(!ibv_query_device_ex(ctx, NULL, &attr));
	EXPECT(attr.cq_mod_caps.max_cq_count == 65535);
	EXPECT(attr.cq_mod_caps.max_cq_period == PERIOD_US);
}

/* Seven are too few, the eighth brings the event, and the next waits anew. */
static bool counts_once(void)
{
	double begun = now();
	int i;

	arm();
	for (i = 0; i < 7; i++)
		send_one(mr->lkey);
	wait_for_completions(7);
	if (event_within(0)) {
		EXPECT(now() - begun > PERIOD_US / 1e6);
		return false;
	}
	send_one(mr->lkey);
	EXPECT(event_within(5000));
	if (now() - begun > PERIOD_US / 1e6) {
		wait_for_completions(1);
		return false;
	}
	wait_for_completions(1);
	return true;
}

static void waits_for_a_count(void)
{
	int tries = 0;

	moderate(8, PERIOD_US);
	while (!counts_once() && tries++ < TRIES)
		;
	EXPECT(tries < TRIES);

	/* It was asked for once, and came once. */
	send_one(mr->lkey);
	wait_for_completions(1);
	EXPECT(!event_within(300));
}

static void waits_for_a_period(void)
{
	double begun;

	moderate(100, PERIOD_US);
	arm();
	begun = now();
	send_one(mr->lkey);
	EXPECT(event_within(5000));
	EXPECT(now() - begun >= PERIOD_US / 1e6);
	wait_for_completions(1);
}

/* How long until an event, where nothing is to be waited for. */
static double delay(uint32_t lkey)
{
	double begun;

	arm();
	begun = now();
	send_one(lkey);
	EXPECT(event_within(5000));
	return now() - begun;
}

static void expect_at_once(int count, int period_us)
{
	int tries;

	moderate(count, period_us);
	for (tries = 0; tries < TRIES; tries++) {
		double took = delay(mr->lkey);

		wait_for_completions(1);
		if (took < PERIOD_US / 1e6)
			return;
	}
	EXPECT(!"at once");
}

static void at_once_without_both(void)
{
	expect_at_once(0, 0);
	expect_at_once(1, PERIOD_US);
	expect_at_once(100, 0);
}

static void errors_do_not_wait(void)
{
	int tries;

	for (tries = 0; tries < TRIES; tries++) {
		moderate(100, PERIOD_US);
		if (delay(~mr->lkey) < PERIOD_US / 1e6)
			return;
		poll_all();
		unmake_pair(&p);
		p = make_heard_pair();
	}
	EXPECT(!"at once");
}

static void what_waits_is_let_go_by_a_change(void)
{
	moderate(100, PERIOD_US);
	arm();
	send_one(mr->lkey);
	wait_for_completions(1);
	moderate(0, 0);
	EXPECT(event_within(5000));
	EXPECT(!event_within(300));
}

/* The timer runs while the queue goes. */
static void destroyed_while_it_waits(void)
{
	int i;

	for (i = 0; i < 20; i++) {
		moderate(100, PERIOD_US);
		arm();
		send_one(mr->lkey);
		wait_for_completions(1);
		unmake_pair(&p);
		p = make_heard_pair();
	}
}

static const struct test_case cases[] = {
	CASE(device_says_so),
	CASE(waits_for_a_count),
	CASE(waits_for_a_period),
	CASE(at_once_without_both),
	CASE(errors_do_not_wait),
	CASE(what_waits_is_let_go_by_a_change),
	CASE(destroyed_while_it_waits),
	{ }
};

int main(int argc, char **argv)
{
	if (argc != 4)
		return 2;
	open_device(argv[1], argv[2]);
	mr = ibv_reg_mr(pd, buffer, sizeof(buffer), RIGHTS);
	channel = ibv_create_comp_channel(ctx);
	EXPECT(mr && channel);
	p = make_heard_pair();
	return run_case(cases, argv[3]);
}
