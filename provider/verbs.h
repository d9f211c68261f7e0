/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Control path: each verb has the meaning, arguments and result of the
 * libibverbs call of its name.
 */
#ifndef FRDMA_VERBS_H
#define FRDMA_VERBS_H

#include <infiniband/driver.h>

int frdma_query_device_ex(struct ibv_context *ibvctx,
			  const struct ibv_query_device_ex_input *input,
			  struct ibv_device_attr_ex *attr, size_t attr_size);
int frdma_query_port(struct ibv_context *ibvctx, uint8_t port,
		     struct ibv_port_attr *attr);
int frdma_query_rt_values(struct ibv_context *ibvctx,
			  struct ibv_values_ex *values);

struct ibv_cq *frdma_create_cq(struct ibv_context *ibvctx, int cqe,
			       struct ibv_comp_channel *channel, int vector);
struct ibv_cq_ex *frdma_create_cq_ex(struct ibv_context *ibvctx,
				     struct ibv_cq_init_attr_ex *attr);
int frdma_req_notify_cq(struct ibv_cq *ibvcq, int solicited_only);
int frdma_modify_cq(struct ibv_cq *ibvcq, struct ibv_modify_cq_attr *attr);
int frdma_resize_cq(struct ibv_cq *ibvcq, int cqe);
int frdma_destroy_cq(struct ibv_cq *ibvcq);

struct ibv_qp *frdma_create_qp(struct ibv_pd *ibvpd,
			       struct ibv_qp_init_attr *attr);
struct ibv_qp *frdma_create_qp_ex(struct ibv_context *ibvctx,
				  struct ibv_qp_init_attr_ex *attr);
int frdma_modify_qp(struct ibv_qp *ibvqp, struct ibv_qp_attr *attr,
		    int attr_mask);
int frdma_query_qp(struct ibv_qp *ibvqp, struct ibv_qp_attr *attr,
		   int attr_mask, struct ibv_qp_init_attr *init_attr);
int frdma_query_ece(struct ibv_qp *ibvqp, struct ibv_ece *ece);
int frdma_set_ece(struct ibv_qp *ibvqp, struct ibv_ece *ece);
int frdma_destroy_qp(struct ibv_qp *ibvqp);

struct ibv_xrcd *frdma_open_xrcd(struct ibv_context *ibvctx,
				 struct ibv_xrcd_init_attr *attr);
int frdma_close_xrcd(struct ibv_xrcd *ibvxrcd);
struct ibv_qp *frdma_open_qp(struct ibv_context *ibvctx,
			     struct ibv_qp_open_attr *attr);

struct ibv_ah *frdma_create_ah(struct ibv_pd *ibvpd, struct ibv_ah_attr *attr);
int frdma_destroy_ah(struct ibv_ah *ibvah);

#endif /* FRDMA_VERBS_H */
