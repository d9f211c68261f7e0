// SPDX-License-Identifier: GPL-2.0
/* Regions of a process's memory. */
#include "umem.h"

#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/sizes.h>
#include <rdma/ib_umem.h>

#include "dev.h"
#include "flush.h"
#include "mr.h"
#include "odp.h"
#include "page_in.h"
#include "proto/access.h"
#include "refuse.h"
#include "uctx.h"

#include "compat/iter.h"

/*
 * Writes the blocks of pinned memory into a table. Devices without DMA find
 * kernel addresses where others find DMA addresses; counted from where the
 * memory is rather than where the process sees it, blocks are as large as
 * the memory's own contiguity allows.
 */
static int pages_from_umem(struct frdma_pages *pages,
			   struct frdma_account *account,
			   struct ib_umem *umem, u64 *offset)
{
	unsigned long sizes = GENMASK(BITS_PER_LONG - 2, PAGE_SHIFT);
	struct ib_block_iter block;
	unsigned long size;
	u64 index = 0;
	u64 start;
	int err;

	start = sg_dma_address(umem->sgt_append.sgt.sgl) + ib_umem_offset(umem);
	size = ib_umem_find_best_pgsz(umem, sizes, start);
	if (!size)
		return -EINVAL;

	err = frdma_pages_alloc(pages, account,
				ib_umem_num_dma_blocks(umem, size));
	if (err)
		return err;

	pages->block_shift = ilog2(size);
	*offset = start & (size - 1);
	rdma_umem_for_each_dma_block(umem, &block, size) {
		u64 addr = rdma_block_iter_dma_address(&block);

		frdma_pages_set(pages, index++, ib_virt_dma_to_ptr(addr));
		if (!(index % SZ_4K))
			cond_resched();
	}

	return 0;
}

/**
 * struct mr_memory - what makes up a user region
 * @account: of @pages
 * @umem: the pinned memory
 * @pages: where it is
 * @offset: bytes from the first block to the first byte
 * @iova: address of the first byte
 * @length: bytes
 */
struct mr_memory {
	struct frdma_account *account;
	struct ib_umem *umem;
	struct frdma_pages pages;
	u64 offset;
	u64 iova;
	u64 length;
};

/* Who may flush to persistent memory must find such. */
static int mr_check_persistence(const struct ib_device *ib, int access,
				const struct frdma_pages *pages, u64 offset,
				u64 length)
{
	if (!(access & FRDMA_ACC_FLUSH_PERSISTENT) ||
	    frdma_pages_are_persistent(pages, offset, length))
		return 0;
	return frdma_refuse(ib, -EINVAL,
			    "reg_mr: the memory is not persistent");
}

static int mr_memory_pin(struct mr_memory *memory, struct ib_device *device,
			 u64 start, u64 length, u64 iova, int access)
{
	int err;

	if (access & IB_ZERO_BASED)
		iova = 0;
	if (!length || length > SIZE_MAX || start > ULONG_MAX ||
	    iova + length - 1 < iova)
		return frdma_refuse(device, -EINVAL,
				    "reg_mr: %llu bytes at 0x%llx, iova 0x%llx, are no range",
				    length, start, iova);

	memory->umem = ib_umem_get_va(device, start, length, access);
	if (IS_ERR(memory->umem))
		return frdma_refuse(device, PTR_ERR(memory->umem),
				    "reg_mr: %llu bytes cannot be pinned (ENOMEM: see ulimit -l)",
				    length);

	err = pages_from_umem(&memory->pages, memory->account, memory->umem,
			      &memory->offset);
	if (err)
		goto err_release;
	err = mr_check_persistence(device, access, &memory->pages,
				   memory->offset, length);
	if (err)
		goto err_free_pages;

	memory->iova = iova;
	memory->length = length;
	return 0;

err_free_pages:
	frdma_pages_free(&memory->pages);
err_release:
	ib_umem_release(memory->umem);
	return err;
}

static void mr_memory_unpin(struct mr_memory *memory)
{
	frdma_pages_free(&memory->pages);
	ib_umem_release(memory->umem);
}

/* Exchanges a region's memory for another; nobody looks at it now. */
static void mr_swap_memory(struct frdma_mr *mr, struct mr_memory *memory)
{
	swap(mr->umem, memory->umem);
	swap(mr->pages, memory->pages);
	swap(mr->offset, memory->offset);
	swap(mr->iova, memory->iova);
	swap(mr->length, memory->length);
}

/* What a region can grant whose memory is not pinned, so that it may lose its place. */
#define MR_ODP_ACCESS_KNOWN	(IB_ACCESS_ON_DEMAND | IB_ACCESS_LOCAL_WRITE | \
				 FRDMA_ACC_REMOTE | FRDMA_ACC_FLUSH_GLOBAL | \
				 IB_ZERO_BASED | IB_ACCESS_HUGETLB | \
				 IB_ACCESS_OPTIONAL)

/* Nothing is looked at here: what is not there when it is needed is missed. */
static struct ib_mr *reg_on_demand(struct ib_pd *pd, u64 start, u64 length,
				   u64 iova, int access)
{
	bool all = !start && length == U64_MAX;
	struct frdma_odp *odp;
	struct frdma_mr *mr;

	if (access & ~MR_ODP_ACCESS_KNOWN)
		return ERR_PTR(frdma_refuse(pd->device, -EOPNOTSUPP,
					    "reg_mr: on-demand memory cannot have access 0x%x",
					    access));
	if (access & IB_ZERO_BASED)
		iova = 0;
	if (all && iova)
		return ERR_PTR(frdma_refuse(pd->device, -EINVAL,
					    "reg_mr: an implicit on-demand region has iova 0"));
	if (!all && (!length || start > TASK_SIZE ||
		     length > TASK_SIZE - start || iova + length - 1 < iova))
		return ERR_PTR(frdma_refuse(pd->device, -EINVAL,
					    "reg_mr: %llu bytes at 0x%llx, iova 0x%llx, are no range",
					    length, start, iova));

	mr = frdma_mr_create(pd, FRDMA_MR_ODP, access);
	if (IS_ERR(mr))
		return ERR_CAST(mr);

	odp = frdma_odp_create(to_frdma(pd->device), start, length,
			       frdma_page_in_account(), mr->charge.account);
	if (IS_ERR(odp)) {
		frdma_mr_discard(mr);
		return ERR_CAST(odp);
	}

	atomic_inc(&to_frdma(pd->device)->nr_odp);
	atomic_inc(&to_frdma_pd(pd)->nr_odp);
	mr->odp = odp;
	mr->offset = start;
	mr->iova = iova;
	mr->length = length;
	frdma_mr_publish(mr);
	return &mr->ib;
}

struct ib_mr *frdma_reg_user_mr(struct ib_pd *pd, u64 start, u64 length,
				u64 iova, int access, struct ib_dmah *dmah,
				struct ib_udata *udata)
{
	struct mr_memory memory = { .account = frdma_pd_account(pd) };
	struct frdma_mr *mr;
	int err;

	if (dmah)
		return ERR_PTR(-EOPNOTSUPP);
	err = frdma_no_driver_data(udata);
	if (err)
		return ERR_PTR(err);
	if (access & IB_ACCESS_ON_DEMAND)
		return reg_on_demand(pd, start, length, iova, access);
	err = frdma_mr_check_access(pd->device, access);
	if (err)
		return ERR_PTR(err);

	mr = frdma_mr_create(pd, FRDMA_MR_USER, access);
	if (IS_ERR(mr))
		return ERR_CAST(mr);

	err = mr_memory_pin(&memory, pd->device, start, length, iova, access);
	if (err) {
		frdma_mr_discard(mr);
		return ERR_PTR(err);
	}

	mr_swap_memory(mr, &memory);
	frdma_mr_publish(mr);
	return &mr->ib;
}

/*
 * All that can fail comes first. While the region changes, its key is
 * invalid; the consumer has no work outstanding on it (11.2.8.5).
 */
struct ib_mr *frdma_rereg_user_mr(struct ib_mr *ib, int flags, u64 start,
				  u64 length, u64 iova, int access,
				  struct ib_pd *pd, struct ib_udata *udata)
{
	struct frdma_mr *mr = to_frdma_mr(ib);
	struct mr_memory memory = { .account = mr->charge.account };
	int err;

	if (mr->kind != FRDMA_MR_USER ||
	    flags & ~(IB_MR_REREG_TRANS | IB_MR_REREG_PD | IB_MR_REREG_ACCESS))
		return ERR_PTR(frdma_refuse(ib->device, -EOPNOTSUPP,
					    "rereg_mr: not for this kind of region, or flags 0x%x are unknown",
					    flags));

	if (!(flags & IB_MR_REREG_ACCESS))
		access = mr->access;
	err = frdma_mr_check_access(ib->device, access) ?:
	      frdma_no_driver_data(udata);
	if (err)
		return ERR_PTR(err);
	if (!frdma_mr_refuse_windows(mr))
		return ERR_PTR(frdma_refuse(ib->device, -EBUSY,
					    "rereg_mr: a memory window is bound to the region"));

	if (flags & IB_MR_REREG_TRANS)
		err = mr_memory_pin(&memory, ib->device, start, length, iova,
				    access);
	else
		err = ib_umem_check_rereg(mr->umem, flags, access) ?:
		      mr_check_persistence(ib->device, access, &mr->pages,
					   mr->offset, mr->length);
	if (err)
		goto out_allow_windows;

	frdma_mr_hide(mr);
	mr->access = access;
	if (flags & IB_MR_REREG_PD)
		mr->pd = pd;
	if (flags & IB_MR_REREG_TRANS)
		mr_swap_memory(mr, &memory);
	frdma_mr_publish(mr);
	mr_memory_unpin(&memory);

out_allow_windows:
	frdma_mr_allow_windows(mr);
	return err ? ERR_PTR(err) : NULL;
}
