// SPDX-License-Identifier: GPL-2.0
/*
 * RDMA WRITE out of memory that is written to all the while, as programs do
 * that copy a running machine and come back for what has changed. What
 * arrives may be of any age, but it arrives. restless.sh builds and runs it:
 *
 *	restless DEVICE GID_INDEX
 */
#include <pthread.h>
#include <stdbool.h>

#include "../lib/pair.h"

#define PAGE	4096
#define LEN	(16 * PAGE)
#define WRITES	5

static volatile bool stopped;

static void *keep_writing(void *memory)
{
	volatile unsigned int *word = memory;
	size_t i;

	while (!stopped)
		for (i = 0; i < LEN; i += PAGE)
			++word[i / sizeof(*word)];
	return NULL;
}

static void connect_4096(struct ibv_qp *qp, uint32_t peer)
{
	struct ibv_qp_attr init = init_attr(), rtr = rtr_attr(peer);
	struct ibv_qp_attr rts = rts_attr();

	/* Whatever happens to a packet once, sent again it is right. */
	rtr.path_mtu = IBV_MTU_4096;
	rts.timeout = 18;
	rts.retry_cnt = 1;
	EXPECT(!ibv_modify_qp(qp, &init, TO_INIT));
	EXPECT(!ibv_modify_qp(qp, &rtr, TO_RTR));
	EXPECT(!ibv_modify_qp(qp, &rts, TO_RTS));
}

int main(int argc, char **argv)
{
	struct ibv_mr *from_mr, *to_mr;
	struct ibv_send_wr wr, *bad;
	struct ibv_qp *near, *far;
	struct ibv_sge sge;
	struct ibv_cq *cq;
	pthread_t writer;
	void *from, *to;
	int i;

	EXPECT(argc == 3);
	open_device(argv[1], argv[2]);
	from = aligned_alloc(PAGE, LEN);
	to = aligned_alloc(PAGE, LEN);
	EXPECT(from && to);
	memset(from, 1, LEN);
	from_mr = ibv_reg_mr(pd, from, LEN, RIGHTS);
	to_mr = ibv_reg_mr(pd, to, LEN, RIGHTS);
	cq = ibv_create_cq(ctx, 16, NULL, NULL, 0);
	EXPECT(from_mr && to_mr && cq);
	near = make_qp(cq, 4);
	far = make_qp(cq, 4);
	EXPECT(near && far);
	connect_4096(near, far->qp_num);
	connect_4096(far, near->qp_num);

	sge = (struct ibv_sge) { (uintptr_t)from, LEN, from_mr->lkey };
	wr = (struct ibv_send_wr) {
		.sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_RDMA_WRITE,
		.wr.rdma = { (uintptr_t)to, to_mr->rkey },
	};

	EXPECT(!pthread_create(&writer, NULL, keep_writing, from));
	for (i = 0; i < WRITES; i++) {
		EXPECT(!ibv_post_send(near, &wr, &bad));
		EXPECT(status(cq) == IBV_WC_SUCCESS);
	}
	stopped = true;
	pthread_join(writer, NULL);

	EXPECT(!ibv_post_send(near, &wr, &bad));
	EXPECT(status(cq) == IBV_WC_SUCCESS);
	EXPECT(!memcmp(from, to, LEN));
	return 0;
}
