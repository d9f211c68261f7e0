// SPDX-License-Identifier: GPL-2.0
/* Counters are bound to a queue pair for a port. */
#include <rdma/ib_verbs.h>

int bind(struct rdma_counter *counter, struct ib_qp *qp, u32 port);

const struct ib_device_ops probe = { .counter_bind_qp = bind };
