// SPDX-License-Identifier: GPL-2.0
/* Memory regions. */
#include "mr.h"

#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/percpu.h>
#include <linux/random.h>
#include <linux/rcupdate.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/wait_bit.h>
#include <linux/xarray.h>
#include <rdma/ib_umem.h>

#include "crc.h"
#include "dev.h"
#include "dmabuf.h"
#include "grace.h"
#include "limit.h"
#include "mw.h"
#include "proto/access.h"
#include "refuse.h"
#include "uctx.h"

/* What a region can grant, and flags that mean nothing to this device. */
#define MR_ACCESS_KNOWN	(IB_ACCESS_LOCAL_WRITE | FRDMA_ACC_REMOTE | \
			 FRDMA_ACC_FLUSH | IB_ACCESS_MW_BIND | IB_ZERO_BASED | \
			 IB_ACCESS_HUGETLB | IB_ACCESS_OPTIONAL)

/*
 * Bits of struct frdma_mr.state, for fast regions and windows: the number of
 * readers that have entered, and whether more may (VALID), or the region is
 * just becoming valid (CHANGING). Readers without VALID are those that an
 * invalidation waits for. All zero is a region that can be registered.
 */
#define MR_VALID	BIT(30)
#define MR_CHANGING	BIT(29)
#define MR_READERS	(MR_CHANGING - 1)

/* Value of struct frdma_mr.nr_windows: none may be bound. */
#define MR_NO_WINDOWS	INT_MIN

/*
 * Guards the waiters of all regions: they are few, and cancelling one must
 * not depend on its region being alive. Taken with bottom halves off; inside
 * it, the waiters' wake functions take what they schedule with.
 */
static DEFINE_SPINLOCK(frdma_mr_wait_lock);

/*
 * Readers of a fast region or a window
 */

static bool mr_counts_readers(const struct frdma_mr *mr)
{
	return frdma_mr_is(mr, FRDMA_MR_BY_COUNT);
}

static bool mr_enter_counted(struct frdma_mr *mr)
{
	int state = atomic_read(&mr->state);

	do {
		if (!(state & MR_VALID))
			return false;
	} while (!atomic_try_cmpxchg(&mr->state, &state, state + 1));

	return true;
}

/*
 * Some regions take more than to be found: fast ones and windows count their
 * readers, those whose pages may go are locked.
 */
static bool mr_has_door(const struct frdma_mr *mr)
{
	return !frdma_mr_is(mr, FRDMA_MR_BY_RCU);
}

/* Sparse does not follow a lock that only some regions have. */
static void mr_lock_pages(struct frdma_mr *mr)
{
	frdma_odp_enter(mr->odp);
	__release(&mr->odp->lock);
}

static void mr_unlock_pages(struct frdma_mr *mr)
{
	__acquire(&mr->odp->lock);
	frdma_odp_leave(mr->odp);
}

static bool mr_pass_door(struct frdma_mr *mr)
{
	if (mr->kind != FRDMA_MR_ODP)
		return mr_enter_counted(mr);

	mr_lock_pages(mr);
	return true;
}

static bool mr_is_draining(const struct frdma_mr *mr)
{
	int state = atomic_read(&mr->state);

	return !(state & MR_VALID) && state & MR_READERS;
}

static void mr_wake_waiters(struct frdma_mr *mr)
	__must_hold(&frdma_mr_wait_lock)
{
	struct frdma_mr_waiter *waiter, *next;

	lockdep_assert_held(&frdma_mr_wait_lock);

	list_for_each_entry_safe(waiter, next, &mr->waiters, link) {
		list_del_init(&waiter->link);
		waiter->wake(waiter);
	}
}

/*
 * The last reader of an invalidated region has left. By now the region may
 * have been made valid and invalid again, with readers of its own: then the
 * last of those comes here, too, and wakes everybody.
 */
static void mr_drained(struct frdma_mr *mr)
{
	spin_lock_bh(&frdma_mr_wait_lock);
	if (!mr_is_draining(mr))
		mr_wake_waiters(mr);
	spin_unlock_bh(&frdma_mr_wait_lock);

	wake_up_var(&mr->state);
}

static void mr_leave_counted(struct frdma_mr *mr)
{
	if (!atomic_dec_return(&mr->state))
		mr_drained(mr);
}

/*
 * The data path
 */

/*
 * A DMA region spans the address space. A peer must be kept to addresses
 * that are memory; the kernel's own are trusted.
 */
static bool dma_range_ok(u64 addr, u64 len, int access)
{
	u64 last = addr + len - 1;

	if (last < addr || last > ULONG_MAX)
		return false;

	return !(access & FRDMA_ACC_REMOTE) ||
	       (virt_addr_valid((void *)(uintptr_t)addr) &&
		virt_addr_valid((void *)(uintptr_t)last));
}

static bool mr_has_range(const struct frdma_mr *mr, u64 addr, u64 len,
			 int access)
{
	if (!len)
		return true;
	if (mr->kind == FRDMA_MR_DMA)
		return dma_range_ok(addr, len, access);

	return frdma_range_in(addr, len, mr->iova, mr->length);
}

/* A window is for peers; one of type 2 for that of one queue pair. */
static bool window_admits(const struct frdma_mr *mr, u32 qpn)
{
	return qpn && (!mr->qpn || mr->qpn == qpn);
}

static enum frdma_mr_fault mr_judge(const struct frdma_mr *mr,
				    const struct ib_pd *pd, u32 qpn, u32 key,
				    u64 addr, u64 len, int access)
{
	if (mr->key != key)
		return FRDMA_MR_BAD_KEY;
	if (mr->kind == FRDMA_MR_WINDOW && !window_admits(mr, qpn))
		return FRDMA_MR_BAD_KEY;
	if (mr->pd != pd)
		return FRDMA_MR_BAD_PD;
	if (access & ~mr->access)
		return FRDMA_MR_BAD_ACCESS;
	if (!mr_has_range(mr, addr, len, access))
		return FRDMA_MR_BAD_RANGE;

	return FRDMA_MR_OK;
}

struct frdma_mr *frdma_mr_named(struct frdma_dev *dev, u32 key)
{
	u32 number = key >> FRDMA_MR_KEY_BITS;

	return xa_load(&dev->mrs, frdma_shuffle_find(&frdma_mr_order, number));
}

/**
 * struct mr_memo - a region that was found on this CPU
 * @dev: by the key of which device
 * @number: by which number in it
 * @generation: when
 * @mr: the region, not NULL once the rest is set
 *
 * The packets of a train name one region, one after the other. A region that
 * leaves the index begins a new generation, before its grace period: who still
 * finds it by a memo is waited for.
 */
struct mr_memo {
	const struct frdma_dev *dev;
	u32 number;
	long generation;
	struct frdma_mr *mr;
};

/* Of each CPU. A power of two. */
#define MR_MEMOS	32

static DEFINE_PER_CPU(struct mr_memo, mr_memos[MR_MEMOS]);
static atomic_long_t mr_generation;

/* A region has left the index. */
static void mr_begin_generation(void)
{
	/* With mr_recall(): who sees it does not find the region there. */
	atomic_long_inc_return_release(&mr_generation);
}

/*
 * As frdma_mr_named(). A memo has several words, which belong together: softirqs
 * are off, and so is preemption; where softirqs are tasks it has to be told.
 */
static struct frdma_mr *mr_recall(struct frdma_dev *dev, u32 key)
{
	long generation = atomic_long_read_acquire(&mr_generation);
	u32 number = key >> FRDMA_MR_KEY_BITS;
	struct mr_memo *memo;
	struct frdma_mr *mr;

	lockdep_assert_in_softirq();
	if (IS_ENABLED(CONFIG_PREEMPT_RT))
		preempt_disable();
	memo = this_cpu_ptr(&mr_memos[number % MR_MEMOS]);
	mr = memo->mr;
	if (memo->number == number && memo->dev == dev &&
	    memo->generation == generation)
		goto out;

	mr = frdma_mr_named(dev, key);
	if (mr)
		*memo = (struct mr_memo) { dev, number, generation, mr };
out:
	if (IS_ENABLED(CONFIG_PREEMPT_RT))
		preempt_enable();
	return mr;
}

struct frdma_mr *frdma_mr_enter(struct frdma_dev *dev, const struct ib_pd *pd,
				u32 qpn, u32 key, u64 addr, u64 len,
				int access, enum frdma_mr_fault *fault)
{
	struct frdma_mr *mr;

	RCU_LOCKDEP_WARN(!rcu_read_lock_held(), "region outlives its reader");

	*fault = FRDMA_MR_BAD_KEY;
	mr = mr_recall(dev, key);
	if (!mr)
		return NULL;
	if (mr_has_door(mr) && !mr_pass_door(mr))
		return NULL;

	*fault = mr_judge(mr, pd, qpn, key, addr, len, access);
	if (*fault == FRDMA_MR_OK)
		return mr;

	frdma_mr_leave(mr);
	return NULL;
}

void frdma_mr_leave(struct frdma_mr *mr)
{
	if (!mr_has_door(mr))
		return;

	if (mr->kind == FRDMA_MR_ODP)
		mr_unlock_pages(mr);
	else
		mr_leave_counted(mr);
}

/* Where there is no page table. */
static size_t mr_run_special(const struct frdma_mr *mr, u64 addr, size_t len,
			     void **kaddr)
{
	if (mr->kind == FRDMA_MR_ODP)
		return frdma_odp_run(mr->odp, frdma_mr_va(mr, addr), len,
				     kaddr);

	*kaddr = (void *)(uintptr_t)addr;
	return len;
}

size_t frdma_mr_run(const struct frdma_mr *mr, u64 addr, size_t len,
		    void **kaddr)
{
	if (!frdma_mr_is(mr, FRDMA_MR_BY_TABLE))
		return mr_run_special(mr, addr, len, kaddr);

	return frdma_pages_run(&mr->pages, mr->offset + (addr - mr->iova), len,
			       kaddr);
}

u64 *frdma_mr_atomic(const struct frdma_mr *mr, u64 addr)
{
	void *kaddr;

	frdma_mr_run(mr, addr, sizeof(u64), &kaddr);
	return IS_ALIGNED((uintptr_t)kaddr, sizeof(u64)) ? kaddr : NULL;
}

void frdma_mr_read(const struct frdma_mr *mr, u64 addr,
		   struct frdma_stripes *to, size_t len)
{
	bool several = len > to->left;
	void *kaddr;
	size_t n;

	if (several)
		frdma_crc_begin();
	for (; len; len -= n, addr += n) {
		n = frdma_mr_run(mr, addr, len, &kaddr);
		frdma_stripes_put(to, kaddr, n);
	}
	if (several)
		frdma_crc_end();
}

void frdma_mr_write(struct frdma_mr *mr, u64 addr, const void *src, size_t len)
{
	void *kaddr;
	size_t n;

	for (; len; len -= n, addr += n, src += n) {
		n = frdma_mr_run(mr, addr, len, &kaddr);
		frdma_copy(kaddr, src, n);
	}
}

/*
 * Fewer bytes are copied word by word: to borrow the vector registers would
 * cost more than they save.
 */
#define COPY_SECTION_MIN	SZ_2K

void frdma_mr_write_payload(struct frdma_mr *mr, u64 addr,
			    struct frdma_payload *from, size_t len)
{
	bool much = len >= COPY_SECTION_MIN;
	void *kaddr;
	size_t n;

	if (much)
		frdma_crc_begin();
	for (; len; len -= n, addr += n) {
		n = frdma_mr_run(mr, addr, len, &kaddr);
		frdma_payload_copy(from, kaddr, n);
	}
	if (much)
		frdma_crc_end();
}

bool frdma_mr_lend(const struct frdma_mr *mr, u64 addr, size_t len,
		   struct frdma_lent *lent)
{
	void *kaddr;
	size_t n;

	for (; len; len -= n, addr += n) {
		n = frdma_mr_run(mr, addr, len, &kaddr);
		if (!frdma_lent_add(lent, kaddr, n))
			return false;
	}
	return true;
}

/*
 * Fast regions and windows become valid, and invalid
 */

bool frdma_mr_begin_change(struct frdma_mr *mr)
{
	return !atomic_cmpxchg(&mr->state, 0, MR_CHANGING);
}

void frdma_mr_end_change(struct frdma_mr *mr)
{
	atomic_set_release(&mr->state, 0);
}

void frdma_mr_validate(struct frdma_mr *mr)
{
	/* With mr_enter_counted()'s try_cmpxchg: who enters sees the rest. */
	atomic_set_release(&mr->state, MR_VALID);
}

/* May this key be invalidated so? */
static bool mr_can_invalidate(const struct frdma_mr *mr,
			      const struct ib_pd *pd, u32 key, bool remote)
{
	return mr->kind == FRDMA_MR_FAST && mr->pd == pd &&
	       READ_ONCE(mr->key) == key &&
	       (!remote || READ_ONCE(mr->access) & FRDMA_ACC_REMOTE);
}

enum frdma_mr_invalid frdma_mr_revoke(struct frdma_mr *mr,
				      struct frdma_mr_waiter *waiter)
{
	enum frdma_mr_invalid result = FRDMA_MR_INVALIDATED;

	if (!(atomic_fetch_andnot(MR_VALID, &mr->state) & MR_READERS))
		return result;

	/* The last reader takes the lock after it has left. */
	spin_lock_bh(&frdma_mr_wait_lock);
	if (mr_is_draining(mr)) {
		if (waiter)
			list_add_tail(&waiter->link, &mr->waiters);
		result = FRDMA_MR_DRAINING;
	}
	spin_unlock_bh(&frdma_mr_wait_lock);
	return result;
}

enum frdma_mr_invalid frdma_mr_invalidate(struct frdma_dev *dev,
					  const struct ib_pd *pd, u32 qpn,
					  u32 key, bool remote,
					  struct frdma_mr_waiter *waiter)
{
	enum frdma_mr_invalid result = FRDMA_MR_NOT_INVALIDATED;
	struct frdma_mr *mr;

	rcu_read_lock();
	mr = frdma_mr_named(dev, key);
	if (mr && mr->kind == FRDMA_MR_WINDOW)
		result = frdma_mw_invalidate(mr, pd, qpn, key, waiter);
	else if (mr && mr_can_invalidate(mr, pd, key, remote))
		result = frdma_mr_revoke(mr, waiter);
	rcu_read_unlock();

	return result;
}

bool frdma_mr_is_valid(const struct frdma_mr *mr)
{
	return !mr_counts_readers(mr) || atomic_read(&mr->state) & MR_VALID;
}

void frdma_mr_waiter_cancel(struct frdma_mr_waiter *waiter)
{
	spin_lock_bh(&frdma_mr_wait_lock);
	list_del_init(&waiter->link);
	spin_unlock_bh(&frdma_mr_wait_lock);
}

/*
 * The index, and the life of a region
 */

int frdma_mr_check_access(const struct ib_device *ib, int access)
{
	if (!(access & ~MR_ACCESS_KNOWN))
		return 0;
	return frdma_refuse(ib, -EOPNOTSUPP,
			    "reg_mr: access 0x%x has unknown bits", access);
}

/* As many of each kind. */
static_assert(FRDMA_MAX_MW == FRDMA_MAX_MR);

/* What counts regions of a kind, against the advertised maximum. */
static atomic_t *mr_counter(struct frdma_dev *dev, enum frdma_mr_kind kind)
{
	return kind == FRDMA_MR_WINDOW ? &dev->nr_mw : &dev->nr_mr;
}

static enum frdma_pool mr_pool(enum frdma_mr_kind kind)
{
	return kind == FRDMA_MR_WINDOW ? FRDMA_POOL_MW : FRDMA_POOL_MR;
}

struct frdma_mr *frdma_mr_create(struct ib_pd *pd, enum frdma_mr_kind kind,
				 int access)
{
	struct frdma_dev *dev = to_frdma(pd->device);
	struct frdma_charge charge;
	struct frdma_mr *mr;
	int err = -ENOMEM;

	if (!frdma_limit_take(mr_counter(dev, kind), FRDMA_MAX_MR,
			      mr_pool(kind), &charge, frdma_pd_account(pd),
			      sizeof(*mr)))
		return ERR_PTR(-ENOMEM);

	mr = kzalloc(sizeof(*mr), FRDMA_GFP_OBJECT);
	if (!mr)
		goto err_limit_give;

	err = xa_alloc_cyclic(&dev->mrs, &mr->index, NULL,
			      XA_LIMIT(FRDMA_MR_NUMBER_FIRST,
				       FRDMA_MR_NUMBER_LAST),
			      &dev->mrs_next, FRDMA_GFP_OBJECT);
	if (err < 0)
		goto err_free;

	mr->kind = kind;
	mr->key = frdma_shuffle_show(&frdma_mr_order, mr->index) <<
		  FRDMA_MR_KEY_BITS | (get_random_u32() & FRDMA_MR_KEY_MASK);
	mr->access = access;
	mr->pd = pd;
	mr->charge = charge;
	INIT_LIST_HEAD(&mr->waiters);
	spin_lock_init(&mr->bind_lock);
	mr->ib.device = pd->device;
	mr->ib.lkey = mr->key;
	mr->ib.rkey = mr->key;
	return mr;

err_free:
	kfree(mr);
err_limit_give:
	frdma_limit_give(mr_counter(dev, kind), mr_pool(kind), &charge);
	return ERR_PTR(err);
}

void frdma_mr_publish(struct frdma_mr *mr)
{
	xa_store(&to_frdma(mr->ib.device)->mrs, mr->index, mr,
		 GFP_KERNEL_ACCOUNT);
}

void frdma_mr_hide(struct frdma_mr *mr)
{
	xa_store(&to_frdma(mr->ib.device)->mrs, mr->index, NULL,
		 GFP_KERNEL_ACCOUNT);
	mr_begin_generation();
	frdma_grace_period();
}

/* For a fast region, whose readers are counted, instead of frdma_mr_hide(). */
static void mr_drain(struct frdma_mr *mr)
{
	atomic_andnot(MR_VALID, &mr->state);
	wait_var_event(&mr->state, !mr_is_draining(mr));
}

void frdma_mr_discard(struct frdma_mr *mr)
{
	struct frdma_dev *dev = to_frdma(mr->ib.device);

	xa_erase(&dev->mrs, mr->index);
	mr_begin_generation();
	/* A window's are its parent's. */
	if (mr->kind != FRDMA_MR_WINDOW)
		frdma_pages_free(&mr->pages);
	frdma_pages_free(&mr->next);
	ib_umem_release(mr->umem);
	frdma_dmabuf_close(mr->dmabuf);
	if (mr->odp) {
		atomic_dec(&to_frdma_pd(mr->pd)->nr_odp);
		atomic_dec(&dev->nr_odp);
	}
	frdma_odp_put(mr->odp);
	frdma_limit_give(mr_counter(dev, mr->kind), mr_pool(mr->kind),
			 &mr->charge);
	kfree_rcu(mr, rcu);
}

bool frdma_mr_refuse_windows(struct frdma_mr *mr)
{
	return !atomic_cmpxchg(&mr->nr_windows, 0, MR_NO_WINDOWS);
}

void frdma_mr_allow_windows(struct frdma_mr *mr)
{
	atomic_set(&mr->nr_windows, 0);
}

int frdma_dereg_mr(struct ib_mr *ib, struct ib_udata *udata)
{
	struct frdma_mr *mr = to_frdma_mr(ib);

	if (!frdma_mr_refuse_windows(mr))
		return -EBUSY;

	if (mr->kind == FRDMA_MR_FAST)
		mr_drain(mr);
	else
		frdma_mr_hide(mr);

	frdma_mr_discard(mr);
	return 0;
}

/*
 * Regions of memory that is mapped already
 */

struct frdma_mr *frdma_mr_create_span(struct ib_pd *pd,
				      enum frdma_mr_kind kind, int access,
				      void *kaddr, u64 iova, u64 length)
{
	struct frdma_mr *mr;
	int err;

	err = frdma_mr_check_access(pd->device, access);
	if (err)
		return ERR_PTR(err);
	/* Nobody says of such memory that it is persistent. */
	if (access & FRDMA_ACC_FLUSH_PERSISTENT)
		return ERR_PTR(frdma_refuse(pd->device, -EINVAL,
					    "reg_mr: the memory is not persistent"));
	if (access & IB_ZERO_BASED)
		iova = 0;
	if (length && iova + length - 1 < iova)
		return ERR_PTR(frdma_refuse(pd->device, -EINVAL,
					    "reg_mr: iova + length overflows"));

	mr = frdma_mr_create(pd, kind, access);
	if (IS_ERR(mr))
		return mr;

	/* One block: there is nothing to be looked up. */
	err = frdma_pages_alloc(&mr->pages, mr->charge.account, 1);
	if (err) {
		frdma_mr_discard(mr);
		return ERR_PTR(err);
	}

	mr->pages.block_shift = ilog2(roundup_pow_of_two(max(length, 1)));
	frdma_pages_set(&mr->pages, 0, kaddr);
	mr->iova = iova;
	mr->length = length;
	return mr;
}

/*
 * All memory of the kernel
 */

struct ib_mr *frdma_get_dma_mr(struct ib_pd *pd, int access)
{
	struct frdma_mr *mr;
	int err;

	err = access & FRDMA_ACC_FLUSH ? -EOPNOTSUPP :
					 frdma_mr_check_access(pd->device,
							       access);
	if (err)
		return ERR_PTR(err);

	mr = frdma_mr_create(pd, FRDMA_MR_DMA, access);
	if (IS_ERR(mr))
		return ERR_CAST(mr);

	frdma_mr_publish(mr);
	return &mr->ib;
}
