// SPDX-License-Identifier: GPL-2.0
/*
 * Fast registration as it should not be used. Only consumers in the kernel can
 * register so, so this is a module: it runs the cases as it is loaded, and
 * loading fails with the first that ends otherwise than expected.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/slab.h>
#include <rdma/ib_cache.h>

#include "device.h"

#define RIGHTS	(IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE | \
		 IB_ACCESS_REMOTE_READ)

/* Address of the region: its second half is a page of its own. */
#define IOVA	0x10000ULL
#define LEN	(2 * PAGE_SIZE)

static struct ib_cq *cq;
static struct page *pages;

/* The two queue pairs of a case, of which the first asks, and its region. */
static struct ib_qp *near, *far;
static struct ib_mr *mr;

static int connect(struct ib_qp *qp, const struct ib_qp *peer)
{
	struct ib_qp_attr attr = {
		.port_num = 1, .qp_access_flags = RIGHTS,
		.path_mtu = IB_MTU_1024, .max_dest_rd_atomic = 1,
		.max_rd_atomic = 1, .timeout = 14, .retry_cnt = 7,
		.dest_qp_num = peer->qp_num,
	};
	union ib_gid gid;
	int err;

	err = rdma_query_gid(dev, 1, gid_index, &gid);
	if (err)
		return err;
	attr.ah_attr.type = RDMA_AH_ATTR_TYPE_ROCE;
	rdma_ah_set_port_num(&attr.ah_attr, 1);
	rdma_ah_set_grh(&attr.ah_attr, &gid, 0, gid_index, 4, 0);

	return bring_up(qp, attr);
}

/* Status of the next completion, negative if there is none. */
static int status(void)
{
	unsigned long end = jiffies + 20 * HZ;
	struct ib_wc wc;

	while (!ib_poll_cq(cq, 1, &wc)) {
		if (time_after(jiffies, end))
			return -ETIMEDOUT;
		schedule_timeout_uninterruptible(1);
	}
	return wc.status;
}

static int post(const struct ib_send_wr *wr)
{
	return ib_post_send(near, wr, NULL) ?: status();
}

static int reg(struct ib_mr *of, u32 key)
{
	struct ib_reg_wr wr = {
		.wr.opcode = IB_WR_REG_MR, .wr.send_flags = IB_SEND_SIGNALED,
		.mr = of, .key = key, .access = RIGHTS,
	};

	return post(&wr.wr);
}

static int invalidate(u32 key)
{
	struct ib_send_wr wr = {
		.opcode = IB_WR_LOCAL_INV, .send_flags = IB_SEND_SIGNALED,
		.ex.invalidate_rkey = key,
	};

	return post(&wr);
}

/* From the first byte of the pages, to an address under a key. */
static int write_from(u32 lkey, u64 from, u32 rkey, u64 to)
{
	struct ib_sge sge = { .addr = from, .length = 8, .lkey = lkey };
	struct ib_rdma_wr wr = {
		.wr.opcode = IB_WR_RDMA_WRITE,
		.wr.send_flags = IB_SEND_SIGNALED,
		.wr.sg_list = &sge, .wr.num_sge = 1,
		.remote_addr = to, .rkey = rkey,
	};

	return post(&wr.wr);
}

static int write_to(u32 rkey, u64 to)
{
	return write_from(pd->local_dma_lkey, (uintptr_t)page_address(pages),
			  rkey, to);
}

/* Both pages; returns what ib_map_mr_sg() says. */
static int map_pages(struct ib_mr *of)
{
	struct scatterlist sg;

	sg_init_table(&sg, 1);
	sg_set_page(&sg, pages, LEN, 0);
	if (!ib_dma_map_sg(dev, &sg, 1, DMA_BIDIRECTIONAL))
		return -EIO;
	return ib_map_mr_sg(of, &sg, 1, NULL, PAGE_SIZE);
}

/* The region of two pages, mapped, not registered. */
static int map(struct ib_mr *of)
{
	int mapped = map_pages(of);

	of->iova = IOVA;
	return mapped == 1 ? 0 : -EIO;
}

/*
 * Cases: each returns how its last work request ended.
 */

static int is_used(void)
{
	return reg(mr, mr->rkey) ?: write_to(mr->rkey, IOVA + LEN - 8);
}

static int used_before_it_is_registered(void)
{
	return write_to(mr->rkey, IOVA);
}

static int used_beyond_its_end(void)
{
	return reg(mr, mr->rkey) ?: write_to(mr->rkey, IOVA + LEN - 7);
}

static int used_after_invalidation(void)
{
	return reg(mr, mr->rkey) ?: invalidate(mr->rkey) ?:
	       write_to(mr->rkey, IOVA);
}

static int source_after_invalidation(void)
{
	return reg(mr, mr->rkey) ?: invalidate(mr->rkey) ?:
	       write_from(mr->lkey, IOVA, mr->rkey, IOVA);
}

static int invalidated_twice(void)
{
	return reg(mr, mr->rkey) ?: invalidate(mr->rkey) ?:
	       invalidate(mr->rkey ^ 1);
}

static int registered_twice(void)
{
	return reg(mr, mr->rkey) ?: reg(mr, mr->rkey);
}

static int used_by_its_old_key(void)
{
	u32 old = mr->rkey;

	return reg(mr, old) ?: invalidate(old) ?:
	       reg(mr, ib_inc_rkey(old)) ?:
	       write_to(ib_inc_rkey(old), IOVA) ?: write_to(old, IOVA);
}

/* The upper bits are the region's number, and not the consumer's. */
static int registered_by_another_number(void)
{
	return reg(mr, mr->rkey ^ 0x100);
}

static int longer_than_what_is_mapped(void)
{
	mr->length = LEN + 1;
	return reg(mr, mr->rkey);
}

static int wraps(void)
{
	mr->iova = -(u64)PAGE_SIZE;
	return reg(mr, mr->rkey);
}

static int of_another_domain(void)
{
	struct ib_pd *other = ib_alloc_pd(dev, 0);
	struct ib_mr *strange;
	int result;

	if (IS_ERR(other))
		return PTR_ERR(other);
	strange = ib_alloc_mr(other, IB_MR_TYPE_MEM_REG, 2);
	if (IS_ERR(strange)) {
		result = PTR_ERR(strange);
		goto out_dealloc;
	}
	result = map(strange) ?: reg(strange, strange->rkey);
	ib_dereg_mr(strange);
out_dealloc:
	ib_dealloc_pd(other);
	return result;
}

static int larger_than_it_says(void)
{
	struct ib_mr *one = ib_alloc_mr(pd, IB_MR_TYPE_MEM_REG, 1);
	int mapped;

	if (IS_ERR(one))
		return PTR_ERR(one);
	mapped = map_pages(one);
	ib_dereg_mr(one);
	return mapped;
}

static int beyond_the_maximum(void)
{
	u32 max = dev->attrs.max_fast_reg_page_list_len;
	struct ib_mr *large = ib_alloc_mr(pd, IB_MR_TYPE_MEM_REG, max + 1);

	if (IS_ERR(large))
		return PTR_ERR(large);
	ib_dereg_mr(large);
	return 0;
}

static const struct {
	const char *name;
	int (*run)(void);
	int want;
} cases[] = {
#define CASE(name_, want_)	{ #name_, name_, want_ }
	CASE(is_used, IB_WC_SUCCESS),
	CASE(used_before_it_is_registered, IB_WC_REM_ACCESS_ERR),
	CASE(used_beyond_its_end, IB_WC_REM_ACCESS_ERR),
	CASE(used_after_invalidation, IB_WC_REM_ACCESS_ERR),
	CASE(source_after_invalidation, IB_WC_LOC_PROT_ERR),
	CASE(invalidated_twice, IB_WC_MW_BIND_ERR),
	CASE(registered_twice, IB_WC_MW_BIND_ERR),
	CASE(used_by_its_old_key, IB_WC_REM_ACCESS_ERR),
	CASE(registered_by_another_number, IB_WC_MW_BIND_ERR),
	CASE(longer_than_what_is_mapped, IB_WC_MW_BIND_ERR),
	CASE(wraps, IB_WC_MW_BIND_ERR),
	CASE(of_another_domain, IB_WC_MW_BIND_ERR),
	CASE(larger_than_it_says, -ENOMEM),
	CASE(beyond_the_maximum, -EINVAL),
	CASE(is_used, IB_WC_SUCCESS),
};

static int run_with_region(int n)
{
	int got = map(mr) ?: cases[n].run();

	if (got == cases[n].want)
		return 0;
	pr_err("%s ended with %d, not %d\n", cases[n].name, got,
	       cases[n].want);
	return -EINVAL;
}

static int run_with_pair(int n)
{
	int err = connect(near, far) ?: connect(far, near);

	if (err)
		return err;
	mr = ib_alloc_mr(pd, IB_MR_TYPE_MEM_REG, 2);
	if (IS_ERR(mr))
		return PTR_ERR(mr);
	err = run_with_region(n);
	ib_dereg_mr(mr);
	return err;
}

/* An error ends the queue pairs, so each case has two of its own. */
static int run(int n)
{
	struct ib_qp_init_attr init = {
		.send_cq = cq, .recv_cq = cq, .qp_type = IB_QPT_RC,
		.cap = { .max_send_wr = 4, .max_recv_wr = 1,
			 .max_send_sge = 1, .max_recv_sge = 1 },
	};
	int err;

	near = ib_create_qp(pd, &init);
	if (IS_ERR(near))
		return PTR_ERR(near);
	far = ib_create_qp(pd, &init);
	if (IS_ERR(far)) {
		err = PTR_ERR(far);
		goto out_destroy;
	}
	err = run_with_pair(n);
	ib_destroy_qp(far);
out_destroy:
	ib_destroy_qp(near);
	return err;
}

static int run_all(void)
{
	int err = 0, n;

	for (n = 0; !err && n < ARRAY_SIZE(cases); n++)
		err = run(n);
	return err;
}

static int with_queue(void)
{
	int err;

	cq = ib_alloc_cq(dev, NULL, 16, 0, IB_POLL_DIRECT);
	if (IS_ERR(cq))
		return PTR_ERR(cq);
	err = run_all();
	ib_free_cq(cq);
	return err;
}

static int __init fast_init(void)
{
	int err;

	pages = alloc_pages(GFP_KERNEL | __GFP_ZERO, get_order(LEN));
	if (!pages)
		return -ENOMEM;
	err = with_device(with_queue);
	__free_pages(pages, get_order(LEN));
	return err;
}
module_init(fast_init);

static void __exit fast_exit(void)
{
}
module_exit(fast_exit);

MODULE_DESCRIPTION("Fast registration as it should not be used");
MODULE_LICENSE("GPL");
