/* SPDX-License-Identifier: GPL-2.0 */
/*
 * On-demand paging: regions whose memory is not pinned.
 *
 * The pages that are known to be there stand in a table, by their number in
 * the process's address space. Who copies holds @lock for reading, which the
 * memory management's notice of a change (the notifier) takes for writing: it
 * returns when the pages are out of the table and nobody copies. So bytes are
 * only touched while the process has the page, too.
 *
 * The data path cannot sleep, so it cannot fault. It finds that a page is
 * absent, asks for it (page_in.h), and tries again: the requester is woken, the
 * peer is told to come back later (RNR NAK), a datagram is dropped.
 *
 * A page is written to only if it was faulted in for writing, and is marked
 * dirty when it leaves the table: before the memory management cleans it, it
 * tells.
 */
#ifndef FRDMA_ODP_H
#define FRDMA_ODP_H

#include <linux/kref.h>
#include <linux/mmu_notifier.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/xarray.h>

#include "account.h"

struct frdma_dev;

/**
 * struct frdma_odp - the memory of a region that is not pinned
 * @dev: the device, for its counters
 * @id: of which there is no other, nor will be
 * @notifier: tells what changes in the process's address space
 * @refs: the region, and those who fault pages in
 * @lock: held by readers from enter to leave; writers change @present
 * @gate: held by the writer that waits for @lock
 * @closed: @gate is held, and readers have to pass it
 * @losing: held while pages leave @present and are marked dirty
 * @waiting: how many wait for pages of its user, see page_in.h
 * @charge: of this; the nodes of @present are charged to the same account
 * @present: kernel address of a page by its number, tagged ODP_WRITABLE
 */
struct frdma_odp {
	struct frdma_dev *dev;
	u64 id;
	struct mmu_interval_notifier notifier;
	struct kref refs;
	rwlock_t lock;
	spinlock_t gate;	/* the next to hold @lock */
	bool closed;
	spinlock_t losing;
	atomic_t *waiting;
	struct frdma_charge charge;
	struct xarray present;
};

/**
 * frdma_odp_create() - begin to follow a part of this process's memory
 * @dev: the device
 * @start: first byte
 * @length: bytes, at least one; U64_MAX from 0 on: all there ever will be
 * @waiting: of those that will wait for its pages
 * @account: of the table; NULL: a consumer in the kernel
 *
 * Context: process, may sleep. Return: the memory, one reference to which is
 * the caller's; an errno.
 */
struct frdma_odp *frdma_odp_create(struct frdma_dev *dev, u64 start,
				   u64 length, atomic_t *waiting,
				   struct frdma_account *account);

/**
 * frdma_odp_put() - give a reference back
 * @odp: the memory; NULL is nothing
 *
 * Context: process, may sleep.
 */
void frdma_odp_put(struct frdma_odp *odp);

/**
 * frdma_odp_fault() - have pages of the process come, and enter them
 * @odp: the memory
 * @va: first byte
 * @len: bytes
 * @wanted: HMM_PFN_REQ_*; 0: those that the process has anyway
 *
 * Whoever asks, the process whose memory it is pays for the table.
 *
 * Context: work item, may sleep, for ever (a file system in user space): neither
 * a signal nor the end of the link ends it. It does not hold the lock of the
 * address space while it waits for a page to be read. page_mkwrite() of a file
 * system is called with the lock: a write to a shared mapping of a FUSE file
 * waits there for write-back of the page. Return: 0; -EBUSY: others kept
 * changing them; -EFAULT: the process has no such memory, or it cannot be read;
 * -ENOMEM.
 */
int frdma_odp_fault(struct frdma_odp *odp, u64 va, u64 len,
		    unsigned long wanted);

/**
 * frdma_odp_room() - bytes from an address to the end of what is followed
 * @odp: the memory
 * @va: in it
 *
 * Nothing behind that may ever be entered, as nobody would tell that it has
 * changed.
 */
static inline u64 frdma_odp_room(const struct frdma_odp *odp, u64 va)
{
	return odp->notifier.interval_tree.last - va + 1;
}

/**
 * frdma_odp_enter() - begin to touch what is there
 * @odp: the memory; not entered by the caller, nor by whom it has interrupted
 *
 * A reader in a softirq, as all are, would be let in while a writer waits: with
 * enough of them, for ever. So it looks at the gate first.
 *
 * Context: bottom halves off, until frdma_odp_leave().
 */
static inline void frdma_odp_enter(struct frdma_odp *odp)
	__acquires(&odp->lock)
{
	if (unlikely(READ_ONCE(odp->closed))) {
		spin_lock(&odp->gate);
		spin_unlock(&odp->gate);
	}
	read_lock(&odp->lock);
}

/** frdma_odp_leave() - end of what frdma_odp_enter() began */
static inline void frdma_odp_leave(struct frdma_odp *odp)
	__releases(&odp->lock)
{
	read_unlock(&odp->lock);
}

/**
 * frdma_odp_is_present() - can these bytes be touched now
 * @odp: entered (@lock)
 * @va: first byte
 * @len: bytes
 * @write: for writing
 *
 * Context: bottom halves off.
 */
bool frdma_odp_is_present(struct frdma_odp *odp, u64 va, u64 len, bool write);

/**
 * frdma_odp_run() - the contiguous memory at an address
 * @odp: entered (@lock)
 * @va: first byte, present
 * @len: bytes wanted, at least one
 * @kaddr: receives its kernel address
 *
 * Context: bottom halves off. Return: bytes that follow each other at @kaddr,
 * 1 to @len.
 */
size_t frdma_odp_run(struct frdma_odp *odp, u64 va, size_t len, void **kaddr);

#endif /* FRDMA_ODP_H */
