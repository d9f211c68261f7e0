// SPDX-License-Identifier: GPL-2.0
/* resize_cq() became resize_user_cq(), and the size unsigned. */
#include <rdma/ib_verbs.h>

size_t probe = offsetof(struct ib_device_ops, resize_user_cq);
