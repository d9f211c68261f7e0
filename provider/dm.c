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

	dm->at = mmap(NULL, desc.mmap_size, PROT_READ | PROT_WRITE, MAP_SHARED,
		      ibvctx->cmd_fd, desc.mmap_offset);
	if (dm->at == MAP_FAILED) {
		err = errno;
		goto err_free_dm;
	}

	dm->size = desc.mmap_size;
	dm->length = attr->length;
	dm->vdm.dm.memcpy_to_dm = memcpy_to_dm;
	dm->vdm.dm.memcpy_from_dm = memcpy_from_dm;
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

	munmap(dm->at, dm->size);
	free(dm);
	return 0;
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
