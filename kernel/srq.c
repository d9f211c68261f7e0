// SPDX-License-Identifier: GPL-2.0
/* Shared receive queues. */
#include "srq.h"

#include <linux/log2.h>
#include <linux/sched.h>
#include <linux/uaccess.h>
#include <rdma/uverbs_ioctl.h>

#include "dev.h"
#include "grace.h"
#include "limit.h"
#include "proto/wire.h"
#include "refuse.h"
#include "rwr.h"
#include "uctx.h"

/*
 * Events
 */

static void srq_raise_events(struct tasklet_struct *t)
{
	struct frdma_srq *srq = from_tasklet(srq, t, event_tasklet);
	unsigned long due = xchg(&srq->events, 0);
	unsigned int type;

	for_each_set_bit(type, &due, BITS_PER_LONG) {
		struct ib_event event = {
			.device	     = srq->ib.device,
			.element.srq = &srq->ib,
			.event	     = type,
		};

		if (srq->ib.event_handler)
			srq->ib.event_handler(&event, srq->ib.srq_context);
	}
}

static void srq_event(struct frdma_srq *srq, enum ib_event_type type)
{
	set_bit(type, &srq->events);
	tasklet_schedule(&srq->event_tasklet);
}

/*
 * Taking
 */

/* Receive requests that are there; a process may have written nonsense. */
static u32 srq_posted(struct frdma_srq *srq)
	__must_hold(&srq->take_lock)
{
	u32 posted = frdma_ring_prod_acquire(&srq->ring) - srq->cons;

	lockdep_assert_held(&srq->take_lock);

	if (srq->broken)
		return 0;
	if (likely(posted <= srq->ring.entries))
		return posted;

	WRITE_ONCE(srq->broken, true);
	srq_event(srq, IB_EVENT_SRQ_ERR);
	return 0;
}

/* The event disarms the limit (IBTA 10.2.9.1): it comes once per arming. */
static void srq_check_limit(struct frdma_srq *srq, u32 posted)
	__must_hold(&srq->take_lock)
{
	lockdep_assert_held(&srq->take_lock);

	if (likely(posted >= srq->limit))
		return;
	srq->limit = 0;
	srq_event(srq, IB_EVENT_SRQ_LIMIT_REACHED);
}

bool frdma_srq_take(struct frdma_srq *srq, struct frdma_rwr *rwr)
{
	u32 posted;

	spin_lock(&srq->take_lock);
	posted = srq_posted(srq);
	if (posted) {
		frdma_rwr_copy(rwr, frdma_ring_slot(&srq->ring, srq->cons),
			       srq->max_sge);
		frdma_ring_cons_release(&srq->ring, ++srq->cons);
		srq_check_limit(srq, posted - 1);
	}
	spin_unlock(&srq->take_lock);
	return posted;
}

/*
 * Numbers
 */

/* 0 is none, so that a request that forgot to name a queue finds none. */
#define SRQN_LIMIT	XA_LIMIT(1, FRDMA_SRQN_MASK)

static int srq_publish(struct frdma_dev *dev, struct frdma_srq *srq)
{
	int err = xa_alloc_cyclic(&dev->srqs, &srq->ib.ext.xrc.srq_num, srq,
				  SRQN_LIMIT, &dev->srqs_next,
				  FRDMA_GFP_OBJECT);

	return err < 0 ? -ENOMEM : 0;
}

/* A responder takes from the queue within one step, an RCU read section. */
static void srq_unpublish(struct frdma_dev *dev, struct frdma_srq *srq)
{
	xa_erase(&dev->srqs, srq->ib.ext.xrc.srq_num);
	frdma_grace_period();
}

struct frdma_srq *frdma_srq_find(struct frdma_dev *dev, u32 srqn)
{
	return xa_load(&dev->srqs, srqn);
}

/*
 * Verbs
 */

static u32 srq_entries(u32 max_wr)
{
	return roundup_pow_of_two(max(max_wr, 1U));
}

static struct ib_ucontext *udata_to_uctx(struct ib_udata *udata)
{
	struct frdma_uctx *uctx = rdma_udata_to_drv_context(udata,
						struct frdma_uctx, ib);

	return uctx ? &uctx->ib : NULL;
}

static void srq_init(struct frdma_srq *srq, bool user, u32 max_sge)
{
	mutex_init(&srq->modify);
	spin_lock_init(&srq->take_lock);
	spin_lock_init(&srq->post_lock);
	tasklet_setup(&srq->event_tasklet, srq_raise_events);
	srq->user = user;
	srq->max_sge = max_sge;
}

static int srq_check_init(const struct ib_device *ib,
			  const struct ib_srq_init_attr *init)
{
	if (init->srq_type != IB_SRQT_BASIC && init->srq_type != IB_SRQT_XRC)
		return frdma_refuse(ib, -EOPNOTSUPP,
				    "create_srq: type %d does not exist here",
				    init->srq_type);
	if (init->attr.max_wr > FRDMA_MAX_SRQ_WR ||
	    init->attr.max_sge > FRDMA_MAX_SRQ_SGE)
		return frdma_refuse(ib, -EINVAL,
				    "create_srq: max_wr %u, max_sge %u exceed %u, %u",
				    init->attr.max_wr, init->attr.max_sge,
				    FRDMA_MAX_SRQ_WR, FRDMA_MAX_SRQ_SGE);
	return 0;
}

/* A limit in @init means nothing: nothing is posted yet. */
int frdma_create_srq(struct ib_srq *ib, struct ib_srq_init_attr *init,
		     struct ib_udata *udata)
{
	u32 max_sge = max(init->attr.max_sge, 1U);
	struct frdma_create_srq_resp resp = {};
	struct frdma_dev *dev = to_frdma(ib->device);
	struct frdma_srq *srq = to_frdma_srq(ib);
	int err;

	err = srq_check_init(ib->device, init) ?: frdma_check_request(udata);
	if (err)
		return err;
	if (!frdma_limit_take(&dev->nr_srq, FRDMA_MAX_SRQ, FRDMA_POOL_SRQ,
			      &srq->charge, frdma_udata_account(udata),
			      sizeof(*srq)))
		return -ENOMEM;

	err = frdma_ring_create(&srq->ring, udata_to_uctx(udata),
				srq_entries(init->attr.max_wr),
				sizeof(struct frdma_recv_wqe) +
				max_sge * sizeof(struct frdma_sge), &resp.srq);
	if (err)
		goto err_limit_give;
	err = frdma_respond(udata, &resp, sizeof(resp));
	if (err)
		goto err_ring_destroy;

	srq_init(srq, udata, max_sge);
	if (init->srq_type == IB_SRQT_XRC) {
		err = srq_publish(dev, srq);
		if (err)
			goto err_ring_destroy;
	}
	init->attr.max_wr = srq->ring.entries;
	init->attr.max_sge = max_sge;
	return 0;

err_ring_destroy:
	frdma_ring_destroy(&srq->ring);
err_limit_give:
	frdma_limit_give(&dev->nr_srq, FRDMA_POOL_SRQ, &srq->charge);
	return err;
}

/* Requests copied to the new ring at once; then others get the CPU. */
#define MOVE_AT_ONCE	64

static int srq_refuse_broken(const struct frdma_srq *srq)
{
	return frdma_refuse(srq->ib.device, -EINVAL,
			    "modify_srq: the queue has ended with an error");
}

/*
 * Indices go on counting in the new ring. Nobody posts meanwhile (that is the
 * provider's part), so what is there stays as it is and is copied without the
 * lock; what is taken meanwhile is only copied in vain. A process that does
 * post finds nonsense of its own making.
 */
static int srq_move(struct frdma_srq *srq, struct frdma_ring *ring)
{
	u32 prod, at;

	lockdep_assert_held(&srq->modify);

	spin_lock_bh(&srq->take_lock);
	at = srq->cons;
	prod = at + srq_posted(srq);
	spin_unlock_bh(&srq->take_lock);
	if (frdma_srq_is_broken(srq))
		return srq_refuse_broken(srq);
	if (prod - at > ring->entries)
		return frdma_refuse(srq->ib.device, -EINVAL,
				    "modify_srq: max_wr %u is less than the %u requests in the queue",
				    ring->entries, prod - at);

	for (; at != prod; at++) {
		memcpy(frdma_ring_slot(ring, at),
		       frdma_ring_slot(&srq->ring, at), ring->stride);
		if (!(at % MOVE_AT_ONCE))
			cond_resched();
	}

	spin_lock_bh(&srq->take_lock);
	frdma_ring_prod_release(ring, prod);
	frdma_ring_cons_release(ring, srq->cons);
	swap(srq->ring, *ring);
	spin_unlock_bh(&srq->take_lock);
	return 0;
}

/* An older process sends less, and ends with @resp_addr. */
static int srq_get_cmd(const struct ib_device *ib, struct ib_udata *udata,
		       struct frdma_modify_srq *cmd)
{
	*cmd = (struct frdma_modify_srq) {
		.resp_len = offsetofend(struct frdma_modify_srq_resp, srq),
	};
	if (udata->inlen < offsetofend(struct frdma_modify_srq, resp_addr))
		return frdma_refuse(ib, -EINVAL,
				    "modify_srq: driver data of %zu bytes",
				    udata->inlen);
	if (udata->inlen > sizeof(*cmd) &&
	    !ib_is_udata_cleared(udata, sizeof(*cmd),
				 udata->inlen - sizeof(*cmd)))
		return frdma_refuse(ib, -EOPNOTSUPP,
				    "modify_srq: driver data of a newer provider");

	return ib_copy_from_udata(cmd, udata, min(sizeof(*cmd), udata->inlen));
}

/* Longer than any response will be: the kernel zeroes what it does not know. */
#define MODIFY_SRQ_RESP_MAX	PAGE_SIZE

/*
 * MODIFY_SRQ has no response in the core, so the process names a buffer. It
 * needs all of the description: a shorter buffer is refused.
 */
static int srq_resize(struct frdma_srq *srq, u32 entries,
		      struct ib_udata *udata)
{
	const struct ib_device *ib = srq->ib.device;
	struct frdma_modify_srq_resp resp = { };
	struct frdma_modify_srq cmd;
	struct frdma_ring ring;
	int err;

	err = srq_get_cmd(ib, udata, &cmd);
	if (err)
		return err;
	if (cmd.reserved ||
	    cmd.resp_len < offsetofend(struct frdma_modify_srq_resp, srq) ||
	    cmd.resp_len > MODIFY_SRQ_RESP_MAX)
		return frdma_refuse(ib, -EINVAL,
				    "modify_srq: a response of %u bytes",
				    cmd.resp_len);

	err = frdma_ring_create(&ring, udata_to_uctx(udata), entries,
				srq->ring.stride, &resp.srq);
	if (err)
		return err;
	err = frdma_respond_to(u64_to_user_ptr(cmd.resp_addr), cmd.resp_len,
			       &resp, sizeof(resp));
	if (!err)
		err = srq_move(srq, &ring);

	/* The old one, or the new one if it is not used. */
	frdma_ring_destroy(&ring);
	return err;
}

/* Armed with fewer requests than that, the event comes at once. */
static int srq_arm(struct frdma_srq *srq, u32 limit)
{
	bool broken;
	u32 posted;

	spin_lock_bh(&srq->take_lock);
	posted = srq_posted(srq);
	broken = srq->broken;
	if (!broken) {
		srq->limit = limit;
		srq_check_limit(srq, posted);
	}
	spin_unlock_bh(&srq->take_lock);
	return broken ? srq_refuse_broken(srq) : 0;
}

static u32 srq_limit(struct frdma_srq *srq)
{
	u32 limit;

	spin_lock_bh(&srq->take_lock);
	limit = srq->limit;
	spin_unlock_bh(&srq->take_lock);
	return limit;
}

static int srq_modify(struct frdma_srq *srq, const struct ib_srq_attr *attr,
		      enum ib_srq_attr_mask mask, struct ib_udata *udata)
{
	u32 entries = mask & IB_SRQ_MAX_WR ? srq_entries(attr->max_wr) :
					     srq->ring.entries;
	u32 limit = mask & IB_SRQ_LIMIT ? attr->srq_limit : srq_limit(srq);
	int err = 0;

	lockdep_assert_held(&srq->modify);

	if (limit > entries)
		return frdma_refuse(srq->ib.device, -EINVAL,
				    "modify_srq: srq_limit %u exceeds max_wr %u",
				    limit, entries);
	if (mask & IB_SRQ_MAX_WR)
		err = srq_resize(srq, entries, udata);
	if (!err && mask & IB_SRQ_LIMIT)
		err = srq_arm(srq, limit);
	return err;
}

static int srq_check_modify(const struct frdma_srq *srq,
			    const struct ib_srq_attr *attr,
			    enum ib_srq_attr_mask mask, struct ib_udata *udata)
{
	const struct ib_device *ib = srq->ib.device;

	if (mask & ~(IB_SRQ_MAX_WR | IB_SRQ_LIMIT))
		return frdma_refuse(ib, -EINVAL,
				    "modify_srq: attr_mask 0x%x has unknown bits",
				    mask);
	if (!(mask & IB_SRQ_MAX_WR))
		return frdma_no_driver_data(udata);
	if (!srq->user)
		return frdma_refuse(ib, -EOPNOTSUPP,
				    "modify_srq: max_wr of a queue of the kernel");
	if (attr->max_wr > FRDMA_MAX_SRQ_WR)
		return frdma_refuse(ib, -EINVAL,
				    "modify_srq: max_wr %u exceeds %u",
				    attr->max_wr, FRDMA_MAX_SRQ_WR);
	return 0;
}

int frdma_modify_srq(struct ib_srq *ib, struct ib_srq_attr *attr,
		     enum ib_srq_attr_mask mask, struct ib_udata *udata)
{
	struct frdma_srq *srq = to_frdma_srq(ib);
	int err;

	err = srq_check_modify(srq, attr, mask, udata);
	if (err)
		return err;

	mutex_lock(&srq->modify);
	err = srq_modify(srq, attr, mask, udata);
	mutex_unlock(&srq->modify);
	return err;
}

int frdma_query_srq(struct ib_srq *ib, struct ib_srq_attr *attr)
{
	struct frdma_srq *srq = to_frdma_srq(ib);

	mutex_lock(&srq->modify);
	*attr = (struct ib_srq_attr) {
		.max_wr	   = srq->ring.entries,
		.max_sge   = srq->max_sge,
		.srq_limit = srq_limit(srq),
	};
	mutex_unlock(&srq->modify);
	return 0;
}

/* The core's use count says that no queue pair can take that is held there. */
int frdma_destroy_srq(struct ib_srq *ib, struct ib_udata *udata)
{
	struct frdma_dev *dev = to_frdma(ib->device);
	struct frdma_srq *srq = to_frdma_srq(ib);

	if (ib->srq_type == IB_SRQT_XRC)
		srq_unpublish(dev, srq);
	tasklet_kill(&srq->event_tasklet);
	frdma_ring_destroy(&srq->ring);
	frdma_limit_give(&dev->nr_srq, FRDMA_POOL_SRQ, &srq->charge);
	return 0;
}
