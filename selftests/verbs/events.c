// SPDX-License-Identifier: GPL-2.0
/*
 * Makes each asynchronous event happen on two connected queue pairs of one
 * device, and waits for it.
 *
 *	events DEV GID CASE	CASE: a row of "cases"
 */
#include <err.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <infiniband/verbs.h>

#include "../lib/number.h"

#define BYTES		4096
#define PATIENCE_MS	20000

static struct ibv_context *ctx;
static struct ibv_pd *pd;
static struct ibv_mr *mr;
static struct ibv_cq *cq[2];
static struct ibv_qp *qp[2];
static union ibv_gid gid;
static int gid_index;
static char buf[2][BYTES];

static struct ibv_async_event wait_event(void)
{
	struct pollfd fd = { .fd = ctx->async_fd, .events = POLLIN };
	struct ibv_async_event event;

	if (poll(&fd, 1, PATIENCE_MS) != 1)
		errx(1, "no event");
	if (ibv_get_async_event(ctx, &event))
		err(1, "ibv_get_async_event");
	printf("event: %s\n", ibv_event_type_str(event.event_type));
	ibv_ack_async_event(&event);
	return event;
}

/* The next event must be this one, of queue pair n. */
static void expect_qp(enum ibv_event_type type, int n)
{
	struct ibv_async_event event = wait_event();

	if (event.event_type != type || event.element.qp != qp[n])
		errx(1, "not %s of QP %d", ibv_event_type_str(type), n);
}

/* Of a port that goes, GIDs may go before. */
static void expect_port(enum ibv_event_type type)
{
	struct ibv_async_event event;

	do {
		event = wait_event();
	} while (event.event_type == IBV_EVENT_GID_CHANGE);
	if (event.event_type != type || event.element.port_num != 1)
		errx(1, "not %s of port 1", ibv_event_type_str(type));
}

static void expect_wc(int n, enum ibv_wc_status status)
{
	struct ibv_wc wc;
	int got, tries;

	for (tries = 0; tries < PATIENCE_MS; tries++) {
		got = ibv_poll_cq(cq[n], 1, &wc);
		if (got)
			break;
		poll(NULL, 0, 1);
	}
	if (got != 1)
		errx(1, "no completion on CQ %d: %d", n, got);
	if (wc.status != status)
		errx(1, "CQ %d: %s, not %s", n, ibv_wc_status_str(wc.status),
		     ibv_wc_status_str(status));
}

static void make_qp(int n, int cqes)
{
	struct ibv_qp_init_attr init = {
		.qp_type = IBV_QPT_RC,
		.sq_sig_all = 1,
		.cap = { .max_send_wr = 64, .max_recv_wr = 64,
			 .max_send_sge = 1, .max_recv_sge = 1 },
	};
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT,
		.port_num = 1,
		.qp_access_flags = IBV_ACCESS_REMOTE_WRITE |
				   IBV_ACCESS_REMOTE_ATOMIC,
	};

	cq[n] = ibv_create_cq(ctx, cqes, NULL, NULL, 0);
	if (!cq[n])
		err(1, "ibv_create_cq");
	init.send_cq = cq[n];
	init.recv_cq = cq[n];
	qp[n] = ibv_create_qp(pd, &init);
	if (!qp[n])
		err(1, "ibv_create_qp");
	if (ibv_modify_qp(qp[n], &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX |
			  IBV_QP_PORT | IBV_QP_ACCESS_FLAGS))
		err(1, "to INIT");
}

static void to_rtr(int n)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTR,
		.path_mtu = IBV_MTU_1024,
		.dest_qp_num = qp[!n]->qp_num,
		.min_rnr_timer = 12,
		.max_dest_rd_atomic = 1,
		.ah_attr = { .is_global = 1, .port_num = 1,
			     .grh = { .dgid = gid, .sgid_index = gid_index,
				      .hop_limit = 64 } },
	};

	if (ibv_modify_qp(qp[n], &attr, IBV_QP_STATE | IBV_QP_AV |
			  IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
			  IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER))
		err(1, "to RTR");
}

static void to_rts(int n)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTS,
		.timeout = 18,
		.retry_cnt = 7,
		.rnr_retry = 7,
		.max_rd_atomic = 1,
	};

	if (ibv_modify_qp(qp[n], &attr, IBV_QP_STATE | IBV_QP_SQ_PSN |
			  IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
			  IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC))
		err(1, "to RTS");
}

static void post_recv(int n, uint32_t len)
{
	struct ibv_sge sge = { (uintptr_t)buf[n], len, mr->lkey };
	struct ibv_recv_wr wr = { .sg_list = &sge, .num_sge = 1 }, *bad;

	if (ibv_post_recv(qp[n], &wr, &bad))
		errx(1, "ibv_post_recv");
}

static void post_send(int n, enum ibv_wr_opcode opcode, uint32_t rkey)
{
	struct ibv_sge sge = { (uintptr_t)buf[n], 100, mr->lkey };
	struct ibv_send_wr wr = {
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = opcode,
		.wr.rdma = { (uintptr_t)buf[!n], rkey },
	}, *bad;

	if (ibv_post_send(qp[n], &wr, &bad))
		errx(1, "ibv_post_send");
}

static void connect_both(void)
{
	to_rtr(0);
	to_rtr(1);
	to_rts(0);
	to_rts(1);
}

static void comm_est(void)
{
	to_rtr(1);
	post_recv(1, BYTES);
	to_rtr(0);
	to_rts(0);
	post_send(0, IBV_WR_SEND, 0);
	expect_qp(IBV_EVENT_COMM_EST, 1);
	to_rts(1);
	expect_wc(1, IBV_WC_SUCCESS);
	expect_wc(0, IBV_WC_SUCCESS);
}

static void sq_drained(void)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_SQD,
		.en_sqd_async_notify = 1,
	};

	connect_both();
	post_send(0, IBV_WR_RDMA_WRITE, mr->rkey);
	if (ibv_modify_qp(qp[0], &attr, IBV_QP_STATE |
			  IBV_QP_EN_SQD_ASYNC_NOTIFY))
		err(1, "to SQD");
	expect_qp(IBV_EVENT_SQ_DRAINED, 0);
	expect_wc(0, IBV_WC_SUCCESS);
	attr.qp_state = IBV_QPS_RTS;
	if (ibv_modify_qp(qp[0], &attr, IBV_QP_STATE))
		err(1, "back to RTS");
	post_send(0, IBV_WR_RDMA_WRITE, mr->rkey);
	expect_wc(0, IBV_WC_SUCCESS);
}

static void access_err(void)
{
	connect_both();
	post_send(0, IBV_WR_RDMA_WRITE, mr->rkey ^ 0xff);
	expect_qp(IBV_EVENT_QP_ACCESS_ERR, 1);
	expect_wc(0, IBV_WC_REM_ACCESS_ERR);
}

/* An atomic on what is not aligned. */
static void req_err(void)
{
	struct ibv_sge sge = { (uintptr_t)buf[0], 8, mr->lkey };
	struct ibv_send_wr wr = {
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD,
		.wr.atomic = { .remote_addr = (uintptr_t)buf[1] + 4,
			       .rkey = mr->rkey },
	}, *bad;

	connect_both();
	if (ibv_post_send(qp[0], &wr, &bad))
		errx(1, "ibv_post_send");
	expect_qp(IBV_EVENT_QP_REQ_ERR, 1);
	expect_wc(0, IBV_WC_REM_INV_REQ_ERR);
}

/* A message longer than its receive: the completions say it, no event does. */
static void long_send(void)
{
	struct pollfd fd = { .fd = ctx->async_fd, .events = POLLIN };

	connect_both();
	post_recv(1, 99);
	post_send(0, IBV_WR_SEND, 0);
	expect_wc(0, IBV_WC_REM_INV_REQ_ERR);
	expect_wc(1, IBV_WC_LOC_LEN_ERR);
	if (poll(&fd, 1, 0))
		errx(1, "%s", ibv_event_type_str(wait_event().event_type));
}

/* More completions than the queue holds; nobody polls. */
static void cq_err(void)
{
	int i, cq_events = 0, qp_events = 0;
	struct ibv_async_event event;

	connect_both();
	for (i = 0; i < 64; i++)
		post_send(0, IBV_WR_RDMA_WRITE, mr->rkey);
	while (!cq_events || !qp_events) {
		event = wait_event();
		if (event.event_type == IBV_EVENT_CQ_ERR &&
		    event.element.cq == cq[0])
			cq_events++;
		else if (event.event_type == IBV_EVENT_QP_FATAL &&
			 event.element.qp == qp[0])
			qp_events++;
		else
			errx(1, "not of this CQ");
	}
}

/* The one who called takes the interface down and up. */
static void port(void)
{
	puts("ready");
	fflush(stdout);
	expect_port(IBV_EVENT_PORT_ERR);
	fflush(stdout);
	expect_port(IBV_EVENT_PORT_ACTIVE);
}

static const struct {
	const char *name;
	void (*run)(void);
} cases[] = {
	{ "comm_est", comm_est },
	{ "sq_drained", sq_drained },
	{ "access_err", access_err },
	{ "req_err", req_err },
	{ "long_send", long_send },
	{ "cq_err", cq_err },
	{ "port", port },
};

static void setup(const char *name)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	int i;

	for (i = 0; list && list[i]; i++)
		if (!strcmp(ibv_get_device_name(list[i]), name))
			ctx = ibv_open_device(list[i]);
	if (!ctx)
		errx(1, "no device %s", name);
	if (ibv_query_gid(ctx, 1, gid_index, &gid))
		err(1, "ibv_query_gid");
	pd = ibv_alloc_pd(ctx);
	mr = pd ? ibv_reg_mr(pd, buf, sizeof(buf), IBV_ACCESS_LOCAL_WRITE |
			     IBV_ACCESS_REMOTE_WRITE |
			     IBV_ACCESS_REMOTE_ATOMIC) : NULL;
	if (!mr)
		err(1, "ibv_reg_mr");
	for (i = 0; i < 2; i++)
		make_qp(i, 8);
}

int main(int argc, char **argv)
{
	size_t i;

	if (argc != 4)
		errx(2, "usage: events DEV GID CASE");
	gid_index = arg_number(argv[2]);
	setup(argv[1]);
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		if (strcmp(cases[i].name, argv[3]))
			continue;
		cases[i].run();
		return 0;
	}
	errx(2, "no case %s", argv[3]);
}
