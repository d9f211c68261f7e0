// SPDX-License-Identifier: GPL-2.0
#include "fake.h"

#include <stdarg.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <rdma/rdma_user_ioctl.h>

#define RING_SPACE	65536

#define SQ_STRIDE	(sizeof(struct frdma_send_wqe) + 112)
#define RQ_STRIDE	(sizeof(struct frdma_recv_wqe) + \
			 MAX_SGE * sizeof(struct frdma_sge))

struct fake kernel;

void kernel_open(void)
{
	memset(&kernel, 0, sizeof(kernel));
	kernel.fd = memfd_create("kernel", 0);
	if (kernel.fd < 0 || ftruncate(kernel.fd, 16 * RING_SPACE))
		abort();
	kernel.vctx.context.cmd_fd = kernel.fd;
}

void kernel_close(void)
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

static int answer_clock(const struct ib_uverbs_attr *attr)
{
	if (!kernel.clock_ns) {
		errno = EPROTONOSUPPORT;
		return -1;
	}
	EXPECT_EQ(attr->attr_id, FRDMA_ATTR_DEVICE_CLOCK_NS);
	EXPECT_EQ(attr->len, sizeof(kernel.clock_ns));
	memcpy((void *)(uintptr_t)attr->data, &kernel.clock_ns,
	       sizeof(kernel.clock_ns));
	return 0;
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
	if (bell->hdr.object_id == UVERBS_OBJECT_DEVICE)
		return answer_clock(&bell->attr);
	if (kernel.in_doorbell)
		kernel.in_doorbell();
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

uint32_t *qp_mask(struct verbs_qp *qp)
{
	return kernel.later_library ? (uint32_t *)&qp->xrcd : &qp->comp_mask;
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
	*qp_mask(qp) = 0;
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

/* The command of a provider that knows no length of the response. */
#define SHORT_CHANGE	offsetof(struct frdma_change_srq, resp_len)

/* What was not taken is in the new ring, at the same indices. */
int ibv_cmd_modify_srq(struct ibv_srq *srq, struct ibv_srq_attr *attr,
		       int attr_mask, struct ibv_modify_srq *cmd,
		       size_t cmd_size)
{
	struct frdma_change_srq *ours = (void *)cmd;
	struct frdma_ring *old = &to_frdma_srq(srq)->rq.ring;
	struct frdma_ring_head *head;
	struct frdma_modify_srq_resp resp = {};

	if (kernel.fail_resize)
		return kernel.fail_resize;
	if (!(attr_mask & IBV_SRQ_MAX_WR)) {
		EXPECT_EQ(cmd_size, sizeof(*cmd));
		return 0;
	}

	if (kernel.short_resize && cmd_size > SHORT_CHANGE)
		return EOPNOTSUPP;
	EXPECT_EQ(cmd_size, kernel.short_resize ? SHORT_CHANGE : sizeof(*ours));
	EXPECT_EQ(ours->resp_len, sizeof(resp));
	resp.srq = kernel_make_ring(attr->max_wr, RQ_STRIDE);
	memcpy((void *)(uintptr_t)ours->resp_addr, &resp, sizeof(resp));
	head = mmap(NULL, resp.srq.mmap_size, PROT_READ | PROT_WRITE,
		    MAP_SHARED, kernel.fd, resp.srq.mmap_offset);
	if (head == MAP_FAILED)
		abort();
	head->prod = old->head->prod;
	head->cons = old->head->cons;
	munmap(head, resp.srq.mmap_size);
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

struct ibv_qp *open_qp(enum ibv_qp_type type, uint64_t ops)
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

void close_qp(struct ibv_qp *qp)
{
	EXPECT_EQ(frdma_destroy_qp(qp), 0);
	kernel_close();
}

struct frdma_srq *open_srq(void)
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

void close_srq(struct frdma_srq *srq)
{
	EXPECT_EQ(frdma_destroy_srq(&srq->vsrq.srq), 0);
	kernel_close();
}

int post_one_srq(struct frdma_srq *srq, uint64_t wr_id)
{
	struct ibv_recv_wr wr = { .wr_id = wr_id }, *bad;

	return frdma_post_srq_recv(&srq->vsrq.srq, &wr, &bad);
}

uint64_t srq_slot_id(struct frdma_srq *srq, uint32_t at)
{
	const struct frdma_recv_wqe *wqe = frdma_ring_slot(&srq->rq.ring, at);

	return wqe->wr_id;
}

struct frdma_cq *open_cq(uint64_t wc_flags)
{
	struct ibv_cq_init_attr_ex attr = {
		.cqe = CQ_ENTRIES, .wc_flags = wc_flags,
	};
	struct ibv_cq_ex *ex;

	kernel_open();
	ex = frdma_create_cq_ex(&kernel.vctx.context, &attr);
	return ex ? container_of(ex, struct frdma_cq, vcq.cq_ex) : NULL;
}

struct frdma_cq *open_lone_cq(void)
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

void close_cq(struct frdma_cq *cq)
{
	EXPECT_EQ(frdma_destroy_cq(&cq->vcq.cq), 0);
	kernel_close();
}

void complete_of(struct frdma_ring *ring, uint64_t wr_id, uint32_t qp_num)
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

void complete(struct frdma_ring *ring, uint64_t wr_id)
{
	complete_of(ring, wr_id, 17);
}
