/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Memory of the kernel that one process may map: rings, device memory.
 *
 * The kernel sees it as one piece. Pages that are mapped live as long as the
 * mapping, whatever becomes of the object that they were for.
 */
#ifndef FRDMA_SHARED_H
#define FRDMA_SHARED_H

#include <linux/types.h>

struct frdma_account;
struct frdma_shared;
struct ib_ucontext;
struct rdma_user_mmap_entry;
struct vm_area_struct;

/**
 * frdma_shared_alloc() - allocate memory, all zero
 * @size: bytes, a multiple of the page size
 * @account: of the memory; NULL: a consumer in the kernel
 *
 * Charged to @account and to the caller's memory cgroup. Pages that stay mapped
 * when this is given back are memory of the process, as its other pages.
 *
 * Context: process, may sleep. Return: the memory; NULL if there is none.
 */
struct frdma_shared *frdma_shared_alloc(size_t size,
					struct frdma_account *account);

/**
 * frdma_shared_kaddr() - where the kernel sees it
 * @shared: the memory
 *
 * Context: any. Return: the first byte; the others follow.
 */
void *frdma_shared_kaddr(const struct frdma_shared *shared);

/**
 * frdma_shared_offer() - let a process map it
 * @shared: the memory, not offered yet
 * @uctx: the process
 * @size: as it was allocated
 * @offset: receives the offset for mmap()
 *
 * Context: process, may sleep. Return: 0 or a negative errno.
 */
int frdma_shared_offer(struct frdma_shared *shared, struct ib_ucontext *uctx,
		       size_t size, u64 *offset);

/**
 * frdma_shared_end() - give it back
 * @shared: memory that nobody in the kernel uses any more
 *
 * It cannot be mapped any more.
 *
 * Context: process, may sleep.
 */
void frdma_shared_end(struct frdma_shared *shared);

/**
 * frdma_shared_mmap() - map memory into a process
 * @uctx: the process's context
 * @vma: the mapping to be, shared, whose offset and size must be those of
 *       what was offered
 *
 * Context: process, mmap_lock held for writing. Return: 0; -EINVAL if there
 * is no such memory; what the memory management says.
 */
int frdma_shared_mmap(struct ib_ucontext *uctx, struct vm_area_struct *vma);

/**
 * frdma_shared_mmap_free() - the last user of the memory is gone
 * @entry: of the memory; called by ib_core (mmap_free of the device's ops)
 *
 * Context: process, may sleep.
 */
void frdma_shared_mmap_free(struct rdma_user_mmap_entry *entry);

#endif /* FRDMA_SHARED_H */
