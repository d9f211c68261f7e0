// SPDX-License-Identifier: GPL-2.0
/*
 * Many queue pairs at a time on one device, each connected to itself.
 *
 *	many DEVICE GID COUNT		that many, or it fails
 *	many DEVICE GID COUNT fill	that many, or as many as memory allows,
 *					which must end in ENOMEM and lose nothing
 */
#include <stdbool.h>

#include "../lib/pair.h"

#define MESSAGE_LEN	32

/* Queue pairs that send at a time: two completions each must have room. */
#define AT_A_TIME	1024

static struct ibv_cq *cq;
static struct ibv_mr *mr;
static struct ibv_qp **qps;
static char (*memory)[2][MESSAGE_LEN];
static uint32_t count;

static void prepare(uint32_t max)
{
	cq = ibv_create_cq(ctx, 2 * AT_A_TIME, NULL, NULL, 0);
	qps = calloc(max, sizeof(*qps));
	memory = calloc(AT_A_TIME, sizeof(*memory));
	EXPECT(cq && qps && memory);
	mr = ibv_reg_mr(pd, memory, AT_A_TIME * sizeof(*memory),
			IBV_ACCESS_LOCAL_WRITE);
	EXPECT(mr);
}

/* Returns 0, or why there are not that many. */
static int make_all(uint32_t max)
{
	while (count < max) {
		qps[count] = make_qp(cq, 1);
		if (!qps[count])
			return errno;
		count++;
	}
	return 0;
}

static void connect_all(void)
{
	uint32_t n;

	for (n = 0; n < count; n++)
		EXPECT(!connect_qp(qps[n], qps[n]->qp_num));
}

static void post(struct ibv_qp *qp, uint32_t slot)
{
	struct ibv_sge from = {
		.addr = (uintptr_t)memory[slot][0], .length = MESSAGE_LEN,
		.lkey = mr->lkey,
	}, to = {
		.addr = (uintptr_t)memory[slot][1], .length = MESSAGE_LEN,
		.lkey = mr->lkey,
	};
	struct ibv_recv_wr recv = { .sg_list = &to, .num_sge = 1 };
	struct ibv_send_wr send = {
		.sg_list = &from, .num_sge = 1, .opcode = IBV_WR_SEND,
	};
	struct ibv_recv_wr *bad_recv;
	struct ibv_send_wr *bad_send;

	memcpy(memory[slot][0], &qp->qp_num, sizeof(qp->qp_num));
	memset(memory[slot][1], 0, MESSAGE_LEN);
	EXPECT(!ibv_post_recv(qp, &recv, &bad_recv));
	EXPECT(!ibv_post_send(qp, &send, &bad_send));
}

/* Every queue pair sends itself its number. */
static void use_all(void)
{
	uint32_t begin, n, posted;

	for (begin = 0; begin < count; begin += AT_A_TIME) {
		posted = 0;
		for (n = begin; n < count && posted < AT_A_TIME; n++)
			post(qps[n], posted++);
		for (n = 0; n < 2 * posted; n++)
			EXPECT(status(cq) == IBV_WC_SUCCESS);
		for (n = 0; n < posted; n++)
			EXPECT(!memcmp(memory[n][0], memory[n][1],
				       MESSAGE_LEN));
	}
}

static void unmake_all(void)
{
	while (count)
		EXPECT(!ibv_destroy_qp(qps[--count]));
}

static void say(const char *what, double *since)
{
	printf("%u %s in %.1f s\n", count, what, now() - *since);
	*since = now();
}

/* What cannot be had any more does not hurt what there is, and can be had again. */
static void survive(int err)
{
	struct ibv_qp *qp;

	printf("the %uth: %s\n", count + 1, strerror(err));
	EXPECT(err == ENOMEM);
	EXPECT(!ibv_destroy_qp(qps[--count]));
	qp = make_qp(cq, 1);
	EXPECT(qp && !ibv_destroy_qp(qp));
}

int main(int argc, char **argv)
{
	double since;
	uint32_t made;
	int err;

	EXPECT(argc >= 4);
	open_device(argv[1], argv[2]);
	prepare(atoi(argv[3]));

	since = now();
	err = make_all(atoi(argv[3]));
	if (err) {
		EXPECT(argc > 4 && !strcmp(argv[4], "fill"));
		survive(err);
	}
	say("made", &since);
	connect_all();
	say("connected", &since);
	use_all();
	say("used", &since);
	made = count;
	unmake_all();
	printf("%u destroyed in %.1f s\n", made, now() - since);

	EXPECT(!ibv_dereg_mr(mr) && !ibv_destroy_cq(cq));
	EXPECT(!ibv_dealloc_pd(pd) && !ibv_close_device(ctx));
	return 0;
}
