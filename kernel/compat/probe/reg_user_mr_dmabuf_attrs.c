// SPDX-License-Identifier: GPL-2.0
/* reg_user_mr_dmabuf() takes the attributes of the call. */
#include <rdma/ib_verbs.h>

static_assert(__same_type(((struct ib_device_ops *)0)->reg_user_mr_dmabuf,
			  (struct ib_mr *(*)(struct ib_pd *, u64, u64, u64,
					     int, int,
					     struct uverbs_attr_bundle *))0));
