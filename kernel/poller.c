// SPDX-License-Identifier: GPL-2.0
#include <linux/err.h>
#include <linux/freezer.h>
#include <linux/kthread.h>
#include <linux/ktime.h>
#include <linux/rcupdate.h>

#include "dev.h"
#include "poller.h"
#include "qp.h"

/* The whole word: what a process has written there does not matter. */
static void set_flags(struct frdma_qp *qp, u32 flags)
{
	WRITE_ONCE(qp->sq.ring.head->flags, flags);
}

/* Has something been posted since the last look? It is then as a doorbell. */
static bool take_posted(struct frdma_qp *qp)
{
	struct frdma_watch *watch = &qp->sq.watch;
	u32 prod = frdma_ring_prod_acquire(&qp->sq.ring);

	if (prod == watch->seen)
		return false;
	watch->seen = prod;
	frdma_side_kick(&qp->sq.side);
	return true;
}

/* From here on the process rings. */
static void give_up(struct frdma_poller *poller, struct frdma_qp *qp)
{
	lockdep_assert_held(&poller->lock);

	list_del(&qp->sq.watch.entry);
	WRITE_ONCE(qp->sq.watch.on, false);
	WRITE_ONCE(poller->nr, poller->nr - 1);
	set_flags(qp, 0);

	/*
	 * Pairs with the barrier of the process between its index and the
	 * flag: either it sees that nobody watches, or we see its request.
	 */
	smp_mb();
	take_posted(qp);
}

static void look_at(struct frdma_poller *poller, struct frdma_qp *qp)
{
	struct frdma_watch *watch = &qp->sq.watch;
	bool found = take_posted(qp);
	/* Not before: the kick may take longer than what is waited for. */
	u64 now_ns = ktime_get_ns();

	if (found || !watch->told)
		watch->found_ns = now_ns;

	/* Before this thread had a processor the process was to ring. */
	if (!watch->told) {
		watch->told = true;
		set_flags(qp, FRDMA_RING_WATCHED);
	}
	if (frdma_qp_state(qp) != IB_QPS_RTS ||
	    now_ns - watch->found_ns > (u64)poller->us * NSEC_PER_USEC)
		give_up(poller, qp);
}

/* One after the other, and of each what a doorbell would do. */
static void look_at_next(struct frdma_poller *poller)
{
	struct frdma_watch *watch;

	mutex_lock(&poller->lock);
	watch = list_first_entry_or_null(&poller->watched, struct frdma_watch,
					 entry);
	if (watch) {
		list_move_tail(&watch->entry, &poller->watched);
		look_at(poller, container_of(watch, struct frdma_qp, sq.watch));
	}
	mutex_unlock(&poller->lock);
}

static int poll_queues(void *data)
{
	struct frdma_poller *poller = data;

	set_freezable();
	while (!kthread_freezable_should_stop(NULL)) {
		wait_event_freezable(poller->wait,
				     READ_ONCE(poller->nr) ||
				     kthread_should_stop());
		look_at_next(poller);
		cpu_relax();
		cond_resched_tasks_rcu_qs();
	}
	return 0;
}

/**
 * frdma_poller_init - of a new device: nothing is watched
 * @poller: to be set up
 */
void frdma_poller_init(struct frdma_poller *poller)
{
	mutex_init(&poller->change);
	mutex_init(&poller->lock);
	INIT_LIST_HEAD(&poller->watched);
	init_waitqueue_head(&poller->wait);
}

static int make_thread(struct frdma_dev *dev)
{
	struct frdma_poller *poller = &dev->poller;
	struct task_struct *task;

	if (poller->task)
		return 0;
	task = kthread_run(poll_queues, poller, "%s-poller",
			   dev_name(&dev->ib.dev));
	if (IS_ERR(task))
		return PTR_ERR(task);
	poller->task = task;
	return 0;
}

static void set_us(struct frdma_poller *poller, u32 us)
{
	mutex_lock(&poller->lock);
	WRITE_ONCE(poller->us, us);
	mutex_unlock(&poller->lock);
}

/* Returns false if nothing is watched. */
static bool give_first_up(struct frdma_poller *poller)
{
	struct frdma_watch *watch;

	mutex_lock(&poller->lock);
	watch = list_first_entry_or_null(&poller->watched, struct frdma_watch,
					 entry);
	if (watch)
		give_up(poller, container_of(watch, struct frdma_qp, sq.watch));
	mutex_unlock(&poller->lock);
	return watch;
}

static void end_thread(struct frdma_poller *poller)
{
	lockdep_assert_held(&poller->change);

	/* From here on nothing is put on the list. */
	set_us(poller, 0);
	if (!poller->task)
		return;
	kthread_stop(poller->task);
	poller->task = NULL;
	while (give_first_up(poller))
		cond_resched();
}

/**
 * frdma_poller_set - for how long is a send queue watched?
 * @dev: device that has its name
 * @us: microseconds, up to FRDMA_POLL_US_MAX; 0: not at all, and what is
 *	watched is so no more when this returns
 *
 * Context: may sleep. Return: 0; an error if there is no thread to be had.
 */
int frdma_poller_set(struct frdma_dev *dev, u32 us)
{
	struct frdma_poller *poller = &dev->poller;
	int err = 0;

	mutex_lock(&poller->change);
	if (us)
		err = make_thread(dev);
	else
		end_thread(poller);
	if (!err)
		set_us(poller, us);
	mutex_unlock(&poller->change);
	return err;
}

/**
 * frdma_poller_stop - the device goes
 * @poller: of which nobody can ask anything any more
 *
 * Context: may sleep.
 */
void frdma_poller_stop(struct frdma_poller *poller)
{
	mutex_lock(&poller->change);
	end_thread(poller);
	mutex_unlock(&poller->change);
}

static void watch_locked(struct frdma_poller *poller, struct frdma_qp *qp)
{
	struct frdma_watch *watch = &qp->sq.watch;

	lockdep_assert_held(&poller->lock);

	if (!poller->us || watch->on || poller->nr >= FRDMA_WATCHED_MAX ||
	    frdma_qp_state(qp) != IB_QPS_RTS)
		return;
	watch->seen = frdma_ring_prod_acquire(&qp->sq.ring);
	watch->told = false;
	list_add_tail(&watch->entry, &poller->watched);
	WRITE_ONCE(watch->on, true);
	WRITE_ONCE(poller->nr, poller->nr + 1);
	wake_up(&poller->wait);
}

/**
 * frdma_poller_watch - a process has rung: watch its send queue from now on
 * @qp: of a process, with a send queue; the caller keeps it from being destroyed
 *
 * Does nothing where there is no poller, where it watches the queue already, or
 * has no place for it.
 * What was posted before is not looked for: the caller kicks the send side
 * after this.
 *
 * Context: may sleep, for a kick or two and the softirqs behind them.
 */
void frdma_poller_watch(struct frdma_qp *qp)
{
	struct frdma_poller *poller = &qp->dev->poller;

	/* Who looks too early here is told by the next doorbell. */
	if (!READ_ONCE(poller->us) || READ_ONCE(qp->sq.watch.on) ||
	    READ_ONCE(poller->nr) >= FRDMA_WATCHED_MAX)
		return;
	mutex_lock(&poller->lock);
	watch_locked(poller, qp);
	mutex_unlock(&poller->lock);
}

/**
 * frdma_poller_forget - a queue pair is about to go: watch it no more
 * @qp: on which no doorbell can be rung any more
 *
 * When this returns the poller does not touch it.
 *
 * Context: may sleep, for a kick or two and the softirqs behind them.
 */
void frdma_poller_forget(struct frdma_qp *qp)
{
	struct frdma_poller *poller = &qp->dev->poller;

	mutex_lock(&poller->lock);
	if (qp->sq.watch.on)
		give_up(poller, qp);
	mutex_unlock(&poller->lock);
}
