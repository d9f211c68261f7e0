// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Protection, parent and thread domains. */
#include <config.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <infiniband/cmd_ioctl.h>
#include <rdma/ib_user_ioctl_cmds.h>

#include "frdma.h"
#include "abi.h"
#include "pd.h"

#define PARENT_DOMAIN_ATTRS	(IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS | \
				 IBV_PARENT_DOMAIN_INIT_ATTR_PD_CONTEXT)

/* No two objects share a line of the cache. */
#define MEM_ALIGN		64

static uint64_t resource_type(enum frdma_mem kind)
{
	return (uint64_t)FRDMA_DRIVER_ID << 32 | kind;
}

/* An allocator may place one piece behind the other: sizes are aligned, too. */
void *frdma_pd_alloc(struct ibv_pd *ibvpd, enum frdma_mem kind, size_t size,
		     struct frdma_pd **home)
{
	struct frdma_pd *pd = ibvpd ? to_frdma_pd(ibvpd) : NULL;
	void *ptr;

	*home = NULL;
	if (!pd || !pd->alloc)
		return calloc(1, size);

	size = (size + MEM_ALIGN - 1) & ~(size_t)(MEM_ALIGN - 1);
	ptr = pd->alloc(ibvpd, pd->pd_context, size, MEM_ALIGN,
			resource_type(kind));
	if (ptr == IBV_ALLOCATOR_USE_DEFAULT)
		return calloc(1, size);
	if (!ptr) {
		errno = ENOMEM;
		return NULL;
	}

	atomic_fetch_add(&pd->users, 1);
	*home = pd;
	return memset(ptr, 0, size);
}

void frdma_pd_free(struct frdma_pd *home, enum frdma_mem kind, void *ptr)
{
	if (!home) {
		free(ptr);
		return;
	}

	home->free(&home->ibvpd, home->pd_context, ptr, resource_type(kind));
	atomic_fetch_sub(&home->users, 1);
}

bool frdma_pd_needs_lock(struct ibv_pd *ibvpd)
{
	return !ibvpd || !to_frdma_pd(ibvpd)->td;
}

struct ibv_pd *frdma_alloc_pd(struct ibv_context *ibvctx)
{
	struct ib_uverbs_alloc_pd_resp resp;
	struct ibv_alloc_pd cmd;
	struct frdma_pd *pd;

	pd = calloc(1, sizeof(*pd));
	if (!pd)
		return NULL;

	if (ibv_cmd_alloc_pd(ibvctx, &pd->ibvpd, &cmd, sizeof(cmd),
			     &resp, sizeof(resp)))
		goto err_free_pd;

	return &pd->ibvpd;

err_free_pd:
	free(pd);
	return NULL;
}

/* Half of a pair would take what it cannot give back. */
static int take_allocators(struct frdma_pd *pd,
			   const struct ibv_parent_domain_init_attr *attr)
{
	if (attr->comp_mask & IBV_PARENT_DOMAIN_INIT_ATTR_PD_CONTEXT)
		pd->pd_context = attr->pd_context;
	if (!(attr->comp_mask & IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS))
		return 0;
	if (!attr->alloc || !attr->free)
		return errno = EINVAL;

	pd->alloc = attr->alloc;
	pd->free = attr->free;
	return 0;
}

struct ibv_pd *
frdma_alloc_parent_domain(struct ibv_context *ibvctx,
			  struct ibv_parent_domain_init_attr *attr)
{
	struct frdma_pd *pd;

	(void)ibvctx;

	if (ibv_check_alloc_parent_domain(attr))
		return NULL;
	if (attr->comp_mask & ~PARENT_DOMAIN_ATTRS) {
		errno = EOPNOTSUPP;
		return NULL;
	}

	pd = calloc(1, sizeof(*pd));
	if (!pd)
		return NULL;

	if (take_allocators(pd, attr))
		goto err_free_pd;

	pd->parent_of = to_frdma_pd(attr->pd);
	atomic_fetch_add(&pd->parent_of->users, 1);
	if (attr->td) {
		pd->td = to_frdma_td(attr->td);
		atomic_fetch_add(&pd->td->users, 1);
	}
	ibv_initialize_parent_domain(&pd->ibvpd, attr->pd);
	return &pd->ibvpd;

err_free_pd:
	free(pd);
	return NULL;
}

int frdma_dealloc_pd(struct ibv_pd *ibvpd)
{
	struct frdma_pd *pd = to_frdma_pd(ibvpd);
	int err;

	if (atomic_load(&pd->users))
		return EBUSY;

	if (pd->parent_of) {
		atomic_fetch_sub(&pd->parent_of->users, 1);
		if (pd->td)
			atomic_fetch_sub(&pd->td->users, 1);
	} else {
		err = ibv_cmd_dealloc_pd(ibvpd);
		if (err)
			return err;
	}

	free(pd);
	return 0;
}

/* Nobody has to be told but libibverbs; a handle may be wrong, though. */
struct ibv_pd *frdma_import_pd(struct ibv_context *ibvctx, uint32_t handle)
{
	DECLARE_COMMAND_BUFFER(cmdb, UVERBS_OBJECT_PD, FRDMA_METHOD_PD_QUERY,
			       1);
	struct frdma_pd *pd;

	fill_attr_in_obj(cmdb, FRDMA_ATTR_PD_QUERY_HANDLE, handle);
	if (execute_ioctl(ibvctx, cmdb))
		return NULL;

	pd = calloc(1, sizeof(*pd));
	if (!pd)
		return NULL;

	pd->ibvpd.context = ibvctx;
	pd->ibvpd.handle = handle;
	return &pd->ibvpd;
}

void frdma_unimport_pd(struct ibv_pd *ibvpd)
{
	free(to_frdma_pd(ibvpd));
}

struct ibv_td *frdma_alloc_td(struct ibv_context *ibvctx,
			      struct ibv_td_init_attr *attr)
{
	struct frdma_td *td;

	if (attr->comp_mask) {
		errno = EOPNOTSUPP;
		return NULL;
	}

	td = calloc(1, sizeof(*td));
	if (!td)
		return NULL;

	td->ibvtd.context = ibvctx;
	return &td->ibvtd;
}

int frdma_dealloc_td(struct ibv_td *ibvtd)
{
	struct frdma_td *td = to_frdma_td(ibvtd);

	if (atomic_load(&td->users))
		return EBUSY;

	free(td);
	return 0;
}
