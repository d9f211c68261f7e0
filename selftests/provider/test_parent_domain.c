// SPDX-License-Identifier: GPL-2.0
/* Parent domains, and memory of whose allocators queues are. */
#include "fake.h"

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
