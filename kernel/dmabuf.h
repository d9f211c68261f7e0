/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Regions of memory that another driver exports as a dma-buf.
 *
 * This device has no DMA: its bytes are moved by the CPU, through the mapping
 * that the exporter makes in the kernel. The exporter pins the buffer where
 * CPUs reach it, and a region lasts from the beginning of a CPU access to its
 * end. The buffer itself lives as long as the region, also when everybody else
 * has closed it.
 */
#ifndef FRDMA_DMABUF_H
#define FRDMA_DMABUF_H

#include <rdma/ib_verbs.h>

struct frdma_dmabuf;
struct ib_dmah;
struct uverbs_attr_bundle;

/**
 * frdma_dmabuf_close() - let go of a buffer
 * @buf: whose region has no readers; NULL is nothing
 *
 * Context: may sleep.
 */
void frdma_dmabuf_close(struct frdma_dmabuf *buf);

/* Verb; context and return as ib_core defines them. */
struct ib_mr *frdma_reg_dmabuf_mr(struct ib_pd *pd, u64 offset, u64 length,
				  u64 iova, int fd, int access,
				  struct ib_dmah *dmah,
				  struct uverbs_attr_bundle *attrs);

#endif /* FRDMA_DMABUF_H */
