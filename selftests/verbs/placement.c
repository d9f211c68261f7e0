// SPDX-License-Identifier: GPL-2.0
/*
 * ATOMIC WRITE: what it stores, when, and what it refuses. placement.sh builds
 * and runs it:
 *
 *	placement DEVICE GID_INDEX CASE
 *
 * In each pair of queue pairs far has the memory, and near reaches for it.
 */
#include <pthread.h>
#include <stdbool.h>

#include "../lib/pair.h"

#define SIZE	8192

/* libibverbs has no name for it. */
#define DEVICE_ATOMIC_WRITE	(1ULL << 40)

static unsigned char memory[SIZE] __attribute__((aligned(8)));
static unsigned char local[SIZE] __attribute__((aligned(8)));
static struct ibv_mr *mr, *local_mr;

static uint64_t at(uint32_t offset)
{
	return (uintptr_t)memory + offset;
}

static struct ibv_wc completion(struct ibv_cq *cq)
{
	double end = now() + 20;
	struct ibv_wc wc;
	int n;

	do
		n = ibv_poll_cq(cq, 1, &wc);
	while (!n && now() < end);
	EXPECT(n == 1);
	return wc;
}

static void post(struct ibv_qp *qp, enum ibv_wr_opcode opcode, uint32_t len,
		 uint64_t addr, uint32_t key, int flags)
{
	struct ibv_sge sge = { (uintptr_t)local, len, local_mr->lkey };
	struct ibv_send_wr wr = {
		.sg_list = &sge, .num_sge = 1, .opcode = opcode,
		.send_flags = flags,
		.wr.rdma = { .remote_addr = addr, .rkey = key },
	}, *bad;

	EXPECT(!ibv_post_send(qp, &wr, &bad));
}

/* How an ATOMIC WRITE ends, on a pair for itself. */
static int outcome(uint32_t len, uint64_t addr, uint32_t key, int flags)
{
	struct pair p = make_pair(4);
	int result;

	post(p.near, IBV_WR_ATOMIC_WRITE, len, addr, key, flags);
	result = status(p.near_cq);
	unmake_pair(&p);
	return result;
}

static void device_says_so(void)
{
	struct ibv_device_attr_ex attr;

	EXPECT(!ibv_query_device_ex(ctx, NULL, &attr));
	EXPECT(attr.device_cap_flags_ex & DEVICE_ATOMIC_WRITE);
}

static void eight_bytes(void)
{
	struct pair p = make_pair(4);
	struct ibv_wc wc;

	memset(memory, 0x11, SIZE);
	memcpy(local, "one, two", 8);
	post(p.near, IBV_WR_ATOMIC_WRITE, 8, at(8), mr->rkey, 0);
	wc = completion(p.near_cq);
	EXPECT(!wc.status && wc.opcode == IBV_WC_ATOMIC_WRITE);
	EXPECT(!memcmp(memory + 8, "one, two", 8));
	EXPECT(memory[7] == 0x11 && memory[16] == 0x11);

	memcpy(local, "inlined.", 8);
	post(p.near, IBV_WR_ATOMIC_WRITE, 8, at(SIZE - 8), mr->rkey,
	     IBV_SEND_INLINE);
	EXPECT(!status(p.near_cq));
	EXPECT(!memcmp(memory + SIZE - 8, "inlined.", 8));
	unmake_pair(&p);
}

static struct ibv_qp_ex *make_builder(struct pair *p)
{
	struct ibv_qp_init_attr_ex init = {
		.send_cq = p->near_cq, .recv_cq = p->near_cq,
		.qp_type = IBV_QPT_RC, .sq_sig_all = 1,
		.cap = { .max_send_wr = 8, .max_recv_wr = 1,
			 .max_send_sge = 1, .max_recv_sge = 1 },
		.comp_mask = IBV_QP_INIT_ATTR_PD |
			     IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		.pd = pd,
		.send_ops_flags = IBV_QP_EX_WITH_RDMA_WRITE |
				  IBV_QP_EX_WITH_ATOMIC_WRITE,
	};

	EXPECT(!ibv_destroy_qp(p->near));
	p->near = ibv_create_qp_ex(ctx, &init);
	EXPECT(p->near);
	EXPECT(!connect_qp(p->near, p->far->qp_num));
	EXPECT(!ibv_modify_qp(p->far, &(struct ibv_qp_attr) {
			.qp_state = IBV_QPS_RESET }, IBV_QP_STATE));
	EXPECT(!connect_qp(p->far, p->near->qp_num));
	return ibv_qp_to_qp_ex(p->near);
}

static void builder(void)
{
	struct pair p = make_pair(8);
	struct ibv_qp_ex *ex = make_builder(&p);

	memset(local, 0x22, 64);
	ibv_wr_start(ex);
	ibv_wr_rdma_write(ex, mr->rkey, at(64));
	ibv_wr_set_sge(ex, local_mr->lkey, (uintptr_t)local, 64);
	ibv_wr_atomic_write(ex, mr->rkey, at(64), "builder!");
	EXPECT(!ibv_wr_complete(ex));
	EXPECT(!status(p.near_cq));
	EXPECT(completion(p.near_cq).opcode == IBV_WC_ATOMIC_WRITE);
	EXPECT(!memcmp(memory + 64, "builder!", 8));
	EXPECT(memory[72] == 0x22 && memory[127] == 0x22);
	unmake_pair(&p);
}

static void refuses(void)
{
	struct ibv_mr *readable = ibv_reg_mr(pd, memory, SIZE,
					     IBV_ACCESS_LOCAL_WRITE |
					     IBV_ACCESS_REMOTE_READ |
					     IBV_ACCESS_REMOTE_ATOMIC);

	EXPECT(readable);
	memset(memory, 0x33, SIZE);
	memset(local, 0x44, 64);
	EXPECT(outcome(8, at(4), mr->rkey, 0) == IBV_WC_REM_INV_REQ_ERR);
	EXPECT(outcome(8, at(SIZE), mr->rkey, 0) == IBV_WC_REM_ACCESS_ERR);
	EXPECT(outcome(8, at(8), mr->rkey ^ 1, 0) == IBV_WC_REM_ACCESS_ERR);
	EXPECT(outcome(8, at(8), readable->rkey, 0) == IBV_WC_REM_ACCESS_ERR);
	EXPECT(outcome(4, at(8), mr->rkey, 0) == IBV_WC_LOC_LEN_ERR);
	EXPECT(outcome(16, at(8), mr->rkey, 0) == IBV_WC_LOC_LEN_ERR);
	EXPECT(outcome(16, at(8), mr->rkey, IBV_SEND_INLINE) ==
	       IBV_WC_LOC_LEN_ERR);
	EXPECT(memory[4] == 0x33 && memory[8] == 0x33 && memory[15] == 0x33);
	EXPECT(!ibv_dereg_mr(readable));
}

/* It is a write to the queue pair, and is answered as READs are. */
static void needs_rights_of_the_queue_pair(void)
{
	struct ibv_qp_attr init = init_attr(), rtr, rts = rts_attr();
	struct ibv_qp_attr reset = { .qp_state = IBV_QPS_RESET };
	struct pair p;
	int i;

	for (i = 0; i < 2; i++) {
		p = make_pair(4);
		rtr = rtr_attr(p.near->qp_num);
		if (i)
			rtr.max_dest_rd_atomic = 0;
		else
			init.qp_access_flags = RIGHTS & ~IBV_ACCESS_REMOTE_WRITE;
		EXPECT(!ibv_modify_qp(p.far, &reset, IBV_QP_STATE));
		EXPECT(!ibv_modify_qp(p.far, &init, TO_INIT));
		EXPECT(!ibv_modify_qp(p.far, &rtr, TO_RTR));
		EXPECT(!ibv_modify_qp(p.far, &rts, TO_RTS));
		post(p.near, IBV_WR_ATOMIC_WRITE, 8, at(8), mr->rkey, 0);
		EXPECT(status(p.near_cq) == IBV_WC_REM_INV_REQ_ERR);
		unmake_pair(&p);
		init = init_attr();
	}
}

#define MESSAGE		2048
#define MESSAGES	300

/*
 * What a CPU sees: the flag never before the message that it stands for. The
 * message is of several packets, the flag lies in front of it.
 */
static void *watch(void *arg)
{
	_Atomic uint64_t *flag = (void *)memory;
	uint64_t seen = 0, value;
	double end = now() + 60;
	bool *right = arg;
	uint32_t i;

	while (seen < MESSAGES && now() < end) {
		value = *flag;
		if (value == seen)
			continue;
		seen = value;
		/* A later one may be under way; none before this one is. */
		for (i = 0; i < MESSAGE; i += sizeof(value)) {
			memcpy(&value, memory + 64 + i, sizeof(value));
			if (value < seen)
				return NULL;
		}
	}
	*right = seen == MESSAGES;
	return NULL;
}

static void comes_after_what_was_written(void)
{
	struct pair p = make_pair(8);
	bool right = false;
	pthread_t watcher;
	uint64_t n;
	uint32_t i;

	memset(memory, 0, SIZE);
	EXPECT(!pthread_create(&watcher, NULL, watch, &right));
	for (n = 1; n <= MESSAGES; n++) {
		for (i = 0; i < MESSAGE; i += sizeof(n))
			memcpy(local + i, &n, sizeof(n));
		post(p.near, IBV_WR_RDMA_WRITE, MESSAGE, at(64), mr->rkey, 0);
		post(p.near, IBV_WR_ATOMIC_WRITE, 8, at(0), mr->rkey, 0);
		EXPECT(!status(p.near_cq) && !status(p.near_cq));
	}
	EXPECT(!pthread_join(watcher, NULL));
	EXPECT(right);
	unmake_pair(&p);
}

static const struct {
	const char *name;
	void (*run)(void);
} cases[] = {
#define CASE(name_)	{ #name_, name_ }
	CASE(device_says_so),
	CASE(eight_bytes),
	CASE(builder),
	CASE(refuses),
	CASE(needs_rights_of_the_queue_pair),
	CASE(comes_after_what_was_written),
};

int main(int argc, char **argv)
{
	size_t i;

	if (argc != 4)
		return 2;
	open_device(argv[1], argv[2]);
	mr = ibv_reg_mr(pd, memory, SIZE, RIGHTS);
	local_mr = ibv_reg_mr(pd, local, SIZE, IBV_ACCESS_LOCAL_WRITE);
	EXPECT(mr && local_mr);

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		if (!strcmp(cases[i].name, argv[3])) {
			cases[i].run();
			return 0;
		}
	return 2;
}
