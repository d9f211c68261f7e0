/* SPDX-License-Identifier: GPL-2.0 */
/* Receive requests once they are off their ring: private copies of slots. */
#ifndef FRDMA_RWR_H
#define FRDMA_RWR_H

#include <linux/compiler.h>
#include <linux/minmax.h>
#include <linux/string.h>

#include "uapi/frdma-abi.h"

/**
 * struct frdma_rwr - a receive request, a private copy
 * @len: bytes of its elements, whose memory may be unusable
 * @fault: it claims more elements than a slot has
 * @wqe: the copy
 * @sge: its elements
 */
struct frdma_rwr {
	u64 len;
	bool fault;
	struct frdma_recv_wqe wqe;
	struct frdma_sge sge[];
};

/**
 * frdma_rwr_copy() - copy a slot, once; from here on only the copy is read
 * @rwr: with room for @max_sge elements; @len and @fault stay
 * @slot: where a process may be writing
 * @max_sge: elements that a slot has; the copy may claim more
 *
 * Context: any.
 */
static inline void frdma_rwr_copy(struct frdma_rwr *rwr, const void *slot,
				  u32 max_sge)
{
	memcpy(&rwr->wqe, slot, sizeof(rwr->wqe));
	barrier();
	memcpy(rwr->sge, slot + sizeof(rwr->wqe),
	       min(rwr->wqe.num_sge, max_sge) * sizeof(rwr->sge[0]));
	barrier();
}

#endif /* FRDMA_RWR_H */
