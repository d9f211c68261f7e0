// SPDX-License-Identifier: GPL-2.0
/*
 * Many queue pairs at a time on one device, each connected to itself.
 *
 *	many DEVICE GID COUNT		that many, or it fails
 *	many DEVICE GID COUNT fill	as many as memory allows, which must be
 *					fewer, end in ENOMEM and lose nothing
 */
#include <stdbool.h>
#include <unistd.h>

#include "../lib/pair.h"
#include "../lib/meminfo.h"

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

/* One more. Returns 0, or why there cannot be one. */
static int make_one(void)
{
	struct ibv_qp *qp = make_qp(cq, 1);
	int err;

	if (!qp)
		return errno;
	err = connect_qp(qp, qp->qp_num);
	if (err)
		EXPECT(!ibv_destroy_qp(qp));
	else
		qps[count++] = qp;
	return err;
}

/* Returns 0, or why there are not that many. */
static int make_all(uint32_t max)
{
	int err = 0;

	while (count < max && !err)
		err = make_one();
	return err;
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

/* Once some are gone another can be had: memory comes back after a while. */
static void survive(int err)
{
	uint32_t less = count - count / 16 - 1;
	double patience = now() + 20 * slow();

	printf("the %uth: %s\n", count + 1, strerror(err));
	EXPECT(err == ENOMEM);
	while (count > less)
		EXPECT(!ibv_destroy_qp(qps[--count]));
	while ((err = make_one())) {
		EXPECT(err == ENOMEM && now() < patience);
		usleep(100000);
	}
}

int main(int argc, char **argv)
{
	bool fill = argc > 4 && !strcmp(argv[4], "fill");
	double since, before;
	uint32_t made;
	int err;

	EXPECT(argc >= 4);
	open_device(argv[1], argv[2]);
	prepare(arg_number(argv[3]));

	before = bytes_available();
	since = now();
	err = make_all(arg_number(argv[3]));
	say("made", &since);
	printf("%.0f bytes each, %.0f MiB left\n",
	       (before - bytes_available()) / count, bytes_available() / 0x1p20);
	EXPECT(fill == !!err);
	if (err)
		survive(err);
	since = now();
	use_all();
	say("used", &since);
	made = count;
	unmake_all();
	printf("%u destroyed in %.1f s\n", made, now() - since);

	EXPECT(!ibv_dereg_mr(mr) && !ibv_destroy_cq(cq));
	EXPECT(!ibv_dealloc_pd(pd) && !ibv_close_device(ctx));
	return 0;
}
