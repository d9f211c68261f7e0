/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The page table of a memory region: a radix tree of page-sized nodes whose
 * leaves hold the kernel addresses of equal-sized blocks of memory. No node
 * is larger than a page, whatever the size of the region.
 */
#ifndef FRDMA_PAGES_H
#define FRDMA_PAGES_H

#include <linux/types.h>

#include "account.h"

/**
 * struct frdma_pages - where the bytes of a region are
 * @root: top node; NULL: no blocks
 * @nr_blocks: blocks that the tree has room for
 * @depth: nodes from @root to a leaf, both counted
 * @block_shift: log2 of the bytes of a block
 * @charge: of the nodes
 *
 * All zero is a table without blocks. Whoever owns the table serialises
 * changes against readers.
 */
struct frdma_pages {
	void *root;
	u64 nr_blocks;
	u8 depth;
	u8 block_shift;
	struct frdma_charge charge;
};

/**
 * frdma_pages_alloc() - make room for blocks
 * @pages: to be filled in
 * @account: of the nodes; NULL: a consumer in the kernel
 * @nr_blocks: how many, at least one
 *
 * The nodes are charged to @account and to the caller's memory cgroup. The caller
 * says how large a block is in @pages->block_shift, before or after.
 *
 * Context: process, may sleep. Return: 0 or -ENOMEM; -EINTR if the caller
 * is being killed.
 */
int frdma_pages_alloc(struct frdma_pages *pages, struct frdma_account *account,
		      u64 nr_blocks);

/**
 * frdma_pages_free() - free all nodes; the memory of the region is not touched
 * @pages: the table, all zero afterwards
 *
 * Context: process, may sleep.
 */
void frdma_pages_free(struct frdma_pages *pages);

/**
 * frdma_pages_set() - say where a block is
 * @pages: the table
 * @index: of the block, below its nr_blocks
 * @kaddr: kernel address of its first byte
 *
 * Context: any.
 */
void frdma_pages_set(struct frdma_pages *pages, u64 index, void *kaddr);

/**
 * frdma_pages_run() - the contiguous memory at an offset
 * @pages: the table
 * @offset: bytes from the first byte of block 0; must be inside the table
 * @len: bytes wanted, at least one
 * @kaddr: receives the kernel address of the byte at @offset
 *
 * Context: any. Return: bytes that follow each other at @kaddr, 1 to @len.
 */
size_t frdma_pages_run(const struct frdma_pages *pages, u64 offset, size_t len,
		       void **kaddr);

#endif /* FRDMA_PAGES_H */
