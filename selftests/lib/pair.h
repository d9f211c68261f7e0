/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Two queue pairs of one device, connected to each other, and what tests of
 * the verbs expect. An expectation that does not hold ends the process.
 */
#ifndef FRDMA_TEST_PAIR_H
#define FRDMA_TEST_PAIR_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <infiniband/verbs.h>

#include "number.h"

#define RIGHTS	(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | \
		 IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC)

/* device_cap_flags_ex; libibverbs has no name for it. */
#define DEVICE_FLUSH_GLOBAL	(1ULL << 38)

#define EXPECT(cond) do {						\
	if (!(cond)) {							\
		printf("%s:%d: %s (%s)\n", __FILE__, __LINE__, #cond,	\
		       strerror(errno));				\
		exit(1);						\
	}								\
} while (0)

#define TO_INIT	(IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | \
		 IBV_QP_ACCESS_FLAGS)
#define TO_RTR	(IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | \
		 IBV_QP_DEST_QPN | IBV_QP_RQ_PSN | \
		 IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER)
#define TO_RTS	(IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | \
		 IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC)
#define UC_TO_RTR	(IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | \
			 IBV_QP_DEST_QPN | IBV_QP_RQ_PSN)
#define UC_TO_RTS	(IBV_QP_STATE | IBV_QP_SQ_PSN)

static struct ibv_context *ctx;
static struct ibv_pd *pd;
static int gid_index;
static int qp_timeout = 12;	/* as struct ibv_qp_attr has it */

static inline double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

/* So many times as long as elsewhere all may take: on the debug kernel. */
static inline unsigned int slow(void)
{
	const char *times = getenv("FRDMA_SLOW");

	return times ? arg_number(times) : 1;
}

static inline struct ibv_qp_attr init_attr(void)
{
	return (struct ibv_qp_attr) {
		.qp_state = IBV_QPS_INIT, .port_num = 1,
		.qp_access_flags = RIGHTS,
	};
}

static inline struct ibv_qp_attr rtr_attr(uint32_t peer)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTR, .path_mtu = IBV_MTU_1024,
		.dest_qp_num = peer, .max_dest_rd_atomic = 4,
		.min_rnr_timer = 1,
		.ah_attr = {
			.is_global = 1, .port_num = 1,
			.grh = { .sgid_index = gid_index, .hop_limit = 4 },
		},
	};

	EXPECT(!ibv_query_gid(ctx, 1, gid_index, &attr.ah_attr.grh.dgid));
	return attr;
}

static inline struct ibv_qp_attr rts_attr(void)
{
	return (struct ibv_qp_attr) {
		.qp_state = IBV_QPS_RTS, .timeout = qp_timeout, .retry_cnt = 7,
		.rnr_retry = 7, .max_rd_atomic = 4,
	};
}

static inline int connect_qp(struct ibv_qp *qp, uint32_t peer)
{
	struct ibv_qp_attr init = init_attr(), rtr = rtr_attr(peer);
	struct ibv_qp_attr rts = rts_attr();

	return ibv_modify_qp(qp, &init, TO_INIT) ?:
	       ibv_modify_qp(qp, &rtr, TO_RTR) ?:
	       ibv_modify_qp(qp, &rts, TO_RTS);
}

/* An unreliable connection, which knows neither retries nor READs. */
static inline int connect_uc(struct ibv_qp *qp, uint32_t peer)
{
	struct ibv_qp_attr init = init_attr(), rtr = rtr_attr(peer);
	struct ibv_qp_attr rts = { .qp_state = IBV_QPS_RTS };

	return ibv_modify_qp(qp, &init, TO_INIT) ?:
	       ibv_modify_qp(qp, &rtr, UC_TO_RTR) ?:
	       ibv_modify_qp(qp, &rts, UC_TO_RTS);
}

static inline struct ibv_qp *make_qp(struct ibv_cq *cq, uint32_t depth)
{
	struct ibv_qp_init_attr init = {
		.send_cq = cq, .recv_cq = cq, .qp_type = IBV_QPT_RC,
		.sq_sig_all = 1,
		.cap = { .max_send_wr = depth, .max_recv_wr = depth,
			 .max_send_sge = 4, .max_recv_sge = 4,
			 .max_inline_data = 64 },
	};

	return ibv_create_qp(pd, &init);
}

/** struct pair - near sends to far; both complete to their own queues */
struct pair {
	struct ibv_cq *near_cq, *far_cq;
	struct ibv_qp *near, *far;
};

static inline struct pair make_pair_on(struct ibv_cq *near_cq,
				       struct ibv_cq *far_cq, uint32_t depth)
{
	struct pair p = {
		near_cq, far_cq, make_qp(near_cq, depth), make_qp(far_cq, depth),
	};

	EXPECT(p.near && p.far);
	EXPECT(!connect_qp(p.near, p.far->qp_num));
	EXPECT(!connect_qp(p.far, p.near->qp_num));
	return p;
}

static inline struct pair make_pair(uint32_t depth)
{
	struct ibv_cq *near_cq = ibv_create_cq(ctx, 2 * depth, NULL, NULL, 0);
	struct ibv_cq *far_cq = ibv_create_cq(ctx, 2 * depth, NULL, NULL, 0);

	EXPECT(near_cq && far_cq);
	return make_pair_on(near_cq, far_cq, depth);
}

static inline void unmake_qps(struct pair *p)
{
	EXPECT(!ibv_destroy_qp(p->near) && !ibv_destroy_qp(p->far));
}

static inline void unmake_pair(struct pair *p)
{
	unmake_qps(p);
	EXPECT(!ibv_destroy_cq(p->near_cq) && !ibv_destroy_cq(p->far_cq));
}

/* The next completion, which has to come within 20 s, or slow() times that. */
static inline struct ibv_wc next_wc(struct ibv_cq *cq)
{
	double end = now() + 20 * slow();
	struct ibv_wc wc;
	int n;

	do
		n = ibv_poll_cq(cq, 1, &wc);
	while (!n && now() < end);
	EXPECT(n == 1);
	return wc;
}

/*
 * Nothing completes to @cq within 0.3 s, or slow() times that, and ten messages
 * of another pair: a time alone may be over before a slow guest has done
 * anything.
 */
static inline void stays_empty(struct ibv_cq *cq)
{
	struct ibv_send_wr wr = { .opcode = IBV_WR_RDMA_WRITE }, *bad;
	double end = now() + 0.3 * slow();
	struct pair other = make_pair(4);
	struct ibv_wc wc;
	int i;

	for (i = 0; i < 10 || now() < end; i++) {
		EXPECT(!ibv_post_send(other.near, &wr, &bad));
		EXPECT(next_wc(other.near_cq).status == IBV_WC_SUCCESS);
		EXPECT(!ibv_poll_cq(cq, 1, &wc));
	}
	unmake_pair(&other);
}

/* Its status. */
static inline int status(struct ibv_cq *cq)
{
	return next_wc(cq).status;
}

/* Posts one work request with one SGE; how it ends. */
static inline int post_wait(struct ibv_qp *qp, struct ibv_cq *cq,
			    struct ibv_send_wr wr, struct ibv_sge sge)
{
	struct ibv_send_wr *bad;

	wr.sg_list = &sge;
	wr.num_sge = 1;
	EXPECT(!ibv_post_send(qp, &wr, &bad));
	return status(cq);
}

/* Bytes that differ from those of another seed, and of another place. */
static inline void fill(void *bytes, size_t len, unsigned int seed)
{
	unsigned char *p = bytes;
	size_t i;

	for (i = 0; i < len; i++)
		p[i] = i * seed + (i >> 8) + seed;
}

static inline bool is_filled(const void *bytes, size_t len, unsigned int seed)
{
	const unsigned char *p = bytes;
	size_t i;

	for (i = 0; i < len; i++)
		if (p[i] != (unsigned char)(i * seed + (i >> 8) + seed))
			return false;
	return true;
}

/** struct test_case - what a program does if it is called with a name */
struct test_case {
	const char *name;
	void (*run)(void);
};

#define CASE(name_)	{ #name_, name_ }

/* Runs the one called @name, of @cases, which end with an empty one. */
static inline int run_case(const struct test_case *cases, const char *name)
{
	for (; cases->name; cases++)
		if (!strcmp(cases->name, name)) {
			cases->run();
			return 0;
		}
	return 2;
}

static inline void open_device(const char *name, const char *gid)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	int i;

	setvbuf(stdout, NULL, _IOLBF, 0);
	gid_index = arg_number(gid);
	for (i = 0; list && list[i]; i++)
		if (!strcmp(ibv_get_device_name(list[i]), name))
			ctx = ibv_open_device(list[i]);
	EXPECT(ctx);
	pd = ibv_alloc_pd(ctx);
	EXPECT(pd);
}

#endif /* FRDMA_TEST_PAIR_H */
