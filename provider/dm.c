// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Device memory, which is the kernel's and mapped here. */
#include <config.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <infiniband/cmd_ioctl.h>
#include <rdma/frdma-abi.h>
#include <rdma/ib_user_ioctl_cmds.h>

#include "dm.h"

/*
 * Devices take their memory in words, and programs (of rdma-core's tests) rely
 * on being told where theirs would not work elsewhere.
 */
#define DM_WORD		4

/**
 * struct frdma_dm - a piece of device memory
 * @vdm: what libibverbs knows of it
 * @at: the mapping
 * @size: bytes of the mapping
 * @length: bytes that were asked for
 */
struct frdma_dm {
	struct verbs_dm vdm;
	char *at;
	size_t size;
	uint64_t length;
};

static struct frdma_dm *to_frdma_dm(struct ibv_dm *ibvdm)
{
	return container_of(ibvdm, struct frdma_dm, vdm.dm);
}

static int check_range(const struct frdma_dm *dm, uint64_t offset,
		       size_t length)
{
	if (offset > dm->length || length > dm->length - offset)
		return EFAULT;
	if (offset % DM_WORD || length % DM_WORD)
		return EINVAL;

	return 0;
}

static int memcpy_to_dm(struct ibv_dm *ibvdm, uint64_t offset,
			const void *host_addr, size_t length)
{
	struct frdma_dm *dm = to_frdma_dm(ibvdm);
	int err;

	err = check_range(dm, offset, length);
	if (!err)
		memcpy(dm->at + offset, host_addr, length);

	return err;
}

static int memcpy_from_dm(void *host_addr, struct ibv_dm *ibvdm,
			  uint64_t offset, size_t length)
{
	struct frdma_dm *dm = to_frdma_dm(ibvdm);
	int err;

	err = check_range(dm, offset, length);
	if (!err)
		memcpy(host_addr, dm->at + offset, length);

	return err;
}

static int cmd_alloc_dm(struct ibv_context *ibvctx,
			const struct ibv_alloc_dm_attr *attr,
			struct frdma_dm *dm, struct frdma_dm_desc *desc)
{
	DECLARE_COMMAND_BUFFER(cmdb, UVERBS_OBJECT_DM, UVERBS_METHOD_DM_ALLOC,
			       1);

	fill_attr_out_ptr(cmdb, FRDMA_ATTR_DM_ALLOC_DESC, desc);
	return ibv_cmd_alloc_dm(ibvctx, attr, &dm->vdm, cmdb);
}

static int map_dm(struct ibv_context *ibvctx, struct frdma_dm *dm,
		  const struct frdma_dm_desc *desc, uint64_t length)
{
	dm->at = mmap(NULL, desc->mmap_size, PROT_READ | PROT_WRITE, MAP_SHARED,
		      ibvctx->cmd_fd, desc->mmap_offset);
	if (dm->at == MAP_FAILED)
		return errno;

	dm->size = desc->mmap_size;
	dm->length = length;
	dm->vdm.dm.memcpy_to_dm = memcpy_to_dm;
	dm->vdm.dm.memcpy_from_dm = memcpy_from_dm;
	return 0;
}

static void unmap_dm(struct frdma_dm *dm)
{
	munmap(dm->at, dm->size);
	free(dm);
}

struct ibv_dm *frdma_alloc_dm(struct ibv_context *ibvctx,
			      struct ibv_alloc_dm_attr *attr)
{
	struct frdma_dm_desc desc = {};
	struct frdma_dm *dm;
	int err;

	if (attr->comp_mask) {
		errno = EOPNOTSUPP;
		return NULL;
	}

	dm = calloc(1, sizeof(*dm));
	if (!dm)
		return NULL;

	err = cmd_alloc_dm(ibvctx, attr, dm, &desc);
	if (err)
		goto err_free;

	err = map_dm(ibvctx, dm, &desc, attr->length);
	if (err)
		goto err_free_dm;

	return &dm->vdm.dm;

err_free_dm:
	ibv_cmd_free_dm(&dm->vdm);
err_free:
	free(dm);
	errno = err;
	return NULL;
}

int frdma_free_dm(struct ibv_dm *ibvdm)
{
	struct frdma_dm *dm = to_frdma_dm(ibvdm);
	int err;

	err = ibv_cmd_free_dm(&dm->vdm);
	if (err)
		return err;

	unmap_dm(dm);
	return 0;
}

static int cmd_query_dm(struct ibv_context *ibvctx, uint32_t handle,
			struct frdma_dm_desc *desc, uint64_t *length)
{
	DECLARE_COMMAND_BUFFER(cmdb, UVERBS_OBJECT_DM, FRDMA_METHOD_DM_QUERY,
			       3);

	fill_attr_in_obj(cmdb, FRDMA_ATTR_DM_QUERY_HANDLE, handle);
	fill_attr_out_ptr(cmdb, FRDMA_ATTR_DM_QUERY_DESC, desc);
	fill_attr_out_ptr(cmdb, FRDMA_ATTR_DM_QUERY_LENGTH, length);
	return execute_ioctl(ibvctx, cmdb);
}

struct ibv_dm *frdma_import_dm(struct ibv_context *ibvctx, uint32_t handle)
{
	struct frdma_dm_desc desc = {};
	struct frdma_dm *dm;
	uint64_t length;
	int err;

	dm = calloc(1, sizeof(*dm));
	if (!dm)
		return NULL;

	err = cmd_query_dm(ibvctx, handle, &desc, &length);
	if (err)
		goto err_free;

	err = map_dm(ibvctx, dm, &desc, length);
	if (err)
		goto err_free;

	dm->vdm.handle = handle;
	dm->vdm.dm.handle = handle;
	dm->vdm.dm.context = ibvctx;
	return &dm->vdm.dm;

err_free:
	free(dm);
	errno = err;
	return NULL;
}

void frdma_unimport_dm(struct ibv_dm *ibvdm)
{
	unmap_dm(to_frdma_dm(ibvdm));
}

struct ibv_mr *frdma_reg_dm_mr(struct ibv_pd *ibvpd, struct ibv_dm *ibvdm,
			       uint64_t offset, size_t length,
			       unsigned int access)
{
	struct frdma_dm *dm = to_frdma_dm(ibvdm);
	struct verbs_mr *vmr;

	vmr = calloc(1, sizeof(*vmr));
	if (!vmr)
		return NULL;

	if (ibv_cmd_reg_dm_mr(ibvpd, &dm->vdm, offset, length, access, vmr,
			      NULL)) {
		free(vmr);
		return NULL;
	}

	return &vmr->ibv_mr;
}
