// SPDX-License-Identifier: GPL-2.0
/* Names for ATOMIC WRITE. */
#include <rdma/ib_verbs.h>

u64 probe = IB_DEVICE_ATOMIC_WRITE | IB_WR_ATOMIC_WRITE | IB_WC_ATOMIC_WRITE;
