// SPDX-License-Identifier: GPL-2.0
/*
 * The simulation, with its dice in the fuzzer's hands: what work is posted,
 * what the wire does to each packet, who is late. The invariants are those of
 * selftests/sim.
 */
#include "fuzz.h"
#include "world.h"

#define WRS_MAX		12

FUZZ_TARGET(pair)(const u8 *data, size_t size)
{
	struct fuzz fuzz = { data, size };
	struct sim_shape shape = {
		.wrs	= 1 + fuzz_below(&fuzz, WRS_MAX),
		.mood = {
			.drop	= fuzz_u8(&fuzz),
			.copy	= fuzz_u8(&fuzz),
			.spoil	= fuzz_u8(&fuzz),
			.late	= fuzz_u8(&fuzz),
			.delay_ns = 2000,
			.late_ns = 1 + ((u64)fuzz_u8(&fuzz) << 14),
		},
	};
	u8 how = fuzz_u8(&fuzz);
	static struct sim_world world;
	struct rnd rnd = { .state = 1 };

	shape.scarce_recvs = how & 1;
	shape.no_room = how & 2 ? fuzz_u8(&fuzz) : 0;
	shape.refuse = how & 4 ? fuzz_u8(&fuzz) : 0;
	shape.dead_ns = how & 8 ? fuzz_take(&fuzz, 3) : 0;
	shape.drains = how & 16;
	/* A wire that is dead leads nowhere again. */
	shape.resets = how & 32 && !shape.dead_ns;

	rnd.bytes = fuzz.at;
	rnd.left = fuzz.left;
	sim_choose(&shape, &rnd);
	FUZZ_CHECK(sim_run(&world, &shape, rnd), "%llu ns: %s", world.now_ns,
		   world.what);
	fuzz_packets += world.wire.sent;
	return 0;
}
