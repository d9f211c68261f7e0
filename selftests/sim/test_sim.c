// SPDX-License-Identifier: GPL-2.0
/*
 * Two engines and a wire between them. Every run is given by a seed; what
 * must hold is looked at after each event.
 *
 *	FRDMA_SIM_SEED=n	only that run of each test
 *	FRDMA_SIM_RUNS=n	so many runs of each test
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include "side.h"
#include "tap.h"

#define DEFAULT_RUNS	300
#define MAX_NS		(20 * 1000000000ULL)

void sim_fail(struct sim_world *world, const char *fmt, ...)
{
	char what[256];
	va_list args;

	if (world->failed)
		return;
	world->failed = true;
	va_start(args, fmt);
	vsnprintf(what, sizeof(what), fmt, args);
	va_end(args);
	tap_fail(__FILE__, __LINE__, "seed %llu, %llu ns: %s", world->seed,
		 world->now_ns, what);
}

/*
 * What is to be done.
 */

static u8 random_opcode(struct rnd *rnd)
{
	static const u8 opcodes[] = {
		IB_UVERBS_WR_SEND, IB_UVERBS_WR_SEND,
		IB_UVERBS_WR_SEND_WITH_IMM, IB_UVERBS_WR_SEND_WITH_INV,
		IB_UVERBS_WR_RDMA_WRITE, IB_UVERBS_WR_RDMA_WRITE,
		IB_UVERBS_WR_RDMA_WRITE_WITH_IMM,
		IB_UVERBS_WR_RDMA_READ, IB_UVERBS_WR_RDMA_READ,
		IB_UVERBS_WR_ATOMIC_CMP_AND_SWP,
		IB_UVERBS_WR_ATOMIC_FETCH_AND_ADD,
		FRDMA_WR_ATOMIC_WRITE, FRDMA_WR_FLUSH,
		IB_UVERBS_WR_LOCAL_INV, FRDMA_WR_REG_MR,
	};

	return opcodes[rnd_below(rnd, ARRAY_SIZE(opcodes))];
}

static u32 random_len(struct rnd *rnd, const struct sim_shape *shape)
{
	u32 max = shape->msg_pkts * SIM_MTU;

	/* Edges often, the rest sometimes. */
	switch (rnd_below(rnd, 6)) {
	case 0:
		return 0;
	case 1:
		return SIM_MTU;
	case 2:
		return max;
	default:
		return rnd_below(rnd, max + 1);
	}
}

static void plan_wr(struct sim_world *world, struct sim_wr *wr)
{
	struct rnd *rnd = &world->rnd;

	*wr = (struct sim_wr) {
		.opcode	= random_opcode(rnd),
		.flags	= rnd_below(rnd, 4) ? 0 : FRDMA_WQE_FENCE,
		.len	= random_len(rnd, world->shape),
		.off	= rnd_below(rnd, SIM_MEM - SIM_MSG_MAX),
		.ex	= rnd_u64(rnd),
		.seed	= rnd_u64(rnd),
	};
	switch (frdma_wr(wr->opcode)->kind) {
	case FRDMA_KIND_NONE:
	case FRDMA_KIND_FLUSH:
		wr->len = 0;
		break;
	case FRDMA_KIND_ATOMIC_WRITE:
		wr->off &= ~7U;
		fallthrough;
	case FRDMA_KIND_ATOMIC:
		wr->len = sizeof(u64);
		break;
	default:
		if (rnd_below(rnd, 2))
			wr->flags |= FRDMA_WQE_SOLICITED;
		break;
	}
}

/* Every other swap finds what it looks for. */
static u64 model_atomic(struct sim_wr *wr, u64 counter)
{
	wr->orig = counter;
	if (wr->opcode == IB_UVERBS_WR_ATOMIC_FETCH_AND_ADD)
		return counter + wr->seed;
	if (wr->seed & 1)
		wr->seed = counter;
	return counter == wr->seed ? wr->off : counter;
}

static void plan_side(struct sim_side *side)
{
	u64 counter = 0;
	u32 i;

	for (i = 0; i < SIM_WRS; i++) {
		struct sim_wr *wr = &side->wrs[i];

		plan_wr(side->world, wr);
		if (frdma_wr(wr->opcode)->kind == FRDMA_KIND_ATOMIC)
			counter = model_atomic(wr, counter);
	}
}

/*
 * What must hold.
 */

static void check_window(struct sim_side *side)
{
	const struct frdma_req *rq = &side->req;
	s32 sent = frdma_psn_diff(rq->psn, rq->una_psn);
	s32 ever = frdma_psn_diff(rq->end_psn, rq->una_psn);
	struct sim_world *world = side->world;

	SIM_CHECK(world, 0 <= sent && sent <= ever, "%d, %d", sent, ever);
	SIM_CHECK(world, ever < (s32)(rq->cc.max + rq->read_grid), "%d", ever);
	SIM_CHECK(world, rq->rd_out <= rq->rd_max, "%u", rq->rd_out);
	SIM_CHECK(world, rq->wr_una == side->completed, "%u", rq->wr_una);
	SIM_CHECK(world, rq->wr_next - rq->wr_una <=
			 rq->wr_prod - rq->wr_una, "%u", rq->wr_next);

	/* Nothing is acknowledged that the peer has not executed. */
	SIM_CHECK(world, side->abs_una <= side->peer->abs_epsn, "%lld > %lld",
		  side->abs_una, side->peer->abs_epsn);
	/* And nothing executed that was not sent. */
	SIM_CHECK(world, side->peer->abs_epsn <= side->abs_una + ever,
		  "%lld > %lld", side->peer->abs_epsn, side->abs_una + ever);
}

/* A lost packet is noticed: somebody is going to do something. */
static void check_alarm(struct sim_side *side)
{
	if (frdma_req_in_flight(&side->req) && side->next_run_ns == U64_MAX)
		SIM_CHECK(side->world, side_deadline_ns(side) != U64_MAX,
			  "in flight, and no deadline");
}

static bool is_calm(const struct sim_shape *shape)
{
	const struct wire_mood *mood = &shape->mood;

	return !shape->scarce_recvs && !shape->no_room && !mood->drop &&
	       !mood->spoil && !mood->late;
}

static void check_end(struct sim_side *side)
{
	const struct sim_side *peer = side->peer;
	u8 mem[SIM_MEM] = { };
	u64 counter = 0;
	u32 i, k;

	for (i = 0; i < SIM_WRS; i++) {
		struct sim_wr *wr = &side->wrs[i];

		switch (frdma_wr(wr->opcode)->kind) {
		case FRDMA_KIND_WRITE:
		case FRDMA_KIND_ATOMIC_WRITE:
			for (k = 0; k < wr->len; k++)
				mem[wr->off + k] = sim_payload(wr, k);
			break;
		case FRDMA_KIND_ATOMIC:
			counter = wr->opcode == IB_UVERBS_WR_ATOMIC_FETCH_AND_ADD ?
				  wr->orig + wr->seed :
				  wr->orig == wr->seed ? wr->off : wr->orig;
			break;
		}
	}
	SIM_CHECK(side->world, !memcmp(mem, peer->mem, SIM_MEM),
		  "what was written last is not what is there");
	if (is_calm(side->world->shape))
		SIM_CHECK(side->world, !side->resent, "%u sent again",
			  side->resent);
	SIM_CHECK(side->world, counter == peer->counter, "0x%llx, not 0x%llx",
		  peer->counter, counter);
}

/*
 * How it goes on.
 */

static u64 first_of(u64 a, u64 b)
{
	return a < b ? a : b;
}

static u64 next_event_ns(const struct sim_world *world)
{
	u64 ns = world->wire.first ? world->wire.first->due_ns : U64_MAX;
	const struct sim_side *side;

	for (side = world->side; side < world->side + 2; side++) {
		ns = first_of(ns, side->next_post_ns);
		ns = first_of(ns, side->next_recv_ns);
		ns = first_of(ns, side->next_ack_ns);
		ns = first_of(ns, side->next_run_ns);
		ns = first_of(ns, side_deadline_ns(side));
	}
	return ns;
}

static void wake_side(struct sim_side *side)
{
	struct sim_world *world = side->world;
	u64 now_ns = world->now_ns;

	if (side->next_recv_ns <= now_ns) {
		side_post_recv(side);
		side->next_recv_ns = side->posted_recvs == SIM_WRS ? U64_MAX :
			now_ns + rnd_below(&world->rnd, 100000);
	}
	if (side->next_post_ns <= now_ns) {
		side_post(side);
		side_run(side);
		side->next_post_ns = side->posted == SIM_WRS ? U64_MAX :
			now_ns + rnd_below(&world->rnd, 20000);
	}
	if (side->next_ack_ns <= now_ns)
		side_flush_ack(side);
	if (side->next_run_ns <= now_ns || side_deadline_ns(side) <= now_ns)
		side_run(side);
}

static void step(struct sim_world *world)
{
	struct wire_pkt *pkt;

	world->now_ns = next_event_ns(world);
	if (world->wire.first && world->wire.first->due_ns <= world->now_ns) {
		pkt = wire_take(&world->wire);
		side_take(&world->side[pkt->to], pkt);
		free(pkt);
	} else {
		wake_side(&world->side[0]);
		wake_side(&world->side[1]);
	}
	check_window(&world->side[0]);
	check_window(&world->side[1]);
	check_alarm(&world->side[0]);
	check_alarm(&world->side[1]);
}

static bool is_done(const struct sim_world *world)
{
	return world->side[0].completed == SIM_WRS &&
	       world->side[1].completed == SIM_WRS;
}

static void begin(struct sim_world *world, const struct sim_shape *shape,
		  u64 seed)
{
	u32 psn[2], i;

	*world = (struct sim_world) { .shape = shape, .seed = seed };
	world->rnd.state = seed * 0x9e3779b97f4a7c15ULL + 1;
	world->wire.mood = shape->mood;
	world->wire.rnd = &world->rnd;

	/* Shortly before the numbers come round. */
	psn[0] = frdma_psn_add(0, -(s32)rnd_below(&world->rnd, 100));
	psn[1] = frdma_psn_add(0, -(s32)rnd_below(&world->rnd, 100));
	for (i = 0; i < 2; i++) {
		struct sim_side *side = &world->side[i];

		side->id = i;
		side->world = world;
		side->peer = &world->side[!i];
		side->next_ack_ns = U64_MAX;
		side->next_run_ns = U64_MAX;
		side->recvs = shape->scarce_recvs ? 0 : SIM_WRS;
		plan_side(side);
		side_init(side, psn[i], psn[!i]);
	}
}

static void run_seed(const struct sim_shape *shape, u64 seed)
{
	static struct sim_world world;

	begin(&world, shape, seed);
	while (!world.failed && !is_done(&world)) {
		step(&world);
		SIM_CHECK(&world, world.now_ns < MAX_NS, "%u and %u of %u done",
			  world.side[0].completed, world.side[1].completed,
			  SIM_WRS);
	}
	if (!world.failed) {
		check_end(&world.side[0]);
		check_end(&world.side[1]);
	}
	wire_drain(&world.wire);
}

/* With few numbers, what is in flight must stay below half of them. */
static void choose_window(struct sim_shape *shape, u64 seed)
{
	struct rnd rnd = { seed + 1 };

	if (FRDMA_PSN_BITS == 3) {
		shape->window = 1 + rnd_below(&rnd, 3);
		shape->read_grid = 1 + rnd_below(&rnd, 4 - shape->window);
		shape->msg_pkts = 1 + rnd_below(&rnd, 4);
	} else {
		shape->window = 1 + rnd_below(&rnd, 32);
		shape->read_grid = 1 + rnd_below(&rnd, 16);
		shape->msg_pkts = 1 + rnd_below(&rnd, SIM_MSG_MAX / SIM_MTU);
	}
	shape->rd_max = 1 + rnd_below(&rnd, SIM_RES_MAX);
}

static u64 env_u64(const char *name, u64 otherwise)
{
	const char *value = getenv(name);

	return value && *value ? strtoull(value, NULL, 0) : otherwise;
}

static void run_all(struct sim_shape shape)
{
	u64 only = env_u64("FRDMA_SIM_SEED", 0);
	u64 seed = only ? only : 1;
	u64 runs = only ? 1 : env_u64("FRDMA_SIM_RUNS", DEFAULT_RUNS);
	u64 end = seed + runs;

	shape.mood.delay_ns = 2000;
	for (; seed < end; seed++) {
		choose_window(&shape, seed);
		run_seed(&shape, seed);
	}
}

TEST(sim__nothing_goes_wrong)
{
	run_all((struct sim_shape) { });
}

TEST(sim__loss)
{
	run_all((struct sim_shape) { .mood = { .drop = 100 } });
}

TEST(sim__heavy_loss)
{
	run_all((struct sim_shape) { .mood = { .drop = 400 } });
}

TEST(sim__copies)
{
	run_all((struct sim_shape) { .mood = { .copy = 300 } });
}

TEST(sim__reordering)
{
	run_all((struct sim_shape) {
		.mood = { .late = 200, .late_ns = 30000 },
	});
}

TEST(sim__late_packets_beyond_the_timeout)
{
	run_all((struct sim_shape) {
		.mood = { .late = 100, .late_ns = 3000000 },
	});
}

TEST(sim__damage)
{
	run_all((struct sim_shape) { .mood = { .spoil = 200 } });
}

TEST(sim__receiver_not_ready)
{
	run_all((struct sim_shape) { .scarce_recvs = true });
}

TEST(sim__host_without_room)
{
	run_all((struct sim_shape) { .no_room = 200 });
}

TEST(sim__everything_at_once)
{
	run_all((struct sim_shape) {
		.mood = {
			.drop = 100, .copy = 100, .spoil = 50,
			.late = 200, .late_ns = 50000,
		},
		.scarce_recvs = true,
		.no_room = 20,
	});
}
