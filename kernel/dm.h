/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Device memory. There is no memory on this device: what it gives out is the
 * kernel's, charged to who asks for it, and bounded for each device. A process
 * maps it, in order to copy to it and from it; regions show parts of it, always
 * counted from zero.
 */
#ifndef FRDMA_DM_H
#define FRDMA_DM_H

#include <linux/sizes.h>
#include <rdma/ib_verbs.h>
#include <rdma/uverbs_ioctl.h>

/* Advertised: bytes of a device. */
#define FRDMA_MAX_DM_BYTES	SZ_64M

/* The attributes and methods of this device, for its table (dev.c). */
extern const struct uapi_definition frdma_dm_uapi[];

/* Verbs; contexts and returns as ib_core defines them. */
struct ib_dm *frdma_alloc_dm(struct ib_device *ib, struct ib_ucontext *uctx,
			     struct ib_dm_alloc_attr *attr,
			     struct uverbs_attr_bundle *attrs);
int frdma_dealloc_dm(struct ib_dm *ib, struct uverbs_attr_bundle *attrs);
struct ib_mr *frdma_reg_dm_mr(struct ib_pd *pd, struct ib_dm *ib,
			      struct ib_dm_mr_attr *attr,
			      struct uverbs_attr_bundle *attrs);

#endif /* FRDMA_DM_H */
