/* SPDX-License-Identifier: GPL-2.0 */
/* Packets that are ahead of their turn, put aside: what ahead.c does in the kernel. */
#ifndef FRDMA_SIM_ASIDE_H
#define FRDMA_SIM_ASIDE_H

#include "side.h"

/**
 * struct sim_kept - a packet that is ahead of its turn, or a run of them
 * @item: where in the order
 * @hdr: headers of the first
 * @payload: of all of them
 */
struct sim_kept {
	struct frdma_kept item;
	struct frdma_hdr hdr;
	u8 payload[];
};

bool aside_put(struct sim_side *side, struct frdma_kept_list *list, u32 psn,
	       const struct frdma_hdr *hdr, const u8 *payload, u32 nr);
typedef void (*aside_take_fn)(struct sim_side *side,
			      const struct frdma_hdr *hdr, const u8 *payload);
typedef u32 (*aside_run_fn)(struct sim_side *side, const struct frdma_hdr *hdr,
			    const u8 *payload, u32 nr);

void aside_take(struct sim_side *side, const struct sim_kept *kept,
		aside_take_fn take, aside_run_fn take_run);
void aside_forget(struct frdma_kept_list *list);

#endif /* FRDMA_SIM_ASIDE_H */
