/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Memory regions: lookup by key, and who may touch what until when.
 *
 * Seven kinds. A *user* region is pinned memory of a process, see umem.h; it
 * changes only while no reader can find it: dereg_mr and rereg_user_mr take it
 * out of the index and wait for one RCU grace period, so readers need nothing
 * but their RCU section. A *fast* region (fast.h) is filled by map_mr_sg,
 * becomes valid by a REG_MR work request and invalid by LOCAL_INV or an
 * incoming SEND with invalidate; it counts its readers, so that an invalidation
 * can wait for them without a grace period. A *DMA* region (get_dma_mr, which
 * is also a kernel consumer's local_dma_lkey) is all memory of the kernel by
 * its virtual addresses. A *dma-buf* region is memory of another driver, see
 * dmabuf.h, and a *device memory* region is memory that this one has given out,
 * see dm.h. An *ODP* region is memory of a process that is not pinned, see
 * odp.h. A *window* shows a part of a user or device memory region to peers;
 * see mw.h.
 *
 * frdma_mr_enter() and frdma_mr_leave() bracket every touch; between them no
 * one sleeps, and the bytes of the region stay where they are. After dereg_mr
 * has returned, or an invalidation is complete, no byte is read or written
 * through the region: what is sent was copied before.
 *
 * Locks: the index's own lock; frdma_mr_wait_lock (mr.c) for waiters of all
 * regions. Neither is taken by a successful frdma_mr_enter().
 */
#ifndef FRDMA_MR_H
#define FRDMA_MR_H

#include <linux/bits.h>
#include <linux/build_bug.h>
#include <linux/list.h>
#include <rdma/ib_verbs.h>

#include "account.h"
#include "cursor.h"
#include "lent.h"
#include "number.h"
#include "odp.h"
#include "page_in.h"
#include "pages.h"
#include "stripes.h"

struct frdma_dev;
struct frdma_dmabuf;
struct frdma_qp;
struct ib_umem;

/* Advertised: regions of a device, blocks of a fast region. */
#define FRDMA_MAX_MR			(1 << 22)
#define FRDMA_MAX_FAST_REG_BLOCKS	(1 << 16)

/**
 * enum frdma_mr_fault - why memory cannot be touched
 * @FRDMA_MR_OK: it can
 * @FRDMA_MR_BAD_KEY: no region has this key, or it is not valid now
 * @FRDMA_MR_BAD_PD: the region belongs to another protection domain
 * @FRDMA_MR_BAD_RANGE: bytes outside of the region, or more than a message
 * @FRDMA_MR_BAD_ACCESS: the region does not grant this access
 * @FRDMA_MR_ABSENT: nothing is wrong, but pages are not there now. Only from
 *                   functions that touch them.
 * @FRDMA_MR_NOT_LENT: nothing is wrong, but not all of the bytes can be lent.
 *                     Only from functions that lend.
 */
enum frdma_mr_fault {
	FRDMA_MR_OK = 0,
	FRDMA_MR_BAD_KEY,
	FRDMA_MR_BAD_PD,
	FRDMA_MR_BAD_RANGE,
	FRDMA_MR_BAD_ACCESS,
	FRDMA_MR_ABSENT,
	FRDMA_MR_NOT_LENT,
};

/**
 * enum frdma_mr_kind - how a region came to be
 * @FRDMA_MR_USER: reg_user_mr
 * @FRDMA_MR_DMABUF: reg_user_mr_dmabuf
 * @FRDMA_MR_DM: reg_dm_mr
 * @FRDMA_MR_FAST: alloc_mr
 * @FRDMA_MR_WINDOW: alloc_mw
 * @FRDMA_MR_ODP: reg_user_mr, on demand
 * @FRDMA_MR_DMA: get_dma_mr
 * @FRDMA_MR_KINDS: number of kinds
 *
 * A new kind has to be added to the sets below. Their order means nothing.
 */
enum frdma_mr_kind {
	FRDMA_MR_USER,
	FRDMA_MR_DMABUF,
	FRDMA_MR_DM,
	FRDMA_MR_FAST,
	FRDMA_MR_WINDOW,
	FRDMA_MR_ODP,
	FRDMA_MR_DMA,
	FRDMA_MR_KINDS,
};

/*
 * What keeps the memory of a region while it is read: the grace period of its
 * end, the count of its readers, or a lock that they hold.
 */
#define FRDMA_MR_BY_RCU		(BIT(FRDMA_MR_USER) | BIT(FRDMA_MR_DMABUF) | \
				 BIT(FRDMA_MR_DM) | BIT(FRDMA_MR_DMA))
#define FRDMA_MR_BY_COUNT	(BIT(FRDMA_MR_FAST) | BIT(FRDMA_MR_WINDOW))
#define FRDMA_MR_BY_LOCK	BIT(FRDMA_MR_ODP)

/* Where its memory is: in a page table; elsewhere. */
#define FRDMA_MR_BY_TABLE	(BIT(FRDMA_MR_USER) | BIT(FRDMA_MR_DMABUF) | \
				 BIT(FRDMA_MR_DM) | BIT(FRDMA_MR_FAST) | \
				 BIT(FRDMA_MR_WINDOW))
#define FRDMA_MR_BY_ADDRESS	(BIT(FRDMA_MR_ODP) | BIT(FRDMA_MR_DMA))

/* Each kind is in one set of each group: the sums are the unions. */
static_assert(FRDMA_MR_BY_RCU + FRDMA_MR_BY_COUNT + FRDMA_MR_BY_LOCK ==
	      BIT(FRDMA_MR_KINDS) - 1);
static_assert(FRDMA_MR_BY_TABLE + FRDMA_MR_BY_ADDRESS ==
	      BIT(FRDMA_MR_KINDS) - 1);

/**
 * struct frdma_mr - a memory region, freed by RCU
 * @ib: what ib_core knows of it. Readers use the fields below instead: the
 *      core and kernel consumers write to @ib at times of their own.
 * @rcu: delays the last step of the region's end
 * @kind: constant
 * @index: in the device's table, constant; its key shows it in disguise
 * @key: the key that grants access
 * @access: IB_ACCESS_* granted
 * @pd: protection domain
 * @iova: address of the first byte
 * @length: bytes
 * @offset: bytes from the first block of @pages to the first byte; of an ODP
 *          region, where that is in the process
 * @pages: where the bytes are; a window borrows its parent's
 * @umem: the pinned memory of a user region
 * @dmabuf: the buffer of a dma-buf region
 * @odp: the memory of an ODP region
 * @state: of a fast region or a window: readers and MR_* bits (mr.c)
 * @nr_mapped: of a fast region: blocks that are set in @pages
 * @next: of a fast region: the table that map_mr_sg fills and the next
 *        registration swaps with @pages, since a consumer may map while the
 *        old registration waits for its LOCAL_INV
 * @next_mapped: blocks that are set in @next; 0: nothing new was mapped
 * @waiters: of a fast region or a window: struct frdma_mr_waiter, under
 *           frdma_mr_wait_lock
 * @nr_windows: of a user region: windows bound to it; negative: none may be
 *              bound, because it is about to change or to end
 * @mw_type: of a window: IB_MW_TYPE_1 or IB_MW_TYPE_2, constant
 * @bind_lock: of a window: guards @parent and all that a bind changes
 * @parent: of a window: the region it is bound to, or NULL
 * @qpn: of a bound window of type 2: the only queue pair whose peer may use
 *       it; else 0
 * @qp: that queue pair, which unbinds it before it ends; NULL if it is not bound
 * @of_qp: in its list of windows, under the lock of that
 * @charge: of the region, without its page tables
 *
 * @key to @pages are constant while readers can enter: see the top of this
 * file for when they change.
 */
struct frdma_mr {
	struct ib_mr ib;
	struct rcu_head rcu;
	enum frdma_mr_kind kind;
	u32 index;
	u32 key;
	int access;
	struct ib_pd *pd;
	u64 iova;
	u64 length;
	u64 offset;
	struct frdma_pages pages;
	struct ib_umem *umem;
	struct frdma_dmabuf *dmabuf;
	struct frdma_odp *odp;
	atomic_t state;
	u32 nr_mapped;
	struct frdma_pages next;
	u32 next_mapped;
	struct list_head waiters;
	atomic_t nr_windows;
	enum ib_mw_type mw_type;
	spinlock_t bind_lock;	/* binding */
	struct frdma_mr *parent;
	u32 qpn;
	struct frdma_qp *qp;
	struct list_head of_qp;
	struct frdma_charge charge;
};

/** frdma_mr_is() - is the kind of a region in a set, FRDMA_MR_BY_* */
static inline bool frdma_mr_is(const struct frdma_mr *mr, unsigned long kinds)
{
	return BIT(mr->kind) & kinds;
}

static inline struct frdma_mr *to_frdma_mr(struct ib_mr *ib)
{
	return container_of(ib, struct frdma_mr, ib);
}

/**
 * frdma_mr_named() - the region or window that a key names
 * @dev: the device
 * @key: local or remote key, of which the consumer's bits are not looked at
 *
 * Context: RCU read section, which is all that keeps the result alive.
 * Return: the region or NULL.
 */
struct frdma_mr *frdma_mr_named(struct frdma_dev *dev, u32 key);

/**
 * frdma_mr_enter() - begin to touch memory
 * @dev: the device
 * @pd: protection domain of the queue pair
 * @qpn: number of the queue pair if its peer asks; 0: this host, for whom
 *       windows do not exist
 * @key: local or remote key
 * @addr: first byte, as the region's owner counts addresses
 * @len: bytes; 0 passes at any address
 * @access: IB_ACCESS_* that must all be granted; 0 to read locally
 * @fault: receives the reason if NULL is returned
 *
 * Context: bottom halves off, in an RCU read section that lasts until
 * frdma_mr_leave(). Return: the region, to be given to frdma_mr_leave();
 * NULL if it must not be touched so.
 */
struct frdma_mr *frdma_mr_enter(struct frdma_dev *dev, const struct ib_pd *pd,
				u32 qpn, u32 key, u64 addr, u64 len,
				int access, enum frdma_mr_fault *fault);

/**
 * frdma_mr_leave() - end of what frdma_mr_enter() began
 * @mr: the region
 *
 * The last to leave an invalidated region wakes those that wait for it.
 *
 * Context: as frdma_mr_enter(), in the same RCU read section.
 */
void frdma_mr_leave(struct frdma_mr *mr);

/** frdma_mr_va() - what an address is in the process of an ODP region */
static inline u64 frdma_mr_va(const struct frdma_mr *mr, u64 addr)
{
	return mr->offset + (addr - mr->iova);
}

/**
 * frdma_mr_is_absent() - are the bytes of an entered region not there now
 * @mr: entered for the range
 * @addr: first byte
 * @len: bytes, at least one
 * @access: as it was entered
 *
 * Before bytes are touched. Context: between enter and leave.
 */
static inline bool frdma_mr_is_absent(const struct frdma_mr *mr, u64 addr,
				      u64 len, int access)
{
	return unlikely(mr->kind == FRDMA_MR_ODP) &&
	       !frdma_odp_is_present(mr->odp, frdma_mr_va(mr, addr), len,
				     ib_access_writable(access));
}

/**
 * frdma_mr_page_in() - ask for bytes that are absent
 * @mr: entered for the range
 * @addr: first byte
 * @len: bytes that are needed, at least one
 * @ahead: bytes that will be needed soon, @len included
 * @access: as it was entered
 * @in: of the side that needs them
 *
 * Context: between enter and leave. Return: FRDMA_MR_ABSENT: try again when
 * @in wakes the side, or later; FRDMA_MR_BAD_RANGE: they are not to be had.
 */
static inline enum frdma_mr_fault
frdma_mr_page_in(const struct frdma_mr *mr, u64 addr, u64 len, u64 ahead,
		 int access, struct frdma_page_in *in)
{
	return frdma_page_in_start(in, mr->odp, frdma_mr_va(mr, addr), len,
				   ahead, ib_access_writable(access)) ?
	       FRDMA_MR_ABSENT : FRDMA_MR_BAD_RANGE;
}

/**
 * frdma_mr_run() - the contiguous memory at an address
 * @mr: entered for a range that @addr and @len lie in
 * @addr: first byte
 * @len: bytes wanted, at least one
 * @kaddr: receives its kernel address
 *
 * The time it takes does not grow with the region.
 *
 * Context: between enter and leave. Return: bytes that follow each other at
 * @kaddr, 1 to @len.
 */
size_t frdma_mr_run(const struct frdma_mr *mr, u64 addr, size_t len,
		    void **kaddr);

/**
 * frdma_mr_atomic() - the memory of a 64-bit atomic operation
 * @mr: entered for the eight bytes at @addr
 * @addr: a multiple of eight
 *
 * The bytes are aligned and never straddle two blocks, unless the region
 * itself begins at an address that is not congruent with its memory.
 *
 * Context: between enter and leave. Return: their kernel address, NULL if
 * the memory is not aligned.
 */
u64 *frdma_mr_atomic(const struct frdma_mr *mr, u64 addr);

/**
 * frdma_mr_read() - copy out of a region into packets, and sum them
 * @mr: entered for the range
 * @addr: first byte
 * @to: where @len bytes go; moved behind them
 * @len: bytes, may be 0
 *
 * Context: between enter and leave; bottom halves off.
 */
void frdma_mr_read(const struct frdma_mr *mr, u64 addr,
		   struct frdma_stripes *to, size_t len);

/**
 * frdma_mr_write() - copy into a region
 * @mr: entered for the range, with the right to write
 * @addr: first byte
 * @src: @len bytes
 * @len: bytes, may be 0
 *
 * The order of the stores is that of copy.h.
 *
 * Context: between enter and leave; bottom halves off.
 */
void frdma_mr_write(struct frdma_mr *mr, u64 addr, const void *src,
		    size_t len);

/**
 * frdma_mr_write_payload() - copy from packets into a region
 * @mr: entered for the range, with the right to write
 * @addr: first byte
 * @from: their payload; moved behind the bytes
 * @len: bytes, may be 0; all of them in the packets
 *
 * The order of the stores is that of copy.h: a process may poll the last bytes.
 *
 * Context: between enter and leave; bottom halves off, no section of crc.h.
 */
void frdma_mr_write_payload(struct frdma_mr *mr, u64 addr,
			    struct frdma_payload *from, size_t len);

/**
 * frdma_mr_lend() - the memory of a range, to be read where it lies
 * @mr: entered for the range, with pages that are present
 * @addr: first byte
 * @len: bytes
 * @lent: to which the pieces are added; good until frdma_mr_leave(), or, if
 *	frdma_mr_outlasts_leave(), to the end of the RCU read section
 *
 * Context: between enter and leave. Return: false if there was no room for all
 * of them.
 */
bool frdma_mr_lend(const struct frdma_mr *mr, u64 addr, size_t len,
		   struct frdma_lent *lent);

/**
 * frdma_mr_outlasts_leave() - does the RCU read section keep a region's memory
 * @mr: entered
 *
 * That of others is kept only until frdma_mr_leave().
 */
static inline bool frdma_mr_outlasts_leave(const struct frdma_mr *mr)
{
	return frdma_mr_is(mr, FRDMA_MR_BY_RCU);
}

/**
 * struct frdma_mr_waiter - someone who waits for an invalidation
 * @link: in the region's waiters, empty while not waiting; under
 *        frdma_mr_wait_lock
 * @wake: the invalidation is complete. Called once, with bottom halves off
 *        and frdma_mr_wait_lock held, from any CPU: it may schedule, and must
 *        not call back into this file.
 */
struct frdma_mr_waiter {
	struct list_head link;
	void (*wake)(struct frdma_mr_waiter *waiter);
};

/**
 * frdma_mr_waiter_init() - prepare a waiter
 * @waiter: not waiting
 * @wake: see struct frdma_mr_waiter
 */
static inline void
frdma_mr_waiter_init(struct frdma_mr_waiter *waiter,
		     void (*wake)(struct frdma_mr_waiter *waiter))
{
	INIT_LIST_HEAD(&waiter->link);
	waiter->wake = wake;
}

/**
 * frdma_mr_is_valid() - can anybody use the region now
 * @mr: region
 *
 * Context: any; the answer may be old already.
 */
bool frdma_mr_is_valid(const struct frdma_mr *mr);

/**
 * frdma_mr_waiter_cancel() - wait no longer
 * @waiter: initialised, waiting or not
 *
 * After return @wake is not running and will not be called.
 *
 * Context: any but hard interrupts.
 */
void frdma_mr_waiter_cancel(struct frdma_mr_waiter *waiter);

/**
 * enum frdma_mr_invalid - what became of an invalidation
 * @FRDMA_MR_INVALIDATED: complete; nobody touches the memory by this key
 * @FRDMA_MR_DRAINING: nobody new may enter; the waiter, if there is one, will
 *                     be woken when the last reader has left, and then it is
 *                     complete
 * @FRDMA_MR_NOT_INVALIDATED: the key must not be invalidated so
 */
enum frdma_mr_invalid {
	FRDMA_MR_INVALIDATED,
	FRDMA_MR_DRAINING,
	FRDMA_MR_NOT_INVALIDATED,
};

/**
 * frdma_mr_invalidate() - LOCAL_INV, or an incoming SEND with invalidate
 * @dev: the device
 * @pd: protection domain of the queue pair
 * @qpn: its number
 * @key: the region's key now
 * @remote: it is the peer who asks
 * @waiter: not waiting; NULL: the caller will ask again
 *
 * Only regions made by alloc_mr and windows of type 2 can be invalidated,
 * regions by the peer only if they grant it something. One that is not valid already is no error, provided
 * that the key fits.
 *
 * Context: bottom halves off; not between enter and leave of this region.
 */
enum frdma_mr_invalid frdma_mr_invalidate(struct frdma_dev *dev,
					  const struct ib_pd *pd, u32 qpn,
					  u32 key, bool remote,
					  struct frdma_mr_waiter *waiter);

/*
 * For the files of the kinds: umem.c, fast.c, dmabuf.c, dm.c; and mw.c, since a
 * window has a place, a key and readers as a region does.
 */

/**
 * frdma_mr_check_access() - does this device know such rights
 * @ib: the device, which gives the reason of a refusal
 * @access: IB_ACCESS_*
 *
 * Context: any. Return: 0; -EOPNOTSUPP.
 */
int frdma_mr_check_access(const struct ib_device *ib, int access);

/**
 * frdma_mr_create() - make a region with a key
 * @pd: protection domain
 * @kind: of the region
 * @access: IB_ACCESS_* it grants
 *
 * By its key nobody finds it before frdma_mr_publish().
 *
 * Context: may sleep. Return: the region; -ENOMEM.
 */
struct frdma_mr *frdma_mr_create(struct ib_pd *pd, enum frdma_mr_kind kind,
				 int access);

/**
 * frdma_mr_create_span() - make a region of memory mapped in the kernel
 * @pd: protection domain
 * @kind: of the region
 * @access: IB_ACCESS_* it grants
 * @kaddr: its first byte in the kernel's address space; the rest follows
 * @iova: address of the first byte, as the owner counts; 0 if @access says so
 * @length: bytes; without any it grants nothing
 *
 * Context: may sleep. Return: the region, not published; -EOPNOTSUPP (access),
 * -EINVAL (range; persistence), -ENOMEM.
 */
struct frdma_mr *frdma_mr_create_span(struct ib_pd *pd,
				      enum frdma_mr_kind kind, int access,
				      void *kaddr, u64 iova, u64 length);

/**
 * frdma_mr_publish() - let a region be found
 * @mr: region; its place has been kept since frdma_mr_create()
 *
 * Context: may sleep.
 */
void frdma_mr_publish(struct frdma_mr *mr);

/**
 * frdma_mr_hide() - let a region be found no more
 * @mr: region; its place is kept
 *
 * On return no reader that has found it is left.
 *
 * Context: may sleep.
 */
void frdma_mr_hide(struct frdma_mr *mr);

/**
 * frdma_mr_discard() - undo frdma_mr_create() and what was added since
 * @mr: region without readers
 *
 * Context: may sleep.
 */
void frdma_mr_discard(struct frdma_mr *mr);

/**
 * frdma_mr_refuse_windows() - from here on no window is bound to a region
 * @mr: region that is about to change or to end
 *
 * Windows look at the region's memory: it neither changes nor ends before the
 * last is unbound.
 *
 * Context: any. Return: false if windows are bound, and more may be.
 */
bool frdma_mr_refuse_windows(struct frdma_mr *mr);

/**
 * frdma_mr_allow_windows() - windows can be bound again
 * @mr: region that frdma_mr_refuse_windows() was called for
 *
 * Context: any.
 */
void frdma_mr_allow_windows(struct frdma_mr *mr);

/**
 * frdma_mr_begin_change() - nobody else changes a region now
 * @mr: fast region
 *
 * Context: any. Return: true, and frdma_mr_validate() or frdma_mr_end_change()
 * is owed; false if it is valid, has readers or is being changed.
 */
bool frdma_mr_begin_change(struct frdma_mr *mr);

/**
 * frdma_mr_end_change() - the region stays invalid
 * @mr: fast region that is being changed
 *
 * Context: any.
 */
void frdma_mr_end_change(struct frdma_mr *mr);

/**
 * frdma_mr_validate() - let readers in
 * @mr: fast region or window that has none and is not valid; the caller alone
 *      has changed it
 *
 * Context: any.
 */
void frdma_mr_validate(struct frdma_mr *mr);

/**
 * frdma_mr_revoke() - let no more readers in
 * @mr: fast region or window, valid or not
 * @waiter: not waiting; woken when the last reader has left; NULL: the caller
 *          will ask again
 *
 * Context: bottom halves off. Return: FRDMA_MR_INVALIDATED,
 * FRDMA_MR_DRAINING.
 */
enum frdma_mr_invalid frdma_mr_revoke(struct frdma_mr *mr,
				      struct frdma_mr_waiter *waiter);

/* Verbs; contexts and returns as ib_core defines them. */
struct ib_mr *frdma_get_dma_mr(struct ib_pd *pd, int access);
int frdma_dereg_mr(struct ib_mr *ib, struct ib_udata *udata);

#endif /* FRDMA_MR_H */
