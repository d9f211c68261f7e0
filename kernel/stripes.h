/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A place in the payload of packets that lie one behind the other, with their
 * headers between: bytes that follow each other in a message go there in
 * stripes. It only moves forwards. Each packet is summed as it is filled, while
 * the processor has its bytes at hand.
 */
#ifndef FRDMA_STRIPES_H
#define FRDMA_STRIPES_H

#include <linux/minmax.h>
#include <linux/types.h>

#include "crc.h"

/**
 * struct frdma_stripes - a place in a string of bytes with gaps
 * @at: where the next byte goes
 * @left: bytes up to the end of its stripe
 * @len: bytes of a stripe
 * @gap: bytes from the end of one to the next
 * @sum: bytes from the end of one to the CRC-32 of its packet so far, a u32
 */
struct frdma_stripes {
	void *at;
	u32 left;
	u32 len;
	u32 gap;
	u32 sum;
};

/* Bytes for one stripe. */
static inline void frdma_stripe_put(struct frdma_stripes *to, const void *src,
				    u32 len)
{
	u32 *sum = to->at + to->left + to->sum;

	*sum = frdma_crc32_copy(*sum, to->at, src, len);
	to->at += len;
	to->left -= len;
}

/**
 * frdma_stripes_put - put bytes there, and go on behind them
 * @to: the place
 * @src: @len bytes
 * @len: bytes; stripes have room for them
 *
 * Context: as frdma_crc32_copy().
 */
static inline void frdma_stripes_put(struct frdma_stripes *to, const void *src,
				     size_t len)
{
	u32 n;

	for (; len; len -= n, src += n) {
		if (!to->left) {
			to->at += to->gap;
			to->left = to->len;
		}
		n = min_t(size_t, len, to->left);
		frdma_stripe_put(to, src, n);
	}
}

#endif /* FRDMA_STRIPES_H */
