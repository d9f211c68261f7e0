// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <config.h>

#include <errno.h>
#include <stdlib.h>

#include "mr.h"

struct ibv_mr *frdma_reg_mr(struct ibv_pd *ibvpd, void *addr, size_t length,
			    uint64_t iova, int access)
{
	struct ib_uverbs_reg_mr_resp resp;
	struct ibv_reg_mr cmd;
	struct verbs_mr *vmr;

	vmr = calloc(1, sizeof(*vmr));
	if (!vmr)
		return NULL;

	if (ibv_cmd_reg_mr(ibvpd, addr, length, iova, access, vmr,
			   &cmd, sizeof(cmd), &resp, sizeof(resp)))
		goto err_free_mr;

	return &vmr->ibv_mr;

err_free_mr:
	free(vmr);
	return NULL;
}

static int cmd_reg_dmabuf_mr(struct ibv_pd *ibvpd, uint64_t offset,
			     size_t length, uint64_t iova, int fd, int access,
			     struct verbs_mr *vmr)
{
#if FRDMA_REG_DMABUF
	return ibv_cmd_reg_dmabuf_mr(ibvpd, offset, length, iova, fd, access,
				     vmr, NULL);
#else
	(void)ibvpd, (void)offset, (void)length, (void)iova, (void)fd;
	(void)access, (void)vmr;
	return errno = EOPNOTSUPP;
#endif
}

struct ibv_mr *frdma_reg_dmabuf_mr(struct ibv_pd *ibvpd, uint64_t offset,
				   size_t length, uint64_t iova, int fd,
				   int access)
{
	struct verbs_mr *vmr;

	vmr = calloc(1, sizeof(*vmr));
	if (!vmr)
		return NULL;

	if (cmd_reg_dmabuf_mr(ibvpd, offset, length, iova, fd, access, vmr))
		goto err_free_mr;

	return &vmr->ibv_mr;

err_free_mr:
	free(vmr);
	return NULL;
}

int frdma_rereg_mr(struct verbs_mr *vmr, int flags, struct ibv_pd *ibvpd,
		   void *addr, size_t length, int access)
{
	struct ib_uverbs_rereg_mr_resp resp;
	struct ibv_rereg_mr cmd;

	return ibv_cmd_rereg_mr(vmr, flags, addr, length, (uintptr_t)addr,
				access, ibvpd, &cmd, sizeof(cmd),
				&resp, sizeof(resp));
}

int frdma_dereg_mr(struct verbs_mr *vmr)
{
	int err;

	err = ibv_cmd_dereg_mr(vmr);
	if (err)
		return err;

	free(vmr);
	return 0;
}

struct ibv_mr *frdma_import_mr(struct ibv_pd *ibvpd, uint32_t handle)
{
	struct verbs_mr *vmr;

	vmr = calloc(1, sizeof(*vmr));
	if (!vmr)
		return NULL;

	if (ibv_cmd_query_mr(ibvpd, vmr, handle))
		goto err_free_mr;

	return &vmr->ibv_mr;

err_free_mr:
	free(vmr);
	return NULL;
}

void frdma_unimport_mr(struct ibv_mr *ibvmr)
{
	free(verbs_get_mr(ibvmr));
}

struct ibv_mw *frdma_alloc_mw(struct ibv_pd *ibvpd, enum ibv_mw_type type)
{
	struct ib_uverbs_alloc_mw_resp resp;
	struct ibv_alloc_mw cmd;
	struct ibv_mw *ibvmw;

	ibvmw = calloc(1, sizeof(*ibvmw));
	if (!ibvmw)
		return NULL;

	if (ibv_cmd_alloc_mw(ibvpd, type, ibvmw, &cmd, sizeof(cmd),
			     &resp, sizeof(resp)))
		goto err_free_mw;

	return ibvmw;

err_free_mw:
	free(ibvmw);
	return NULL;
}

int frdma_dealloc_mw(struct ibv_mw *ibvmw)
{
	int err;

	err = ibv_cmd_dealloc_mw(ibvmw);
	if (err)
		return err;

	free(ibvmw);
	return 0;
}

int frdma_advise_mr(struct ibv_pd *ibvpd, enum ibv_advise_mr_advice advice,
		    uint32_t flags, struct ibv_sge *sg_list, uint32_t num_sge)
{
	return ibv_cmd_advise_mr(ibvpd, advice, flags, sg_list, num_sge);
}
