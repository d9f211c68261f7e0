/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Queue pairs of each kind that send to each other, in a process that counts how
 * often it rings: it has the ioctl() that the provider calls.
 */
#ifndef FRDMA_TEST_LANE_H
#define FRDMA_TEST_LANE_H

#include <fcntl.h>
#include <stdarg.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "doorbell.h"
#include "pair.h"
#include "maps.h"

#define QKEY	0x1234
#define GRH	40
#define LEN	256

static const char *device;
static unsigned int lane_depth = 8;
static unsigned char memory[2][4096];
static struct ibv_mr *mr;
static unsigned long doorbells;

/* In place of the library's. */
int ioctl(int fd, unsigned long request, ...)
{
	const struct ib_uverbs_ioctl_hdr *call;
	va_list args;

	va_start(args, request);
	call = va_arg(args, const void *);
	va_end(args);
	if (request == RDMA_VERBS_IOCTL &&
	    call->object_id == UVERBS_OBJECT_QP &&
	    call->method_id == FRDMA_METHOD_QP_DOORBELL)
		__atomic_add_fetch(&doorbells, 1, __ATOMIC_RELAXED);
	return syscall(SYS_ioctl, fd, request, call);
}

/* Writes to an attribute of the device. */
static inline void set_attribute(const char *name, unsigned int value)
{
	char path[128], text[16];
	int fd, len;

	snprintf(path, sizeof(path), "/sys/class/infiniband/%s/%s", device,
		 name);
	fd = open(path, O_WRONLY);
	EXPECT(fd >= 0);
	len = snprintf(text, sizeof(text), "%u", value);
	EXPECT(write(fd, text, len) == len);
	close(fd);
}

/** struct lane - near sends to far, on a transport of its own */
struct lane {
	enum ibv_qp_type type;
	struct pair p;
	struct ibv_ah *ah;
};

static inline struct ibv_qp *make_typed(enum ibv_qp_type type, struct ibv_cq *cq)
{
	struct ibv_qp_init_attr init = {
		.send_cq = cq, .recv_cq = cq, .qp_type = type, .sq_sig_all = 1,
		.cap = { .max_send_wr = lane_depth, .max_recv_wr = lane_depth,
			 .max_send_sge = 1, .max_recv_sge = 1,
			 .max_inline_data = 64 },
	};
	struct ibv_qp *qp = ibv_create_qp(pd, &init);

	EXPECT(qp);
	return qp;
}

static inline void start_ud(struct ibv_qp *qp)
{
	struct ibv_qp_attr init = { .qp_state = IBV_QPS_INIT, .port_num = 1,
				    .qkey = QKEY };
	struct ibv_qp_attr rtr = { .qp_state = IBV_QPS_RTR };
	struct ibv_qp_attr rts = { .qp_state = IBV_QPS_RTS };

	EXPECT(!ibv_modify_qp(qp, &init, IBV_QP_STATE | IBV_QP_PKEY_INDEX |
			      IBV_QP_PORT | IBV_QP_QKEY));
	EXPECT(!ibv_modify_qp(qp, &rtr, IBV_QP_STATE));
	EXPECT(!ibv_modify_qp(qp, &rts, IBV_QP_STATE | IBV_QP_SQ_PSN));
}

static inline void start(struct lane *lane)
{
	struct pair *p = &lane->p;

	switch (lane->type) {
	case IBV_QPT_UC:
		EXPECT(!connect_uc(p->near, p->far->qp_num));
		EXPECT(!connect_uc(p->far, p->near->qp_num));
		break;
	case IBV_QPT_UD:
		start_ud(p->near);
		start_ud(p->far);
		break;
	default:
		EXPECT(!connect_qp(p->near, p->far->qp_num));
		EXPECT(!connect_qp(p->far, p->near->qp_num));
	}
}

static inline struct lane make_lane(enum ibv_qp_type type)
{
	struct lane lane = { .type = type };
	struct ibv_qp_attr rtr;

	lane.p.near_cq = ibv_create_cq(ctx, 2 * lane_depth, NULL, NULL, 0);
	lane.p.far_cq = ibv_create_cq(ctx, 2 * lane_depth, NULL, NULL, 0);
	EXPECT(lane.p.near_cq && lane.p.far_cq);
	lane.p.near = make_typed(type, lane.p.near_cq);
	lane.p.far = make_typed(type, lane.p.far_cq);
	start(&lane);
	if (type != IBV_QPT_UD)
		return lane;

	rtr = rtr_attr(0);
	lane.ah = ibv_create_ah(pd, &rtr.ah_attr);
	EXPECT(lane.ah);
	return lane;
}

static inline void unmake_lane(struct lane *lane)
{
	unmake_pair(&lane->p);
	EXPECT(!lane->ah || !ibv_destroy_ah(lane->ah));
}

static inline int try_recv(struct lane *lane)
{
	struct ibv_sge sge = { (uintptr_t)memory[1], GRH + LEN, mr->lkey };
	struct ibv_recv_wr *bad, wr = { .sg_list = &sge, .num_sge = 1 };

	return ibv_post_recv(lane->p.far, &wr, &bad);
}

static inline int try_send(struct lane *lane)
{
	struct ibv_sge sge = { (uintptr_t)memory[0], LEN, mr->lkey };
	struct ibv_send_wr *bad, wr = {
		.sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND,
	};

	if (lane->type == IBV_QPT_UD) {
		wr.wr.ud.ah = lane->ah;
		wr.wr.ud.remote_qpn = lane->p.far->qp_num;
		wr.wr.ud.remote_qkey = QKEY;
	}
	return ibv_post_send(lane->p.near, &wr, &bad);
}

static inline void post(struct lane *lane)
{
	EXPECT(!try_recv(lane));
	EXPECT(!try_send(lane));
}

static inline void arrives(struct lane *lane)
{
	EXPECT(status(lane->p.near_cq) == IBV_WC_SUCCESS);
	EXPECT(status(lane->p.far_cq) == IBV_WC_SUCCESS);
}

/* One message, of which all bytes are another's than those of the last. */
static inline void exchange(struct lane *lane)
{
	static unsigned int seed;
	int grh = lane->type == IBV_QPT_UD ? GRH : 0;

	fill(memory[0], LEN, ++seed);
	post(lane);
	arrives(lane);
	EXPECT(is_filled(memory[1] + grh, LEN, seed));
}

/* The head of the ring of sends of the only lane that there is. */
static inline volatile struct frdma_ring_head *ring_of_sends(void)
{
	find_maps();
	EXPECT(nr_maps == 6);
	return (void *)maps[2].at;
}

/* Who looks at a flag waits for it no longer than so. */
static inline void flag_is(volatile struct frdma_ring_head *head,
			   uint32_t flags)
{
	double end = now() + 10 * slow();

	while (head->flags != flags) {
		EXPECT(now() < end);
		usleep(1000);
	}
}

static inline void pause_for(double seconds)
{
	double end = now() + seconds;

	while (now() < end)
		;
}

static inline void to_error(struct ibv_qp *qp)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };

	EXPECT(!ibv_modify_qp(qp, &attr, IBV_QP_STATE));
}

/* Opens the device DEVICE, with memory that all lanes send from and receive in. */
static inline void open_lanes(const char *name, const char *gid)
{
	device = name;
	open_device(name, gid);
	mr = ibv_reg_mr(pd, memory, sizeof(memory), RIGHTS);
	EXPECT(mr);
}

#endif /* FRDMA_TEST_LANE_H */
