// SPDX-License-Identifier: GPL-2.0
/*
 * Objects other than queue pairs, used as they should not be: with parents that
 * are none, destroyed while in use, with rights that go together with
 * nothing, and keys that name nothing. objects.sh builds and runs it:
 *
 *	objects DEVICE GID_INDEX CASE
 */
#include <fcntl.h>
#include <stdbool.h>

#include "../lib/pair.h"
#include "../lib/bystander.h"

#define PAGE	4096
#define NOTHING	0x7777

#define COUNT(array)	(sizeof(array) / sizeof((array)[0]))

/* Some calls reach the core as commands, others as ioctls. */
#define UNKNOWN(call) do {						\
	errno = 0;							\
	EXPECT(!(call) && (errno == EINVAL || errno == ENOENT));	\
} while (0)

#define REFUSED(call, err) do {						\
	errno = 0;							\
	EXPECT(!(call) && errno == (err));				\
} while (0)

static unsigned char *memory;
static struct ibv_mr *mr;

static struct ibv_cq *make_cq(void)
{
	struct ibv_cq *cq = ibv_create_cq(ctx, 16, NULL, NULL, 0);

	EXPECT(cq);
	return cq;
}

static struct ibv_srq *try_srq(struct ibv_pd *of)
{
	struct ibv_srq_init_attr init = {
		.attr = { .max_wr = 4, .max_sge = 1 },
	};

	return ibv_create_srq(of, &init);
}

static struct ibv_srq *try_xrc_srq(struct ibv_pd *of, struct ibv_xrcd *domain,
				   struct ibv_cq *cq)
{
	struct ibv_srq_init_attr_ex init = {
		.attr = { .max_wr = 4, .max_sge = 1 },
		.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD |
			     IBV_SRQ_INIT_ATTR_XRCD | IBV_SRQ_INIT_ATTR_CQ,
		.srq_type = IBV_SRQT_XRC, .pd = of, .xrcd = domain, .cq = cq,
	};

	return ibv_create_srq_ex(ctx, &init);
}

static struct ibv_xrcd *make_domain(void)
{
	struct ibv_xrcd_init_attr attr = {
		.comp_mask = IBV_XRCD_INIT_ATTR_FD |
			     IBV_XRCD_INIT_ATTR_OFLAGS,
		.fd = -1, .oflags = O_CREAT,
	};
	struct ibv_xrcd *domain = ibv_open_xrcd(ctx, &attr);

	EXPECT(domain);
	return domain;
}

static struct ibv_dm *make_dm(void)
{
	struct ibv_alloc_dm_attr attr = { .length = PAGE };
	struct ibv_dm *dm = ibv_alloc_dm(ctx, &attr);

	EXPECT(dm);
	return dm;
}

/*
 * Parents
 */

/* One that the library has made, with a number that the kernel has not. */
static void no_such_domain(void)
{
	struct ibv_pd *none = ibv_alloc_pd(ctx);
	struct ibv_ah_attr ah = rtr_attr(1).ah_attr;
	struct ibv_xrcd *domain = make_domain();
	struct ibv_cq *cq = make_cq();
	struct ibv_dm *dm = make_dm();
	uint32_t handle;

	EXPECT(none);
	handle = none->handle;
	none->handle = NOTHING;
	UNKNOWN(ibv_reg_mr(none, memory, PAGE, RIGHTS));
	UNKNOWN(ibv_reg_mr(none, memory, PAGE, RIGHTS | IBV_ACCESS_ON_DEMAND));
	UNKNOWN(ibv_reg_dm_mr(none, dm, 0, PAGE,
			      RIGHTS | IBV_ACCESS_ZERO_BASED));
	UNKNOWN(ibv_alloc_mw(none, IBV_MW_TYPE_1));
	UNKNOWN(ibv_create_ah(none, &ah));
	UNKNOWN(try_srq(none));
	UNKNOWN(try_xrc_srq(none, domain, cq));
	EXPECT(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_PD, none, NULL, 0, 0));
	none->handle = handle;
	EXPECT(!ibv_dealloc_pd(none));
	EXPECT(!ibv_free_dm(dm) && !ibv_close_xrcd(domain));
	EXPECT(!ibv_destroy_cq(cq));
}

static void no_such_queue(void)
{
	struct ibv_xrcd *domain = make_domain();
	struct ibv_cq *cq = make_cq();
	struct ibv_comp_channel channel = { .context = ctx, .fd = NOTHING };
	uint32_t handle = cq->handle;

	cq->handle = NOTHING;
	UNKNOWN(try_xrc_srq(pd, domain, cq));
	EXPECT(ibv_resize_cq(cq, 8));
	cq->handle = handle;
	EXPECT(!ibv_create_cq(ctx, 8, NULL, &channel, 0));
	/* A file, and none that completions come from. */
	channel.fd = ctx->async_fd;
	EXPECT(!ibv_create_cq(ctx, 8, NULL, &channel, 0));
	EXPECT(!ibv_close_xrcd(domain) && !ibv_destroy_cq(cq));
}

/*
 * Use
 */

/* Each child alone keeps it. */
static void domain_in_use(void)
{
	struct ibv_ah_attr ah_attr = rtr_attr(1).ah_attr;
	struct ibv_pd *parent = ibv_alloc_pd(ctx);
	struct ibv_srq *srq;
	struct ibv_mr *region;
	struct ibv_mw *mw;
	struct ibv_ah *ah;

	EXPECT(parent);
	region = ibv_reg_mr(parent, memory, PAGE, RIGHTS);
	EXPECT(region && ibv_dealloc_pd(parent) == EBUSY);
	EXPECT(!ibv_dereg_mr(region));
	region = ibv_reg_mr(parent, memory, PAGE, IBV_ACCESS_ON_DEMAND);
	EXPECT(region && ibv_dealloc_pd(parent) == EBUSY);
	EXPECT(!ibv_dereg_mr(region));
	mw = ibv_alloc_mw(parent, IBV_MW_TYPE_2);
	EXPECT(mw && ibv_dealloc_pd(parent) == EBUSY);
	EXPECT(!ibv_dealloc_mw(mw));
	ah = ibv_create_ah(parent, &ah_attr);
	EXPECT(ah && ibv_dealloc_pd(parent) == EBUSY);
	EXPECT(!ibv_destroy_ah(ah));
	srq = try_srq(parent);
	EXPECT(srq && ibv_dealloc_pd(parent) == EBUSY);
	EXPECT(!ibv_destroy_srq(srq));
	EXPECT(!ibv_dealloc_pd(parent));
}

static void queues_in_use(void)
{
	struct ibv_comp_channel *channel = ibv_create_comp_channel(ctx);
	struct ibv_cq *sends = make_cq(), *receives, *shared = make_cq();
	struct ibv_xrcd *domain = make_domain();
	struct ibv_srq *srq = try_srq(pd), *xrc;
	struct ibv_qp_init_attr init = {
		.qp_type = IBV_QPT_RC, .srq = srq,
		.cap = { .max_send_wr = 1, .max_send_sge = 1 },
	};
	struct ibv_qp *qp;

	receives = ibv_create_cq(ctx, 8, NULL, channel, 0);
	init.send_cq = sends;
	init.recv_cq = receives;
	qp = ibv_create_qp(pd, &init);
	xrc = try_xrc_srq(pd, domain, shared);
	EXPECT(qp && xrc);

	EXPECT(ibv_destroy_comp_channel(channel) == EBUSY);
	EXPECT(ibv_destroy_cq(sends) == EBUSY);
	EXPECT(ibv_destroy_cq(receives) == EBUSY);
	EXPECT(ibv_destroy_cq(shared) == EBUSY);
	EXPECT(ibv_destroy_srq(srq) == EBUSY);
	EXPECT(ibv_close_xrcd(domain) == EBUSY);

	EXPECT(!ibv_destroy_qp(qp) && !ibv_destroy_srq(srq));
	EXPECT(!ibv_destroy_srq(xrc) && !ibv_close_xrcd(domain));
	EXPECT(!ibv_destroy_cq(sends) && !ibv_destroy_cq(receives));
	EXPECT(!ibv_destroy_cq(shared) && !ibv_destroy_comp_channel(channel));
}

static union ibv_gid group(void)
{
	return (union ibv_gid) { .raw = { [10] = 0xff, [11] = 0xff,
					  [12] = 239, [13] = 79, [15] = 1 } };
}

static void queue_pair_in_a_group(void)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = 1 };
	struct ibv_cq *cq = make_cq();
	struct ibv_qp_init_attr init = {
		.qp_type = IBV_QPT_UD, .send_cq = cq, .recv_cq = cq,
		.cap = { .max_send_wr = 1, .max_send_sge = 1 },
	};
	struct ibv_qp *qp = ibv_create_qp(pd, &init);
	union ibv_gid gid = group(), none = { };

	EXPECT(qp && !ibv_modify_qp(qp, &attr, IBV_QP_STATE |
				    IBV_QP_PKEY_INDEX | IBV_QP_PORT |
				    IBV_QP_QKEY));
	EXPECT(ibv_attach_mcast(qp, &none, 0) == EINVAL);
	EXPECT(ibv_attach_mcast(bystander.near, &gid, 0) == EINVAL);
	EXPECT(ibv_detach_mcast(qp, &gid, 0) == EINVAL);
	EXPECT(!ibv_attach_mcast(qp, &gid, 0));
	EXPECT(ibv_destroy_qp(qp) == EBUSY);
	EXPECT(!ibv_detach_mcast(qp, &gid, 0));
	EXPECT(ibv_detach_mcast(qp, &gid, 0) == EINVAL);
	EXPECT(!ibv_destroy_qp(qp) && !ibv_destroy_cq(cq));
}

/*
 * Rights
 */

/* Whoever may change memory for a peer must be able to change it here. */
static void rights_that_do_not_go_together(void)
{
	static const unsigned int pairs[] = {
		IBV_ACCESS_REMOTE_WRITE, IBV_ACCESS_REMOTE_ATOMIC,
		IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ,
		IBV_ACCESS_REMOTE_ATOMIC | IBV_ACCESS_REMOTE_READ,
	};
	size_t i;

	for (i = 0; i < COUNT(pairs); i++) {
		REFUSED(ibv_reg_mr(pd, memory, PAGE, pairs[i]), EINVAL);
		REFUSED(ibv_reg_mr(pd, memory, PAGE,
				   pairs[i] | IBV_ACCESS_ON_DEMAND), EINVAL);
		EXPECT(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL,
				    0, pairs[i]));
	}
}

/* Bits 10 to 19 and 30 to 31 are of no right; 20 to 29 may be ignored. */
static void rights_that_are_none(void)
{
	unsigned int bit;

	for (bit = 10; bit < 32; bit++) {
		struct ibv_mr *region;

		errno = 0;
		region = ibv_reg_mr(pd, memory, PAGE, RIGHTS | 1U << bit);
		if (bit >= 20 && bit < 30) {
			EXPECT(region && !ibv_dereg_mr(region));
			continue;
		}
		EXPECT(!region);
		EXPECT(errno == EINVAL || errno == EOPNOTSUPP);
		EXPECT(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL,
				    0, RIGHTS | 1U << bit));
	}
}

/*
 * Keys
 */

static int reach(enum ibv_wr_opcode opcode, uint64_t addr, uint32_t rkey)
{
	struct ibv_sge sge = { (uintptr_t)memory, 8, mr->lkey };
	struct ibv_send_wr *bad, wr = {
		.sg_list = &sge, .num_sge = 1, .opcode = opcode,
		.wr.rdma = { addr, rkey },
	};
	struct pair p = make_pair(4);
	int result;

	if (opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
		wr.wr.atomic.remote_addr = addr;
		wr.wr.atomic.rkey = rkey;
	}
	EXPECT(!ibv_post_send(p.near, &wr, &bad));
	result = status(p.near_cq);
	unmake_pair(&p);
	return result;
}

/* Invalidates a key, here or at the peer. */
static int invalidate(enum ibv_wr_opcode opcode, uint32_t key)
{
	struct ibv_recv_wr *bad_recv, recv = { };
	struct ibv_send_wr *bad, wr = {
		.opcode = opcode, .invalidate_rkey = key,
	};
	struct pair p = make_pair(4);
	int result;

	EXPECT(!ibv_post_recv(p.far, &recv, &bad_recv));
	EXPECT(!ibv_post_send(p.near, &wr, &bad));
	result = status(p.near_cq);
	unmake_pair(&p);
	return result;
}

/* A region is what its process made it, until that ends it. */
static void keys_that_cannot_be_invalidated(void)
{
	struct ibv_mr *lazy = ibv_reg_mr(pd, memory, PAGE,
					 RIGHTS | IBV_ACCESS_ON_DEMAND);
	struct ibv_mw *unbound = ibv_alloc_mw(pd, IBV_MW_TYPE_1);
	uint32_t keys[] = { mr->rkey, mr->rkey ^ 1, 0, -1 };
	size_t i;

	EXPECT(lazy && unbound);
	for (i = 0; i < COUNT(keys); i++) {
		EXPECT(invalidate(IBV_WR_LOCAL_INV, keys[i]) ==
		       IBV_WC_MW_BIND_ERR);
		EXPECT(invalidate(IBV_WR_SEND_WITH_INV, keys[i]) ==
		       IBV_WC_REM_ACCESS_ERR);
	}
	EXPECT(invalidate(IBV_WR_LOCAL_INV, lazy->rkey) ==
	       IBV_WC_MW_BIND_ERR);
	EXPECT(invalidate(IBV_WR_LOCAL_INV, unbound->rkey) ==
	       IBV_WC_MW_BIND_ERR);
	EXPECT(!reach(IBV_WR_RDMA_WRITE, (uintptr_t)memory, mr->rkey));
	EXPECT(!reach(IBV_WR_RDMA_WRITE, (uintptr_t)memory, lazy->rkey));
	EXPECT(!ibv_dealloc_mw(unbound) && !ibv_dereg_mr(lazy));
}

static void keys_of_what_is_gone(void)
{
	struct ibv_mr *region = ibv_reg_mr(pd, memory, PAGE, RIGHTS), *next;
	uint32_t key = region->rkey;

	EXPECT(!reach(IBV_WR_RDMA_READ, (uintptr_t)memory, key));
	EXPECT(!ibv_dereg_mr(region));
	next = ibv_reg_mr(pd, memory, PAGE, RIGHTS);
	EXPECT(next && next->rkey != key);
	EXPECT(reach(IBV_WR_RDMA_READ, (uintptr_t)memory, key) ==
	       IBV_WC_REM_ACCESS_ERR);
	EXPECT(!ibv_dereg_mr(next));
}

/* Addresses that look aligned, of memory that is not. */
static void atomics_where_zero_is_not_aligned(void)
{
	unsigned int rights = RIGHTS | IBV_ACCESS_ZERO_BASED;
	struct ibv_dm *dm = make_dm();
	struct ibv_mr *odd = ibv_reg_mr(pd, memory + 4, 64, rights);
	struct ibv_mr *odd_dm = ibv_reg_dm_mr(pd, dm, 4, 64, rights);

	EXPECT(odd && odd_dm);
	EXPECT(reach(IBV_WR_ATOMIC_FETCH_AND_ADD, 0, odd->rkey) ==
	       IBV_WC_REM_INV_REQ_ERR);
	EXPECT(reach(IBV_WR_ATOMIC_FETCH_AND_ADD, 4, odd->rkey) ==
	       IBV_WC_REM_INV_REQ_ERR);
	EXPECT(reach(IBV_WR_ATOMIC_FETCH_AND_ADD, 8, odd_dm->rkey) ==
	       IBV_WC_REM_INV_REQ_ERR);
	EXPECT(!reach(IBV_WR_RDMA_WRITE, 0, odd->rkey));
	EXPECT(!ibv_dereg_mr(odd) && !ibv_dereg_mr(odd_dm));
	EXPECT(!ibv_free_dm(dm));
}

/*
 * What there is not
 */

static void verbs_that_there_are_not(void)
{
	struct ibv_counters_init_attr counters = { };
	struct ibv_flow_attr flow = {
		.type = IBV_FLOW_ATTR_NORMAL, .size = sizeof(flow), .port = 1,
	};
	struct ibv_wq_init_attr wq = {
		.wq_type = IBV_WQT_RQ, .max_wr = 1, .max_sge = 1, .pd = pd,
		.cq = bystander.near_cq,
	};

	REFUSED(ibv_create_counters(ctx, &counters), EOPNOTSUPP);
	REFUSED(ibv_create_flow(bystander.near, &flow), EOPNOTSUPP);
	REFUSED(ibv_create_wq(ctx, &wq), EOPNOTSUPP);
}

static const struct test_case cases[] = {
	CASE(no_such_domain),
	CASE(no_such_queue),
	CASE(domain_in_use),
	CASE(queues_in_use),
	CASE(queue_pair_in_a_group),
	CASE(rights_that_do_not_go_together),
	CASE(rights_that_are_none),
	CASE(keys_that_cannot_be_invalidated),
	CASE(keys_of_what_is_gone),
	CASE(atomics_where_zero_is_not_aligned),
	CASE(verbs_that_there_are_not),
	{ }
};

int main(int argc, char **argv)
{
	if (argc != 4)
		return 2;
	open_device(argv[1], argv[2]);
	memory = aligned_alloc(PAGE, PAGE);
	mr = ibv_reg_mr(pd, memory, PAGE, RIGHTS);
	EXPECT(mr);
	bystander_begins();

	if (run_case(cases, argv[3]))
		return 2;
	/* All that was made can be unmade: a mistake holds nothing. */
	bystander_goes_on();
	bystander_ends();
	EXPECT(!ibv_dereg_mr(mr) && !ibv_dealloc_pd(pd));
	EXPECT(!ibv_close_device(ctx));
	return 0;
}
