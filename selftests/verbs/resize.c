// SPDX-License-Identifier: GPL-2.0
/*
 * A completion queue changes its size while completions are pushed to it.
 * resize.sh builds and runs it:
 *
 *	resize DEVICE GID_INDEX CASE
 */
#include <pthread.h>
#include <unistd.h>

#include "../lib/pair.h"

#define DEPTH	4096
#define ROUNDS	20

static unsigned char memory[64];
static struct ibv_mr *mr;
static struct ibv_cq *cq;
static struct ibv_qp *near, *far;

static void connect_pair(void)
{
	cq = ibv_create_cq(ctx, 2 * DEPTH, NULL, NULL, 0);
	EXPECT(cq);
	near = make_qp(cq, DEPTH);
	far = make_qp(cq, 16);
	EXPECT(near && far);
	EXPECT(!connect_qp(near, far->qp_num));
	EXPECT(!connect_qp(far, near->qp_num));
}

/* Numbered writes, as many as have room. */
static void *post_all(void *arg)
{
	uint64_t *posted = arg;
	struct ibv_sge sge = { (uintptr_t)memory, 8, mr->lkey };
	struct ibv_send_wr wr = {
		.sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_RDMA_WRITE,
		.wr.rdma = { (uintptr_t)memory + 8, mr->rkey },
	}, *bad;
	int i;

	for (i = 0; i < DEPTH; i++) {
		wr.wr_id = *posted;
		EXPECT(!ibv_post_send(near, &wr, &bad));
		++*posted;
	}
	return NULL;
}

static void poll_all(uint64_t *polled, uint64_t posted)
{
	double end = now() + 60 * slow();
	struct ibv_wc wc;
	int n;

	while (*polled != posted && now() < end) {
		n = ibv_poll_cq(cq, 1, &wc);
		EXPECT(n >= 0);
		if (!n)
			continue;
		EXPECT(wc.status == IBV_WC_SUCCESS && wc.wr_id == *polled);
		++*polled;
	}
	EXPECT(*polled == posted);
}

/* None is lost, none comes twice, and they come in order. */
static void under_traffic(void)
{
	uint64_t posted = 0, polled = 0;
	pthread_t thread;
	int i, n;

	connect_pair();
	for (i = 0; i < ROUNDS; i++) {
		EXPECT(!pthread_create(&thread, NULL, post_all, &posted));
		for (n = 0; n < 8; n++)
			EXPECT(!ibv_resize_cq(cq, (n % 2 ? 2 : 4) * DEPTH));
		EXPECT(!pthread_join(thread, NULL));
		poll_all(&polled, posted);
	}
}

/* A write completes, and raises the event that was asked for. */
static void event_comes(struct ibv_comp_channel *channel)
{
	struct ibv_sge sge = { (uintptr_t)memory, 8, mr->lkey };
	struct ibv_send_wr wr = {
		.opcode = IBV_WR_RDMA_WRITE,
		.wr.rdma = { (uintptr_t)memory + 8, mr->rkey },
	};
	struct ibv_cq *raised;
	void *cookie;

	EXPECT(post_wait(near, cq, wr, sge) == IBV_WC_SUCCESS);
	EXPECT(!ibv_get_cq_event(channel, &raised, &cookie) && raised == cq);
	ibv_ack_cq_events(cq, 1);
}

/* Asked for before the ring was replaced, or after it. */
static void event_asked_for_before(void)
{
	struct ibv_comp_channel *channel = ibv_create_comp_channel(ctx);

	EXPECT(channel);
	cq = ibv_create_cq(ctx, 16, NULL, channel, 0);
	EXPECT(cq);
	near = make_qp(cq, 16);
	EXPECT(near && !connect_qp(near, near->qp_num));

	alarm(20 * slow());
	EXPECT(!ibv_req_notify_cq(cq, 0));
	EXPECT(!ibv_resize_cq(cq, 100));
	event_comes(channel);
	EXPECT(!ibv_resize_cq(cq, 16));
	EXPECT(!ibv_req_notify_cq(cq, 0));
	event_comes(channel);
}

static const struct test_case cases[] = {
	CASE(under_traffic), CASE(event_asked_for_before),
	{ }
};

int main(int argc, char **argv)
{
	if (argc != 4)
		return 2;
	open_device(argv[1], argv[2]);
	mr = ibv_reg_mr(pd, memory, sizeof(memory), RIGHTS);
	EXPECT(mr);
	return run_case(cases, argv[3]);
}
