/* SPDX-License-Identifier: GPL-2.0 */
/* Registered memory that is read where it lies, by a peer on the same device. */
#ifndef FRDMA_LENT_H
#define FRDMA_LENT_H

#include <linux/types.h>
#include <linux/uio.h>

/* Pieces that fit on a stack. Fewer bytes go at once where memory has more. */
#define FRDMA_LENT_MAX	32

/**
 * struct frdma_lent - pieces of memory, one behind the other
 * @nr: how many
 * @len: bytes of all of them
 * @vec: the pieces
 *
 * Good as long as the RCU read section lasts in which they were looked up, and
 * the region of which they are, if its readers are counted, is entered.
 */
struct frdma_lent {
	u32 nr;
	u32 len;
	struct kvec vec[FRDMA_LENT_MAX];
};

/**
 * frdma_lent_add() - add a piece
 * @lent: pieces, behind which it comes
 * @kaddr: its first byte
 * @len: bytes
 *
 * Return: false if there is no room for it.
 */
static inline bool frdma_lent_add(struct frdma_lent *lent, void *kaddr, u32 len)
{
	if (lent->nr == FRDMA_LENT_MAX)
		return false;
	lent->vec[lent->nr++] = (struct kvec) { kaddr, len };
	lent->len += len;
	return true;
}

#endif /* FRDMA_LENT_H */
