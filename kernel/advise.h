/* SPDX-License-Identifier: GPL-2.0 */
#ifndef FRDMA_ADVISE_H
#define FRDMA_ADVISE_H

#include <linux/types.h>
#include <rdma/ib_verbs.h>
#include <rdma/uverbs_ioctl.h>

/* Verb; context and return as ib_core defines them. */
int frdma_advise_mr(struct ib_pd *pd, enum ib_uverbs_advise_mr_advice advice,
		    u32 flags, struct ib_sge *sg_list, u32 num_sge,
		    struct uverbs_attr_bundle *attrs);

#endif /* FRDMA_ADVISE_H */
