// SPDX-License-Identifier: GPL-2.0
/* create_cq() takes the attribute bundle, not the driver data inside it. */
#include <rdma/ib_verbs.h>

static_assert(__same_type(((struct ib_device_ops *)0)->create_cq,
			  (int (*)(struct ib_cq *,
				   const struct ib_cq_init_attr *,
				   struct uverbs_attr_bundle *))0));
