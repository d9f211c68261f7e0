// SPDX-License-Identifier: GPL-2.0
/* The two ends of a flow: objects, states, posts, completions. */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "flow.h"

#define DEPTH	32

/* Who polls for longer takes the CPU from those that the guest runs on. */
#define POLLS	100
#define NAPS	50

/** struct step - attributes of the way to RTS */
struct step {
	int init, rtr, rts;
};

#define INIT	(IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT)
#define PATH	(IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | \
		 IBV_QP_DEST_QPN | IBV_QP_RQ_PSN)
#define ANSWERS	(IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER)
#define RETRIES	(IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | \
		 IBV_QP_MAX_QP_RD_ATOMIC)
#define READY	(IBV_QP_STATE | IBV_QP_SQ_PSN)

static struct step step_of(enum ibv_qp_type type)
{
	switch (type) {
	case IBV_QPT_XRC_SEND:
		return (struct step) { INIT | IBV_QP_ACCESS_FLAGS, PATH,
				       READY | RETRIES };
	case IBV_QPT_XRC_RECV:
		return (struct step) { INIT | IBV_QP_ACCESS_FLAGS,
				       PATH | ANSWERS,
				       READY | IBV_QP_TIMEOUT };
	case IBV_QPT_UC:
		return (struct step) { INIT | IBV_QP_ACCESS_FLAGS, PATH, READY };
	case IBV_QPT_UD:
		return (struct step) { INIT | IBV_QP_QKEY, IBV_QP_STATE, READY };
	default:
		return (struct step) { INIT | IBV_QP_ACCESS_FLAGS,
				       PATH | ANSWERS, READY | RETRIES };
	}
}

/* This thread, and no other, goes there. */
static void enter_netns(struct flow *f, const char *file)
{
	int fd = open(file, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || setns(fd, CLONE_NEWNET))
		flow_die(f, "cannot enter %s: %s", file, strerror(errno));
	close(fd);
}

static void open_device(struct end *end)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	int i;

	for (i = 0; list && list[i]; i++)
		if (!strcmp(ibv_get_device_name(list[i]), end->device))
			end->ctx = ibv_open_device(list[i]);
	if (list)
		ibv_free_device_list(list);
}

static void open_end(struct flow *f, struct end *end)
{
	bool elsewhere = flow_far_netns && end == &f->far;

	if (elsewhere)
		enter_netns(f, flow_far_netns);
	open_device(end);
	if (elsewhere)
		enter_netns(f, "/proc/self/ns/net");
	if (!end->ctx)
		flow_die(f, "no device %s", end->device);
	if (ibv_query_gid(end->ctx, 1, end->gid_index, &end->gid))
		flow_die(f, "no GID %d", end->gid_index);
}

static struct ibv_srq *make_srq(const struct end *end)
{
	struct ibv_srq_init_attr_ex init = {
		.attr = { .max_wr = DEPTH, .max_sge = 1 },
		.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD,
		.srq_type = IBV_SRQT_BASIC, .pd = end->pd,
	};

	if (end->xrcd) {
		init.comp_mask |= IBV_SRQ_INIT_ATTR_XRCD | IBV_SRQ_INIT_ATTR_CQ;
		init.srq_type = IBV_SRQT_XRC;
		init.xrcd = end->xrcd;
		init.cq = end->cq;
	}
	return ibv_create_srq_ex(end->ctx, &init);
}

static struct ibv_qp *make_qp(const struct end *end, enum ibv_qp_type type)
{
	struct ibv_qp_init_attr_ex init = {
		.qp_type = type, .sq_sig_all = 1,
		.comp_mask = IBV_QP_INIT_ATTR_PD, .pd = end->pd,
		.send_cq = end->cq, .recv_cq = end->cq, .srq = end->srq,
		.cap = { .max_send_wr = DEPTH, .max_recv_wr = DEPTH,
			 .max_send_sge = 1, .max_recv_sge = 1 },
	};

	if (type == IBV_QPT_XRC_RECV) {
		init.comp_mask = IBV_QP_INIT_ATTR_XRCD;
		init.xrcd = end->xrcd;
	}
	return ibv_create_qp_ex(end->ctx, &init);
}

static void make_end(struct flow *f, struct end *end, enum ibv_qp_type type)
{
	size_t len = f->kind->buffers * ((size_t)flow_bytes + FLOW_ROOM);
	struct ibv_xrcd_init_attr own = {
		.comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS,
		.fd = -1, .oflags = O_CREAT,
	};

	open_end(f, end);
	end->pd = ibv_alloc_pd(end->ctx);
	end->cq = ibv_create_cq(end->ctx, 2 * DEPTH, NULL, NULL, 0);
	end->memory = aligned_alloc(64, (len + 63) & ~63UL);
	if (!end->pd || !end->cq || !end->memory)
		flow_die(f, "no objects: %s", strerror(errno));
	memset(end->memory, 0, len);
	end->mr = ibv_reg_mr(end->pd, end->memory, len, FLOW_RIGHTS);
	if (!end->mr)
		flow_die(f, "no memory region: %s", strerror(errno));

	if (type == IBV_QPT_XRC_RECV) {
		end->xrcd = ibv_open_xrcd(end->ctx, &own);
		if (!end->xrcd)
			flow_die(f, "no XRC domain: %s", strerror(errno));
	}
	if (end == &f->far && f->kind->has_srq) {
		end->srq = make_srq(end);
		if (!end->srq)
			flow_die(f, "no shared queue: %s", strerror(errno));
	}
	end->qp = make_qp(end, type);
	if (!end->qp)
		flow_die(f, "no queue pair: %s", strerror(errno));
}

static void connect_end(struct flow *f, struct end *end,
			const struct end *peer, enum ibv_qp_type type)
{
	struct step step = step_of(type);
	struct ibv_qp_attr attr = {
		.port_num = 1, .qp_access_flags = FLOW_RIGHTS,
		.qkey = FLOW_QKEY, .path_mtu = flow_mtu,
		.dest_qp_num = peer->qp->qp_num,
		.max_dest_rd_atomic = 4, .max_rd_atomic = 4,
		.min_rnr_timer = 12, .rnr_retry = 7,
		.timeout = flow_timeout, .retry_cnt = flow_retries,
		.ah_attr = {
			.is_global = 1, .port_num = 1,
			.grh = { .sgid_index = end->gid_index,
				 .dgid = peer->gid, .hop_limit = 4,
				 .traffic_class = flow_class },
		},
	};
	int err;

	attr.qp_state = IBV_QPS_INIT;
	err = ibv_modify_qp(end->qp, &attr, step.init);
	attr.qp_state = IBV_QPS_RTR;
	err = err ?: ibv_modify_qp(end->qp, &attr, step.rtr);
	attr.qp_state = IBV_QPS_RTS;
	err = err ?: ibv_modify_qp(end->qp, &attr, step.rts);
	if (err)
		flow_die(f, "cannot connect: %s", strerror(err));
}

void flow_connect(struct flow *f)
{
	make_end(f, &f->near, f->kind->near);
	make_end(f, &f->far, f->kind->far);
	connect_end(f, &f->near, &f->far, f->kind->near);
	connect_end(f, &f->far, &f->near, f->kind->far);
}

void flow_post(struct flow *f, struct ibv_send_wr *wr, const void *from,
	       uint32_t len)
{
	struct ibv_sge sge = { (uintptr_t)from, len, f->near.mr->lkey };
	struct ibv_send_wr *bad;
	int err;

	wr->sg_list = &sge;
	wr->num_sge = 1;
	err = ibv_post_send(f->near.qp, wr, &bad);
	if (err)
		flow_die(f, "post: %s", strerror(err));
}

/* True if there was a completion, which has to be a good one. */
bool flow_poll(struct flow *f, struct ibv_cq *cq, struct ibv_wc *wc)
{
	int n = ibv_poll_cq(cq, 1, wc);

	if (n < 0)
		flow_die(f, "poll: %s", strerror(-n));
	if (n && wc->status)
		flow_die(f, "status: %s", ibv_wc_status_str(wc->status));
	return n;
}

struct ibv_wc flow_wait(struct flow *f, struct ibv_cq *cq)
{
	unsigned int polls = 0;
	struct ibv_wc wc;

	while (!flow_poll(f, cq, &wc))
		if (++polls > POLLS)
			usleep(polls > POLLS + NAPS ? 500 : 20);
	return wc;
}

/* Differs from that of other seeds, and at other places. */
static unsigned char byte_of(uint32_t seed, uint32_t i)
{
	return (seed * 0x9e3779b1 + i * 0x85ebca6b) >> 24;
}

void flow_fill(unsigned char *p, uint32_t len, uint32_t seed)
{
	uint32_t i;

	for (i = 0; i < len; i++)
		p[i] = byte_of(seed, i);
}

bool flow_is_filled(const unsigned char *p, uint32_t len, uint32_t seed)
{
	uint32_t i;

	for (i = 0; i < len; i++)
		if (p[i] != byte_of(seed, i))
			return false;
	return true;
}
