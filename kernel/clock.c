// SPDX-License-Identifier: GPL-2.0
/* The clock of completion timestamps, as a method for processes. */
#define UVERBS_MODULE_NAME frdma
#include <rdma/uverbs_named_ioctl.h>

#include "clock.h"

#include <rdma/ib_verbs.h>

#include "uapi/frdma-abi.h"

static int UVERBS_HANDLER(FRDMA_METHOD_DEVICE_CLOCK)
	(struct uverbs_attr_bundle *attrs)
{
	u64 now_ns = frdma_clock_ns();

	return uverbs_copy_to(attrs, FRDMA_ATTR_DEVICE_CLOCK_NS, &now_ns,
			      sizeof(now_ns));
}

DECLARE_UVERBS_NAMED_METHOD(FRDMA_METHOD_DEVICE_CLOCK,
	UVERBS_ATTR_PTR_OUT(FRDMA_ATTR_DEVICE_CLOCK_NS, UVERBS_ATTR_TYPE(u64),
			    UA_MANDATORY));

ADD_UVERBS_METHODS(device_methods, UVERBS_OBJECT_DEVICE,
		   &UVERBS_METHOD(FRDMA_METHOD_DEVICE_CLOCK));

const struct uapi_definition frdma_clock_uapi[] = {
	UAPI_DEF_CHAIN_OBJ_TREE(UVERBS_OBJECT_DEVICE, &device_methods),
	{ }
};
