/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Lets dmabuf.c attach to buffers and map them as on today's kernels. Its last
 * include.
 */
#ifndef FRDMA_COMPAT_DMABUF_H
#define FRDMA_COMPAT_DMABUF_H

#include <linux/dma-buf.h>

/* Of old the one function took no lock of the caller's either. */
#ifndef HAVE_DMA_BUF_VMAP_UNLOCKED
#define dma_buf_vmap_unlocked	dma_buf_vmap
#define dma_buf_vunmap_unlocked	dma_buf_vunmap
#endif

/* Insists on a function for buffers that move, which pinned ones do not. */
#ifndef HAVE_DMA_BUF_INVALIDATE_MAPPINGS
static void compat_move_notify(struct dma_buf_attachment *attach)
{
}

static const struct dma_buf_attach_ops compat_attach_ops = {
	.move_notify = compat_move_notify,
};

static inline struct dma_buf_attachment *
compat_attach(struct dma_buf *dmabuf, struct device *dev,
	      const struct dma_buf_attach_ops *ops, void *priv)
{
	return dma_buf_dynamic_attach(dmabuf, dev, &compat_attach_ops, priv);
}

#define dma_buf_dynamic_attach compat_attach
#endif

#endif /* FRDMA_COMPAT_DMABUF_H */
