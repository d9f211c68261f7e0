/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Fast regions, of consumers in the kernel: a verb makes room, another says
 * which memory it is to be, and a work request makes it valid under a new key.
 */
#ifndef FRDMA_FAST_H
#define FRDMA_FAST_H

#include <rdma/ib_verbs.h>

#include "mr.h"

/**
 * frdma_mr_fast_reg() - carry out a REG_MR work request
 * @mr: fast region of a consumer in the kernel, filled by map_mr_sg
 * @pd: protection domain of the queue pair
 * @key: new key; all but its last FRDMA_MR_KEY_BITS are the region's own
 * @access: IB_ACCESS_* to grant
 *
 * The address is taken from the region as it is now, since consumers change
 * it after map_mr_sg.
 *
 * Context: bottom halves off. Return: FRDMA_MR_OK, and the region is valid;
 * BAD_KEY (not this region's, still valid, or not a fast region), BAD_PD,
 * BAD_RANGE (nothing mapped): a memory management operation error.
 */
enum frdma_mr_fault frdma_mr_fast_reg(struct frdma_mr *mr,
				      const struct ib_pd *pd, u32 key,
				      int access);

/* Verbs; contexts and returns as ib_core defines them. */
struct ib_mr *frdma_alloc_mr(struct ib_pd *pd, enum ib_mr_type type,
			     u32 max_num_sg);
int frdma_map_mr_sg(struct ib_mr *ib, struct scatterlist *sg, int nents,
		    unsigned int *offset);

#endif /* FRDMA_FAST_H */
