/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The payload of one packet as it lies in memory: a few pieces of pages, and
 * a reference to each page.
 */
#ifndef FRDMA_REFS_H
#define FRDMA_REFS_H

#include <linux/bvec.h>
#include <linux/mm.h>
#include <linux/net.h>

/* A page boundary inside a packet is common. More pieces are dearer than a copy. */
#define FRDMA_REFS_MAX	2

/**
 * struct frdma_refs - pieces of pages
 * @nr: how many
 * @vec: the pieces, in order
 */
struct frdma_refs {
	unsigned int nr;
	struct bio_vec vec[FRDMA_REFS_MAX];
};

/**
 * frdma_refs_add() - add a piece, and take a reference to its page
 * @refs: pieces
 * @kaddr: first byte, an address that virt_to_page() takes
 * @len: bytes that follow each other there
 *
 * Return: how many of them were added, all in a compound page; 0 if there is
 * no room, or if the memory must not be referenced.
 */
static inline size_t frdma_refs_add(struct frdma_refs *refs, void *kaddr,
				    size_t len)
{
	struct page *page, *head;
	size_t off;

	if (refs->nr == FRDMA_REFS_MAX)
		return 0;
	page = virt_to_page(kaddr);
	if (!sendpage_ok(page))
		return 0;

	/* Not by addresses: the kernel's own data have two, and this is one. */
	head = compound_head(page);
	off = (page_to_pfn(page) - page_to_pfn(head)) * PAGE_SIZE +
	      offset_in_page(kaddr);
	len = min(len, page_size(head) - off);
	get_page(head);
	bvec_set_page(&refs->vec[refs->nr++], head, len, off);
	return len;
}

/** frdma_refs_put() - give all references back; no piece is left */
static inline void frdma_refs_put(struct frdma_refs *refs)
{
	while (refs->nr)
		put_page(refs->vec[--refs->nr].bv_page);
}

#endif /* FRDMA_REFS_H */
