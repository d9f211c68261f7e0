// SPDX-License-Identifier: GPL-2.0
/* A driver's counters may be larger than the core's. */
#include <rdma/ib_verbs.h>

unsigned long probe = offsetof(struct ib_device_ops, size_rdma_counter);
