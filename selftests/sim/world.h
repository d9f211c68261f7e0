/* SPDX-License-Identifier: GPL-2.0 */
/* A connection from its first packet to its last, and what must hold in it. */
#ifndef FRDMA_SIM_WORLD_H
#define FRDMA_SIM_WORLD_H

#include "side.h"

void sim_choose(struct sim_shape *shape, struct rnd *rnd);
bool sim_run(struct sim_world *world, const struct sim_shape *shape,
	     struct rnd rnd);

#endif /* FRDMA_SIM_WORLD_H */
