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
 * absent, asks for it (struct frdma_page_in, one for each side of a queue
 * pair), and tries again: the requester is woken, the peer is told to come back
 * later (RNR NAK), a datagram is dropped.
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
#include <linux/workqueue.h>
#include <linux/xarray.h>
#include <rdma/ib_verbs.h>
#include <rdma/uverbs_ioctl.h>

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
 * @waiting: how many sides, and advisers, wait for pages of who answers for
 *	its process, see odp.c
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
	struct xarray present;
};

/**
 * enum frdma_page_in_state - what a side knows of the pages it has asked for
 * @FRDMA_PAGE_IN_IDLE: none are on their way
 * @FRDMA_PAGE_IN_BUSY: some are
 * @FRDMA_PAGE_IN_FAILED: those that it asked for last are not to be had
 * @FRDMA_PAGE_IN_REFUSED: it may not wait for what it asked for last, and asks again
 */
enum frdma_page_in_state {
	FRDMA_PAGE_IN_IDLE,
	FRDMA_PAGE_IN_BUSY,
	FRDMA_PAGE_IN_FAILED,
	FRDMA_PAGE_IN_REFUSED,
};

/**
 * struct frdma_page_in - pages that one side of a queue pair waits for
 * @work: faults them in
 * @owner: what this is a part of; held while BUSY
 * @free: frees that
 * @wake: it is done, well or not. Called in process context
 * @state: enum frdma_page_in_state. BUSY is set by the side's owner, and ended
 *         by @work, until when all below is @work's
 * @odp: where, held while BUSY
 * @odp_id: its id, which says where it was when it is held no more
 * @va: first byte, in the process's address space
 * @len: bytes without which the side cannot go on
 * @ahead: bytes that it will want soon, those included
 * @write: for writing
 * @told: how often the side has told its peer to wait for pages since it began to,
 *        or they began to come, as far as a byte counts; its owner's at any time
 */
struct frdma_page_in {
	struct work_struct work;
	struct kref *owner;
	void (*free)(struct kref *owner);
	void (*wake)(struct frdma_page_in *in);
	int state;
	struct frdma_odp *odp;
	u64 odp_id;
	u64 va;
	u64 len;
	u64 ahead;
	bool write;
	u8 told;
};

/**
 * frdma_odp_create() - begin to follow a part of this process's memory
 * @dev: the device
 * @start: first byte
 * @length: bytes, at least one; U64_MAX from 0 on: all there ever will be
 *
 * Context: process, may sleep. Return: the memory, one reference to which is
 * the caller's; an errno.
 */
struct frdma_odp *frdma_odp_create(struct frdma_dev *dev, u64 start,
				   u64 length);

/**
 * frdma_odp_put() - give a reference back
 * @odp: the memory; NULL is nothing
 *
 * Context: process, may sleep.
 */
void frdma_odp_put(struct frdma_odp *odp);

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

/**
 * frdma_page_in_init() - prepare a side
 * @in: its
 * @owner: what it is a part of, held while it is BUSY
 * @free: frees that with its last reference
 * @wake: called when pages have come, or will not
 */
void frdma_page_in_init(struct frdma_page_in *in, struct kref *owner,
			void (*free)(struct kref *owner),
			void (*wake)(struct frdma_page_in *in));

/**
 * frdma_page_in_start() - ask for pages that are absent
 * @in: of a side that the caller owns
 * @odp: where; the caller has entered
 * @va: first byte
 * @len: bytes that are needed, at least one
 * @ahead: bytes that will be needed soon, @len included
 * @write: for writing
 *
 * Context: bottom halves off. Return: true: they, or others, are on their way,
 * and @in->wake will be called; or, as frdma_page_in_take_refusal() tells, the
 * user may not wait for more now, and is to ask again. false: they were asked
 * for and are not to be had.
 */
bool frdma_page_in_start(struct frdma_page_in *in, struct frdma_odp *odp,
			 u64 va, u64 len, u64 ahead, bool write);

/**
 * frdma_page_in_is_busy() - is the side waiting for pages
 * @in: of a side that the caller owns
 */
static inline bool frdma_page_in_is_busy(const struct frdma_page_in *in)
{
	/* With the release in page_in_work(): what it has found is seen. */
	return smp_load_acquire(&in->state) == FRDMA_PAGE_IN_BUSY;
}

/**
 * frdma_page_in_take_refusal() - may the side not wait for what it asked for last
 * @in: of a side that the caller owns
 *
 * Says so once.
 */
static inline bool frdma_page_in_take_refusal(struct frdma_page_in *in)
{
	if (READ_ONCE(in->state) != FRDMA_PAGE_IN_REFUSED)
		return false;
	WRITE_ONCE(in->state, FRDMA_PAGE_IN_IDLE);
	return true;
}

/**
 * frdma_page_in_cancel() - wait for pages no more
 * @in: of a side that the caller owns
 *
 * Pages that are being faulted in now may never come (a file system in user
 * space), and are not waited for: the side stays BUSY, @in->wake may be called,
 * and the owner lives, until they do. Of others nothing is known any more.
 *
 * Context: may sleep.
 */
void frdma_page_in_cancel(struct frdma_page_in *in);

/**
 * frdma_odp_wake() - who waits for pages within a verb is to look again
 *
 * Context: any. Before that, the caller has set frdma_dev.going.
 */
void frdma_odp_wake(void);

/**
 * frdma_odp_init() - make the queue of work that faults pages in
 *
 * Context: module init. Return: 0; -ENOMEM.
 */
int frdma_odp_init(void);

/**
 * frdma_odp_exit() - the end of that
 *
 * Context: module exit, when there are no links.
 */
void frdma_odp_exit(void);

/* Verb; context and return as ib_core defines them. */
int frdma_advise_mr(struct ib_pd *pd, enum ib_uverbs_advise_mr_advice advice,
		    u32 flags, struct ib_sge *sg_list, u32 num_sge,
		    struct uverbs_attr_bundle *attrs);

#endif /* FRDMA_ODP_H */
