/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Counters that some queue pairs have for themselves ("rdma statistic qp"):
 * what such a queue pair does is counted there and not at the port, to which
 * the core adds it where the port's own are read.
 */
#ifndef FRDMA_COUNTERS_H
#define FRDMA_COUNTERS_H

#include <rdma/ib_verbs.h>
#include <rdma/rdma_counter.h>

struct frdma_dev;
struct frdma_stats;

void frdma_counters_sum(struct frdma_dev *dev, struct frdma_stats *sum);

/* Verbs; contexts and returns as ib_core defines them. */
struct rdma_hw_stats *frdma_counter_alloc_stats(struct rdma_counter *counter);
int frdma_counter_bind_qp(struct rdma_counter *counter, struct ib_qp *ib,
			  u32 port);
int frdma_counter_unbind_qp(struct ib_qp *ib, u32 port);
int frdma_counter_update_stats(struct rdma_counter *counter);
int frdma_counter_dealloc(struct rdma_counter *counter);

#endif /* FRDMA_COUNTERS_H */
