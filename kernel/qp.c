// SPDX-License-Identifier: GPL-2.0
#include <linux/slab.h>
#include <linux/xarray.h>

#include "dev.h"
#include "limit.h"
#include "qp.h"
#include "trace.h"

/*
 * Numbers are unique in the module, not only on a device: so a packet finds
 * its queue pair without asking first whose address it was sent to. Writers
 * take the lock of the array, readers RCU.
 */
static DEFINE_XARRAY_FLAGS(frdma_qps, XA_FLAGS_ALLOC | XA_FLAGS_ACCOUNT);
static u32 frdma_qpn_next = FRDMA_QPN_FIRST;

/*
 * Its own, since they are a little larger than 2 KiB: kmalloc() would take as
 * much again.
 */
static struct kmem_cache *frdma_qp_cache __ro_after_init;

/* Where a queue pair stands in the array; of a number of none, nowhere. */
static u32 index_of(u32 qpn)
{
	return frdma_shuffle_find(&frdma_qp_order, qpn);
}

/**
 * frdma_qp_cache_init - queue pairs can be had
 *
 * Context: module init. Return: 0; -ENOMEM.
 */
int __init frdma_qp_cache_init(void)
{
	frdma_qp_cache = KMEM_CACHE(frdma_qp, SLAB_HWCACHE_ALIGN);
	return frdma_qp_cache ? 0 : -ENOMEM;
}

/**
 * frdma_qp_cache_exit - the end of that
 *
 * Context: module init or exit, may sleep; there are no links, but the last
 * queue pairs may still wait for readers.
 */
void frdma_qp_cache_exit(void)
{
	rcu_barrier();
	kmem_cache_destroy(frdma_qp_cache);
}

/**
 * frdma_qp_alloc - memory of a queue pair
 *
 * Context: may sleep. Return: zeroed, charged to the caller; NULL.
 */
struct frdma_qp *frdma_qp_alloc(void)
{
	return kmem_cache_zalloc(frdma_qp_cache, FRDMA_GFP_OBJECT);
}

/**
 * frdma_qp_free - the end of that
 * @qp: nobody has found it, or will find it; else frdma_qp_put() is for it
 *
 * Context: any.
 */
void frdma_qp_free(struct frdma_qp *qp)
{
	kmem_cache_free(frdma_qp_cache, qp);
}

/**
 * frdma_qp_publish - give a queue pair its number and let packets find it
 * @qp: complete, in state RESET
 *
 * A GSI queue pair has the number 1 on every device; it is found through its
 * device.
 *
 * Context: may sleep. Return: 0; -ENOMEM; -EBUSY if there is one already.
 */
int frdma_qp_publish(struct frdma_qp *qp)
{
	u32 index;
	int err;

	if (qp->type == IB_QPT_GSI) {
		qp->qpn = FRDMA_QPN_GSI;
		if (unrcu_pointer(cmpxchg(&qp->dev->gsi_qp, NULL,
					  RCU_INITIALIZER(qp))))
			return -EBUSY;
		return 0;
	}

	/* The number has to be there before packets find the queue pair. */
	err = xa_alloc_cyclic(&frdma_qps, &index, NULL,
			      XA_LIMIT(FRDMA_QPN_FIRST, FRDMA_QPN_LAST),
			      &frdma_qpn_next, FRDMA_GFP_OBJECT);
	if (err < 0)
		return -ENOMEM;

	qp->qpn = frdma_shuffle_show(&frdma_qp_order, index);
	xa_store(&frdma_qps, index, qp, GFP_KERNEL_ACCOUNT);
	return 0;
}

/**
 * frdma_qp_unpublish - let no packet find the queue pair any more
 * @qp: published
 *
 * Those who found it before hold it until their RCU read section ends.
 *
 * Context: may sleep.
 */
void frdma_qp_unpublish(struct frdma_qp *qp)
{
	if (qp->type == IB_QPT_GSI)
		RCU_INIT_POINTER(qp->dev->gsi_qp, NULL);
	else
		xa_erase(&frdma_qps, index_of(qp->qpn));
}

/**
 * frdma_qp_find - the queue pair that a packet is for
 * @fnet: namespace in which it arrived
 * @qpn: destination, not that of a GSI queue pair
 *
 * Context: RCU read section, which is all that keeps the result alive.
 */
struct frdma_qp *frdma_qp_find(const struct frdma_net *fnet, u32 qpn)
{
	struct frdma_qp *qp = xa_load(&frdma_qps, index_of(qpn));

	return qp && qp->dev->net == fnet ? qp : NULL;
}

/**
 * frdma_qp_find_gsi - the GSI queue pair of a device
 * @dev: the device
 *
 * Context: RCU read section, which is all that keeps the result alive.
 */
struct frdma_qp *frdma_qp_find_gsi(struct frdma_dev *dev)
{
	/* Pairs with the full barrier of cmpxchg() in frdma_qp_publish(). */
	return rcu_dereference(dev->gsi_qp);
}

static enum hrtimer_restart deadline_passed(struct hrtimer *timer)
{
	struct frdma_qp *qp = container_of(timer, struct frdma_qp, sq.timer);

	frdma_side_kick(&qp->sq.side);
	return HRTIMER_NORESTART;
}

static enum hrtimer_restart patience_ends(struct hrtimer *timer)
{
	struct frdma_qp *qp = container_of(timer, struct frdma_qp,
					   rq.ahead_timer);

	frdma_side_kick(&qp->rq.side);
	return HRTIMER_NORESTART;
}

static enum hrtimer_restart pause_ends(struct hrtimer *timer)
{
	struct frdma_qp *qp = container_of(timer, struct frdma_qp,
					   rq.unsent_timer);

	frdma_side_kick(&qp->rq.side);
	return HRTIMER_NORESTART;
}

static void raise_events(struct tasklet_struct *t)
{
	struct frdma_qp *qp = from_tasklet(qp, t, event_tasklet);
	unsigned long due = xchg(&qp->events, 0);
	unsigned int type;

	for_each_set_bit(type, &due, BITS_PER_LONG) {
		struct ib_event event = {
			.device	    = &qp->dev->ib,
			.element.qp = qp->ib,
			.event	    = type,
		};

		if (qp->ib->event_handler)
			qp->ib->event_handler(&event, qp->ib->qp_context);
	}
}

static void free_when_unread(struct rcu_head *rcu)
{
	frdma_qp_free(container_of(rcu, struct frdma_qp, rcu));
}

static void free_qp(struct kref *refs)
{
	struct frdma_qp *qp = container_of(refs, struct frdma_qp, refs);

	call_rcu(&qp->rcu, free_when_unread);
}

/**
 * frdma_qp_put - the verbs need a queue pair no more
 * @qp: killed, and nothing is left of it but its own memory, which goes when
 *	nobody waits for pages in it
 *
 * Context: any.
 */
void frdma_qp_put(struct frdma_qp *qp)
{
	kref_put(&qp->refs, free_qp);
}

static void wake_sender(struct frdma_page_in *in)
{
	struct frdma_qp *qp = container_of(in, struct frdma_qp, sq.page_in);

	frdma_side_kick_later(&qp->sq.side);
}

static void wake_receiver(struct frdma_page_in *in)
{
	struct frdma_qp *qp = container_of(in, struct frdma_qp, rq.page_in);

	frdma_side_kick_later(&qp->rq.side);
}

/**
 * frdma_qp_init - the parts of a queue pair that need no memory
 * @qp: zeroed, with @dev, @ib and @type set; the caller sets up the sides
 */
void frdma_qp_init(struct frdma_qp *qp)
{
	frdma_mr_waiter_init(&qp->sq.mr_waiter, NULL);
	spin_lock_init(&qp->sq.post_lock);
	spin_lock_init(&qp->sq.windows_lock);
	INIT_LIST_HEAD(&qp->sq.windows);
	spin_lock_init(&qp->rq.post_lock);
	tasklet_setup(&qp->event_tasklet, raise_events);
	kref_init(&qp->refs);
	frdma_page_in_init(&qp->sq.page_in, &qp->refs, free_qp, wake_sender);
	frdma_page_in_init(&qp->rq.page_in, &qp->refs, free_qp, wake_receiver);
	frdma_flush_init(&qp->rq.flush, qp->dev);
	frdma_gather_init(&qp->sq.gather, 0);
	hrtimer_setup(&qp->sq.timer, deadline_passed, CLOCK_MONOTONIC,
		      HRTIMER_MODE_ABS_SOFT);
	hrtimer_setup(&qp->rq.ahead_timer, patience_ends, CLOCK_MONOTONIC,
		      HRTIMER_MODE_ABS_SOFT);
	qp->rq.ahead.timer = &qp->rq.ahead_timer;
	hrtimer_setup(&qp->rq.unsent_timer, pause_ends, CLOCK_MONOTONIC,
		      HRTIMER_MODE_ABS_SOFT);
	frdma_unsent_init(&qp->sq.unsent);
	frdma_unsent_init(&qp->rq.unsent);
	qp->state = IB_QPS_RESET;
	qp->attr.qp_state = IB_QPS_RESET;
}

/**
 * frdma_qp_claim - own both sides
 * @qp: whose change the caller holds
 * @steps: of a process's send side that are made before its other side is claimed
 *
 * So what a process has posted leaves before anything changes, as far as it may
 * leave now, as if its post had sent it: it need not have rung for it, and the note
 * of who did is not read any more where a claim waits.
 *
 * Context: may sleep.
 */
void frdma_qp_claim(struct frdma_qp *qp, unsigned int steps)
{
	lockdep_assert_held(&to_frdma_ib_qp(qp->ib)->change);
	frdma_side_claim(&qp->sq.side);
	if (qp->user)
		frdma_side_step(&qp->sq.side, steps);
	frdma_side_claim(&qp->rq.side);
}

/**
 * frdma_qp_release - give both sides up, doing first what has come up
 * @qp: claimed by the caller
 */
void frdma_qp_release(struct frdma_qp *qp)
{
	frdma_side_release(&qp->rq.side);
	frdma_side_release(&qp->sq.side);
}

/**
 * frdma_qp_forget_pages - wait no more for pages that are faulted in or flushed
 * @qp: claimed by the caller
 *
 * Work items that fault pages in go on without the queue pair: see
 * frdma_page_in_cancel(). The queue pair forgets a FLUSH that was begun.
 *
 * Context: may sleep, with nothing held that others may want.
 */
void frdma_qp_forget_pages(struct frdma_qp *qp)
{
	lockdep_assert_held(&to_frdma_ib_qp(qp->ib)->change);
	lockdep_assert_not_held(&to_frdma_ib_qp(qp->ib)->mutex);
	frdma_page_in_cancel(&qp->sq.page_in);
	frdma_page_in_cancel(&qp->rq.page_in);
	frdma_flush_cancel(&qp->rq.flush);
}

/**
 * frdma_qp_kill - stop everything that could touch the queue pair
 * @qp: claimed by the caller, unpublished, and without pages to wait for; it
 *	stays claimed
 *
 * Context: may sleep.
 */
void frdma_qp_kill(struct frdma_qp *qp)
{
	hrtimer_cancel(&qp->sq.timer);
	hrtimer_cancel(&qp->rq.ahead_timer);
	hrtimer_cancel(&qp->rq.unsent_timer);
	frdma_side_kill(&qp->sq.side);
	frdma_side_kill(&qp->rq.side);
	frdma_ahead_forget(qp, &qp->sq.ahead);
	frdma_ahead_forget(qp, &qp->rq.ahead);
	frdma_unsent_forget(&qp->sq.unsent, qp);
	frdma_unsent_forget(&qp->rq.unsent, qp);
	tasklet_kill(&qp->event_tasklet);
}

/**
 * frdma_qp_event - tell the consumer of something
 * @qp: one of whose sides the caller owns
 * @type: an affiliated event
 *
 * It is raised from a tasklet, because the caller may be in the middle of a
 * post, and the consumer's handler may take the locks that the post is under.
 */
void frdma_qp_event(struct frdma_qp *qp, enum ib_event_type type)
{
	set_bit(type, &qp->events);
	tasklet_schedule(&qp->event_tasklet);
}

/**
 * frdma_qp_error - go to the error state
 * @qp: one of whose sides the caller owns
 *
 * Both sides run once more, and flush what they hold.
 */
void frdma_qp_error(struct frdma_qp *qp)
{
	enum ib_qp_state was = xchg(&qp->state, IB_QPS_ERR);

	if (was == IB_QPS_ERR)
		return;
	trace_frdma_qp_state(qp->dev->ndev->ifindex, qp->qpn, was, IB_QPS_ERR);
	frdma_side_kick_later(&qp->sq.side);
	frdma_side_kick_later(&qp->rq.side);
}

/**
 * frdma_qp_send_error - a send work request failed
 * @qp: whose send side the caller owns
 *
 * A reliable connection ends with it. What is unreliable only stops being
 * sent, until the consumer says that it may go on (IBTA 10.3.1.5).
 */
void frdma_qp_send_error(struct frdma_qp *qp)
{
	enum ib_qp_state was = frdma_qp_state(qp);

	if (frdma_req_is_reliable(&qp->sq.req)) {
		frdma_qp_error(qp);
		return;
	}
	do {
		if (was != IB_QPS_RTS && was != IB_QPS_SQD)
			return;
	} while (!try_cmpxchg(&qp->state, &was, IB_QPS_SQE));
	trace_frdma_qp_state(qp->dev->ndev->ifindex, qp->qpn, was, IB_QPS_SQE);
}

/**
 * frdma_qp_forget_completions - remove what a consumer in the kernel has not
 *	polled
 * @qp: both of whose sides the caller owns
 *
 * What an XRC target has received its queues keep: no completion points to it.
 */
void frdma_qp_forget_completions(struct frdma_qp *qp)
{
	if (qp->sq.cq)
		frdma_cq_forget(qp->sq.cq, qp->qpn);
	if (qp->rq.cq)
		frdma_cq_forget(qp->rq.cq, qp->qpn);
}

/**
 * frdma_qp_rq_doorbell - must the process ring for a receive request
 * @qp: whose receive side the caller owns, with a receive queue of its own
 * @needed: the responder will not look at the ring by itself
 */
void frdma_qp_rq_doorbell(struct frdma_qp *qp, bool needed)
{
	WRITE_ONCE(qp->rq.ring.head->flags,
		   needed ? FRDMA_RING_NEED_DOORBELL : 0);

	/*
	 * Pairs with the barrier of the poster between its index and the
	 * flag: either it sees the flag, or we see its request.
	 */
	smp_mb();
}
