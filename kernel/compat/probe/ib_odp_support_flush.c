// SPDX-License-Identifier: GPL-2.0
/* Names for ATOMIC WRITE and FLUSH of memory that is not pinned. */
#include <rdma/ib_verbs.h>

u64 probe = IB_ODP_SUPPORT_FLUSH | IB_ODP_SUPPORT_ATOMIC_WRITE;
