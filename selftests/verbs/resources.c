// SPDX-License-Identifier: GPL-2.0
/*
 * Objects to look at: resources.sh builds and runs it.
 *
 *	resources DEVICE GID_INDEX		two messages of two packets each
 *						from near to far, of which the
 *						first completion is polled;
 *						a queue pair with a shared
 *						receive queue; "NEAR FAR SHARED"
 *						are the numbers of the queue
 *						pairs; then it sleeps
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

/* In INIT, as one that is not has no port, by which rdma is asked here. */
static struct ibv_qp *make_srq_qp(struct ibv_cq *cq)
{
	struct ibv_qp_attr to_init = init_attr();
	struct ibv_srq_init_attr srq_init = {
		.attr = { .max_wr = DEPTH, .max_sge = 1 },
	};
	struct ibv_qp_init_attr init = {
		.send_cq = cq, .recv_cq = cq, .qp_type = IBV_QPT_RC,
		.srq = ibv_create_srq(pd, &srq_init),
		.cap = { .max_send_wr = DEPTH, .max_send_sge = 1 },
	};

	struct ibv_qp *qp;

	EXPECT(init.srq);
	qp = ibv_create_qp(pd, &init);
	EXPECT(qp && !ibv_modify_qp(qp, &to_init, TO_INIT));
	return qp;
}

static void show(void)
{
	struct ibv_mr *mr = ibv_reg_mr(pd, memory, sizeof(memory), RIGHTS);
	struct pair p = make_pair(DEPTH);
	struct ibv_qp *shared = make_srq_qp(p.near_cq);
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
	printf("%u %u %u\n", p.near->qp_num, p.far->qp_num, shared->qp_num);
	pause();
}

int main(int argc, char **argv)
{
	unsigned int i, rounds;
	struct pair p;

	if (argc < 3)
		return 2;
	open_device(argv[1], argv[2]);
	if (argc == 3)
		show();
	rounds = arg_number(argv[3]);
	for (i = 0; i < rounds; i++) {
		p = make_pair(DEPTH);
		unmake_pair(&p);
	}
	return 0;
}
