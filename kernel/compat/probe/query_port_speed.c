// SPDX-License-Identifier: GPL-2.0
/* A verb that asks for a port's speed alone. */
#include <rdma/ib_verbs.h>

unsigned long probe = offsetof(struct ib_device_ops, query_port_speed);
