// SPDX-License-Identifier: GPL-2.0
/*
 * The provider's queues, down to the bytes in the rings. The kernel is a
 * memfd, from which rings are mapped. The commands that reach the kernel
 * through libibverbs are defined here and take the place of the library's, and
 * so is ioctl(), where doorbells arrive.
 */
#include <config.h>

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/rdma_user_ioctl.h>

#include "frdma.h"
#include "abi.h"
#include "cq.h"
#include "pd.h"
#include "qp.h"
#include "srq.h"
#include "verbs.h"
#include "tap.h"

#define RING_SPACE	65536

#define SQ_ENTRIES	8
#define RQ_ENTRIES	4
#define CQ_ENTRIES	8
#define MAX_SGE		3
#define MAX_INLINE	100
#define SQ_STRIDE	(sizeof(struct frdma_send_wqe) + 112)
#define RQ_STRIDE	(sizeof(struct frdma_recv_wqe) + \
			 MAX_SGE * sizeof(struct frdma_sge))

struct doorbell {
	struct ib_uverbs_ioctl_hdr hdr;
	struct ib_uverbs_attr attr;
};

/* What the fake kernel knows. */
static struct {
	struct verbs_context vctx;
	int fd;
	unsigned int rings;
	struct frdma_ring_desc desc[16];
	uint32_t cq_flags;
	int fail_resize;
	int fail_doorbell;
	unsigned int doorbells;
	struct doorbell bell;
} kernel;

static void kernel_open(void)
{
	memset(&kernel, 0, sizeof(kernel));
	kernel.fd = memfd_create("kernel", 0);
	if (kernel.fd < 0 || ftruncate(kernel.fd, 16 * RING_SPACE))
		abort();
	kernel.vctx.context.cmd_fd = kernel.fd;
}

static void kernel_close(void)
{
	close(kernel.fd);
}

static struct frdma_ring_desc kernel_make_ring(uint32_t entries,
					       uint32_t stride)
{
	struct frdma_ring_desc *desc = &kernel.desc[kernel.rings];

	*desc = (struct frdma_ring_desc) {
		.mmap_offset	= RING_SPACE * kernel.rings++,
		.mmap_size	= RING_SPACE,
		.entries	= entries,
		.stride		= stride,
	};
	return *desc;
}

static unsigned int doorbells(void)
{
	return kernel.doorbells;
}

int ioctl(int fd, unsigned long request, ...)
{
	const struct doorbell *bell;
	va_list args;

	va_start(args, request);
	bell = va_arg(args, const void *);
	va_end(args);

	EXPECT_EQ(fd, kernel.fd);
	EXPECT_EQ(request, RDMA_VERBS_IOCTL);
	if (kernel.fail_doorbell) {
		errno = kernel.fail_doorbell;
		return -1;
	}
	kernel.bell = *bell;
	kernel.doorbells++;
	return 0;
}

int ibv_cmd_create_cq_ex(struct ibv_context *context,
			 const struct ibv_cq_init_attr_ex *attr,
#if FRDMA_CREATE_CQ_MEMORY
			 struct verbs_create_cq_prov_attr *prov,
#endif
			 struct verbs_cq *cq, struct ibv_create_cq_ex *cmd,
			 size_t cmd_size,
			 struct ib_uverbs_ex_create_cq_resp *resp,
			 size_t resp_size, uint32_t cmd_flags)
{
	struct frdma_make_cq_resp *ours = (void *)resp;

#if FRDMA_CREATE_CQ_MEMORY
	(void)prov;
#endif
	(void)cmd, (void)cmd_size, (void)cmd_flags;

	EXPECT_EQ(resp_size, sizeof(*ours));
	cq->cq.context = context;
	cq->cq.cqe = CQ_ENTRIES;
	kernel.cq_flags = attr->wc_flags;
	ours->cq = kernel_make_ring(CQ_ENTRIES, sizeof(struct frdma_cqe));
	return 0;
}

int ibv_cmd_resize_cq(struct ibv_cq *cq, int cqe, struct ibv_resize_cq *cmd,
		      size_t cmd_size, struct ib_uverbs_resize_cq_resp *resp,
		      size_t resp_size)
{
	struct frdma_regrow_cq_resp *ours = (void *)resp;

	(void)cmd, (void)cmd_size, (void)resp_size;

	if (kernel.fail_resize)
		return kernel.fail_resize;
	cq->cqe = cqe;
	ours->cq = kernel_make_ring(cqe, sizeof(struct frdma_cqe));
	return 0;
}

int ibv_cmd_destroy_cq(struct ibv_cq *cq)
{
	(void)cq;
	return 0;
}

int ibv_cmd_create_qp_ex(struct ibv_context *context, struct verbs_qp *qp,
			 struct ibv_qp_init_attr_ex *attr,
			 struct ibv_create_qp *cmd, size_t cmd_size,
			 struct ib_uverbs_create_qp_resp *resp,
			 size_t resp_size)
{
	struct frdma_make_qp_resp *ours = (void *)resp;

	(void)cmd, (void)cmd_size;

	EXPECT_EQ(resp_size, sizeof(*ours));
	qp->qp.context = context;
	qp->qp.handle = 77;
	qp->qp.srq = attr->srq;
	qp->qp.qp_type = attr->qp_type;
	qp->qp.state = IBV_QPS_RESET;
	attr->cap.max_send_sge = MAX_SGE;
	attr->cap.max_recv_sge = MAX_SGE;
	attr->cap.max_inline_data = MAX_INLINE;
	if (attr->qp_type == IBV_QPT_XRC_RECV)
		return 0;
	ours->sq = kernel_make_ring(SQ_ENTRIES, SQ_STRIDE);
	if (!attr->srq && attr->qp_type != IBV_QPT_XRC_SEND)
		ours->rq = kernel_make_ring(RQ_ENTRIES, RQ_STRIDE);
	return 0;
}

int ibv_cmd_destroy_qp(struct ibv_qp *qp)
{
	(void)qp;
	return 0;
}

int ibv_cmd_create_srq(struct ibv_pd *pd, struct ibv_srq *srq,
		       struct ibv_srq_init_attr *attr,
		       struct ibv_create_srq *cmd, size_t cmd_size,
		       struct ib_uverbs_create_srq_resp *resp,
		       size_t resp_size)
{
	struct frdma_make_srq_resp *ours = (void *)resp;

	(void)cmd, (void)cmd_size;

	EXPECT_EQ(resp_size, sizeof(*ours));
	srq->context = pd->context;
	srq->pd = pd;
	attr->attr.max_wr = RQ_ENTRIES;
	attr->attr.max_sge = MAX_SGE;
	ours->srq = kernel_make_ring(RQ_ENTRIES, RQ_STRIDE);
	return 0;
}

int ibv_cmd_create_srq_ex(struct ibv_context *context, struct verbs_srq *srq,
			  struct ibv_srq_init_attr_ex *attr,
			  struct ibv_create_xsrq *cmd, size_t cmd_size,
			  struct ib_uverbs_create_srq_resp *resp,
			  size_t resp_size)
{
	struct frdma_make_xsrq_resp *ours = (void *)resp;

	(void)cmd, (void)cmd_size;

	EXPECT_EQ(resp_size, sizeof(*ours));
	srq->srq.context = context;
	srq->srq_type = attr->srq_type;
	srq->srq_num = 0x4711;
	attr->attr.max_sge = MAX_SGE;
	ours->srq = kernel_make_ring(RQ_ENTRIES, RQ_STRIDE);
	return 0;
}

int ibv_cmd_open_qp(struct ibv_context *context, struct verbs_qp *qp,
		    int vqp_sz, struct ibv_qp_open_attr *attr,
		    struct ibv_open_qp *cmd, size_t cmd_size,
		    struct ib_uverbs_create_qp_resp *resp, size_t resp_size)
{
	(void)vqp_sz, (void)cmd, (void)cmd_size, (void)resp, (void)resp_size;

	if (attr->qp_num != 17)
		return EINVAL;
	qp->qp.context = context;
	qp->qp.qp_num = attr->qp_num;
	qp->qp.qp_type = attr->qp_type;
	qp->qp.state = IBV_QPS_UNKNOWN;
	return 0;
}

/* What was not taken is in the new ring, at the same indices. */
int ibv_cmd_modify_srq(struct ibv_srq *srq, struct ibv_srq_attr *attr,
		       int attr_mask, struct ibv_modify_srq *cmd,
		       size_t cmd_size)
{
	struct frdma_change_srq *ours = (void *)cmd;
	struct frdma_ring *old = &to_frdma_srq(srq)->rq.ring;
	struct frdma_ring_head *head;
	struct frdma_ring_desc desc;

	if (kernel.fail_resize)
		return kernel.fail_resize;
	if (!(attr_mask & IBV_SRQ_MAX_WR)) {
		EXPECT_EQ(cmd_size, sizeof(*cmd));
		return 0;
	}

	EXPECT_EQ(cmd_size, sizeof(*ours));
	desc = kernel_make_ring(attr->max_wr, RQ_STRIDE);
	memcpy((void *)(uintptr_t)ours->srq_desc_addr, &desc, sizeof(desc));
	head = mmap(NULL, desc.mmap_size, PROT_READ | PROT_WRITE, MAP_SHARED,
		    kernel.fd, desc.mmap_offset);
	if (head == MAP_FAILED)
		abort();
	head->prod = old->head->prod;
	head->cons = old->head->cons;
	munmap(head, desc.mmap_size);
	/* It gives the old one up. */
	old->head->cons = old->head->prod + 4 * old->entries;
	return 0;
}

int ibv_cmd_query_srq(struct ibv_srq *srq, struct ibv_srq_attr *attr,
		      struct ibv_query_srq *cmd, size_t cmd_size)
{
	(void)srq, (void)cmd, (void)cmd_size;
	attr->max_wr = RQ_ENTRIES;
	return 0;
}

int ibv_cmd_destroy_srq(struct ibv_srq *srq)
{
	(void)srq;
	return 0;
}

static struct ibv_qp *open_qp(enum ibv_qp_type type, uint64_t ops)
{
	static struct frdma_pd pd;
	struct ibv_qp_init_attr_ex attr = {
		.qp_type	= type,
		.comp_mask	= IBV_QP_INIT_ATTR_PD |
				  IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		.send_ops_flags	= ops,
		.pd		= &pd.ibvpd,
	};
	struct ibv_qp *qp;

	kernel_open();
	qp = frdma_create_qp_ex(&kernel.vctx.context, &attr);
	if (qp)
		qp->state = IBV_QPS_RTS;
	return qp;
}

static void close_qp(struct ibv_qp *qp)
{
	EXPECT_EQ(frdma_destroy_qp(qp), 0);
	kernel_close();
}

static struct frdma_ring_head *sq_head(struct ibv_qp *qp)
{
	return to_frdma_qp(qp)->sq.ring.head;
}

static struct frdma_ring_head *rq_head(struct ibv_qp *qp)
{
	return to_frdma_qp(qp)->rq.ring.head;
}

static struct frdma_send_wqe *sq_slot(struct ibv_qp *qp, uint32_t at)
{
	return frdma_ring_slot(&to_frdma_qp(qp)->sq.ring, at);
}

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

static struct frdma_srq *open_srq(void)
{
	static struct frdma_pd pd;
	struct ibv_srq_init_attr attr = {};
	struct ibv_srq *srq;

	kernel_open();
	pd.ibvpd.context = &kernel.vctx.context;
	srq = frdma_create_srq(&pd.ibvpd, &attr);
	if (!srq)
		abort();
	EXPECT_EQ(attr.attr.max_wr, RQ_ENTRIES);
	return to_frdma_srq(srq);
}

static void close_srq(struct frdma_srq *srq)
{
	EXPECT_EQ(frdma_destroy_srq(&srq->vsrq.srq), 0);
	kernel_close();
}

static int post_one_srq(struct frdma_srq *srq, uint64_t wr_id)
{
	struct ibv_recv_wr wr = { .wr_id = wr_id }, *bad;

	return frdma_post_srq_recv(&srq->vsrq.srq, &wr, &bad);
}

static uint64_t srq_slot_id(struct frdma_srq *srq, uint32_t at)
{
	const struct frdma_recv_wqe *wqe = frdma_ring_slot(&srq->rq.ring, at);

	return wqe->wr_id;
}

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

static struct frdma_cq *open_cq(uint64_t wc_flags)
{
	struct ibv_cq_init_attr_ex attr = {
		.cqe = CQ_ENTRIES, .wc_flags = wc_flags,
	};
	struct ibv_cq_ex *ex;

	kernel_open();
	ex = frdma_create_cq_ex(&kernel.vctx.context, &attr);
	return ex ? container_of(ex, struct frdma_cq, vcq.cq_ex) : NULL;
}

static struct frdma_cq *open_lone_cq(void)
{
	struct ibv_cq_init_attr_ex attr = {
		.cqe = CQ_ENTRIES,
		.wc_flags = IBV_WC_EX_WITH_COMPLETION_TIMESTAMP,
		.comp_mask = IBV_CQ_INIT_ATTR_MASK_FLAGS,
		.flags = IBV_CREATE_CQ_ATTR_SINGLE_THREADED,
	};

	kernel_open();
	return container_of(frdma_create_cq_ex(&kernel.vctx.context, &attr),
			    struct frdma_cq, vcq.cq_ex);
}

static void close_cq(struct frdma_cq *cq)
{
	EXPECT_EQ(frdma_destroy_cq(&cq->vcq.cq), 0);
	kernel_close();
}

/* What the kernel would do. */
static void complete_of(struct frdma_ring *ring, uint64_t wr_id,
			uint32_t qp_num)
{
	uint32_t prod = ring->head->prod;
	struct frdma_cqe *cqe = frdma_ring_slot(ring, prod);

	*cqe = (struct frdma_cqe) {
		.wr_id = wr_id, .status = IBV_WC_SUCCESS,
		.opcode = IBV_WC_RECV, .byte_len = 100, .ex = 0x1234,
		.qp_num = qp_num, .src_qp = 18, .sl = 3, .vendor_err = 4,
		/* The kernel's flag of an invalidated key, and of a VLAN. */
		.wc_flags = FRDMA_WC_GRH | FRDMA_WC_WITH_INV | 1 << 5,
		.timestamp = 1000 + wr_id,
	};
	ring->head->prod = prod + 1;
}

static void complete(struct frdma_ring *ring, uint64_t wr_id)
{
	complete_of(ring, wr_id, 17);
}

TEST(poll_cq__converts)
{
	struct frdma_cq *cq = open_cq(0);
	struct ibv_wc wc;

	EXPECT_EQ(frdma_poll_cq(&cq->vcq.cq, 1, &wc), 0);
	complete(&cq->ring, 7);
	EXPECT_EQ(frdma_poll_cq(&cq->vcq.cq, 1, &wc), 1);
	EXPECT_EQ(wc.wr_id, 7);
	EXPECT_EQ(wc.opcode, IBV_WC_RECV);
	EXPECT_EQ(wc.byte_len, 100);
	EXPECT_EQ(wc.invalidated_rkey, 0x1234);
	EXPECT_EQ(wc.qp_num, 17);
	EXPECT_EQ(wc.src_qp, 18);
	EXPECT_EQ(wc.sl, 3);
	EXPECT_EQ(wc.vendor_err, 4);
	EXPECT_EQ(wc.wc_flags, IBV_WC_GRH | IBV_WC_WITH_INV);
	EXPECT_EQ(wc.slid, 0);
	EXPECT_EQ(frdma_poll_cq(&cq->vcq.cq, 1, &wc), 0);
	close_cq(cq);
}

TEST(poll_cq__in_batches_and_around)
{
	struct frdma_cq *cq = open_cq(0);
	struct ibv_wc wc[CQ_ENTRIES];
	uint64_t made = 0, seen = 0;
	int i, n;

	for (i = 0; i < 50; i++) {
		while (cq->ring.head->prod - cq->ring.head->cons < CQ_ENTRIES)
			complete(&cq->ring, made++);
		n = frdma_poll_cq(&cq->vcq.cq, 3, wc);
		EXPECT_EQ(n, 3);
		for (n = 0; n < 3; n++)
			EXPECT_EQ(wc[n].wr_id, seen++);
		EXPECT_EQ(cq->ring.head->cons, seen);
	}
	EXPECT_EQ(frdma_poll_cq(&cq->vcq.cq, CQ_ENTRIES, wc), CQ_ENTRIES - 3);
	EXPECT_EQ(frdma_poll_cq(&cq->vcq.cq, 0, wc), 0);
	close_cq(cq);
}

TEST(poll_cq__eio_when_unplugged)
{
	struct frdma_cq *cq = open_cq(0);
	struct ibv_wc wc;

	complete(&cq->ring, 1);
	EXPECT_EQ(frdma_poll_cq(&cq->vcq.cq, 1, &wc), 1);
	memset(cq->ring.head, 0, cq->ring.size);
	EXPECT(frdma_poll_cq(&cq->vcq.cq, 1, &wc) == -EIO);
	close_cq(cq);
}

TEST(cq_ex__reads_all)
{
	struct frdma_cq *cq = open_cq(FRDMA_CQ_WC_FLAGS);
	struct ibv_cq_ex *ex = &cq->vcq.cq_ex;
	struct ibv_poll_cq_attr attr = {};

	EXPECT_EQ(kernel.cq_flags, FRDMA_CQ_WC_FLAGS);
	EXPECT_EQ(ex->start_poll(ex, &attr), ENOENT);
	complete(&cq->ring, 1);
	complete(&cq->ring, 2);
	EXPECT_EQ(ex->start_poll(ex, &attr), 0);
	EXPECT_EQ(ex->wr_id, 1);
	EXPECT_EQ(ex->status, IBV_WC_SUCCESS);
	EXPECT_EQ(ex->read_opcode(ex), IBV_WC_RECV);
	EXPECT_EQ(ex->read_vendor_err(ex), 4);
	EXPECT_EQ(ex->read_wc_flags(ex), IBV_WC_GRH | IBV_WC_WITH_INV);
	EXPECT_EQ(ex->read_byte_len(ex), 100);
	EXPECT_EQ(ex->read_imm_data(ex), 0x1234);
	EXPECT_EQ(ex->read_qp_num(ex), 17);
	EXPECT_EQ(ex->read_src_qp(ex), 18);
	EXPECT_EQ(ex->read_slid(ex), 0);
	EXPECT_EQ(ex->read_sl(ex), 3);
	EXPECT_EQ(ex->read_dlid_path_bits(ex), 0);
	EXPECT_EQ(ex->read_completion_ts(ex), 1001);
	EXPECT_EQ(cq->ring.head->cons, 0);
	EXPECT_EQ(ex->next_poll(ex), 0);
	EXPECT_EQ(ex->wr_id, 2);
	EXPECT_EQ(ex->next_poll(ex), ENOENT);
	ex->end_poll(ex);
	EXPECT_EQ(cq->ring.head->cons, 2);
	EXPECT_EQ(ex->start_poll(ex, &attr), ENOENT);
	close_cq(cq);
}

TEST(cq_ex__both_ways_of_polling_mix)
{
	struct frdma_cq *cq = open_cq(0);
	struct ibv_cq_ex *ex = &cq->vcq.cq_ex;
	struct ibv_poll_cq_attr attr = {};
	struct ibv_wc wc;

	complete(&cq->ring, 1);
	complete(&cq->ring, 2);
	complete(&cq->ring, 3);
	EXPECT_EQ(ex->start_poll(ex, &attr), 0);
	ex->end_poll(ex);
	EXPECT_EQ(frdma_poll_cq(&cq->vcq.cq, 1, &wc), 1);
	EXPECT_EQ(wc.wr_id, 2);
	EXPECT_EQ(ex->start_poll(ex, &attr), 0);
	EXPECT_EQ(ex->wr_id, 3);
	ex->end_poll(ex);
	close_cq(cq);
}

/* Which who polls alone may do: no lock is in its way. */
TEST(cq_ex__queue_pair_is_destroyed_while_completions_are_read)
{
	struct frdma_cq *cq = open_lone_cq();
	struct ibv_cq_ex *ex = &cq->vcq.cq_ex;
	struct ibv_poll_cq_attr attr = {};

	complete_of(&cq->ring, 1, 17);
	complete_of(&cq->ring, 2, 16);
	complete_of(&cq->ring, 3, 17);
	complete_of(&cq->ring, 4, 16);
	EXPECT_EQ(ex->start_poll(ex, &attr), 0);
	EXPECT_EQ(ex->wr_id, 1);
	frdma_cq_forget(&cq->vcq.cq, 16);
	EXPECT_EQ(cq->ring.head->cons, 0);
	EXPECT_EQ(ex->read_completion_ts(ex), 1001);
	EXPECT_EQ(ex->next_poll(ex), 0);
	EXPECT_EQ(ex->wr_id, 3);
	EXPECT_EQ(ex->next_poll(ex), ENOENT);
	ex->end_poll(ex);
	EXPECT_EQ(cq->ring.head->cons, 4);
	complete(&cq->ring, 5);
	EXPECT_EQ(ex->start_poll(ex, &attr), 0);
	EXPECT_EQ(ex->wr_id, 5);
	ex->end_poll(ex);
	EXPECT_EQ(cq->ring.head->cons, 5);
	close_cq(cq);
}

/* The last one read, and nothing else. */
TEST(cq_ex__queue_pair_is_destroyed_with_its_last_completion)
{
	struct frdma_cq *cq = open_lone_cq();
	struct ibv_cq_ex *ex = &cq->vcq.cq_ex;
	struct ibv_poll_cq_attr attr = {};
	struct ibv_wc wc;

	complete(&cq->ring, 1);
	complete(&cq->ring, 2);
	EXPECT_EQ(ex->start_poll(ex, &attr), 0);
	frdma_cq_forget(&cq->vcq.cq, 17);
	EXPECT_EQ(ex->wr_id, 1);
	ex->end_poll(ex);
	EXPECT_EQ(cq->ring.head->cons, 2);
	EXPECT_EQ(frdma_poll_cq(&cq->vcq.cq, 1, &wc), 0);
	complete(&cq->ring, 3);
	frdma_cq_forget(&cq->vcq.cq, 17);
	EXPECT_EQ(cq->ring.head->cons, 3);
	close_cq(cq);
}

static uint64_t raw_ns(void)
{
	struct timespec now;

	EXPECT(!clock_gettime(CLOCK_MONOTONIC_RAW, &now));
	return now.tv_sec * 1000000000ULL + now.tv_nsec;
}

TEST(query_rt_values__the_time_that_completions_have)
{
	struct ibv_values_ex values = { .comp_mask = ~0U };
	uint64_t before = raw_ns();

	EXPECT_EQ(frdma_query_rt_values(NULL, &values), 0);
	EXPECT_EQ(values.comp_mask, IBV_VALUES_MASK_RAW_CLOCK);
	EXPECT_EQ(values.raw_clock.tv_sec, 0);
	EXPECT((uint64_t)values.raw_clock.tv_nsec >= before);
	EXPECT((uint64_t)values.raw_clock.tv_nsec <= raw_ns());
}

TEST(cq_ex__refuses_what_it_has_not)
{
	EXPECT(!open_cq(IBV_WC_EX_WITH_TM_INFO));
	EXPECT_EQ(errno, EOPNOTSUPP);
	kernel_close();
	EXPECT(!open_cq(1ULL << 40));
	kernel_close();
}

TEST(req_notify_cq__asks_in_the_ring)
{
	struct frdma_cq *cq = open_cq(0);
	struct frdma_ring_head *head = cq->ring.head;

	EXPECT_EQ(frdma_req_notify_cq(&cq->vcq.cq, 1), 0);
	EXPECT_EQ(head->armed, FRDMA_ARM_SOLICITED);
	EXPECT_EQ(frdma_req_notify_cq(&cq->vcq.cq, 0), 0);
	EXPECT_EQ(head->armed, FRDMA_ARM_SOLICITED | FRDMA_ARM_NEXT);
	head->armed = 0;
	EXPECT_EQ(frdma_req_notify_cq(&cq->vcq.cq, 0), 0);
	EXPECT_EQ(head->armed, FRDMA_ARM_NEXT);
	close_cq(cq);
}

TEST(resize_cq__goes_on_in_the_new_ring)
{
	struct frdma_cq *cq = open_cq(0);
	struct frdma_ring_head *old = cq->ring.head;
	struct ibv_wc wc;

	complete(&cq->ring, 1);
	EXPECT_EQ(frdma_poll_cq(&cq->vcq.cq, 1, &wc), 1);
	EXPECT_EQ(frdma_resize_cq(&cq->vcq.cq, 32), 0);
	EXPECT(cq->ring.head != old);
	EXPECT_EQ(cq->ring.entries, 32);
	EXPECT_EQ(cq->vcq.cq.cqe, 32);
	complete(&cq->ring, 2);
	EXPECT_EQ(frdma_poll_cq(&cq->vcq.cq, 1, &wc), 1);
	EXPECT_EQ(wc.wr_id, 2);
	EXPECT_EQ(cq->ring.head->cons, 1);
	close_cq(cq);
}

TEST(resize_cq__refused_changes_nothing)
{
	struct frdma_cq *cq = open_cq(0);
	struct frdma_ring old = cq->ring;

	kernel.fail_resize = EINVAL;
	EXPECT_EQ(frdma_resize_cq(&cq->vcq.cq, 1), EINVAL);
	EXPECT(!memcmp(&old, &cq->ring, sizeof(old)));
	close_cq(cq);
}

TEST(parent_domain__holds_what_it_refers_to)
{
	struct ibv_td_init_attr td_attr = {};
	struct ibv_parent_domain_init_attr attr = {};
	struct frdma_pd pd = {};
	struct ibv_pd *parent;

	attr.td = frdma_alloc_td(NULL, &td_attr);
	attr.pd = &pd.ibvpd;
	pd.ibvpd.handle = 12;
	parent = frdma_alloc_parent_domain(NULL, &attr);
	EXPECT_EQ(parent->handle, 12);
	EXPECT_EQ(frdma_dealloc_td(attr.td), EBUSY);
	EXPECT_EQ(frdma_dealloc_pd(&pd.ibvpd), EBUSY);
	EXPECT_EQ(frdma_dealloc_pd(parent), 0);
	EXPECT_EQ(frdma_dealloc_td(attr.td), 0);
	EXPECT_EQ(pd.users, 0);
}

/* What an allocator of a parent domain was asked for, and what it gives. */
static struct {
	uint64_t types[8];
	unsigned int given, taken;
	void *answer;
} allocator;

static void *give_memory(struct ibv_pd *pd, void *context, size_t size,
			 size_t alignment, uint64_t type)
{
	void *ptr = allocator.answer;

	EXPECT(pd && context == &allocator);
	EXPECT_EQ(size % alignment, 0);
	allocator.types[allocator.given] = type;
	if (ptr == &allocator && !posix_memalign(&ptr, alignment, size)) {
		memset(ptr, 0xa5, size);
		allocator.given++;
	}
	return ptr;
}

static void take_memory(struct ibv_pd *pd, void *context, void *ptr,
			uint64_t type)
{
	EXPECT(pd && context == &allocator);
	EXPECT_EQ(type >> 32, FRDMA_DRIVER_ID);
	allocator.taken++;
	free(ptr);
}

static struct ibv_pd *open_parent_domain(struct frdma_pd *pd, void *answer)
{
	struct ibv_parent_domain_init_attr attr = {
		.pd		= &pd->ibvpd,
		.comp_mask	= IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS |
				  IBV_PARENT_DOMAIN_INIT_ATTR_PD_CONTEXT,
		.alloc		= give_memory,
		.free		= take_memory,
		.pd_context	= &allocator,
	};
	struct ibv_pd *parent;

	memset(&allocator, 0, sizeof(allocator));
	allocator.answer = answer;
	kernel_open();
	pd->ibvpd.context = &kernel.vctx.context;
	parent = frdma_alloc_parent_domain(&kernel.vctx.context, &attr);
	EXPECT(parent);
	return parent;
}

static struct ibv_cq_ex *make_cq_in(struct ibv_pd *parent)
{
	struct ibv_cq_init_attr_ex attr = {
		.cqe		= CQ_ENTRIES,
		.comp_mask	= IBV_CQ_INIT_ATTR_MASK_PD,
		.parent_domain	= parent,
	};

	return frdma_create_cq_ex(&kernel.vctx.context, &attr);
}

TEST(parent_domain__allocator_has_all_queues)
{
	struct ibv_srq_init_attr srq_attr = { .attr.max_wr = 1 };
	struct ibv_qp_init_attr qp_attr = { .qp_type = IBV_QPT_RC };
	struct frdma_pd pd = {};
	struct ibv_pd *parent = open_parent_domain(&pd, &allocator);
	struct ibv_cq_ex *cq = make_cq_in(parent);
	struct ibv_srq *srq = frdma_create_srq(parent, &srq_attr);
	struct ibv_qp *qp = frdma_create_qp(parent, &qp_attr);

	EXPECT(cq && srq && qp);
	EXPECT_EQ(allocator.given, 3);
	EXPECT_EQ(allocator.types[0],
		  (uint64_t)FRDMA_DRIVER_ID << 32 | FRDMA_CQ_MEM);
	EXPECT_EQ((uint32_t)allocator.types[1], FRDMA_SRQ_MEM);
	EXPECT_EQ((uint32_t)allocator.types[2], FRDMA_QP_MEM);

	EXPECT_EQ(frdma_dealloc_pd(parent), EBUSY);
	EXPECT_EQ(frdma_destroy_qp(qp), 0);
	EXPECT_EQ(frdma_destroy_srq(srq), 0);
	EXPECT_EQ(frdma_destroy_cq(ibv_cq_ex_to_cq(cq)), 0);
	EXPECT_EQ(allocator.taken, 3);
	EXPECT_EQ(frdma_dealloc_pd(parent), 0);
	kernel_close();
}

TEST(parent_domain__allocator_leaves_it_to_us)
{
	struct ibv_qp_init_attr qp_attr = { .qp_type = IBV_QPT_RC };
	struct frdma_pd pd = {};
	struct ibv_pd *parent = open_parent_domain(&pd,
						   IBV_ALLOCATOR_USE_DEFAULT);
	struct ibv_qp *qp = frdma_create_qp(parent, &qp_attr);

	EXPECT(qp);
	EXPECT_EQ(frdma_destroy_qp(qp), 0);
	EXPECT_EQ(allocator.taken, 0);
	EXPECT_EQ(frdma_dealloc_pd(parent), 0);
	kernel_close();
}

TEST(parent_domain__allocator_has_nothing)
{
	struct ibv_srq_init_attr srq_attr = { .attr.max_wr = 1 };
	struct ibv_qp_init_attr qp_attr = { .qp_type = IBV_QPT_RC };
	struct frdma_pd pd = {};
	struct ibv_pd *parent = open_parent_domain(&pd, NULL);

	EXPECT(!make_cq_in(parent) && errno == ENOMEM);
	EXPECT(!frdma_create_srq(parent, &srq_attr) && errno == ENOMEM);
	EXPECT(!frdma_create_qp(parent, &qp_attr) && errno == ENOMEM);
	EXPECT_EQ(frdma_dealloc_pd(parent), 0);
	kernel_close();
}

TEST(parent_domain__refuses)
{
	struct frdma_pd pd = {};
	struct ibv_parent_domain_init_attr attr = { .pd = &pd.ibvpd };

	attr.comp_mask = IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS;
	attr.alloc = give_memory;
	EXPECT(!frdma_alloc_parent_domain(NULL, &attr) && errno == EINVAL);
	attr.alloc = NULL;
	attr.free = take_memory;
	EXPECT(!frdma_alloc_parent_domain(NULL, &attr) && errno == EINVAL);
	attr.comp_mask = 1 << 2;
	EXPECT(!frdma_alloc_parent_domain(NULL, &attr) && errno == EOPNOTSUPP);
	EXPECT_EQ(pd.users, 0);
}

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
