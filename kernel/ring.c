// SPDX-License-Identifier: GPL-2.0
/* Memory of the rings, and its way into processes. */
#include "ring.h"

#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/overflow.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>
#include <rdma/ib_verbs.h>

/**
 * struct frdma_ring_mem - the memory of a ring
 * @entry: where a process finds it; holds one reference for the ring, and one
 *         for each mmap() under way
 * @kaddr: the pages, in the kernel's address space
 * @mappable: @entry is in use
 */
struct frdma_ring_mem {
	struct rdma_user_mmap_entry entry;
	void *kaddr;
	bool mappable;
};

static struct frdma_ring_mem *
entry_to_ring_mem(struct rdma_user_mmap_entry *entry)
{
	return container_of(entry, struct frdma_ring_mem, entry);
}

static struct frdma_ring_mem *ring_mem_alloc(size_t size)
{
	struct frdma_ring_mem *mem;

	mem = kzalloc(sizeof(*mem), GFP_KERNEL_ACCOUNT);
	if (!mem)
		return NULL;

	/* As much as the process asks for: it must not cost another its life. */
	mem->kaddr = __vmalloc(size, GFP_KERNEL_ACCOUNT | __GFP_ZERO |
			       __GFP_RETRY_MAYFAIL | __GFP_NOWARN);
	if (!mem->kaddr) {
		kfree(mem);
		return NULL;
	}

	return mem;
}

static void ring_mem_free(struct frdma_ring_mem *mem)
{
	vfree(mem->kaddr);
	kfree(mem);
}

/* Bytes of the whole mapping, SIZE_MAX if there are too many. */
static size_t ring_bytes(u32 entries, u32 stride)
{
	size_t size;

	size = size_add(size_mul(entries, stride), FRDMA_RING_SLOTS);
	return size > INT_MAX ? SIZE_MAX : PAGE_ALIGN(size);
}

int frdma_ring_create(struct frdma_ring *ring, struct ib_ucontext *uctx,
		      u32 entries, u32 stride, struct frdma_ring_desc *desc)
{
	size_t size = ring_bytes(entries, stride);
	struct frdma_ring_mem *mem;
	int err;

	if (!is_power_of_2(entries) || size == SIZE_MAX)
		return -EINVAL;

	mem = ring_mem_alloc(size);
	if (!mem)
		return -ENOMEM;

	if (uctx) {
		err = rdma_user_mmap_entry_insert(uctx, &mem->entry, size);
		if (err)
			goto err_free_mem;
		mem->mappable = true;
		*desc = (struct frdma_ring_desc) {
			.mmap_offset	= rdma_user_mmap_get_offset(&mem->entry),
			.mmap_size	= size,
			.entries	= entries,
			.stride		= stride,
		};
	}

	*ring = (struct frdma_ring) {
		.head		= mem->kaddr,
		.slots		= mem->kaddr + FRDMA_RING_SLOTS,
		.entries	= entries,
		.mask		= entries - 1,
		.stride		= stride,
		.mem		= mem,
	};
	return 0;

err_free_mem:
	ring_mem_free(mem);
	return err;
}

/*
 * Tells a process that goes on polling: to a consumer more slots seem ready
 * than there are, to a producer more seem free. Each looks at the index that
 * it does not own itself.
 */
static void ring_close(const struct frdma_ring *ring)
{
	u32 prod = READ_ONCE(ring->head->prod);
	u32 cons = READ_ONCE(ring->head->cons);

	WRITE_ONCE(ring->head->prod, cons + 4 * ring->entries);
	WRITE_ONCE(ring->head->cons, prod + 4 * ring->entries);
}

void frdma_ring_destroy(struct frdma_ring *ring)
{
	struct frdma_ring_mem *mem = ring->mem;

	if (!mem)
		return;

	if (mem->mappable) {
		ring_close(ring);
		rdma_user_mmap_entry_remove(&mem->entry);
	} else {
		ring_mem_free(mem);
	}
	*ring = (struct frdma_ring) {};
}

void frdma_ring_mmap_free(struct rdma_user_mmap_entry *entry)
{
	ring_mem_free(entry_to_ring_mem(entry));
}

/*
 * Each page gets a reference of the mapping's own, so that the mapping needs
 * no vm_ops and outlives ring, context, device and module. It must not grow:
 * there would be nothing behind it.
 */
static int ring_mem_map(struct frdma_ring_mem *mem, struct vm_area_struct *vma)
{
	void *kaddr = mem->kaddr;
	unsigned long addr;
	int err;

	vm_flags_set(vma, VM_DONTEXPAND | VM_DONTDUMP);

	for (addr = vma->vm_start; addr < vma->vm_end; addr += PAGE_SIZE) {
		err = vm_insert_page(vma, addr, vmalloc_to_page(kaddr));
		if (err)
			return err;
		kaddr += PAGE_SIZE;
	}

	return 0;
}

int frdma_ring_mmap(struct ib_ucontext *uctx, struct vm_area_struct *vma)
{
	struct rdma_user_mmap_entry *entry;
	int err;

	/* It compares the sizes and refuses a private mapping. */
	entry = rdma_user_mmap_entry_get(uctx, vma);
	if (!entry)
		return -EINVAL;

	err = ring_mem_map(entry_to_ring_mem(entry), vma);
	rdma_user_mmap_entry_put(entry);
	return err;
}
