/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Memory regions and windows: each verb has the meaning, arguments and result
 * of the libibverbs call of its name.
 */
#ifndef FRDMA_PROVIDER_MR_H
#define FRDMA_PROVIDER_MR_H

#include <infiniband/driver.h>

struct ibv_mr *frdma_reg_mr(struct ibv_pd *ibvpd, void *addr, size_t length,
			    uint64_t iova, int access);
struct ibv_mr *frdma_reg_dmabuf_mr(struct ibv_pd *ibvpd, uint64_t offset,
				   size_t length, uint64_t iova, int fd,
				   int access);
int frdma_rereg_mr(struct verbs_mr *vmr, int flags, struct ibv_pd *ibvpd,
		   void *addr, size_t length, int access);
int frdma_dereg_mr(struct verbs_mr *vmr);
struct ibv_mr *frdma_import_mr(struct ibv_pd *ibvpd, uint32_t handle);
void frdma_unimport_mr(struct ibv_mr *ibvmr);
struct ibv_mw *frdma_alloc_mw(struct ibv_pd *ibvpd, enum ibv_mw_type type);
int frdma_dealloc_mw(struct ibv_mw *ibvmw);
int frdma_advise_mr(struct ibv_pd *ibvpd, enum ibv_advise_mr_advice advice,
		    uint32_t flags, struct ibv_sge *sg_list, uint32_t num_sge);

#endif /* FRDMA_PROVIDER_MR_H */
