// SPDX-License-Identifier: GPL-2.0
/* Completion queues. */
#include "cq.h"

#include <linux/delay.h>
#include <linux/if_vlan.h>
#include <linux/ktime.h>
#include <linux/log2.h>

#include "clock.h"
#include "dev.h"
#include "limit.h"
#include "refuse.h"
#include "uctx.h"

/* Numbers of bits in struct frdma_cq.events. */
enum {
	CQ_EVENT_COMP,
	CQ_EVENT_ERR,
};

/* Number of the bit in struct frdma_cq.csd_queued. */
#define CQ_CSD_QUEUED	0

/*
 * Events
 */

/* Calls the consumer's handlers for what is due, once for each event. */
static void cq_deliver(struct frdma_cq *cq)
{
	struct ib_event event = {
		.device		= cq->ib.device,
		.element.cq	= &cq->ib,
		.event		= IB_EVENT_CQ_ERR,
	};

	if (test_and_clear_bit(CQ_EVENT_ERR, &cq->events) &&
	    cq->ib.event_handler)
		cq->ib.event_handler(&event, cq->ib.cq_context);

	/* (B) in cq.h, with cq_raise(). */
	if (test_and_clear_bit(CQ_EVENT_COMP, &cq->events) &&
	    cq->ib.comp_handler)
		cq->ib.comp_handler(&cq->ib, cq->ib.cq_context);
}

static void cq_tasklet_run(struct tasklet_struct *tasklet)
{
	cq_deliver(container_of(tasklet, struct frdma_cq, tasklet));
}

/*
 * On the CPU of the vector, in its interrupt. @csd can be queued again from
 * the first line on, since the kernel lets go of it before it calls; whoever
 * finds the bit still set has made its event due before this schedules the
 * tasklet. @csd_users is the last thing touched: see cq_stop().
 */
static void cq_csd_run(void *data)
{
	struct frdma_cq *cq = data;

	clear_bit(CQ_CSD_QUEUED, &cq->csd_queued);
	/* Pairs with the test_and_set_bit() in cq_kick(). */
	smp_mb__after_atomic();
	tasklet_schedule(&cq->tasklet);
	/* Pairs with the acquisition in cq_stop(). */
	atomic_dec_return_release(&cq->csd_users);
}

/* Has the tasklet run on the CPU of the vector, or here if that is offline. */
static void cq_kick(struct frdma_cq *cq)
{
	if (cq->cpu == raw_smp_processor_id() || !cpu_online(cq->cpu)) {
		tasklet_schedule(&cq->tasklet);
		return;
	}

	if (test_and_set_bit(CQ_CSD_QUEUED, &cq->csd_queued))
		return;

	atomic_inc(&cq->csd_users);
	if (smp_call_function_single_async(cq->cpu, &cq->csd))
		cq_csd_run(cq);
}

void frdma_cq_notify(struct frdma_cq *cq)
{
	if (!READ_ONCE(cq->events))
		return;

	/* Waking a process takes less than asking another CPU to do it. */
	if (cq->user)
		cq_deliver(cq);
	else
		cq_kick(cq);
}

/* Ends the delivery of events; nobody pushes any more. */
static void cq_stop(struct frdma_cq *cq)
{
	hrtimer_cancel(&cq->moderation.timer);

	/* Pairs with the release in cq_csd_run(). */
	while (atomic_read_acquire(&cq->csd_users))
		usleep_range(1, 10);

	tasklet_kill(&cq->tasklet);
}

/* The CPU of a completion vector: the n-th that is online. */
static int vector_cpu(u32 vector)
{
	int cpu;

	vector %= num_online_cpus();
	for_each_online_cpu(cpu) {
		if (!vector--)
			return cpu;
	}

	return raw_smp_processor_id();
}

/*
 * Completions
 */

/* Nothing is pushed any more, and the consumer is told once. */
static void cq_die(struct frdma_cq *cq)
	__must_hold(&cq->push_lock)
{
	lockdep_assert_held(&cq->push_lock);

	cq->dead = true;
	set_bit(CQ_EVENT_ERR, &cq->events);
}

/* More entries in use than there are is a process that wrote to the index. */
static bool cq_full(const struct frdma_cq *cq)
	__must_hold(&cq->push_lock)
{
	lockdep_assert_held(&cq->push_lock);

	return cq->prod - frdma_ring_cons_acquire(&cq->ring) >=
	       cq->ring.entries;
}

static void cq_append(struct frdma_cq *cq, const struct frdma_cqe *cqe)
	__must_hold(&cq->push_lock)
{
	struct frdma_cqe *slot = frdma_ring_slot(&cq->ring, cq->prod);
	struct frdma_cqe entry = *cqe;

	lockdep_assert_held(&cq->push_lock);

	if (cq->timestamps)
		entry.timestamp = frdma_clock_ns();
	if (cq->user)
		entry.kernel_qp = 0;

	/* In one go: a process may be reading the slot. */
	*slot = entry;
	frdma_ring_prod_release(&cq->ring, ++cq->prod);
}

/* What was asked for is due; whoever delivers it may be asked again. */
static void cq_raise(struct frdma_cq *cq)
	__must_hold(&cq->push_lock)
{
	lockdep_assert_held(&cq->push_lock);

	frdma_ring_disarm(&cq->ring);
	/* (B) in cq.h, with cq_deliver(): a later request is not wiped out. */
	smp_mb__before_atomic();
	set_bit(CQ_EVENT_COMP, &cq->events);
}

/*
 * Takes the consumer's request if this completion satisfies it. A request
 * that comes between the two accesses is lost, but its consumer still gets
 * the event, which is delivered later than that.
 */
static void cq_take_request(struct frdma_cq *cq, bool solicited)
	__must_hold(&cq->push_lock)
{
	u32 wanted = FRDMA_ARM_NEXT | (solicited ? FRDMA_ARM_SOLICITED : 0);

	/* (A) in cq.h, with frdma_req_notify_cq(). */
	smp_mb();
	if (!(frdma_ring_armed(&cq->ring) & wanted))
		return;
	if (frdma_moderation_holds(&cq->moderation, solicited))
		return;

	cq_raise(cq);
}

/* The event that was held is due now, if there is one. */
static void cq_hold_no_longer(struct frdma_cq *cq)
	__must_hold(&cq->push_lock)
{
	lockdep_assert_held(&cq->push_lock);

	if (!cq->moderation.held)
		return;
	cq->moderation.held = 0;
	cq_raise(cq);
}

static enum hrtimer_restart cq_held_long_enough(struct hrtimer *timer)
{
	struct frdma_cq *cq = container_of(timer, struct frdma_cq,
					   moderation.timer);

	spin_lock(&cq->push_lock);
	cq_hold_no_longer(cq);
	spin_unlock(&cq->push_lock);

	frdma_cq_notify(cq);
	return HRTIMER_NORESTART;
}

bool frdma_cq_push(struct frdma_cq *cq, const struct frdma_cqe *cqe,
		   bool solicited)
{
	bool pushed = false;

	spin_lock(&cq->push_lock);

	if (cq->dead)
		goto out;

	if (cq_full(cq)) {
		cq_die(cq);
		goto out;
	}

	cq_append(cq, cqe);
	cq_take_request(cq, solicited || cqe->status);
	pushed = true;
out:
	spin_unlock(&cq->push_lock);
	return pushed;
}

/*
 * Verbs for consumers in the kernel, in any context
 */

static void cqe_to_wc(const struct frdma_cqe *cqe, struct ib_wc *wc)
{
	*wc = (struct ib_wc) {
		.wr_id			= cqe->wr_id,
		.status			= cqe->status,
		.opcode			= cqe->opcode,
		.vendor_err		= cqe->vendor_err,
		.byte_len		= cqe->byte_len,
		.qp			= (void *)(uintptr_t)cqe->kernel_qp,
		.src_qp			= cqe->src_qp,
		.wc_flags		= cqe->wc_flags,
		.pkey_index		= cqe->pkey_index,
		.port_num		= 1,
		.vlan_id		= cqe->vlan_id,
		.network_hdr_type	= cqe->network_hdr_type,
	};

	if (cqe->wc_flags & IB_WC_WITH_INVALIDATE)
		wc->ex.invalidate_rkey = cqe->ex;
	else
		wc->ex.imm_data = (__force __be32)cqe->ex;

	/* What tells MAD and CM how to read the 40 bytes in front. */
	if (cqe->wc_flags & IB_WC_GRH) {
		wc->wc_flags |= IB_WC_WITH_NETWORK_HDR_TYPE;
		if (cqe->vlan_id < VLAN_N_VID)
			wc->wc_flags |= IB_WC_WITH_VLAN;
	}
}

int frdma_poll_cq(struct ib_cq *ib, int num_entries, struct ib_wc *wc)
{
	struct frdma_cq *cq = to_frdma_cq(ib);
	unsigned long flags;
	u32 prod;
	int n;

	spin_lock_irqsave(&cq->poll_lock, flags);

	prod = frdma_ring_prod_acquire(&cq->ring);
	for (n = 0; n < num_entries && cq->cons != prod; n++)
		cqe_to_wc(frdma_ring_slot(&cq->ring, cq->cons++), &wc[n]);
	if (n)
		frdma_ring_cons_release(&cq->ring, cq->cons);

	spin_unlock_irqrestore(&cq->poll_lock, flags);

	return n;
}

/* Moves what is to stay to the end of what was not polled, in order. */
static u32 cq_squeeze(struct frdma_cq *cq, u32 qpn)
	__must_hold(&cq->poll_lock)
{
	u32 at = frdma_ring_prod_acquire(&cq->ring);
	const struct frdma_cqe *cqe;
	u32 kept = at;

	lockdep_assert_held(&cq->poll_lock);

	while (at != cq->cons) {
		cqe = frdma_ring_slot(&cq->ring, --at);
		if (cqe->qp_num != qpn)
			memcpy(frdma_ring_slot(&cq->ring, --kept), cqe,
			       sizeof(*cqe));
	}

	return kept;
}

void frdma_cq_forget(struct frdma_cq *cq, u32 qpn)
{
	unsigned long flags;

	if (cq->user)
		return;

	spin_lock_irqsave(&cq->poll_lock, flags);
	cq->cons = cq_squeeze(cq, qpn);
	frdma_ring_cons_release(&cq->ring, cq->cons);
	spin_unlock_irqrestore(&cq->poll_lock, flags);
}

/* Have completions come that the consumer in the kernel has not polled? */
static bool cq_has_unpolled(struct frdma_cq *cq)
{
	unsigned long flags;
	bool unpolled;

	spin_lock_irqsave(&cq->poll_lock, flags);
	unpolled = frdma_ring_prod_acquire(&cq->ring) != cq->cons;
	spin_unlock_irqrestore(&cq->poll_lock, flags);

	return unpolled;
}

/* Waiting for what it was, an event does not wait for what it is now. */
int frdma_modify_cq(struct ib_cq *ib, u16 count, u16 period_us)
{
	struct frdma_cq *cq = to_frdma_cq(ib);

	spin_lock_bh(&cq->push_lock);
	frdma_moderation_set(&cq->moderation, count, period_us);
	cq_hold_no_longer(cq);
	spin_unlock(&cq->push_lock);

	frdma_cq_notify(cq);
	local_bh_enable();
	return 0;
}

int frdma_req_notify_cq(struct ib_cq *ib, enum ib_cq_notify_flags flags)
{
	bool solicited = (flags & IB_CQ_SOLICITED_MASK) == IB_CQ_SOLICITED;
	struct frdma_cq *cq = to_frdma_cq(ib);

	/* (A) in cq.h, with cq_take_request(). */
	frdma_ring_arm(&cq->ring, solicited ? FRDMA_ARM_SOLICITED :
					      FRDMA_ARM_NEXT);

	return (flags & IB_CQ_REPORT_MISSED_EVENTS) && cq_has_unpolled(cq);
}

/*
 * Verbs that make and unmake queues
 */

static void cq_init(struct frdma_cq *cq, const struct ib_cq_init_attr *attr,
		    bool user)
{
	mutex_init(&cq->resize);
	spin_lock_init(&cq->push_lock);
	spin_lock_init(&cq->poll_lock);
	cq->user = user;
	cq->timestamps = attr->flags &
			 IB_UVERBS_CQ_FLAGS_TIMESTAMP_COMPLETION;
	cq->cpu = vector_cpu(attr->comp_vector);
	INIT_CSD(&cq->csd, cq_csd_run, cq);
	tasklet_setup(&cq->tasklet, cq_tasklet_run);
	frdma_moderation_init(&cq->moderation, cq_held_long_enough);
}

/* Makes a ring that the consumer of @udata, a process or not, can use. */
static int cq_ring_create(const struct ib_device *ib, struct frdma_ring *ring,
			  u32 cqe, struct ib_udata *udata)
{
	struct frdma_create_cq_resp resp = {};
	struct frdma_uctx *uctx;
	int err;

	/* A resize answers with the same. */
	static_assert(sizeof(struct frdma_resize_cq_resp) == sizeof(resp));

	if (!cqe || cqe > FRDMA_MAX_CQE)
		return frdma_refuse(ib, -EINVAL, "CQ: cqe %u is not 1 to %u",
				    cqe, FRDMA_MAX_CQE);
	err = frdma_check_request(udata);
	if (err)
		return err;

	uctx = rdma_udata_to_drv_context(udata, struct frdma_uctx, ib);
	err = frdma_ring_create(ring, uctx ? &uctx->ib : NULL,
				roundup_pow_of_two(cqe),
				sizeof(struct frdma_cqe), &resp.cq);
	if (err)
		return err;

	err = frdma_respond(udata, &resp, sizeof(resp));
	if (err)
		frdma_ring_destroy(ring);

	return err;
}

int frdma_create_cq(struct ib_cq *ib, const struct ib_cq_init_attr *attr,
		    struct uverbs_attr_bundle *attrs)
{
	struct ib_udata *udata = attrs ? &attrs->driver_udata : NULL;
	struct frdma_dev *dev = to_frdma(ib->device);
	struct frdma_cq *cq = to_frdma_cq(ib);
	int err;

	if (attr->flags & ~IB_UVERBS_CQ_FLAGS_TIMESTAMP_COMPLETION)
		return frdma_refuse(ib->device, -EOPNOTSUPP,
				    "create_cq: flags 0x%x are unknown",
				    attr->flags);
	if (attr->comp_vector >= (u32)ib->device->num_comp_vectors)
		return frdma_refuse(ib->device, -EINVAL,
				    "create_cq: comp_vector %u exceeds %d",
				    attr->comp_vector,
				    ib->device->num_comp_vectors - 1);

	if (!frdma_limit_take(&dev->nr_cq, FRDMA_MAX_CQ, FRDMA_POOL_CQ,
			      &cq->charge, frdma_udata_account(udata),
			      sizeof(*cq)))
		return -ENOMEM;

	err = cq_ring_create(ib->device, &cq->ring, attr->cqe, udata);
	if (err)
		goto err_limit_give;

	cq_init(cq, attr, udata);
	ib->cqe = cq->ring.entries;
	return 0;

err_limit_give:
	frdma_limit_give(&dev->nr_cq, FRDMA_POOL_CQ, &cq->charge);
	return err;
}

/* The core's use count says that no queue pair can push. */
int frdma_destroy_cq(struct ib_cq *ib, struct ib_udata *udata)
{
	struct frdma_dev *dev = to_frdma(ib->device);
	struct frdma_cq *cq = to_frdma_cq(ib);

	cq_stop(cq);

	/* The core still lists it. */
	mutex_lock(&cq->resize);
	frdma_ring_destroy(&cq->ring);
	mutex_unlock(&cq->resize);
	frdma_limit_give(&dev->nr_cq, FRDMA_POOL_CQ, &cq->charge);
	return 0;
}

/* Completions moved under the lock of pushing: it is held with softirqs off. */
#define MOVE_AT_ONCE	64

static void cq_copy(const struct frdma_cq *cq, struct frdma_ring *ring,
		    u32 cons, u32 from, u32 to)
{
	for (; from != to; from++)
		memcpy(frdma_ring_slot(ring, from),
		       frdma_ring_slot(&cq->ring, cons + from),
		       sizeof(struct frdma_cqe));
}

/*
 * One round of a move: @moved completions from @cons on are in the new ring
 * already. Puts it in place if few enough are left, else returns how many
 * there are by now.
 */
static int cq_move_rest(struct frdma_cq *cq, struct frdma_ring *ring, u32 cons,
			u32 moved)
{
	u32 unpolled;
	int left = 0;

	spin_lock_bh(&cq->push_lock);
	unpolled = cq->prod - cons;
	if (unpolled > cq->ring.entries || unpolled > ring->entries) {
		left = -EINVAL;
	} else if (unpolled - moved > MOVE_AT_ONCE) {
		left = unpolled;
	} else {
		cq_copy(cq, ring, cons, moved, unpolled);
		frdma_ring_prod_release(ring, unpolled);
		frdma_ring_arm(ring, frdma_ring_armed(&cq->ring));
		swap(cq->ring, *ring);
		cq->prod = unpolled;
		cq->ib.cqe = cq->ring.entries;
	}
	spin_unlock_bh(&cq->push_lock);

	return left;
}

/*
 * Moves the completions that were not polled yet to a new ring. A process's
 * idea of which these are may be nonsense, so it is asked once. Nobody polls
 * meanwhile (that is the provider's part), so what was pushed stays as it is,
 * and is copied without the lock; a process that does not keep to it finds
 * nonsense of its own making. Pushes go on, and end when the old ring is full.
 */
static int cq_move(struct frdma_cq *cq, struct frdma_ring *ring)
{
	u32 cons = frdma_ring_cons_acquire(&cq->ring);
	u32 moved = 0;
	int left;

	lockdep_assert_held(&cq->resize);

	while ((left = cq_move_rest(cq, ring, cons, moved)) > 0) {
		while (moved != left) {
			u32 next = min_t(u32, left, moved + MOVE_AT_ONCE);

			cq_copy(cq, ring, cons, moved, next);
			moved = next;
			cond_resched();
		}
	}
	return left;
}

int frdma_resize_cq(struct ib_cq *ib, unsigned int cqe,
		    struct ib_udata *udata)
{
	struct frdma_cq *cq = to_frdma_cq(ib);
	struct frdma_ring ring;
	int err;

	if (!cq->user)
		return -EOPNOTSUPP;

	err = cq_ring_create(ib->device, &ring, cqe, udata);
	if (err)
		return err;

	mutex_lock(&cq->resize);
	err = cq_move(cq, &ring);
	mutex_unlock(&cq->resize);

	/* The old one, or the new one if it was too small. */
	frdma_ring_destroy(&ring);
	if (err)
		return frdma_refuse(ib->device, err,
				    "resize_cq: more than %u completions are unpolled",
				    cqe);
	return 0;
}
