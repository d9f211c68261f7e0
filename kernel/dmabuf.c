// SPDX-License-Identifier: GPL-2.0
/* Regions of dma-bufs. */
#include "dmabuf.h"

#include <linux/dma-buf.h>
#include <linux/dma-resv.h>
#include <linux/iosys-map.h>
#include <linux/module.h>
#include <linux/slab.h>

#include "limit.h"
#include "mr.h"
#include "proto/access.h"
#include "refuse.h"

#include "compat/dmabuf.h"

/* As a string on all kernels: what MODULE_IMPORT_NS() takes has changed. */
MODULE_INFO(import_ns, "DMA_BUF");

/**
 * struct frdma_dmabuf - a buffer in use
 * @dmabuf: the buffer, held
 * @attach: says to the exporter that the buffer must stay where it is
 * @dir: what the CPU does with it
 * @map: where it is in the kernel's address space
 */
struct frdma_dmabuf {
	struct dma_buf *dmabuf;
	struct dma_buf_attachment *attach;
	enum dma_data_direction dir;
	struct iosys_map map;
};

/*
 * No memory of another device, which the CPU could not reach like its own; and
 * what is pinned does not move, so there is nothing to be told.
 */
static const struct dma_buf_attach_ops attach_ops = {
	.allow_peer2peer = false,
};

/*
 * Buffers that may move are pinned. An exporter that knows no pinning does it
 * when it is attached to, by one who knows none either: for another, kernels
 * before 7 would map the buffer for DMA at once, which this device has not.
 */
static int dmabuf_pin(struct frdma_dmabuf *buf, struct device *dev)
{
	bool dynamic = dma_buf_is_dynamic(buf->dmabuf);
	int err;

	buf->attach = dynamic ?
		      dma_buf_dynamic_attach(buf->dmabuf, dev, &attach_ops,
					     NULL) :
		      dma_buf_attach(buf->dmabuf, dev);
	if (IS_ERR(buf->attach))
		return PTR_ERR(buf->attach);
	if (!dynamic)
		return 0;

	dma_resv_lock(buf->dmabuf->resv, NULL);
	err = dma_buf_pin(buf->attach);
	dma_resv_unlock(buf->dmabuf->resv);
	if (err)
		dma_buf_detach(buf->dmabuf, buf->attach);

	return err;
}

static void dmabuf_unpin(struct frdma_dmabuf *buf)
{
	if (dma_buf_is_dynamic(buf->dmabuf)) {
		dma_resv_lock(buf->dmabuf->resv, NULL);
		dma_buf_unpin(buf->attach);
		dma_resv_unlock(buf->dmabuf->resv);
	}
	dma_buf_detach(buf->dmabuf, buf->attach);
}

/* An exporter without a mapping in the kernel has no memory for the CPU. */
static int dmabuf_map(struct frdma_dmabuf *buf)
{
	int err;

	if (!buf->dmabuf->ops->vmap)
		return -EOPNOTSUPP;

	err = dma_buf_vmap_unlocked(buf->dmabuf, &buf->map);
	if (err)
		return err;
	if (!buf->map.is_iomem)
		return 0;

	dma_buf_vunmap_unlocked(buf->dmabuf, &buf->map);
	return -EOPNOTSUPP;
}

static int dmabuf_use(struct frdma_dmabuf *buf, struct device *dev)
{
	int err;

	err = dmabuf_pin(buf, dev);
	if (err)
		return err;

	/* Also waits for what other devices are doing to it. */
	err = dma_buf_begin_cpu_access(buf->dmabuf, buf->dir);
	if (err)
		goto err_unpin;

	err = dmabuf_map(buf);
	if (err)
		goto err_end_access;

	return 0;

err_end_access:
	dma_buf_end_cpu_access(buf->dmabuf, buf->dir);
err_unpin:
	dmabuf_unpin(buf);
	return err;
}

static struct frdma_dmabuf *dmabuf_open(struct device *dev, int fd, int access)
{
	struct frdma_dmabuf *buf;
	int err;

	buf = kzalloc(sizeof(*buf), FRDMA_GFP_OBJECT);
	if (!buf)
		return ERR_PTR(-ENOMEM);

	buf->dir = ib_access_writable(access) ? DMA_BIDIRECTIONAL :
						DMA_FROM_DEVICE;
	buf->dmabuf = dma_buf_get(fd);
	if (IS_ERR(buf->dmabuf)) {
		err = PTR_ERR(buf->dmabuf);
		goto err_free;
	}

	err = dmabuf_use(buf, dev);
	if (err)
		goto err_put;

	return buf;

err_put:
	dma_buf_put(buf->dmabuf);
err_free:
	kfree(buf);
	return ERR_PTR(err);
}

void frdma_dmabuf_close(struct frdma_dmabuf *buf)
{
	if (!buf)
		return;

	dma_buf_vunmap_unlocked(buf->dmabuf, &buf->map);
	dma_buf_end_cpu_access(buf->dmabuf, buf->dir);
	dmabuf_unpin(buf);
	dma_buf_put(buf->dmabuf);
	kfree(buf);
}

struct ib_mr *frdma_reg_dmabuf_mr(struct ib_pd *pd, u64 offset, u64 length,
				  u64 iova, int fd, int access,
				  struct ib_dmah *dmah,
				  struct uverbs_attr_bundle *attrs)
{
	struct frdma_dmabuf *buf;
	struct frdma_mr *mr;

	if (dmah)
		return ERR_PTR(-EOPNOTSUPP);

	buf = dmabuf_open(&pd->device->dev, fd, access);
	if (IS_ERR(buf))
		return ERR_PTR(frdma_refuse(pd->device, PTR_ERR(buf),
					    "reg_dmabuf_mr: no dma-buf, or its exporter has no CPU mapping"));

	if (length && frdma_range_in(offset, length, 0, buf->dmabuf->size))
		mr = frdma_mr_create_span(pd, FRDMA_MR_DMABUF, access,
					  buf->map.vaddr + offset, iova,
					  length);
	else
		mr = ERR_PTR(frdma_refuse(pd->device, -EINVAL,
					  "reg_dmabuf_mr: %llu bytes at %llu are not in the buffer of %zu",
					  length, offset, buf->dmabuf->size));
	if (IS_ERR(mr)) {
		frdma_dmabuf_close(buf);
		return ERR_CAST(mr);
	}

	mr->dmabuf = buf;
	frdma_mr_publish(mr);
	return &mr->ib;
}
