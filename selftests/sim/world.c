// SPDX-License-Identifier: GPL-2.0
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include "aside.h"
#include "modify.h"
#include "reads.h"
#include "receiver.h"
#include "sender.h"
#include "world.h"

#define MAX_NS		(20 * 1000000000ULL)

void sim_fail(struct sim_world *world, const char *fmt, ...)
{
	va_list args;

	if (world->failed)
		return;
	world->failed = true;
	va_start(args, fmt);
	vsnprintf(world->what, sizeof(world->what), fmt, args);
	va_end(args);
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
		IB_UVERBS_WR_LOCAL_INV, IB_UVERBS_WR_BIND_MW, FRDMA_WR_REG_MR,
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

static void plan_side(struct sim_side *side)
{
	u32 i;

	for (i = 0; i < side->world->shape->wrs; i++)
		plan_wr(side->world, &side->wrs[i]);
	plan_atomics(side);
}

/*
 * What must hold.
 */

/*
 * A piece of a READ may go beyond a window; and requests go as far as another one,
 * while what is behind one that is missing is kept, by the peer or here.
 */
static s32 most_ever(const struct frdma_req *rq)
{
	u32 piece = rq->read_grid - 1;
	u32 kept = min_t(u32, 2 * rq->cc.max + piece, FRDMA_KEPT_SPAN - 1);

	return max(rq->cc.max + piece, kept);
}

static void check_window(struct sim_side *side)
{
	const struct frdma_req *rq = &side->req;
	s32 sent = frdma_psn_diff(rq->psn, rq->una_psn);
	s32 ever = frdma_psn_diff(rq->end_psn, rq->una_psn);
	struct sim_world *world = side->world;

	SIM_CHECK(world, 0 <= sent && sent <= ever, "%d, %d", sent, ever);
	SIM_CHECK(world, ever <= most_ever(rq), "%d", ever);
	reads_check(side);
	SIM_CHECK(world, side_is_broken(side) || rq->wr_una == side->completed, "%u",
		  rq->wr_una);
	SIM_CHECK(world, rq->wr_next - rq->wr_una <=
			 rq->wr_prod - rq->wr_una, "%u", rq->wr_next);

	/* Nothing is acknowledged that the peer has not executed. */
	SIM_CHECK(world, side->abs_una <= side->peer->abs_epsn, "%lld > %lld",
		  side->abs_una, side->peer->abs_epsn);
	/* And nothing executed that was not sent. */
	SIM_CHECK(world, side->peer->abs_epsn <= side->abs_sent, "%lld > %lld",
		  side->peer->abs_epsn, side->abs_sent);
	SIM_CHECK(world, !side_can_send(side) ||
			 side->abs_una + ever == side->abs_sent,
		  "%lld + %d, not %lld", side->abs_una, ever, side->abs_sent);
}

/*
 * A lost packet is noticed: somebody is going to do something. And who waits
 * for nothing has no timer; nor does a drained one wait for an answer, whatever
 * its host refuses.
 */
static void check_alarm(struct sim_side *side)
{
	bool has_timer = sender_deadline_ns(side) != U64_MAX;

	if (frdma_req_in_flight(&side->req) && side->next_run_ns == U64_MAX)
		SIM_CHECK(side->world, has_timer, "in flight, and no deadline");
	if (!frdma_req_in_flight(&side->req) &&
	    !frdma_retry_paused(&side->req.retry) &&
	    frdma_req_judge(&side->req) != FRDMA_REQ_SEND)
		SIM_CHECK(side->world, !has_timer, "idle, and a deadline");
	if (side->drained)
		SIM_CHECK(side->world, side->req.retry.wait != FRDMA_WAIT_ACK,
			  "drained, and an answer is awaited");
}

/* Both ends of the window, and what lies between, after every event. */
static void check_side(struct sim_side *side)
{
	check_window(side);
	check_alarm(side);
}

static bool is_calm(const struct sim_shape *shape)
{
	const struct wire_mood *mood = &shape->mood;

	return !shape->scarce_recvs && !shape->no_room && !mood->drop &&
	       !mood->spoil && !mood->late && !shape->dead_ns &&
	       !shape->refuse && !shape->absent && !shape->resets;
}

static void check_end(struct sim_side *side)
{
	check_effects(side);
	if (is_calm(side->world->shape))
		SIM_CHECK(side->world, side->resent == side->asked,
			  "%u sent again, %u to ask", side->resent,
			  side->asked);
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

	ns = first_of(ns, world->next_reset_ns);
	for (side = world->side; side < world->side + 2; side++) {
		ns = first_of(ns, side->next_post_ns);
		ns = first_of(ns, side->next_recv_ns);
		ns = first_of(ns, side->next_ack_ns);
		ns = first_of(ns, side->next_pages_ns);
		ns = first_of(ns, side->next_read_ns);
		ns = first_of(ns, side->next_run_ns);
		ns = first_of(ns, side->next_modify_ns);
		ns = first_of(ns, sender_deadline_ns(side));
	}
	return ns;
}

static void wake_side(struct sim_side *side)
{
	struct sim_world *world = side->world;
	u64 now_ns = world->now_ns;
	u32 wrs = world->shape->wrs;

	if (side->next_modify_ns <= now_ns)
		modify_side(side);
	if (side->next_recv_ns <= now_ns) {
		receiver_post(side);
		side->next_recv_ns = side->posted_recvs == wrs ? U64_MAX :
			now_ns + rnd_below(&world->rnd, 100000);
	}
	if (side->next_post_ns <= now_ns) {
		sender_post(side);
		sender_run(side);
		side->next_post_ns = side->posted == wrs || side_is_broken(side) ?
			U64_MAX :
			now_ns + rnd_below(&world->rnd, 20000);
	}
	if (side->next_pages_ns <= now_ns)
		side_find_pages(side);
	if (side->next_read_ns <= now_ns)
		side_go_on_with_read(side);
	if (side->next_ack_ns <= now_ns)
		receiver_flush_ack(side);
	if (side->next_run_ns <= now_ns || sender_deadline_ns(side) <= now_ns)
		sender_run(side);
}

/* What arrives now at the same side comes as a train, or in several. */
static void deliver(struct sim_world *world)
{
	u32 i, nr = 0, most = 1 + rnd_below(&world->rnd, SIM_TRAIN);
	const struct wire *wire = &world->wire;
	struct wire_pkt *train[SIM_TRAIN];

	do {
		train[nr++] = wire_take(&world->wire);
	} while (nr < most && wire->first &&
		 wire->first->due_ns <= world->now_ns &&
		 wire->first->to == train[0]->to);
	side_take(&world->side[train[0]->to], train, nr);
	for (i = 0; i < nr; i++)
		free(train[i]);
}

static void step(struct sim_world *world)
{
	/* What waited for its turn may have been due before. */
	world->now_ns = max(world->now_ns, next_event_ns(world));
	if (world->wire.first && world->wire.first->due_ns <= world->now_ns) {
		deliver(world);
	} else if (world->next_reset_ns <= world->now_ns) {
		modify_world(world);
	} else {
		wake_side(&world->side[0]);
		wake_side(&world->side[1]);
	}
	check_side(&world->side[0]);
	check_side(&world->side[1]);
}

static bool is_done(const struct sim_world *world)
{
	const struct sim_side *side = world->side;
	u32 wrs = world->shape->wrs;
	bool stays = !world->shape->resets;	/* a broken one, broken */

	return (side[0].completed == wrs ||
		(stays && side_is_broken(&side[0]))) &&
	       (side[1].completed == wrs ||
		(stays && side_is_broken(&side[1])));
}

static void begin(struct sim_world *world, const struct sim_shape *shape,
		  struct rnd rnd)
{
	u32 i;

	*world = (struct sim_world) {
		.shape = shape, .rnd = rnd, .mtu = SIM_MTU,
	};
	world->wire.mood = shape->mood;
	world->wire.rnd = &world->rnd;

	/* Shortly before the numbers come round. */
	world->psn[0] = frdma_psn_add(0, -(s32)rnd_below(&world->rnd, 100));
	world->psn[1] = frdma_psn_add(0, -(s32)rnd_below(&world->rnd, 100));
	for (i = 0; i < 2; i++) {
		struct sim_side *side = &world->side[i];

		side->id = i;
		side->world = world;
		side->peer = &world->side[!i];
		side->rd_max = shape->rd_max;
		plan_side(side);
		side_init(side);
	}
	modify_begin(world);
}

/*
 * What is still under way arrives, and then nothing more happens, ever: no
 * packet, no timer.
 */
static void settle(struct sim_world *world)
{
	while (!world->failed && next_event_ns(world) != U64_MAX) {
		step(world);
		SIM_CHECK(world, world->now_ns < MAX_NS, "it does not settle");
	}
}

static void check_idle(struct sim_side *side)
{
	SIM_CHECK(side->world, !frdma_req_in_flight(&side->req), "in flight");
	SIM_CHECK(side->world,
		  frdma_req_judge(&side->req) == FRDMA_REQ_EMPTY, "to be sent");
	SIM_CHECK(side->world, side_is_broken(side) || !side->resp.ack_due,
		  "an ACK is due");
	SIM_CHECK(side->world, !side->resp.read.active, "a READ waits");
}

/**
 * sim_run - a whole life of a connection
 * @world: where
 * @shape: what is to be done, and what is in the way
 * @rnd: all that is random
 *
 * Return: true if all that must hold did; else @world->what says what not.
 */
bool sim_run(struct sim_world *world, const struct sim_shape *shape,
	     struct rnd rnd)
{
	u32 i;

	begin(world, shape, rnd);
	while (!world->failed && !is_done(world)) {
		step(world);
		SIM_CHECK(world, world->now_ns < MAX_NS, "%u and %u of %u done",
			  world->side[0].completed, world->side[1].completed,
			  shape->wrs);
	}
	settle(world);
	check_idle(&world->side[0]);
	check_idle(&world->side[1]);
	if (!side_is_broken(&world->side[0]) &&
	    !side_is_broken(&world->side[1])) {
		check_end(&world->side[0]);
		check_end(&world->side[1]);
	}
	for (i = 0; i < 2; i++) {
		aside_forget(&world->side[i].kept);
		aside_forget(&world->side[i].ahead);
	}
	wire_drain(&world->wire);
	return !world->failed;
}

/**
 * sim_choose - what may be chosen within what the PSNs allow
 * @shape: its windows are set
 * @rnd: dice
 *
 * With few numbers, what is in flight must stay below half of them.
 */
void sim_choose(struct sim_shape *shape, struct rnd *rnd)
{
	shape->transport = rnd_below(rnd, 4) ? FRDMA_RC : FRDMA_XRC;
	if (FRDMA_PSN_BITS == 3) {
		shape->window = 1 + rnd_below(rnd, 3);
		shape->read_grid = 1 + rnd_below(rnd, 4 - shape->window);
		shape->msg_pkts = 1 + rnd_below(rnd, 4);
	} else {
		shape->window = 1 + rnd_below(rnd, 32);
		shape->read_grid = 1 + rnd_below(rnd, 16);
		shape->msg_pkts = 1 + rnd_below(rnd, SIM_MSG_MAX / SIM_MTU);
	}
	shape->rd_max = 1 + rnd_below(rnd, SIM_RES_MAX);
}
