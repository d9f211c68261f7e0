// SPDX-License-Identifier: GPL-2.0
/* Who waits for pages of on-demand memory, and how many may. */
#include "page_in.h"

#include <linux/cred.h>
#include <linux/hash.h>
#include <linux/hmm.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/topology.h>
#include <linux/uidgid.h>
#include <linux/user_namespace.h>
#include <linux/wait.h>

#include "dev.h"
#include "odp.h"
#include "proto/access.h"
#include "stats.h"

/*
 * Pages may be long in coming (a file system in user space), and a process may
 * wait for many: that is not to keep others' work from being done. So many work
 * items run at a time. A user, with all those of his user namespaces, has at most
 * one in so many of what others have left, and one as long as they have left any;
 * users whose numbers have the same hash share them.
 *
 * A workqueue gives each NUMA node its share of what may run, by its CPUs (since
 * 6.9), but some to any, and all that wait may be of one node. So there are no more
 * than the smallest node may have.
 */
#define PAGE_INS_MAX	512
#define PAGE_INS_MIN	8
#define PAGE_INS_PART	8
#define USER_HASH_BITS	10

static struct workqueue_struct *page_in_wq;
static int page_ins __ro_after_init;
static atomic_t waiting_of_user[1 << USER_HASH_BITS];
static atomic_t waiting_of_all;

DECLARE_WAIT_QUEUE_HEAD(frdma_page_in_waiters);

/*
 * Work items
 */

/*
 * Who answers for the process: of those in a user namespace, who has made the
 * outermost. Those that root has made, as for containers, are named by their own
 * root instead; all in which root is nobody are one.
 */
static kuid_t responsible_user(void)
{
	struct user_namespace *ns = current_user_ns();
	kuid_t uid = current_uid();

	for (; ns != &init_user_ns; ns = ns->parent)
		uid = uid_eq(ns->owner, GLOBAL_ROOT_UID) ? make_kuid(ns, 0) :
							   ns->owner;
	return uid;
}

atomic_t *frdma_page_in_account(void)
{
	return &waiting_of_user[hash_32(__kuid_val(responsible_user()),
					USER_HASH_BITS)];
}

bool frdma_page_in_begin(atomic_t *account)
{
	int own = atomic_read(account);
	int left;

	do {
		left = page_ins - (atomic_read(&waiting_of_all) - own);
		if (left <= 0 || own >= max(left / PAGE_INS_PART, 1))
			return false;
	} while (!atomic_try_cmpxchg(account, &own, own + 1));
	if (!try_module_get(THIS_MODULE)) {
		atomic_dec(account);
		return false;
	}
	atomic_inc(&waiting_of_all);
	return true;
}

void frdma_page_in_run(struct work_struct *work)
{
	queue_work(page_in_wq, work);
}

void frdma_page_in_end(atomic_t *account)
{
	atomic_dec(&waiting_of_all);
	atomic_dec(account);
	wake_up_all(&frdma_page_in_waiters);
	module_put(THIS_MODULE);
}

void frdma_page_in_wake(void)
{
	wake_up_all(&frdma_page_in_waiters);
}

/*
 * Sides that wait
 */

/* What frdma_page_in_start() has taken. */
static void page_in_give(struct frdma_page_in *in, struct frdma_odp *odp)
{
	atomic_t *account = odp->account;

	frdma_odp_put(odp);
	kref_put(in->owner, in->free);
	frdma_page_in_end(account);
}

static void page_in_work(struct work_struct *work)
{
	struct frdma_page_in *in = container_of(work, struct frdma_page_in,
						work);
	unsigned long wanted = HMM_PFN_REQ_FAULT;
	struct frdma_odp *odp = in->odp;
	int err;

	if (in->write)
		wanted |= HMM_PFN_REQ_WRITE;
	err = frdma_odp_fault(odp, in->va, in->len, wanted);
	if (!err && in->ahead > in->len)
		frdma_odp_fault(odp, in->va + in->len, in->ahead - in->len,
				wanted);

	/* Somebody kept changing them: that is no reason to give up. */
	if (err == -EBUSY)
		err = 0;

	/* With the acquire in frdma_page_in_is_busy(). */
	smp_store_release(&in->state, err ? FRDMA_PAGE_IN_FAILED :
					    FRDMA_PAGE_IN_IDLE);
	in->wake(in);
	page_in_give(in, odp);
}

void frdma_page_in_init(struct frdma_page_in *in, struct kref *owner,
			void (*free)(struct kref *owner),
			void (*wake)(struct frdma_page_in *in))
{
	INIT_WORK(&in->work, page_in_work);
	in->owner = owner;
	in->free = free;
	in->wake = wake;
}

/* It was told before that these pages are not to be had. */
static bool page_in_has_failed(const struct frdma_page_in *in,
			       const struct frdma_odp *odp, u64 va, u64 len)
{
	return in->state == FRDMA_PAGE_IN_FAILED && in->odp_id == odp->id &&
	       frdma_range_in(in->va, 1, va, len);
}

bool frdma_page_in_start(struct frdma_page_in *in, struct frdma_odp *odp,
			 u64 va, u64 len, u64 ahead, bool write)
{
	if (frdma_page_in_is_busy(in))
		return true;
	if (page_in_has_failed(in, odp, va, len)) {
		in->state = FRDMA_PAGE_IN_IDLE;
		return false;
	}

	if (!frdma_page_in_begin(odp->account)) {
		in->state = FRDMA_PAGE_IN_REFUSED;
		return true;
	}

	frdma_dev_count(odp->dev, FRDMA_CNT_PAGE_FAULTS);
	kref_get(in->owner);
	kref_get(&odp->refs);
	in->odp = odp;
	in->odp_id = odp->id;
	in->va = va;
	in->len = len;
	/*
	 * No further than is followed: what is wanted soon was judged when its
	 * message began, by a region that may be another now.
	 */
	in->ahead = min3(ahead, (u64)FRDMA_PAGE_IN_AHEAD,
			 frdma_odp_room(odp, va));
	in->write = write;
	in->told = 0;
	in->state = FRDMA_PAGE_IN_BUSY;
	frdma_page_in_run(&in->work);
	return true;
}

void frdma_page_in_cancel(struct frdma_page_in *in)
{
	if (cancel_work(&in->work))
		page_in_give(in, in->odp);
	else if (frdma_page_in_is_busy(in))
		return;
	in->state = FRDMA_PAGE_IN_IDLE;
}

/*
 * The queue
 */

/* Of so many work items, what a node may run; that of the smallest. */
static int __init least_share(int of)
{
	int node, cpus, least = of;

	for_each_node_state(node, N_CPU) {
		cpus = cpumask_weight(cpumask_of_node(node));
		least = min(least, of * cpus / (int)num_online_cpus());
	}
	return max(least, PAGE_INS_MIN);
}

int __init frdma_page_in_queue_init(void)
{
	int most = min(PAGE_INS_MAX * num_node_state(N_CPU), WQ_MAX_ACTIVE);

	page_ins = min(least_share(most), PAGE_INS_MAX);
	page_in_wq = alloc_workqueue("frdma_page_in", WQ_UNBOUND, most);
	return page_in_wq ? 0 : -ENOMEM;
}

void frdma_page_in_queue_exit(void)
{
	destroy_workqueue(page_in_wq);
}
