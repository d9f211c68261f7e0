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

struct ibv_mr *frdma_reg_mr(struct ibv_pd *ibvpd, void *addr, size_t length,
			    uint64_t iova, int access);
struct ibv_mr *frdma_reg_dmabuf_mr(struct ibv_pd *ibvpd, uint64_t offset,
				   size_t length, uint64_t iova, int fd,
				   int access);
int frdma_rereg_mr(struct verbs_mr *vmr, int flags, struct ibv_pd *ibvpd,
		   void *addr, size_t length, int access);
int frdma_dereg_mr(struct verbs_mr *vmr);
struct ibv_mr *frdma_import_mr(struct ibv_pd *ibvpd, uint32_t handle);
void frdma_unimport_mr(struct ibv_mr *ibvmr);
struct ibv_mw *frdma_alloc_mw(struct ibv_pd *ibvpd, enum ibv_mw_type type);
int frdma_dealloc_mw(struct ibv_mw *ibvmw);
int frdma_advise_mr(struct ibv_pd *ibvpd, enum ibv_advise_mr_advice advice,
		    uint32_t flags, struct ibv_sge *sg_list, uint32_t num_sge);

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

struct ibv_srq *frdma_create_srq(struct ibv_pd *ibvpd,
				 struct ibv_srq_init_attr *attr);
struct ibv_srq *frdma_create_srq_ex(struct ibv_context *ibvctx,
				    struct ibv_srq_init_attr_ex *attr);
int frdma_get_srq_num(struct ibv_srq *ibvsrq, uint32_t *srq_num);
int frdma_modify_srq(struct ibv_srq *ibvsrq, struct ibv_srq_attr *attr,
		     int attr_mask);
int frdma_query_srq(struct ibv_srq *ibvsrq, struct ibv_srq_attr *attr);
int frdma_destroy_srq(struct ibv_srq *ibvsrq);

struct ibv_xrcd *frdma_open_xrcd(struct ibv_context *ibvctx,
				 struct ibv_xrcd_init_attr *attr);
int frdma_close_xrcd(struct ibv_xrcd *ibvxrcd);
struct ibv_qp *frdma_open_qp(struct ibv_context *ibvctx,
			     struct ibv_qp_open_attr *attr);

struct ibv_ah *frdma_create_ah(struct ibv_pd *ibvpd, struct ibv_ah_attr *attr);
int frdma_destroy_ah(struct ibv_ah *ibvah);

#endif /* FRDMA_VERBS_H */
