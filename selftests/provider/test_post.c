// SPDX-License-Identifier: GPL-2.0
/* Posting one by one, and lists. */
#include "fake.h"

TEST(create_qp__maps_both_rings)
{
	struct ibv_qp *qp = open_qp(IBV_QPT_RC, 0);

	EXPECT_EQ(kernel.rings, 2);
	EXPECT(sq_head(qp) && rq_head(qp));
	close_qp(qp);
}

TEST(create_qp__refuses_types_and_operations_it_has_not)
{
	EXPECT(!open_qp(IBV_QPT_RAW_PACKET, 0));
	EXPECT_EQ(errno, EOPNOTSUPP);
	kernel_close();
	EXPECT(!open_qp(IBV_QPT_DRIVER, 0));
	kernel_close();
	EXPECT(!open_qp(IBV_QPT_UD, IBV_QP_EX_WITH_RDMA_READ));
	EXPECT_EQ(errno, EOPNOTSUPP);
	kernel_close();
	EXPECT(!open_qp(IBV_QPT_RC, IBV_QP_EX_WITH_TSO));
	kernel_close();
}

TEST(create_qp__knows_flags_but_has_none)
{
	static struct frdma_pd pd;
	struct ibv_qp_init_attr_ex attr = {
		.qp_type	= IBV_QPT_RC,
		.comp_mask	= IBV_QP_INIT_ATTR_PD |
				  IBV_QP_INIT_ATTR_CREATE_FLAGS,
		.pd		= &pd.ibvpd,
	};
	struct ibv_qp *qp;

	kernel_open();
	qp = frdma_create_qp_ex(&kernel.vctx.context, &attr);
	EXPECT(qp);
	EXPECT_EQ(frdma_destroy_qp(qp), 0);

	attr.create_flags = IBV_QP_CREATE_BLOCK_SELF_MCAST_LB;
	EXPECT(!frdma_create_qp_ex(&kernel.vctx.context, &attr));
	EXPECT_EQ(errno, EOPNOTSUPP);
	kernel_close();
}

TEST(post_send__write_is_laid_out)
{
	struct ibv_sge sge[2] = { { 0x1000, 10, 1 }, { 0x2000, 20, 2 } };
	struct ibv_send_wr wr = {
		.wr_id = 42, .sg_list = sge, .num_sge = 2,
		.opcode = IBV_WR_RDMA_WRITE_WITH_IMM,
		.send_flags = IBV_SEND_SIGNALED | IBV_SEND_SOLICITED,
		.imm_data = htobe32(0x11223344),
		.wr.rdma = { .remote_addr = 0xabcdef, .rkey = 7 },
	}, *bad;
	struct ibv_qp *qp = open_qp(IBV_QPT_RC, 0);
	struct frdma_send_wqe *wqe = sq_slot(qp, 0);
	struct frdma_sge *got = (void *)(wqe + 1);

	EXPECT_EQ(frdma_post_send(qp, &wr, &bad), 0);
	EXPECT_EQ(sq_head(qp)->prod, 1);
	EXPECT_EQ(wqe->wr_id, 42);
	EXPECT_EQ(wqe->opcode, IB_UVERBS_WR_RDMA_WRITE_WITH_IMM);
	EXPECT_EQ(wqe->flags, IBV_SEND_SIGNALED |
			      IBV_SEND_SOLICITED);
	EXPECT_EQ(wqe->num_sge, 2);
	EXPECT_EQ(wqe->inline_len, 0);
	EXPECT(!memcmp(&wqe->ex, "\x11\x22\x33\x44", 4));
	EXPECT_EQ(wqe->rkey, 7);
	EXPECT_EQ(wqe->remote_addr, 0xabcdef);
	EXPECT_EQ(got[0].addr, 0x1000);
	EXPECT_EQ(got[1].addr, 0x2000);
	EXPECT_EQ(got[1].length, 20);
	EXPECT_EQ(got[1].lkey, 2);
	close_qp(qp);
}

TEST(post_send__atomic_is_laid_out)
{
	struct ibv_send_wr wr = {
		.opcode = IBV_WR_ATOMIC_CMP_AND_SWP,
		.wr.atomic = { .remote_addr = 8, .compare_add = 1,
			       .swap = 2, .rkey = 3 },
	}, *bad;
	struct ibv_qp *qp = open_qp(IBV_QPT_RC, 0);
	struct frdma_send_wqe *wqe = sq_slot(qp, 0);

	EXPECT_EQ(frdma_post_send(qp, &wr, &bad), 0);
	EXPECT_EQ(wqe->remote_addr, 8);
	EXPECT_EQ(wqe->atomic.compare_add, 1);
	EXPECT_EQ(wqe->atomic.swap, 2);
	EXPECT_EQ(wqe->rkey, 3);
	close_qp(qp);
}

TEST(post_send__ud_is_laid_out)
{
	struct frdma_ah ah = { .number = 99 };
	struct ibv_send_wr wr = {
		.opcode = IBV_WR_SEND,
		.wr.ud = { .ah = &ah.ibvah, .remote_qpn = 17,
			   .remote_qkey = 0x80010000 },
	}, *bad;
	struct ibv_qp *qp = open_qp(IBV_QPT_UD, 0);
	struct frdma_send_wqe *wqe = sq_slot(qp, 0);

	EXPECT_EQ(frdma_post_send(qp, &wr, &bad), 0);
	EXPECT_EQ(wqe->ud.ah, 99);
	EXPECT_EQ(wqe->ud.dqpn, 17);
	EXPECT_EQ(wqe->ud.qkey, 0x80010000);
	EXPECT_EQ(wqe->ud.pkey_index, 0);
	close_qp(qp);
}

/* What an earlier request left in the slot is gone. */
TEST(post_send__slot_is_cleared)
{
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND }, *bad;
	struct ibv_qp *qp = open_qp(IBV_QPT_RC, 0);
	struct frdma_send_wqe *wqe = sq_slot(qp, 0);

	memset(wqe, 0xff, sizeof(*wqe));
	EXPECT_EQ(frdma_post_send(qp, &wr, &bad), 0);
	EXPECT_EQ(wqe->flags | wqe->num_sge | wqe->inline_len, 0);
	EXPECT_EQ(wqe->ex | wqe->rkey | wqe->remote_addr, 0);
	close_qp(qp);
}

TEST(post_send__inline_is_gathered)
{
	struct ibv_sge sge[3] = {
		{ (uintptr_t)"ab", 2, 0 }, { 0, 0, 0 },
		{ (uintptr_t)"cde", 3, 0 },
	};
	struct ibv_send_wr wr = {
		.opcode = IBV_WR_SEND, .send_flags = IBV_SEND_INLINE,
		.sg_list = sge, .num_sge = 3,
	}, *bad;
	struct ibv_qp *qp = open_qp(IBV_QPT_RC, 0);
	struct frdma_send_wqe *wqe = sq_slot(qp, 0);

	EXPECT_EQ(frdma_post_send(qp, &wr, &bad), 0);
	EXPECT_EQ(wqe->num_sge, 0);
	EXPECT_EQ(wqe->inline_len, 5);
	EXPECT(!memcmp(wqe + 1, "abcde", 5));
	close_qp(qp);
}

TEST(post_send__inline_up_to_the_limit)
{
	static char data[MAX_INLINE + 1];
	struct ibv_sge sge[2] = { { (uintptr_t)data, 1, 0 },
				  { (uintptr_t)data, MAX_INLINE - 1, 0 } };
	struct ibv_send_wr wr = {
		.opcode = IBV_WR_SEND, .send_flags = IBV_SEND_INLINE,
		.sg_list = sge, .num_sge = 2,
	}, *bad;
	struct ibv_qp *qp = open_qp(IBV_QPT_RC, 0);

	EXPECT_EQ(frdma_post_send(qp, &wr, &bad), 0);
	sge[1].length = MAX_INLINE;
	EXPECT_EQ(frdma_post_send(qp, &wr, &bad), EINVAL);
	sge[1].length = UINT32_MAX;
	EXPECT_EQ(frdma_post_send(qp, &wr, &bad), EINVAL);
	EXPECT_EQ(sq_head(qp)->prod, 1);
	close_qp(qp);
}

static void expect_refused(enum ibv_qp_type type, struct ibv_send_wr *wr)
{
	struct ibv_qp *qp = open_qp(type, 0);
	struct ibv_send_wr *bad = NULL;

	EXPECT_EQ(frdma_post_send(qp, wr, &bad), EINVAL);
	EXPECT(bad == wr);
	EXPECT_EQ(sq_head(qp)->prod, 0);
	EXPECT_EQ(doorbells(), 0);
	close_qp(qp);
}

TEST(post_send__refuses_what_cannot_be)
{
	struct ibv_sge sge[MAX_SGE + 1] = {};

	expect_refused(IBV_QPT_RC, &(struct ibv_send_wr) {
		.opcode = IBV_WR_SEND, .sg_list = sge, .num_sge = MAX_SGE + 1,
	});
	expect_refused(IBV_QPT_RC, &(struct ibv_send_wr) {
		.opcode = IBV_WR_SEND, .sg_list = sge, .num_sge = -1,
	});
	expect_refused(IBV_QPT_RC, &(struct ibv_send_wr) {
		.opcode = IBV_WR_TSO,
	});
	expect_refused(IBV_QPT_RC, &(struct ibv_send_wr) {
		.opcode = 1000,
	});
	expect_refused(IBV_QPT_RC, &(struct ibv_send_wr) {
		.opcode = IBV_WR_SEND, .send_flags = IBV_SEND_IP_CSUM,
	});
	expect_refused(IBV_QPT_RC, &(struct ibv_send_wr) {
		.opcode = IBV_WR_RDMA_READ, .send_flags = IBV_SEND_INLINE,
	});
	expect_refused(IBV_QPT_UD, &(struct ibv_send_wr) {
		.opcode = IBV_WR_RDMA_WRITE,
	});
	expect_refused(IBV_QPT_UC, &(struct ibv_send_wr) {
		.opcode = IBV_WR_RDMA_READ,
	});
}

TEST(post_send__not_before_rts)
{
	static const enum ibv_qp_state early[] = {
		IBV_QPS_RESET, IBV_QPS_INIT, IBV_QPS_RTR,
	};
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND }, *bad;
	struct ibv_qp *qp = open_qp(IBV_QPT_RC, 0);
	size_t i;

	for (i = 0; i < sizeof(early) / sizeof(early[0]); i++) {
		qp->state = early[i];
		EXPECT_EQ(frdma_post_send(qp, &wr, &bad), EINVAL);
		EXPECT(bad == &wr);
	}
	qp->state = IBV_QPS_ERR;
	EXPECT_EQ(frdma_post_send(qp, &wr, &bad), 0);
	close_qp(qp);
}

TEST(post_send__one_doorbell_for_a_list)
{
	struct ibv_send_wr wr[3] = {
		{ .opcode = IBV_WR_SEND, .next = &wr[1] },
		{ .opcode = IBV_WR_SEND, .next = &wr[2] },
		{ .opcode = IBV_WR_SEND },
	}, *bad;
	struct ibv_qp *qp = open_qp(IBV_QPT_RC, 0);
	const struct doorbell *bell = &kernel.bell;

	EXPECT_EQ(frdma_post_send(qp, wr, &bad), 0);
	EXPECT_EQ(sq_head(qp)->prod, 3);
	EXPECT_EQ(doorbells(), 1);
	EXPECT_EQ(bell->hdr.length, sizeof(*bell));
	EXPECT_EQ(bell->hdr.object_id, UVERBS_OBJECT_QP);
	EXPECT_EQ(bell->hdr.method_id, FRDMA_METHOD_QP_DOORBELL);
	EXPECT_EQ(bell->hdr.num_attrs, 1);
	EXPECT_EQ(bell->hdr.driver_id, FRDMA_DRIVER_ID);
	EXPECT_EQ(bell->hdr.reserved1 | bell->hdr.reserved2, 0);
	EXPECT_EQ(bell->attr.attr_id, FRDMA_ATTR_QP_DOORBELL_HANDLE);
	EXPECT_EQ(bell->attr.flags, UVERBS_ATTR_F_MANDATORY);
	EXPECT_EQ(bell->attr.len | bell->attr.attr_data.reserved, 0);
	EXPECT_EQ(bell->attr.data, 77);
	close_qp(qp);
}

TEST(post_send__what_precedes_the_bad_one_is_posted)
{
	struct ibv_send_wr wr[3] = {
		{ .opcode = IBV_WR_SEND, .next = &wr[1] },
		{ .opcode = IBV_WR_TSO, .next = &wr[2] },
		{ .opcode = IBV_WR_SEND },
	}, *bad;
	struct ibv_qp *qp = open_qp(IBV_QPT_RC, 0);

	EXPECT_EQ(frdma_post_send(qp, wr, &bad), EINVAL);
	EXPECT(bad == &wr[1]);
	EXPECT_EQ(sq_head(qp)->prod, 1);
	EXPECT_EQ(doorbells(), 1);
	close_qp(qp);
}

TEST(post_send__enomem_when_full_and_goes_on)
{
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND }, *bad;
	struct ibv_qp *qp = open_qp(IBV_QPT_RC, 0);
	int i;

	for (i = 0; i < SQ_ENTRIES; i++)
		EXPECT_EQ(frdma_post_send(qp, &wr, &bad), 0);
	EXPECT_EQ(frdma_post_send(qp, &wr, &bad), ENOMEM);
	EXPECT(bad == &wr);
	EXPECT_EQ(doorbells(), SQ_ENTRIES);

	sq_head(qp)->cons = 1;
	EXPECT_EQ(frdma_post_send(qp, &wr, &bad), 0);
	EXPECT_EQ(frdma_post_send(qp, &wr, &bad), ENOMEM);
	EXPECT_EQ(sq_head(qp)->prod, SQ_ENTRIES + 1);
	close_qp(qp);
}

TEST(post_send__does_not_ring_while_watched)
{
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND }, *bad;
	struct ibv_qp *qp = open_qp(IBV_QPT_RC, 0);

	sq_head(qp)->flags = FRDMA_RING_WATCHED;
	EXPECT_EQ(frdma_post_send(qp, &wr, &bad), 0);
	EXPECT_EQ(frdma_post_send(qp, &wr, &bad), 0);
	EXPECT_EQ(sq_head(qp)->prod, 2);
	EXPECT_EQ(doorbells(), 0);

	sq_head(qp)->flags = ~FRDMA_RING_WATCHED;
	EXPECT_EQ(frdma_post_send(qp, &wr, &bad), 0);
	EXPECT_EQ(doorbells(), 1);
	close_qp(qp);
}

TEST(post_send__says_what_the_doorbell_said)
{
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND }, *bad = NULL;
	struct ibv_qp *qp = open_qp(IBV_QPT_RC, 0);

	kernel.fail_doorbell = EIO;
	EXPECT_EQ(frdma_post_send(qp, &wr, &bad), EIO);
	EXPECT(bad == &wr);
	close_qp(qp);
}

TEST(post_recv__is_laid_out_without_doorbell)
{
	struct ibv_sge sge[2] = { { 1, 2, 3 }, { 4, 5, 6 } };
	struct ibv_recv_wr wr = { .wr_id = 5, .sg_list = sge, .num_sge = 2 };
	struct ibv_qp *qp = open_qp(IBV_QPT_RC, 0);
	struct ibv_recv_wr *bad;
	struct frdma_recv_wqe *wqe;
	struct frdma_sge *got;

	wqe = frdma_ring_slot(&to_frdma_qp(qp)->rq.ring, 0);
	got = (void *)(wqe + 1);
	qp->state = IBV_QPS_INIT;
	EXPECT_EQ(frdma_post_recv(qp, &wr, &bad), 0);
	EXPECT_EQ(rq_head(qp)->prod, 1);
	EXPECT_EQ(wqe->wr_id, 5);
	EXPECT_EQ(wqe->num_sge, 2);
	EXPECT_EQ(wqe->reserved, 0);
	EXPECT_EQ(got[1].addr, 4);
	EXPECT_EQ(got[1].length, 5);
	EXPECT_EQ(got[1].lkey, 6);
	EXPECT_EQ(doorbells(), 0);
	close_qp(qp);
}

TEST(post_recv__rings_where_the_kernel_sleeps)
{
	struct ibv_recv_wr wr[2] = { { .next = &wr[1] }, {} }, *bad;
	struct ibv_qp *qp = open_qp(IBV_QPT_RC, 0);

	rq_head(qp)->flags = FRDMA_RING_NEED_DOORBELL;
	EXPECT_EQ(frdma_post_recv(qp, wr, &bad), 0);
	EXPECT_EQ(doorbells(), 1);
	close_qp(qp);
}

TEST(post_recv__rings_though_sends_are_watched)
{
	struct ibv_recv_wr wr = {}, *bad;
	struct ibv_qp *qp = open_qp(IBV_QPT_RC, 0);

	sq_head(qp)->flags = FRDMA_RING_WATCHED;
	rq_head(qp)->flags = FRDMA_RING_NEED_DOORBELL;
	EXPECT_EQ(frdma_post_recv(qp, &wr, &bad), 0);
	EXPECT_EQ(doorbells(), 1);
	close_qp(qp);
}

TEST(post_recv__refuses)
{
	struct ibv_recv_wr wr = { .num_sge = MAX_SGE + 1 }, *bad;
	struct ibv_qp *qp = open_qp(IBV_QPT_RC, 0);
	int i;

	EXPECT_EQ(frdma_post_recv(qp, &wr, &bad), EINVAL);
	EXPECT(bad == &wr);
	wr.num_sge = 0;
	for (i = 0; i < RQ_ENTRIES; i++)
		EXPECT_EQ(frdma_post_recv(qp, &wr, &bad), 0);
	EXPECT_EQ(frdma_post_recv(qp, &wr, &bad), ENOMEM);
	qp->state = IBV_QPS_RESET;
	EXPECT_EQ(frdma_post_recv(qp, &wr, &bad), EINVAL);
	close_qp(qp);
}

/* Without a vendor rdma_set_local_ece() refuses the answer (EINVAL). */
TEST(query_ece__has_a_name_and_asks_for_nothing)
{
	struct ibv_qp *qp = open_qp(IBV_QPT_RC, 0);
	struct ibv_ece ece = { .vendor_id = 1, .options = 2, .comp_mask = 3 };

	EXPECT_EQ(frdma_query_ece(qp, &ece), 0);
	EXPECT_EQ(ece.vendor_id, FRDMA_VENDOR_ID);
	EXPECT(!ece.options && !ece.comp_mask);
	close_qp(qp);
}

TEST(set_ece__accepts_no_option)
{
	struct ibv_qp *qp = open_qp(IBV_QPT_RC, 0);
	struct ibv_ece ece = { .vendor_id = FRDMA_VENDOR_ID, .options = 7 };

	EXPECT_EQ(frdma_set_ece(qp, &ece), 0);
	EXPECT_EQ(ece.vendor_id, FRDMA_VENDOR_ID);
	EXPECT_EQ(ece.options, 0);

	ece.comp_mask = 1;
	EXPECT_EQ(frdma_set_ece(qp, &ece), EINVAL);
	ece = (struct ibv_ece) { .vendor_id = 0x2c9 };
	EXPECT_EQ(frdma_set_ece(qp, &ece), EINVAL);
	close_qp(qp);
}
