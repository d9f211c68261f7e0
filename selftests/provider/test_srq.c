// SPDX-License-Identifier: GPL-2.0
/* Shared receive queues. */
#include "fake.h"

TEST(post_srq_recv__is_laid_out_and_never_rings)
{
	struct ibv_sge sge[2] = { { 1, 2, 3 }, { 4, 5, 6 } };
	struct ibv_recv_wr wr = { .wr_id = 5, .sg_list = sge, .num_sge = 2 };
	struct frdma_srq *srq = open_srq();
	struct frdma_recv_wqe *wqe = frdma_ring_slot(&srq->rq.ring, 0);
	struct ibv_recv_wr *bad;

	srq->rq.ring.head->flags = FRDMA_RING_NEED_DOORBELL;
	EXPECT_EQ(frdma_post_srq_recv(&srq->vsrq.srq, &wr, &bad), 0);
	EXPECT(!bad);
	EXPECT_EQ(srq->rq.ring.head->prod, 1);
	EXPECT_EQ(wqe->wr_id, 5);
	EXPECT_EQ(wqe->num_sge, 2);
	EXPECT(!memcmp(wqe + 1, sge, sizeof(sge)));
	EXPECT_EQ(doorbells(), 0);
	close_srq(srq);
}

TEST(post_srq_recv__refuses)
{
	struct ibv_recv_wr wr = { .num_sge = MAX_SGE + 1 }, *bad;
	struct frdma_srq *srq = open_srq();
	int i;

	EXPECT_EQ(frdma_post_srq_recv(&srq->vsrq.srq, &wr, &bad), EINVAL);
	EXPECT(bad == &wr);
	for (i = 0; i < RQ_ENTRIES; i++)
		EXPECT_EQ(post_one_srq(srq, i), 0);
	EXPECT_EQ(post_one_srq(srq, i), ENOMEM);
	close_srq(srq);
}

TEST(modify_srq__limit_leaves_the_ring)
{
	struct ibv_srq_attr attr = { .srq_limit = 2 };
	struct frdma_srq *srq = open_srq();

	EXPECT_EQ(frdma_modify_srq(&srq->vsrq.srq, &attr, IBV_SRQ_LIMIT), 0);
	EXPECT_EQ(kernel.rings, 1);
	EXPECT_EQ(post_one_srq(srq, 1), 0);
	close_srq(srq);
}

TEST(modify_srq__indices_go_on_in_the_new_ring)
{
	struct ibv_srq_attr attr = { .max_wr = 2 * RQ_ENTRIES };
	struct frdma_srq *srq = open_srq();
	int i;

	for (i = 0; i < RQ_ENTRIES; i++)
		EXPECT_EQ(post_one_srq(srq, i), 0);
	srq->rq.ring.head->cons = 1;
	EXPECT_EQ(frdma_modify_srq(&srq->vsrq.srq, &attr, IBV_SRQ_MAX_WR), 0);
	EXPECT_EQ(srq->rq.ring.entries, 2 * RQ_ENTRIES);
	for (; i < 2 * RQ_ENTRIES + 1; i++)
		EXPECT_EQ(post_one_srq(srq, i), 0);
	EXPECT_EQ(post_one_srq(srq, i), ENOMEM);
	EXPECT_EQ(srq->rq.ring.head->prod, 2 * RQ_ENTRIES + 1);
	EXPECT_EQ(srq_slot_id(srq, 2 * RQ_ENTRIES), 2 * RQ_ENTRIES);
	close_srq(srq);
}

/* What was known to be free in the larger ring is asked for anew. */
TEST(modify_srq__shrinks)
{
	struct ibv_srq_attr attr = { .max_wr = RQ_ENTRIES / 2 };
	struct frdma_srq *srq = open_srq();

	EXPECT_EQ(post_one_srq(srq, 0), 0);
	EXPECT_EQ(frdma_modify_srq(&srq->vsrq.srq, &attr, IBV_SRQ_MAX_WR), 0);
	EXPECT_EQ(post_one_srq(srq, 1), 0);
	EXPECT_EQ(post_one_srq(srq, 2), ENOMEM);
	close_srq(srq);
}

TEST(modify_srq__asks_an_older_module_without_the_length)
{
	struct ibv_srq_attr attr = { .max_wr = 2 * RQ_ENTRIES };
	struct frdma_srq *srq = open_srq();

	kernel.short_resize = true;
	EXPECT_EQ(frdma_modify_srq(&srq->vsrq.srq, &attr, IBV_SRQ_MAX_WR), 0);
	EXPECT_EQ(srq->rq.ring.entries, 2 * RQ_ENTRIES);
	close_srq(srq);
}

TEST(modify_srq__refused_changes_nothing)
{
	struct ibv_srq_attr attr = { .max_wr = 2 * RQ_ENTRIES };
	struct frdma_srq *srq = open_srq();
	int i;

	kernel.fail_resize = EINVAL;
	EXPECT_EQ(frdma_modify_srq(&srq->vsrq.srq, &attr, IBV_SRQ_MAX_WR),
		  EINVAL);
	for (i = 0; i < RQ_ENTRIES; i++)
		EXPECT_EQ(post_one_srq(srq, i), 0);
	EXPECT_EQ(post_one_srq(srq, i), ENOMEM);
	close_srq(srq);
}

/* The kernel has given the old ring up: no post may seem to succeed. */
TEST(modify_srq__eio_if_the_new_ring_cannot_be_mapped)
{
	struct ibv_srq_attr attr = { .max_wr = RQ_ENTRIES + 1 };
	struct frdma_srq *srq = open_srq();

	EXPECT_EQ(post_one_srq(srq, 0), 0);
	EXPECT_EQ(frdma_modify_srq(&srq->vsrq.srq, &attr, IBV_SRQ_MAX_WR),
		  EPROTO);
	EXPECT_EQ(post_one_srq(srq, 1), EIO);
	close_srq(srq);
}

TEST(create_qp__with_srq_has_no_receive_ring)
{
	struct frdma_srq *srq = open_srq();
	struct ibv_recv_wr wr = {}, *bad;
	struct ibv_qp_init_attr_ex attr = {
		.qp_type = IBV_QPT_RC, .srq = &srq->vsrq.srq,
		.comp_mask = IBV_QP_INIT_ATTR_PD, .pd = srq->vsrq.srq.pd,
	};
	struct ibv_qp *qp = frdma_create_qp_ex(&kernel.vctx.context, &attr);

	EXPECT(qp && !rq_head(qp));
	qp->state = IBV_QPS_RTS;
	EXPECT_EQ(frdma_post_recv(qp, &wr, &bad), EINVAL);
	EXPECT_EQ(frdma_destroy_qp(qp), 0);
	close_srq(srq);
}
