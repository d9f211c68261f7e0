/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Regions whose memory is not pinned, and what passes between two of them. In
 * each pair of queue pairs near reaches for far's memory.
 */
#ifndef FRDMA_TEST_ONDEMAND_H
#define FRDMA_TEST_ONDEMAND_H

#include <sys/mman.h>
#include <unistd.h>

#include "pair.h"

#define PAGE	4096
#define SIZE	(64 * PAGE)
#define ON_DEMAND	(RIGHTS | IBV_ACCESS_ON_DEMAND)

/* Memory that nobody has touched: no page of it is there. */
static inline unsigned char *fresh(size_t len)
{
	void *p = mmap(NULL, len, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	EXPECT(p != MAP_FAILED);
	return p;
}

static inline struct ibv_mr *reg(void *p, size_t len, int access)
{
	struct ibv_mr *mr = ibv_reg_mr(pd, p, len, access);

	EXPECT(mr);
	return mr;
}

/* The device whose counters are read. */
static const char *device;

/* The core keeps what it has read for ten milliseconds. */
static inline long port_counter(const char *name)
{
	char path[200];
	long n = -1;
	FILE *f;

	snprintf(path, sizeof(path),
		 "/sys/class/infiniband/%s/ports/1/hw_counters/%s", device,
		 name);
	usleep(20000);
	f = fopen(path, "r");
	EXPECT(f && fscanf(f, "%ld", &n) == 1);
	fclose(f);
	return n;
}

static inline long page_faults(void)
{
	return port_counter("page_faults");
}

/** struct ends - who sends what to where */
struct ends {
	struct ibv_mr *from, *to;
	void *src, *dst;
};

static inline void post(struct pair *p, enum ibv_wr_opcode opcode,
			const struct ends *e, uint32_t len)
{
	struct ibv_sge sge = { (uintptr_t)e->src, len, e->from->lkey };
	struct ibv_send_wr *bad, wr = {
		.sg_list = &sge, .num_sge = 1, .opcode = opcode,
		.wr.rdma = { .remote_addr = (uintptr_t)e->dst,
			     .rkey = e->to->rkey },
	};

	EXPECT(!ibv_post_send(p->near, &wr, &bad));
}

static inline int transfer(struct pair *p, enum ibv_wr_opcode opcode,
			   const struct ends *e, uint32_t len)
{
	post(p, opcode, e, len);
	return status(p->near_cq);
}

/* The same with a pair for itself, which does not survive an error. */
static inline int transfer_alone(enum ibv_wr_opcode opcode,
				 const struct ends *e, uint32_t len)
{
	struct pair p = make_pair(4);
	int result = transfer(&p, opcode, e, len);

	unmake_pair(&p);
	return result;
}

static inline struct ends make_ends(size_t len, int from, int to)
{
	struct ends e = { .src = fresh(len), .dst = fresh(len) };

	e.from = reg(e.src, len, from);
	e.to = reg(e.dst, len, to);
	return e;
}

static inline void unmake_ends(struct ends *e)
{
	EXPECT(!ibv_dereg_mr(e->from) && !ibv_dereg_mr(e->to));
}

static inline int prefetch(enum ibv_advise_mr_advice advice,
			   struct ibv_mr *mr, void *p, uint32_t len)
{
	struct ibv_sge sge = { (uintptr_t)p, len, mr->lkey };

	return ibv_advise_mr(pd, advice, IBV_ADVISE_MR_FLAG_FLUSH, &sge, 1);
}

static inline void reset_pair(struct pair *p)
{
	struct ibv_qp_attr reset = { .qp_state = IBV_QPS_RESET };

	EXPECT(!ibv_modify_qp(p->near, &reset, IBV_QP_STATE));
	EXPECT(!ibv_modify_qp(p->far, &reset, IBV_QP_STATE));
}

/* What the programs about it do: DEVICE GID_INDEX CASE, of @cases. */
static inline int run_as_told(const struct test_case *cases, int argc,
			      char **argv)
{
	if (argc != 4)
		return 2;
	device = argv[1];
	open_device(argv[1], argv[2]);
	return run_case(cases, argv[3]);
}

#endif /* FRDMA_TEST_ONDEMAND_H */
