/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Two queue pairs that have nothing to do with what a test does to others:
 * they go on. Include it after pair.h.
 */
#ifndef FRDMA_TEST_BYSTANDER_H
#define FRDMA_TEST_BYSTANDER_H

static struct pair bystander;
static struct ibv_mr *bystander_mr;
static unsigned char bystander_memory[2][256];

static inline void bystander_begins(void)
{
	bystander = make_pair(4);
	bystander_mr = ibv_reg_mr(pd, bystander_memory,
				  sizeof(bystander_memory), RIGHTS);
	EXPECT(bystander_mr);
}

/* A message passes, unspoilt. */
static inline void bystander_goes_on(void)
{
	static unsigned char round;
	size_t len = sizeof(bystander_memory[0]);
	struct ibv_sge from = {
		(uintptr_t)bystander_memory[0], len, bystander_mr->lkey,
	}, to = {
		(uintptr_t)bystander_memory[1], len, bystander_mr->lkey,
	};
	struct ibv_recv_wr *bad_recv, recv = { .sg_list = &to, .num_sge = 1 };
	struct ibv_send_wr *bad_send, send = {
		.sg_list = &from, .num_sge = 1, .opcode = IBV_WR_SEND,
	};

	memset(bystander_memory[0], ++round, len);
	EXPECT(!ibv_post_recv(bystander.far, &recv, &bad_recv));
	EXPECT(!ibv_post_send(bystander.near, &send, &bad_send));
	EXPECT(status(bystander.near_cq) == IBV_WC_SUCCESS);
	EXPECT(status(bystander.far_cq) == IBV_WC_SUCCESS);
	EXPECT(!memcmp(bystander_memory[0], bystander_memory[1], len));
}

static inline void bystander_ends(void)
{
	unmake_pair(&bystander);
	EXPECT(!ibv_dereg_mr(bystander_mr));
}

#endif /* FRDMA_TEST_BYSTANDER_H */
