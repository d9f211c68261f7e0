/* SPDX-License-Identifier: GPL-2.0 */
/* FLUSH: what a peer has written is where it wants it. */
#ifndef FRDMA_FLUSH_H
#define FRDMA_FLUSH_H

#include <linux/types.h>

struct frdma_mr;
struct frdma_pages;

/**
 * frdma_pages_are_persistent() - does memory outlive a loss of power
 * @pages: where it is
 * @offset: bytes from the first block to the first byte
 * @length: bytes, at least one
 *
 * So says whoever described the memory to the kernel: the firmware, or the
 * administrator on the kernel's command line.
 *
 * Context: may sleep.
 */
bool frdma_pages_are_persistent(const struct frdma_pages *pages, u64 offset,
				u64 length);

/**
 * frdma_flush_global() - all that was written here before is seen by all
 *
 * Context: any.
 */
void frdma_flush_global(void);

/**
 * frdma_flush_persistent() - a part of a region is in persistent memory
 * @mr: entered for the range, with the right to flush to such memory
 * @addr: first byte
 * @len: bytes, may be 0
 *
 * Includes what frdma_flush_global() does. Takes time in proportion to @len.
 *
 * Context: between enter and leave.
 */
void frdma_flush_persistent(const struct frdma_mr *mr, u64 addr, u64 len);

#endif /* FRDMA_FLUSH_H */
