/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Memory windows, of types 1 and 2B: remote rights to a part of a region,
 * given and taken back by work requests.
 *
 * A window is a region, too: it has a place in the device's table, a key,
 * rights, a range and readers that are counted, and frdma_mr_enter() finds it
 * as it finds any other (struct frdma_mr, of kind FRDMA_MR_WINDOW). But its
 * bytes are those of another region, whose page table it borrows. That region
 * counts the windows bound to it, and neither ends nor changes before the last
 * of them is unbound; what readers have not left yet then, its RCU grace
 * period waits for.
 *
 * Locks: @bind_lock of each window, for its binding; inside it @windows_lock of
 * a queue pair, for the list of those of type 2 that are bound on it.
 */
#ifndef FRDMA_MW_H
#define FRDMA_MW_H

#include <rdma/ib_verbs.h>

#include "mr.h"
#include "uapi/frdma-abi.h"

struct frdma_qp;

/* Advertised: windows of a device. */
#define FRDMA_MAX_MW	(1 << 22)

/**
 * struct frdma_mw - what ib_core allocates
 * @ib: what it knows
 * @mr: everything else, freed by RCU
 */
struct frdma_mw {
	struct ib_mw ib;
	struct frdma_mr *mr;
};

static inline struct frdma_mw *to_frdma_mw(struct ib_mw *ib)
{
	return container_of(ib, struct frdma_mw, ib);
}

/**
 * enum frdma_mw_bound - what became of a bind
 * @FRDMA_MW_BOUND: done; also if the window was to be unbound
 * @FRDMA_MW_DRAINING: what was bound before is not any more, but has readers;
 *		       the waiter will be woken, then try again
 * @FRDMA_MW_REFUSED: a memory window bind error
 */
enum frdma_mw_bound {
	FRDMA_MW_BOUND,
	FRDMA_MW_DRAINING,
	FRDMA_MW_REFUSED,
};

/**
 * frdma_mw_bind() - carry out a BIND_MW work request
 * @qp: where it was posted
 * @wqe: private copy of the work request
 * @waiter: not waiting
 *
 * Context: bottom halves off.
 */
enum frdma_mw_bound frdma_mw_bind(struct frdma_qp *qp,
				  const struct frdma_send_wqe *wqe,
				  struct frdma_mr_waiter *waiter);

/**
 * frdma_mw_invalidate() - frdma_mr_invalidate() of a window
 * @mw: the window
 * @pd: protection domain of the queue pair
 * @qpn: its number
 * @key: the window's key now
 * @waiter: see there
 *
 * Only windows of type 2, and while they are bound only by the queue pair on
 * which they were, or its peer.
 *
 * Context: bottom halves off, in an RCU read section.
 */
enum frdma_mr_invalid frdma_mw_invalidate(struct frdma_mr *mw,
					  const struct ib_pd *pd, u32 qpn,
					  u32 key,
					  struct frdma_mr_waiter *waiter);

/**
 * frdma_mw_forget() - a queue pair ends: unbind its windows of type 2
 * @qp: whose sides the caller owns for ever
 *
 * On return no window points to it. A later one may have its number.
 *
 * Context: may sleep.
 */
void frdma_mw_forget(struct frdma_qp *qp);

/* Verbs; contexts and returns as ib_core defines them. */
int frdma_alloc_mw(struct ib_mw *ib, struct ib_udata *udata);
int frdma_dealloc_mw(struct ib_mw *ib);

#endif /* FRDMA_MW_H */
