// SPDX-License-Identifier: GPL-2.0
#include <linux/log2.h>
#include <linux/slab.h>
#include <rdma/uverbs_ioctl.h>

#include "completer.h"
#include "dev.h"
#include "limit.h"
#include "mw.h"
#include "net.h"
#include "poller.h"
#include "proto/wire.h"
#include "qp.h"
#include "refuse.h"
#include "requester.h"
#include "responder.h"
#include "srq.h"
#include "trace.h"
#include "uc.h"
#include "uapi/frdma-abi.h"
#include "uctx.h"
#include "ud.h"
#include "verbs_dev.h"
#include "verbs_qp.h"
#include "xrc.h"

static int check_type(const struct ib_device *ib,
		      const struct ib_qp_init_attr *init, bool user)
{
	switch (init->qp_type) {
	case IB_QPT_XRC_INI:
		/* No work request of the kernel's can name a queue. */
		if (user)
			return 0;
		break;
	case IB_QPT_RC:
	case IB_QPT_UC:
	case IB_QPT_UD:
	case IB_QPT_XRC_TGT:
		return 0;
	case IB_QPT_GSI:
		if (!init->srq)
			return 0;
		break;
	default:
		break;
	}
	return frdma_refuse(ib, -EOPNOTSUPP,
			    "create_qp: type %d does not exist here",
			    init->qp_type);
}

/* An attribute that means nothing for this queue pair has no maximum. */
static int check_cap(const struct ib_device *ib, bool counts, const char *name,
		     u32 value, u32 max)
{
	if (!counts || value <= max)
		return 0;
	return frdma_refuse(ib, -EINVAL, "create_qp: %s %u exceeds %u", name,
			    value, max);
}

static int check_init(const struct ib_device *ib,
		      const struct ib_qp_init_attr *init, bool user)
{
	const struct ib_qp_cap *cap = &init->cap;
	/* IBTA 11.2.4.1: an SRQ takes the place of the receive queue. */
	bool has_rq = !init->srq;
	int err;

	err = check_type(ib, init, user);
	if (err)
		return err;
	if (init->create_flags)
		return frdma_refuse(ib, -EOPNOTSUPP,
				    "create_qp: create_flags 0x%x are unknown",
				    init->create_flags);
	/* An XRC target has neither queues nor capabilities. */
	if (init->qp_type == IB_QPT_XRC_TGT)
		return 0;
	if (!init->send_cq ||
	    (!init->recv_cq && init->qp_type != IB_QPT_XRC_INI))
		return frdma_refuse(ib, -EINVAL, "create_qp: a CQ is missing");

	return check_cap(ib, true, "max_send_wr", cap->max_send_wr,
			 FRDMA_MAX_QP_WR) ?:
	       check_cap(ib, true, "max_send_sge", cap->max_send_sge,
			 FRDMA_MAX_SGE) ?:
	       check_cap(ib, true, "max_inline_data", cap->max_inline_data,
			 FRDMA_MAX_INLINE_BYTES) ?:
	       check_cap(ib, has_rq, "max_recv_wr", cap->max_recv_wr,
			 FRDMA_MAX_QP_WR) ?:
	       check_cap(ib, has_rq, "max_recv_sge", cap->max_recv_sge,
			 FRDMA_MAX_SGE);
}

static u32 ring_entries(u32 max_wr)
{
	return roundup_pow_of_two(max(max_wr, 1U));
}

/* Bytes behind the fixed part of a send work request. */
static u32 send_extra(const struct frdma_qp *qp)
{
	u32 sges = qp->sq.max_sge * sizeof(struct frdma_sge);
	u32 extra = max(sges, qp->sq.max_inline);

	if (qp->sq.has_av)
		extra += sizeof(struct frdma_av);
	return ALIGN(extra, 64);
}

/*
 * Copies of what is in flight, or soon will be: a longer ring needs no more of
 * them, as the requester fetches from it when there is room.
 */
static int alloc_slots(struct frdma_qp *qp, u32 entries,
		       struct frdma_account *account)
{
	struct frdma_req *req = &qp->sq.req;
	u32 slots = min_t(u32, entries, FRDMA_SLOTS_MAX);

	req->stride = sizeof(struct frdma_swr) + send_extra(qp);
	req->mask = slots - 1;
	if (!frdma_charge(&qp->sq.slots_charge, account,
			  (u64)slots * req->stride))
		return -ENOMEM;
	req->slots = kvcalloc(slots, req->stride, FRDMA_GFP_OBJECT);
	return req->slots ? 0 : -ENOMEM;
}

static int create_sq(struct frdma_qp *qp, struct ib_qp_init_attr *init,
		     struct ib_ucontext *uctx, struct frdma_ring_desc *desc)
{
	u32 entries = ring_entries(init->cap.max_send_wr);
	struct frdma_sq *sq = &qp->sq;
	struct frdma_req *req = &sq->req;
	int err;

	sq->max_sge = max(init->cap.max_send_sge, 1U);
	sq->max_inline = max_t(u32, init->cap.max_inline_data,
			       sq->max_sge * sizeof(struct frdma_sge));
	sq->max_inline = min_t(u32, sq->max_inline, FRDMA_MAX_INLINE_BYTES);
	sq->has_av = !qp->user && !frdma_qp_is_connected(qp);
	sq->signal_all = init->sq_sig_type == IB_SIGNAL_ALL_WR;
	sq->cq = to_frdma_cq(init->send_cq);

	err = frdma_ring_create(&sq->ring, uctx, entries,
				sizeof(struct frdma_send_wqe) + send_extra(qp),
				desc);
	if (err)
		return err;

	req->transport = frdma_qp_transport(qp);
	req->pkey = FRDMA_PKEY_DEFAULT;
	return alloc_slots(qp, entries, frdma_uctx_account(uctx));
}

static int create_rq_ring(struct frdma_rq *rq,
			  const struct ib_qp_init_attr *init,
			  struct ib_ucontext *uctx,
			  struct frdma_ring_desc *desc)
{
	return frdma_ring_create(&rq->ring, uctx,
				 ring_entries(init->cap.max_recv_wr),
				 sizeof(struct frdma_recv_wqe) +
				 rq->max_sge * sizeof(struct frdma_sge), desc);
}

static int create_rq(struct frdma_qp *qp, struct ib_qp_init_attr *init,
		     struct ib_ucontext *uctx, struct frdma_ring_desc *desc)
{
	struct frdma_rq *rq = &qp->rq;
	int err = 0;

	rq->cq = to_frdma_cq(init->recv_cq);
	if (init->srq) {
		rq->srq = to_frdma_srq(init->srq);
		rq->pd = init->srq->pd;
		rq->max_sge = rq->srq->max_sge;
	} else {
		rq->pd = qp->pd;
		rq->max_sge = max(init->cap.max_recv_sge, 1U);
		err = create_rq_ring(rq, init, uctx, desc);
	}
	if (err)
		return err;

	rq->cur = kzalloc(struct_size(rq->cur, sge, rq->max_sge),
			  FRDMA_GFP_OBJECT);
	return rq->cur ? 0 : -ENOMEM;
}

/* Whichever queue it takes from, there is room for the request. */
static int create_target(struct frdma_qp *qp)
{
	struct frdma_rq *rq = &qp->rq;

	rq->cur = kzalloc(struct_size(rq->cur, sge, FRDMA_MAX_SRQ_SGE),
			  FRDMA_GFP_OBJECT);
	return rq->cur ? 0 : -ENOMEM;
}

static int create_queues(struct frdma_qp *qp, struct ib_qp_init_attr *init,
			 struct ib_ucontext *uctx,
			 struct frdma_create_qp_resp *resp)
{
	int err;

	if (qp->type == IB_QPT_XRC_TGT)
		return create_target(qp);

	err = create_sq(qp, init, uctx, uctx ? &resp->sq : NULL);
	if (err || qp->type == IB_QPT_XRC_INI)
		return err;
	return create_rq(qp, init, uctx, uctx ? &resp->rq : NULL);
}

/* Owners of packets: of requests; of answers, and of notifications. */
static int create_owners(struct frdma_qp *qp)
{
	const struct sock *like = frdma_net_socket(qp->dev->net);
	int err = 0;

	if (qp->type != IB_QPT_XRC_TGT)
		err = frdma_queued_init(&qp->sq.queued, &qp->sq.side, like);
	if (!err && frdma_qp_is_connected(qp) && qp->type != IB_QPT_XRC_INI)
		err = frdma_queued_init(&qp->rq.queued, &qp->rq.side, like);
	return err;
}

static void free_memory(struct frdma_qp *qp)
{
	frdma_queued_end(&qp->rq.queued);
	frdma_queued_end(&qp->sq.queued);
	kfree(qp->rq.resp.res);
	frdma_uncharge(&qp->rq.res_charge);
	kfree(qp->rq.cur);
	frdma_ring_destroy(&qp->rq.ring);
	kvfree(qp->sq.req.slots);
	frdma_uncharge(&qp->sq.slots_charge);
	frdma_ring_destroy(&qp->sq.ring);
	frdma_route_forget(&qp->rq.route);
	frdma_route_forget(&qp->sq.route);
}

static void init_sides(struct frdma_qp *qp)
{
	if (qp->type == IB_QPT_XRC_TGT)
		frdma_side_init(&qp->sq.side, frdma_side_take_packets,
				frdma_xrc_stray_answer);
	else
		frdma_side_init(&qp->sq.side, frdma_requester_step,
				frdma_completer_packet);

	switch (frdma_qp_transport(qp)) {
	case FRDMA_RC:
		frdma_side_init(&qp->rq.side, frdma_responder_step,
				frdma_responder_packet);
		break;
	case FRDMA_UC:
		frdma_side_init(&qp->rq.side, frdma_ud_step, frdma_uc_packet);
		break;
	case FRDMA_XRC:
		if (qp->type == IB_QPT_XRC_TGT)
			frdma_side_init(&qp->rq.side, frdma_xrc_target_step,
					frdma_responder_packet);
		else
			frdma_side_init(&qp->rq.side, frdma_side_take_packets,
					frdma_xrc_stray_request);
		break;
	default:
		frdma_side_init(&qp->rq.side, frdma_ud_step, frdma_ud_packet);
		break;
	}
	frdma_side_set_pool(&qp->sq.side, &qp->charge, &qp->dev->ahead_bytes);
	frdma_side_set_pool(&qp->rq.side, &qp->charge, &qp->dev->ahead_bytes);
}

static void report_caps(const struct frdma_qp *qp, struct ib_qp_cap *cap)
{
	cap->max_send_wr = qp->sq.ring.entries;
	cap->max_recv_wr = qp->rq.ring.entries;
	cap->max_send_sge = qp->sq.max_sge;
	cap->max_recv_sge = qp->rq.ring.entries ? qp->rq.max_sge : 0;
	cap->max_inline_data = qp->sq.max_inline;
}

static struct frdma_qp *alloc_qp(struct ib_qp *ib,
				 struct ib_qp_init_attr *init,
				 struct ib_udata *udata)
{
	struct frdma_qp *qp = frdma_qp_alloc();

	if (!qp)
		return NULL;
	qp->dev = to_frdma(ib->device);
	qp->stats = qp->dev->stats;
	qp->ib = ib;
	qp->type = init->qp_type;
	qp->pd = ib->pd;
	qp->xrcd = init->xrcd;
	qp->user = udata || qp->type == IB_QPT_XRC_TGT;
	qp->rq.resp.transport = frdma_qp_transport(qp);
	frdma_qp_init(qp);
	init_sides(qp);
	return qp;
}

/* A socket of UDP, as each side has one (queued.h). */
#define SOCKET_BYTES	1536

/* With the receive request at hand. */
#define QP_BYTES	(sizeof(struct frdma_ib_qp) + sizeof(struct frdma_qp) + \
			 2 * SOCKET_BYTES +				\
			 sizeof(struct frdma_rwr) +			\
			 FRDMA_MAX_SGE * sizeof(struct frdma_sge))

/**
 * frdma_create_qp - verb
 * @ib: queue pair, of which ib_core has set the parents
 * @init: what is wanted; its cap is set to what is given
 * @udata: driver data of a process, NULL for a consumer in the kernel
 *
 * Context: may sleep. Return: 0; -EINVAL beyond an advertised maximum;
 * -EOPNOTSUPP for kinds of queue pairs that do not exist here; -ENOMEM;
 * -EFAULT.
 */
int frdma_create_qp(struct ib_qp *ib, struct ib_qp_init_attr *init,
		    struct ib_udata *udata)
{
	struct frdma_uctx *uctx = rdma_udata_to_drv_context(udata,
						struct frdma_uctx, ib);
	struct frdma_dev *dev = to_frdma(ib->device);
	struct frdma_create_qp_resp resp = { };
	struct ib_ucontext *ib_uctx = uctx ? &uctx->ib : NULL;
	struct frdma_charge charge;
	struct frdma_qp *qp;
	int err;

	err = check_init(ib->device, init, udata) ?: frdma_check_request(udata);
	if (err)
		return err;
	if (!frdma_limit_take(&dev->nr_qp, FRDMA_MAX_QP, FRDMA_POOL_QP,
			      &charge, frdma_uctx_account(ib_uctx), QP_BYTES))
		return -ENOMEM;

	err = -ENOMEM;
	qp = alloc_qp(ib, init, udata);
	if (!qp)
		goto err_limit_give;
	qp->charge = charge;
	err = create_queues(qp, init, ib_uctx, &resp) ?: create_owners(qp);
	if (err)
		goto err_free;
	err = frdma_respond(udata, &resp, sizeof(resp));
	if (err)
		goto err_free;

	mutex_init(&to_frdma_ib_qp(ib)->change);
	mutex_init(&to_frdma_ib_qp(ib)->mutex);
	to_frdma_ib_qp(ib)->qp = qp;
	err = frdma_qp_publish(qp);
	if (err)
		goto err_free;

	ib->qp_num = qp->qpn;
	report_caps(qp, &init->cap);
	trace_frdma_qp_state(dev->ndev->ifindex, qp->qpn, IB_QPS_RESET,
			     IB_QPS_RESET);
	return 0;

err_free:
	free_memory(qp);
	frdma_qp_free(qp);
err_limit_give:
	frdma_limit_give(&dev->nr_qp, FRDMA_POOL_QP, &charge);
	return err;
}

static void query(const struct frdma_qp *qp, struct ib_qp_attr *attr,
		  struct ib_qp_init_attr *init)
{
	const struct ib_qp *ib = qp->ib;

	*attr = qp->attr;
	attr->qp_state = frdma_qp_state(qp);
	attr->cur_qp_state = attr->qp_state;
	attr->sq_draining = attr->qp_state == IB_QPS_SQD &&
			    !frdma_glance(qp->sq.drained);
	attr->path_mig_state = IB_MIG_MIGRATED;
	attr->sq_psn = frdma_glance(qp->sq.req.psn);
	attr->rq_psn = frdma_glance(qp->rq.resp.epsn);
	if (frdma_qp_is_connected(qp))
		frdma_av_to_attr(&qp->path.av, &attr->ah_attr);

	report_caps(qp, &attr->cap);
	init->event_handler = ib->event_handler;
	init->qp_context = ib->qp_context;
	init->send_cq = ib->send_cq;
	init->recv_cq = ib->recv_cq;
	init->srq = ib->srq;
	init->cap = attr->cap;
	init->sq_sig_type = qp->sq.signal_all ? IB_SIGNAL_ALL_WR :
						IB_SIGNAL_REQ_WR;
	init->qp_type = qp->type;
}

/*
 * For "rdma resource" the core passes an empty mask, and shows any user the
 * result. A sender that knows the number of a queue pair and a PSN can speak for
 * its peer.
 */
static bool may_see_psns(int mask)
{
	return mask || ns_capable_noaudit(&init_user_ns, CAP_NET_ADMIN);
}

/**
 * frdma_query_qp - verb
 * @ib: queue pair
 * @attr: set to its attributes
 * @mask: which of them are wanted; all are given, but see may_see_psns()
 * @init: set to what it was created with
 *
 * The core asks this also for "rdma resource", and does not keep destroy
 * away then.
 *
 * Context: may sleep. Return: 0; -EAGAIN if it was destroyed, on which the
 * core leaves it out.
 */
int frdma_query_qp(struct ib_qp *ib, struct ib_qp_attr *attr, int mask,
		   struct ib_qp_init_attr *init)
{
	struct frdma_ib_qp *ibqp = to_frdma_ib_qp(ib);
	int err = -EAGAIN;

	mutex_lock(&ibqp->mutex);
	if (ibqp->qp) {
		query(ibqp->qp, attr, init);
		if (!may_see_psns(mask)) {
			attr->sq_psn = 0;
			attr->rq_psn = 0;
		}
		err = 0;
	}
	mutex_unlock(&ibqp->mutex);
	return err;
}

/**
 * frdma_destroy_qp - verb
 * @ib: queue pair
 * @udata: driver data of a process; there is none
 *
 * Context: may sleep. Return: 0; -EBUSY if it is attached to a multicast group.
 */
int frdma_destroy_qp(struct ib_qp *ib, struct ib_udata *udata)
{
	struct frdma_ib_qp *ibqp = to_frdma_ib_qp(ib);
	struct frdma_qp *qp = ibqp->qp;
	struct frdma_dev *dev = qp->dev;

	if (READ_ONCE(qp->nr_groups))
		return -EBUSY;

	frdma_qp_unpublish(qp);
	frdma_poller_forget(qp);
	mutex_lock(&ibqp->change);

	/* What one doorbell would have sent leaves, if the link does not go. */
	frdma_qp_claim(qp, READ_ONCE(dev->going) ? 0 : 1);
	frdma_qp_forget_pages(qp);

	mutex_lock(&ibqp->mutex);
	frdma_mr_waiter_cancel(&qp->sq.mr_waiter);
	frdma_qp_kill(qp);
	ibqp->qp = NULL;
	mutex_unlock(&ibqp->mutex);
	mutex_unlock(&ibqp->change);

	frdma_mw_forget(qp);
	frdma_qp_forget_completions(qp);
	free_memory(qp);
	frdma_limit_give(&dev->nr_qp, FRDMA_POOL_QP, &qp->charge);
	frdma_qp_put(qp);
	return 0;
}
