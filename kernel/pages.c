// SPDX-License-Identifier: GPL-2.0
/* The page table of a memory region. */
#include "pages.h"

#include <linux/gfp.h>
#include <linux/math.h>
#include <linux/mm.h>
#include <linux/nospec.h>
#include <linux/scatterlist.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>

#include "limit.h"

/* Slots of a node that fills a page. */
#define NODE_SHIFT	(PAGE_SHIFT - ilog2(sizeof(void *)))
#define NODE_SLOTS	BIT(NODE_SHIFT)
#define NODE_MASK	(NODE_SLOTS - 1)

/* Slot, in the node @height levels above the leaves, that leads to a block. */
static size_t node_slot(u64 index, unsigned int height)
{
	return (index >> (height * NODE_SHIFT)) & NODE_MASK;
}

/* The leaf with the slot of a block. */
static void **block_leaf(const struct frdma_pages *pages, u64 index)
{
	unsigned int height = pages->depth - 1;
	void **node = pages->root;

	for (; height; height--)
		node = node[node_slot(index, height)];

	return node;
}

/*
 * The leaves' parents and so on are full pages. The root has the slots that
 * it needs: most regions are small.
 */
static int root_alloc(struct frdma_pages *pages, u64 nr_blocks)
{
	u64 slots = nr_blocks;

	pages->nr_blocks = nr_blocks;
	for (pages->depth = 1; slots > NODE_SLOTS; pages->depth++)
		slots = DIV_ROUND_UP_ULL(slots, NODE_SLOTS);

	pages->root = kcalloc(slots, sizeof(void *), FRDMA_GFP_OBJECT);
	return pages->root ? 0 : -ENOMEM;
}

/* Makes the nodes below the root that lead to one block. */
static int path_alloc(struct frdma_pages *pages, u64 index)
{
	unsigned int height = pages->depth - 1;
	void **node = pages->root;
	void **slot;

	for (; height; height--) {
		slot = &node[node_slot(index, height)];
		if (!*slot)
			*slot = (void *)get_zeroed_page(FRDMA_GFP_OBJECT);
		if (!*slot)
			return -ENOMEM;
		node = *slot;
	}

	return 0;
}

/*
 * A block is a slot here, and at most an entry of the list that ib_umem has of
 * pinned memory.
 */
#define BLOCK_BYTES	(sizeof(void *) + sizeof(struct scatterlist))

int frdma_pages_alloc(struct frdma_pages *pages, struct frdma_account *account,
		      u64 nr_blocks)
{
	u64 index;
	int err;

	if (!frdma_charge(&pages->charge, account, nr_blocks * BLOCK_BYTES))
		return -ENOMEM;
	err = root_alloc(pages, nr_blocks);
	if (err) {
		frdma_uncharge(&pages->charge);
		return err;
	}

	for (index = 0; index < nr_blocks; index += NODE_SLOTS) {
		err = fatal_signal_pending(current) ? -EINTR :
						      path_alloc(pages, index);
		if (err)
			goto err_free;
		cond_resched();
	}

	return 0;

err_free:
	frdma_pages_free(pages);
	return err;
}

/* Slots of the root; below, every node has NODE_SLOTS. */
static size_t root_slots(const struct frdma_pages *pages)
{
	return node_slot(pages->nr_blocks - 1, pages->depth - 1) + 1;
}

/* Frees what hangs below a node; recursion ends at the leaves' parents. */
static void children_free(void **node, size_t slots, unsigned int height)
{
	size_t i;

	if (!height)
		return;

	for (i = 0; i < slots && node[i]; i++) {
		children_free(node[i], NODE_SLOTS, height - 1);
		free_page((unsigned long)node[i]);
	}
	cond_resched();
}

void frdma_pages_free(struct frdma_pages *pages)
{
	if (!pages->root)
		return;

	children_free(pages->root, root_slots(pages), pages->depth - 1);
	kfree(pages->root);
	frdma_uncharge(&pages->charge);
	*pages = (struct frdma_pages) {};
}

void frdma_pages_set(struct frdma_pages *pages, u64 index, void *kaddr)
{
	block_leaf(pages, index)[index & NODE_MASK] = kaddr;
}

size_t frdma_pages_run(const struct frdma_pages *pages, u64 offset, size_t len,
		       void **kaddr)
{
	u64 block = BIT_ULL(pages->block_shift);
	u64 index = offset >> pages->block_shift;
	void **leaf;
	size_t slot;
	u64 run;

	/* The peer chose @offset: its range was judged, but perhaps mispredicted. */
	index = array_index_nospec(index, pages->nr_blocks);
	leaf = block_leaf(pages, index);
	slot = index & NODE_MASK;
	offset &= block - 1;
	*kaddr = leaf[slot] + offset;

	/* Neighbours in the region are often neighbours in memory. */
	for (run = block - offset; run < len; run += block) {
		if (slot == NODE_MASK || leaf[slot + 1] != leaf[slot] + block)
			return run;
		slot++;
	}

	return len;
}
