// SPDX-License-Identifier: GPL-2.0
/*
 * A consumer in the kernel that makes objects while one allocation of its task
 * fails: the first, then the second, until all have failed once. Each is made
 * all the same, or it is told that there was no memory. Loading fails with the
 * first that ends otherwise; scarce.sh does it.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/sched.h>
#include <rdma/ib_cache.h>

#include "device.h"

/* More allocations than any of these makes. */
#define MOST	2000

static struct ib_cq *cq;
static struct rdma_ah_attr route;

static void *make_pd(void)
{
	return ib_alloc_pd(dev, 0);
}

static void unmake_pd(void *made)
{
	ib_dealloc_pd(made);
}

static void *make_cq(void)
{
	struct ib_cq_init_attr init = { .cqe = 1000 };

	return ib_create_cq(dev, NULL, NULL, NULL, &init);
}

static void unmake_cq(void *made)
{
	ib_destroy_cq(made);
}

static void *make_srq(void)
{
	struct ib_srq_init_attr init = {
		.attr = { .max_wr = 500, .max_sge = 2 },
		.srq_type = IB_SRQT_BASIC,
	};

	return ib_create_srq(pd, &init);
}

static void unmake_srq(void *made)
{
	ib_destroy_srq(made);
}

/* To itself. */
static int connect(struct ib_qp *qp)
{
	struct ib_qp_attr attr = {
		.port_num = 1, .path_mtu = IB_MTU_1024, .ah_attr = route,
		.max_dest_rd_atomic = 4, .max_rd_atomic = 4, .timeout = 14,
		.retry_cnt = 7, .dest_qp_num = qp->qp_num,
	};

	return bring_up(qp, attr);
}

static void *make_qp(void)
{
	struct ib_qp_init_attr init = {
		.send_cq = cq, .recv_cq = cq, .qp_type = IB_QPT_RC,
		.cap = { .max_send_wr = 500, .max_recv_wr = 500,
			 .max_send_sge = 2, .max_recv_sge = 2 },
	};
	struct ib_qp *qp = ib_create_qp(pd, &init);
	int err;

	if (IS_ERR(qp))
		return qp;
	err = connect(qp);
	if (!err)
		return qp;
	ib_destroy_qp(qp);
	return ERR_PTR(err);
}

static void unmake_qp(void *made)
{
	ib_destroy_qp(made);
}

static void *make_mr(void)
{
	return ib_alloc_mr(pd, IB_MR_TYPE_MEM_REG, 2);
}

/* Its tables have several levels. */
static void *make_large_mr(void)
{
	return ib_alloc_mr(pd, IB_MR_TYPE_MEM_REG,
			   dev->attrs.max_fast_reg_page_list_len);
}

static void unmake_mr(void *made)
{
	ib_dereg_mr(made);
}

static void *make_ah(void)
{
	return rdma_create_ah(pd, &route, 0);
}

static void *make_sleepable_ah(void)
{
	return rdma_create_ah(pd, &route, RDMA_CREATE_AH_SLEEPABLE);
}

static void unmake_ah(void *made)
{
	rdma_destroy_ah(made, RDMA_DESTROY_AH_SLEEPABLE);
}

static const struct kind {
	const char *name;
	void *(*make)(void);
	void (*unmake)(void *made);
} kinds[] = {
	{ "pd", make_pd, unmake_pd },
	{ "cq", make_cq, unmake_cq },
	{ "srq", make_srq, unmake_srq },
	{ "qp", make_qp, unmake_qp },
	{ "mr", make_mr, unmake_mr },
	{ "large_mr", make_large_mr, unmake_mr },
	{ "ah", make_ah, unmake_ah },
	{ "sleepable_ah", make_sleepable_ah, unmake_ah },
};

#ifdef CONFIG_FAULT_INJECTION
/* Makes one, of which allocation @n fails; has it? */
static void *make_scarcely(const struct kind *kind, unsigned int n,
			   bool *failed)
{
	void *made;

	current->fail_nth = n;
	made = kind->make();
	*failed = !current->fail_nth;
	current->fail_nth = 0;
	return made;
}
#else
static void *make_scarcely(const struct kind *kind, unsigned int n,
			   bool *failed)
{
	*failed = false;
	return ERR_PTR(-EOPNOTSUPP);
}
#endif

static bool is_of_scarcity(long err)
{
	return err == -ENOMEM || err == -ENOBUFS;
}

static int run(const struct kind *kind)
{
	unsigned int n, refused = 0;
	bool failed = true;
	void *made;

	for (n = 1; n < MOST && failed; n++) {
		made = make_scarcely(kind, n, &failed);
		if (!IS_ERR(made)) {
			kind->unmake(made);
			continue;
		}
		if (!failed || !is_of_scarcity(PTR_ERR(made))) {
			pr_err("%s, allocation %u: %ld\n", kind->name, n,
			       PTR_ERR(made));
			return -EINVAL;
		}
		refused++;
	}
	pr_info("made a %s: %u allocations, %u refusals\n", kind->name, n - 2,
		refused);
	return failed || !refused ? -EINVAL : 0;
}

static int run_all(void)
{
	union ib_gid gid;
	int err, i;

	err = rdma_query_gid(dev, 1, gid_index, &gid);
	route.type = RDMA_AH_ATTR_TYPE_ROCE;
	rdma_ah_set_port_num(&route, 1);
	rdma_ah_set_grh(&route, &gid, 0, gid_index, 4, 0);
	for (i = 0; !err && i < ARRAY_SIZE(kinds); i++)
		err = run(&kinds[i]);
	return err;
}

static int with_queue(void)
{
	int err;

	cq = make_cq();
	if (IS_ERR(cq))
		return PTR_ERR(cq);
	err = run_all();
	ib_destroy_cq(cq);
	return err;
}

static int __init needy_init(void)
{
	return with_device(with_queue);
}
module_init(needy_init);

static void __exit needy_exit(void)
{
}
module_exit(needy_exit);

MODULE_DESCRIPTION("Objects made while allocations fail");
MODULE_LICENSE("GPL");
