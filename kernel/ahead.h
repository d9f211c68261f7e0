/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Requests that are ahead of their turn, and answers: kept while those before them,
 * which are missing, are asked for. proto/kept.h has their order.
 */
#ifndef FRDMA_AHEAD_H
#define FRDMA_AHEAD_H

#include <linux/hrtimer.h>

#include "proto/kept.h"

struct frdma_held;
struct frdma_qp;
struct frdma_rx_pkt;

/*
 * Most memory of a side of a queue pair that waits so, and of a device, of which
 * users have shares (account.h).
 */
#define FRDMA_AHEAD_BYTES_MAX	(4 << 20)
#define FRDMA_AHEAD_BYTES_DEV	(32 << 20)

/* Most packets, or runs of them, of a side: two windows. */
#define FRDMA_AHEAD_NR_MAX	512

/**
 * struct frdma_ahead - what a side keeps
 * @list: in which order
 * @nr: how many
 * @bytes: memory of them and of their buffers, as FRDMA_AHEAD_BYTES_MAX counts it
 * @taken: since this was last looked at, the turn of one has come
 * @deadline_ns: monotonic time: until then something of what is missing is to
 *	come
 * @timer: wakes the side then; NULL: the side has a timer of its own
 * @newest: the buffer that was held last, NULL: it is not any more
 *
 * Written by the owner of the side only.
 */
struct frdma_ahead {
	struct frdma_kept_list list;
	u32 nr;
	u32 bytes;
	bool taken;
	u64 deadline_ns;
	struct hrtimer *timer;
	struct frdma_held *newest;
};

/**
 * typedef frdma_ahead_fn - take a packet, or a run, whose turn has come
 * @qp: for which it is, a side of which the caller owns
 * @item: it
 * @pkt: the same; it may begin before what has its turn, and is not looked at afterwards
 */
typedef void (*frdma_ahead_fn)(struct frdma_qp *qp,
			       const struct frdma_kept *item,
			       struct frdma_rx_pkt *pkt);

/**
 * enum frdma_ahead_fate - what becomes of a packet, or a run, that is ahead
 * @FRDMA_AHEAD_KEPT: it is kept
 * @FRDMA_AHEAD_TWICE: it was kept before, or is too far ahead
 * @FRDMA_AHEAD_NO_ROOM: it was in no buffer, or there is no memory for more
 */
enum frdma_ahead_fate {
	FRDMA_AHEAD_KEPT,
	FRDMA_AHEAD_TWICE,
	FRDMA_AHEAD_NO_ROOM,
};

enum frdma_ahead_fate frdma_ahead_keep(struct frdma_qp *qp,
				       struct frdma_ahead *ahead,
				       const struct frdma_rx_pkt *pkt, u32 psn,
				       u32 round);
u32 frdma_ahead_take(struct frdma_qp *qp, struct frdma_ahead *ahead, u32 psn,
		     frdma_ahead_fn take);
bool frdma_ahead_expire(struct frdma_qp *qp, struct frdma_ahead *ahead,
			u32 psn);
void frdma_ahead_forget(struct frdma_qp *qp, struct frdma_ahead *ahead);

/** frdma_ahead_is_empty - is nothing kept */
static inline bool frdma_ahead_is_empty(const struct frdma_ahead *ahead)
{
	return !ahead->list.first;
}

/** frdma_ahead_is_due - has the turn of the first come; of @psn that is */
static inline bool frdma_ahead_is_due(const struct frdma_ahead *ahead, u32 psn)
{
	return frdma_kept_is_due(&ahead->list, psn);
}

/** frdma_ahead_next_ns - when to look at frdma_ahead_expire(); U64_MAX: never */
static inline u64 frdma_ahead_next_ns(const struct frdma_ahead *ahead)
{
	return frdma_ahead_is_empty(ahead) ? U64_MAX : ahead->deadline_ns;
}

#endif /* FRDMA_AHEAD_H */
