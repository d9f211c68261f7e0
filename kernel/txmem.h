/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Memory of packets to send: large pages, a few per CPU, used in turn. What
 * was sent from a page has mostly been received and freed again when its turn
 * comes round; then it is used again as it is, while a fresh page would be
 * allocated and cleared first.
 *
 * A burst takes one page at a time out of its CPU's ring, so that none other
 * can use it, whatever preempts whom. Pages in a ring are given back when the
 * kernel is short of memory, and when the CPU goes offline.
 */
#ifndef FRDMA_TXMEM_H
#define FRDMA_TXMEM_H

#include <linux/mm.h>

/**
 * struct frdma_txmem - the page that a burst is cut from
 * @frag: the page, and how much of it is used; no page: none was taken yet
 * @slot: where in the ring it came from
 */
struct frdma_txmem {
	struct page_frag frag;
	unsigned int slot;
};

/** frdma_txmem_at() - the first byte that is not used yet */
static inline void *frdma_txmem_at(const struct frdma_txmem *mem)
{
	return page_address(mem->frag.page) + mem->frag.offset;
}

/** frdma_txmem_left() - bytes that there are from there on */
static inline u32 frdma_txmem_left(const struct frdma_txmem *mem)
{
	return mem->frag.page ? mem->frag.size - mem->frag.offset : 0;
}

void frdma_txmem_begin(struct frdma_txmem *mem);
bool frdma_txmem_room(struct frdma_txmem *mem, unsigned int len);
void frdma_txmem_end(struct frdma_txmem *mem);
int frdma_txmem_init(void);
void frdma_txmem_exit(void);

#endif /* FRDMA_TXMEM_H */
