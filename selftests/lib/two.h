/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A connection between two devices, and some memory for each of its ends.
 */
#ifndef FRDMA_TEST_TWO_H
#define FRDMA_TEST_TWO_H

#include "pair.h"

/** struct end - one end of the connection, with the memory of its message */
struct end {
	struct ibv_context *ctx;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	struct ibv_mr *mr;
	union ibv_gid gid;
	int gid_index;
	int fd;
	uint8_t *bytes;
};

static struct end near = { .fd = -1 }, far = { .fd = -1 };

static inline void open_end(struct end *end, const char *name, const char *gid)
{
	open_device(name, gid);
	end->ctx = ctx;
	end->pd = pd;
	end->gid_index = gid_index;
	end->cq = ibv_create_cq(ctx, 8, NULL, NULL, 0);
	EXPECT(end->cq && !ibv_query_gid(ctx, 1, gid_index, &end->gid));
}

static inline void connect_end(struct end *end, const struct end *peer)
{
	struct ibv_qp_attr init = init_attr(), rts = rts_attr();
	struct ibv_qp_attr rtr;

	ctx = end->ctx;
	gid_index = end->gid_index;
	rtr = rtr_attr(peer->qp->qp_num);
	rtr.ah_attr.grh.dgid = peer->gid;
	EXPECT(!ibv_modify_qp(end->qp, &init, TO_INIT));
	EXPECT(!ibv_modify_qp(end->qp, &rtr, TO_RTR));
	EXPECT(!ibv_modify_qp(end->qp, &rts, TO_RTS));
}

static inline void make_qps(void)
{
	pd = near.pd;
	near.qp = make_qp(near.cq, 4);
	pd = far.pd;
	far.qp = make_qp(far.cq, 4);
	EXPECT(near.qp && far.qp);
	connect_end(&near, &far);
	connect_end(&far, &near);
}

#endif /* FRDMA_TEST_TWO_H */
