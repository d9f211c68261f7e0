/* SPDX-License-Identifier: GPL-2.0 */
/* States and attributes that change, as the kernel's modify.c has it. */
#ifndef FRDMA_SIM_MODIFY_H
#define FRDMA_SIM_MODIFY_H

#include "side.h"

void plan_atomics(struct sim_side *side);
void check_effects(const struct sim_side *side);
void modify_begin(struct sim_world *world);
void modify_side(struct sim_side *side);
void modify_world(struct sim_world *world);

#endif /* FRDMA_SIM_MODIFY_H */
