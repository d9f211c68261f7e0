/* SPDX-License-Identifier: GPL-2.0 */
/* The receive side: what responder.c does in the kernel. */
#ifndef FRDMA_SIM_RECEIVER_H
#define FRDMA_SIM_RECEIVER_H

#include "side.h"

void receiver_post(struct sim_side *side);
void receiver_flush_ack(struct sim_side *side);
void receiver_take(struct sim_side *side, const struct frdma_hdr *hdr,
		   const u8 *payload);
void receiver_find_pages(struct sim_side *side);
void receiver_go_on_with_read(struct sim_side *side);
void receiver_take_kept(struct sim_side *side);
u32 receiver_take_run(struct sim_side *side, const struct frdma_hdr *hdr,
		      const u8 *payload, u32 nr);

#endif /* FRDMA_SIM_RECEIVER_H */
