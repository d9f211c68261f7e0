// SPDX-License-Identifier: GPL-2.0
/* XRC. */
#include "fake.h"

TEST(xrc__initiator_names_the_queue)
{
	struct ibv_send_wr wr = {
		.opcode = IBV_WR_ATOMIC_CMP_AND_SWP,
		.wr.atomic = { .remote_addr = 8, .compare_add = 1,
			       .swap = 2, .rkey = 3 },
		.qp_type.xrc.remote_srqn = 0x4711,
	}, *bad;
	struct ibv_recv_wr recv = {}, *bad_recv;
	struct ibv_qp *qp = open_qp(IBV_QPT_XRC_SEND, 0);
	struct frdma_send_wqe *wqe = sq_slot(qp, 0);

	EXPECT(!rq_head(qp));
	EXPECT_EQ(frdma_post_send(qp, &wr, &bad), 0);
	EXPECT_EQ(wqe->xrc.srqn, 0x4711);
	EXPECT_EQ(wqe->atomic.compare_add, 1);
	EXPECT_EQ(wqe->atomic.swap, 2);
	EXPECT_EQ(frdma_post_recv(qp, &recv, &bad_recv), EINVAL);
	EXPECT(bad_recv == &recv);
	close_qp(qp);

	/* Nobody else is told. */
	qp = open_qp(IBV_QPT_RC, 0);
	EXPECT_EQ(frdma_post_send(qp, &wr, &bad), 0);
	EXPECT_EQ(sq_slot(qp, 0)->xrc.srqn, 0);
	close_qp(qp);
}

TEST(xrc__builder_names_the_queue)
{
	struct ibv_qp *qp = open_qp(IBV_QPT_XRC_SEND,
				    frdma_qp_send_ops(IBV_QPT_XRC_SEND));
	struct ibv_qp_ex *ex = &to_frdma_qp(qp)->vqp.qp_ex;
	struct ibv_mw mw = { .rkey = 0x2aa, .type = IBV_MW_TYPE_2 };
	struct ibv_mr mr = { .lkey = 0x301 };
	struct ibv_mw_bind_info info = { .mr = &mr, .length = 1 };

	EXPECT_EQ(frdma_qp_send_ops(IBV_QPT_XRC_SEND),
		  frdma_qp_send_ops(IBV_QPT_RC));
	ex->wr_start(ex);
	ex->wr_atomic_fetch_add(ex, 1, 8, 3);
	ex->wr_set_xrc_srqn(ex, 5);
	ex->wr_set_sge(ex, 1, 2, 8);
	ex->wr_send(ex);
	ex->wr_set_xrc_srqn(ex, 6);
	ex->wr_bind_mw(ex, &mw, 0x2ab, &info);
	ex->wr_set_xrc_srqn(ex, 7);
	EXPECT_EQ(ex->wr_complete(ex), 0);

	EXPECT_EQ(sq_slot(qp, 0)->xrc.srqn, 5);
	EXPECT_EQ(sq_slot(qp, 0)->atomic.compare_add, 3);
	EXPECT_EQ(sq_slot(qp, 1)->xrc.srqn, 6);
	EXPECT_EQ(sq_slot(qp, 2)->bind.key, 0x2ab);
	close_qp(qp);

	qp = open_qp(IBV_QPT_RC, IBV_QP_EX_WITH_SEND);
	EXPECT(!to_frdma_qp(qp)->vqp.qp_ex.wr_set_xrc_srqn);
	close_qp(qp);
}

/* Neither the one that made it nor another handle has anything to post to. */
static void expect_no_posts(struct ibv_qp *qp)
{
	struct ibv_send_wr send = { .opcode = IBV_WR_SEND }, *bad_send;
	struct ibv_recv_wr recv = {}, *bad_recv;

	EXPECT_EQ(frdma_post_send(qp, &send, &bad_send), EINVAL);
	EXPECT(bad_send == &send);
	EXPECT_EQ(frdma_post_recv(qp, &recv, &bad_recv), EINVAL);
	EXPECT(bad_recv == &recv);
	EXPECT_EQ(doorbells(), 0);
	EXPECT_EQ(frdma_destroy_qp(qp), 0);
}

TEST(xrc__target_takes_no_posts)
{
	struct verbs_xrcd vxrcd = { };
	struct ibv_qp_init_attr_ex attr = {
		.qp_type = IBV_QPT_XRC_RECV, .xrcd = &vxrcd.xrcd,
		.comp_mask = IBV_QP_INIT_ATTR_XRCD,
		/* Means nothing without its bit. */
		.pd = (void *)8, .send_cq = (void *)8, .recv_cq = (void *)8,
	};
	struct ibv_qp_open_attr open = {
		.qp_type = IBV_QPT_XRC_RECV, .qp_num = 17,
	};
	struct ibv_qp *qp;

	kernel_open();
	qp = frdma_create_qp_ex(&kernel.vctx.context, &attr);
	EXPECT(qp && !sq_head(qp) && !rq_head(qp));
	qp->state = IBV_QPS_RTS;
	expect_no_posts(qp);

	qp = frdma_open_qp(&kernel.vctx.context, &open);
	EXPECT(qp);
	expect_no_posts(qp);

	open.qp_num = 18;
	EXPECT(!frdma_open_qp(&kernel.vctx.context, &open));
	EXPECT_EQ(errno, EINVAL);
	kernel_close();
}

TEST(xrc__shared_receive_queue_has_a_number)
{
	struct frdma_pd pd = { };
	struct ibv_srq_init_attr_ex attr = {
		.srq_type = IBV_SRQT_XRC, .pd = &pd.ibvpd,
		.srq_context = &attr,
		.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD |
			     IBV_SRQ_INIT_ATTR_XRCD | IBV_SRQ_INIT_ATTR_CQ,
	};
	struct ibv_srq *srq;
	uint32_t num = 0;

	kernel_open();
	srq = frdma_create_srq_ex(&kernel.vctx.context, &attr);
	EXPECT(srq && srq->pd == &pd.ibvpd && srq->srq_context == &attr);
	EXPECT_EQ(frdma_get_srq_num(srq, &num), 0);
	EXPECT_EQ(num, 0x4711);
	EXPECT_EQ(post_one_srq(to_frdma_srq(srq), 1), 0);
	EXPECT_EQ(frdma_destroy_srq(srq), 0);

	attr.comp_mask |= IBV_SRQ_INIT_ATTR_TM;
	EXPECT(!frdma_create_srq_ex(&kernel.vctx.context, &attr));
	EXPECT_EQ(errno, EOPNOTSUPP);
	attr.comp_mask = IBV_SRQ_INIT_ATTR_TYPE;
	EXPECT(!frdma_create_srq_ex(&kernel.vctx.context, &attr));
	EXPECT_EQ(errno, EINVAL);
	kernel_close();

	srq = &open_srq()->vsrq.srq;
	EXPECT_EQ(frdma_get_srq_num(srq, &num), EOPNOTSUPP);
	close_srq(to_frdma_srq(srq));
}
