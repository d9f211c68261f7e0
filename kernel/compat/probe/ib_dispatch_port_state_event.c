// SPDX-License-Identifier: GPL-2.0
/* The core reports port events, and drops those that report no change. */
#include <rdma/ib_verbs.h>

void *probe = ib_dispatch_port_state_event;
