// SPDX-License-Identifier: GPL-2.0
/*
 * States and attributes that change in the middle of traffic, as the kernel's
 * modify.c has it: to SQD and back, with other attributes, and connections
 * that end and are made again, with other PSNs and another path MTU.
 */
#include "aside.h"
#include "modify.h"
#include "receiver.h"
#include "sender.h"

#define TIMEOUT_NS		1000000
/* Packets get through as soon as no more repetitions than three are left. */
#define LEAST_RETRIES		4
#define SOON_NS			100000
/* Whoever is modified for ever never gives up. */
#define STOPS			20

static u64 soon(struct sim_world *world)
{
	return world->now_ns + rnd_below(&world->rnd, SOON_NS);
}

static bool all_is_done(const struct sim_world *world)
{
	u32 wrs = world->shape->wrs;

	return world->side[0].completed == wrs &&
	       world->side[1].completed == wrs;
}

/*
 * What the requests of a connection bring about.
 */

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

/**
 * plan_atomics - what the atomics that are left must find
 * @side: that posts them
 */
void plan_atomics(struct sim_side *side)
{
	u64 counter = side->peer->counter;
	u32 i;

	for (i = side->first_wr; i < side->world->shape->wrs; i++) {
		struct sim_wr *wr = &side->wrs[i];

		if (frdma_wr(wr->opcode)->kind == FRDMA_KIND_ATOMIC)
			counter = model_atomic(wr, counter);
	}
}

static u64 effect_of_atomic(const struct sim_wr *wr, u64 counter)
{
	if (wr->opcode == IB_UVERBS_WR_ATOMIC_FETCH_AND_ADD)
		return counter + wr->seed;
	return counter == wr->seed ? wr->off : counter;
}

/**
 * check_effects - the peer's memory is what the requests that it has executed
 *		   have made of it, and no other has changed it
 * @side: that posted them
 */
void check_effects(const struct sim_side *side)
{
	const struct sim_side *peer = side->peer;
	u64 counter = peer->counter_before;
	u8 mem[SIM_MEM];
	u32 i, k;

	memcpy(mem, peer->mem_before, sizeof(mem));
	for (i = side->first_wr; i < side->posted; i++) {
		const struct sim_wr *wr = &side->wrs[i];
		s64 pkts = min(wr->abs_end, peer->abs_epsn) - wr->abs_begin;

		if (pkts <= 0)
			continue;
		switch (frdma_wr(wr->opcode)->kind) {
		case FRDMA_KIND_WRITE:
		case FRDMA_KIND_ATOMIC_WRITE:
			for (k = 0; k < min_t(s64, wr->len,
					      pkts * side->world->mtu); k++)
				mem[wr->off + k] = sim_payload(wr, k);
			break;
		case FRDMA_KIND_ATOMIC:
			counter = effect_of_atomic(wr, counter);
			break;
		}
	}
	SIM_CHECK(side->world, !memcmp(mem, peer->mem, SIM_MEM),
		  "what was written last is not what is there");
	SIM_CHECK(side->world, counter == peer->counter, "0x%llx, not 0x%llx",
		  peer->counter, counter);
}

/*
 * Connections.
 */

/* As the kernel's apply(). */
static void set_limits(struct sim_side *side, u64 timeout_ns, u32 retries)
{
	struct frdma_retry *rt = &side->req.retry;

	side->retries = retries;
	side->tries = 0;
	rt->timeout_ns = timeout_ns;
	rt->retry_cnt = retries;
	rt->rnr_retry = FRDMA_RNR_RETRY_FOREVER;
	frdma_retry_refill(rt);
}

/* Room for as many READs and atomics as the peer may have out. */
static void make_room(struct sim_side *side, u32 nr)
{
	struct frdma_resp_res *res = side->res[side->resp.res == side->res[0]];

	memset(res, 0, nr * sizeof(*res));
	frdma_resp_resize(&side->resp, res, nr);
}

/* RESET to RTR: it takes what comes. */
static void get_ready(struct sim_side *side)
{
	struct sim_world *world = side->world;

	side->resp.mtu = world->mtu;
	make_room(side, side->peer->rd_max);
	frdma_resp_init(&side->resp, world->psn[!side->id]);
	side->recvs = world->shape->scarce_recvs ? 0 : world->shape->wrs;
	side->posted_recvs = 0;
	side->next_recv_ns = world->now_ns;
	side->state = SIM_RTR;
}

/* RTR to RTS. */
static void begin_to_send(struct sim_side *side)
{
	struct sim_world *world = side->world;

	side->req.mtu = world->mtu;
	side->req.rd_max = side->rd_max;
	side->rd_bound = side->rd_max;
	set_limits(side, TIMEOUT_NS, SIM_RETRIES);
	frdma_req_init(&side->req, world->psn[side->id]);
	frdma_cc_init(&side->req.cc, world->shape->window);
	side->next_post_ns = world->now_ns;
	side->state = SIM_RTS;
}

static void forget_connection(struct sim_side *side)
{
	memcpy(side->mem_before, side->mem, sizeof(side->mem));
	side->counter_before = side->counter;
	side->first_wr = side->posted;
	side->received = 0;
	side->messages = 0;
	side->abs_una = 0;
	side->abs_fetch = 0;
	side->abs_epsn = 0;
	side->abs_sent = 0;
	side->reads = (struct sim_reads) { .round = side->req.resend.round };
	side->abs_put_off = 0;
	side->abs_asked = 0;
	side->refused = false;
	aside_forget(&side->kept);
	aside_forget(&side->ahead);
	memset(side->sum, 0, sizeof(side->sum));
}

/*
 * Both have forgotten it, and agree upon another one. As in the kernel, their
 * queue pairs go to RESET in between, which forgets what was set.
 */
static void agree(struct sim_world *world)
{
	static const u32 mtus[] = { SIM_MTU, 2 * SIM_MTU, SIM_MTU_MAX };
	struct rnd *rnd = &world->rnd;
	u32 i;

	check_effects(&world->side[0]);
	check_effects(&world->side[1]);
	world->life++;
	world->mtu = mtus[rnd_below(rnd, ARRAY_SIZE(mtus))];
	for (i = 0; i < 2; i++) {
		struct sim_side *side = &world->side[i];

		forget_connection(side);
		frdma_req_init(&side->req, 0);
		frdma_resp_init(&side->resp, 0);
		world->psn[i] = rnd_u64(rnd) & FRDMA_PSN_MASK;
		side->rd_max = 1 + rnd_below(rnd, SIM_RES_MAX);
		side->next_modify_ns = soon(world);
	}
	plan_atomics(&world->side[0]);
	plan_atomics(&world->side[1]);
}

/*
 * SQD.
 */

static bool stops_again(const struct sim_side *side)
{
	return side->world->shape->drains && side->stops < STOPS &&
	       !all_is_done(side->world);
}

static void stop(struct sim_side *side)
{
	u32 i;

	side->stops++;
	side->state = SIM_SQD;
	side->abs_begun = side->abs_sent;
	for (i = side->first_wr; i < side->posted; i++) {
		const struct sim_wr *wr = &side->wrs[i];

		if (wr->abs_begin < side->abs_sent)
			side->abs_begun = wr->abs_end;
	}
}

static void go_on(struct sim_side *side)
{
	side->drained = false;
	if (!side->req.rd_max) {
		side->rd_max = 1;
		side->req.rd_max = 1;
	}
	side->state = SIM_RTS;
}

/*
 * More READs at any time, and the peer makes room for them first; fewer, too,
 * but the peer keeps its room until all is answered.
 */
static void change_attributes(struct sim_side *side)
{
	struct rnd *rnd = &side->world->rnd;
	u32 rd_max = rnd_below(rnd, SIM_RES_MAX + 1);
	struct sim_side *peer = side->peer;

	set_limits(side, TIMEOUT_NS / 2 << rnd_below(rnd, 3), LEAST_RETRIES +
		   rnd_below(rnd, SIM_RETRIES - LEAST_RETRIES + 1));
	side->rd_max = max(rd_max, 1U);
	side->req.rd_max = rd_max;
	side->rd_bound = max(side->rd_bound, side->rd_max);
	if (side->drained || side->rd_max > peer->resp.nr_res)
		make_room(peer, side->rd_max);
}

static void modify_connected(struct sim_side *side)
{
	bool both = side_can_send(side->peer);
	struct rnd *rnd = &side->world->rnd;

	if (side->state == SIM_RTS && both && stops_again(side))
		stop(side);
	else if (side->state == SIM_SQD && both && rnd_below(rnd, 2))
		change_attributes(side);
	else if (side->state == SIM_SQD && rnd_below(rnd, 2))
		go_on(side);
	sender_run(side);
}

/**
 * modify_side - a state or attributes change
 * @side: whose
 */
void modify_side(struct sim_side *side)
{
	struct sim_world *world = side->world;

	side->next_modify_ns = soon(world);
	switch (side->state) {
	case SIM_ERR:
		get_ready(side);
		break;
	case SIM_RTR:
		begin_to_send(side);
		break;
	default:
		modify_connected(side);
		break;
	}
	if (side_is_broken(side) ||
	    (side->state == SIM_RTS && !stops_again(side)))
		side->next_modify_ns = U64_MAX;
}

/**
 * modify_world - a connection ends, first at one side, then at the other
 * @world: where
 */
void modify_world(struct sim_world *world)
{
	struct sim_side *side = &world->side[rnd_below(&world->rnd, 2)];

	world->next_reset_ns = soon(world);
	if (side_is_broken(side))
		side = side->peer;
	if (!side_is_broken(side))
		side_break(side);
	if (!side_is_broken(side->peer))
		return;
	agree(world);
	world->next_reset_ns = all_is_done(world) ? U64_MAX :
		world->now_ns + 3 * SOON_NS +
		rnd_below(&world->rnd, 10 * SOON_NS);
}

/**
 * modify_begin - the first connection
 * @world: of which each side is set
 */
void modify_begin(struct sim_world *world)
{
	const struct sim_shape *shape = world->shape;
	struct sim_side *side;

	for (side = world->side; side < world->side + 2; side++) {
		get_ready(side);
		begin_to_send(side);
		side->next_modify_ns = shape->drains ? soon(world) : U64_MAX;
	}
	world->next_reset_ns = shape->resets ? soon(world) : U64_MAX;
}
