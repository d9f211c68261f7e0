// SPDX-License-Identifier: GPL-2.0
/*
 * Exports dma-bufs of one page, as drivers of GPUs do: buffers that the CPU cannot
 * map, buffers in memory of a device, buffers that must be pinned. dmabuf.sh
 * loads it. The ioctl() EXPORT of /dev/frdma-exporter returns the descriptor of a
 * new buffer; its argument is the kind.
 */
#include <linux/atomic.h>
#include <linux/dma-buf.h>
#include <linux/iosys-map.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/scatterlist.h>

/* As in dmabuf.c. The kernel itself answers small numbers, FIGETBSZ is 2. */
#define EXPORT	0xf100

enum kind {
	KIND_NO_VMAP,
	KIND_IOMEM,
	KIND_NO_PIN,
	KIND_MOVES,
	NR_KINDS,
};

/* What an importer has not given back: pins, CPU accesses, mappings. */
static atomic_t in_use;

static int get_in_use(char *buffer, const struct kernel_param *param)
{
	return sysfs_emit(buffer, "%d\n", atomic_read(&in_use));
}

static const struct kernel_param_ops in_use_ops = { .get = get_in_use };
module_param_cb(in_use, &in_use_ops, NULL, 0444);

/* Devices without DMA do not ask for this. */
static struct sg_table *map(struct dma_buf_attachment *attach,
			    enum dma_data_direction dir)
{
	return ERR_PTR(-EIO);
}

static void unmap(struct dma_buf_attachment *attach, struct sg_table *table,
		  enum dma_data_direction dir)
{
}

static void release(struct dma_buf *buf)
{
	free_page((unsigned long)buf->priv);
}

static int begin_access(struct dma_buf *buf, enum dma_data_direction dir)
{
	atomic_inc(&in_use);
	return 0;
}

static int end_access(struct dma_buf *buf, enum dma_data_direction dir)
{
	atomic_dec(&in_use);
	return 0;
}

static int vmap_memory(struct dma_buf *buf, struct iosys_map *map)
{
	atomic_inc(&in_use);
	iosys_map_set_vaddr(map, buf->priv);
	return 0;
}

static int vmap_device(struct dma_buf *buf, struct iosys_map *map)
{
	atomic_inc(&in_use);
	iosys_map_set_vaddr_iomem(map, (void __iomem *)buf->priv);
	return 0;
}

static void vunmap(struct dma_buf *buf, struct iosys_map *map)
{
	atomic_dec(&in_use);
}

static int pin(struct dma_buf_attachment *attach)
{
	atomic_inc(&in_use);
	return 0;
}

static int refuse_to_pin(struct dma_buf_attachment *attach)
{
	return -EBUSY;
}

static void unpin(struct dma_buf_attachment *attach)
{
	atomic_dec(&in_use);
}

#define COMMON						\
	.map_dma_buf		= map,			\
	.unmap_dma_buf		= unmap,		\
	.release		= release,		\
	.begin_cpu_access	= begin_access,		\
	.end_cpu_access		= end_access

static const struct dma_buf_ops ops[NR_KINDS] = {
	[KIND_NO_VMAP]	= { COMMON },
	[KIND_IOMEM]	= { COMMON, .vmap = vmap_device, .vunmap = vunmap },
	[KIND_NO_PIN]	= { COMMON, .vmap = vmap_memory, .vunmap = vunmap,
			    .pin = refuse_to_pin, .unpin = unpin },
	[KIND_MOVES]	= { COMMON, .vmap = vmap_memory, .vunmap = vunmap,
			    .pin = pin, .unpin = unpin },
};

static long export(struct file *file, unsigned int cmd, unsigned long kind)
{
	DEFINE_DMA_BUF_EXPORT_INFO(info);
	struct dma_buf *buf;
	int fd;

	if (cmd != EXPORT || kind >= NR_KINDS)
		return -EINVAL;

	info.priv = (void *)get_zeroed_page(GFP_KERNEL);
	if (!info.priv)
		return -ENOMEM;
	info.ops = &ops[kind];
	info.size = PAGE_SIZE;
	info.flags = O_RDWR;
	buf = dma_buf_export(&info);
	if (IS_ERR(buf)) {
		free_page((unsigned long)info.priv);
		return PTR_ERR(buf);
	}

	fd = dma_buf_fd(buf, O_CLOEXEC);
	if (fd < 0)
		dma_buf_put(buf);
	return fd;
}

static const struct file_operations file_ops = {
	.owner		= THIS_MODULE,
	.unlocked_ioctl	= export,
};

static struct miscdevice device = {
	.minor	= MISC_DYNAMIC_MINOR,
	.name	= "frdma-exporter",
	.fops	= &file_ops,
};

module_misc_device(device);

MODULE_DESCRIPTION("Exports dma-bufs that importers have trouble with");
MODULE_LICENSE("GPL");
/* As a string on all kernels: what MODULE_IMPORT_NS() takes has changed. */
MODULE_INFO(import_ns, "DMA_BUF");
