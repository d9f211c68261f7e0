// SPDX-License-Identifier: GPL-2.0
/* On-demand paging: the table of the pages that are there. */
#include "odp.h"

#include <linux/hmm.h>
#include <linux/jiffies.h>
#include <linux/memcontrol.h>
#include <linux/mm.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "limit.h"

/* Tag of a page that may be written to. */
#define ODP_WRITABLE	1

/* Pages that are faulted in at once, and of a table that change at once. */
#define ODP_CHUNK	64
#define ODP_ERASE_BATCH	1024

/* Folios that are marked dirty at once: a batch of huge pages is two of them. */
#define ODP_DIRTY_BATCH	64

/* How long to try where others keep changing the pages meanwhile. */
#define ODP_PATIENCE	HZ

/*
 * Faults in a row that may wait for the same page. A page that came can be
 * reclaimed before the next try; a page that cannot be read never comes.
 */
#define ODP_WAITS_MAX	8

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
 * Memory of the table
 */

/* The table has a node for so many neighbours. */
#define ODP_NODE_PAGES	XA_CHUNK_SIZE

/*
 * The charge for a node: the node, and one node above it. Pages that are 16 MiB apart
 * share no node above.
 */
#define ODP_NODE_BYTES	(2 * sizeof(struct xa_node))

/* Under the lock: has the node of this page no page yet, or none any more? */
static bool odp_node_is_empty(struct frdma_odp *odp, unsigned long index)
{
	unsigned long first = round_down(index, ODP_NODE_PAGES);

	return !xa_find(&odp->present, &first, first + ODP_NODE_PAGES - 1,
			XA_PRESENT);
}

static bool odp_share_node(unsigned long one, unsigned long other)
{
	return one / ODP_NODE_PAGES == other / ODP_NODE_PAGES;
}

/* Under the lock, before a page is entered. */
static bool odp_charge_node(struct frdma_odp *odp, unsigned long index)
{
	return !odp_node_is_empty(odp, index) ||
	       frdma_account_add(odp->charge.account, ODP_NODE_BYTES);
}

/* Under the lock, after pages of a node were taken out. */
static void odp_uncharge_node(struct frdma_odp *odp, unsigned long index)
{
	if (odp_node_is_empty(odp, index))
		frdma_account_sub(odp->charge.account, ODP_NODE_BYTES);
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
 * struct written - folios that may have been written to, and left a table
 * @nr: how many
 * @folios: each once for its pages that are neighbours
 */
struct written {
	unsigned int nr;
	struct folio *folios[ODP_DIRTY_BATCH];
};

static bool odp_note_written(struct written *written, void *kaddr)
{
	struct folio *folio = virt_to_folio(kaddr);

	if (written->nr && written->folios[written->nr - 1] == folio)
		return true;
	if (written->nr == ODP_DIRTY_BATCH)
		return false;
	written->folios[written->nr++] = folio;
	return true;
}

/* Returns true if there are no more. */
static bool odp_erase_some(struct frdma_odp *odp, unsigned long first,
			   unsigned long last, struct written *written)
{
	XA_STATE(xas, &odp->present, first);
	unsigned long erased = 0;
	unsigned int nr = 0;
	void *entry;

	xas_lock(&xas);
	xas_for_each(&xas, entry, last) {
		/* Room for a page that is being faulted in. */
		if (xa_is_zero(entry))
			continue;
		if (nr == ODP_ERASE_BATCH ||
		    (xa_pointer_tag(entry) == ODP_WRITABLE &&
		     !odp_note_written(written, xa_untag_pointer(entry))))
			break;
		if (nr++ && !odp_share_node(erased, xas.xa_index))
			odp_uncharge_node(odp, erased);
		erased = xas.xa_index;
		xas_store(&xas, NULL);
	}
	if (nr)
		odp_uncharge_node(odp, erased);
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
		folio_mark_dirty(written.folios[i]);
	spin_unlock(&odp->losing);

	return done;
}

/* A large part takes long: others get their turn if the caller may sleep. */
static void odp_lose(struct frdma_odp *odp, unsigned long first,
		     unsigned long last, bool may_sleep)
{
	while (!odp_lose_some(odp, first, last))
		if (may_sleep)
			cond_resched();
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
		 (range->end - 1) >> PAGE_SHIFT,
		 mmu_notifier_range_blockable(range));
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
	if (!odp_charge_node(odp, index))
		return -ENOMEM;

	entry = xa_tag_pointer(entry, write ? ODP_WRITABLE : 0);
	entry = xa_store(&odp->present, index, entry, GFP_NOWAIT);
	if (!xa_is_err(entry))
		return 0;

	/* Its room was given back by another who had no success there. */
	odp_uncharge_node(odp, index);
	return -EAGAIN;
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

/**
 * struct odp_chunk - pages that are faulted in together
 * @range: where they are, and what the page tables say of them
 * @wanted: HMM_PFN_REQ_*
 * @deadline: in jiffies; others may keep changing the pages until then
 * @waited_for: page that the last fault waited for
 * @waits: how many faults in a row waited for it
 */
struct odp_chunk {
	struct hmm_range range;
	unsigned long wanted;
	unsigned long deadline;
	unsigned long waited_for;
	unsigned int waits;
};

/* A fault has released the lock of the address space, and waited. */
static int odp_waited(struct odp_chunk *chunk, unsigned long addr)
{
	if (chunk->waited_for != addr)
		chunk->waits = 0;
	chunk->waited_for = addr;
	chunk->deadline = jiffies + ODP_PATIENCE;
	return ++chunk->waits < ODP_WAITS_MAX ? -EAGAIN : -EFAULT;
}

/**
 * odp_fault_page() - have the memory management bring one page
 * @chunk: of which the page is a part
 * @addr: its address
 * @released: set if the fault released the lock of the address space
 *
 * handle_mm_fault() waits for a page to be read without the lock of the address space,
 * unless the caller says FAULT_FLAG_TRIED, as fixup_user_fault() does in its
 * second try. The file system may be one in user space that withholds the
 * page. So every try is a first one here, and the number of tries is bounded.
 *
 * Context: lock of the address space held for reading.
 * Return: 0; -EAGAIN: the page may be there now; -EFAULT, -ENOMEM.
 */
static int odp_fault_page(struct odp_chunk *chunk, unsigned long addr,
			  bool *released)
{
	unsigned int flags = FAULT_FLAG_REMOTE | FAULT_FLAG_ALLOW_RETRY |
			     FAULT_FLAG_KILLABLE;
	unsigned long needed = VM_READ;
	struct vm_area_struct *vma;
	vm_fault_t fault;

	if (chunk->wanted & HMM_PFN_REQ_WRITE) {
		flags |= FAULT_FLAG_WRITE;
		needed |= VM_WRITE;
	}
	vma = vma_lookup(chunk->range.notifier->mm, addr);
	if (!vma || vma->vm_flags & (VM_IO | VM_PFNMAP) ||
	    needed & ~vma->vm_flags)
		return -EFAULT;

	fault = handle_mm_fault(vma, addr, flags, NULL);
	*released = fault & (VM_FAULT_RETRY | VM_FAULT_COMPLETED);
	if (fault & VM_FAULT_RETRY)
		return odp_waited(chunk, addr);
	if (fault & VM_FAULT_COMPLETED)
		return -EAGAIN;
	return fault & VM_FAULT_ERROR ? vm_fault_to_errno(fault, 0) : 0;
}

static bool odp_is_missing(const struct odp_chunk *chunk, unsigned long pfn)
{
	unsigned long needed = HMM_PFN_VALID;

	if (!(chunk->wanted & HMM_PFN_REQ_FAULT))
		return false;
	if (chunk->wanted & HMM_PFN_REQ_WRITE)
		needed |= HMM_PFN_WRITE;
	return needed & ~pfn;
}

/*
 * Faults in the pages that @chunk lacks, as far as that needs no waiting, and
 * releases the lock of the address space. Returns 0 if none was missing, and
 * -EAGAIN if a page was: the page tables are to be read again.
 */
static int odp_fault_missing(struct odp_chunk *chunk)
{
	const struct hmm_range *range = &chunk->range;
	const unsigned long *pfn = range->hmm_pfns;
	unsigned long addr = range->start;
	bool released = false;
	int missing = 0;
	int err = 0;

	for (; addr < range->end && !err; addr += PAGE_SIZE, pfn++) {
		if (!odp_is_missing(chunk, *pfn))
			continue;
		missing = -EAGAIN;
		err = *pfn & HMM_PFN_ERROR ?
		      -EFAULT : odp_fault_page(chunk, addr, &released);
	}
	if (!released)
		mmap_read_unlock(range->notifier->mm);

	return err ?: missing;
}

static int odp_try_chunk(struct odp_chunk *chunk)
{
	bool write = chunk->wanted & HMM_PFN_REQ_WRITE;
	struct hmm_range *range = &chunk->range;
	struct mmu_interval_notifier *notifier = range->notifier;
	struct frdma_odp *odp = container_of(notifier, struct frdma_odp,
					     notifier);
	struct mm_struct *mm = notifier->mm;
	int err;

	range->notifier_seq = mmu_interval_read_begin(notifier);
	err = odp_reserve(odp, range);
	if (err)
		return err;

	mmap_read_lock(mm);
	/* Without flags this reads the page tables, and faults nothing in. */
	err = write && !odp_may_write(mm, range) ? -EFAULT :
						   hmm_range_fault(range);
	if (err) {
		mmap_read_unlock(mm);
		return err == -EBUSY ? -EAGAIN : err;
	}

	return odp_fault_missing(chunk) ?: odp_store(odp, range, write);
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
	unsigned long pfns[ODP_CHUNK] = {};
	struct odp_chunk chunk = {
		.range = {
			.notifier	= &odp->notifier,
			.start		= start,
			.end		= end,
			.hmm_pfns	= pfns,
		},
		.wanted		= wanted,
		.deadline	= jiffies + ODP_PATIENCE,
	};
	int err;

	do {
		err = odp_try_chunk(&chunk);
		cond_resched();
	} while (err == -EAGAIN && time_before(jiffies, chunk.deadline));

	odp_unreserve(odp, &chunk.range);
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
	}

	return err;
}

int frdma_odp_fault(struct frdma_odp *odp, u64 va, u64 len,
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
 * The life of it
 */

struct frdma_odp *frdma_odp_create(struct frdma_dev *dev, u64 start,
				   u64 length, atomic_t *waiting,
				   struct frdma_account *account)
{
	static atomic64_t last_id;
	unsigned long first = start & PAGE_MASK;
	struct frdma_odp *odp;
	int err;

	odp = kzalloc(sizeof(*odp), FRDMA_GFP_OBJECT);
	if (!odp)
		return ERR_PTR(-ENOMEM);
	if (!frdma_charge(&odp->charge, account, sizeof(*odp))) {
		err = -ENOMEM;
		goto err_free;
	}

	odp->dev = dev;
	odp->id = atomic64_inc_return(&last_id);
	odp->waiting = waiting;
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
	if (err)
		goto err_uncharge;

	return odp;

err_uncharge:
	frdma_uncharge(&odp->charge);
err_free:
	kfree(odp);
	return ERR_PTR(err);
}

static void odp_release(struct kref *refs)
{
	struct frdma_odp *odp = container_of(refs, struct frdma_odp, refs);

	odp_lose(odp, 0, ULONG_MAX, true);
	mmu_interval_notifier_remove(&odp->notifier);
	xa_destroy(&odp->present);
	frdma_uncharge(&odp->charge);
	kfree(odp);
}

void frdma_odp_put(struct frdma_odp *odp)
{
	if (odp)
		kref_put(&odp->refs, odp_release);
}
