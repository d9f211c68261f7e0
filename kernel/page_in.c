// SPDX-License-Identifier: GPL-2.0
/* Who waits for pages of on-demand memory, and how many may. */
#include "page_in.h"

#include <linux/hash.h>
#include <linux/hmm.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/topology.h>
#include <linux/uidgid.h>
#include <linux/wait.h>

#include "account.h"
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

atomic_t *frdma_page_in_account(void)
{
	return &waiting_of_user[hash_32(__kuid_val(frdma_responsible_user()),
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

/**
 * struct page_request - pages that a work item faults in
 * @work: the work item, which frees this
 * @in: the side that waits; NULL once the side has cancelled. Under
 *      @requests_lock
 * @odp: where; held
 * @va: first byte, in the process's address space
 * @len: bytes without which the side cannot go on
 * @ahead: bytes that the side will want soon, those included
 * @wanted: HMM_PFN_REQ_*
 */
struct page_request {
	struct work_struct work;
	struct frdma_page_in *in;
	struct frdma_odp *odp;
	u64 va;
	u64 len;
	u64 ahead;
	unsigned long wanted;
};

/* Held for a few instructions: a side cancels, or its pages have come. */
static DEFINE_SPINLOCK(requests_lock);

/* Returns the side that still waits, if there is one, with its reference. */
static struct frdma_page_in *end_request(struct page_request *request, int err)
{
	struct frdma_page_in *in;

	spin_lock(&requests_lock);
	in = request->in;
	if (in) {
		in->request = NULL;
		/* With the acquire in frdma_page_in_is_busy(). */
		smp_store_release(&in->state, err ? FRDMA_PAGE_IN_FAILED :
						    FRDMA_PAGE_IN_IDLE);
	}
	spin_unlock(&requests_lock);

	return in;
}

static void free_request(struct page_request *request)
{
	atomic_t *account = request->odp->waiting;

	frdma_odp_put(request->odp);
	kfree(request);
	frdma_page_in_end(account);
}

static int bring_pages(const struct page_request *request)
{
	u64 more = request->ahead > request->len ?
		   request->ahead - request->len : 0;
	int err;

	err = frdma_odp_fault(request->odp, request->va, request->len,
			      request->wanted);
	if (!err && more)
		frdma_odp_fault(request->odp, request->va + request->len, more,
				request->wanted);

	/* Somebody kept changing them: that is no reason to give up. */
	return err == -EBUSY ? 0 : err;
}

static void page_in_work(struct work_struct *work)
{
	struct page_request *request = container_of(work, struct page_request,
						    work);
	struct frdma_page_in *in;
	int err = 0;

	/* The side may have cancelled before the work item ran. */
	if (READ_ONCE(request->in))
		err = bring_pages(request);

	in = end_request(request, err);
	if (in) {
		in->wake(in);
		kref_put(in->owner, in->free);
	}
	free_request(request);
}

void frdma_page_in_init(struct frdma_page_in *in, struct kref *owner,
			void (*free)(struct kref *owner),
			void (*wake)(struct frdma_page_in *in))
{
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

/* Allocates a request, if the user may have one more work item. */
static struct page_request *begin_request(struct frdma_odp *odp)
{
	struct page_request *request;

	if (!frdma_page_in_begin(odp->waiting))
		return NULL;
	request = kzalloc(sizeof(*request), GFP_ATOMIC | __GFP_NOWARN);
	if (!request) {
		frdma_page_in_end(odp->waiting);
		return NULL;
	}

	INIT_WORK(&request->work, page_in_work);
	kref_get(&odp->refs);
	request->odp = odp;
	return request;
}

bool frdma_page_in_start(struct frdma_page_in *in, struct frdma_odp *odp,
			 u64 va, u64 len, u64 ahead, bool write)
{
	struct page_request *request;

	if (frdma_page_in_is_busy(in))
		return true;
	if (page_in_has_failed(in, odp, va, len)) {
		in->state = FRDMA_PAGE_IN_IDLE;
		return false;
	}

	request = begin_request(odp);
	if (!request) {
		in->state = FRDMA_PAGE_IN_REFUSED;
		return true;
	}

	frdma_dev_count(odp->dev, FRDMA_CNT_PAGE_FAULTS);
	kref_get(in->owner);
	request->in = in;
	request->va = va;
	request->len = len;
	/*
	 * No further than is followed: what is wanted soon was judged when its
	 * message began, by a region that may be another now.
	 */
	request->ahead = min3(ahead, (u64)FRDMA_PAGE_IN_AHEAD,
			      frdma_odp_room(odp, va));
	request->wanted = HMM_PFN_REQ_FAULT | (write ? HMM_PFN_REQ_WRITE : 0);

	in->request = request;
	in->odp_id = odp->id;
	in->va = va;
	in->told = 0;
	in->state = FRDMA_PAGE_IN_BUSY;
	frdma_page_in_run(&request->work);
	return true;
}

/* The work item goes on alone, and @request is its own from here on. */
static bool detach_request(struct frdma_page_in *in)
{
	struct page_request *request;

	spin_lock(&requests_lock);
	request = in->request;
	if (request)
		WRITE_ONCE(request->in, NULL);
	in->request = NULL;
	spin_unlock(&requests_lock);

	return request;
}

void frdma_page_in_cancel(struct frdma_page_in *in)
{
	if (detach_request(in))
		kref_put(in->owner, in->free);
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
