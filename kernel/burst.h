/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Packets of the work request at the head, and of those behind it, on their way:
 * by the network stack, or to a peer of the same device without packets.
 */
#ifndef FRDMA_BURST_H
#define FRDMA_BURST_H

#include <linux/types.h>

struct frdma_qp;

/* Packets of one step; then others get their turn. */
#define FRDMA_BURST_MAX		256

u32 frdma_burst_send(struct frdma_qp *qp, u32 budget);

#endif /* FRDMA_BURST_H */
