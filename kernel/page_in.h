/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Pages of on-demand memory (odp.h) that somebody waits for. They come by work
 * items, as they may never come (a file system in user space): so many work items
 * are shared out among the users. Each side of a queue pair has one; the verb that
 * has pages come beforehand (advise.c) takes one for each part.
 */
#ifndef FRDMA_PAGE_IN_H
#define FRDMA_PAGE_IN_H

#include <linux/atomic.h>
#include <linux/kref.h>
#include <linux/sizes.h>
#include <linux/types.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

struct frdma_odp;
struct page_request;

/* A side that waits for a page will want the next ones, too: so many bytes. */
#define FRDMA_PAGE_IN_AHEAD	SZ_2M

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
 * @owner: what this is a part of; held while BUSY
 * @free: frees that
 * @wake: it is done, well or not. Called in process context
 * @state: enum frdma_page_in_state. BUSY is set by the side's owner, and ended
 *         by the work item of @request, or by the owner, who cancels
 * @request: what the work item has to do, while BUSY
 * @odp_id: where it was last, even if the memory is held no more
 * @va: first byte of what was asked for last, in the process's address space
 * @told: how often the side has told its peer to wait for pages since it began to,
 *        or they began to come, as far as a byte counts; its owner's at any time
 */
struct frdma_page_in {
	struct kref *owner;
	void (*free)(struct kref *owner);
	void (*wake)(struct frdma_page_in *in);
	int state;
	struct page_request *request;
	u64 odp_id;
	u64 va;
	u8 told;
};

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
	/* With the release in end_request(): the side sees the result. */
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
 * Pages that are being faulted in may never come (a file system in user space).
 * Their work item goes on without the side, which can ask for others at once. It
 * counts among those of its user until it ends.
 *
 * The caller holds a reference to the owner of @in. @in->wake may still run.
 *
 * Context: may sleep.
 */
void frdma_page_in_cancel(struct frdma_page_in *in);

/**
 * frdma_page_in_account() - who is to answer for this process's work items
 *
 * Context: process. Return: how many they have, to be given to frdma_page_in_begin().
 */
atomic_t *frdma_page_in_account(void);

/**
 * frdma_page_in_begin() - leave to have a work item, if there is one to spare
 * @account: of whose pages it faults in
 *
 * It holds the module: the work item may never end. There are no new ones once the
 * module is being removed, as they would be waited for.
 *
 * Context: any. Return: true: frdma_page_in_end() ends it.
 */
bool frdma_page_in_begin(atomic_t *account);

/**
 * frdma_page_in_run() - have a work item run
 * @work: for which frdma_page_in_begin() gave leave
 *
 * Context: any.
 */
void frdma_page_in_run(struct work_struct *work);

/**
 * frdma_page_in_end() - the last thing that a work item does
 * @account: as it began
 *
 * Context: any. Wakes those in frdma_page_in_waiters.
 */
void frdma_page_in_end(atomic_t *account);

/* Who waits, in a verb, for a work item to end, or for leave to have one. */
extern struct wait_queue_head frdma_page_in_waiters;

/**
 * frdma_page_in_wake() - who waits for pages within a verb is to look again
 *
 * Context: any. Before that, the caller has set frdma_dev.going.
 */
void frdma_page_in_wake(void);

/**
 * frdma_page_in_queue_init() - make the queue of work items
 *
 * Context: module init. Return: 0; -ENOMEM.
 */
int frdma_page_in_queue_init(void);

/**
 * frdma_page_in_queue_exit() - the end of that
 *
 * Context: module exit, when there are no links.
 */
void frdma_page_in_queue_exit(void);

#endif /* FRDMA_PAGE_IN_H */
