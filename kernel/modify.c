// SPDX-License-Identifier: GPL-2.0
#include <linux/slab.h>

#include "dev.h"
#include "gids.h"
#include "limit.h"
#include "modify.h"
#include "proto/wire.h"
#include "qp.h"
#include "recv.h"
#include "refuse.h"
#include "route.h"
#include "trace.h"
#include "uctx.h"
#include "verbs_dev.h"

/*
 * Most steps of the send side that a change waits for: what a process may have
 * posted in a row, of what nobody has seen yet.
 */
#define STEPS_BEFORE		8

/* Packets that one READ request asks for. */
#define FRDMA_READ_GRID		64

static int check_av(struct frdma_qp *qp, const struct ib_qp_attr *attr,
		    int mask, struct frdma_av *av)
{
	const struct ib_device *ib = &qp->dev->ib;

	if (mask & IB_QP_ALT_PATH)
		return frdma_refuse(ib, -EINVAL, "modify_qp: RoCE has no alternate path");
	if (mask & IB_QP_PATH_MIG_STATE &&
	    attr->path_mig_state != IB_MIG_MIGRATED)
		return frdma_refuse(ib, -EINVAL, "modify_qp: path_mig_state is not MIGRATED");
	if (mask & IB_QP_AV)
		return frdma_av_init(av, qp->dev, &attr->ah_attr);
	return 0;
}

/* An attribute that is not given may have any value. */
static int check_at_most(struct frdma_qp *qp, int given, const char *name,
			 u32 value, u32 max)
{
	if (!given || value <= max)
		return 0;
	return frdma_refuse(&qp->dev->ib, -EINVAL,
			    "modify_qp: %s %u exceeds %u", name, value, max);
}

static int check_path_mtu(struct frdma_qp *qp, const struct ib_qp_attr *attr,
			  int mask)
{
	enum ib_mtu active = frdma_active_mtu(qp->dev);

	if (!(mask & IB_QP_PATH_MTU))
		return 0;
	if (attr->path_mtu >= IB_MTU_256 && attr->path_mtu <= active)
		return 0;
	return frdma_refuse(&qp->dev->ib, -EINVAL,
			    "modify_qp: path_mtu %d (enum ibv_mtu) exceeds %d bytes, the active MTU of the port",
			    attr->path_mtu, ib_mtu_enum_to_int(active));
}

static int check_limits(struct frdma_qp *qp, const struct ib_qp_attr *attr,
			int mask)
{
	if (mask & IB_QP_PORT && attr->port_num != 1)
		return frdma_refuse(&qp->dev->ib, -EINVAL,
				    "modify_qp: there is no port %u", attr->port_num);

	return check_path_mtu(qp, attr, mask) ?:
	       check_at_most(qp, mask & IB_QP_PKEY_INDEX, "pkey_index",
			     attr->pkey_index, 0) ?:
	       check_at_most(qp, mask & IB_QP_TIMEOUT, "timeout",
			     attr->timeout, 31) ?:
	       check_at_most(qp, mask & IB_QP_RETRY_CNT, "retry_cnt",
			     attr->retry_cnt, 7) ?:
	       check_at_most(qp, mask & IB_QP_RNR_RETRY, "rnr_retry",
			     attr->rnr_retry, 7) ?:
	       check_at_most(qp, mask & IB_QP_MIN_RNR_TIMER, "min_rnr_timer",
			     attr->min_rnr_timer, 31) ?:
	       check_at_most(qp, mask & IB_QP_MAX_QP_RD_ATOMIC,
			     "max_rd_atomic", attr->max_rd_atomic,
			     FRDMA_MAX_RD_ATOM) ?:
	       check_at_most(qp, mask & IB_QP_MAX_DEST_RD_ATOMIC,
			     "max_dest_rd_atomic", attr->max_dest_rd_atomic,
			     FRDMA_MAX_RD_ATOM) ?:
	       check_at_most(qp, mask & IB_QP_DEST_QPN, "dest_qp_num",
			     attr->dest_qp_num, FRDMA_QPN_MASK);
}

/* The core's table says which attributes a transition needs, and may have. */
static int check_transition(struct frdma_qp *qp, enum ib_qp_state cur,
			    enum ib_qp_state next, int mask)
{
	if (ib_modify_qp_is_ok(cur, next, qp->type, mask))
		return 0;
	return frdma_refuse(&qp->dev->ib, -EINVAL,
			    "modify_qp: state %d to %d (enum ibv_qp_state) does not exist for QP type %d with attr_mask 0x%x",
			    cur, next, qp->type, mask);
}

static int check(struct frdma_qp *qp, const struct ib_qp_attr *attr, int mask,
		 struct frdma_av *av)
{
	enum ib_qp_state cur = frdma_qp_state(qp);
	enum ib_qp_state next = mask & IB_QP_STATE ? attr->qp_state : cur;

	if (mask & ~IB_QP_ATTR_STANDARD_BITS)
		return frdma_refuse(&qp->dev->ib, -EOPNOTSUPP,
				    "modify_qp: attr_mask 0x%x has unknown bits", mask);
	if (mask & IB_QP_CUR_STATE && attr->cur_qp_state != cur)
		return frdma_refuse(&qp->dev->ib, -EINVAL,
				    "modify_qp: cur_qp_state is %d, the state is %d",
				    attr->cur_qp_state, cur);

	return check_transition(qp, cur, next, mask) ?:
	       check_limits(qp, attr, mask) ?:
	       check_av(qp, attr, mask, av);
}

static u16 access_of(int flags)
{
	u16 access = flags & FRDMA_ACC_FLUSH;

	if (flags & IB_ACCESS_REMOTE_WRITE)
		access |= FRDMA_ACC_REMOTE_WRITE;
	if (flags & IB_ACCESS_REMOTE_READ)
		access |= FRDMA_ACC_REMOTE_READ;
	if (flags & IB_ACCESS_REMOTE_ATOMIC)
		access |= FRDMA_ACC_REMOTE_ATOMIC;
	return access;
}

/* What is remembered for queries is also what ACKs and NAKs are made of. */
static void remember(struct frdma_qp *qp, const struct ib_qp_attr *attr,
		     int mask)
{
	struct ib_qp_attr *own = &qp->attr;

	if (mask & IB_QP_ACCESS_FLAGS)
		own->qp_access_flags = attr->qp_access_flags;
	if (mask & IB_QP_PKEY_INDEX)
		own->pkey_index = attr->pkey_index;
	if (mask & IB_QP_PORT)
		own->port_num = attr->port_num;
	if (mask & IB_QP_QKEY)
		own->qkey = attr->qkey;
	if (mask & IB_QP_PATH_MTU)
		own->path_mtu = attr->path_mtu;
	if (mask & IB_QP_TIMEOUT)
		own->timeout = attr->timeout;
	if (mask & IB_QP_RETRY_CNT)
		own->retry_cnt = attr->retry_cnt;
	if (mask & IB_QP_RNR_RETRY)
		own->rnr_retry = attr->rnr_retry;
	if (mask & IB_QP_MAX_QP_RD_ATOMIC)
		own->max_rd_atomic = attr->max_rd_atomic;
	if (mask & IB_QP_MAX_DEST_RD_ATOMIC)
		own->max_dest_rd_atomic = attr->max_dest_rd_atomic;
	if (mask & IB_QP_MIN_RNR_TIMER)
		own->min_rnr_timer = attr->min_rnr_timer;
	if (mask & IB_QP_DEST_QPN)
		own->dest_qp_num = attr->dest_qp_num;
	if (mask & IB_QP_EN_SQD_ASYNC_NOTIFY)
		own->en_sqd_async_notify = attr->en_sqd_async_notify;
}

/* What is sent from here on goes another way. */
static void forget_path(struct frdma_qp *qp)
{
	qp->sq.lane.pseudo.len = 0;
	qp->rq.lane.pseudo.len = 0;
	frdma_route_forget(&qp->sq.route);
	frdma_route_forget(&qp->rq.route);
}

/* Bring the engines in line with the attributes. */
static void apply(struct frdma_qp *qp, const struct ib_qp_attr *attr, int mask,
		  const struct frdma_av *av)
{
	const struct ib_qp_attr *own = &qp->attr;
	struct frdma_req *req = &qp->sq.req;
	struct frdma_retry *rt = &req->retry;

	if (mask & IB_QP_AV) {
		qp->path.av = *av;
		qp->path.ours = frdma_gids_have(qp->dev, &av->dgid);
		frdma_req_new_way(req);
	}
	if (mask & (IB_QP_AV | IB_QP_DEST_QPN)) {
		qp->path.sport = frdma_av_sport(&qp->path.av, qp->qpn,
						own->dest_qp_num);
		forget_path(qp);
	}

	req->dqpn = own->dest_qp_num;
	req->rd_max = own->max_rd_atomic;
	req->read_grid = FRDMA_READ_GRID;
	req->mtu = frdma_qp_is_connected(qp) ?
		   ib_mtu_enum_to_int(own->path_mtu) :
		   ib_mtu_enum_to_int(frdma_active_mtu(qp->dev));
	rt->timeout_ns = frdma_ack_timeout_ns(own->timeout);
	rt->retry_cnt = own->retry_cnt;
	rt->rnr_retry = own->rnr_retry;
	if (mask & (IB_QP_RETRY_CNT | IB_QP_RNR_RETRY))
		frdma_retry_refill(rt);

	qp->rq.resp.mtu = req->mtu;
	qp->rq.resp.access = access_of(own->qp_access_flags);
	qp->qkey = own->qkey;
}

/*
 * All that was posted is forgotten (IBTA 10.2.4.4), and what was set. The pages
 * that it waited for are already.
 */
static void reset(struct frdma_qp *qp)
{
	struct frdma_req *req = &qp->sq.req;

	qp->attr = (struct ib_qp_attr) { };
	qp->path.av = (struct frdma_av) { };
	forget_path(qp);

	frdma_side_drop_packets(&qp->sq.side);
	frdma_side_drop_packets(&qp->rq.side);
	frdma_ahead_forget(qp, &qp->sq.ahead);
	frdma_ahead_forget(qp, &qp->rq.ahead);
	frdma_unsent_forget(&qp->sq.unsent, qp);
	frdma_unsent_forget(&qp->rq.unsent, qp);
	frdma_mr_waiter_cancel(&qp->sq.mr_waiter);
	qp->sq.draining = false;

	if (qp->sq.ring.head) {
		req->wr_una = frdma_ring_prod_acquire(&qp->sq.ring);
		req->wr_acked = req->wr_una;
		req->wr_next = req->wr_una;
		req->wr_prod = req->wr_una;
		frdma_ring_cons_release(&qp->sq.ring, req->wr_una);
	}
	frdma_req_init(req, 0);

	frdma_recv_reset(qp);
	frdma_resp_init(&qp->rq.resp, 0);

	frdma_qp_forget_completions(qp);
}

/* Of a target that is done at once: it has no send queue, and nothing that looks at one. */
static void begin_to_drain(struct frdma_qp *qp, const struct ib_qp_attr *attr,
			   int mask)
{
	qp->sq.drained = qp->type == IB_QPT_XRC_TGT;
	qp->sq.drain_event = mask & IB_QP_EN_SQD_ASYNC_NOTIFY &&
			     attr->en_sqd_async_notify;
	if (qp->sq.drained && qp->sq.drain_event)
		frdma_qp_event(qp, IB_EVENT_SQ_DRAINED);
}

static void enter_state(struct frdma_qp *qp, const struct ib_qp_attr *attr,
			int mask)
{
	enum ib_qp_state next = attr->qp_state;
	enum ib_qp_state cur = frdma_qp_state(qp);

	if (next == IB_QPS_RESET)
		reset(qp);
	if (cur == IB_QPS_INIT && next == IB_QPS_RTR) {
		frdma_resp_init(&qp->rq.resp, frdma_qp_is_connected(qp) ?
				attr->rq_psn : 0);
		qp->rq.comm_est = false;
	}
	if (cur == IB_QPS_RTR && next == IB_QPS_RTS) {
		frdma_req_init(&qp->sq.req, attr->sq_psn);
		frdma_cc_init(&qp->sq.req.cc, FRDMA_WINDOW);
		qp->sq.abroad = false;
	}
	if (next == IB_QPS_SQD && cur != IB_QPS_SQD)
		begin_to_drain(qp, attr, mask);

	trace_frdma_qp_state(qp->dev->ndev->ifindex, qp->qpn, cur, next);
	WRITE_ONCE(qp->state, next);
}

/**
 * struct resources - memory of a responder for READs and atomics
 * @res: an entry for each; NULL: none
 * @charge: of them
 */
struct resources {
	struct frdma_resp_res *res;
	struct frdma_charge charge;
};

static int alloc_resources(const struct frdma_qp *qp,
			   const struct ib_qp_attr *attr, int mask,
			   struct resources *new)
{
	u8 nr = mask & IB_QP_MAX_DEST_RD_ATOMIC ? attr->max_dest_rd_atomic : 0;

	*new = (struct resources) {};
	if (!nr)
		return 0;
	if (!frdma_charge(&new->charge, qp->charge.account,
			  nr * sizeof(*new->res)))
		return -ENOMEM;
	new->res = kcalloc(nr, sizeof(*new->res), FRDMA_GFP_OBJECT);
	if (!new->res) {
		frdma_uncharge(&new->charge);
		return -ENOMEM;
	}
	return 0;
}

static void free_resources(struct resources *old)
{
	kfree(old->res);
	frdma_uncharge(&old->charge);
}

/* @new becomes the old resources. */
static void swap_resources(struct frdma_rq *rq, struct resources *new, u8 nr)
{
	new->res = frdma_resp_resize(&rq->resp, new->res, nr);
	swap(rq->res_charge, new->charge);
}

/**
 * frdma_modify_qp - verb
 * @ib: queue pair
 * @attr: attributes
 * @mask: IB_QP_*: which of them are meant
 * @udata: driver data of a process; there is none
 *
 * Nothing changes unless all of it can.
 *
 * Context: may sleep. Return: 0; -EINVAL for a transition or a value that the
 * specification does not allow; -EOPNOTSUPP; -ENOMEM.
 */
int frdma_modify_qp(struct ib_qp *ib, struct ib_qp_attr *attr, int mask,
		    struct ib_udata *udata)
{
	struct frdma_ib_qp *ibqp = to_frdma_ib_qp(ib);
	struct frdma_qp *qp = ibqp->qp;
	struct resources res;
	struct frdma_av av;
	int err;

	err = frdma_no_driver_data(udata);
	if (err)
		return err;
	err = alloc_resources(qp, attr, mask, &res);
	if (err)
		return err;

	mutex_lock(&ibqp->change);
	frdma_qp_claim(qp, STEPS_BEFORE);
	err = check(qp, attr, mask, &av);
	if (err)
		goto out;
	if (mask & IB_QP_STATE && attr->qp_state == IB_QPS_RESET)
		frdma_qp_forget_pages(qp);

	mutex_lock(&ibqp->mutex);
	if (mask & IB_QP_MAX_DEST_RD_ATOMIC)
		swap_resources(&qp->rq, &res, attr->max_dest_rd_atomic);
	remember(qp, attr, mask);
	apply(qp, attr, mask, &av);
	if (mask & IB_QP_STATE)
		enter_state(qp, attr, mask);
	mutex_unlock(&ibqp->mutex);
out:
	frdma_qp_release(qp);
	mutex_unlock(&ibqp->change);

	free_resources(&res);
	return err;
}
