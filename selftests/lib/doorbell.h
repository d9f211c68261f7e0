/* SPDX-License-Identifier: GPL-2.0 */
/* The doorbell of a queue pair, without the provider. */
#ifndef FRDMA_TEST_DOORBELL_H
#define FRDMA_TEST_DOORBELL_H

#include <stdint.h>
#include <sys/ioctl.h>

#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/rdma_user_ioctl.h>
#include <rdma/rdma_user_ioctl_cmds.h>

#include "../../kernel/uapi/frdma-abi.h"

/* 0, or -1 and errno, as ioctl() has it. */
static inline int ring_doorbell_of(int cmd_fd, uint32_t handle)
{
	struct {
		struct ib_uverbs_ioctl_hdr hdr;
		struct ib_uverbs_attr attr;
	} call = {
		.hdr = {
			.length = sizeof(call),
			.object_id = UVERBS_OBJECT_QP,
			.method_id = FRDMA_METHOD_QP_DOORBELL,
			.num_attrs = 1,
			.driver_id = FRDMA_DRIVER_ID,
		},
		.attr = {
			.attr_id = FRDMA_ATTR_QP_DOORBELL_HANDLE,
			.flags = UVERBS_ATTR_F_MANDATORY,
			.data = handle,
		},
	};

	return ioctl(cmd_fd, RDMA_VERBS_IOCTL, &call);
}

#endif /* FRDMA_TEST_DOORBELL_H */
