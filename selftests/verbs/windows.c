// SPDX-License-Identifier: GPL-2.0
/*
 * Memory windows, used as they should be and as they should not. windows.sh
 * builds and runs it:
 *
 *	windows DEVICE GID_INDEX CASE
 *
 * In each pair of queue pairs far has the memory and binds windows to it,
 * and near reaches for it.
 */
#include <sys/mman.h>

#include "../lib/pair.h"

#define SIZE	8192
#define FROM	1024
#define LEN	1024

static unsigned char memory[SIZE], local[SIZE];
static struct ibv_mr *mr, *local_mr;

static uint64_t at(uint32_t offset)
{
	return (uintptr_t)memory + offset;
}

static struct ibv_mw *make_window(enum ibv_mw_type type)
{
	struct ibv_mw *mw = ibv_alloc_mw(pd, type);

	EXPECT(mw);
	return mw;
}

static struct ibv_mw_bind_info part(struct ibv_mr *of, uint64_t addr,
				    uint64_t len, unsigned int access)
{
	return (struct ibv_mw_bind_info) {
		.mr = of, .addr = addr, .length = len,
		.mw_access_flags = access,
	};
}

static int bind_1_to(struct pair *p, struct ibv_mw *mw,
		     struct ibv_mw_bind_info info)
{
	struct ibv_mw_bind bind = { .bind_info = info };

	EXPECT(!ibv_bind_mw(p->far, mw, &bind));
	return status(p->far_cq);
}

static int bind_1(struct pair *p, struct ibv_mw *mw, unsigned int access)
{
	return bind_1_to(p, mw, part(mr, at(FROM), LEN, access));
}

static int post_bind_2(struct pair *p, struct ibv_mw *mw, uint32_t key,
		       struct ibv_mw_bind_info info)
{
	struct ibv_send_wr wr = {
		.opcode = IBV_WR_BIND_MW,
		.bind_mw = { .mw = mw, .rkey = key, .bind_info = info },
	}, *bad;

	return ibv_post_send(p->far, &wr, &bad);
}

static int bind_2_to(struct pair *p, struct ibv_mw *mw, uint32_t key,
		     struct ibv_mw_bind_info info)
{
	EXPECT(!post_bind_2(p, mw, key, info));
	return status(p->far_cq);
}

static int bind_2(struct pair *p, struct ibv_mw *mw, uint32_t key)
{
	return bind_2_to(p, mw, key, part(mr, at(FROM), LEN,
					  IBV_ACCESS_REMOTE_WRITE));
}

/* Near reaches for far's memory; how that ends. */
static int reach(struct pair *p, enum ibv_wr_opcode opcode, uint32_t key,
		 uint64_t addr, uint32_t len)
{
	struct ibv_sge sge = { (uintptr_t)local, len, local_mr->lkey };
	struct ibv_send_wr wr = {
		.sg_list = &sge, .num_sge = 1, .opcode = opcode,
		.wr.rdma = { .remote_addr = addr, .rkey = key },
	}, *bad;

	EXPECT(!ibv_post_send(p->near, &wr, &bad));
	return status(p->near_cq);
}

static int write_to(struct pair *p, uint32_t key, uint64_t addr)
{
	return reach(p, IBV_WR_RDMA_WRITE, key, addr, 8);
}

/* The same with a pair for itself, which does not survive a refusal. */
static int write_by_another(uint32_t key, uint64_t addr)
{
	struct pair p = make_pair(4);
	int result = write_to(&p, key, addr);

	unmake_pair(&p);
	return result;
}

static int invalidate(struct ibv_qp *qp, struct ibv_cq *cq,
		      enum ibv_wr_opcode opcode, uint32_t key)
{
	struct ibv_send_wr wr = {
		.opcode = opcode, .invalidate_rkey = key,
	}, *bad;

	EXPECT(!ibv_post_send(qp, &wr, &bad));
	return status(cq);
}

static void post_recv(struct ibv_qp *qp)
{
	struct ibv_recv_wr wr = { .num_sge = 0 }, *bad;

	EXPECT(!ibv_post_recv(qp, &wr, &bad));
}

static void device_says_so(void)
{
	struct ibv_device_attr attr;

	EXPECT(!ibv_query_device(ctx, &attr));
	EXPECT(attr.device_cap_flags & IBV_DEVICE_MEM_WINDOW);
	EXPECT(attr.device_cap_flags & IBV_DEVICE_MEM_WINDOW_TYPE_2B);
	EXPECT(!(attr.device_cap_flags & IBV_DEVICE_MEM_WINDOW_TYPE_2A));
	EXPECT(attr.max_mw > 0);
	EXPECT(!ibv_alloc_mw(pd, 3));
}

/* The region itself grants a peer nothing; see main(). */
static void type_1_shows_a_part(void)
{
	struct ibv_mw *mw = make_window(IBV_MW_TYPE_1);
	uint32_t last = FROM + LEN - 8;
	struct pair p = make_pair(4);

	memset(local, 0x5a, 8);
	EXPECT(!bind_1(&p, mw, IBV_ACCESS_REMOTE_WRITE |
		       IBV_ACCESS_LOCAL_WRITE));
	EXPECT(!write_to(&p, mw->rkey, at(FROM)));
	EXPECT(!write_to(&p, mw->rkey, at(last)));
	EXPECT(!memcmp(memory + FROM, local, 8));
	EXPECT(!memcmp(memory + last, local, 8));
	EXPECT(!memory[FROM - 1] && !memory[FROM + 8] && !memory[FROM + LEN]);

	EXPECT(write_by_another(mw->rkey, at(FROM - 1)) ==
	       IBV_WC_REM_ACCESS_ERR);
	EXPECT(write_by_another(mw->rkey, at(last + 1)) ==
	       IBV_WC_REM_ACCESS_ERR);
	EXPECT(write_by_another(mr->rkey, at(FROM)) == IBV_WC_REM_ACCESS_ERR);
	EXPECT(!write_by_another(mw->rkey, at(FROM)));
	EXPECT(reach(&p, IBV_WR_RDMA_READ, mw->rkey, at(FROM), 8) ==
	       IBV_WC_REM_ACCESS_ERR);
}

static void read_and_atomic_through_a_window(void)
{
	struct ibv_mw *mw = make_window(IBV_MW_TYPE_1);
	struct pair p = make_pair(4);
	struct ibv_sge sge = { (uintptr_t)local, 8, local_mr->lkey };
	struct ibv_send_wr add = {
		.sg_list = &sge, .num_sge = 1,
		.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD,
		.wr.atomic = { .remote_addr = at(FROM), .compare_add = 5 },
	}, *bad;

	memset(memory + FROM, 1, LEN);
	EXPECT(!bind_1(&p, mw, IBV_ACCESS_REMOTE_READ |
		       IBV_ACCESS_REMOTE_ATOMIC));
	EXPECT(!reach(&p, IBV_WR_RDMA_READ, mw->rkey, at(FROM), LEN));
	EXPECT(!memcmp(local, memory + FROM, LEN));
	add.wr.atomic.rkey = mw->rkey;
	EXPECT(!ibv_post_send(p.near, &add, &bad));
	EXPECT(!status(p.near_cq));
	EXPECT(memory[FROM] == 6);
}

static void type_1_has_a_new_key_each_time(void)
{
	struct ibv_mw *mw = make_window(IBV_MW_TYPE_1);
	uint32_t unbound = mw->rkey, first, second;
	struct pair p = make_pair(4);

	EXPECT(write_by_another(unbound, at(FROM)) == IBV_WC_REM_ACCESS_ERR);
	EXPECT(!bind_1(&p, mw, IBV_ACCESS_REMOTE_WRITE));
	first = mw->rkey;
	EXPECT(!bind_1(&p, mw, IBV_ACCESS_REMOTE_WRITE));
	second = mw->rkey;
	EXPECT(first != unbound && second != first);
	EXPECT(write_by_another(first, at(FROM)) == IBV_WC_REM_ACCESS_ERR);
	EXPECT(!write_by_another(second, at(FROM)));

	EXPECT(!bind_1_to(&p, mw, part(NULL, 0, 0, 0)));
	EXPECT(write_by_another(second, at(FROM)) == IBV_WC_REM_ACCESS_ERR);
	EXPECT(write_by_another(mw->rkey, at(FROM)) == IBV_WC_REM_ACCESS_ERR);
}

static void type_1_is_not_invalidated(void)
{
	struct ibv_mw *mw = make_window(IBV_MW_TYPE_1);
	struct pair p = make_pair(4);

	EXPECT(!bind_1(&p, mw, IBV_ACCESS_REMOTE_WRITE));
	EXPECT(invalidate(p.far, p.far_cq, IBV_WR_LOCAL_INV, mw->rkey) ==
	       IBV_WC_MW_BIND_ERR);
	EXPECT(!write_by_another(mw->rkey, at(FROM)));
}

static void type_2_is_for_one_queue_pair(void)
{
	struct ibv_mw *mw = make_window(IBV_MW_TYPE_2);
	uint32_t key = ibv_inc_rkey(ibv_inc_rkey(mw->rkey));
	struct pair p = make_pair(4);

	EXPECT(post_bind_2(&p, mw, key ^ 0x100, part(mr, at(0), 8, 0)));
	EXPECT(!bind_2(&p, mw, key));
	EXPECT(!write_to(&p, key, at(FROM)));
	EXPECT(write_by_another(key, at(FROM)) == IBV_WC_REM_ACCESS_ERR);
	EXPECT(!write_to(&p, key, at(FROM)));
	EXPECT(bind_2(&p, mw, key) == IBV_WC_MW_BIND_ERR);
}

static void type_2_local_invalidation(void)
{
	struct ibv_mw *mw = make_window(IBV_MW_TYPE_2);
	uint32_t key = ibv_inc_rkey(mw->rkey);
	struct pair p = make_pair(4), other = make_pair(4);

	EXPECT(!bind_2(&p, mw, key));
	EXPECT(invalidate(other.far, other.far_cq, IBV_WR_LOCAL_INV, key) ==
	       IBV_WC_MW_BIND_ERR);
	EXPECT(!write_to(&p, key, at(FROM)));
	EXPECT(!invalidate(p.far, p.far_cq, IBV_WR_LOCAL_INV, key));
	EXPECT(!bind_2(&p, mw, ibv_inc_rkey(key)));
	EXPECT(!write_to(&p, ibv_inc_rkey(key), at(FROM)));
	EXPECT(write_to(&p, key, at(FROM)) == IBV_WC_REM_ACCESS_ERR);
}

static void type_2_remote_invalidation(void)
{
	struct ibv_mw *mw = make_window(IBV_MW_TYPE_2);
	uint32_t key = ibv_inc_rkey(mw->rkey);
	struct pair p = make_pair(4), other = make_pair(4);
	struct ibv_wc wc;

	EXPECT(!bind_2(&p, mw, key));
	post_recv(other.far);
	EXPECT(invalidate(other.near, other.near_cq, IBV_WR_SEND_WITH_INV,
			  key) == IBV_WC_REM_ACCESS_ERR);

	post_recv(p.far);
	EXPECT(!invalidate(p.near, p.near_cq, IBV_WR_SEND_WITH_INV, key));
	EXPECT(ibv_poll_cq(p.far_cq, 1, &wc) == 1);
	EXPECT(!wc.status && wc.wc_flags & IBV_WC_WITH_INV);
	EXPECT(wc.invalidated_rkey == key);
	EXPECT(write_to(&p, key, at(FROM)) == IBV_WC_REM_ACCESS_ERR);
}

static void type_2_counts_from_zero(void)
{
	struct ibv_mw *mw = make_window(IBV_MW_TYPE_2);
	uint32_t key = ibv_inc_rkey(mw->rkey);
	struct pair p = make_pair(4);

	memset(local, 0x77, 8);
	EXPECT(!bind_2_to(&p, mw, key,
			  part(mr, at(FROM), LEN, IBV_ACCESS_REMOTE_WRITE |
			       IBV_ACCESS_ZERO_BASED)));
	EXPECT(!write_to(&p, key, 0));
	EXPECT(!write_to(&p, key, LEN - 8));
	EXPECT(!memcmp(memory + FROM, local, 8));
	EXPECT(!memcmp(memory + FROM + LEN - 8, local, 8));
	EXPECT(write_to(&p, key, LEN - 7) == IBV_WC_REM_ACCESS_ERR);
}

/* Each of them breaks its queue pair. */
static void refused(struct ibv_mw *mw, struct ibv_mw_bind_info info)
{
	struct pair p = make_pair(4);
	int result;

	if (mw->type == IBV_MW_TYPE_1)
		result = bind_1_to(&p, mw, info);
	else
		result = bind_2_to(&p, mw, ibv_inc_rkey(mw->rkey), info);
	EXPECT(result == IBV_WC_MW_BIND_ERR);
	unmake_pair(&p);
}

static void bind_refuses(void)
{
	struct ibv_pd *other_pd = ibv_alloc_pd(ctx);
	struct ibv_mw *one = make_window(IBV_MW_TYPE_1);
	struct ibv_mw *two = make_window(IBV_MW_TYPE_2);
	struct ibv_mw *strange = ibv_alloc_mw(other_pd, IBV_MW_TYPE_2);
	struct ibv_mr *closed = ibv_reg_mr(pd, memory, SIZE, RIGHTS);
	struct ibv_mr *readable = ibv_reg_mr(pd, memory, SIZE,
					     IBV_ACCESS_MW_BIND);
	struct ibv_mr *others = ibv_reg_mr(other_pd, memory, SIZE,
					   IBV_ACCESS_LOCAL_WRITE |
					   IBV_ACCESS_MW_BIND);
	unsigned int write = IBV_ACCESS_REMOTE_WRITE;

	EXPECT(strange && closed && readable && others);
	refused(two, part(closed, at(0), 8, write));
	refused(two, part(readable, at(0), 8, write));
	refused(two, part(readable, at(0), 8, IBV_ACCESS_REMOTE_ATOMIC));
	refused(two, part(others, at(0), 8, write));
	refused(strange, part(others, at(0), 8, write));
	refused(strange, part(mr, at(0), 8, write));
	refused(two, part(mr, at(SIZE - 4), 8, write));
	refused(two, part(mr, at(0) - 1, 8, write));
	refused(two, part(mr, at(0), UINT64_MAX, write));
	refused(two, part(mr, at(0), 0, write));
	refused(two, part(mr, at(0), 8, IBV_ACCESS_ON_DEMAND));
	refused(two, part(mr, at(0), 8, IBV_ACCESS_MW_BIND));
	refused(one, part(mr, at(0), 8, write | IBV_ACCESS_ZERO_BASED));
	EXPECT(!ibv_dereg_mr(closed) && !ibv_dereg_mr(readable));
	EXPECT(!ibv_dereg_mr(others) && !ibv_dereg_mr(mr));
}

static void region_stays_while_it_is_shown(void)
{
	struct ibv_mw *one = make_window(IBV_MW_TYPE_1);
	struct ibv_mw *two = make_window(IBV_MW_TYPE_2);
	uint32_t key = ibv_inc_rkey(two->rkey);
	struct pair p = make_pair(4);

	EXPECT(!bind_1(&p, one, IBV_ACCESS_REMOTE_WRITE));
	EXPECT(!bind_2(&p, two, key));
	EXPECT(ibv_dereg_mr(mr) == EBUSY);
	EXPECT(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0,
			    IBV_ACCESS_LOCAL_WRITE));
	EXPECT(!write_to(&p, one->rkey, at(FROM)));
	EXPECT(!write_to(&p, key, at(FROM)));

	EXPECT(!ibv_dealloc_mw(one));
	EXPECT(ibv_dereg_mr(mr) == EBUSY);
	EXPECT(!invalidate(p.far, p.far_cq, IBV_WR_LOCAL_INV, key));
	EXPECT(!ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0,
			     IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND));
	EXPECT(!bind_2(&p, two, key));
	EXPECT(ibv_dereg_mr(mr) == EBUSY);
	EXPECT(!invalidate(p.far, p.far_cq, IBV_WR_LOCAL_INV, key));
	EXPECT(!ibv_dereg_mr(mr));
	EXPECT(bind_2(&p, two, key) == IBV_WC_MW_BIND_ERR);
}

/* A region takes windows again after a change that failed. */
static void region_that_did_not_change_is_open(void)
{
	const int translation = IBV_REREG_MR_CHANGE_TRANSLATION;
	const int access = IBV_REREG_MR_CHANGE_ACCESS;
	struct ibv_mw *mw = make_window(IBV_MW_TYPE_1);
	struct pair p = make_pair(4);
	void *gone = mmap(NULL, 2 * SIZE, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	/* The second half cannot be pinned: the call fails late. */
	EXPECT(gone != MAP_FAILED && !munmap((char *)gone + SIZE, SIZE));
	EXPECT(ibv_rereg_mr(mr, translation, NULL, gone, 2 * SIZE, 0));
	EXPECT(!bind_1(&p, mw, IBV_ACCESS_REMOTE_WRITE));
	EXPECT(!write_to(&p, mw->rkey, at(FROM)));
	EXPECT(!bind_1_to(&p, mw, part(NULL, 0, 0, 0)));
	EXPECT(ibv_rereg_mr(mr, access, NULL, NULL, 0,
			    IBV_ACCESS_REMOTE_WRITE));
	EXPECT(!bind_1(&p, mw, IBV_ACCESS_REMOTE_WRITE));
	EXPECT(!ibv_dealloc_mw(mw));
	EXPECT(!ibv_dereg_mr(mr));
}

static void end_of_a_queue_pair_unbinds(void)
{
	struct ibv_mw *one = make_window(IBV_MW_TYPE_1);
	struct ibv_mw *two = make_window(IBV_MW_TYPE_2);
	struct pair p = make_pair(4);

	EXPECT(!bind_1(&p, one, IBV_ACCESS_REMOTE_WRITE));
	EXPECT(!bind_2(&p, two, ibv_inc_rkey(two->rkey)));
	unmake_pair(&p);
	EXPECT(ibv_dereg_mr(mr) == EBUSY);
	EXPECT(!ibv_dealloc_mw(one));
	EXPECT(!ibv_dereg_mr(mr));
}

/* Those of one queue pair, however many were bound and are not any more. */
static void end_of_a_queue_pair_spares_others(void)
{
	struct ibv_mw *mine[4], *other = make_window(IBV_MW_TYPE_2);
	struct pair p = make_pair(4), q = make_pair(4);
	uint32_t key = ibv_inc_rkey(other->rkey);
	int i;

	EXPECT(!bind_2(&q, other, key));
	for (i = 0; i < 4; i++) {
		mine[i] = make_window(IBV_MW_TYPE_2);
		EXPECT(!bind_2(&p, mine[i], ibv_inc_rkey(mine[i]->rkey)));
	}
	EXPECT(!invalidate(p.far, p.far_cq, IBV_WR_LOCAL_INV,
			   ibv_inc_rkey(mine[0]->rkey)));
	EXPECT(!bind_2(&q, mine[0], ibv_inc_rkey(mine[0]->rkey)));
	EXPECT(!ibv_dealloc_mw(mine[1]));
	unmake_pair(&p);

	EXPECT(!write_to(&q, key, at(FROM)));
	EXPECT(!write_to(&q, ibv_inc_rkey(mine[0]->rkey), at(FROM)));
	EXPECT(!bind_2(&q, mine[2], ibv_inc_rkey(mine[2]->rkey)));
	EXPECT(!ibv_dealloc_mw(mine[2]));
	EXPECT(!ibv_dealloc_mw(mine[3]));
	EXPECT(ibv_dereg_mr(mr) == EBUSY);
	unmake_pair(&q);
	EXPECT(!ibv_dereg_mr(mr));
}

static void deallocation_unbinds(void)
{
	struct ibv_mw *mw = make_window(IBV_MW_TYPE_1);
	struct pair p = make_pair(4);
	uint32_t key;

	EXPECT(!bind_1(&p, mw, IBV_ACCESS_REMOTE_WRITE));
	key = mw->rkey;
	EXPECT(!ibv_dealloc_mw(mw));
	EXPECT(write_to(&p, key, at(FROM)) == IBV_WC_REM_ACCESS_ERR);
}

static void no_local_key(void)
{
	struct ibv_mw *mw = make_window(IBV_MW_TYPE_1);
	struct pair p = make_pair(4);
	struct ibv_sge sge = { .addr = at(FROM), .length = 8 };
	struct ibv_send_wr wr = {
		.sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND,
	}, *bad;

	EXPECT(!bind_1(&p, mw, IBV_ACCESS_REMOTE_WRITE |
		       IBV_ACCESS_REMOTE_READ));
	sge.lkey = mw->rkey;
	EXPECT(!ibv_post_send(p.far, &wr, &bad));
	EXPECT(status(p.far_cq) == IBV_WC_LOC_PROT_ERR);
}

/* Rebinding while the peer writes: each byte comes by a key that was valid. */
static void rebound_under_fire(void)
{
	struct ibv_mw *mw = make_window(IBV_MW_TYPE_1);
	struct pair p = make_pair(4);
	int i, refusals = 0;

	for (i = 0; i < 20; i++) {
		struct pair writer = make_pair(4);
		struct ibv_sge sge = { (uintptr_t)local, LEN, local_mr->lkey };
		struct ibv_send_wr wr = {
			.sg_list = &sge, .num_sge = 1,
			.opcode = IBV_WR_RDMA_WRITE,
			.wr.rdma = { .remote_addr = at(FROM) },
		}, *bad;
		int result;

		EXPECT(!bind_1(&p, mw, IBV_ACCESS_REMOTE_WRITE));
		wr.wr.rdma.rkey = mw->rkey;
		EXPECT(!ibv_post_send(writer.near, &wr, &bad));
		EXPECT(!bind_1(&p, mw, IBV_ACCESS_REMOTE_WRITE));
		result = status(writer.near_cq);
		EXPECT(!result || result == IBV_WC_REM_ACCESS_ERR);
		refusals += !!result;
		unmake_pair(&writer);
	}
	printf("%d of %d were refused\n", refusals, i);
}

static void builder(void)
{
	struct ibv_mw *mw = make_window(IBV_MW_TYPE_2);
	uint32_t key = ibv_inc_rkey(mw->rkey);
	struct pair p = make_pair(4);
	struct ibv_mw_bind_info info = part(mr, at(FROM), LEN,
					    IBV_ACCESS_REMOTE_WRITE);
	struct ibv_qp_init_attr_ex init = {
		.send_cq = p.far_cq, .recv_cq = p.far_cq,
		.cap = { .max_send_wr = 4, .max_recv_wr = 4,
			 .max_send_sge = 1, .max_recv_sge = 1 },
		.qp_type = IBV_QPT_RC, .sq_sig_all = 1, .pd = pd,
		.comp_mask = IBV_QP_INIT_ATTR_PD |
			     IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		.send_ops_flags = IBV_QP_EX_WITH_BIND_MW |
				  IBV_QP_EX_WITH_LOCAL_INV,
	};
	struct ibv_qp_attr reset = { .qp_state = IBV_QPS_RESET };
	struct ibv_qp_ex *ex;

	EXPECT(!ibv_destroy_qp(p.far));
	p.far = ibv_create_qp_ex(ctx, &init);
	EXPECT(p.far);
	ex = ibv_qp_to_qp_ex(p.far);
	EXPECT(!ibv_modify_qp(p.near, &reset, IBV_QP_STATE));
	EXPECT(!connect_qp(p.near, p.far->qp_num));
	EXPECT(!connect_qp(p.far, p.near->qp_num));

	ibv_wr_start(ex);
	ibv_wr_bind_mw(ex, mw, key, &info);
	EXPECT(!ibv_wr_complete(ex));
	EXPECT(!status(p.far_cq));
	EXPECT(!write_to(&p, key, at(FROM)));

	ibv_wr_start(ex);
	ibv_wr_local_inv(ex, key);
	ibv_wr_bind_mw(ex, mw, ibv_inc_rkey(key), &info);
	EXPECT(!ibv_wr_complete(ex));
	EXPECT(!status(p.far_cq) && !status(p.far_cq));
	EXPECT(!write_to(&p, ibv_inc_rkey(key), at(FROM)));
	EXPECT(write_to(&p, key, at(FROM)) == IBV_WC_REM_ACCESS_ERR);
}

static const struct test_case cases[] = {
	CASE(device_says_so),
	CASE(type_1_shows_a_part),
	CASE(read_and_atomic_through_a_window),
	CASE(type_1_has_a_new_key_each_time),
	CASE(type_1_is_not_invalidated),
	CASE(type_2_is_for_one_queue_pair),
	CASE(type_2_local_invalidation),
	CASE(type_2_remote_invalidation),
	CASE(type_2_counts_from_zero),
	CASE(bind_refuses),
	CASE(region_stays_while_it_is_shown),
	CASE(region_that_did_not_change_is_open),
	CASE(end_of_a_queue_pair_unbinds),
	CASE(end_of_a_queue_pair_spares_others),
	CASE(deallocation_unbinds),
	CASE(no_local_key),
	CASE(rebound_under_fire),
	CASE(builder),
	{ }
};

int main(int argc, char **argv)
{
	if (argc != 4)
		return 2;
	open_device(argv[1], argv[2]);
	mr = ibv_reg_mr(pd, memory, SIZE, IBV_ACCESS_LOCAL_WRITE |
			IBV_ACCESS_MW_BIND);
	local_mr = ibv_reg_mr(pd, local, SIZE, IBV_ACCESS_LOCAL_WRITE);
	EXPECT(mr && local_mr);
	return run_case(cases, argv[3]);
}
