// SPDX-License-Identifier: GPL-2.0
/* Memory windows. */
#include "mw.h"

#include <linux/list.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>

#include "dev.h"
#include "proto/access.h"
#include "qp.h"
#include "refuse.h"
#include "uctx.h"

/*
 * What a window can grant, and how it can count addresses. Programs ask for
 * local writing, too, as a region needs it; to a peer it means nothing.
 */
#define MW_ACCESS_KNOWN	(FRDMA_ACC_REMOTE | IB_ZERO_BASED | \
			 IB_ACCESS_LOCAL_WRITE)

/* Access to the region that remote writing through a window needs, too. */
#define MW_ACCESS_STORES (IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_ATOMIC)

/*
 * Binding
 */

/* A window of type 2 is bound on a queue pair. */
static void mw_join(struct frdma_mr *mw, struct frdma_qp *qp)
	__must_hold(&mw->bind_lock)
{
	mw->qp = qp;
	spin_lock(&qp->sq.windows_lock);
	list_add(&mw->of_qp, &qp->sq.windows);
	spin_unlock(&qp->sq.windows_lock);
}

static void mw_part(struct frdma_mr *mw)
	__must_hold(&mw->bind_lock)
{
	struct frdma_qp *qp = mw->qp;

	if (!qp)
		return;
	spin_lock(&qp->sq.windows_lock);
	list_del(&mw->of_qp);
	spin_unlock(&qp->sq.windows_lock);
	mw->qp = NULL;
}

/*
 * First nobody new may enter, then the region may go: whoever has entered by
 * then is in an RCU read section, for which the region's end waits.
 */
static enum frdma_mr_invalid mw_unbind(struct frdma_mr *mw,
				       struct frdma_mr_waiter *waiter)
	__must_hold(&mw->bind_lock)
{
	enum frdma_mr_invalid result;

	lockdep_assert_held(&mw->bind_lock);

	result = frdma_mr_revoke(mw, waiter);
	if (mw->parent)
		atomic_dec(&mw->parent->nr_windows);
	mw->parent = NULL;
	mw_part(mw);
	return result;
}

/* IBTA 10.6.7.2.2, o10-37.2: what the window itself allows. */
static bool mw_may_bind(const struct frdma_mr *mw,
			const struct frdma_send_wqe *wqe)
{
	u32 access = wqe->bind.access;

	if (access & ~MW_ACCESS_KNOWN)
		return false;
	if (mw->mw_type == IB_MW_TYPE_1)
		return !(access & IB_ZERO_BASED);

	return !mw->parent && wqe->bind.length;
}

/*
 * C10-73 and after: may a window show this part of the region? The window's
 * rights need not be among the region's own remote ones.
 */
static bool mr_may_be_shown(const struct frdma_mr *region,
			    const struct ib_pd *pd,
			    const struct frdma_send_wqe *wqe)
{
	if (region->kind != FRDMA_MR_USER && region->kind != FRDMA_MR_DM)
		return false;
	if (region->key != wqe->bind.mr_key || region->pd != pd)
		return false;
	if (!(region->access & IB_ACCESS_MW_BIND))
		return false;
	if (wqe->bind.access & MW_ACCESS_STORES &&
	    !(region->access & IB_ACCESS_LOCAL_WRITE))
		return false;

	return frdma_range_in(wqe->bind.addr, wqe->bind.length, region->iova,
			      region->length);
}

/* The region that a work request names, with one window more; or NULL. */
static struct frdma_mr *find_region(struct frdma_dev *dev,
				    const struct ib_pd *pd,
				    const struct frdma_send_wqe *wqe)
{
	struct frdma_mr *region;

	region = frdma_mr_named(dev, wqe->bind.mr_key);
	if (!region || !mr_may_be_shown(region, pd, wqe))
		return NULL;

	return atomic_inc_unless_negative(&region->nr_windows) ? region : NULL;
}

/* Nobody looks at the window now. */
static void mw_show(struct frdma_mr *mw, struct frdma_mr *region,
		    struct frdma_qp *qp, const struct frdma_send_wqe *wqe)
	__must_hold(&mw->bind_lock)
{
	bool zero_based = wqe->bind.access & IB_ZERO_BASED;

	if (mw->mw_type == IB_MW_TYPE_2)
		mw_join(mw, qp);
	WRITE_ONCE(mw->access, wqe->bind.access & FRDMA_ACC_REMOTE);
	mw->parent = region;
	mw->qpn = mw->qp ? qp->qpn : 0;
	mw->pages = region->pages;
	mw->offset = region->offset + (wqe->bind.addr - region->iova);
	mw->iova = zero_based ? 0 : wqe->bind.addr;
	mw->length = wqe->bind.length;
	frdma_mr_validate(mw);
}

static enum frdma_mw_bound bind(struct frdma_qp *qp, struct frdma_mr *mw,
				const struct frdma_send_wqe *wqe,
				struct frdma_mr_waiter *waiter)
	__must_hold(&mw->bind_lock)
{
	struct frdma_mr *region = NULL;

	if (!mw_may_bind(mw, wqe))
		return FRDMA_MW_REFUSED;
	if (wqe->bind.length) {
		region = find_region(qp->dev, mw->pd, wqe);
		if (!region)
			return FRDMA_MW_REFUSED;
	}

	/* Of type 1: a new binding ends the old one (10.6.7.2.1). */
	if (mw_unbind(mw, waiter) == FRDMA_MR_DRAINING) {
		if (region)
			atomic_dec(&region->nr_windows);
		return FRDMA_MW_DRAINING;
	}

	WRITE_ONCE(mw->key, wqe->bind.key);
	if (region)
		mw_show(mw, region, qp, wqe);
	return FRDMA_MW_BOUND;
}

enum frdma_mw_bound frdma_mw_bind(struct frdma_qp *qp,
				  const struct frdma_send_wqe *wqe,
				  struct frdma_mr_waiter *waiter)
{
	enum frdma_mw_bound result = FRDMA_MW_REFUSED;
	struct frdma_mr *mw;

	rcu_read_lock();
	mw = frdma_mr_named(qp->dev, wqe->bind.key);
	if (mw && mw->kind == FRDMA_MR_WINDOW && mw->pd == qp->pd) {
		spin_lock_bh(&mw->bind_lock);
		result = bind(qp, mw, wqe, waiter);
		spin_unlock_bh(&mw->bind_lock);
	}
	rcu_read_unlock();

	return result;
}

/* May the key be invalidated through this queue pair? */
static bool mw_can_invalidate(const struct frdma_mr *mw,
			      const struct ib_pd *pd, u32 qpn, u32 key)
	__must_hold(&mw->bind_lock)
{
	return mw->mw_type == IB_MW_TYPE_2 && mw->pd == pd && mw->key == key &&
	       (!mw->parent || mw->qpn == qpn);
}

enum frdma_mr_invalid frdma_mw_invalidate(struct frdma_mr *mw,
					  const struct ib_pd *pd, u32 qpn,
					  u32 key,
					  struct frdma_mr_waiter *waiter)
{
	enum frdma_mr_invalid result = FRDMA_MR_NOT_INVALIDATED;

	spin_lock_bh(&mw->bind_lock);
	if (mw_can_invalidate(mw, pd, qpn, key))
		result = mw_unbind(mw, waiter);
	spin_unlock_bh(&mw->bind_lock);

	return result;
}

/* It may have been unbound, and bound on another, since it was found. */
static void unbind_from(struct frdma_mr *mw, const struct frdma_qp *qp)
{
	spin_lock_bh(&mw->bind_lock);
	if (mw->qp == qp)
		mw_unbind(mw, NULL);
	spin_unlock_bh(&mw->bind_lock);
}

/*
 * A window's lock comes before the list's, so it is taken when that is free
 * again, and RCU keeps the window until then. Returns false if there was none.
 */
static bool unbind_first(struct frdma_qp *qp)
{
	struct frdma_mr *mw;

	rcu_read_lock();
	spin_lock_bh(&qp->sq.windows_lock);
	mw = list_first_entry_or_null(&qp->sq.windows, struct frdma_mr, of_qp);
	spin_unlock_bh(&qp->sq.windows_lock);
	if (mw)
		unbind_from(mw, qp);
	rcu_read_unlock();

	return mw;
}

void frdma_mw_forget(struct frdma_qp *qp)
{
	while (unbind_first(qp))
		cond_resched();
}

/*
 * Verbs
 */

int frdma_alloc_mw(struct ib_mw *ib, struct ib_udata *udata)
{
	struct frdma_mr *mr;
	int err;

	if (ib->type != IB_MW_TYPE_1 && ib->type != IB_MW_TYPE_2)
		return frdma_refuse(ib->device, -EINVAL,
				    "alloc_mw: type %d does not exist",
				    ib->type);
	err = frdma_no_driver_data(udata);
	if (err)
		return err;

	mr = frdma_mr_create(ib->pd, FRDMA_MR_WINDOW, 0);
	if (IS_ERR(mr))
		return PTR_ERR(mr);

	mr->mw_type = ib->type;
	to_frdma_mw(ib)->mr = mr;
	ib->rkey = mr->key;
	frdma_mr_publish(mr);
	return 0;
}

/* Bound or not; once it is hidden, nobody can bind it again. */
int frdma_dealloc_mw(struct ib_mw *ib)
{
	struct frdma_mr *mr = to_frdma_mw(ib)->mr;

	frdma_mr_hide(mr);

	spin_lock_bh(&mr->bind_lock);
	mw_unbind(mr, NULL);
	spin_unlock_bh(&mr->bind_lock);

	/* Who entered while it was found has left with that grace period. */
	frdma_mr_discard(mr);
	return 0;
}
