/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The driver data of frdma, in the wrapping that libibverbs wants. */
#ifndef FRDMA_PROVIDER_ABI_H
#define FRDMA_PROVIDER_ABI_H

#include <infiniband/kern-abi.h>
#include <rdma/frdma-abi.h>
#include <kernel-abi/frdma-abi.h>

DECLARE_DRV_CMD(frdma_get_context, IB_USER_VERBS_CMD_GET_CONTEXT, empty,
		frdma_alloc_ucontext_resp);
DECLARE_DRV_CMD(frdma_make_cq, IB_USER_VERBS_EX_CMD_CREATE_CQ, empty,
		frdma_create_cq_resp);
DECLARE_DRV_CMD(frdma_regrow_cq, IB_USER_VERBS_CMD_RESIZE_CQ, empty,
		frdma_resize_cq_resp);
DECLARE_DRV_CMD(frdma_make_qp, IB_USER_VERBS_CMD_CREATE_QP, empty,
		frdma_create_qp_resp);
DECLARE_DRV_CMD(frdma_make_srq, IB_USER_VERBS_CMD_CREATE_SRQ, empty,
		frdma_create_srq_resp);
DECLARE_DRV_CMD(frdma_make_xsrq, IB_USER_VERBS_CMD_CREATE_XSRQ, empty,
		frdma_create_srq_resp);
DECLARE_DRV_CMD(frdma_change_srq, IB_USER_VERBS_CMD_MODIFY_SRQ,
		frdma_modify_srq, empty);
DECLARE_DRV_CMD(frdma_make_ah, IB_USER_VERBS_CMD_CREATE_AH, empty,
		frdma_create_ah_resp);

#endif /* FRDMA_PROVIDER_ABI_H */
