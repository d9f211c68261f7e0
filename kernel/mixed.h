/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Trains for several receivers. A host that forwards may merge packets into one
 * GSO buffer by their addresses and ports alone (rx-udp-gro-forwarding): requests
 * and acknowledgements of one queue pair, or packets of several. The first packet
 * decides which side gets the train. That side takes its own packets, and passes
 * a clone of the train on to each other side that it finds a packet for.
 */
#ifndef FRDMA_MIXED_H
#define FRDMA_MIXED_H

#include <linux/types.h>

struct frdma_hdr;
struct frdma_qp;
struct sk_buff;

/*
 * Other sides that a train is passed on to. Each costs a clone and a scan of the
 * train. The limit bounds what a hostile host can cause with one buffer.
 */
#define FRDMA_MIXED_MAX		8

/**
 * struct frdma_mixed - the other sides that have got a train
 * @nr: how many
 * @refused: bit n: side n could not take it
 * @key: queue pair and side of each
 */
struct frdma_mixed {
	u32 nr;
	u32 refused;
	u32 key[FRDMA_MIXED_MAX];
};

bool frdma_mixed_pass_on(struct frdma_mixed *mixed, const struct frdma_qp *qp,
			 const struct sk_buff *skb,
			 const struct frdma_hdr *hdr);

#endif /* FRDMA_MIXED_H */
