// SPDX-License-Identifier: GPL-2.0
/*
 * Verbs called as they should not be. verbs.sh builds and runs it:
 *
 *	verbs DEVICE GID_INDEX CASE
 *
 * Memory regions, completion queues and address handles: verbs/memory.c.
 */
#include <stdbool.h>
#include <unistd.h>

#include <rdma/ib_user_verbs.h>

#include "../lib/pair.h"

#define PAGE	4096

/* The page; the same, of another protection domain, and for reading only. */
static char *memory;
static struct ibv_mr *mr, *foreign, *readable;

/*
 * Queue pairs
 */

static struct ibv_qp *try_qp(struct ibv_cq *cq, enum ibv_qp_type type,
			     struct ibv_qp_cap cap)
{
	struct ibv_qp_init_attr init = {
		.send_cq = cq, .recv_cq = cq, .qp_type = type, .cap = cap,
	};

	errno = 0;
	return ibv_create_qp(pd, &init);
}

static void qp_beyond_limits(void)
{
	struct ibv_cq *cq = ibv_create_cq(ctx, 16, NULL, NULL, 0);
	struct ibv_device_attr dev;
	struct ibv_qp *qp;
	size_t i;

	EXPECT(cq && !ibv_query_device(ctx, &dev));
	struct ibv_qp_cap caps[] = {
		{ .max_send_wr = dev.max_qp_wr + 1 },
		{ .max_recv_wr = dev.max_qp_wr + 1 },
		{ .max_send_sge = dev.max_sge + 1 },
		{ .max_recv_sge = dev.max_sge + 1 },
		{ .max_inline_data = 1 << 20 },
		{ .max_send_wr = -1 },
		{ .max_recv_wr = -1 },
		{ .max_send_sge = -1 },
		{ .max_recv_sge = -1 },
		{ .max_inline_data = -1 },
	};

	for (i = 0; i < sizeof(caps) / sizeof(caps[0]); i++)
		EXPECT(!try_qp(cq, IBV_QPT_RC, caps[i]) && errno == EINVAL);
	EXPECT(!try_qp(cq, IBV_QPT_RAW_PACKET, (struct ibv_qp_cap) { }));
	EXPECT(!try_qp(cq, IBV_QPT_XRC_RECV, (struct ibv_qp_cap) { }));
	EXPECT(!try_qp(cq, 200, (struct ibv_qp_cap) { }));

	/* One after the other: all at once may be more than there is. */
	qp = try_qp(cq, IBV_QPT_RC, (struct ibv_qp_cap) {
		.max_send_wr = dev.max_qp_wr,
	});
	EXPECT(qp && !ibv_destroy_qp(qp));
	qp = try_qp(cq, IBV_QPT_RC, (struct ibv_qp_cap) {
		.max_recv_wr = dev.max_qp_wr,
		.max_send_sge = dev.max_sge, .max_recv_sge = 1,
	});
	EXPECT(qp && !ibv_destroy_qp(qp));
	qp = try_qp(cq, IBV_QPT_RC, (struct ibv_qp_cap) { });
	EXPECT(qp && !ibv_destroy_qp(qp));
	EXPECT(!ibv_destroy_cq(cq));
}

static void what_is_used_stays(void)
{
	struct pair p = make_pair(4);

	EXPECT(ibv_destroy_cq(p.near_cq) == EBUSY);
	EXPECT(ibv_dealloc_pd(pd) == EBUSY);
	unmake_pair(&p);
}

/* A queue pair in that state; its peer is itself. */
static struct ibv_qp *qp_in(struct ibv_cq *cq, enum ibv_qp_state state)
{
	struct ibv_qp *qp = make_qp(cq, 4);
	struct ibv_qp_attr init = init_attr(), rtr = rtr_attr(qp->qp_num);
	struct ibv_qp_attr rts = rts_attr();

	if (state >= IBV_QPS_INIT)
		EXPECT(!ibv_modify_qp(qp, &init, TO_INIT));
	if (state >= IBV_QPS_RTR)
		EXPECT(!ibv_modify_qp(qp, &rtr, TO_RTR));
	if (state >= IBV_QPS_RTS)
		EXPECT(!ibv_modify_qp(qp, &rts, TO_RTS));
	return qp;
}

/* Refused, and as it was before. ENODATA, an empty GID, is the core's. */
static void refuses(struct ibv_qp *qp, struct ibv_qp_attr attr, int mask,
		    int line)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr before, after;
	int err;

	EXPECT(!ibv_query_qp(qp, &before, IBV_QP_STATE, &init));
	err = ibv_modify_qp(qp, &attr, mask);
	if (err != EINVAL && err != EOPNOTSUPP && err != ENODATA) {
		printf("line %d: %d\n", line, err);
		exit(1);
	}
	EXPECT(!ibv_query_qp(qp, &after, IBV_QP_STATE, &init));
	EXPECT(before.qp_state == after.qp_state);
}

/* The attributes that are right, but for one. */
#define REFUSES(qp, base, mask, ...) do {				\
	struct ibv_qp_attr attr = (base);				\
									\
	__VA_ARGS__;							\
	refuses((qp), attr, (mask), __LINE__);				\
} while (0)

static void modify_refuses_values(void)
{
	struct ibv_cq *cq = ibv_create_cq(ctx, 16, NULL, NULL, 0);
	struct ibv_qp *reset = qp_in(cq, IBV_QPS_RESET);
	struct ibv_qp *init = qp_in(cq, IBV_QPS_INIT);
	struct ibv_qp *rtr = qp_in(cq, IBV_QPS_RTR);
	struct ibv_qp_attr to_rtr = rtr_attr(init->qp_num);

	REFUSES(reset, init_attr(), TO_INIT, attr.port_num = 0);
	REFUSES(reset, init_attr(), TO_INIT, attr.port_num = 2);
	REFUSES(reset, init_attr(), TO_INIT, attr.pkey_index = 1);
	REFUSES(reset, init_attr(), TO_INIT, attr.qp_state = 77);
	REFUSES(reset, init_attr(), TO_INIT | IBV_QP_QKEY, (void)0);
	REFUSES(reset, init_attr(), TO_INIT & ~IBV_QP_PORT, (void)0);
	REFUSES(reset, init_attr(), TO_INIT | 1 << 30, (void)0);

	REFUSES(init, to_rtr, TO_RTR, attr.path_mtu = 0);
	REFUSES(init, to_rtr, TO_RTR, attr.path_mtu = IBV_MTU_4096);
	REFUSES(init, to_rtr, TO_RTR, attr.path_mtu = 200);
	REFUSES(init, to_rtr, TO_RTR, attr.dest_qp_num = 1 << 24);
	REFUSES(init, to_rtr, TO_RTR, attr.max_dest_rd_atomic = 255);
	REFUSES(init, to_rtr, TO_RTR, attr.min_rnr_timer = 32);
	REFUSES(init, to_rtr, TO_RTR, attr.ah_attr.is_global = 0);
	REFUSES(init, to_rtr, TO_RTR, attr.ah_attr.port_num = 9);
	REFUSES(init, to_rtr, TO_RTR, attr.ah_attr.grh.sgid_index = 250);
	REFUSES(init, to_rtr, TO_RTR,
		memset(&attr.ah_attr.grh.dgid, 0, sizeof(union ibv_gid)));
	REFUSES(init, to_rtr, TO_RTR,
		memset(&attr.ah_attr.grh.dgid, 0xfe, sizeof(union ibv_gid)));
	REFUSES(init, to_rtr, TO_RTR & ~IBV_QP_AV, (void)0);
	REFUSES(init, to_rtr, TO_RTR | IBV_QP_ALT_PATH, (void)0);
	REFUSES(init, to_rtr, TO_RTR | IBV_QP_PATH_MIG_STATE,
		attr.path_mig_state = IBV_MIG_REARM);

	REFUSES(rtr, rts_attr(), TO_RTS, attr.timeout = 32);
	REFUSES(rtr, rts_attr(), TO_RTS, attr.retry_cnt = 8);
	REFUSES(rtr, rts_attr(), TO_RTS, attr.rnr_retry = 8);
	REFUSES(rtr, rts_attr(), TO_RTS, attr.max_rd_atomic = 255);
	REFUSES(rtr, rts_attr(), TO_RTS | IBV_QP_CUR_STATE,
		attr.cur_qp_state = IBV_QPS_RTS);

	EXPECT(!ibv_destroy_qp(reset) && !ibv_destroy_qp(init));
	EXPECT(!ibv_destroy_qp(rtr) && !ibv_destroy_cq(cq));
}

static void modify_refuses_transitions(void)
{
	struct ibv_cq *cq = ibv_create_cq(ctx, 16, NULL, NULL, 0);
	struct ibv_qp *qp = qp_in(cq, IBV_QPS_RESET);
	struct ibv_qp_attr error = { .qp_state = IBV_QPS_ERR };

	refuses(qp, rtr_attr(1), TO_RTR, __LINE__);
	refuses(qp, rts_attr(), TO_RTS, __LINE__);
	EXPECT(!ibv_destroy_qp(qp));
	qp = qp_in(cq, IBV_QPS_INIT);
	refuses(qp, rts_attr(), TO_RTS, __LINE__);
	EXPECT(!ibv_destroy_qp(qp));
	qp = qp_in(cq, IBV_QPS_RTS);
	refuses(qp, init_attr(), TO_INIT, __LINE__);
	refuses(qp, rtr_attr(qp->qp_num), TO_RTR, __LINE__);
	EXPECT(!ibv_modify_qp(qp, &error, IBV_QP_STATE));
	refuses(qp, init_attr(), TO_INIT, __LINE__);
	refuses(qp, rts_attr(), TO_RTS, __LINE__);
	EXPECT(!ibv_destroy_qp(qp) && !ibv_destroy_cq(cq));
}

static void post_refuses(void)
{
	struct ibv_cq *cq = ibv_create_cq(ctx, 16, NULL, NULL, 0);
	struct ibv_qp *qp = qp_in(cq, IBV_QPS_RTS);
	struct ibv_sge sge[5] = { { (uintptr_t)memory, 8, mr->lkey } };
	struct ibv_send_wr *bad, wr = { .sg_list = sge, .num_sge = 5 };
	struct ibv_recv_wr *bad_recv, recv = { .sg_list = sge, .num_sge = 5 };
	int i, err = 0;

	EXPECT(ibv_post_send(qp, &wr, &bad) && bad == &wr);
	wr.num_sge = -1;
	EXPECT(ibv_post_send(qp, &wr, &bad));
	EXPECT(ibv_post_recv(qp, &recv, &bad_recv) && bad_recv == &recv);
	recv.num_sge = -1;
	EXPECT(ibv_post_recv(qp, &recv, &bad_recv));
	wr.num_sge = 1;
	wr.opcode = 77;
	EXPECT(ibv_post_send(qp, &wr, &bad));
	wr.opcode = IBV_WR_SEND;
	wr.send_flags = IBV_SEND_INLINE;
	sge[0].length = 4096;
	EXPECT(ibv_post_send(qp, &wr, &bad));
	recv.num_sge = 1;
	for (i = 0; i < 100 && !err; i++)
		err = ibv_post_recv(qp, &recv, &bad_recv);
	EXPECT(err == ENOMEM);
	EXPECT(!ibv_destroy_qp(qp));

	qp = qp_in(cq, IBV_QPS_INIT);
	wr.send_flags = 0;
	EXPECT(ibv_post_send(qp, &wr, &bad));
	EXPECT(!ibv_destroy_qp(qp) && !ibv_destroy_cq(cq));
}

/*
 * Work requests
 */

/** struct work - a work request, and how both sides are to end */
struct work {
	int line;
	enum ibv_wr_opcode opcode;
	uint64_t addr;
	uint32_t len, lkey;
	uint64_t remote;
	uint32_t rkey;
	int want, far_wants;
	uint64_t recv_addr;
	uint32_t recv_len, recv_lkey;
};

#define NONE	(-1)

/* An error ends the queue pairs, so each work request has two of its own. */
static void run_work(const struct work *work)
{
	struct pair p = make_pair(4);
	struct ibv_sge sge = { work->addr, work->len, work->lkey };
	struct ibv_sge recv_sge = {
		work->recv_addr, work->recv_len, work->recv_lkey,
	};
	struct ibv_recv_wr *bad_recv, recv = {
		.sg_list = &recv_sge, .num_sge = 1,
	};
	struct ibv_send_wr *bad, wr = {
		.sg_list = &sge, .num_sge = 1, .opcode = work->opcode,
		.wr.rdma = { work->remote, work->rkey },
	};
	int got;

	if (work->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD ||
	    work->opcode == IBV_WR_ATOMIC_CMP_AND_SWP) {
		wr.wr.atomic.remote_addr = work->remote;
		wr.wr.atomic.rkey = work->rkey;
	}
	if (work->opcode == IBV_WR_SEND)
		EXPECT(!ibv_post_recv(p.far, &recv, &bad_recv));
	EXPECT(!ibv_post_send(p.near, &wr, &bad));
	got = status(p.near_cq);
	if (got != work->want) {
		printf("line %d: %s, not %s\n", work->line,
		       ibv_wc_status_str(got), ibv_wc_status_str(work->want));
		exit(1);
	}
	if (work->far_wants != NONE) {
		got = status(p.far_cq);
		if (got != work->far_wants) {
			printf("line %d: far: %s\n", work->line,
			       ibv_wc_status_str(got));
			exit(1);
		}
	}
	unmake_pair(&p);
}

static void run_works(const struct work *works, size_t nr)
{
	size_t i;

	for (i = 0; i < nr; i++)
		run_work(&works[i]);
}

#define RUN_WORKS(works)	run_works(works, sizeof(works) / sizeof(*works))

static void sources_that_are_wrong(void)
{
	uint64_t m = (uintptr_t)memory;
	uint32_t k = mr->lkey;

#define LOCAL(op_, addr_, len_, key_, want_)				\
	{ __LINE__, op_, addr_, len_, key_, m, k, want_, NONE, 0, 0, 0 }
	const struct work works[] = {
		LOCAL(IBV_WR_RDMA_WRITE, m, 0, 0, IBV_WC_SUCCESS),
		LOCAL(IBV_WR_RDMA_WRITE, m, 8, k ^ 1, IBV_WC_LOC_PROT_ERR),
		LOCAL(IBV_WR_RDMA_WRITE, -4ULL, 8, k, IBV_WC_LOC_PROT_ERR),
		LOCAL(IBV_WR_RDMA_WRITE, 0, 8, k, IBV_WC_LOC_PROT_ERR),
		LOCAL(IBV_WR_RDMA_WRITE, m, 1 << 31, k, IBV_WC_LOC_PROT_ERR),
		LOCAL(IBV_WR_RDMA_WRITE, m, -1, k, IBV_WC_LOC_LEN_ERR),
		LOCAL(IBV_WR_RDMA_WRITE, m, 8, foreign->lkey,
		      IBV_WC_LOC_PROT_ERR),
		LOCAL(IBV_WR_RDMA_READ, m, 8, k ^ 1, IBV_WC_LOC_PROT_ERR),
		LOCAL(IBV_WR_RDMA_READ, -4ULL, 8, k, IBV_WC_LOC_PROT_ERR),
		LOCAL(IBV_WR_RDMA_READ, m, 8, readable->lkey,
		      IBV_WC_LOC_PROT_ERR),
		LOCAL(IBV_WR_ATOMIC_FETCH_AND_ADD, m, 8, readable->lkey,
		      IBV_WC_LOC_PROT_ERR),
		LOCAL(IBV_WR_ATOMIC_FETCH_AND_ADD, -4ULL, 8, k,
		      IBV_WC_LOC_PROT_ERR),
		LOCAL(IBV_WR_ATOMIC_FETCH_AND_ADD, m, 4, k,
		      IBV_WC_LOC_LEN_ERR),
		LOCAL(IBV_WR_ATOMIC_CMP_AND_SWP, m, 16, k,
		      IBV_WC_LOC_LEN_ERR),
		LOCAL(IBV_WR_SEND, m, 8, k ^ 1, IBV_WC_LOC_PROT_ERR),
		LOCAL(IBV_WR_SEND, m + PAGE - 4, 8, k, IBV_WC_LOC_PROT_ERR),
	};

	RUN_WORKS(works);
}

static void targets_that_are_wrong(void)
{
	uint64_t m = (uintptr_t)memory;
	uint32_t k = mr->lkey;

#define REMOTE(op_, addr_, len_, key_, want_)				\
	{ __LINE__, op_, m, len_, k, addr_, key_, want_, NONE, 0, 0, 0 }
	const struct work works[] = {
		REMOTE(IBV_WR_RDMA_WRITE, m, 0, 0, IBV_WC_SUCCESS),
		REMOTE(IBV_WR_RDMA_WRITE, m, 8, k ^ 1, IBV_WC_REM_ACCESS_ERR),
		REMOTE(IBV_WR_RDMA_WRITE, -4ULL, 8, k, IBV_WC_REM_ACCESS_ERR),
		REMOTE(IBV_WR_RDMA_WRITE, m, 8, readable->rkey,
		       IBV_WC_REM_ACCESS_ERR),
		REMOTE(IBV_WR_RDMA_READ, m, 8, readable->rkey,
		       IBV_WC_SUCCESS),
		REMOTE(IBV_WR_RDMA_READ, m, 8, k ^ 1, IBV_WC_REM_ACCESS_ERR),
		REMOTE(IBV_WR_RDMA_READ, m, 8, foreign->rkey,
		       IBV_WC_REM_ACCESS_ERR),
		REMOTE(IBV_WR_RDMA_READ, m + PAGE - 4, 8, k,
		       IBV_WC_REM_ACCESS_ERR),
		REMOTE(IBV_WR_RDMA_READ, -4ULL, 8, k, IBV_WC_REM_ACCESS_ERR),
	};

	RUN_WORKS(works);
}

static void atomics_that_are_wrong(void)
{
	uint64_t m = (uintptr_t)memory;
	uint32_t k = mr->lkey;
	const struct work works[] = {
		REMOTE(IBV_WR_ATOMIC_FETCH_AND_ADD, m, 8, k, IBV_WC_SUCCESS),
		REMOTE(IBV_WR_ATOMIC_CMP_AND_SWP, m, 8, k, IBV_WC_SUCCESS),
		REMOTE(IBV_WR_ATOMIC_FETCH_AND_ADD, m, 8, k ^ 1,
		       IBV_WC_REM_ACCESS_ERR),
		REMOTE(IBV_WR_ATOMIC_FETCH_AND_ADD, m, 8, readable->rkey,
		       IBV_WC_REM_ACCESS_ERR),
		REMOTE(IBV_WR_ATOMIC_FETCH_AND_ADD, m + 4, 8, k,
		       IBV_WC_REM_INV_REQ_ERR),
		REMOTE(IBV_WR_ATOMIC_CMP_AND_SWP, m + 1, 8, k,
		       IBV_WC_REM_INV_REQ_ERR),
		REMOTE(IBV_WR_ATOMIC_FETCH_AND_ADD, -8ULL, 8, k,
		       IBV_WC_REM_ACCESS_ERR),
		REMOTE(IBV_WR_ATOMIC_CMP_AND_SWP, m + PAGE, 8, k,
		       IBV_WC_REM_ACCESS_ERR),
	};

	RUN_WORKS(works);
}

static void receives_that_are_wrong(void)
{
	uint64_t m = (uintptr_t)memory;
	uint32_t k = mr->lkey;

#define RECV(len_, addr_, recv_len_, key_, want_, far_)			\
	{ __LINE__, IBV_WR_SEND, m, len_, k, 0, 0, want_, far_, addr_,	\
	  recv_len_, key_ }
	const struct work works[] = {
		RECV(8, m, 8, k, IBV_WC_SUCCESS, IBV_WC_SUCCESS),
		RECV(8, m, 8, k ^ 1, IBV_WC_REM_OP_ERR, IBV_WC_LOC_PROT_ERR),
		RECV(8, -4ULL, 8, k, IBV_WC_REM_OP_ERR, IBV_WC_LOC_PROT_ERR),
		RECV(8, m, 8, readable->lkey, IBV_WC_REM_OP_ERR,
		     IBV_WC_LOC_PROT_ERR),
		RECV(8, m, 7, k, IBV_WC_REM_INV_REQ_ERR, IBV_WC_LOC_LEN_ERR),
		/* A list is judged as far as the message uses it. */
		RECV(0, m, 8, k ^ 1, IBV_WC_SUCCESS, IBV_WC_SUCCESS),
		RECV(0, -4ULL, 8, k, IBV_WC_SUCCESS, IBV_WC_SUCCESS),
		RECV(0, m, 8, readable->lkey, IBV_WC_SUCCESS, IBV_WC_SUCCESS),
		RECV(8, m + PAGE - 8, PAGE, k, IBV_WC_SUCCESS, IBV_WC_SUCCESS),
		RECV(9, m + PAGE - 8, PAGE, k, IBV_WC_REM_OP_ERR,
		     IBV_WC_LOC_PROT_ERR),
	};

	RUN_WORKS(works);
}

/*
 * Commands as no library would send them
 */

/* The kernel cannot answer: what it has made goes again. */
static void answers_that_cannot_be_written(void)
{
	struct {
		struct ib_uverbs_cmd_hdr hdr;
		struct ib_uverbs_create_cq cmd;
		uint64_t room[8];
	} cq = {
		.hdr = { IB_USER_VERBS_CMD_CREATE_CQ,
			 (sizeof(cq.hdr) + sizeof(cq.cmd)) / 4, 64 },
		.cmd = { .response = 16, .cqe = 100, .comp_channel = -1 },
	};
	struct {
		struct ib_uverbs_cmd_hdr hdr;
		struct ib_uverbs_reg_mr cmd;
	} reg = {
		.hdr = { IB_USER_VERBS_CMD_REG_MR, sizeof(reg) / 4,
			 sizeof(struct ib_uverbs_reg_mr_resp) / 4 },
		.cmd = { .response = 16, .start = (uintptr_t)memory,
			 .length = PAGE, .hca_va = (uintptr_t)memory,
			 .pd_handle = pd->handle, .access_flags = RIGHTS },
	};
	int i;

	for (i = 0; i < 50; i++) {
		EXPECT(write(ctx->cmd_fd, &cq, cq.hdr.in_words * 4) < 0 &&
		       errno == EFAULT);
		EXPECT(write(ctx->cmd_fd, &reg, sizeof(reg)) < 0 &&
		       errno == EFAULT);
	}
}

/* The same of a verb that has no driver data otherwise. */
static void question_of_the_future(void)
{
	struct {
		struct ib_uverbs_cmd_hdr hdr;
		struct ib_uverbs_ex_cmd_hdr ex;
		struct ib_uverbs_ex_query_device cmd;
		uint64_t request;
	} call = {
		.hdr = { IB_USER_VERBS_CMD_FLAG_EXTENDED |
			 IB_USER_VERBS_EX_CMD_QUERY_DEVICE,
			 sizeof(call.cmd) / 8,
			 sizeof(struct ib_uverbs_ex_query_device_resp) / 8 },
		.ex = { .response = (uintptr_t)memory,
			.provider_in_words = 1 },
		.request = 1,
	};

	EXPECT(write(ctx->cmd_fd, &call, sizeof(call)) < 0 &&
	       errno == EOPNOTSUPP);
	call.request = 0;
	EXPECT(write(ctx->cmd_fd, &call, sizeof(call)) == sizeof(call));
}

/*
 * What a newer process asks for is refused, unless it asks for nothing; what
 * it hopes to be told reads as zero.
 */
static void requests_of_the_future(void)
{
	struct {
		struct ib_uverbs_alloc_pd_resp resp;
		uint32_t more[3];
	} answer = { .more = { -1, -1, -1 } };
	struct {
		struct ib_uverbs_cmd_hdr hdr;
		struct ib_uverbs_alloc_pd cmd;
		uint64_t request;
	} call = {
		.hdr = { IB_USER_VERBS_CMD_ALLOC_PD, sizeof(call) / 4,
			 sizeof(answer) / 4 },
		.cmd = { .response = (uintptr_t)&answer },
		.request = 1,
	};

	EXPECT(write(ctx->cmd_fd, &call, sizeof(call)) < 0 &&
	       errno == EOPNOTSUPP);
	call.request = 0;
	EXPECT(write(ctx->cmd_fd, &call, sizeof(call)) == sizeof(call));
	EXPECT(!answer.more[0] && !answer.more[1] && !answer.more[2]);
	question_of_the_future();
}

#define NUMBERS	16

/* How many of them are near the one before: numbers of 24 bits. */
static unsigned int in_a_row(const uint32_t *numbers)
{
	unsigned int near = 0, i;

	for (i = 1; i < NUMBERS; i++)
		near += numbers[i] - numbers[i - 1] + 256 <= 512;
	return near;
}

/* Who has seen some numbers does not know which ones others have. */
static void numbers_tell_nothing(void)
{
	struct ibv_cq *cq = ibv_create_cq(ctx, 10, NULL, NULL, 0);
	uint32_t qpns[NUMBERS], keys[NUMBERS];
	struct ibv_qp *qps[NUMBERS];
	struct ibv_mr *mrs[NUMBERS];
	unsigned int i;

	EXPECT(cq);
	for (i = 0; i < NUMBERS; i++) {
		qps[i] = make_qp(cq, 4);
		mrs[i] = ibv_reg_mr(pd, memory, PAGE, RIGHTS);
		EXPECT(qps[i] && mrs[i]);
		qpns[i] = qps[i]->qp_num;
		keys[i] = mrs[i]->rkey >> 8;
	}
	EXPECT(in_a_row(qpns) <= 1);
	EXPECT(in_a_row(keys) <= 1);

	for (i = 0; i < NUMBERS; i++)
		EXPECT(!ibv_destroy_qp(qps[i]) && !ibv_dereg_mr(mrs[i]));
	EXPECT(!ibv_destroy_cq(cq));
}

static const struct test_case cases[] = {
	CASE(qp_beyond_limits),
	CASE(what_is_used_stays),
	CASE(modify_refuses_values),
	CASE(modify_refuses_transitions),
	CASE(post_refuses),
	CASE(sources_that_are_wrong),
	CASE(targets_that_are_wrong),
	CASE(atomics_that_are_wrong),
	CASE(receives_that_are_wrong),
	CASE(answers_that_cannot_be_written),
	CASE(requests_of_the_future),
	CASE(numbers_tell_nothing),
	{ }
};

int main(int argc, char **argv)
{
	if (argc != 4)
		return 2;
	open_device(argv[1], argv[2]);
	memory = aligned_alloc(PAGE, PAGE);
	mr = ibv_reg_mr(pd, memory, PAGE, RIGHTS);
	foreign = ibv_reg_mr(ibv_alloc_pd(ctx), memory, PAGE, RIGHTS);
	readable = ibv_reg_mr(pd, memory, PAGE, IBV_ACCESS_REMOTE_READ);
	EXPECT(mr && foreign && readable);
	return run_case(cases, argv[3]);
}
