/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The poller: a thread of a device that looks for sends where processes post
 * them, so that these need not ring the doorbell. There is one only where
 * somebody has asked for it (attribute poll_us).
 *
 * A send queue is watched from a doorbell on until nothing was posted for that
 * time, or until it is no longer sent from. While it is, FRDMA_RING_WATCHED is
 * set in its ring. Then that is Dekker's:
 *
 *	process				poller
 *	-------				------
 *	release prod			clear WATCHED
 *	full barrier			full barrier
 *	read flags			read prod, one last time
 *
 * Either the process sees that it has to ring, or the poller sees what it has
 * posted. The word is the process's to write, too: what the poller believes is
 * in struct frdma_watch.
 */
#ifndef FRDMA_POLLER_H
#define FRDMA_POLLER_H

#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/types.h>
#include <linux/wait.h>

struct frdma_dev;
struct frdma_qp;
struct task_struct;

/* Longest time without work for which a queue is watched, in microseconds. */
#define FRDMA_POLL_US_MAX	10000000

/*
 * So many send queues of a device are watched; who finds no place rings. Each
 * waits until all others were looked at.
 */
#define FRDMA_WATCHED_MAX	64

/**
 * struct frdma_watch - a send queue, as the poller knows it
 * @entry: in the list of those that are watched; under the lock of the poller
 * @on: it is in that list; read without the lock, too
 * @told: the process knows of it; under that lock
 * @seen: the ring's index as it was last looked at: what is below was taken, or
 *	will be by whoever looked; likewise
 * @found_ns: when it was last found to have moved; likewise
 */
struct frdma_watch {
	struct list_head entry;
	bool on;
	bool told;
	u32 seen;
	u64 found_ns;
};

/**
 * struct frdma_poller - the poller of a device
 * @change: one change of @us at a time; guards @task
 * @task: the thread, while @us is not 0
 * @us: microseconds for which a queue is watched after the last work was found;
 *	0: nothing is watched. Written with @change and @lock held. Each step reads
 *	it, so what the thread writes is not beside it
 * @lock: guards @us, all that follows, and what is watched while it is looked at:
 *	whoever has taken a queue off the list knows that nobody touches it
 * @watched: struct frdma_watch, the next to be looked at first. They are off
 *	the list before their queue pairs go
 * @nr: how many these are; read without the lock, too
 * @wait: the thread sleeps here while there are none
 */
struct frdma_poller {
	struct mutex change;
	struct task_struct *task;
	u32 us;
	struct mutex lock ____cacheline_aligned_in_smp;
	struct list_head watched;
	u32 nr;
	wait_queue_head_t wait;
};

void frdma_poller_init(struct frdma_poller *poller);
int frdma_poller_set(struct frdma_dev *dev, u32 us);
void frdma_poller_stop(struct frdma_poller *poller);
void frdma_poller_watch(struct frdma_qp *qp);
void frdma_poller_forget(struct frdma_qp *qp);

#endif /* FRDMA_POLLER_H */
