// SPDX-License-Identifier: GPL-2.0
/*
 * Checked traffic between two links of one host, in one process:
 *
 *	flow [-t TIMEOUT] [-r RETRIES] [-n ROUNDS] [-s BYTES] DEV GID DEV GID
 *
 * Each round writes to the far end, reads it back and compares. A dot is
 * printed every tenth of a second in which a round was completed. It ends well
 * at SIGTERM or after ROUNDS, and otherwise says what went wrong.
 */
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <infiniband/verbs.h>

#define RIGHTS	(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | \
		 IBV_ACCESS_REMOTE_READ)

/* Who polls for longer takes the CPU from those that the guest runs on. */
#define POLLS	100

struct end {
	struct ibv_context *ctx;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	struct ibv_mr *mr;
	unsigned char *memory;
	int gid_index;
	union ibv_gid gid;
};

static volatile sig_atomic_t stopped;
static int timeout = 18, retries = 7;
static uint32_t bytes = 16384;

static void die(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	printf("\n");
	vprintf(format, args);
	printf("\n");
	exit(1);
}

static void stop(int sig)
{
	(void)sig;
	stopped = 1;
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

static struct ibv_context *open_device(const char *name)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	int i;

	for (i = 0; list && list[i]; i++)
		if (!strcmp(ibv_get_device_name(list[i]), name))
			return ibv_open_device(list[i]);
	return NULL;
}

/* The upper half of the memory is what comes back. */
static void make_end(struct end *end, const char *name, const char *gid)
{
	struct ibv_qp_init_attr init = {
		.qp_type = IBV_QPT_RC, .sq_sig_all = 1,
		.cap = { .max_send_wr = 4, .max_recv_wr = 1,
			 .max_send_sge = 1, .max_recv_sge = 1 },
	};

	end->gid_index = atoi(gid);
	end->ctx = open_device(name);
	if (!end->ctx)
		die("no device %s", name);
	if (ibv_query_gid(end->ctx, 1, end->gid_index, &end->gid))
		die("no GID %s", gid);
	end->pd = ibv_alloc_pd(end->ctx);
	end->cq = ibv_create_cq(end->ctx, 8, NULL, NULL, 0);
	end->memory = calloc(2, bytes);
	if (!end->pd || !end->cq || !end->memory)
		die("no objects");
	end->mr = ibv_reg_mr(end->pd, end->memory, 2 * bytes, RIGHTS);
	init.send_cq = end->cq;
	init.recv_cq = end->cq;
	end->qp = ibv_create_qp(end->pd, &init);
	if (!end->mr || !end->qp)
		die("no queue pair");
}

static void connect_end(struct end *end, const struct end *peer)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT, .port_num = 1,
		.qp_access_flags = RIGHTS,
	};
	int err;

	err = ibv_modify_qp(end->qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX |
			    IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
	attr = (struct ibv_qp_attr) {
		.qp_state = IBV_QPS_RTR, .path_mtu = IBV_MTU_1024,
		.dest_qp_num = peer->qp->qp_num, .max_dest_rd_atomic = 4,
		.min_rnr_timer = 12,
		.ah_attr = {
			.is_global = 1, .port_num = 1,
			.grh = { .sgid_index = end->gid_index,
				 .dgid = peer->gid, .hop_limit = 4 },
		},
	};
	err = err ?: ibv_modify_qp(end->qp, &attr, IBV_QP_STATE | IBV_QP_AV |
				   IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
				   IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
				   IBV_QP_MIN_RNR_TIMER);
	attr = (struct ibv_qp_attr) {
		.qp_state = IBV_QPS_RTS, .timeout = timeout,
		.retry_cnt = retries, .rnr_retry = 7, .max_rd_atomic = 4,
	};
	err = err ?: ibv_modify_qp(end->qp, &attr, IBV_QP_STATE |
				   IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
				   IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
				   IBV_QP_MAX_QP_RD_ATOMIC);
	if (err)
		die("cannot connect: %s", strerror(err));
}

static void transfer(struct end *near, const struct end *far,
		     enum ibv_wr_opcode opcode, uint32_t offset)
{
	struct ibv_sge sge = {
		(uintptr_t)near->memory + offset, bytes, near->mr->lkey,
	};
	struct ibv_send_wr *bad, wr = {
		.sg_list = &sge, .num_sge = 1, .opcode = opcode,
		.wr.rdma = { .remote_addr = (uintptr_t)far->memory,
			     .rkey = far->mr->rkey },
	};
	unsigned int polls = 0;
	struct ibv_wc wc;
	int n, err;

	err = ibv_post_send(near->qp, &wr, &bad);
	if (err)
		die("post: %s", strerror(err));
	do {
		n = ibv_poll_cq(near->cq, 1, &wc);
		if (!n && ++polls > POLLS)
			usleep(20);
	} while (!n);
	if (n < 0)
		die("poll: %s", strerror(-n));
	if (wc.status)
		die("status: %s", ibv_wc_status_str(wc.status));
}

static void run_round(struct end *near, const struct end *far, uint32_t round)
{
	uint32_t i;

	for (i = 0; i < bytes; i++)
		near->memory[i] = round * 31 + i + (i >> 8);
	transfer(near, far, IBV_WR_RDMA_WRITE, 0);
	memset(near->memory + bytes, 0, bytes);
	transfer(near, far, IBV_WR_RDMA_READ, bytes);
	if (memcmp(near->memory, near->memory + bytes, bytes))
		die("round %u: data differ", round);
}

int main(int argc, char **argv)
{
	uint32_t rounds = UINT32_MAX, round;
	struct end near, far;
	double dot = 0;
	int option;

	setvbuf(stdout, NULL, _IONBF, 0);
	while ((option = getopt(argc, argv, "t:r:n:s:")) != -1)
		switch (option) {
		case 't':
			timeout = atoi(optarg);
			break;
		case 'r':
			retries = atoi(optarg);
			break;
		case 'n':
			rounds = atoi(optarg);
			break;
		case 's':
			bytes = atoi(optarg);
			break;
		default:
			return 2;
		}
	if (argc - optind != 4)
		return 2;

	signal(SIGTERM, stop);
	make_end(&near, argv[optind], argv[optind + 1]);
	make_end(&far, argv[optind + 2], argv[optind + 3]);
	connect_end(&near, &far);
	connect_end(&far, &near);

	for (round = 0; round < rounds && !stopped; round++) {
		run_round(&near, &far, round);
		if (!round)
			printf("flows\n");
		if (now() > dot + 0.1) {
			printf(".");
			dot = now();
		}
	}
	printf("\n%u rounds\n", round);
	return 0;
}
