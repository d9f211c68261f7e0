// SPDX-License-Identifier: GPL-2.0
/* Fast registration. */
#include "fast.h"

#include <linux/log2.h>

#include "mr.h"
#include "proto/access.h"

/*
 * Mapping and registering
 */

/* Makes the region what the consumer mapped; nobody else looks at it now. */
static enum frdma_mr_fault mr_take_mapping(struct frdma_mr *mr)
{
	u64 room, offset;

	if (mr->next_mapped) {
		swap(mr->pages, mr->next);
		mr->nr_mapped = mr->next_mapped;
		mr->next_mapped = 0;
	}

	offset = mr->ib.iova & (BIT_ULL(mr->pages.block_shift) - 1);
	room = (u64)mr->nr_mapped << mr->pages.block_shift;
	if (!frdma_range_in(offset, mr->ib.length, 0, room) ||
	    mr->ib.iova + mr->ib.length < mr->ib.iova)
		return FRDMA_MR_BAD_RANGE;

	mr->offset = offset;
	mr->iova = mr->ib.iova;
	mr->length = mr->ib.length;
	return FRDMA_MR_OK;
}

enum frdma_mr_fault frdma_mr_fast_reg(struct frdma_mr *mr,
				      const struct ib_pd *pd, u32 key,
				      int access)
{
	enum frdma_mr_fault fault;

	if (mr->kind != FRDMA_MR_FAST || (key ^ mr->key) >> FRDMA_MR_KEY_BITS)
		return FRDMA_MR_BAD_KEY;
	if (mr->pd != pd)
		return FRDMA_MR_BAD_PD;

	/* Nobody enters while the region changes, and nobody else changes it. */
	if (!frdma_mr_begin_change(mr))
		return FRDMA_MR_BAD_KEY;

	fault = mr_take_mapping(mr);
	if (fault != FRDMA_MR_OK) {
		frdma_mr_end_change(mr);
		return fault;
	}

	WRITE_ONCE(mr->key, key);
	WRITE_ONCE(mr->access, access & ~FRDMA_ACC_FLUSH);
	frdma_mr_validate(mr);
	return FRDMA_MR_OK;
}

/*
 * Verbs
 */

struct ib_mr *frdma_alloc_mr(struct ib_pd *pd, enum ib_mr_type type,
			     u32 max_num_sg)
{
	struct frdma_mr *mr;
	int err;

	if (type != IB_MR_TYPE_MEM_REG)
		return ERR_PTR(-EOPNOTSUPP);
	if (!max_num_sg || max_num_sg > FRDMA_MAX_FAST_REG_BLOCKS)
		return ERR_PTR(-EINVAL);

	mr = frdma_mr_create(pd, FRDMA_MR_FAST, 0);
	if (IS_ERR(mr))
		return ERR_CAST(mr);

	err = frdma_pages_alloc(&mr->pages, mr->charge.account, max_num_sg);
	if (err)
		goto err_discard;
	err = frdma_pages_alloc(&mr->next, mr->charge.account, max_num_sg);
	if (err)
		goto err_discard;

	frdma_mr_publish(mr);
	return &mr->ib;

err_discard:
	frdma_mr_discard(mr);
	return ERR_PTR(err);
}

/* Called by ib_sg_to_pages() for each block, in order. */
static int mr_map_block(struct ib_mr *ib, u64 addr)
{
	struct frdma_mr *mr = to_frdma_mr(ib);

	if (mr->next_mapped == mr->next.nr_blocks)
		return -ENOMEM;

	frdma_pages_set(&mr->next, mr->next_mapped++,
			ib_virt_dma_to_ptr(addr));
	return 0;
}

int frdma_map_mr_sg(struct ib_mr *ib, struct scatterlist *sg, int nents,
		    unsigned int *offset)
{
	struct frdma_mr *mr = to_frdma_mr(ib);

	if (mr->kind != FRDMA_MR_FAST || !is_power_of_2(ib->page_size))
		return -EINVAL;

	mr->next_mapped = 0;
	mr->next.block_shift = ilog2(ib->page_size);
	return ib_sg_to_pages(ib, sg, nents, offset, mr_map_block);
}
