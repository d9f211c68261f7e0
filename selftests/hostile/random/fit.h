/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Arguments that have to fit each other, and what is known of an object once
 * a call was taken.
 */
#ifndef FRDMA_TEST_FIT_H
#define FRDMA_TEST_FIT_H

#include "call.h"

#define QKEY		0x1234

static union ibv_gid own_gid;

static void fill_ah_attr(struct thread *me, struct ib_uverbs_ah_attr *attr)
{
	attr->is_global = 1;
	attr->port_num = 1;
	attr->grh.sgid_index = gid_index;
	attr->grh.hop_limit = 1 + below(me, 64);
	memcpy(attr->grh.dgid, &own_gid, sizeof(own_gid));
}

static void fill_ah(struct thread *me, void *body)
{
	fill_ah_attr(me, &((struct ib_uverbs_create_ah *)body)->attr);
}

static void taken_ah(struct thread *me, const struct sent *sent)
{
	struct object *object = lock_picked(me, AH);

	if (object)
		object->number = *(uint32_t *)sent->driver;
	unlock(AH);
}

/* Who may write from afar may write here; one in 16 has all there is. */
static uint32_t fit_rights(uint32_t rights)
{
	if (rights & (IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC |
		      IBV_ACCESS_MW_BIND))
		rights |= IBV_ACCESS_LOCAL_WRITE;
	return rights;
}

static void fill_reg(struct thread *me, void *body)
{
	struct ib_uverbs_reg_mr *reg = body;

	reg->hca_va = reg->start;
	reg->access_flags = fit_rights(reg->access_flags);
	if (!once_in(me, 16))
		return;
	reg->start = reg->hca_va = 0;
	reg->length = -1ULL;
	reg->access_flags |= IBV_ACCESS_ON_DEMAND;
}

static void taken_reg(struct thread *me, const struct sent *sent)
{
	const struct ib_uverbs_reg_mr *reg = sent->body;
	struct object *object = lock_picked(me, MR);

	if (object) {
		object->addr = reg->hca_va ?: (uintptr_t)arena;
		object->len = reg->hca_va ? reg->length : ARENA;
		object->type = reg->access_flags;
	}
	unlock(MR);
}

static void fill_rereg(struct thread *me, void *body)
{
	struct ib_uverbs_rereg_mr *rereg = body;

	(void)me;
	rereg->hca_va = rereg->start;
	rereg->access_flags = fit_rights(rereg->access_flags);
}

static void taken_rereg(struct thread *me, const struct sent *sent)
{
	const struct ib_uverbs_rereg_mr_resp *resp = (void *)sent->answer;
	const struct ib_uverbs_rereg_mr *rereg = sent->body;
	struct object *object = lock_picked(me, MR);

	if (object) {
		object->number = resp->lkey;
		object->rkey = resp->rkey;
		if (rereg->flags & IBV_REREG_MR_CHANGE_TRANSLATION) {
			object->addr = rereg->hca_va;
			object->len = rereg->length;
		}
	}
	unlock(MR);
}

/* Device memory and dma-bufs are counted from zero. */
static void taken_region(struct thread *me, uint64_t len)
{
	struct object *object = lock_picked(me, MR);

	if (object) {
		object->addr = 0;
		object->len = len;
	}
	unlock(MR);
}

static void taken_dm_mr(struct thread *me, const struct sent *sent)
{
	taken_region(me, attribute(sent, UVERBS_ATTR_REG_DM_MR_LENGTH));
}

static void taken_dmabuf_mr(struct thread *me, const struct sent *sent)
{
	taken_region(me, attribute(sent, UVERBS_ATTR_REG_DMABUF_MR_LENGTH));
}

static void taken_reg_mr(struct thread *me, const struct sent *sent)
{
	struct object *object = lock_picked(me, MR);

	if (object) {
		object->addr = attribute(sent, UVERBS_ATTR_REG_MR_IOVA);
		object->len = attribute(sent, UVERBS_ATTR_REG_MR_LENGTH);
		object->type = attribute(sent, UVERBS_ATTR_REG_MR_ACCESS_FLAGS);
	}
	unlock(MR);
}

static uint8_t some_type(struct thread *me)
{
	static const uint8_t types[] = {
		IBV_QPT_RC, IBV_QPT_RC, IBV_QPT_UC, IBV_QPT_UD,
		IBV_QPT_XRC_SEND, IBV_QPT_XRC_RECV,
	};

	return types[below(me, sizeof(types))];
}

static void fill_qp(struct thread *me, void *body)
{
	struct ib_uverbs_create_qp *qp = body;

	qp->qp_type = some_type(me);
	qp->is_srq = once_in(me, 4);
	if (qp->qp_type == IBV_QPT_XRC_RECV)
		qp->pd_handle = pick(me, XRCD);
}

/* One in eight wants something more, or another table in place of receives. */
static void fill_ex_qp(struct thread *me, void *body)
{
	struct ib_uverbs_ex_create_qp *qp = body;

	qp->qp_type = some_type(me);
	qp->is_srq = once_in(me, 4);
	if (qp->qp_type == IBV_QPT_XRC_RECV)
		qp->pd_handle = pick(me, XRCD);
	if (!once_in(me, 8))
		return;
	qp->create_flags = any(me) & 0xfff;
	qp->source_qpn = below(me, 1 << 24);
	qp->comp_mask = below(me, 2);
	qp->rwq_ind_tbl_handle = below(me, 8);
}

static void has_made_qp(struct thread *me, uint32_t type)
{
	struct object *object = lock_picked(me, QP);

	if (object)
		object->type = type;
	unlock(QP);
}

static void taken_qp(struct thread *me, const struct sent *sent)
{
	const struct ib_uverbs_create_qp *qp = sent->body;

	has_made_qp(me, sent->call->in == sizeof(*qp) ? qp->qp_type :
							IBV_QPT_XRC_RECV);
}

static void taken_ex_qp(struct thread *me, const struct sent *sent)
{
	const struct ib_uverbs_ex_create_qp *qp = sent->body;

	has_made_qp(me, qp->qp_type);
}

static void taken_qp_method(struct thread *me, const struct sent *sent)
{
	has_made_qp(me, attribute(sent, UVERBS_ATTR_CREATE_QP_TYPE));
}

/* A target, if one can be found. */
static void fill_open_qp(struct thread *me, void *body)
{
	struct ib_uverbs_open_qp *qp = body;
	unsigned int i;

	pick(me, QP);
	for (i = 0; i < SLOTS && me->picked[QP].type != IBV_QPT_XRC_RECV; i++)
		pick(me, QP);
	qp->qpn = me->picked[QP].number;
	qp->qp_type = IBV_QPT_XRC_RECV;
}

static void fill_open_xrcd(struct thread *me, void *body)
{
	struct ib_uverbs_open_xrcd *xrcd = body;

	xrcd->fd = once_in(me, 8) ? below(me, 16) : -1U;
	xrcd->oflags = O_CREAT;
}

static void fill_xsrq(struct thread *me, void *body)
{
	((struct ib_uverbs_create_xsrq *)body)->srq_type =
		once_in(me, 4) ? IBV_SRQT_BASIC : IBV_SRQT_XRC;
}

static void fill_modify_srq(struct thread *me, void *body)
{
	struct ib_uverbs_modify_srq *srq = body;
	struct frdma_modify_srq *driver = (void *)(srq + 1);

	srq->attr_mask = once_in(me, 2) ? IBV_SRQ_LIMIT : IBV_SRQ_MAX_WR;
	if (srq->attr_mask != IBV_SRQ_MAX_WR)
		return;
	driver->resp_addr = (uintptr_t)me->answers;
	driver->resp_len = once_in(me, 8) ? below(me, 64) :
			   sizeof(struct frdma_modify_srq_resp);
	driver->reserved = 0;
}

static void map_again(struct thread *me, enum kind kind, const void *desc)
{
	struct object *object = lock_picked(me, kind);

	if (object)
		ring_map(kind, object - tables[kind].objects, 0, ctx->cmd_fd,
			 desc);
	unlock(kind);
}

static void taken_modify_srq(struct thread *me, const struct sent *sent)
{
	const struct ib_uverbs_modify_srq *srq = sent->body;

	if (srq->attr_mask == IBV_SRQ_MAX_WR)
		map_again(me, SRQ, sent->answer);
}

static void taken_resize_cq(struct thread *me, const struct sent *sent)
{
	map_again(me, CQ, sent->driver);
}

/* A group of IPv4, for a queue pair of datagrams, if there is one. */
static void fill_attach(struct thread *me, void *body)
{
	struct ib_uverbs_attach_mcast *group = body;
	unsigned int i;
	const uint8_t gid[16] = {
		[10] = 0xff, 0xff, 239, 1, 1, 1 + below(me, 3),
	};

	memcpy(group->gid, gid, sizeof(gid));
	group->mlid = 0xc000;
	for (i = 0; i < SLOTS && me->picked[QP].type != IBV_QPT_UD; i++)
		group->qp_handle = pick(me, QP);
}

static void taken_attach(struct thread *me, const struct sent *sent)
{
	const struct ib_uverbs_attach_mcast *group = sent->body;
	struct object *object = lock_picked(me, QP);

	if (object)
		object->group = group->gid[15];
	unlock(QP);
}

/* From the group that it is in, if one can be found that is in a group. */
static void fill_detach(struct thread *me, void *body)
{
	struct ib_uverbs_detach_mcast *group = body;
	unsigned int i;

	fill_attach(me, body);
	for (i = 0; i < SLOTS && !me->picked[QP].group; i++)
		group->qp_handle = pick(me, QP);
	if (me->picked[QP].group)
		group->gid[15] = me->picked[QP].group;
}

/* Those of the next state, as each type wants them. */
static uint32_t modify_mask(uint32_t type, uint32_t state)
{
	bool reliable = type == IBV_QPT_RC;
	bool requests = reliable || type == IBV_QPT_XRC_SEND;
	bool responds = reliable || type == IBV_QPT_XRC_RECV;

	switch (state) {
	case IBV_QPS_INIT:
		return IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
		       (type == IBV_QPT_UD ? IBV_QP_QKEY :
					     IBV_QP_ACCESS_FLAGS);
	case IBV_QPS_RTR:
		if (type == IBV_QPT_UD)
			return IBV_QP_STATE;
		return IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU |
		       IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
		       (responds ? IBV_QP_MAX_DEST_RD_ATOMIC |
				   IBV_QP_MIN_RNR_TIMER : 0);
	case IBV_QPS_RTS:
		return IBV_QP_STATE | IBV_QP_SQ_PSN |
		       (type == IBV_QPT_XRC_RECV ? IBV_QP_TIMEOUT : 0) |
		       (requests ? IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
				   IBV_QP_RNR_RETRY |
				   IBV_QP_MAX_QP_RD_ATOMIC : 0);
	default:
		return IBV_QP_STATE;
	}
}

static void modify_to(struct ib_uverbs_modify_qp *modify, uint32_t type,
		      uint32_t state, uint32_t peer)
{
	modify->attr_mask = modify_mask(type, state);
	modify->qp_state = state;
	modify->port_num = 1;
	modify->qkey = QKEY;
	modify->qp_access_flags = RIGHTS;
	modify->path_mtu = IBV_MTU_1024;
	modify->dest_qp_num = peer;
	modify->max_dest_rd_atomic = 4;
	modify->max_rd_atomic = 4;
	modify->min_rnr_timer = 1;
	modify->timeout = 14;
	modify->retry_cnt = 3;
	modify->rnr_retry = 2;
	modify->dest.is_global = 1;
	modify->dest.port_num = 1;
	modify->dest.sgid_index = gid_index;
	modify->dest.hop_limit = 4;
	memcpy(modify->dest.dgid, &own_gid, sizeof(own_gid));
}

/* Mostly one state on, and to another of our queue pairs, or to itself. */
static void fill_modify_qp(struct thread *me, void *body)
{
	struct object qp = me->picked[QP];
	uint32_t state, peer = qp.number;

	switch (qp.state) {
	case IBV_QPS_RESET ... IBV_QPS_RTR:
		state = qp.state + 1;
		break;
	default:
		state = once_in(me, 2) ? IBV_QPS_RESET : IBV_QPS_RTS;
		break;
	}
	if (once_in(me, 6))
		state = below(me, IBV_QPS_ERR + 1);
	if (once_in(me, 2)) {
		pick(me, QP);
		peer = me->picked[QP].number;
	}
	modify_to(body, qp.type, state, peer);
}

static void taken_modify_qp(struct thread *me, const struct sent *sent)
{
	const struct ib_uverbs_modify_qp *modify = sent->body;
	struct object *object;
	int i;

	(void)me;
	pthread_mutex_lock(&tables[QP].lock);
	for (i = 0; i < SLOTS; i++) {
		object = &tables[QP].objects[i];
		if (object->used && object->handle == modify->qp_handle &&
		    modify->attr_mask & IBV_QP_STATE)
			object->state = modify->qp_state;
	}
	unlock(QP);
}

#endif /* FRDMA_TEST_FIT_H */
