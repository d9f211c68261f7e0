/* SPDX-License-Identifier: GPL-2.0 */
/* The send side: what requester.c and completer.c do in the kernel. */
#ifndef FRDMA_SIM_SENDER_H
#define FRDMA_SIM_SENDER_H

#include "side.h"

void sender_post(struct sim_side *side);
void sender_run(struct sim_side *side);
void sender_take(struct sim_side *side, const struct frdma_hdr *hdr,
		 const u8 *payload);
u32 sender_take_run(struct sim_side *side, const struct frdma_hdr *hdr,
		    const u8 *payload, u32 nr);
bool sender_take_aside(struct sim_side *side);
u64 sender_deadline_ns(const struct sim_side *side);

#endif /* FRDMA_SIM_SENDER_H */
