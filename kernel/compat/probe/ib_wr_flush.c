// SPDX-License-Identifier: GPL-2.0
/* Names for FLUSH. */
#include <rdma/ib_verbs.h>

u64 probe = IB_DEVICE_FLUSH_GLOBAL | IB_WR_FLUSH | IB_WC_FLUSH;
