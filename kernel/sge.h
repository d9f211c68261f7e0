/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Scatter/gather lists: the memory of a work request, seen as one string of
 * bytes. The lists are private copies, but what they say is the consumer's:
 * each function judges the keys and ranges that it touches. Each that touches
 * bytes returns FRDMA_MR_ABSENT where pages are not there, with those in front
 * of them touched; frdma_sge_page_in() asks for them.
 *
 * Context of all functions: bottom halves off, in an RCU read section.
 */
#ifndef FRDMA_SGE_H
#define FRDMA_SGE_H

#include <linux/types.h>

#include "mr.h"
#include "uapi/frdma-abi.h"

/* Largest message (9.7.4.1.1 and the advertised max_msg_sz). */
#define FRDMA_SGE_MAX_BYTES	(1ULL << 31)

/**
 * frdma_sge_check() - could all of a list be touched?
 * @dev: the device
 * @pd: protection domain of the queue pair
 * @sge: @num_sge elements
 * @num_sge: number of elements, may be 0
 * @access: 0 to gather, IB_ACCESS_LOCAL_WRITE to scatter
 * @total: receives the bytes of all elements
 *
 * An element without bytes is not looked up.
 *
 * Return: FRDMA_MR_OK; FRDMA_MR_BAD_RANGE also for more than
 * FRDMA_SGE_MAX_BYTES in total; the first fault.
 */
enum frdma_mr_fault frdma_sge_check(struct frdma_dev *dev,
				    const struct ib_pd *pd,
				    const struct frdma_sge *sge, u32 num_sge,
				    int access, u64 *total);

/**
 * frdma_sge_gather() - copy out of the memory of a list
 * @dev: the device
 * @pd: protection domain of the queue pair
 * @sge: @num_sge elements
 * @num_sge: number of elements
 * @off: first byte, counted through the list
 * @to: where @len bytes go
 * @len: bytes; if the list has fewer, FRDMA_MR_BAD_RANGE
 *
 * Return: FRDMA_MR_OK, and @to is moved behind them; or the first fault, where
 * some may have been copied.
 */
enum frdma_mr_fault frdma_sge_gather(struct frdma_dev *dev,
				     const struct ib_pd *pd,
				     const struct frdma_sge *sge, u32 num_sge,
				     u64 off, struct frdma_stripes *to,
				     size_t len);

/**
 * frdma_sge_scatter() - copy into the memory of a list
 * @dev: the device
 * @pd: protection domain of the queue pair
 * @sge: @num_sge elements
 * @num_sge: number of elements
 * @off: first byte, counted through the list
 * @src: @len bytes
 * @len: bytes; if the list has fewer, FRDMA_MR_BAD_RANGE
 *
 * Return: FRDMA_MR_OK or the first fault, where the memory in front of it is
 * written.
 */
enum frdma_mr_fault frdma_sge_scatter(struct frdma_dev *dev,
				      const struct ib_pd *pd,
				      const struct frdma_sge *sge, u32 num_sge,
				      u64 off, const void *src, size_t len);

/**
 * frdma_sge_scatter_payload() - copy from packets into the memory of a list
 * @dev: the device
 * @pd: protection domain of the queue pair
 * @sge: @num_sge elements
 * @num_sge: number of elements
 * @off: first byte, counted through the list
 * @from: their payload
 * @len: bytes, all of them in the packets; if the list has fewer,
 *       FRDMA_MR_BAD_RANGE
 *
 * Return: as frdma_sge_scatter().
 */
enum frdma_mr_fault frdma_sge_scatter_payload(struct frdma_dev *dev,
					      const struct ib_pd *pd,
					      const struct frdma_sge *sge,
					      u32 num_sge, u64 off,
					      struct frdma_payload from,
					      size_t len);

/**
 * frdma_sge_page_in() - are the bytes of a range there? Ask for them if not
 * @dev: the device
 * @pd: protection domain of the queue pair
 * @sge: @num_sge elements
 * @num_sge: number of elements
 * @off: first byte, counted through the list
 * @len: bytes; if the list has fewer, FRDMA_MR_BAD_RANGE
 * @access: 0 to gather, IB_ACCESS_LOCAL_WRITE to scatter
 * @in: of the side that needs them
 *
 * Return: FRDMA_MR_OK; FRDMA_MR_ABSENT: try again when @in wakes the side, or
 * later; the first fault, FRDMA_MR_BAD_RANGE also for what is not to be had.
 */
enum frdma_mr_fault frdma_sge_page_in(struct frdma_dev *dev,
				      const struct ib_pd *pd,
				      const struct frdma_sge *sge, u32 num_sge,
				      u64 off, size_t len, int access,
				      struct frdma_page_in *in);

/**
 * frdma_sge_lend() - the memory of a list, to be read where it lies
 * @dev: the device
 * @pd: protection domain of the queue pair
 * @sge: @num_sge elements
 * @num_sge: number of elements
 * @off: first byte, counted through the list
 * @len: bytes; if the list has fewer, FRDMA_MR_BAD_RANGE
 * @lent: set to the pieces, good until the RCU read section ends
 *
 * Return: FRDMA_MR_OK; FRDMA_MR_NOT_LENT if only the first of the bytes, or none,
 * can be lent; or the first fault.
 */
enum frdma_mr_fault frdma_sge_lend(struct frdma_dev *dev,
				   const struct ib_pd *pd,
				   const struct frdma_sge *sge, u32 num_sge,
				   u64 off, size_t len,
				   struct frdma_lent *lent);

#endif /* FRDMA_SGE_H */
