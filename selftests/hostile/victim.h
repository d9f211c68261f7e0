/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Queue pairs of every kind that have a hostile peer, and the memory that they
 * lend it. Include it after pair.h.
 */
#ifndef FRDMA_TEST_VICTIM_H
#define FRDMA_TEST_VICTIM_H

#include <fcntl.h>
#include <sys/mman.h>

#define QKEY		0x1234
#define GSI_QKEY	0x80010000
#define FIRST_PSN	100
#define ASKED_PSN	1000000		/* of what the victim asks itself */
#define FAKE_QPN	0x770000	/* the peer's, and one more for each */
#define MTU		1024
#define DEPTH		16
#define SHARED_DEPTH	1024
#define LENT		65536
#define GUARD		4096

#define COUNT(array)	(sizeof(array) / sizeof((array)[0]))

enum kind { RC, UC, UD, XRC_TARGET, XRC_INITIATOR, GSI, KINDS };

/**
 * struct victim - a queue pair under attack
 * @kind: of what kind
 * @name: of that
 * @type: of that, for verbs
 * @transport: upper three bits of its opcodes
 * @qpn: its number
 * @peer_qpn: that of its peer, which there is not
 * @qp: NULL for the GSI's, which the kernel has
 * @cq: its completions
 * @srq: the queue that it takes from; XRC_TARGET
 * @srqn: number of that
 * @psn: that it expects
 */
struct victim {
	enum kind kind;
	const char *name;
	enum ibv_qp_type type;
	uint8_t transport;
	uint32_t qpn;
	uint32_t peer_qpn;
	struct ibv_qp *qp;
	struct ibv_cq *cq;
	struct ibv_srq *srq;
	uint32_t srqn;
	uint32_t psn;
};

static struct victim victims[KINDS] = {
	{ RC, "RC", IBV_QPT_RC, 0x00 },
	{ UC, "UC", IBV_QPT_UC, 0x20 },
	{ UD, "UD", IBV_QPT_UD, 0x60 },
	{ XRC_TARGET, "XRC target", IBV_QPT_XRC_RECV, 0xa0 },
	{ XRC_INITIATOR, "XRC initiator", IBV_QPT_XRC_SEND, 0xa0 },
	{ GSI, "GSI", IBV_QPT_UD, 0x60, 1 },
};

static union ibv_gid peer_gid;
static struct ibv_xrcd *victim_domain;

/* Lent memory between guards; what is received goes to pages of its own. */
static unsigned char victim_arena[GUARD + LENT + GUARD]
	__attribute__((aligned(GUARD)));
static unsigned char *const lent = victim_arena + GUARD;
static unsigned char received[GUARD] __attribute__((aligned(GUARD)));
static struct ibv_mr *lent_mr, *received_mr;
static int victim_rights = RIGHTS | 1 << 8;	/* FLUSH_GLOBAL, if there is */

static inline bool can_flush(void)
{
	return victim_rights & 1 << 8;
}

static inline bool is_reliable(const struct victim *v)
{
	return v->kind == RC || v->kind == XRC_TARGET ||
	       v->kind == XRC_INITIATOR;
}

static inline bool is_connected(const struct victim *v)
{
	return v->kind != UD && v->kind != GSI;
}

/* A receive request more, if there is room. */
static inline void victim_post(struct victim *v)
{
	struct ibv_sge sge = {
		(uintptr_t)received, sizeof(received), received_mr->lkey,
	};
	struct ibv_recv_wr *bad, wr = { .sg_list = &sge, .num_sge = 1 };

	if (v->srq)
		ibv_post_srq_recv(v->srq, &wr, &bad);
	else if (v->kind == RC || v->kind == UC || v->kind == UD)
		ibv_post_recv(v->qp, &wr, &bad);
}

/* Takes its completions, and posts anew what they have used. */
static inline unsigned int victim_poll(struct victim *v)
{
	unsigned int n = 0;
	struct ibv_wc wc;

	for (; v->cq && ibv_poll_cq(v->cq, 1, &wc) > 0; n++)
		if (!wc.status)		/* else it would be flushed at once */
			victim_post(v);
	return n;
}

static inline int victim_to_init(struct victim *v)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT, .port_num = 1, .qkey = QKEY,
		.qp_access_flags = victim_rights,
	};

	return ibv_modify_qp(v->qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX |
			     IBV_QP_PORT | (v->kind == UD ? IBV_QP_QKEY :
					    IBV_QP_ACCESS_FLAGS));
}

static inline int victim_to_rtr(struct victim *v)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTR, .path_mtu = IBV_MTU_1024,
		.dest_qp_num = v->peer_qpn, .rq_psn = FIRST_PSN,
		.max_dest_rd_atomic = 4, .min_rnr_timer = 1,
		.ah_attr = {
			.is_global = 1, .port_num = 1,
			.grh = { .dgid = peer_gid, .sgid_index = gid_index,
				 .hop_limit = 64 },
		},
	};
	int mask = IBV_QP_STATE;

	if (v->kind != UD)
		mask |= IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
			IBV_QP_RQ_PSN;
	if (v->kind == RC || v->kind == XRC_TARGET)
		mask |= IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
	return ibv_modify_qp(v->qp, &attr, mask);
}

/* It waits for ever for what it has asked for. */
static inline int victim_to_rts(struct victim *v)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTS, .sq_psn = ASKED_PSN, .rnr_retry = 7,
		.retry_cnt = 7, .max_rd_atomic = 4,
	};
	int mask = IBV_QP_STATE | IBV_QP_SQ_PSN;

	if (is_reliable(v))
		mask |= IBV_QP_TIMEOUT;
	if (v->kind == RC || v->kind == XRC_INITIATOR)
		mask |= IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
			IBV_QP_MAX_QP_RD_ATOMIC;
	return ibv_modify_qp(v->qp, &attr, mask);
}

/* What it is told of is of no interest, but must not pile up. */
static inline void forget_events(void)
{
	struct ibv_async_event event;

	while (!ibv_get_async_event(ctx, &event))
		ibv_ack_async_event(&event);
}

/* From whatever state, as it was. */
static inline void victim_heal(struct victim *v)
{
	struct ibv_qp_attr reset = { .qp_state = IBV_QPS_RESET };
	struct ibv_wc wc;
	int i;

	v->psn = FIRST_PSN;
	if (!v->qp)
		return;
	EXPECT(!ibv_modify_qp(v->qp, &reset, IBV_QP_STATE));
	EXPECT(!victim_to_init(v) && !victim_to_rtr(v) && !victim_to_rts(v));
	forget_events();
	while (v->cq && ibv_poll_cq(v->cq, 1, &wc) > 0)
		;
	/* What the target had taken is lost with its state. */
	for (i = 0; i < (v->srq ? 1 : 4); i++)
		victim_post(v);
}

static inline enum ibv_qp_state victim_state(const struct victim *v)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	if (!v->qp)
		return IBV_QPS_RTS;
	EXPECT(!ibv_query_qp(v->qp, &attr, IBV_QP_STATE, &init));
	return attr.qp_state;
}

/* All of them, but for that one. */
static inline void others_are_well(const struct victim *but)
{
	struct victim *v;

	for (v = victims; v < victims + KINDS; v++)
		EXPECT(v == but || victim_state(v) == IBV_QPS_RTS);
}

static inline void guard_is_whole(void)
{
	size_t i;

	for (i = 0; i < GUARD; i++)
		EXPECT(victim_arena[i] == 0x5a &&
		       victim_arena[GUARD + LENT + i] == 0x5a);
}

static inline void make_shared_queue(struct victim *v)
{
	struct ibv_srq_init_attr_ex init = {
		.attr = { .max_wr = SHARED_DEPTH, .max_sge = 1 },
		.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD |
			     IBV_SRQ_INIT_ATTR_XRCD | IBV_SRQ_INIT_ATTR_CQ,
		.srq_type = IBV_SRQT_XRC, .pd = pd, .xrcd = victim_domain,
		.cq = v->cq,
	};
	int i;

	v->srq = ibv_create_srq_ex(ctx, &init);
	EXPECT(v->srq && !ibv_get_srq_num(v->srq, &v->srqn));
	for (i = 0; i < DEPTH; i++)
		victim_post(v);
}

static inline void make_victim(struct victim *v)
{
	struct ibv_qp_init_attr_ex init = {
		.qp_type = v->type, .sq_sig_all = 1, .pd = pd,
		.comp_mask = IBV_QP_INIT_ATTR_PD,
		.cap = { .max_send_wr = DEPTH, .max_recv_wr = DEPTH,
			 .max_send_sge = 1, .max_recv_sge = 1 },
	};

	if (v->kind == GSI)
		return;
	v->cq = ibv_create_cq(ctx, 2 * SHARED_DEPTH, NULL, NULL, 0);
	EXPECT(v->cq);
	init.send_cq = v->cq;
	init.recv_cq = v->cq;
	if (v->kind == XRC_INITIATOR)
		init.recv_cq = NULL;
	if (v->kind == XRC_TARGET) {
		make_shared_queue(v);
		init = (struct ibv_qp_init_attr_ex) {
			.qp_type = v->type, .xrcd = victim_domain,
			.comp_mask = IBV_QP_INIT_ATTR_XRCD,
		};
	}
	v->qp = ibv_create_qp_ex(ctx, &init);
	EXPECT(v->qp);
	v->qpn = v->qp->qp_num;
	victim_heal(v);
}

static inline void make_victims(const union ibv_gid *peer)
{
	struct ibv_xrcd_init_attr domain = {
		.comp_mask = IBV_XRCD_INIT_ATTR_FD |
			     IBV_XRCD_INIT_ATTR_OFLAGS,
		.fd = -1, .oflags = O_CREAT,
	};
	struct victim *v;

	peer_gid = *peer;
	memset(victim_arena, 0x5a, sizeof(victim_arena));
	victim_domain = ibv_open_xrcd(ctx, &domain);
	lent_mr = ibv_reg_mr(pd, lent, LENT, victim_rights);
	if (!lent_mr) {
		victim_rights = RIGHTS;
		lent_mr = ibv_reg_mr(pd, lent, LENT, victim_rights);
	}
	received_mr = ibv_reg_mr(pd, received, sizeof(received),
				 IBV_ACCESS_LOCAL_WRITE);
	EXPECT(victim_domain && lent_mr && received_mr);
	EXPECT(!fcntl(ctx->async_fd, F_SETFL, O_NONBLOCK));
	for (v = victims; v < victims + KINDS; v++) {
		v->peer_qpn = FAKE_QPN + v->kind;
		make_victim(v);
	}
}

static inline void unmake_victim(struct victim *v)
{
	EXPECT(!v->qp || !ibv_destroy_qp(v->qp));
	EXPECT(!v->srq || !ibv_destroy_srq(v->srq));
	EXPECT(!v->cq || !ibv_destroy_cq(v->cq));
}

static inline void unmake_victims(void)
{
	struct victim *v;

	for (v = victims; v < victims + KINDS; v++)
		unmake_victim(v);
	EXPECT(!ibv_dereg_mr(lent_mr) && !ibv_dereg_mr(received_mr));
	EXPECT(!ibv_close_xrcd(victim_domain));
}

#endif /* FRDMA_TEST_VICTIM_H */
