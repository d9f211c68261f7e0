/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Device memory: each verb has the meaning, arguments and result of the
 * libibverbs call of its name.
 */
#ifndef FRDMA_PROVIDER_DM_H
#define FRDMA_PROVIDER_DM_H

#include <infiniband/driver.h>

struct ibv_dm *frdma_alloc_dm(struct ibv_context *ibvctx,
			      struct ibv_alloc_dm_attr *attr);
int frdma_free_dm(struct ibv_dm *ibvdm);
struct ibv_dm *frdma_import_dm(struct ibv_context *ibvctx, uint32_t handle);
void frdma_unimport_dm(struct ibv_dm *ibvdm);
struct ibv_mr *frdma_reg_dm_mr(struct ibv_pd *ibvpd, struct ibv_dm *ibvdm,
			       uint64_t offset, size_t length,
			       unsigned int access);

#endif /* FRDMA_PROVIDER_DM_H */
