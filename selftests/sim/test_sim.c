// SPDX-License-Identifier: GPL-2.0
/*
 * Two engines and a wire between them. Every run is given by a seed; what
 * must hold is looked at after each event.
 *
 *	FRDMA_SIM_SEED=n	only that run of each test
 *	FRDMA_SIM_RUNS=n	so many runs of each test
 *	FRDMA_SIM_FIRST=n	the first of them
 */
#include "env_u64.h"
#include "tap.h"
#include "world.h"

#define DEFAULT_RUNS	200

/**
 * struct seen - what must have happened somewhere in many runs
 * @in_runs: packets that were taken several at once
 * @waited: requests that were kept until their turn came
 * @aside: answers, likewise
 * @holes: so often answers were asked for alone
 * @paced: packets that waited for their time
 * @yielded: requests that came before a READ response that waited
 * @given_up: READs whose memory went while their responses waited
 */
struct seen {
	u64 in_runs;
	u64 waited;
	u64 aside;
	u64 holes;
	u64 paced;
	u64 yielded;
	u64 given_up;
};

static void run_seed(struct sim_shape shape, u64 seed, struct seen *seen)
{
	const struct sim_side *side;

	struct rnd rnd = { .state = seed + 1 };
	static struct sim_world world;

	sim_choose(&shape, &rnd);
	rnd.state = seed * 0x9e3779b97f4a7c15ULL + 1;
	if (!sim_run(&world, &shape, rnd))
		tap_fail(__FILE__, __LINE__, "seed %llu, %llu ns: %s", seed,
			 world.now_ns, world.what);
	for (side = world.side; side < world.side + 2; side++) {
		seen->in_runs += side->runs;
		seen->waited += side->waited;
		seen->aside += side->aside;
		seen->holes += side->holes;
		seen->paced += side->paced;
		seen->yielded += side->yielded;
		seen->given_up += side->given_up;
	}
}

static void run_all(struct sim_shape shape)
{
	u64 only = env_u64("FRDMA_SIM_SEED", 0);
	u64 seed = only ? only : env_u64("FRDMA_SIM_FIRST", 1);
	u64 runs = only ? 1 : env_u64("FRDMA_SIM_RUNS", DEFAULT_RUNS);
	u64 end = seed + runs;
	bool many = runs >= DEFAULT_RUNS;
	struct seen seen = { };

	shape.wrs = SIM_WRS;
	shape.mood.delay_ns = 2000;
	for (; seed < end; seed++)
		run_seed(shape, seed, &seen);
	/* A few runs need not meet each rare event. */
	EXPECT(!many || seen.in_runs > 0);
	EXPECT(!many || !shape.absent || seen.yielded > 0);
	EXPECT(!many || !shape.absent || !shape.refuse || seen.given_up > 0);
	if (!many || !shape.mood.drop || FRDMA_PSN_BITS == 3)
		return;
	EXPECT(seen.waited > 0);
	EXPECT(seen.aside > 0);
	EXPECT(seen.holes > 0);
	EXPECT(seen.paced > 0);
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

TEST(sim__receiver_not_ready_while_packets_are_lost)
{
	run_all((struct sim_shape) {
		.mood = { .drop = 100 }, .scarce_recvs = true,
	});
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

/* Everything that was under way fails, as late as it may and no later. */
TEST(sim__wire_goes_dead)
{
	run_all((struct sim_shape) { .dead_ns = 300000 });
}

TEST(sim__wire_goes_dead_after_loss)
{
	run_all((struct sim_shape) {
		.mood = { .drop = 200, .copy = 100 }, .dead_ns = 300000,
	});
}

TEST(sim__memory_goes)
{
	run_all((struct sim_shape) { .refuse = 20 });
}

TEST(sim__memory_goes_while_everything_goes_wrong)
{
	run_all((struct sim_shape) {
		.mood = {
			.drop = 100, .copy = 100, .spoil = 50,
			.late = 200, .late_ns = 50000,
		},
		.scarce_recvs = true,
		.no_room = 20,
		.refuse = 20,
	});
}

/* READs of what is not there yet, sometimes longer than their askers have retries. */
TEST(sim__memory_is_late)
{
	run_all((struct sim_shape) { .absent = 200 });
}

TEST(sim__memory_is_late_while_packets_are_lost)
{
	run_all((struct sim_shape) {
		.mood = { .drop = 100 }, .absent = 100,
	});
}

/* Which some of it never comes to be. */
TEST(sim__memory_is_late_or_goes)
{
	run_all((struct sim_shape) {
		.mood = { .drop = 100 }, .refuse = 1, .absent = 100,
		.resets = true,
	});
}

TEST(sim__memory_is_late_while_everything_goes_wrong)
{
	run_all((struct sim_shape) {
		.mood = {
			.drop = 100, .copy = 100, .spoil = 50,
			.late = 200, .late_ns = 50000,
		},
		.scarce_recvs = true,
		.no_room = 20,
		.absent = 100,
		.drains = true,
		.resets = true,
	});
}

/* An earlier part would never be answered, and the connection end. */
TEST(sim__reads_are_forgotten)
{
	run_all((struct sim_shape) {
		.mood = { .drop = 100 }, .forgets = true,
	});
}

TEST(sim__reads_are_forgotten_while_everything_goes_wrong)
{
	run_all((struct sim_shape) {
		.mood = {
			.drop = 100, .copy = 100, .spoil = 50,
			.late = 200, .late_ns = 50000,
		},
		.scarce_recvs = true,
		.no_room = 20,
		.forgets = true,
	});
}

TEST(sim__modified)
{
	run_all((struct sim_shape) { .drains = true });
}

TEST(sim__modified_on_a_host_without_room)
{
	run_all((struct sim_shape) { .no_room = 200, .drains = true });
}

TEST(sim__modified_while_everything_goes_wrong)
{
	run_all((struct sim_shape) {
		.mood = {
			.drop = 100, .copy = 100, .spoil = 50,
			.late = 200, .late_ns = 50000,
		},
		.scarce_recvs = true,
		.no_room = 20,
		.drains = true,
	});
}

TEST(sim__modified_while_the_wire_goes_dead)
{
	run_all((struct sim_shape) {
		.mood = { .drop = 200, .copy = 100 }, .dead_ns = 300000,
		.drains = true,
	});
}

TEST(sim__reconnected)
{
	run_all((struct sim_shape) { .resets = true });
}

/* Packets of a connection may arrive in the next one. */
TEST(sim__reconnected_while_everything_goes_wrong)
{
	run_all((struct sim_shape) {
		.mood = {
			.drop = 100, .copy = 100, .spoil = 50,
			.late = 200, .late_ns = 500000,
		},
		.scarce_recvs = true,
		.no_room = 20,
		.refuse = 20,
		.drains = true,
		.resets = true,
	});
}
