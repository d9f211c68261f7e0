// SPDX-License-Identifier: GPL-2.0
/*
 * What is unreliable: in each round some messages of many lengths, with their
 * numbers as immediate data. Any may be lost, or come twice, or late, as the
 * network has it: a connection, too, takes whatever begins a message. What
 * completes at the far end is one of them, whole.
 */
#include <errno.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "flow.h"

#define BURST		8
#define RECEIVES	32

/*
 * On UC every other message is written to one of these, behind the receives.
 * It is looked at when its completion is seen, so it should not be written to
 * again before: eight rounds later, or nearly half a second if all is lost.
 */
#define TARGETS		64

#define PATIENCE_S	0.05
#define TO_ALL		0xffffff

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

static bool is_connected(const struct flow *f)
{
	return f->kind->near == IBV_QPT_UC;
}

static uint32_t len_of(const struct flow *f, uint32_t number)
{
	uint32_t max = flow_bytes;

	if (!is_connected(f) && max > 1024)
		max = 1024;
	return 1 + (number * 2654435761U >> 7) % max;
}

static bool is_write(const struct flow *f, uint32_t number)
{
	return is_connected(f) && number % 2;
}

static unsigned char *target_of(const struct flow *f, uint32_t number)
{
	return flow_buffer(&f->far, RECEIVES + number % TARGETS);
}

/* A datagram brings its GRH, for which there is room before the buffer. */
static void post_receive(struct flow *f, uint64_t i)
{
	uint32_t grh = is_connected(f) ? 0 : 40;
	struct ibv_sge sge = {
		(uintptr_t)flow_buffer(&f->far, i) - grh, flow_bytes + grh,
		f->far.mr->lkey,
	};
	struct ibv_recv_wr *bad, wr = {
		.wr_id = i, .sg_list = &sge, .num_sge = 1,
	};
	int err = ibv_post_recv(f->far.qp, &wr, &bad);

	if (err)
		flow_die(f, "post: receive: %s", strerror(err));
}

static void post_message(struct flow *f, uint32_t number)
{
	unsigned char *from = flow_buffer(&f->near, number % BURST);
	uint32_t len = len_of(f, number);
	struct ibv_send_wr wr = {
		.opcode = IBV_WR_SEND_WITH_IMM, .imm_data = htobe32(number),
	};

	flow_fill(from, len, number);
	if (is_write(f, number)) {
		wr.opcode = IBV_WR_RDMA_WRITE_WITH_IMM;
		wr.wr.rdma.remote_addr = (uintptr_t)target_of(f, number);
		wr.wr.rdma.rkey = f->far.mr->rkey;
	} else if (f->ah) {
		wr.wr.ud.ah = f->ah;
		wr.wr.ud.remote_qkey = FLOW_QKEY;
		wr.wr.ud.remote_qpn = f->kind == &flow_multicast ?
				      TO_ALL : f->far.qp->qp_num;
	}
	flow_post(f, &wr, from, len);
}

static void check_message(struct flow *f, const struct ibv_wc *wc)
{
	uint32_t number = be32toh(wc->imm_data);
	uint32_t len = wc->byte_len - (is_connected(f) ? 0 : 40);
	const unsigned char *at = is_write(f, number) ?
		target_of(f, number) : flow_buffer(&f->far, wc->wr_id);

	if (!(wc->wc_flags & IBV_WC_WITH_IMM) || number >= f->posted)
		flow_die(f, "message %u comes of nowhere", number);
	if (!is_connected(f) && wc->src_qp != f->near.qp->qp_num)
		flow_die(f, "message %u comes of %u", number, wc->src_qp);
	if (len != len_of(f, number) || !flow_is_filled(at, len, number))
		flow_die(f, "message %u of %u bytes differs", number, len);
	if (number >= f->next)
		f->next = number + 1;
	f->arrived++;
}

/* Takes what has come; true if that was something. */
static bool take_messages(struct flow *f)
{
	bool some = false;
	struct ibv_wc wc;

	while (flow_poll(f, f->far.cq, &wc)) {
		check_message(f, &wc);
		post_receive(f, wc.wr_id);
		some = true;
	}
	return some;
}

static bool unreliable_round(struct flow *f, uint32_t round)
{
	uint32_t before = f->arrived;
	double end;
	int i;

	(void)round;
	for (i = 0; i < BURST; i++) {
		f->posted++;
		post_message(f, f->posted - 1);
	}
	for (i = 0; i < BURST; i++)
		flow_wait(f, f->near.cq);

	end = now() + PATIENCE_S;
	while (f->next < f->posted && now() < end)
		if (take_messages(f))
			end = now() + PATIENCE_S;
		else
			usleep(500);
	take_messages(f);
	return f->arrived > before;
}

static void post_receives(struct flow *f)
{
	unsigned int i;

	for (i = 0; i < RECEIVES; i++)
		post_receive(f, i);
}

static void make_ah(struct flow *f, union ibv_gid to)
{
	struct ibv_ah_attr attr = {
		.is_global = 1, .port_num = 1,
		.grh = { .sgid_index = f->near.gid_index, .dgid = to,
			 .hop_limit = 4, .traffic_class = flow_class },
	};

	f->ah = ibv_create_ah(f->near.pd, &attr);
	if (!f->ah)
		flow_die(f, "no address handle: %s", strerror(errno));
}

static void begin_ud(struct flow *f)
{
	post_receives(f);
	make_ah(f, f->far.gid);
}

/* 239.78.0.1, or ff0e::ef4e:1. */
static void begin_multicast(struct flow *f)
{
	union ibv_gid group = { .raw = { [12] = 239, 78, 0, 1 } };
	int err;

	if (!memcmp(f->far.gid.raw, "\0\0\0\0\0\0\0\0\0\0\xff\xff", 12))
		memset(group.raw + 10, 0xff, 2);
	else
		memcpy(group.raw, "\xff\x0e", 2);
	err = ibv_attach_mcast(f->far.qp, &group, 0);
	if (err)
		flow_die(f, "cannot attach: %s", strerror(err));
	post_receives(f);
	make_ah(f, group);
}

const struct kind flow_uc = {
	.name = "uc", .near = IBV_QPT_UC, .far = IBV_QPT_UC,
	.buffers = RECEIVES + TARGETS,
	.begin = post_receives, .round = unreliable_round,
};

const struct kind flow_ud = {
	.name = "ud", .near = IBV_QPT_UD, .far = IBV_QPT_UD,
	.buffers = RECEIVES,
	.begin = begin_ud, .round = unreliable_round,
};

const struct kind flow_multicast = {
	.name = "multicast", .near = IBV_QPT_UD, .far = IBV_QPT_UD,
	.buffers = RECEIVES,
	.begin = begin_multicast, .round = unreliable_round,
};
