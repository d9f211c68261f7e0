// SPDX-License-Identifier: GPL-2.0
/* A process's context, and protection domains. */
#define UVERBS_MODULE_NAME frdma
#include <rdma/uverbs_named_ioctl.h>

#include "uctx.h"

#include <linux/minmax.h>
#include <linux/sizes.h>
#include <linux/uaccess.h>

#include "dev.h"
#include "limit.h"
#include "uapi/frdma-abi.h"
#include "uapi/frdma-abi-layout.h"

int frdma_check_request(struct ib_udata *udata)
{
	if (!udata || !udata->inlen)
		return 0;

	return ib_is_udata_cleared(udata, 0, udata->inlen) ? 0 : -EOPNOTSUPP;
}

int frdma_respond_to(void __user *to, size_t size, const void *resp, size_t len)
{
	size_t known = min(len, size);

	if (copy_to_user(to, resp, known))
		return -EFAULT;

	return clear_user(to + known, size - known) ? -EFAULT : 0;
}

int frdma_respond(struct ib_udata *udata, const void *resp, size_t len)
{
	if (!udata || !udata->outlen)
		return 0;

	return frdma_respond_to(udata->outbuf, udata->outlen, resp, len);
}

int frdma_no_driver_data(struct ib_udata *udata)
{
	return frdma_check_request(udata) ?: frdma_respond(udata, NULL, 0);
}

/* Memory of uverbs for an open device: files, tables of objects, event queues. */
#define UVERBS_FILE_BYTES	SZ_4K

int frdma_alloc_ucontext(struct ib_ucontext *ib, struct ib_udata *udata)
{
	struct frdma_alloc_ucontext_resp resp = {
		.max_inline_bytes = FRDMA_MAX_INLINE_BYTES,
	};
	struct frdma_uctx *uctx = container_of(ib, struct frdma_uctx, ib);
	struct frdma_dev *dev = to_frdma(ib->device);
	struct frdma_account *account;
	bool taken;
	int err;

	err = frdma_check_request(udata);
	if (err)
		return err;
	account = frdma_account_get();
	if (!account)
		return -ENOMEM;
	taken = frdma_limit_take(&dev->nr_uctx, FRDMA_MAX_UCTX,
				 FRDMA_POOL_UCTX, &uctx->charge, account,
				 sizeof(*uctx) + UVERBS_FILE_BYTES);
	frdma_account_put(account);
	if (!taken)
		return -ENOMEM;

	err = frdma_respond(udata, &resp, sizeof(resp));
	if (err)
		frdma_limit_give(&dev->nr_uctx, FRDMA_POOL_UCTX, &uctx->charge);

	return err;
}

void frdma_dealloc_ucontext(struct ib_ucontext *ib)
{
	struct frdma_uctx *uctx = container_of(ib, struct frdma_uctx, ib);

	frdma_limit_give(&to_frdma(ib->device)->nr_uctx, FRDMA_POOL_UCTX,
			 &uctx->charge);
}

/*
 * A process imports the context that another one has opened: the core tells it
 * what it has to know, and asks only drivers that have this function.
 */
int frdma_query_ucontext(struct ib_ucontext *ib,
			 struct uverbs_attr_bundle *attrs)
{
	return 0;
}

/*
 * The core destroys what the process has, and only waits for a driver that
 * has this function. Mapped rings stay with the process (ring.c): nothing is
 * left to do.
 */
void frdma_disassociate_ucontext(struct ib_ucontext *ib)
{
}

int frdma_alloc_pd(struct ib_pd *ib, struct ib_udata *udata)
{
	struct frdma_dev *dev = to_frdma(ib->device);
	struct frdma_pd *pd = to_frdma_pd(ib);
	int err = frdma_no_driver_data(udata);

	if (err)
		return err;
	if (!frdma_limit_take(&dev->nr_pd, FRDMA_MAX_PD, FRDMA_POOL_PD,
			      &pd->charge, frdma_udata_account(udata),
			      sizeof(*pd)))
		return -ENOMEM;
	return 0;
}

int frdma_dealloc_pd(struct ib_pd *ib, struct ib_udata *udata)
{
	struct frdma_pd *pd = to_frdma_pd(ib);

	frdma_limit_give(&to_frdma(ib->device)->nr_pd, FRDMA_POOL_PD,
			 &pd->charge);
	return 0;
}

/* There is one of that handle, or the core had not called. */
static int UVERBS_HANDLER(FRDMA_METHOD_PD_QUERY)
	(struct uverbs_attr_bundle *attrs)
{
	return 0;
}

DECLARE_UVERBS_NAMED_METHOD(FRDMA_METHOD_PD_QUERY,
	UVERBS_ATTR_IDR(FRDMA_ATTR_PD_QUERY_HANDLE, UVERBS_OBJECT_PD,
			UVERBS_ACCESS_READ, UA_MANDATORY));

ADD_UVERBS_METHODS(pd_methods, UVERBS_OBJECT_PD,
		   &UVERBS_METHOD(FRDMA_METHOD_PD_QUERY));

const struct uapi_definition frdma_pd_uapi[] = {
	UAPI_DEF_CHAIN_OBJ_TREE(UVERBS_OBJECT_PD, &pd_methods),
	{ }
};
