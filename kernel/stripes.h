/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A place in the payload of packets that lie one behind the other, with their
 * headers between: bytes that follow each other in a message go there in
 * stripes. It only moves forwards.
 */
#ifndef FRDMA_STRIPES_H
#define FRDMA_STRIPES_H

#include <linux/string.h>
#include <linux/types.h>

/**
 * struct frdma_stripes - a place in a string of bytes with gaps
 * @at: where the next byte goes
 * @left: bytes up to the end of its stripe
 * @len: bytes of a stripe
 * @gap: bytes from the end of one to the next
 */
struct frdma_stripes {
	void *at;
	u32 left;
	u32 len;
	u32 gap;
};

/** frdma_stripes_at() - the first byte of the first stripe, which is at @at */
static inline struct frdma_stripes frdma_stripes_at(void *at, u32 len, u32 gap)
{
	return (struct frdma_stripes) {
		.at = at, .left = len, .len = len, .gap = gap,
	};
}

/**
 * frdma_stripes_put() - put bytes there, and go on behind them
 * @to: the place
 * @src: @len bytes
 * @len: bytes; stripes have room for them
 */
static inline void frdma_stripes_put(struct frdma_stripes *to, const void *src,
				     size_t len)
{
	size_t n;

	for (; len > to->left; len -= n, src += n) {
		n = to->left;
		memcpy(to->at, src, n);
		to->at += n + to->gap;
		to->left = to->len;
	}
	memcpy(to->at, src, len);
	to->at += len;
	to->left -= len;
}

#endif /* FRDMA_STRIPES_H */
