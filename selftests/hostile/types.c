// SPDX-License-Identifier: GPL-2.0
/*
 * Queue pairs of each type, used as they should not be. types.sh builds and
 * runs it:
 *
 *	types DEVICE GID_INDEX CASE
 */
#include <fcntl.h>
#include <stdbool.h>

#include "../lib/pair.h"
#include "../lib/bystander.h"

#define PAGE	4096
#define DEPTH	4
#define QKEY	0x1234
#define GRH	40

#define COUNT(array)	(sizeof(array) / sizeof((array)[0]))

/* Begins before 2^64 and ends behind it. */
#define WRAPS	(-4ULL)

static unsigned char *memory;
static struct ibv_mr *mr;
static struct ibv_xrcd *domain;

/** struct type - a type, and the attributes that it is brought on with */
struct type {
	const char *name;
	enum ibv_qp_type type;
	int to_init, to_rtr, to_rts;
};

#define TO_RTR_UC	(IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | \
			 IBV_QP_DEST_QPN | IBV_QP_RQ_PSN)

static const struct type types[] = {
	{ "RC", IBV_QPT_RC, TO_INIT, TO_RTR, TO_RTS },
	{ "UC", IBV_QPT_UC, TO_INIT, TO_RTR_UC, IBV_QP_STATE | IBV_QP_SQ_PSN },
	{ "UD", IBV_QPT_UD, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
	  IBV_QP_QKEY, IBV_QP_STATE, IBV_QP_STATE | IBV_QP_SQ_PSN },
	{ "XRC_SEND", IBV_QPT_XRC_SEND, TO_INIT, TO_RTR_UC, TO_RTS },
	{ "XRC_RECV", IBV_QPT_XRC_RECV, TO_INIT, TO_RTR,
	  IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_SQ_PSN },
};

static const struct type *type_of(enum ibv_qp_type type)
{
	size_t i;

	for (i = 0; i < COUNT(types); i++)
		if (types[i].type == type)
			return &types[i];
	return NULL;
}

static bool sends(const struct type *t)
{
	return t->type != IBV_QPT_XRC_RECV;
}

/* Has a receive queue of its own. */
static bool receives(const struct type *t)
{
	return t->type != IBV_QPT_XRC_RECV && t->type != IBV_QPT_XRC_SEND;
}

static struct ibv_cq *make_cq(void)
{
	struct ibv_cq *cq = ibv_create_cq(ctx, 4 * DEPTH, NULL, NULL, 0);

	EXPECT(cq);
	return cq;
}

static struct ibv_qp *try_qp(const struct type *t, struct ibv_cq *cq,
			     struct ibv_srq *srq, struct ibv_qp_cap cap)
{
	struct ibv_qp_init_attr_ex init = {
		.qp_type = t->type, .sq_sig_all = 1, .srq = srq, .cap = cap,
		.comp_mask = IBV_QP_INIT_ATTR_PD, .pd = pd,
		.send_cq = sends(t) ? cq : NULL,
		.recv_cq = receives(t) ? cq : NULL,
	};

	if (t->type == IBV_QPT_XRC_RECV) {
		init.comp_mask = IBV_QP_INIT_ATTR_XRCD;
		init.xrcd = domain;
	}
	errno = 0;
	return ibv_create_qp_ex(ctx, &init);
}

static struct ibv_qp *make_qp_of(const struct type *t, struct ibv_cq *cq,
				 struct ibv_srq *srq)
{
	struct ibv_qp *qp = try_qp(t, cq, srq, (struct ibv_qp_cap) {
		.max_send_wr = DEPTH, .max_recv_wr = DEPTH,
		.max_send_sge = 2, .max_recv_sge = 2,
	});

	EXPECT(qp);
	return qp;
}

/* What leads to a state; sets the attributes that have to be named for it. */
static struct ibv_qp_attr attr_to(const struct type *t, uint32_t peer,
				  enum ibv_qp_state state, int *mask)
{
	struct ibv_qp_attr attr = { .qp_state = state };

	*mask = IBV_QP_STATE;
	if (state == IBV_QPS_INIT) {
		*mask = t->to_init;
		attr = init_attr();
		attr.qkey = QKEY;
	} else if (state == IBV_QPS_RTR) {
		*mask = t->to_rtr;
		attr = rtr_attr(peer);
	} else if (state == IBV_QPS_RTS) {
		*mask = t->to_rts;
		attr = rts_attr();
	}
	return attr;
}

static int move(struct ibv_qp *qp, uint32_t peer, enum ibv_qp_state state)
{
	struct ibv_qp_attr attr;
	int mask;

	attr = attr_to(type_of(qp->qp_type), peer, state, &mask);
	return ibv_modify_qp(qp, &attr, mask);
}

/* From RESET by the usual way; its peer may be itself. */
static void bring_to(struct ibv_qp *qp, uint32_t peer, enum ibv_qp_state state)
{
	int on;

	for (on = IBV_QPS_INIT; on <= IBV_QPS_SQD && on <= (int)state; on++)
		EXPECT(!move(qp, peer, on));
	if (state == IBV_QPS_ERR)
		EXPECT(!move(qp, peer, IBV_QPS_ERR));
}

static enum ibv_qp_state state_of(struct ibv_qp *qp)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	EXPECT(!ibv_query_qp(qp, &attr, IBV_QP_STATE, &init));
	return attr.qp_state;
}

/*
 * Creation
 */

static void beyond_limits(void)
{
	struct ibv_cq *cq = make_cq();
	struct ibv_device_attr dev;
	size_t i, n;

	EXPECT(!ibv_query_device(ctx, &dev));
	struct ibv_qp_cap caps[] = {
		{ .max_send_wr = dev.max_qp_wr + 1 },
		{ .max_send_sge = dev.max_sge + 1 },
		{ .max_inline_data = 1025 },
		{ .max_recv_wr = dev.max_qp_wr + 1 },
		{ .max_recv_sge = dev.max_sge + 1 },
	};

	for (i = 0; i < COUNT(types); i++)
		for (n = 0; sends(&types[i]) && n < COUNT(caps); n++) {
			/* Without a receive queue, its size means nothing. */
			if (n >= 3 && !receives(&types[i]))
				continue;
			EXPECT(!try_qp(&types[i], cq, NULL, caps[n]));
			EXPECT(errno == EINVAL);
		}
	EXPECT(!ibv_destroy_cq(cq));
}

static struct ibv_srq *make_xrc_srq(struct ibv_cq *cq)
{
	struct ibv_srq_init_attr_ex init = {
		.attr = { .max_wr = DEPTH, .max_sge = 2 },
		.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD |
			     IBV_SRQ_INIT_ATTR_XRCD | IBV_SRQ_INIT_ATTR_CQ,
		.srq_type = IBV_SRQT_XRC, .pd = pd, .xrcd = domain, .cq = cq,
	};
	struct ibv_srq *srq = ibv_create_srq_ex(ctx, &init);

	EXPECT(srq);
	return srq;
}

/* Handles of nothing, and of what is no parent for it. */
/* Numbers that the kernel has not, in what the library has made. */
static void wrong_parents(void)
{
	struct ibv_cq *cq = make_cq(), *no_cq = make_cq();
	struct ibv_srq *srq = make_xrc_srq(cq), *no_srq = make_xrc_srq(cq);
	uint32_t cq_handle = no_cq->handle, srq_handle = no_srq->handle;
	struct ibv_qp_cap one = { .max_send_wr = 1, .max_recv_wr = 1 };
	const struct type *rc = type_of(IBV_QPT_RC);
	uint32_t pd_handle = pd->handle;

	no_cq->handle = 0x7777;
	EXPECT(!try_qp(rc, no_cq, NULL, one) && errno == ENOENT);
	no_cq->handle = cq_handle;
	no_srq->handle = 0x7777;
	EXPECT(!try_qp(rc, cq, no_srq, one) && errno == ENOENT);
	no_srq->handle = srq_handle;
	/* It gives to targets, which name it in each message. */
	EXPECT(!try_qp(rc, cq, srq, one) && errno == EINVAL);
	pd->handle = 0x7777;
	EXPECT(!try_qp(rc, cq, NULL, one) && errno == ENOENT);
	pd->handle = pd_handle;
	EXPECT(!ibv_destroy_srq(srq) && !ibv_destroy_srq(no_srq));
	EXPECT(!ibv_destroy_cq(cq) && !ibv_destroy_cq(no_cq));
}

/*
 * States
 */

static void refuses(struct ibv_qp *qp, const struct ibv_qp_attr *attr,
		    int mask)
{
	enum ibv_qp_state before = state_of(qp);
	struct ibv_qp_attr copy = *attr;
	int err = ibv_modify_qp(qp, &copy, mask);

	if (err != EINVAL || state_of(qp) != before) {
		printf("%s from %d to %d with 0x%x: %d, now %d\n",
		       type_of(qp->qp_type)->name, before, attr->qp_state,
		       mask, err, state_of(qp));
		exit(1);
	}
}

#define BIT(state)	(1U << IBV_QPS_##state)

/* IBTA figure 124: where no arrow leads. */
static const unsigned int no_way[] = {
	[IBV_QPS_RESET]	= BIT(RTR) | BIT(RTS) | BIT(SQD) | BIT(SQE),
	[IBV_QPS_INIT]	= BIT(RTS) | BIT(SQD) | BIT(SQE),
	[IBV_QPS_RTR]	= BIT(INIT) | BIT(RTR) | BIT(SQD) | BIT(SQE),
	[IBV_QPS_RTS]	= BIT(INIT) | BIT(RTR) | BIT(SQE),
	[IBV_QPS_SQD]	= BIT(INIT) | BIT(RTR) | BIT(SQE),
	[IBV_QPS_SQE]	= 0,
	[IBV_QPS_ERR]	= BIT(INIT) | BIT(RTR) | BIT(RTS) | BIT(SQD) |
			  BIT(SQE),
};

static void wrong_transitions(void)
{
	struct ibv_cq *cq = make_cq();
	unsigned int from, to;
	size_t i;

	for (i = 0; i < COUNT(types); i++)
		for (from = 0; from < COUNT(no_way); from++) {
			struct ibv_qp *qp = make_qp_of(&types[i], cq, NULL);
			struct ibv_qp_attr attr;
			int mask;

			bring_to(qp, qp->qp_num, from);
			for (to = 0; to < COUNT(no_way); to++) {
				if (!(no_way[from] & 1U << to))
					continue;
				attr = attr_to(&types[i], qp->qp_num, to,
					       &mask);
				refuses(qp, &attr, mask);
			}
			EXPECT(!ibv_destroy_qp(qp));
		}
	EXPECT(!ibv_destroy_cq(cq));
}

/* What a type does not have, and without what it cannot go on. */
static void wrong_attributes(void)
{
	static const struct {
		enum ibv_qp_type type;
		enum ibv_qp_state to;
		int extra;
	} rows[] = {
		{ IBV_QPT_RC, IBV_QPS_INIT, IBV_QP_QKEY },
		{ IBV_QPT_UC, IBV_QPS_RTR, IBV_QP_MAX_DEST_RD_ATOMIC },
		{ IBV_QPT_UC, IBV_QPS_RTR, IBV_QP_MIN_RNR_TIMER },
		{ IBV_QPT_UC, IBV_QPS_RTS, IBV_QP_TIMEOUT },
		{ IBV_QPT_UC, IBV_QPS_RTS, IBV_QP_RNR_RETRY },
		{ IBV_QPT_UD, IBV_QPS_INIT, IBV_QP_ACCESS_FLAGS },
		{ IBV_QPT_UD, IBV_QPS_RTR, IBV_QP_AV },
		{ IBV_QPT_UD, IBV_QPS_RTR, IBV_QP_DEST_QPN },
		{ IBV_QPT_UD, IBV_QPS_RTS, IBV_QP_RETRY_CNT },
		{ IBV_QPT_XRC_SEND, IBV_QPS_RTR, IBV_QP_QKEY },
		{ IBV_QPT_XRC_RECV, IBV_QPS_RTR, IBV_QP_QKEY },
	};
	struct ibv_cq *cq = make_cq();
	size_t i;

	for (i = 0; i < COUNT(rows); i++) {
		const struct type *t = type_of(rows[i].type);
		struct ibv_qp *qp = make_qp_of(t, cq, NULL);
		struct ibv_qp_attr attr;
		int mask, bit;

		bring_to(qp, qp->qp_num, rows[i].to - 1);
		attr = attr_to(t, qp->qp_num, rows[i].to, &mask);
		refuses(qp, &attr, mask | rows[i].extra);
		for (bit = 1; bit <= IBV_QP_DEST_QPN; bit <<= 1)
			if (mask & bit && bit != IBV_QP_STATE)
				refuses(qp, &attr, mask & ~bit);
		EXPECT(!ibv_modify_qp(qp, &attr, mask));
		EXPECT(!ibv_destroy_qp(qp));
	}
	EXPECT(!ibv_destroy_cq(cq));
}

/*
 * Posting
 */

static int try_send(struct ibv_qp *qp, enum ibv_wr_opcode opcode,
		    struct ibv_sge sge)
{
	struct ibv_send_wr *bad = NULL, wr = {
		.sg_list = &sge, .num_sge = 1, .opcode = opcode,
	};
	int err = ibv_post_send(qp, &wr, &bad);

	EXPECT(!err || bad == &wr);
	return err;
}

static int try_recv(struct ibv_qp *qp, struct ibv_sge sge)
{
	struct ibv_recv_wr *bad = NULL, wr = { .sg_list = &sge, .num_sge = 1 };
	int err = ibv_post_recv(qp, &wr, &bad);

	EXPECT(!err || bad == &wr);
	return err;
}

static struct ibv_sge piece(uint64_t addr, uint32_t len)
{
	return (struct ibv_sge) { addr, len, mr->lkey };
}

static void posts_in_wrong_states(void)
{
	struct ibv_sge good = piece((uintptr_t)memory, 8);
	struct ibv_cq *cq = make_cq();
	struct ibv_wc wc;
	size_t i;
	int on;

	for (i = 0; i < COUNT(types); i++) {
		struct ibv_qp *qp = make_qp_of(&types[i], cq, NULL);

		EXPECT(try_recv(qp, good) == EINVAL);
		EXPECT(try_send(qp, IBV_WR_SEND, good) == EINVAL);
		for (on = IBV_QPS_INIT; on <= IBV_QPS_RTR; on++) {
			EXPECT(!move(qp, qp->qp_num, on));
			EXPECT(try_send(qp, IBV_WR_SEND, good) == EINVAL);
			EXPECT(try_recv(qp, good) ==
			       (receives(&types[i]) ? 0 : EINVAL));
		}
		EXPECT(!ibv_destroy_qp(qp));
	}
	EXPECT(!ibv_poll_cq(cq, 1, &wc) && !ibv_destroy_cq(cq));
}

static void wrong_opcodes(void)
{
	static const struct {
		enum ibv_qp_type type;
		enum ibv_wr_opcode opcode;
	} rows[] = {
		{ IBV_QPT_RC, IBV_WR_TSO },
		{ IBV_QPT_UC, IBV_WR_RDMA_READ },
		{ IBV_QPT_UC, IBV_WR_ATOMIC_FETCH_AND_ADD },
		{ IBV_QPT_UC, IBV_WR_ATOMIC_CMP_AND_SWP },
		{ IBV_QPT_UC, IBV_WR_SEND_WITH_INV },
		{ IBV_QPT_UD, IBV_WR_RDMA_WRITE },
		{ IBV_QPT_UD, IBV_WR_RDMA_WRITE_WITH_IMM },
		{ IBV_QPT_UD, IBV_WR_RDMA_READ },
		{ IBV_QPT_UD, IBV_WR_ATOMIC_FETCH_AND_ADD },
		{ IBV_QPT_UD, IBV_WR_SEND_WITH_INV },
		{ IBV_QPT_UD, IBV_WR_LOCAL_INV },
		{ IBV_QPT_UD, IBV_WR_BIND_MW },
		{ IBV_QPT_XRC_SEND, IBV_WR_TSO },
		{ IBV_QPT_XRC_RECV, IBV_WR_SEND },
	};
	struct ibv_cq *cq = make_cq();
	size_t i;

	for (i = 0; i < COUNT(rows); i++) {
		struct ibv_qp *qp = make_qp_of(type_of(rows[i].type), cq,
					       NULL);

		bring_to(qp, qp->qp_num, IBV_QPS_RTS);
		EXPECT(try_send(qp, rows[i].opcode,
				piece((uintptr_t)memory, 8)) == EINVAL);
		EXPECT(state_of(qp) == IBV_QPS_RTS);
		EXPECT(!ibv_destroy_qp(qp));
	}
	EXPECT(!ibv_destroy_cq(cq));
}

/*
 * Memory
 */

/** struct ends - near sends to far, which may take from a shared queue */
struct ends {
	struct ibv_cq *near_cq, *far_cq;
	struct ibv_qp *near, *far;
	struct ibv_srq *srq;
	struct ibv_ah *ah;
	uint32_t srqn;
};

static struct ibv_srq *make_srq(void)
{
	struct ibv_srq_init_attr init = {
		.attr = { .max_wr = DEPTH, .max_sge = 2 },
	};
	struct ibv_srq *srq = ibv_create_srq(pd, &init);

	EXPECT(srq);
	return srq;
}

static struct ends make_ends(enum ibv_qp_type type, bool shared)
{
	struct ibv_ah_attr attr = rtr_attr(0).ah_attr;
	struct ends e = { .near_cq = make_cq(), .far_cq = make_cq() };

	if (type == IBV_QPT_XRC_SEND) {
		e.srq = make_xrc_srq(e.far_cq);
		EXPECT(!ibv_get_srq_num(e.srq, &e.srqn));
		e.far = make_qp_of(type_of(IBV_QPT_XRC_RECV), NULL, NULL);
	} else {
		e.srq = shared ? make_srq() : NULL;
		e.far = make_qp_of(type_of(type), e.far_cq, e.srq);
	}
	e.near = make_qp_of(type_of(type), e.near_cq, NULL);
	e.ah = ibv_create_ah(pd, &attr);
	EXPECT(e.ah);
	bring_to(e.near, e.far->qp_num, IBV_QPS_RTS);
	bring_to(e.far, e.near->qp_num, IBV_QPS_RTS);
	return e;
}

static void unmake_ends(struct ends *e)
{
	EXPECT(!ibv_destroy_qp(e->near) && !ibv_destroy_qp(e->far));
	EXPECT(!e->srq || !ibv_destroy_srq(e->srq));
	EXPECT(!ibv_destroy_cq(e->near_cq) && !ibv_destroy_cq(e->far_cq));
	EXPECT(!ibv_destroy_ah(e->ah));
}

static void post_send(struct ends *e, struct ibv_sge *sges, int n)
{
	struct ibv_send_wr *bad, wr = {
		.sg_list = sges, .num_sge = n, .opcode = IBV_WR_SEND,
		.qp_type.xrc.remote_srqn = e->srqn,
	};

	if (e->near->qp_type == IBV_QPT_UD) {
		wr.wr.ud.ah = e->ah;
		wr.wr.ud.remote_qpn = e->far->qp_num;
		wr.wr.ud.remote_qkey = QKEY;
	}
	EXPECT(!ibv_post_send(e->near, &wr, &bad));
}

static void post_recv(struct ends *e, struct ibv_sge *sges, int n)
{
	struct ibv_recv_wr *bad, wr = { .sg_list = sges, .num_sge = n };

	EXPECT(!(e->srq ? ibv_post_srq_recv(e->srq, &wr, &bad) :
			  ibv_post_recv(e->far, &wr, &bad)));
}

static bool is_reliable(enum ibv_qp_type type)
{
	return type != IBV_QPT_UC && type != IBV_QPT_UD;
}

static const enum ibv_qp_type senders[] = {
	IBV_QPT_RC, IBV_QPT_UC, IBV_QPT_UD, IBV_QPT_XRC_SEND,
};

/* The first element is right, and what it names is not sent either. */
static void sources_that_are_wrong(void)
{
	uint64_t m = (uintptr_t)memory;
	struct ibv_sge wrong[] = {
		piece(WRAPS, 8), piece(m + PAGE - 4, 8), piece(m - 1, 8),
		piece(0, 8), { m, 8, mr->lkey ^ 1 }, { m, 8, 0 },
	};
	struct ibv_wc wc;
	size_t i, n;

	for (i = 0; i < COUNT(senders); i++)
		for (n = 0; n < COUNT(wrong); n++) {
			struct ends e = make_ends(senders[i], false);
			struct ibv_sge sges[2] = { piece(m, 8), wrong[n] };
			struct ibv_sge room = piece(m + 100, 100);

			post_recv(&e, &room, 1);
			post_send(&e, sges, 2);
			EXPECT(status(e.near_cq) == IBV_WC_LOC_PROT_ERR);
			EXPECT(state_of(e.near) == (is_reliable(senders[i]) ?
						    IBV_QPS_ERR : IBV_QPS_SQE));
			EXPECT(state_of(e.far) == IBV_QPS_RTS);
			EXPECT(!ibv_poll_cq(e.far_cq, 1, &wc));
			unmake_ends(&e);
		}
}

/* Of the receiver's own making: it ends there, and the sender may hear of it. */
static void receive_into(enum ibv_qp_type type, bool shared,
			 struct ibv_sge wrong)
{
	struct ends e = make_ends(type, shared);
	struct ibv_sge source = piece((uintptr_t)memory, 200);
	struct ibv_sge sges[2] = { piece((uintptr_t)memory + 200, GRH),
				   wrong };

	post_recv(&e, sges, 2);
	post_send(&e, &source, 1);
	EXPECT(status(e.near_cq) == (is_reliable(type) ? IBV_WC_REM_OP_ERR :
							 IBV_WC_SUCCESS));
	EXPECT(status(e.far_cq) == IBV_WC_LOC_PROT_ERR);
	EXPECT(state_of(e.far) == IBV_QPS_ERR);
	unmake_ends(&e);
}

static void receives_that_are_wrong(void)
{
	uint64_t m = (uintptr_t)memory;
	struct ibv_sge wrong[] = {
		piece(WRAPS, 400), piece(m + PAGE - 4, 400),
		piece(m - 1, 400), piece(0, 400), { m, 400, mr->lkey ^ 1 },
	};
	size_t i, n;

	for (n = 0; n < COUNT(wrong); n++) {
		for (i = 0; i < COUNT(senders); i++)
			receive_into(senders[i], false, wrong[n]);
		for (i = 0; i < 3; i++)
			receive_into(senders[i], true, wrong[n]);
	}
}

/* IBTA 10.2.2.1: of another domain; and one that is gone. */
static void address_handles_that_are_wrong(void)
{
	struct ibv_sge source = piece((uintptr_t)memory, 8);
	struct ibv_ah_attr attr = rtr_attr(0).ah_attr;
	struct ibv_pd *other = ibv_alloc_pd(ctx);
	struct ibv_ah *strange = ibv_create_ah(other, &attr);
	struct ibv_ah *gone = ibv_create_ah(pd, &attr);
	/* What the library frees: the handle, and its number in the kernel. */
	struct { struct ibv_ah ah; uint32_t number; } kept;
	struct ibv_ah *ahs[] = { strange, &kept.ah };
	struct ibv_qp_attr on = {
		.qp_state = IBV_QPS_RTS, .cur_qp_state = IBV_QPS_SQE,
	};
	struct ends e = make_ends(IBV_QPT_UD, false);
	struct ibv_ah *own = e.ah;
	size_t i;

	EXPECT(strange && gone);
	memcpy(&kept, gone, sizeof(kept));
	EXPECT(!ibv_destroy_ah(gone));
	for (i = 0; i < COUNT(ahs); i++) {
		e.ah = ahs[i];
		post_send(&e, &source, 1);
		EXPECT(status(e.near_cq) == IBV_WC_LOC_QP_OP_ERR);
		EXPECT(!ibv_modify_qp(e.near, &on,
				      IBV_QP_STATE | IBV_QP_CUR_STATE));
	}
	e.ah = own;
	post_recv(&e, (struct ibv_sge[]) { piece((uintptr_t)memory, 100) }, 1);
	post_send(&e, &source, 1);
	EXPECT(status(e.near_cq) == IBV_WC_SUCCESS);
	EXPECT(status(e.far_cq) == IBV_WC_SUCCESS);
	unmake_ends(&e);
	EXPECT(!ibv_destroy_ah(strange) && !ibv_dealloc_pd(other));
}

static const struct test_case cases[] = {
	CASE(beyond_limits),
	CASE(wrong_parents),
	CASE(wrong_transitions),
	CASE(wrong_attributes),
	CASE(posts_in_wrong_states),
	CASE(wrong_opcodes),
	CASE(sources_that_are_wrong),
	CASE(receives_that_are_wrong),
	CASE(address_handles_that_are_wrong),
	{ }
};

static void set_up(const char *device, const char *gid)
{
	struct ibv_xrcd_init_attr attr = {
		.comp_mask = IBV_XRCD_INIT_ATTR_FD |
			     IBV_XRCD_INIT_ATTR_OFLAGS,
		.fd = -1, .oflags = O_CREAT,
	};

	open_device(device, gid);
	memory = aligned_alloc(PAGE, PAGE);
	mr = ibv_reg_mr(pd, memory, PAGE, RIGHTS);
	domain = ibv_open_xrcd(ctx, &attr);
	EXPECT(mr && domain);
	bystander_begins();
}

/* All that was made can be unmade: nothing was held by a mistake. */
static void tear_down(void)
{
	bystander_goes_on();
	bystander_ends();
	EXPECT(!ibv_close_xrcd(domain) && !ibv_dereg_mr(mr));
	EXPECT(!ibv_dealloc_pd(pd) && !ibv_close_device(ctx));
}

int main(int argc, char **argv)
{
	if (argc != 4)
		return 2;
	set_up(argv[1], argv[2]);
	if (run_case(cases, argv[3]))
		return 2;
	tear_down();
	return 0;
}
