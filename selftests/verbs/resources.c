// SPDX-License-Identifier: GPL-2.0
/*
 * Objects to look at: resources.sh builds and runs it.
 *
 *	resources DEVICE GID_INDEX		two messages of two packets each
 *						from near to far, of which the
 *						first completion is polled;
 *						"NEAR FAR" are the numbers of
 *						the queue pairs; then it sleeps
 *	resources DEVICE GID_INDEX COUNT	as many queue pairs come and go
 */
#include <unistd.h>

#include "../lib/pair.h"

#define DEPTH	8

static unsigned char memory[2048];

static void receive(struct ibv_qp *qp, uint32_t lkey)
{
	struct ibv_sge sge = { (uintptr_t)memory, sizeof(memory), lkey };
	struct ibv_recv_wr wr = { .sg_list = &sge, .num_sge = 1 }, *bad;

	EXPECT(!ibv_post_recv(qp, &wr, &bad));
}

static void send(struct ibv_qp *qp, uint32_t lkey)
{
	struct ibv_sge sge = { (uintptr_t)memory, sizeof(memory), lkey };
	struct ibv_send_wr wr = {
		.sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND,
	}, *bad;

	EXPECT(!ibv_post_send(qp, &wr, &bad));
}

static void show(void)
{
	struct ibv_mr *mr = ibv_reg_mr(pd, memory, sizeof(memory), RIGHTS);
	struct pair p = make_pair(DEPTH);
	int i;

	EXPECT(mr);
	for (i = 0; i < 5; i++)
		receive(p.far, mr->lkey);
	for (i = 0; i < 2; i++) {
		send(p.near, mr->lkey);
		EXPECT(status(p.near_cq) == IBV_WC_SUCCESS);
	}
	EXPECT(status(p.far_cq) == IBV_WC_SUCCESS);
	EXPECT(!ibv_req_notify_cq(p.far_cq, 0));
	printf("%u %u\n", p.near->qp_num, p.far->qp_num);
	pause();
}

int main(int argc, char **argv)
{
	struct pair p;
	int i;

	if (argc < 3)
		return 2;
	open_device(argv[1], argv[2]);
	if (argc == 3)
		show();
	for (i = 0; i < atoi(argv[3]); i++) {
		p = make_pair(DEPTH);
		unmake_pair(&p);
	}
	return 0;
}
