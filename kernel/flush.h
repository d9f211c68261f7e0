/* SPDX-License-Identifier: GPL-2.0 */
/* FLUSH: what a peer has written is where it wants it. */
#ifndef FRDMA_FLUSH_H
#define FRDMA_FLUSH_H

#include <linux/sizes.h>
#include <linux/types.h>
#include <linux/workqueue.h>
#include <asm/barrier.h>

struct frdma_dev;
struct frdma_mr;
struct frdma_pages;
struct ib_pd;

/* Bytes written back at once, with bottom halves off, for about 50 us. */
#define FRDMA_FLUSH_AT_ONCE	SZ_256K

/**
 * struct frdma_flush_range - what a FLUSH to persistent memory is about
 * @request: PSN of the request: another request has other bytes to write back
 * @pd: protection domain that the key is judged in
 * @rkey: key of the region
 * @access: rights that the peer needs
 * @addr: first byte
 * @len: bytes
 */
struct frdma_flush_range {
	u32 request;
	const struct ib_pd *pd;
	u32 rkey;
	int access;
	u64 addr;
	u64 len;
};

/**
 * enum frdma_flush_state - how far a work item is
 * @FRDMA_FLUSH_IDLE: there is none
 * @FRDMA_FLUSH_BUSY: it writes back
 * @FRDMA_FLUSH_DONE: all of its range is in persistent memory
 */
enum frdma_flush_state {
	FRDMA_FLUSH_IDLE,
	FRDMA_FLUSH_BUSY,
	FRDMA_FLUSH_DONE,
};

/**
 * struct frdma_flush - a range that is written back by a work item
 * @work: writes it back, %FRDMA_FLUSH_AT_ONCE at a time, and queues itself again
 *	after 16 MiB
 * @dev: the device
 * @qpn: number of the queue pair whose peer asks
 * @state: enum frdma_flush_state. The owner of the receive side sets BUSY and
 *	IDLE, @work ends BUSY
 * @cancelled: @work ends before its next piece
 * @range: what is written back; @work's while BUSY
 * @done: bytes of it that were written back; @work's while BUSY
 */
struct frdma_flush {
	struct work_struct work;
	struct frdma_dev *dev;
	u32 qpn;
	int state;
	bool cancelled;
	struct frdma_flush_range range;
	u64 done;
};

/**
 * frdma_pages_are_persistent() - does memory outlive a loss of power
 * @pages: where it is
 * @offset: bytes from the first block to the first byte
 * @length: bytes, at least one
 *
 * So says whoever described the memory to the kernel: the firmware, or the
 * administrator on the kernel's command line.
 *
 * Context: may sleep.
 */
bool frdma_pages_are_persistent(const struct frdma_pages *pages, u64 offset,
				u64 length);

/**
 * frdma_flush_global() - all that was written here before is seen by all
 *
 * Context: any.
 */
void frdma_flush_global(void);

/**
 * frdma_flush_persistent() - a part of a region is in persistent memory
 * @mr: entered for the range, with the right to flush to such memory
 * @addr: first byte
 * @len: bytes, may be 0
 *
 * Includes what frdma_flush_global() does. Takes time in proportion to @len.
 *
 * Context: between enter and leave.
 */
void frdma_flush_persistent(const struct frdma_mr *mr, u64 addr, u64 len);

/**
 * frdma_flush_init() - prepare a queue pair
 * @flush: its
 * @dev: its device
 */
void frdma_flush_init(struct frdma_flush *flush, struct frdma_dev *dev);

/**
 * frdma_flush_begin() - have a range written back by a work item
 * @flush: of a receive side that the caller owns; not BUSY
 * @qpn: number of the queue pair
 * @range: the range
 *
 * The work item enters the region anew for each piece. If the region has gone,
 * the range does not become DONE.
 *
 * Context: any.
 */
void frdma_flush_begin(struct frdma_flush *flush, u32 qpn,
		       const struct frdma_flush_range *range);

/** frdma_flush_is_busy() - is there a work item that writes back */
static inline bool frdma_flush_is_busy(const struct frdma_flush *flush)
{
	/* With the release in write_back_work(): its bytes are in memory. */
	return smp_load_acquire(&flush->state) == FRDMA_FLUSH_BUSY;
}

/**
 * frdma_flush_is_done() - has a work item written all of a range back
 * @flush: of a receive side that the caller owns; not BUSY
 * @range: the range
 */
bool frdma_flush_is_done(const struct frdma_flush *flush,
			 const struct frdma_flush_range *range);

/** frdma_flush_forget() - the next FLUSH is another one, maybe of this PSN */
static inline void frdma_flush_forget(struct frdma_flush *flush)
{
	if (unlikely(READ_ONCE(flush->state) == FRDMA_FLUSH_DONE))
		WRITE_ONCE(flush->state, FRDMA_FLUSH_IDLE);
}

/**
 * frdma_flush_cancel() - end the work item
 * @flush: of a receive side that the caller owns
 *
 * Context: may sleep, for a piece at most. On return it is IDLE.
 */
void frdma_flush_cancel(struct frdma_flush *flush);

/**
 * frdma_flush_queue_init() - make the queue of work items
 *
 * Context: module init. Return: 0; -ENOMEM.
 */
int frdma_flush_queue_init(void);

/**
 * frdma_flush_queue_exit() - the end of that queue
 *
 * Context: module exit. All are cancelled.
 */
void frdma_flush_queue_exit(void);

#endif /* FRDMA_FLUSH_H */
