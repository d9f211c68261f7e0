// SPDX-License-Identifier: GPL-2.0
/* The verb that has on-demand memory brought in beforehand. */
#include "advise.h"

#include <linux/hmm.h>
#include <linux/slab.h>
#include <linux/wait.h>

#include "dev.h"
#include "limit.h"
#include "mr.h"
#include "odp.h"
#include "page_in.h"

/**
 * struct advised - a part of a region whose pages are to be there
 * @work: faults them in
 * @refs: the caller of the verb, and @work
 * @odp: its memory, held
 * @va: first byte, in the process's address space
 * @len: bytes
 * @wanted: as for frdma_odp_fault()
 * @err: how it ended, once @done
 * @done: @work has nothing more to say; set by it
 * @forgotten: the caller does not wait any more; set by him
 */
struct advised {
	struct work_struct work;
	struct kref refs;
	struct frdma_odp *odp;
	u64 va;
	u64 len;
	unsigned long wanted;
	int err;
	bool done;
	bool forgotten;
};

static void free_advised(struct kref *refs)
{
	struct advised *part = container_of(refs, struct advised, refs);

	frdma_odp_put(part->odp);
	kfree(part);
}

static void advised_work(struct work_struct *work)
{
	struct advised *part = container_of(work, struct advised, work);
	atomic_t *account = part->odp->waiting;
	u64 at, len;
	int err = 0;

	for (at = 0; at < part->len && !err; at += len) {
		if (READ_ONCE(part->forgotten))
			break;
		len = min_t(u64, part->len - at, FRDMA_PAGE_IN_AHEAD);
		err = frdma_odp_fault(part->odp, part->va + at, len,
				      part->wanted);
	}

	part->err = err;
	/* With the acquire in advised_wait(). */
	smp_store_release(&part->done, true);
	kref_put(&part->refs, free_advised);
	frdma_page_in_end(account);
}

static struct advised *alloc_advised(unsigned long wanted)
{
	struct advised *part = kzalloc(sizeof(*part), FRDMA_GFP_OBJECT);

	if (!part)
		return NULL;

	INIT_WORK(&part->work, advised_work);
	kref_init(&part->refs);
	part->wanted = wanted;
	return part;
}

/* The region itself may end meanwhile; its memory is held. */
static int find_advised(struct ib_pd *pd, const struct ib_sge *sge, int access,
			struct advised *part)
{
	struct frdma_dev *dev = to_frdma(pd->device);
	enum frdma_mr_fault fault;
	struct frdma_mr *mr;
	int err = 0;

	local_bh_disable();
	rcu_read_lock();
	mr = frdma_mr_enter(dev, pd, 0, sge->lkey, sge->addr, sge->length,
			    access, &fault);
	if (!mr) {
		err = fault == FRDMA_MR_BAD_KEY ? -ENOENT :
		      fault == FRDMA_MR_BAD_RANGE ? -EFAULT : -EPERM;
		goto out;
	}
	if (mr->kind == FRDMA_MR_ODP) {
		part->odp = mr->odp;
		part->va = frdma_mr_va(mr, sge->addr);
		part->len = sge->length;
		kref_get(&mr->odp->refs);
	} else {
		err = -EINVAL;
	}
	frdma_mr_leave(mr);
out:
	rcu_read_unlock();
	local_bh_enable();
	return err;
}

/*
 * Until the user has a work item to spare. As of all that is waited for here,
 * nobody knows when: the caller can be killed, and his link be deleted.
 */
static int advised_begin(const struct frdma_dev *dev, struct advised *part)
{
	atomic_t *account = part->odp->waiting;
	bool begun = false;
	int err;

	err = wait_event_killable(frdma_page_in_waiters,
				  READ_ONCE(dev->going) ||
				  (begun = frdma_page_in_begin(account)));
	if (!begun)
		return err ? -EINTR : -EIO;

	kref_get(&part->refs);
	frdma_page_in_run(&part->work);
	return 0;
}

static bool advised_is_done(const struct advised *part)
{
	/* With the release in advised_work(): how it ended is seen. */
	return smp_load_acquire(&part->done);
}

static int advised_wait(const struct frdma_dev *dev, struct advised *part)
{
	int err;

	err = wait_event_killable(frdma_page_in_waiters,
				  READ_ONCE(dev->going) ||
				  advised_is_done(part));
	if (advised_is_done(part))
		return 0;

	WRITE_ONCE(part->forgotten, true);
	return err ? -EINTR : -EIO;
}

static int advise_one(struct ib_pd *pd, const struct ib_sge *sge, int access,
		      unsigned long wanted, bool report)
{
	const struct frdma_dev *dev = to_frdma(pd->device);
	struct advised *part;
	int err;

	part = alloc_advised(wanted);
	if (!part)
		return -ENOMEM;

	err = find_advised(pd, sge, access, part);
	if (err || !part->len)
		goto out;

	err = advised_begin(dev, part);
	if (!err)
		err = advised_wait(dev, part);
	if (!err && report)
		err = part->err;
out:
	kref_put(&part->refs, free_advised);
	return err;
}

/*
 * Done at once, whether asked for (FLUSH) or not: then nobody is told what
 * could not be had.
 *
 * By a work item, since pages may never come (a file system in user space), and
 * who waits for them in the kernel can neither be killed nor be told that the
 * link is to go, which waits for its verbs.
 */
int frdma_advise_mr(struct ib_pd *pd, enum ib_uverbs_advise_mr_advice advice,
		    u32 flags, struct ib_sge *sg_list, u32 num_sge,
		    struct uverbs_attr_bundle *attrs)
{
	bool report = flags & IB_UVERBS_ADVISE_MR_FLAG_FLUSH;
	unsigned long wanted = HMM_PFN_REQ_FAULT;
	int access = 0;
	int err = 0;
	u32 i;

	switch (advice) {
	case IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH:
		break;
	case IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH_WRITE:
		wanted |= HMM_PFN_REQ_WRITE;
		access = IB_ACCESS_LOCAL_WRITE;
		break;
	case IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH_NO_FAULT:
		wanted = 0;
		break;
	default:
		return -EOPNOTSUPP;
	}

	for (i = 0; i < num_sge && !err; i++)
		err = advise_one(pd, &sg_list[i], access, wanted, report);

	return err;
}
