// SPDX-License-Identifier: GPL-2.0
/* Memory of the kernel that one process may map. */
#include "shared.h"

#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>
#include <rdma/ib_verbs.h>

#include "limit.h"

/**
 * struct frdma_shared - memory that can be mapped
 * @entry: where a process finds it; holds one reference for the owner, and one
 *         for each mmap() under way
 * @kaddr: the pages, in the kernel's address space
 * @mappable: @entry is in use
 * @charge: of the pages
 */
struct frdma_shared {
	struct rdma_user_mmap_entry entry;
	void *kaddr;
	bool mappable;
	struct frdma_charge charge;
};

static struct frdma_shared *entry_to_shared(struct rdma_user_mmap_entry *entry)
{
	return container_of(entry, struct frdma_shared, entry);
}

/* The kernel keeps an address of each page, and an entry of its page table. */
#define PAGE_BYTES	(PAGE_SIZE + sizeof(struct page *) + sizeof(pte_t))

struct frdma_shared *frdma_shared_alloc(size_t size,
					struct frdma_account *account)
{
	u64 bytes = (u64)(size >> PAGE_SHIFT) * PAGE_BYTES;
	struct frdma_shared *shared;

	shared = kzalloc(sizeof(*shared), FRDMA_GFP_OBJECT);
	if (!shared)
		return NULL;
	if (!frdma_charge(&shared->charge, account, bytes + sizeof(*shared)))
		goto err_free;

	shared->kaddr = __vmalloc(size, FRDMA_GFP_PAGES | __GFP_ZERO);
	if (!shared->kaddr)
		goto err_uncharge;

	return shared;

err_uncharge:
	frdma_uncharge(&shared->charge);
err_free:
	kfree(shared);
	return NULL;
}

static void shared_free(struct frdma_shared *shared)
{
	vfree(shared->kaddr);
	frdma_uncharge(&shared->charge);
	kfree(shared);
}

void *frdma_shared_kaddr(const struct frdma_shared *shared)
{
	return shared->kaddr;
}

int frdma_shared_offer(struct frdma_shared *shared, struct ib_ucontext *uctx,
		       size_t size, u64 *offset)
{
	int err;

	err = rdma_user_mmap_entry_insert(uctx, &shared->entry, size);
	if (err)
		return err;

	shared->mappable = true;
	*offset = rdma_user_mmap_get_offset(&shared->entry);
	return 0;
}

void frdma_shared_end(struct frdma_shared *shared)
{
	if (shared->mappable)
		rdma_user_mmap_entry_remove(&shared->entry);
	else
		shared_free(shared);
}

void frdma_shared_mmap_free(struct rdma_user_mmap_entry *entry)
{
	shared_free(entry_to_shared(entry));
}

/*
 * vm_insert_page() takes a page reference for the mapping, so the mapping
 * needs no vm_ops and outlives its owner, context, device and module.
 * VM_DONTEXPAND: no page backs a larger mapping. VM_DONTCOPY: two processes
 * must not move the indices of one ring.
 */
static int shared_map(struct frdma_shared *shared, struct vm_area_struct *vma)
{
	void *kaddr = shared->kaddr;
	unsigned long addr;
	int err;

	vm_flags_set(vma, VM_DONTEXPAND | VM_DONTDUMP | VM_DONTCOPY);

	for (addr = vma->vm_start; addr < vma->vm_end; addr += PAGE_SIZE) {
		err = vm_insert_page(vma, addr, vmalloc_to_page(kaddr));
		if (err)
			return err;
		kaddr += PAGE_SIZE;
		cond_resched();
	}

	return 0;
}

int frdma_shared_mmap(struct ib_ucontext *uctx, struct vm_area_struct *vma)
{
	struct rdma_user_mmap_entry *entry;
	int err;

	/* It compares the sizes and refuses a private mapping. */
	entry = rdma_user_mmap_entry_get(uctx, vma);
	if (!entry)
		return -EINVAL;

	err = shared_map(entry_to_shared(entry), vma);
	rdma_user_mmap_entry_put(entry);
	return err;
}
