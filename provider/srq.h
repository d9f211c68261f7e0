/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Shared receive queues: each verb has the meaning, arguments and result of the
 * libibverbs call of its name.
 */
#ifndef FRDMA_PROVIDER_SRQ_H
#define FRDMA_PROVIDER_SRQ_H

#include <infiniband/driver.h>

struct ibv_srq *frdma_create_srq(struct ibv_pd *ibvpd,
				 struct ibv_srq_init_attr *attr);
struct ibv_srq *frdma_create_srq_ex(struct ibv_context *ibvctx,
				    struct ibv_srq_init_attr_ex *attr);
int frdma_get_srq_num(struct ibv_srq *ibvsrq, uint32_t *srq_num);
int frdma_modify_srq(struct ibv_srq *ibvsrq, struct ibv_srq_attr *attr,
		     int attr_mask);
int frdma_query_srq(struct ibv_srq *ibvsrq, struct ibv_srq_attr *attr);
int frdma_destroy_srq(struct ibv_srq *ibvsrq);

#endif /* FRDMA_PROVIDER_SRQ_H */
