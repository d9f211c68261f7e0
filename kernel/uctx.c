// SPDX-License-Identifier: GPL-2.0
/* A process's context, and protection domains. */
#include "uctx.h"

#include <linux/build_bug.h>
#include <linux/minmax.h>
#include <linux/uaccess.h>

#include "dev.h"
#include "limit.h"
#include "uapi/frdma-abi.h"

/* The ABI: what a process was compiled with. */
static_assert(sizeof(struct frdma_ring_head) == FRDMA_RING_SLOTS);
static_assert(offsetof(struct frdma_ring_head, prod) == 0);
static_assert(offsetof(struct frdma_ring_head, cons) == 64);
static_assert(offsetof(struct frdma_ring_head, flags) == 128);
static_assert(sizeof(struct frdma_ring_desc) == 24);
static_assert(sizeof(struct frdma_sge) == 16);
static_assert(sizeof(struct frdma_send_wqe) == 64);
static_assert(offsetof(struct frdma_send_wqe, remote_addr) == 24);
static_assert(offsetof(struct frdma_send_wqe, atomic) == 32);
static_assert(offsetof(struct frdma_send_wqe, ud) == 32);
static_assert(sizeof(struct frdma_recv_wqe) == 16);
static_assert(sizeof(struct frdma_cqe) == 64);
static_assert(offsetof(struct frdma_cqe, wc_flags) == 32);
static_assert(offsetof(struct frdma_cqe, timestamp) == 48);
static_assert(sizeof(struct frdma_alloc_ucontext_resp) == 8);
static_assert(sizeof(struct frdma_create_cq_resp) == 24);
static_assert(sizeof(struct frdma_resize_cq_resp) == 24);
static_assert(sizeof(struct frdma_create_qp_resp) == 48);
static_assert(sizeof(struct frdma_create_ah_resp) == 8);

int frdma_respond(struct ib_udata *udata, const void *resp, size_t len)
{
	size_t known;

	if (!udata)
		return 0;

	known = min(len, udata->outlen);
	if (copy_to_user(udata->outbuf, resp, known))
		return -EFAULT;

	/* What a newer process hopes for reads as zero. */
	if (clear_user(udata->outbuf + known, udata->outlen - known))
		return -EFAULT;

	return 0;
}

int frdma_alloc_ucontext(struct ib_ucontext *ib, struct ib_udata *udata)
{
	struct frdma_alloc_ucontext_resp resp = {
		.max_inline_bytes = FRDMA_MAX_INLINE_BYTES,
	};
	struct frdma_dev *dev = to_frdma(ib->device);
	int err;

	if (!frdma_limit_take(&dev->nr_uctx, FRDMA_MAX_UCTX))
		return -ENOMEM;

	err = frdma_respond(udata, &resp, sizeof(resp));
	if (err)
		frdma_limit_give(&dev->nr_uctx);

	return err;
}

void frdma_dealloc_ucontext(struct ib_ucontext *ib)
{
	frdma_limit_give(&to_frdma(ib->device)->nr_uctx);
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

	return frdma_limit_take(&dev->nr_pd, FRDMA_MAX_PD) ? 0 : -ENOMEM;
}

int frdma_dealloc_pd(struct ib_pd *ib, struct ib_udata *udata)
{
	frdma_limit_give(&to_frdma(ib->device)->nr_pd);
	return 0;
}
