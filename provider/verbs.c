// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <config.h>

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <time.h>

#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/rdma_user_ioctl.h>

#include "frdma.h"
#include "abi.h"
#include "cq.h"
#include "pd.h"
#include "qp.h"
#include "verbs.h"

/* The mask of a queue pair that libibverbs has not written to. */
#define MASK_UNTOUCHED	(~0u)

int frdma_query_device_ex(struct ibv_context *ibvctx,
			  const struct ibv_query_device_ex_input *input,
			  struct ibv_device_attr_ex *attr, size_t attr_size)
{
	struct ib_uverbs_ex_query_device_resp resp = {};
	size_t resp_size = sizeof(resp);
	uint64_t version;
	int err;

	err = ibv_cmd_query_device_any(ibvctx, input, attr, attr_size, &resp,
				       &resp_size);
	if (err)
		return err;

	version = resp.base.fw_ver;
	snprintf(attr->orig_attr.fw_ver, sizeof(attr->orig_attr.fw_ver),
		 "%" PRIu64 ".%" PRIu64 ".%" PRIu64, version >> 32,
		 version >> 16 & 0xffff, version & 0xffff);
	return 0;
}

int frdma_query_port(struct ibv_context *ibvctx, uint8_t port,
		     struct ibv_port_attr *attr)
{
	struct ibv_query_port cmd;

	return ibv_cmd_query_port(ibvctx, port, attr, &cmd, sizeof(cmd));
}

/*
 * The kernel reads the clock: clock_gettime() in a time namespace adds an
 * offset that completion timestamps lack. Older modules have no such method.
 */
static int read_clock(struct ibv_context *ibvctx, uint64_t *ns)
{
	struct {
		struct ib_uverbs_ioctl_hdr hdr;
		struct ib_uverbs_attr ns;
	} call = {
		.hdr = {
			.length		= sizeof(call),
			.object_id	= UVERBS_OBJECT_DEVICE,
			.method_id	= FRDMA_METHOD_DEVICE_CLOCK,
			.num_attrs	= 1,
			.driver_id	= FRDMA_DRIVER_ID,
		},
		.ns = {
			.attr_id	= FRDMA_ATTR_DEVICE_CLOCK_NS,
			.len		= sizeof(*ns),
			.flags		= UVERBS_ATTR_F_MANDATORY,
			.data		= (uintptr_t)ns,
		},
	};
	struct timespec now;

	if (!ioctl(ibvctx->cmd_fd, RDMA_VERBS_IOCTL, &call))
		return 0;
	if (errno != EOPNOTSUPP && errno != EPROTONOSUPPORT)
		return errno;
	if (clock_gettime(CLOCK_MONOTONIC_RAW, &now))
		return errno;

	*ns = now.tv_sec * UINT64_C(1000000000) + now.tv_nsec;
	return 0;
}

/*
 * Programs compare completion timestamps with tv_nsec alone, so it holds the
 * whole time where it has 64 bits, as that of adapters does.
 */
int frdma_query_rt_values(struct ibv_context *ibvctx,
			  struct ibv_values_ex *values)
{
	uint32_t wanted = values->comp_mask;
	uint64_t ns;
	int err;

	values->comp_mask = 0;
	if (!(wanted & IBV_VALUES_MASK_RAW_CLOCK))
		return 0;
	err = read_clock(ibvctx, &ns);
	if (err)
		return err;
	if (sizeof(values->raw_clock.tv_nsec) == sizeof(ns))
		values->raw_clock = (struct timespec) { .tv_nsec = ns };
	else
		values->raw_clock = (struct timespec) {
			.tv_sec		= ns / UINT64_C(1000000000),
			.tv_nsec	= ns % UINT64_C(1000000000),
		};

	values->comp_mask = IBV_VALUES_MASK_RAW_CLOCK;
	return 0;
}

static int cmd_create_cq(struct ibv_context *ibvctx,
			 struct ibv_cq_init_attr_ex *attr, struct frdma_cq *cq,
			 struct frdma_make_cq_resp *resp)
{
	struct frdma_make_cq cmd = {};

	return ibv_cmd_create_cq_ex(ibvctx, attr,
#if FRDMA_CREATE_CQ_MEMORY
				    NULL,
#endif
				    &cq->vcq, &cmd.ibv_cmd, sizeof(cmd),
				    &resp->ibv_resp, sizeof(*resp), 0);
}

/* The parent domain that a completion queue is made in, if there is one. */
static struct ibv_pd *cq_pd(const struct ibv_cq_init_attr_ex *attr)
{
	return attr->comp_mask & IBV_CQ_INIT_ATTR_MASK_PD ?
	       attr->parent_domain : NULL;
}

static bool cq_needs_lock(const struct ibv_cq_init_attr_ex *attr)
{
	if (attr->comp_mask & IBV_CQ_INIT_ATTR_MASK_FLAGS &&
	    attr->flags & IBV_CREATE_CQ_ATTR_SINGLE_THREADED)
		return false;

	return frdma_pd_needs_lock(cq_pd(attr));
}

static struct frdma_cq *create_cq(struct ibv_context *ibvctx,
				  struct ibv_cq_init_attr_ex *attr)
{
	struct frdma_make_cq_resp resp = {};
	struct frdma_pd *home;
	struct frdma_cq *cq;
	int err;

	cq = frdma_pd_alloc(cq_pd(attr), FRDMA_CQ_MEM, sizeof(*cq), &home);
	if (!cq)
		return NULL;

	cq->home = home;

	err = cmd_create_cq(ibvctx, attr, cq, &resp);
	if (err)
		goto err_free_cq;

	err = frdma_ring_map(&cq->ring, ibvctx->cmd_fd, &resp.cq);
	if (err)
		goto err_destroy_cq;

	frdma_lock_init(&cq->lock, cq_needs_lock(attr));
	frdma_lock_init(&cq->arm_lock, cq_needs_lock(attr));
	return cq;

err_destroy_cq:
	ibv_cmd_destroy_cq(&cq->vcq.cq);
err_free_cq:
	frdma_pd_free(cq->home, FRDMA_CQ_MEM, cq);
	errno = err;
	return NULL;
}

struct ibv_cq *frdma_create_cq(struct ibv_context *ibvctx, int cqe,
			       struct ibv_comp_channel *channel, int vector)
{
	struct ibv_cq_init_attr_ex attr = {
		.cqe		= cqe,
		.channel	= channel,
		.comp_vector	= vector,
	};
	struct frdma_cq *cq;

	cq = create_cq(ibvctx, &attr);
	return cq ? &cq->vcq.cq : NULL;
}

struct ibv_cq_ex *frdma_create_cq_ex(struct ibv_context *ibvctx,
				     struct ibv_cq_init_attr_ex *attr)
{
	struct frdma_cq *cq;

	if (attr->wc_flags & ~FRDMA_CQ_WC_FLAGS) {
		errno = EOPNOTSUPP;
		return NULL;
	}

	cq = create_cq(ibvctx, attr);
	if (!cq)
		return NULL;

	frdma_cq_set_readers(&cq->vcq.cq_ex, attr->wc_flags);
	return &cq->vcq.cq_ex;
}

/* The ring may be replaced by another thread, but not meanwhile. */
int frdma_req_notify_cq(struct ibv_cq *ibvcq, int solicited_only)
{
	struct frdma_cq *cq = to_frdma_cq(ibvcq);

	frdma_lock(&cq->arm_lock);
	frdma_ring_arm(&cq->ring, solicited_only ? FRDMA_ARM_SOLICITED :
						   FRDMA_ARM_NEXT);
	frdma_unlock(&cq->arm_lock);
	return 0;
}

int frdma_modify_cq(struct ibv_cq *ibvcq, struct ibv_modify_cq_attr *attr)
{
	struct ibv_modify_cq cmd = {};

	return ibv_cmd_modify_cq(ibvcq, attr, &cmd, sizeof(cmd));
}

/*
 * The kernel moves what was not polled to a new ring. Nobody may poll the old
 * one meanwhile. If the new one cannot be mapped the queue is of no more use:
 * what arrives from then on goes where this process cannot see it.
 */
int frdma_resize_cq(struct ibv_cq *ibvcq, int cqe)
{
	struct frdma_cq *cq = to_frdma_cq(ibvcq);
	struct frdma_regrow_cq_resp resp = {};
	struct frdma_regrow_cq cmd = {};
	struct frdma_ring ring;
	int err;

	frdma_lock(&cq->lock);
	frdma_lock(&cq->arm_lock);
	err = ibv_cmd_resize_cq(ibvcq, cqe, &cmd.ibv_cmd, sizeof(cmd),
				&resp.ibv_resp, sizeof(resp));
	if (err)
		goto out_unlock;

	err = frdma_ring_map(&ring, ibvcq->context->cmd_fd, &resp.cq);
	if (err)
		goto out_unlock;

	frdma_ring_unmap(&cq->ring);
	cq->ring = ring;
	cq->at = ring.index;
out_unlock:
	frdma_unlock(&cq->arm_lock);
	frdma_unlock(&cq->lock);
	return err;
}

int frdma_destroy_cq(struct ibv_cq *ibvcq)
{
	struct frdma_cq *cq = to_frdma_cq(ibvcq);
	int err;

	err = ibv_cmd_destroy_cq(ibvcq);
	if (err)
		return err;

	frdma_ring_unmap(&cq->ring);
	frdma_lock_destroy(&cq->arm_lock);
	frdma_lock_destroy(&cq->lock);
	frdma_pd_free(cq->home, FRDMA_CQ_MEM, cq);
	return 0;
}

static int check_qp_attr(const struct ibv_qp_init_attr_ex *attr)
{
	if (!check_comp_mask(attr->comp_mask,
			     IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_XRCD |
			     IBV_QP_INIT_ATTR_SEND_OPS_FLAGS))
		return EOPNOTSUPP;

	switch (attr->qp_type) {
	case IBV_QPT_RC:
	case IBV_QPT_UC:
	case IBV_QPT_UD:
	case IBV_QPT_XRC_SEND:
	case IBV_QPT_XRC_RECV:
		break;
	default:
		return EOPNOTSUPP;
	}

	if (attr->comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS &&
	    attr->send_ops_flags & ~frdma_qp_send_ops(attr->qp_type))
		return EOPNOTSUPP;

	return 0;
}

/* The target of an extended reliable connection is in no domain. */
static struct ibv_pd *qp_pd(const struct ibv_qp_init_attr_ex *attr)
{
	return attr->comp_mask & IBV_QP_INIT_ATTR_PD ? attr->pd : NULL;
}

static int map_qp(struct frdma_qp *qp, const struct frdma_make_qp_resp *resp,
		  const struct ibv_qp_init_attr_ex *attr)
{
	struct ibv_context *ibvctx = qp->vqp.qp.context;
	bool locked = frdma_pd_needs_lock(qp_pd(attr));
	int err;

	err = frdma_ring_map(&qp->sq.ring, ibvctx->cmd_fd, &resp->sq);
	if (err)
		return err;

	err = frdma_ring_map(&qp->rq.ring, ibvctx->cmd_fd, &resp->rq);
	if (err)
		goto err_unmap_sq;

	qp->sq.max_sge = attr->cap.max_send_sge;
	qp->sq.max_inline = attr->cap.max_inline_data;
	qp->rq.max_sge = attr->cap.max_recv_sge;
	frdma_lock_init(&qp->sq.lock, locked);
	frdma_lock_init(&qp->rq.lock, locked);
	return 0;

err_unmap_sq:
	frdma_ring_unmap(&qp->sq.ring);
	return err;
}

static_assert(offsetof(struct verbs_qp, xrcd) ==
	      offsetof(struct verbs_qp, comp_mask) + sizeof(void (*)(void)),
	      "mask");

/*
 * The mask is how libibverbs knows of a builder, and it has cleared it. That of
 * 56.1 has wr_flush in front of it, that of 44.0 has not, under one private ABI:
 * built for 44.0, we find the mask where our next member begins.
 */
static void offer_builder(struct frdma_qp *qp, uint64_t ops)
{
	uint32_t *mask = &qp->vqp.comp_mask;

	if (*mask == MASK_UNTOUCHED) {
		*mask = 0;
		mask = (uint32_t *)&qp->vqp.xrcd;
	}
	*mask |= VERBS_QP_EX;
	frdma_qp_set_send_ops(&qp->vqp.qp_ex, ops);
}

static struct frdma_qp *create_qp(struct ibv_context *ibvctx,
				  struct ibv_qp_init_attr_ex *attr)
{
	struct frdma_make_qp_resp resp = {};
	struct frdma_make_qp cmd = {};
	struct frdma_pd *home;
	struct frdma_qp *qp;
	int err;

	err = check_qp_attr(attr);
	if (err)
		goto err_errno;

	qp = frdma_pd_alloc(qp_pd(attr), FRDMA_QP_MEM, sizeof(*qp), &home);
	if (!qp)
		return NULL;

	qp->home = home;
	qp->vqp.comp_mask = MASK_UNTOUCHED;
	err = ibv_cmd_create_qp_ex(ibvctx, &qp->vqp, attr, &cmd.ibv_cmd,
				   sizeof(cmd), &resp.ibv_resp, sizeof(resp));
	if (err)
		goto err_free_qp;

	/* From here on attr->cap is what the kernel granted. */
	err = map_qp(qp, &resp, attr);
	if (err)
		goto err_destroy_qp;

	if (attr->comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS)
		offer_builder(qp, attr->send_ops_flags);
	return qp;

err_destroy_qp:
	ibv_cmd_destroy_qp(&qp->vqp.qp);
err_free_qp:
	frdma_pd_free(qp->home, FRDMA_QP_MEM, qp);
err_errno:
	errno = err;
	return NULL;
}

struct ibv_qp *frdma_create_qp_ex(struct ibv_context *ibvctx,
				  struct ibv_qp_init_attr_ex *attr)
{
	struct ibv_qp_init_attr_ex known = *attr;
	struct frdma_qp *qp;

	/* Programs that know flags say so, even if they want none. */
	if (!attr->create_flags)
		known.comp_mask &= ~IBV_QP_INIT_ATTR_CREATE_FLAGS;

	qp = create_qp(ibvctx, &known);
	if (!qp)
		return NULL;

	attr->cap = known.cap;
	return &qp->vqp.qp;
}

struct ibv_qp *frdma_create_qp(struct ibv_pd *ibvpd,
			       struct ibv_qp_init_attr *attr)
{
	struct ibv_qp_init_attr_ex attr_ex = {
		.qp_context	= attr->qp_context,
		.send_cq	= attr->send_cq,
		.recv_cq	= attr->recv_cq,
		.srq		= attr->srq,
		.cap		= attr->cap,
		.qp_type	= attr->qp_type,
		.sq_sig_all	= attr->sq_sig_all,
		.comp_mask	= IBV_QP_INIT_ATTR_PD,
		.pd		= ibvpd,
	};
	struct frdma_qp *qp;

	qp = create_qp(ibvpd->context, &attr_ex);
	if (!qp)
		return NULL;

	attr->cap = attr_ex.cap;
	return &qp->vqp.qp;
}

/*
 * A queue pair that is reset or destroyed leaves nothing behind (10.2.4.4). XRC
 * has one queue only or, in the target, none: what that received belongs to
 * shared receive queues.
 */
static void forget_completions(const struct ibv_qp *ibvqp)
{
	if (ibvqp->qp_type == IBV_QPT_XRC_RECV)
		return;
	if (ibvqp->send_cq)
		frdma_cq_forget(ibvqp->send_cq, ibvqp->qp_num);
	if (ibvqp->qp_type == IBV_QPT_XRC_SEND)
		return;
	if (ibvqp->recv_cq && ibvqp->recv_cq != ibvqp->send_cq)
		frdma_cq_forget(ibvqp->recv_cq, ibvqp->qp_num);
}

int frdma_modify_qp(struct ibv_qp *ibvqp, struct ibv_qp_attr *attr,
		    int attr_mask)
{
	struct ibv_modify_qp cmd = {};
	int err;

	err = ibv_cmd_modify_qp(ibvqp, attr, attr_mask, &cmd, sizeof(cmd));
	if (!err && attr_mask & IBV_QP_STATE && attr->qp_state == IBV_QPS_RESET)
		forget_completions(ibvqp);

	return err;
}

int frdma_query_qp(struct ibv_qp *ibvqp, struct ibv_qp_attr *attr,
		   int attr_mask, struct ibv_qp_init_attr *init_attr)
{
	struct ibv_query_qp cmd;

	return ibv_cmd_query_qp(ibvqp, attr, attr_mask, init_attr,
				&cmd, sizeof(cmd));
}

/*
 * We have no enhancements of connections, but a name: rdma_cm compares it with
 * the peer's, and takes none for an error.
 */
int frdma_query_ece(struct ibv_qp *ibvqp, struct ibv_ece *ece)
{
	(void)ibvqp;

	*ece = (struct ibv_ece) { .vendor_id = FRDMA_VENDOR_ID };
	return 0;
}

/* What was asked for is replaced by what is accepted, which is nothing. */
int frdma_set_ece(struct ibv_qp *ibvqp, struct ibv_ece *ece)
{
	(void)ibvqp;

	if (ece->vendor_id != FRDMA_VENDOR_ID || ece->comp_mask)
		return EINVAL;

	ece->options = 0;
	return 0;
}

int frdma_destroy_qp(struct ibv_qp *ibvqp)
{
	struct frdma_qp *qp = to_frdma_qp(ibvqp);
	int err;

	err = ibv_cmd_destroy_qp(ibvqp);
	if (err)
		return err;

	forget_completions(ibvqp);
	frdma_ring_unmap(&qp->sq.ring);
	frdma_ring_unmap(&qp->rq.ring);
	frdma_lock_destroy(&qp->sq.lock);
	frdma_lock_destroy(&qp->rq.lock);
	frdma_pd_free(qp->home, FRDMA_QP_MEM, qp);
	return 0;
}

struct ibv_ah *frdma_create_ah(struct ibv_pd *ibvpd, struct ibv_ah_attr *attr)
{
	struct frdma_make_ah_resp resp = {};
	struct frdma_ah *ah;

	ah = calloc(1, sizeof(*ah));
	if (!ah)
		return NULL;

	if (ibv_cmd_create_ah(ibvpd, &ah->ibvah, attr, &resp.ibv_resp,
			      sizeof(resp)))
		goto err_free_ah;

	ah->number = resp.ah;
	return &ah->ibvah;

err_free_ah:
	free(ah);
	return NULL;
}

int frdma_destroy_ah(struct ibv_ah *ibvah)
{
	int err;

	err = ibv_cmd_destroy_ah(ibvah);
	if (err)
		return err;

	free(to_frdma_ah(ibvah));
	return 0;
}
