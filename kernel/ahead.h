/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Requests that are ahead of their turn: kept while those before them, which
 * are missing, are asked for. proto/kept.h has their order.
 */
#ifndef FRDMA_AHEAD_H
#define FRDMA_AHEAD_H

#include <linux/hrtimer.h>

#include "proto/kept.h"

struct frdma_held;
struct frdma_qp;
struct frdma_rx_pkt;

/* Most memory of a queue pair that waits so, and of a device. */
#define FRDMA_AHEAD_BYTES_MAX	(4 << 20)
#define FRDMA_AHEAD_BYTES_DEV	(32 << 20)

/* Most requests, or runs of them, of a queue pair: two windows. */
#define FRDMA_AHEAD_NR_MAX	512

/**
 * struct frdma_ahead - what a receive side keeps
 * @list: in which order
 * @nr: how many
 * @bytes: memory of their buffers, as FRDMA_AHEAD_BYTES_MAX counts it
 * @taken: since this was last looked at, the turn of one has come
 * @deadline_ns: monotonic time: until then something of what is missing is to
 *	come
 * @timer: wakes the side then
 * @newest: the buffer that was held last, NULL: it is not any more
 *
 * Written by the owner of the receive side only.
 */
struct frdma_ahead {
	struct frdma_kept_list list;
	u32 nr;
	u32 bytes;
	bool taken;
	u64 deadline_ns;
	struct hrtimer timer;
	struct frdma_held *newest;
};

void frdma_ahead_init(struct frdma_qp *qp);
bool frdma_ahead_keep(struct frdma_qp *qp, const struct frdma_rx_pkt *pkt);
bool frdma_ahead_take(struct frdma_qp *qp);
void frdma_ahead_expire(struct frdma_qp *qp);
void frdma_ahead_forget(struct frdma_qp *qp);

/** frdma_ahead_is_empty - is nothing kept */
static inline bool frdma_ahead_is_empty(const struct frdma_ahead *ahead)
{
	return !ahead->list.first;
}

#endif /* FRDMA_AHEAD_H */
