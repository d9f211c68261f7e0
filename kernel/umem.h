/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Regions of a process's memory: pinned, and found where the kernel has it; or
 * on demand (odp.h), about which nothing is known at first.
 */
#ifndef FRDMA_UMEM_H
#define FRDMA_UMEM_H

#include <rdma/ib_verbs.h>

struct ib_dmah;

/* Verbs; contexts and returns as ib_core defines them. */
struct ib_mr *frdma_reg_user_mr(struct ib_pd *pd, u64 start, u64 length,
				u64 iova, int access, struct ib_dmah *dmah,
				struct ib_udata *udata);
struct ib_mr *frdma_rereg_user_mr(struct ib_mr *ib, int flags, u64 start,
				  u64 length, u64 iova, int access,
				  struct ib_pd *pd, struct ib_udata *udata);

#endif /* FRDMA_UMEM_H */
