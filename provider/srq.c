// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <config.h>

#include <errno.h>
#include <stddef.h>

#include "frdma.h"
#include "abi.h"
#include "pd.h"
#include "srq.h"

struct ibv_srq *frdma_create_srq(struct ibv_pd *ibvpd,
				 struct ibv_srq_init_attr *attr)
{
	struct frdma_make_srq_resp resp = {};
	struct frdma_make_srq cmd = {};
	struct frdma_srq *srq;
	struct frdma_pd *home;
	int err;

	srq = frdma_pd_alloc(ibvpd, FRDMA_SRQ_MEM, sizeof(*srq), &home);
	if (!srq)
		return NULL;

	srq->home = home;
	err = ibv_cmd_create_srq(ibvpd, &srq->vsrq.srq, attr, &cmd.ibv_cmd,
				 sizeof(cmd), &resp.ibv_resp, sizeof(resp));
	if (err)
		goto err_free_srq;

	/* From here on attr->attr is what the kernel granted. */
	err = frdma_ring_map(&srq->rq.ring, ibvpd->context->cmd_fd, &resp.srq);
	if (err)
		goto err_destroy_srq;

	srq->rq.max_sge = attr->attr.max_sge;
	frdma_lock_init(&srq->rq.lock, frdma_pd_needs_lock(ibvpd));
	return &srq->vsrq.srq;

err_destroy_srq:
	ibv_cmd_destroy_srq(&srq->vsrq.srq);
err_free_srq:
	frdma_pd_free(srq->home, FRDMA_SRQ_MEM, srq);
	errno = err;
	return NULL;
}

static int check_srq_attr(const struct ibv_srq_init_attr_ex *attr)
{
	if (!check_comp_mask(attr->comp_mask,
			     IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD |
			     IBV_SRQ_INIT_ATTR_XRCD | IBV_SRQ_INIT_ATTR_CQ))
		return EOPNOTSUPP;
	if ((attr->comp_mask & IBV_SRQ_INIT_ATTR_TYPE) &&
	    attr->srq_type != IBV_SRQT_BASIC && attr->srq_type != IBV_SRQT_XRC)
		return EOPNOTSUPP;
	if (!(attr->comp_mask & IBV_SRQ_INIT_ATTR_PD))
		return EINVAL;
	return 0;
}

/* What libibverbs sets in a queue made by frdma_create_srq() is set here. */
struct ibv_srq *frdma_create_srq_ex(struct ibv_context *ibvctx,
				    struct ibv_srq_init_attr_ex *attr)
{
	struct frdma_make_xsrq_resp resp = {};
	struct frdma_make_xsrq cmd = {};
	struct frdma_srq *srq;
	struct frdma_pd *home;
	int err;

	err = check_srq_attr(attr);
	if (err)
		goto err_errno;

	srq = frdma_pd_alloc(attr->pd, FRDMA_SRQ_MEM, sizeof(*srq), &home);
	if (!srq)
		return NULL;

	srq->home = home;
	err = ibv_cmd_create_srq_ex(ibvctx, &srq->vsrq, attr, &cmd.ibv_cmd,
				    sizeof(cmd), &resp.ibv_resp, sizeof(resp));
	if (err)
		goto err_free_srq;

	err = frdma_ring_map(&srq->rq.ring, ibvctx->cmd_fd, &resp.srq);
	if (err)
		goto err_destroy_srq;

	srq->vsrq.srq.srq_context = attr->srq_context;
	srq->vsrq.srq.pd = attr->pd;
	srq->rq.max_sge = attr->attr.max_sge;
	frdma_lock_init(&srq->rq.lock, frdma_pd_needs_lock(attr->pd));
	return &srq->vsrq.srq;

err_destroy_srq:
	ibv_cmd_destroy_srq(&srq->vsrq.srq);
err_free_srq:
	frdma_pd_free(srq->home, FRDMA_SRQ_MEM, srq);
err_errno:
	errno = err;
	return NULL;
}

/*
 * A module that is older than frdma_modify_srq.resp_len refuses a longer command. Its
 * response is as long as that of the shorter one.
 */
static int change_srq(struct ibv_srq *ibvsrq, struct ibv_srq_attr *attr,
		      int attr_mask, struct frdma_change_srq *cmd)
{
	size_t old_size = offsetof(struct frdma_change_srq, resp_len);
	int err;

	err = ibv_cmd_modify_srq(ibvsrq, attr, attr_mask, &cmd->ibv_cmd,
				 sizeof(*cmd));
	if (err != EOPNOTSUPP)
		return err;
	return ibv_cmd_modify_srq(ibvsrq, attr, attr_mask, &cmd->ibv_cmd,
				  old_size);
}

/*
 * The kernel moves what was not taken to a new ring, where indices go on
 * counting. Nobody may post to the old one meanwhile. If the new one cannot be
 * mapped the queue is of no more use: posts find the old one given up (EIO).
 */
static int resize_srq(struct ibv_srq *ibvsrq, struct ibv_srq_attr *attr,
		      int attr_mask)
{
	struct frdma_rq *rq = &to_frdma_srq(ibvsrq)->rq;
	struct frdma_modify_srq_resp resp = {};
	struct frdma_change_srq cmd = {
		.resp_addr	= (uintptr_t)&resp,
		.resp_len	= sizeof(resp),
	};
	struct frdma_ring ring;
	int err;

	frdma_lock(&rq->lock);
	err = change_srq(ibvsrq, attr, attr_mask, &cmd);
	if (err)
		goto out_unlock;

	/* How much is free is asked anew, of the old one too. */
	rq->ring.end = rq->ring.index;
	err = frdma_ring_map(&ring, ibvsrq->context->cmd_fd, &resp.srq);
	if (err)
		goto out_unlock;

	ring.index = rq->ring.index;
	ring.end = rq->ring.index;
	frdma_ring_unmap(&rq->ring);
	rq->ring = ring;
out_unlock:
	frdma_unlock(&rq->lock);
	return err;
}

int frdma_modify_srq(struct ibv_srq *ibvsrq, struct ibv_srq_attr *attr,
		     int attr_mask)
{
	struct ibv_modify_srq cmd = {};

	if (attr_mask & IBV_SRQ_MAX_WR)
		return resize_srq(ibvsrq, attr, attr_mask);

	return ibv_cmd_modify_srq(ibvsrq, attr, attr_mask, &cmd, sizeof(cmd));
}

int frdma_query_srq(struct ibv_srq *ibvsrq, struct ibv_srq_attr *attr)
{
	struct ibv_query_srq cmd = {};

	return ibv_cmd_query_srq(ibvsrq, attr, &cmd, sizeof(cmd));
}

int frdma_get_srq_num(struct ibv_srq *ibvsrq, uint32_t *srq_num)
{
	const struct verbs_srq *vsrq = &to_frdma_srq(ibvsrq)->vsrq;

	if (vsrq->srq_type != IBV_SRQT_XRC)
		return EOPNOTSUPP;

	*srq_num = vsrq->srq_num;
	return 0;
}

int frdma_destroy_srq(struct ibv_srq *ibvsrq)
{
	struct frdma_srq *srq = to_frdma_srq(ibvsrq);
	int err;

	err = ibv_cmd_destroy_srq(ibvsrq);
	if (err)
		return err;

	frdma_ring_unmap(&srq->rq.ring);
	frdma_lock_destroy(&srq->rq.lock);
	frdma_pd_free(srq->home, FRDMA_SRQ_MEM, srq);
	return 0;
}
