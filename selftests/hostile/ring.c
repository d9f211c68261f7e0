// SPDX-License-Identifier: GPL-2.0
/*
 * A process that writes nonsense into its rings. ring.sh builds and runs it:
 *
 *	ring DEVICE GID_INDEX CASE [SECONDS [SEED]]
 */
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../kernel/uapi/frdma-abi.h"
#include "../lib/doorbell.h"
#include "../lib/pair.h"
#include "../lib/maps.h"

#define MEMORY		(256 << 10)

static unsigned char *memory;
static struct ibv_mr *mr;
static volatile bool stopped;
static int seconds = 5;
static unsigned int seed = 1;

/* What the provider does after posting, whatever the ring says. */
static void ring_doorbell(struct ibv_qp *qp)
{
	EXPECT(!ring_doorbell_of(qp->context->cmd_fd, qp->handle));
}

static int state_of(struct ibv_qp *qp)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	EXPECT(!ibv_query_qp(qp, &attr, IBV_QP_STATE, &init));
	return attr.qp_state;
}

/* Counts events of this kind until it is quiet. */
static int async_events(enum ibv_event_type type)
{
	struct pollfd fd = { .fd = ctx->async_fd, .events = POLLIN };
	struct ibv_async_event event;
	int n = 0;

	while (poll(&fd, 1, 500)) {
		EXPECT(!ibv_get_async_event(ctx, &event));
		n += event.event_type == type;
		ibv_ack_async_event(&event);
	}
	return n;
}

static struct frdma_ring_head *head_of(int map)
{
	return (void *)maps[map].at;
}

static struct frdma_send_wqe *send_slot(int map, uint32_t stride, int i)
{
	return (void *)(maps[map].at + FRDMA_RING_SLOTS + i * stride);
}

static uint32_t any(unsigned int *state)
{
	return 2u * rand_r(state) ^ rand_r(state);
}

static uint32_t some(unsigned int *state, uint32_t n)
{
	return any(state) % n;
}

/* A work request that is right but for what chance makes wrong. */
static void write_wqe(char *at, size_t room, unsigned int *state)
{
	struct frdma_send_wqe wqe = {
		.opcode = some(state, 10),
		.flags = some(state, 8) ? 1u << some(state, 4) :
					  some(state, 256),
		.num_sge = some(state, 8) ? 1 + some(state, 2) :
					    some(state, 65536),
		.inline_len = some(state, 4) ? some(state, 65) : any(state),
		.ex = some(state, 2) ? mr->rkey : any(state),
		.rkey = some(state, 8) ? mr->rkey : any(state),
		.remote_addr = (uintptr_t)memory + some(state, MEMORY),
	};
	struct frdma_sge sge[2];
	int i;

	for (i = 0; i < 2; i++)
		sge[i] = (struct frdma_sge) {
			.addr = (uintptr_t)memory + some(state, MEMORY),
			.length = some(state, 8) ? some(state, MEMORY) :
						   any(state),
			.lkey = some(state, 8) ? mr->lkey : any(state),
		};
	if (room < sizeof(wqe) + sizeof(sge))
		return;
	memcpy(at, &wqe, sizeof(wqe));
	memcpy(at + sizeof(wqe), sge, sizeof(sge));
}

static void *scribble(void *arg)
{
	unsigned int state = (uintptr_t)arg;

	while (!stopped) {
		struct map *map = &maps[some(&state, nr_maps)];
		volatile struct frdma_ring_head *head = (void *)map->at;
		uint32_t off = some(&state, map->len);

		switch (some(&state, 32)) {
		case 0:
			head->prod = any(&state);
			break;
		case 1:
			head->cons = any(&state);
			break;
		case 2:
			head->prod += some(&state, 9) - 4;
			break;
		case 3:
			head->cons += some(&state, 9) - 4;
			break;
		case 4:
			head->flags = any(&state);
			break;
		case 5:
			head->armed = any(&state);
			break;
		case 6:
			memset(map->at + off, any(&state),
			       some(&state, map->len - off));
			break;
		case 7 ... 13:
			head->prod++;
			break;
		default:
			off &= ~15;
			write_wqe(map->at + off, map->len - off, &state);
			break;
		}
		if (!some(&state, 16))
			usleep(some(&state, 50));
	}
	return NULL;
}

/*
 * Up again, unless what the rings say by then has broken it on the way: the
 * peer's nonsense comes in from RTR on, and a broken queue pair goes nowhere.
 */
static void bring_up(struct ibv_qp *qp, struct ibv_qp *peer)
{
	EXPECT(!connect_qp(qp, peer->qp_num) ||
	       (errno == EINVAL && state_of(qp) == IBV_QPS_ERR));
}

/* One life of a pair whose rings are written over while it works. */
static void random_life(unsigned int number)
{
	struct pair p = make_pair(16);
	pthread_t threads[2];
	struct ibv_wc wc[8];
	double end;
	uintptr_t i;

	find_maps();
	EXPECT(nr_maps == 6);
	stopped = false;
	for (i = 0; i < 2; i++)
		EXPECT(!pthread_create(&threads[i], NULL, scribble,
				       (void *)(2 * number + i)));

	for (end = now() + 0.2; now() < end;) {
		ring_doorbell(p.near);
		ring_doorbell(p.far);
		ibv_poll_cq(p.near_cq, 8, wc);
		ibv_poll_cq(p.far_cq, 8, wc);
		if (state_of(p.near) == IBV_QPS_ERR ||
		    state_of(p.far) == IBV_QPS_ERR) {
			struct ibv_qp_attr reset = { };

			EXPECT(!ibv_modify_qp(p.near, &reset, IBV_QP_STATE));
			EXPECT(!ibv_modify_qp(p.far, &reset, IBV_QP_STATE));
			bring_up(p.near, p.far);
			bring_up(p.far, p.near);
		}
	}

	stopped = true;
	for (i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	unmake_pair(&p);
}

static void random_nonsense(void)
{
	double end = now() + seconds;
	unsigned int n;

	for (n = seed; now() < end; n++)
		random_life(n);
	printf("%u queue pairs broken\n", 2 * (n - seed));
}

/* A queue pair whose peer does not answer; its maps: CQ, SQ, RQ. */
static struct ibv_qp *make_lonely(struct ibv_cq **cq)
{
	struct ibv_qp *qp;

	*cq = ibv_create_cq(ctx, 16, NULL, NULL, 0);
	EXPECT(*cq);
	qp = make_qp(*cq, 4);
	EXPECT(qp && !connect_qp(qp, 0xfffffe));
	find_maps();
	EXPECT(nr_maps == 3);
	return qp;
}

static void ends_in_error(struct ibv_qp *qp)
{
	ring_doorbell(qp);
	EXPECT(async_events(IBV_EVENT_QP_FATAL) == 1);
	EXPECT(state_of(qp) == IBV_QPS_ERR);
}

/*
 * The index goes back over a message that is being sent, and its slot is made
 * a short inline one: what lies behind that must not be sent in its place.
 */
static void send_index_goes_back(void)
{
	struct ibv_cq *cq;
	struct ibv_qp *qp = make_lonely(&cq);
	struct ibv_sge sge = { (uintptr_t)memory, MEMORY, mr->lkey };
	struct ibv_send_wr *bad, wr = {
		.sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_RDMA_WRITE,
		.wr.rdma = { (uintptr_t)memory, mr->rkey },
	};
	int i;

	EXPECT(!ibv_post_send(qp, &wr, &bad));
	EXPECT(!ibv_post_send(qp, &wr, &bad));
	EXPECT(head_of(1)->prod == 2);
	for (i = 0; i < 4; i++)
		*send_slot(1, (maps[1].len - FRDMA_RING_SLOTS) / 4 & ~63, i) =
			(struct frdma_send_wqe) {
				.flags = IBV_SEND_INLINE, .inline_len = 8,
			};
	head_of(1)->prod = 1;
	ends_in_error(qp);
	EXPECT(!ibv_destroy_qp(qp) && !ibv_destroy_cq(cq));
}

static void send_index_jumps(void)
{
	struct ibv_cq *cq;
	struct ibv_qp *qp = make_lonely(&cq);

	head_of(1)->prod = 5;
	ends_in_error(qp);
	EXPECT(!ibv_destroy_qp(qp) && !ibv_destroy_cq(cq));
}

/* Pages stay with who has them mapped, here a child with half a ring. */
static void mapping_outlives_queue(void)
{
	struct ibv_cq *cq;
	struct ibv_qp *qp = make_lonely(&cq);
	int said[2], wait_status;
	char *kept = maps[2].at;
	pid_t child;
	char byte;

	EXPECT(!pipe(said));
	child = fork();
	EXPECT(child >= 0);
	if (!child) {
		if (maps[1].len > 4096)
			munmap(maps[1].at, 4096);
		EXPECT(read(said[0], &byte, 1) == 1);
		memset(kept, 0x5a, maps[2].len);
		_exit(0);
	}
	EXPECT(!ibv_destroy_qp(qp) && !ibv_destroy_cq(cq));
	EXPECT(write(said[1], "", 1) == 1);
	EXPECT(waitpid(child, &wait_status, 0) == child);
	EXPECT(!wait_status);
}

static const struct test_case cases[] = {
	CASE(random_nonsense),
	CASE(send_index_goes_back),
	CASE(send_index_jumps),
	CASE(mapping_outlives_queue),
	{ }
};

int main(int argc, char **argv)
{
	if (argc < 4)
		return 2;
	open_device(argv[1], argv[2]);
	if (argc > 4)
		seconds = atoi(argv[4]);
	if (argc > 5)
		seed = atoi(argv[5]);
	memory = aligned_alloc(4096, MEMORY);
	mr = ibv_reg_mr(pd, memory, MEMORY, RIGHTS);
	EXPECT(mr);
	return run_case(cases, argv[3]);
}
