// SPDX-License-Identifier: GPL-2.0
#include <arpa/inet.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <infiniband/verbs.h>

#include "device.h"

#define DEPTH		64
#define MAX_INLINE	64
#define NR_PDS		2
#define NR_XRCDS	2

/**
 * struct device_srq - a shared receive queue
 * @srq: that
 * @cq: its completion queue; XRC
 */
struct device_srq {
	struct ibv_srq *srq;
	struct ibv_cq *cq;
};

/**
 * struct device_qp - a queue pair
 * @qp: that
 * @send_cq: its completion queues
 * @recv_cq: likewise
 * @ah: where datagrams go
 * @state: that it was last given
 */
struct device_qp {
	struct ibv_qp *qp;
	struct ibv_cq *send_cq;
	struct ibv_cq *recv_cq;
	struct ibv_ah *ah;
	enum state state;
};

static struct ibv_context *ctx;
static struct ibv_pd *pds[NR_PDS];
static struct ibv_xrcd *xrcds[NR_XRCDS];	/* where there are such */
static struct ibv_comp_channel *channel;
static uint8_t gid_index[2];	/* IPv4, IPv6 */
static union ibv_gid peer_gid[2];
static struct play *play;

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ULL + t.tv_nsec;
}

/*
 * What the device tells.
 */

static void take_packets(void)
{
	static struct packet packet;

	while (wire_take(&packet))
		play_sent(play, &packet);
}

static void take_completion(const struct queue_pair *spec,
			    const struct ibv_wc *wc, bool recv)
{
	struct done done = {
		.at_ns = now(), .qp = spec, .recv = recv, .id = wc->wr_id,
		.status = wc->status,
	};

	if (!wc->status) {
		done.len = wc->byte_len;
		done.imm = wc->wc_flags & IBV_WC_WITH_IMM;
		done.inv = wc->wc_flags & IBV_WC_WITH_INV;
		done.grh = wc->wc_flags & IBV_WC_GRH;
		done.write = wc->opcode == IBV_WC_RECV_RDMA_WITH_IMM;
		done.src_qp = wc->src_qp;
		done.ex = done.imm ? ntohl(wc->imm_data) : wc->invalidated_rkey;
	}
	play_done(play, &done);
}

/* Of those that take from it, whom a completion is about. */
static const struct queue_pair *find_target(uint32_t qpn)
{
	size_t i;

	for (i = 0; i < play->nr_qps; i++)
		if (play->qps[i].handle && play->qps[i].qpn == qpn)
			return &play->qps[i];
	return NULL;
}

static void take_completions(void)
{
	struct ibv_wc wc;
	size_t i;

	for (i = 0; i < play->nr_qps; i++) {
		struct device_qp *qp = play->qps[i].handle;

		while (qp && ibv_poll_cq(qp->send_cq, 1, &wc) > 0)
			take_completion(&play->qps[i], &wc, false);
		while (qp && ibv_poll_cq(qp->recv_cq, 1, &wc) > 0)
			take_completion(&play->qps[i], &wc, true);
	}
	for (i = 0; i < play->nr_srqs; i++) {
		struct device_srq *srq = play->srqs[i].handle;

		while (srq && srq->cq && ibv_poll_cq(srq->cq, 1, &wc) > 0)
			take_completion(find_target(wc.qp_num), &wc, true);
	}
}

static bool is_of_queue(const struct ibv_async_event *event)
{
	return event->event_type <= IBV_EVENT_PATH_MIG_ERR ||
	       (event->event_type >= IBV_EVENT_SRQ_ERR &&
		event->event_type <= IBV_EVENT_QP_LAST_WQE_REACHED);
}

static void take_events(void)
{
	struct ibv_async_event event;
	struct ibv_cq *cq;
	void *context;

	while (!ibv_get_async_event(ctx, &event)) {
		if (is_of_queue(&event))
			play_event(play, event.event_type);
		ibv_ack_async_event(&event);
	}
	while (!ibv_get_cq_event(channel, &cq, &context)) {
		ibv_ack_cq_events(cq, 1);
		play_event(play, CQ_EVENT);
	}
}

static uint64_t told(void)
{
	return play->nr_sent + play->nr_dones + play->nr_events;
}

static void wait_until(uint64_t until_ns)
{
	struct pollfd fds[] = {
		{ .fd = wire_fd(), .events = POLLIN },
		{ .fd = ctx->async_fd, .events = POLLIN },
		{ .fd = channel->fd, .events = POLLIN },
	};
	uint64_t before = told();

	for (;;) {
		take_packets();
		take_completions();
		take_events();
		if (told() != before || now() >= until_ns)
			return;
		poll(fds, 3, 1);
	}
}

/*
 * Verbs.
 */

static int access_of(uint32_t rights)
{
	int access = rights & (RIGHT_LOCAL | RIGHT_WRITE | RIGHT_READ |
			       RIGHT_ATOMIC | RIGHT_BIND);

	/* Whoever lets others write must be able to itself. */
	if (access & (IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC))
		access |= IBV_ACCESS_LOCAL_WRITE;
	if (rights & RIGHT_FLUSH)
		access |= IBV_ACCESS_FLUSH_GLOBAL;
	return access;
}

static bool make_region(struct region *region)
{
	struct ibv_mr *mr = ibv_reg_mr(pds[region->pd % NR_PDS], region->mem,
				       region->len, access_of(region->rights));

	if (!mr)
		return false;
	region->handle = mr;
	region->lkey = mr->lkey;
	region->rkey = mr->rkey;
	return true;
}

static bool drop_region(struct region *region)
{
	struct ibv_mr *mr = region->handle;

	region->handle = NULL;
	return !ibv_dereg_mr(mr);
}

static bool make_window(struct region *region, uint32_t type)
{
	struct ibv_mw *mw = ibv_alloc_mw(pds[0], type == 1 ? IBV_MW_TYPE_1 :
							     IBV_MW_TYPE_2);

	if (!mw)
		return false;
	region->window = true;
	region->handle = mw;
	region->rkey = mw->rkey;
	return true;
}

static struct ibv_ah_attr path_of(const struct queue_pair *spec)
{
	return (struct ibv_ah_attr) {
		.is_global = 1, .port_num = 1,
		.grh = { .dgid = peer_gid[spec->ipv6],
			 .sgid_index = gid_index[spec->ipv6],
			 .traffic_class = spec->tclass, .hop_limit = 64 },
	};
}

static enum ibv_mtu mtu_of(uint32_t bytes)
{
	enum ibv_mtu mtu = IBV_MTU_256;

	while (bytes > 256) {
		bytes /= 2;
		mtu++;
	}
	return mtu;
}

static int to_init(struct device_qp *qp, const struct queue_pair *spec)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT, .port_num = 1, .qkey = spec->qkey,
		.qp_access_flags = access_of(spec->rights),
	};

	return ibv_modify_qp(qp->qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX |
			     IBV_QP_PORT | (spec->type == IS_UD ? IBV_QP_QKEY :
					    IBV_QP_ACCESS_FLAGS));
}

static int to_rtr(struct device_qp *qp, const struct queue_pair *spec)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTR, .path_mtu = mtu_of(spec->mtu),
		.dest_qp_num = spec->peer_qpn, .rq_psn = spec->rq_psn,
		.max_dest_rd_atomic = spec->dest_rd,
		.min_rnr_timer = spec->rnr_timer, .ah_attr = path_of(spec),
	};
	int mask = IBV_QP_STATE;

	if (spec->type != IS_UD)
		mask |= IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
			IBV_QP_RQ_PSN;
	if (spec->type == IS_RC || spec->type == IS_XRC_TGT)
		mask |= IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
	return ibv_modify_qp(qp->qp, &attr, mask);
}

static int to_rts(struct device_qp *qp, const struct queue_pair *spec)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTS, .timeout = spec->timeout,
		.retry_cnt = spec->retry, .rnr_retry = spec->rnr_retry,
		.sq_psn = spec->sq_psn, .max_rd_atomic = spec->rd,
	};
	int mask = IBV_QP_STATE | IBV_QP_SQ_PSN;

	if (spec->type == IS_RC || spec->type == IS_XRC_INI)
		mask |= IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
			IBV_QP_MAX_QP_RD_ATOMIC;
	else if (spec->type == IS_XRC_TGT)
		mask |= IBV_QP_TIMEOUT;
	return ibv_modify_qp(qp->qp, &attr, mask);
}

static int to_state(struct device_qp *qp, enum state state)
{
	struct ibv_qp_attr attr = {
		.qp_state = (enum ibv_qp_state)state,
		.en_sqd_async_notify = state == STATE_SQD,
	};

	return ibv_modify_qp(qp->qp, &attr, IBV_QP_STATE |
			     (state == STATE_SQD ?
			      IBV_QP_EN_SQD_ASYNC_NOTIFY : 0));
}

static int state(struct queue_pair *spec)
{
	struct device_qp *qp = spec->handle;
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	if (ibv_query_qp(qp->qp, &attr, IBV_QP_STATE, &init))
		return -1;
	return attr.qp_state;
}

/* One step, with what the script says of the queue pair. */
static bool modify(struct queue_pair *spec, enum state to)
{
	struct device_qp *qp = spec->handle;
	int from = state(spec), error;

	if (to == STATE_INIT)
		error = to_init(qp, spec);
	else if (to == STATE_RTR)
		error = to_rtr(qp, spec);
	else if (to == STATE_RTS && from == STATE_RTR)
		error = to_rts(qp, spec);
	else
		error = to_state(qp, to);
	if (error)
		fprintf(stderr, "modify: %s\n", strerror(error));
	return !error;
}

static bool make_srq(struct shared_queue *spec)
{
	struct ibv_srq_init_attr_ex init = {
		.attr = { .max_wr = spec->max, .max_sge = 1 },
		.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD,
		.srq_type = IBV_SRQT_BASIC, .pd = pds[spec->pd % NR_PDS],
	};
	struct device_srq *srq = calloc(1, sizeof(*srq));

	spec->handle = srq;
	if (spec->xrcd) {
		srq->cq = ibv_create_cq(ctx, 2 * DEPTH, NULL, NULL, 0);
		init.comp_mask |= IBV_SRQ_INIT_ATTR_XRCD |
				  IBV_SRQ_INIT_ATTR_CQ;
		init.srq_type = IBV_SRQT_XRC;
		init.xrcd = xrcds[(spec->xrcd - 1) % NR_XRCDS];
		init.cq = srq->cq;
	}
	srq->srq = ibv_create_srq_ex(ctx, &init);
	return srq->srq && (!spec->xrcd ||
			    !ibv_get_srq_num(srq->srq, &spec->srqn));
}

static bool drop_srq(struct shared_queue *spec)
{
	struct device_srq *srq = spec->handle;

	if (ibv_destroy_srq(srq->srq))
		return false;
	srq->srq = NULL;
	return true;
}

static void unmake_srq(struct device_srq *srq)
{
	if (srq->srq)
		ibv_destroy_srq(srq->srq);
	if (srq->cq)
		ibv_destroy_cq(srq->cq);
	free(srq);
}

static bool limit(struct shared_queue *spec, uint32_t limit)
{
	struct ibv_srq_attr attr = { .srq_limit = limit };
	struct device_srq *srq = spec->handle;

	return !ibv_modify_srq(srq->srq, &attr, IBV_SRQ_LIMIT);
}

static struct ibv_srq *srq_of(const struct queue_pair *spec)
{
	const struct device_srq *srq = spec->srq ? spec->srq->handle : NULL;

	return srq ? srq->srq : NULL;
}

static bool create(struct device_qp *qp, const struct queue_pair *spec)
{
	static const enum ibv_qp_type types[] = {
		[IS_RC] = IBV_QPT_RC, [IS_UC] = IBV_QPT_UC,
		[IS_UD] = IBV_QPT_UD, [IS_XRC_INI] = IBV_QPT_XRC_SEND,
		[IS_XRC_TGT] = IBV_QPT_XRC_RECV,
	};
	struct ibv_qp_init_attr_ex init = {
		.qp_type = types[spec->type], .sq_sig_all = 1,
		.comp_mask = IBV_QP_INIT_ATTR_PD, .pd = pds[0],
		.srq = srq_of(spec),
		.cap = { .max_send_wr = DEPTH, .max_recv_wr = DEPTH,
			 .max_send_sge = 1, .max_recv_sge = 1,
			 .max_inline_data = MAX_INLINE },
	};
	struct ibv_ah_attr attr = path_of(spec);

	qp->send_cq = ibv_create_cq(ctx, 2 * DEPTH, NULL, NULL, 0);
	qp->recv_cq = ibv_create_cq(ctx, 2 * DEPTH, NULL, channel, 0);
	if (!qp->send_cq || !qp->recv_cq)
		return false;
	init.send_cq = qp->send_cq;
	init.recv_cq = spec->type == IS_XRC_INI ? NULL : qp->recv_cq;
	if (spec->type == IS_XRC_TGT)
		init = (struct ibv_qp_init_attr_ex) {
			.qp_type = IBV_QPT_XRC_RECV, .xrcd = xrcds[0],
			.comp_mask = IBV_QP_INIT_ATTR_XRCD,
		};
	qp->qp = ibv_create_qp_ex(ctx, &init);
	if (spec->type == IS_UD)
		qp->ah = ibv_create_ah(pds[0], &attr);
	return qp->qp && (spec->type != IS_UD || qp->ah);
}

static bool make_qp(struct queue_pair *spec)
{
	static const enum state path_to[] = {
		STATE_INIT, STATE_RTR, STATE_RTS
	};
	struct device_qp *qp = calloc(1, sizeof(*qp));
	enum state last = spec->state == STATE_SQD || spec->state == STATE_ERR ?
			  STATE_RTS : spec->state;
	size_t i;

	spec->handle = qp;
	if (!create(qp, spec))
		return false;
	spec->qpn = qp->qp->qp_num;
	for (i = 0; i < 3 && path_to[i] <= last; i++)
		if (!modify(spec, path_to[i]))
			return false;
	return last == spec->state || modify(spec, spec->state);
}

static bool drop_qp(struct queue_pair *spec)
{
	struct device_qp *qp = spec->handle;

	if (ibv_destroy_qp(qp->qp))
		return false;
	qp->qp = NULL;
	return true;
}

static bool post_recv(struct queue_pair *spec, const struct request *rq)
{
	struct device_qp *qp = spec->handle;
	struct ibv_sge sge = { rq->addr, rq->len, rq->lkey };
	struct ibv_recv_wr wr = {
		.wr_id = rq->id, .sg_list = &sge, .num_sge = !!rq->len,
	}, *bad;

	return !ibv_post_recv(qp->qp, &wr, &bad);
}

static bool post_srq(struct shared_queue *spec, const struct request *rq)
{
	struct device_srq *srq = spec->handle;
	struct ibv_sge sge = { rq->addr, rq->len, rq->lkey };
	struct ibv_recv_wr wr = {
		.wr_id = rq->id, .sg_list = &sge, .num_sge = !!rq->len,
	}, *bad;

	return !ibv_post_srq_recv(srq->srq, &wr, &bad);
}

/* Windows of type 1 are bound by a call, of type 2 by a work request. */
static bool bind_window(struct ibv_qp *qp, const struct request *rq)
{
	struct ibv_mw *mw = rq->window->handle;
	struct ibv_mw_bind_info part = {
		.mr = rq->bound->handle, .addr = rq->addr, .length = rq->len,
		.mw_access_flags = rq->rights,
	};
	struct ibv_mw_bind bind = {
		.wr_id = rq->id, .send_flags = IBV_SEND_SIGNALED,
		.bind_info = part,
	};
	struct ibv_send_wr wr = {
		.wr_id = rq->id, .opcode = IBV_WR_BIND_MW,
		.send_flags = IBV_SEND_SIGNALED,
		.bind_mw = { .mw = mw, .rkey = ibv_inc_rkey(mw->rkey),
			     .bind_info = part },
	}, *bad;

	if (mw->type == IBV_MW_TYPE_1 ? ibv_bind_mw(qp, mw, &bind) :
					ibv_post_send(qp, &wr, &bad))
		return false;
	if (mw->type == IBV_MW_TYPE_2)
		mw->rkey = wr.bind_mw.rkey;
	rq->window->rkey = mw->rkey;
	return true;
}

static bool post_send(struct queue_pair *spec, const struct request *rq)
{
	struct device_qp *qp = spec->handle;
	struct ibv_sge sge = { rq->addr, rq->len, rq->lkey };
	struct ibv_send_wr wr = {
		.wr_id = rq->id, .sg_list = &sge, .num_sge = !!rq->len,
		.opcode = (enum ibv_wr_opcode)rq->op,
		.send_flags = IBV_SEND_SIGNALED |
			(rq->fence ? IBV_SEND_FENCE : 0) |
			(rq->solicited ? IBV_SEND_SOLICITED : 0) |
			(rq->inline_data ? IBV_SEND_INLINE : 0),
		.imm_data = htonl(rq->imm),
		.qp_type.xrc.remote_srqn = rq->srqn,
	}, *bad;

	switch (rq->op) {
	case DO_BIND:
		return bind_window(qp->qp, rq);
	case DO_SEND_INV:
	case DO_LOCAL_INV:
		wr.invalidate_rkey = rq->rkey;
		break;
	case DO_COMPARE_SWAP:
		wr.wr.atomic.remote_addr = rq->va;
		wr.wr.atomic.rkey = rq->rkey;
		wr.wr.atomic.compare_add = rq->compare;
		wr.wr.atomic.swap = rq->swap;
		break;
	case DO_FETCH_ADD:
		wr.wr.atomic.remote_addr = rq->va;
		wr.wr.atomic.rkey = rq->rkey;
		wr.wr.atomic.compare_add = rq->swap;
		break;
	default:
		wr.wr.rdma.remote_addr = rq->va;
		wr.wr.rdma.rkey = rq->rkey;
		break;
	}
	if (spec->type == IS_UD) {
		wr.wr.ud.ah = qp->ah;
		wr.wr.ud.remote_qpn = rq->dqpn;
		wr.wr.ud.remote_qkey = rq->qkey;
	}
	return !ibv_post_send(qp->qp, &wr, &bad);
}

static bool attach_to(struct queue_pair *spec, const uint8_t *group,
		      bool attach)
{
	struct device_qp *qp = spec->handle;
	union ibv_gid gid;

	memcpy(gid.raw, group, sizeof(gid.raw));
	return !(attach ? ibv_attach_mcast(qp->qp, &gid, 0) :
			  ibv_detach_mcast(qp->qp, &gid, 0));
}

static bool notify(struct queue_pair *spec, bool solicited)
{
	struct device_qp *qp = spec->handle;

	return !ibv_req_notify_cq(qp->recv_cq, solicited);
}

static void unmake_qp(struct device_qp *qp)
{
	if (qp->qp)
		ibv_destroy_qp(qp->qp);
	if (qp->ah)
		ibv_destroy_ah(qp->ah);
	if (qp->send_cq)
		ibv_destroy_cq(qp->send_cq);
	if (qp->recv_cq)
		ibv_destroy_cq(qp->recv_cq);
	free(qp);
}

/*
 * The end as a whole.
 */

/* What came before is none of this case. */
static bool begin(struct play *of)
{
	static struct packet packet;

	play = of;
	play->peer.host = ntohl(inet_addr(HOST4));
	play->peer.peer = ntohl(inet_addr(PEER4));
	inet_pton(AF_INET6, HOST6, play->peer.host6);
	inet_pton(AF_INET6, PEER6, play->peer.peer6);
	while (wire_take(&packet))
		;
	count_begin(ibv_get_device_name(ctx->device));
	return true;
}

static void finish(struct play *of)
{
	size_t i;

	take_events();
	for (i = 0; i < play->nr_qps; i++)
		if (play->qps[i].handle)
			unmake_qp(play->qps[i].handle);
	for (i = 0; i < play->nr_srqs; i++)
		if (play->srqs[i].handle)
			unmake_srq(play->srqs[i].handle);
	for (i = 0; i < play->nr_regions; i++)
		if (play->regions[i].window)
			ibv_dealloc_mw(play->regions[i].handle);
	for (i = 0; i < play->nr_regions; i++)
		if (play->regions[i].handle && !play->regions[i].window)
			ibv_dereg_mr(play->regions[i].handle);
}

static union ibv_gid gid_of(const char *address, bool ipv6)
{
	union ibv_gid gid = { };

	if (ipv6) {
		inet_pton(AF_INET6, address, gid.raw);
		return gid;
	}
	gid.raw[10] = 0xff;
	gid.raw[11] = 0xff;
	inet_pton(AF_INET, address, gid.raw + 12);
	return gid;
}

static bool find_gid(bool ipv6)
{
	union ibv_gid wanted = gid_of(ipv6 ? HOST6 : HOST4, ipv6);
	struct ibv_gid_entry entry;
	int i;

	peer_gid[ipv6] = gid_of(ipv6 ? PEER6 : PEER4, ipv6);
	for (i = 0; i < 128; i++) {
		if (ibv_query_gid_ex(ctx, 1, i, &entry, 0) ||
		    memcmp(&entry.gid, &wanted, sizeof(wanted)) ||
		    entry.gid_type != IBV_GID_TYPE_ROCE_V2)
			continue;
		gid_index[ipv6] = i;
		return true;
	}
	return false;
}

static void open_domains(void)
{
	struct ibv_xrcd_init_attr attr = {
		.comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS,
		.fd = -1, .oflags = O_CREAT,
	};
	int i;

	for (i = 0; i < NR_XRCDS; i++)
		xrcds[i] = ibv_open_xrcd(ctx, &attr);
}

static bool open_device(const char *name)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	int i;

	for (i = 0; list && list[i]; i++)
		if (!strcmp(ibv_get_device_name(list[i]), name))
			ctx = ibv_open_device(list[i]);
	if (!ctx || !find_gid(false) || !find_gid(true))
		return false;
	for (i = 0; i < NR_PDS; i++)
		pds[i] = ibv_alloc_pd(ctx);
	open_domains();
	channel = ibv_create_comp_channel(ctx);
	if (!pds[0] || !pds[1] || !channel)
		return false;
	fcntl(ctx->async_fd, F_SETFL, O_NONBLOCK);
	fcntl(channel->fd, F_SETFL, O_NONBLOCK);
	return true;
}

static int open_end(int argc, char **argv)
{
	if (argc < 3) {
		fprintf(stderr, "DEVICE NEAR_INTERFACE FAR_INTERFACE CASE...\n");
		return -1;
	}
	the_end.is_frdma = !strncmp(argv[0], "frdma", 5);
	the_end.name = the_end.is_frdma ? "module" : "rxe";
	if (!open_device(argv[0]) || !wire_open(argv[1], argv[2])) {
		fprintf(stderr, "%s: cannot be opened\n", argv[0]);
		return -1;
	}
	return 3;
}

struct end the_end = {
	.prompt_ns	= 3000000000,
	.slack_ns	= 3000000000,
	.quiet_ns	= 30000000,
	.open		= open_end,
	.begin		= begin,
	.finish		= finish,
	.now		= now,
	.wait		= wait_until,
	.make_region	= make_region,
	.drop_region	= drop_region,
	.make_window	= make_window,
	.make_qp	= make_qp,
	.modify		= modify,
	.state		= state,
	.make_srq	= make_srq,
	.drop_qp	= drop_qp,
	.drop_srq	= drop_srq,
	.limit		= limit,
	.post_recv	= post_recv,
	.post_srq	= post_srq,
	.post_send	= post_send,
	.deliver	= wire_deliver,
	.deliver_train	= wire_deliver_train,
	.attach		= attach_to,
	.notify		= notify,
	.count		= count_since,
};
