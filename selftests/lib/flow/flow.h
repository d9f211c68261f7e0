/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Checked traffic of one kind from one link to another: what its files share.
 */
#ifndef FRDMA_TEST_FLOW_H
#define FRDMA_TEST_FLOW_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include <infiniband/verbs.h>

/**
 * struct end - what a flow has of a link
 * @srq: of the far end of what is reliable
 * @memory: of some buffers, see flow_buffer()
 */
struct end {
	const char *device;
	int gid_index;
	union ibv_gid gid;
	struct ibv_context *ctx;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_xrcd *xrcd;
	struct ibv_srq *srq;
	struct ibv_qp *qp;
	struct ibv_mr *mr;
	unsigned char *memory;
};

/**
 * struct flow - traffic from @near to @far, made by a thread of its own
 * @rounds: how often the right thing has arrived
 * @posted: messages of what is unreliable; their numbers count up from 0
 * @arrived: how often one of them came
 * @next: behind the last one that came
 * @failed: it has said why
 */
struct flow {
	const struct kind *kind;
	struct end near, far;
	struct ibv_ah *ah;
	pthread_t thread;
	uint32_t rounds;
	uint32_t posted, arrived, next;
	bool done, failed;
};

/**
 * struct kind - a kind of traffic
 * @buffers: that each end needs
 * @has_srq: the far end receives from a shared receive queue
 * @begin: after the ends were connected
 * @round: says whether anything arrived; what is wrong ends the flow
 */
struct kind {
	const char *name;
	enum ibv_qp_type near, far;
	unsigned int buffers;
	bool has_srq;
	void (*begin)(struct flow *f);
	bool (*round)(struct flow *f, uint32_t round);
};

extern const struct kind flow_rc, flow_xrc, flow_uc, flow_ud, flow_multicast;
extern int flow_timeout, flow_retries;
extern uint32_t flow_bytes;
extern uint8_t flow_class;
extern enum ibv_mtu flow_mtu;
extern const char *flow_far_netns;

#define FLOW_QKEY	0x11223344
#define FLOW_RIGHTS	(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | \
			 IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC)

/* Before each buffer there is room for a GRH, or for a counter. */
#define FLOW_ROOM	64

static inline unsigned char *flow_buffer(const struct end *end, unsigned int i)
{
	return end->memory + i * ((size_t)flow_bytes + FLOW_ROOM) + FLOW_ROOM;
}

void __attribute__((noreturn, format(printf, 2, 3)))
flow_die(struct flow *f, const char *format, ...);
void flow_connect(struct flow *f);
void flow_post(struct flow *f, struct ibv_send_wr *wr, const void *from,
	       uint32_t len);
bool flow_poll(struct flow *f, struct ibv_cq *cq, struct ibv_wc *wc);
struct ibv_wc flow_wait(struct flow *f, struct ibv_cq *cq);

void flow_fill(unsigned char *p, uint32_t len, uint32_t seed);
bool flow_is_filled(const unsigned char *p, uint32_t len, uint32_t seed);

#endif /* FRDMA_TEST_FLOW_H */
