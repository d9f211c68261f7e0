// SPDX-License-Identifier: GPL-2.0
/* On-demand paging. */
#include "odp.h"

#include <linux/cred.h>
#include <linux/hash.h>
#include <linux/hmm.h>
#include <linux/memcontrol.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/uidgid.h>
#include <linux/user_namespace.h>
#include <linux/wait.h>

#include "dev.h"
#include "limit.h"
#include "mr.h"
#include "proto/access.h"
#include "stats.h"

/* Tag of a page that may be written to. */
#define ODP_WRITABLE	1

/* Pages that are faulted in at once, and of a table that change at once. */
#define ODP_CHUNK	64
#define ODP_ERASE_BATCH	1024
#define ODP_DIRTY_BATCH	64

/* A side that waits for a page will want the next ones, too: so many bytes. */
#define ODP_AHEAD	SZ_2M

/* How long to try where others keep changing the pages meanwhile. */
#define ODP_PATIENCE	HZ

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

/* Who waits for a work item of it, or for leave to have one. */
static DECLARE_WAIT_QUEUE_HEAD(page_in_waiters);

/*
 * Looking pages up
 */

static void *odp_page(struct frdma_odp *odp, unsigned long index, bool write)
{
	void *entry = xa_load(&odp->present, index);

	if (write && xa_pointer_tag(entry) != ODP_WRITABLE)
		return NULL;

	return xa_untag_pointer(entry);
}

bool frdma_odp_is_present(struct frdma_odp *odp, u64 va, u64 len, bool write)
{
	unsigned long last = (va + len - 1) >> PAGE_SHIFT;
	unsigned long index;

	for (index = va >> PAGE_SHIFT; index <= last; index++)
		if (!odp_page(odp, index, write))
			return false;

	return true;
}

size_t frdma_odp_run(struct frdma_odp *odp, u64 va, size_t len, void **kaddr)
{
	unsigned int offset = offset_in_page(va);

	*kaddr = odp_page(odp, va >> PAGE_SHIFT, false) + offset;
	return min(len, PAGE_SIZE - offset);
}

/*
 * Losing pages
 */

/* Nobody looks at what is there, and nobody else changes it. */
static void odp_lock(struct frdma_odp *odp)
	__acquires(&odp->lock)
{
	local_bh_disable();
	spin_lock(&odp->gate);
	WRITE_ONCE(odp->closed, true);
	write_lock(&odp->lock);
	WRITE_ONCE(odp->closed, false);
	spin_unlock(&odp->gate);
}

static void odp_unlock(struct frdma_odp *odp)
	__releases(&odp->lock)
{
	write_unlock_bh(&odp->lock);
}

/**
 * struct written - pages that may have been written to, and were taken out of a table
 * @nr: how many
 * @pages: they
 */
struct written {
	unsigned int nr;
	struct page *pages[ODP_DIRTY_BATCH];
};

/* Returns true if there are no more. */
static bool odp_erase_some(struct frdma_odp *odp, unsigned long first,
			   unsigned long last, struct written *written)
{
	XA_STATE(xas, &odp->present, first);
	unsigned int left = ODP_ERASE_BATCH;
	void *entry;

	xas_lock(&xas);
	xas_for_each(&xas, entry, last) {
		if (!left-- || written->nr == ODP_DIRTY_BATCH)
			break;
		if (xa_pointer_tag(entry) == ODP_WRITABLE)
			written->pages[written->nr++] =
				virt_to_page(xa_untag_pointer(entry));
		xas_store(&xas, NULL);
	}
	xas_unlock(&xas);

	return !entry;
}

/*
 * Whoever takes pages from the process, or cleans them, has to pass @losing first: until
 * then they are the process's, so that they can be marked without a lock of theirs. The
 * table's lock is let go for that, as softirqs take it. Returns true if there are no more.
 */
static bool odp_lose_some(struct frdma_odp *odp, unsigned long first,
			  unsigned long last)
{
	struct written written;
	unsigned int i;
	bool done;

	written.nr = 0;
	spin_lock(&odp->losing);
	odp_lock(odp);
	done = odp_erase_some(odp, first, last, &written);
	odp_unlock(odp);
	for (i = 0; i < written.nr; i++)
		folio_mark_dirty(page_folio(written.pages[i]));
	spin_unlock(&odp->losing);

	return done;
}

static void odp_lose(struct frdma_odp *odp, unsigned long first,
		     unsigned long last)
{
	while (!odp_lose_some(odp, first, last))
		;
}

/*
 * Until this returns the process's pages stay what they are. Pages that are
 * being faulted in meanwhile find that the sequence has changed.
 */
static bool odp_invalidate(struct mmu_interval_notifier *notifier,
			   const struct mmu_notifier_range *range,
			   unsigned long cur_seq)
{
	struct frdma_odp *odp = container_of(notifier, struct frdma_odp,
					     notifier);

	odp_lock(odp);
	mmu_interval_set_seq(notifier, cur_seq);
	odp_unlock(odp);

	odp_lose(odp, range->start >> PAGE_SHIFT,
		 (range->end - 1) >> PAGE_SHIFT);
	return true;
}

static const struct mmu_interval_notifier_ops odp_notifier_ops = {
	.invalidate = odp_invalidate,
};

/*
 * Faulting pages in
 */

/* Room in the table, as none can be made under the lock. */
static int odp_reserve(struct frdma_odp *odp, const struct hmm_range *range)
{
	unsigned long at;
	int err;

	for (at = range->start; at < range->end; at += PAGE_SIZE) {
		err = xa_reserve_bh(&odp->present, at >> PAGE_SHIFT,
				    GFP_KERNEL);
		if (err)
			return err;
	}

	return 0;
}

/*
 * Can the kernel touch the page? Processes have pages that are taken out of
 * its address space (memfd_secret()).
 */
static bool odp_can_touch(const void *kaddr)
{
	u8 byte;

	return !get_kernel_nofault(byte, (const u8 *)kaddr);
}

/* Under the lock: a page that was found. */
static int odp_store_page(struct frdma_odp *odp, unsigned long index,
			  unsigned long pfn, bool write)
{
	void *entry = page_address(hmm_pfn_to_page(pfn));

	if (!odp_can_touch(entry))
		return -EFAULT;

	/* It may be there for writing already, as far as this one knows. */
	if (!write && xa_load(&odp->present, index))
		return 0;

	entry = xa_tag_pointer(entry, write ? ODP_WRITABLE : 0);
	entry = xa_store(&odp->present, index, entry, GFP_NOWAIT);
	/* Its room was given back by another who had no success there. */
	return xa_is_err(entry) ? -EAGAIN : 0;
}

/* -EAGAIN: what was found is not so any more. */
static int odp_store(struct frdma_odp *odp, const struct hmm_range *range,
		     bool write)
{
	unsigned int nr = (range->end - range->start) >> PAGE_SHIFT;
	unsigned long index = range->start >> PAGE_SHIFT;
	unsigned int i;
	int err = 0;

	odp_lock(odp);
	if (mmu_interval_read_retry(range->notifier, range->notifier_seq)) {
		odp_unlock(odp);
		return -EAGAIN;
	}
	for (i = 0; i < nr; i++) {
		if (!(range->hmm_pfns[i] & HMM_PFN_VALID))
			continue;
		err = odp_store_page(odp, index + i, range->hmm_pfns[i],
				     write);
		if (err)
			break;
	}
	odp_unlock(odp);

	return err;
}

/*
 * With the lock of the address space: what get_user_pages() would not give either, though
 * hmm_range_fault() does: a shadow stack is written to by the processor alone.
 */
static bool odp_may_write(struct mm_struct *mm, const struct hmm_range *range)
{
	VMA_ITERATOR(vmas, mm, range->start);
	const struct vm_area_struct *vma;

	for_each_vma_range(vmas, vma, range->end)
		if (vma->vm_flags & VM_SHADOW_STACK)
			return false;

	return true;
}

static int odp_try_chunk(struct frdma_odp *odp, struct hmm_range *range,
			 bool write)
{
	struct mm_struct *mm = odp->notifier.mm;
	int err;

	range->notifier_seq = mmu_interval_read_begin(range->notifier);
	err = odp_reserve(odp, range);
	if (err)
		return err;

	mmap_read_lock(mm);
	err = write && !odp_may_write(mm, range) ? -EFAULT :
						   hmm_range_fault(range);
	mmap_read_unlock(mm);
	if (err)
		return err == -EBUSY ? -EAGAIN : err;

	return odp_store(odp, range, write);
}

/* Room for pages that did not come, in front of those that were not tried. */
static void odp_unreserve(struct frdma_odp *odp, const struct hmm_range *range)
{
	unsigned long at;

	local_bh_disable();
	for (at = range->start; at < range->end; at += PAGE_SIZE)
		xa_release(&odp->present, at >> PAGE_SHIFT);
	local_bh_enable();
}

static int odp_fault_chunk(struct frdma_odp *odp, unsigned long start,
			   unsigned long end, unsigned long wanted)
{
	unsigned long deadline = jiffies + ODP_PATIENCE;
	unsigned long pfns[ODP_CHUNK] = {};
	struct hmm_range range = {
		.notifier	= &odp->notifier,
		.start		= start,
		.end		= end,
		.hmm_pfns	= pfns,
		.default_flags	= wanted,
	};
	int err;

	do
		err = odp_try_chunk(odp, &range, wanted & HMM_PFN_REQ_WRITE);
	while (err == -EAGAIN && time_before(jiffies, deadline));

	odp_unreserve(odp, &range);
	return err == -EAGAIN ? -EBUSY : err;
}

static int odp_fault_chunks(struct frdma_odp *odp, unsigned long at,
			    unsigned long end, unsigned long wanted)
{
	unsigned long next;
	int err = 0;

	for (; at < end && !err; at = next) {
		next = min(at + ODP_CHUNK * PAGE_SIZE, end);
		err = odp_fault_chunk(odp, at, next, wanted);
		cond_resched();
	}

	return err;
}

/*
 * @wanted: HMM_PFN_REQ_*; 0: those that the process has anyway. Whoever asks,
 * the process whose memory it is pays for the table.
 *
 * By work items only: neither a signal nor the end of the link ends it.
 */
static int odp_fault(struct frdma_odp *odp, u64 va, u64 len,
		     unsigned long wanted)
{
	struct mm_struct *mm = odp->notifier.mm;
	struct mem_cgroup *memcg, *before;
	int err;

	if (va + len < va || va + len > mm->task_size)
		return -EFAULT;
	if (!mmget_not_zero(mm))
		return -EFAULT;

	memcg = get_mem_cgroup_from_mm(mm);
	before = set_active_memcg(memcg);
	err = odp_fault_chunks(odp, va & PAGE_MASK, PAGE_ALIGN(va + len),
			       wanted);
	set_active_memcg(before);
	mem_cgroup_put(memcg);

	/* The last of a process's is not for whoever waits for pages. */
	mmput_async(mm);
	return err;
}

/*
 * Work items
 */

/*
 * Leave to have one, which holds the module: it may never end. There are no new
 * ones once the module is being removed, as they would be waited for.
 */
static bool odp_work_begin(struct frdma_odp *odp)
{
	int own = atomic_read(odp->waiting);
	int left;

	do {
		left = page_ins - (atomic_read(&waiting_of_all) - own);
		if (left <= 0 || own >= max(left / PAGE_INS_PART, 1))
			return false;
	} while (!atomic_try_cmpxchg(odp->waiting, &own, own + 1));
	if (!try_module_get(THIS_MODULE)) {
		atomic_dec(odp->waiting);
		return false;
	}
	atomic_inc(&waiting_of_all);
	return true;
}

/* The last thing that a work item does. */
static void odp_work_end(atomic_t *waiting)
{
	atomic_dec(&waiting_of_all);
	atomic_dec(waiting);
	wake_up_all(&page_in_waiters);
	module_put(THIS_MODULE);
}

void frdma_odp_wake(void)
{
	wake_up_all(&page_in_waiters);
}

/*
 * Sides that wait
 */

/* What frdma_page_in_start() has taken. */
static void page_in_give(struct frdma_page_in *in, struct frdma_odp *odp)
{
	atomic_t *waiting = odp->waiting;

	frdma_odp_put(odp);
	kref_put(in->owner, in->free);
	odp_work_end(waiting);
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
	err = odp_fault(odp, in->va, in->len, wanted);
	if (!err && in->ahead > in->len)
		odp_fault(odp, in->va + in->len, in->ahead - in->len, wanted);

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

/*
 * Bytes from an address to the end of what is followed. Nothing behind that may
 * ever be entered, as nobody would tell that it has changed; and what is wanted
 * soon was judged when its message began, by a region that may be another now.
 */
static u64 odp_room(const struct frdma_odp *odp, u64 va)
{
	return odp->notifier.interval_tree.last - va + 1;
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

	if (!odp_work_begin(odp)) {
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
	in->ahead = min3(ahead, (u64)ODP_AHEAD, odp_room(odp, va));
	in->write = write;
	in->told = 0;
	in->state = FRDMA_PAGE_IN_BUSY;
	queue_work(page_in_wq, &in->work);
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
 * The life of it
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

struct frdma_odp *frdma_odp_create(struct frdma_dev *dev, u64 start,
				   u64 length)
{
	static atomic64_t last_id;
	unsigned long first = start & PAGE_MASK;
	struct frdma_odp *odp;
	int err;

	odp = kzalloc(sizeof(*odp), FRDMA_GFP_OBJECT);
	if (!odp)
		return ERR_PTR(-ENOMEM);

	odp->dev = dev;
	odp->id = atomic64_inc_return(&last_id);
	odp->waiting = &waiting_of_user[hash_32(__kuid_val(responsible_user()),
						USER_HASH_BITS)];
	kref_init(&odp->refs);
	rwlock_init(&odp->lock);
	spin_lock_init(&odp->gate);
	spin_lock_init(&odp->losing);
	xa_init_flags(&odp->present, XA_FLAGS_LOCK_BH | XA_FLAGS_ACCOUNT);

	/* All of it has no end that could be rounded up. */
	if (length != U64_MAX)
		length = PAGE_ALIGN(start + length) - first;
	err = mmu_interval_notifier_insert(&odp->notifier, current->mm, first,
					   length, &odp_notifier_ops);
	if (err) {
		kfree(odp);
		return ERR_PTR(err);
	}

	return odp;
}

static void odp_release(struct kref *refs)
{
	struct frdma_odp *odp = container_of(refs, struct frdma_odp, refs);

	odp_lose(odp, 0, ULONG_MAX);
	mmu_interval_notifier_remove(&odp->notifier);
	xa_destroy(&odp->present);
	kfree(odp);
}

void frdma_odp_put(struct frdma_odp *odp)
{
	if (odp)
		kref_put(&odp->refs, odp_release);
}

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

int __init frdma_odp_init(void)
{
	int most = min(PAGE_INS_MAX * num_node_state(N_CPU), WQ_MAX_ACTIVE);

	page_ins = min(least_share(most), PAGE_INS_MAX);
	page_in_wq = alloc_workqueue("frdma_page_in", WQ_UNBOUND, most);
	return page_in_wq ? 0 : -ENOMEM;
}

void frdma_odp_exit(void)
{
	destroy_workqueue(page_in_wq);
}

/*
 * Advice
 */

/**
 * struct advised - a part of a region whose pages are to be there
 * @work: faults them in
 * @refs: the caller of the verb, and @work
 * @odp: its memory, held
 * @va: first byte, in the process's address space
 * @len: bytes
 * @wanted: as for odp_fault()
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
	atomic_t *waiting = part->odp->waiting;
	u64 at, len;
	int err = 0;

	for (at = 0; at < part->len && !err; at += len) {
		if (READ_ONCE(part->forgotten))
			break;
		len = min_t(u64, part->len - at, ODP_AHEAD);
		err = odp_fault(part->odp, part->va + at, len, part->wanted);
	}

	part->err = err;
	/* With the acquire in advised_wait(). */
	smp_store_release(&part->done, true);
	kref_put(&part->refs, free_advised);
	odp_work_end(waiting);
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
	bool begun = false;
	int err;

	err = wait_event_killable(page_in_waiters,
				  READ_ONCE(dev->going) ||
				  (begun = odp_work_begin(part->odp)));
	if (!begun)
		return err ? -EINTR : -EIO;

	kref_get(&part->refs);
	queue_work(page_in_wq, &part->work);
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

	err = wait_event_killable(page_in_waiters, READ_ONCE(dev->going) ||
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
