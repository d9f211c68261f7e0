// SPDX-License-Identifier: GPL-2.0
/*
 * What is reliable: in each round a WRITE, a SEND to a shared receive queue, a
 * FETCH_ADD and a READ of what was written, all under way at once. Each has to
 * happen, once, with the right bytes.
 */
#include <errno.h>
#include <string.h>

#include "flow.h"

/* Buffers of the near end, and of the far one. */
enum { SOURCE, BACK };
enum { TARGET, RECEIVE };

enum { WRITE, SEND, COUNT, READ, NR_REQUESTS };

/* Counter, and what it was, lie in front of a buffer. */
static uint64_t *counter(const struct end *end)
{
	return (uint64_t *)(flow_buffer(end, TARGET) - FLOW_ROOM);
}

static void post_receive(struct flow *f)
{
	struct ibv_sge sge = {
		(uintptr_t)flow_buffer(&f->far, RECEIVE), flow_bytes,
		f->far.mr->lkey,
	};
	struct ibv_recv_wr *bad, wr = { .sg_list = &sge, .num_sge = 1 };
	int err = ibv_post_srq_recv(f->far.srq, &wr, &bad);

	if (err)
		flow_die(f, "post: receive: %s", strerror(err));
}

static void post(struct flow *f, uint64_t id, uint32_t srqn, uint32_t round,
		 uint32_t len)
{
	static const enum ibv_wr_opcode opcodes[] = {
		[WRITE]	= IBV_WR_RDMA_WRITE,
		[SEND]	= IBV_WR_SEND_WITH_IMM,
		[COUNT]	= IBV_WR_ATOMIC_FETCH_AND_ADD,
		[READ]	= IBV_WR_RDMA_READ,
	};
	struct ibv_send_wr wr = {
		.wr_id = id, .opcode = opcodes[id], .imm_data = htobe32(round),
		.qp_type.xrc.remote_srqn = srqn,
	};

	if (id == COUNT) {
		wr.wr.atomic.remote_addr = (uintptr_t)counter(&f->far);
		wr.wr.atomic.rkey = f->far.mr->rkey;
		wr.wr.atomic.compare_add = 1;
		flow_post(f, &wr, counter(&f->near), sizeof(uint64_t));
		return;
	}
	wr.wr.rdma.remote_addr = (uintptr_t)flow_buffer(&f->far, TARGET);
	wr.wr.rdma.rkey = f->far.mr->rkey;
	flow_post(f, &wr, flow_buffer(&f->near, id == READ ? BACK : SOURCE),
		  len);
}

static void check_receive(struct flow *f, uint32_t round, uint32_t len)
{
	struct ibv_wc wc = flow_wait(f, f->far.cq);

	if (wc.byte_len != len || be32toh(wc.imm_data) != round)
		flow_die(f, "round %u: received %u bytes of round %u, not %u",
			 round, wc.byte_len, be32toh(wc.imm_data), len);
	if (!flow_is_filled(flow_buffer(&f->far, RECEIVE), len, round))
		flow_die(f, "round %u: data received differ", round);
}

/* In odd rounds there is no receive yet, and the length is odd. */
static bool reliable_round(struct flow *f, uint32_t round)
{
	uint32_t len = round % 2 ? flow_bytes - round % 61 : flow_bytes;
	uint32_t srqn = 0;
	uint64_t id;

	if (f->far.xrcd && ibv_get_srq_num(f->far.srq, &srqn))
		flow_die(f, "no number of the shared queue");
	flow_fill(flow_buffer(&f->near, SOURCE), len, round);
	memset(flow_buffer(&f->near, BACK), 0, len);

	if (round % 2 == 0)
		post_receive(f);
	for (id = 0; id < NR_REQUESTS; id++)
		post(f, id, srqn, round, len);
	if (round % 2)
		post_receive(f);

	for (id = 0; id < NR_REQUESTS; id++)
		if (flow_wait(f, f->near.cq).wr_id != id)
			flow_die(f, "round %u: out of order", round);
	check_receive(f, round, len);
	if (!flow_is_filled(flow_buffer(&f->near, BACK), len, round))
		flow_die(f, "round %u: data differ", round);
	if (*counter(&f->near) != round || *counter(&f->far) != round + 1)
		flow_die(f, "round %u: counted from %llu to %llu", round,
			 (unsigned long long)*counter(&f->near),
			 (unsigned long long)*counter(&f->far));
	return true;
}

static void begin(struct flow *f)
{
	(void)f;
}

const struct kind flow_rc = {
	.name = "rc", .near = IBV_QPT_RC, .far = IBV_QPT_RC,
	.buffers = 2, .has_srq = true,
	.begin = begin, .round = reliable_round,
};

const struct kind flow_xrc = {
	.name = "xrc", .near = IBV_QPT_XRC_SEND, .far = IBV_QPT_XRC_RECV,
	.buffers = 2, .has_srq = true,
	.begin = begin, .round = reliable_round,
};
