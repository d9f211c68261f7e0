// SPDX-License-Identifier: GPL-2.0
/* Posting by the functions of struct ibv_qp_ex. */
#include "fake.h"

TEST(builder__posts_a_batch)
{
	struct ibv_qp *qp = open_qp(IBV_QPT_RC,
				    frdma_qp_send_ops(IBV_QPT_RC));
	struct ibv_qp_ex *ex = &to_frdma_qp(qp)->vqp.qp_ex;
	struct ibv_data_buf bufs[2] = { { "ab", 2 }, { "c", 1 } };
	struct ibv_sge sge[2] = { { 1, 2, 3 }, { 4, 5, 6 } };
	struct frdma_send_wqe *wqe;

	ex->wr_start(ex);
	ex->wr_id = 1;
	ex->wr_flags = IBV_SEND_SIGNALED;
	ex->wr_send_imm(ex, htobe32(0x01020304));
	ex->wr_set_sge_list(ex, 2, sge);
	ex->wr_id = 2;
	ex->wr_flags = IBV_SEND_FENCE | IBV_SEND_INLINE;
	ex->wr_rdma_read(ex, 9, 10);
	ex->wr_set_sge(ex, 11, 12, 13);
	ex->wr_id = 3;
	ex->wr_flags = 0;
	ex->wr_rdma_write_imm(ex, 14, 15, htobe32(16));
	ex->wr_set_inline_data_list(ex, 2, bufs);
	ex->wr_atomic_cmp_swp(ex, 17, 18, 19, 20);
	ex->wr_local_inv(ex, 21);
	EXPECT_EQ(sq_head(qp)->prod, 0);
	EXPECT_EQ(ex->wr_complete(ex), 0);
	EXPECT_EQ(sq_head(qp)->prod, 5);
	EXPECT_EQ(doorbells(), 1);

	wqe = sq_slot(qp, 0);
	EXPECT_EQ(wqe->wr_id, 1);
	EXPECT_EQ(wqe->opcode, IB_UVERBS_WR_SEND_WITH_IMM);
	EXPECT_EQ(wqe->flags, IBV_SEND_SIGNALED);
	EXPECT_EQ(wqe->num_sge, 2);
	EXPECT(!memcmp(&wqe->ex, "\1\2\3\4", 4));
	EXPECT(!memcmp(wqe + 1, sge, sizeof(sge)));

	wqe = sq_slot(qp, 1);
	EXPECT_EQ(wqe->opcode, IB_UVERBS_WR_RDMA_READ);
	EXPECT_EQ(wqe->flags, IBV_SEND_FENCE);
	EXPECT_EQ(wqe->rkey, 9);
	EXPECT_EQ(wqe->remote_addr, 10);
	EXPECT_EQ(wqe->num_sge, 1);

	wqe = sq_slot(qp, 2);
	EXPECT_EQ(wqe->flags, IBV_SEND_INLINE);
	EXPECT_EQ(wqe->inline_len, 3);
	EXPECT(!memcmp(wqe + 1, "abc", 3));

	wqe = sq_slot(qp, 3);
	EXPECT_EQ(wqe->atomic.compare_add, 19);
	EXPECT_EQ(wqe->atomic.swap, 20);
	EXPECT_EQ(wqe->num_sge, 0);

	wqe = sq_slot(qp, 4);
	EXPECT_EQ(wqe->opcode, IB_UVERBS_WR_LOCAL_INV);
	EXPECT_EQ(wqe->ex, 21);
	close_qp(qp);
}

TEST(builder__is_found)
{
	struct ibv_qp *qp = open_qp(IBV_QPT_RC, IBV_QP_EX_WITH_SEND);

	EXPECT(ibv_qp_to_qp_ex(qp) == &to_frdma_qp(qp)->vqp.qp_ex);
	close_qp(qp);
}

/* By 56.1, if the provider was built for 44.0: the private ABI is the same. */
TEST(builder__is_found_by_a_later_library)
{
	struct frdma_pd pd = {};
	struct ibv_qp_init_attr_ex attr = {
		.qp_type	= IBV_QPT_RC,
		.comp_mask	= IBV_QP_INIT_ATTR_PD |
				  IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		.send_ops_flags	= IBV_QP_EX_WITH_SEND,
		.pd		= &pd.ibvpd,
	};
	struct verbs_qp *vqp;
	struct ibv_qp *qp;

	kernel_open();
	kernel.later_library = true;
	qp = frdma_create_qp_ex(&kernel.vctx.context, &attr);
	EXPECT(qp);
	vqp = &to_frdma_qp(qp)->vqp;
	EXPECT_EQ(*qp_mask(vqp), VERBS_QP_EX);
	/* The function that nobody here knows. */
	EXPECT_EQ(vqp->comp_mask, 0);
	close_qp(qp);
}

TEST(builder__does_not_ring_while_watched)
{
	struct ibv_qp *qp = open_qp(IBV_QPT_RC,
				    frdma_qp_send_ops(IBV_QPT_RC));
	struct ibv_qp_ex *ex = &to_frdma_qp(qp)->vqp.qp_ex;
	unsigned int i;

	for (i = 0; i < 2; i++) {
		sq_head(qp)->flags = i ? 0 : FRDMA_RING_WATCHED;
		ex->wr_start(ex);
		ex->wr_local_inv(ex, 21);
		EXPECT_EQ(ex->wr_complete(ex), 0);
		EXPECT_EQ(sq_head(qp)->prod, i + 1);
		EXPECT_EQ(doorbells(), i);
	}
	close_qp(qp);
}

TEST(builder__atomic_write_is_inline)
{
	struct ibv_qp *qp = open_qp(IBV_QPT_RC, IBV_QP_EX_WITH_ATOMIC_WRITE);
	struct ibv_qp_ex *ex = &to_frdma_qp(qp)->vqp.qp_ex;
	struct frdma_send_wqe *wqe;

	ex->wr_start(ex);
	ex->wr_id = 1;
	ex->wr_flags = IBV_SEND_SIGNALED;
	ex->wr_atomic_write(ex, 2, 24, "8 bytes.");
	EXPECT_EQ(ex->wr_complete(ex), 0);

	wqe = sq_slot(qp, 0);
	EXPECT_EQ(wqe->wr_id, 1);
	EXPECT_EQ(wqe->opcode, 15);
	EXPECT_EQ(wqe->flags, IBV_SEND_SIGNALED | IBV_SEND_INLINE);
	EXPECT_EQ(wqe->rkey, 2);
	EXPECT_EQ(wqe->remote_addr, 24);
	EXPECT_EQ(wqe->inline_len, 8);
	EXPECT(!memcmp(wqe + 1, "8 bytes.", 8));
	close_qp(qp);
}

#if FRDMA_WR_FLUSH
TEST(builder__flush)
{
	struct ibv_qp *qp = open_qp(IBV_QPT_RC, IBV_QP_EX_WITH_FLUSH);
	struct ibv_qp_ex *ex = &to_frdma_qp(qp)->vqp.qp_ex;
	struct ibv_send_wr wr = { .opcode = IBV_WR_FLUSH }, *bad;
	struct frdma_send_wqe *wqe;

	ex->wr_start(ex);
	ex->wr_id = 1;
	ex->wr_flags = IBV_SEND_FENCE;
	ex->wr_flush(ex, 2, 3, 1UL << 33, IBV_FLUSH_PERSISTENT, IBV_FLUSH_MR);
	EXPECT_EQ(ex->wr_complete(ex), 0);

	wqe = sq_slot(qp, 0);
	EXPECT_EQ(wqe->wr_id, 1);
	EXPECT_EQ(wqe->opcode, 14);
	EXPECT_EQ(wqe->flags, IBV_SEND_FENCE);
	EXPECT_EQ(wqe->rkey, 2);
	EXPECT_EQ(wqe->remote_addr, 3);
	EXPECT_EQ(wqe->flush.length, 1UL << 33);
	EXPECT_EQ(wqe->flush.placement, 2);
	EXPECT_EQ(wqe->flush.select, 1);
	EXPECT_EQ(wqe->num_sge, 0);

	/* struct ibv_send_wr cannot say what to flush. */
	EXPECT_EQ(frdma_post_send(qp, &wr, &bad), EINVAL);
	close_qp(qp);
}
#endif

TEST(bind__keys)
{
	struct ibv_qp *qp = open_qp(IBV_QPT_RC, frdma_qp_send_ops(IBV_QPT_RC));
	struct ibv_qp_ex *ex = &to_frdma_qp(qp)->vqp.qp_ex;
	struct ibv_mw one = { .type = IBV_MW_TYPE_1, .rkey = 0x1ff };
	struct ibv_mw two = { .type = IBV_MW_TYPE_2, .rkey = 0x200 };
	struct ibv_mr mr = { .lkey = 0x301 };
	struct ibv_mw_bind bind = {
		.wr_id = 5, .send_flags = IBV_SEND_FENCE,
		.bind_info = { .mr = &mr, .addr = 6, .length = 7,
			       .mw_access_flags = IBV_ACCESS_REMOTE_READ },
	};
	struct frdma_send_wqe *wqe;

	EXPECT_EQ(frdma_bind_mw(qp, &one, &bind), 0);
	EXPECT_EQ(one.rkey, 0x100);
	wqe = sq_slot(qp, 0);
	EXPECT_EQ(wqe->wr_id, 5);
	EXPECT_EQ(wqe->opcode, IB_UVERBS_WR_BIND_MW);
	EXPECT_EQ(wqe->flags, IBV_SEND_FENCE);
	EXPECT_EQ(wqe->bind.addr, 6);
	EXPECT_EQ(wqe->bind.length, 7);
	EXPECT_EQ(wqe->bind.key, 0x100);
	EXPECT_EQ(wqe->bind.mr_key, 0x301);
	EXPECT_EQ(wqe->bind.access, IBV_ACCESS_REMOTE_READ);

	bind.send_flags = IBV_SEND_INLINE;
	EXPECT_EQ(frdma_bind_mw(qp, &one, &bind), EINVAL);
	bind.send_flags = 0;
	bind.bind_info.mr = NULL;
	EXPECT_EQ(frdma_bind_mw(qp, &one, &bind), EINVAL);
	EXPECT_EQ(one.rkey, 0x100);
	bind.bind_info.mr = &mr;

	ex->wr_start(ex);
	ex->wr_bind_mw(ex, &two, 0x2ab, &bind.bind_info);
	EXPECT_EQ(ex->wr_complete(ex), 0);
	wqe = sq_slot(qp, 1);
	EXPECT_EQ(wqe->opcode, IB_UVERBS_WR_BIND_MW);
	EXPECT_EQ(wqe->bind.key, 0x2ab);

	ex->wr_start(ex);
	ex->wr_bind_mw(ex, &two, 0x3ab, &bind.bind_info);
	EXPECT_EQ(ex->wr_complete(ex), EINVAL);
	EXPECT_EQ(sq_head(qp)->prod, 2);
	close_qp(qp);
}

TEST(builder__first_error_wins_and_nothing_is_posted)
{
	struct ibv_qp *qp = open_qp(IBV_QPT_RC, IBV_QP_EX_WITH_SEND);
	struct ibv_qp_ex *ex = &to_frdma_qp(qp)->vqp.qp_ex;
	static char data[MAX_INLINE + 1];
	int i;

	ex->wr_start(ex);
	ex->wr_send(ex);
	ex->wr_send(ex);
	ex->wr_set_inline_data(ex, data, MAX_INLINE + 1);
	for (i = 0; i < SQ_ENTRIES; i++) {
		ex->wr_send(ex);
		ex->wr_set_sge(ex, 1, 2, 3);
	}
	EXPECT_EQ(ex->wr_complete(ex), EINVAL);
	EXPECT_EQ(sq_head(qp)->prod, 0);
	EXPECT_EQ(doorbells(), 0);

	ex->wr_start(ex);
	for (i = 0; i <= SQ_ENTRIES; i++)
		ex->wr_send(ex);
	EXPECT_EQ(ex->wr_complete(ex), ENOMEM);
	EXPECT_EQ(sq_head(qp)->prod, 0);

	ex->wr_start(ex);
	ex->wr_send(ex);
	EXPECT_EQ(ex->wr_complete(ex), 0);
	EXPECT_EQ(sq_head(qp)->prod, 1);
	close_qp(qp);
}

TEST(builder__abort_posts_nothing)
{
	struct ibv_qp *qp = open_qp(IBV_QPT_RC, IBV_QP_EX_WITH_SEND);
	struct ibv_qp_ex *ex = &to_frdma_qp(qp)->vqp.qp_ex;

	ex->wr_start(ex);
	ex->wr_send(ex);
	ex->wr_abort(ex);
	ex->wr_start(ex);
	EXPECT_EQ(ex->wr_complete(ex), 0);
	EXPECT_EQ(sq_head(qp)->prod, 0);
	EXPECT_EQ(doorbells(), 0);
	close_qp(qp);
}

TEST(builder__has_what_was_asked_for)
{
	struct ibv_qp *qp = open_qp(IBV_QPT_UD, IBV_QP_EX_WITH_SEND);
	struct ibv_qp_ex *ex = &to_frdma_qp(qp)->vqp.qp_ex;
	struct frdma_ah ah = { .number = 5 };

	EXPECT(ex->wr_send && ex->wr_set_ud_addr);
	EXPECT(!ex->wr_send_imm && !ex->wr_rdma_write);
	ex->wr_start(ex);
	ex->wr_send(ex);
	ex->wr_set_ud_addr(ex, &ah.ibvah, 6, 7);
	EXPECT_EQ(ex->wr_complete(ex), 0);
	EXPECT_EQ(sq_slot(qp, 0)->ud.ah, 5);
	EXPECT_EQ(sq_slot(qp, 0)->ud.dqpn, 6);
	EXPECT_EQ(sq_slot(qp, 0)->ud.qkey, 7);
	close_qp(qp);
}
