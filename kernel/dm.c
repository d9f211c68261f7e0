// SPDX-License-Identifier: GPL-2.0
/* Device memory. */
#define UVERBS_MODULE_NAME frdma
#include <rdma/uverbs_named_ioctl.h>

#include "dm.h"

#include <linux/mm.h>
#include <linux/slab.h>

#include "dev.h"
#include "limit.h"
#include "mr.h"
#include "refuse.h"
#include "shared.h"
#include "uapi/frdma-abi.h"
#include "uctx.h"

/**
 * struct frdma_dm - a piece of device memory
 * @ib: what ib_core knows; regions hold its use count
 * @mem: the memory
 * @size: bytes of it, whole pages
 * @mmap_offset: where processes of its context can map it
 * @charge: of this, without @mem
 */
struct frdma_dm {
	struct ib_dm ib;
	struct frdma_shared *mem;
	size_t size;
	u64 mmap_offset;
	struct frdma_charge charge;
};

static struct frdma_dm *to_frdma_dm(struct ib_dm *ib)
{
	return container_of(ib, struct frdma_dm, ib);
}

/* A process with a longer structure reads zeroes behind what is known here. */
static int dm_describe(const struct frdma_dm *dm,
		       struct uverbs_attr_bundle *attrs, u16 attr)
{
	struct frdma_dm_desc desc = {
		.mmap_offset	= dm->mmap_offset,
		.mmap_size	= dm->size,
	};

	return uverbs_copy_to_struct_or_zero(attrs, attr, &desc,
					      sizeof(desc));
}

static int dm_offer(struct frdma_dm *dm, struct ib_ucontext *uctx,
		    struct uverbs_attr_bundle *attrs)
{
	int err;

	err = frdma_shared_offer(dm->mem, uctx, dm->size, &dm->mmap_offset);
	if (err)
		return err;

	return dm_describe(dm, attrs, FRDMA_ATTR_DM_ALLOC_DESC);
}

static struct frdma_dm *dm_create(struct frdma_dev *dev, size_t size,
				  struct frdma_account *account)
{
	struct frdma_dm *dm;

	if (!frdma_pool_take(account, FRDMA_POOL_DM, &dev->dm_bytes,
			     FRDMA_MAX_DM_BYTES, size))
		return NULL;

	dm = kzalloc(sizeof(*dm), FRDMA_GFP_OBJECT);
	if (!dm)
		goto err_give;
	if (!frdma_charge(&dm->charge, account,
			  sizeof(*dm) + FRDMA_CORE_BYTES))
		goto err_free;

	dm->mem = frdma_shared_alloc(size, account);
	if (!dm->mem)
		goto err_uncharge;

	dm->size = size;
	return dm;

err_uncharge:
	frdma_uncharge(&dm->charge);
err_free:
	kfree(dm);
err_give:
	frdma_pool_give(account, FRDMA_POOL_DM, &dev->dm_bytes, size);
	return NULL;
}

static void dm_destroy(struct frdma_dev *dev, struct frdma_dm *dm)
{
	frdma_shared_end(dm->mem);
	frdma_pool_give(dm->charge.account, FRDMA_POOL_DM, &dev->dm_bytes,
			dm->size);
	frdma_uncharge(&dm->charge);
	kfree(dm);
}

struct ib_dm *frdma_alloc_dm(struct ib_device *ib, struct ib_ucontext *uctx,
			     struct ib_dm_alloc_attr *attr,
			     struct uverbs_attr_bundle *attrs)
{
	struct frdma_dev *dev = to_frdma(ib);
	struct frdma_dm *dm;
	int err;

	if (!attr->length || attr->alignment > PAGE_SHIFT)
		return ERR_PTR(frdma_refuse(ib, -EINVAL,
					    "alloc_dm: %llu bytes, alignment 2^%u",
					    attr->length, attr->alignment));
	if (attr->length > FRDMA_MAX_DM_BYTES)
		return ERR_PTR(frdma_refuse(ib, -ENOMEM,
					    "alloc_dm: %llu bytes exceed %u",
					    attr->length, FRDMA_MAX_DM_BYTES));

	dm = dm_create(dev, PAGE_ALIGN(attr->length),
		       frdma_uctx_account(uctx));
	if (!dm)
		return ERR_PTR(frdma_refuse(ib, -ENOMEM,
					    "alloc_dm: %llu bytes are not left",
					    attr->length));

	err = dm_offer(dm, uctx, attrs);
	if (err) {
		dm_destroy(dev, dm);
		return ERR_PTR(err);
	}

	return &dm->ib;
}

int frdma_dealloc_dm(struct ib_dm *ib, struct uverbs_attr_bundle *attrs)
{
	dm_destroy(to_frdma(ib->device), to_frdma_dm(ib));
	return 0;
}

/* The core has looked at the range. */
struct ib_mr *frdma_reg_dm_mr(struct ib_pd *pd, struct ib_dm *ib,
			      struct ib_dm_mr_attr *attr,
			      struct uverbs_attr_bundle *attrs)
{
	struct frdma_dm *dm = to_frdma_dm(ib);
	struct frdma_mr *mr;

	mr = frdma_mr_create_span(pd, FRDMA_MR_DM, attr->access_flags,
				  frdma_shared_kaddr(dm->mem) + attr->offset,
				  0, attr->length);
	if (IS_ERR(mr))
		return ERR_CAST(mr);

	frdma_mr_publish(mr);
	return &mr->ib;
}

/* Whoever imports it has the context, and with that the mapping. */
static int UVERBS_HANDLER(FRDMA_METHOD_DM_QUERY)
	(struct uverbs_attr_bundle *attrs)
{
	struct ib_dm *ib = uverbs_attr_get_obj(attrs,
					       FRDMA_ATTR_DM_QUERY_HANDLE);
	u64 length;
	int err;

	if (IS_ERR(ib))
		return PTR_ERR(ib);

	length = ib->length;
	err = uverbs_copy_to(attrs, FRDMA_ATTR_DM_QUERY_LENGTH, &length,
			     sizeof(length));
	if (err)
		return err;

	return dm_describe(to_frdma_dm(ib), attrs, FRDMA_ATTR_DM_QUERY_DESC);
}

DECLARE_UVERBS_NAMED_METHOD(FRDMA_METHOD_DM_QUERY,
	UVERBS_ATTR_IDR(FRDMA_ATTR_DM_QUERY_HANDLE, UVERBS_OBJECT_DM,
			UVERBS_ACCESS_READ, UA_MANDATORY),
	UVERBS_ATTR_PTR_OUT(FRDMA_ATTR_DM_QUERY_DESC,
			    UVERBS_ATTR_STRUCT(struct frdma_dm_desc, mmap_size),
			    UA_MANDATORY),
	UVERBS_ATTR_PTR_OUT(FRDMA_ATTR_DM_QUERY_LENGTH, UVERBS_ATTR_TYPE(u64),
			    UA_MANDATORY));

ADD_UVERBS_METHODS(dm_methods, UVERBS_OBJECT_DM,
		   &UVERBS_METHOD(FRDMA_METHOD_DM_QUERY));

ADD_UVERBS_ATTRIBUTES_SIMPLE(frdma_dm_alloc, UVERBS_OBJECT_DM,
			     UVERBS_METHOD_DM_ALLOC,
			     UVERBS_ATTR_PTR_OUT(FRDMA_ATTR_DM_ALLOC_DESC,
				UVERBS_ATTR_STRUCT(struct frdma_dm_desc,
						   mmap_size),
				UA_MANDATORY));

const struct uapi_definition frdma_dm_uapi[] = {
	UAPI_DEF_CHAIN_OBJ_TREE(UVERBS_OBJECT_DM, &frdma_dm_alloc),
	UAPI_DEF_CHAIN_OBJ_TREE(UVERBS_OBJECT_DM, &dm_methods),
	{ }
};
