// SPDX-License-Identifier: GPL-2.0
/*
 * Extended reliable connections of one device with itself. xrc.sh builds and
 * runs it:
 *
 *	xrc DEVICE GID_INDEX CASE
 */
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../lib/doorbell.h"
#include "../lib/pair.h"

#define SLOT		4096
#define SLOTS		16
#define DEPTH		16
#define UNKNOWN		0xfffff0

/* Everybody who knows this file finds the domain. */
#define DOMAIN		"/run/xrc-domain"

static unsigned char memory[SLOTS * SLOT], source[SLOT];
static struct ibv_mr *source_mr;
static struct ibv_xrcd *domain;
static struct ibv_cq *send_cq;

/** struct queue - a shared receive queue and what it lends to the target */
struct queue {
	struct ibv_pd *pd;
	struct ibv_mr *mr;
	struct ibv_cq *cq;
	struct ibv_srq *srq;
	uint32_t number;
};

/** struct link - an initiator and its target */
struct link {
	struct ibv_qp *ini, *tgt;
};

static struct ibv_xrcd *open_domain(struct ibv_context *of, const char *file,
				    int oflags)
{
	struct ibv_xrcd_init_attr attr = {
		.comp_mask = IBV_XRCD_INIT_ATTR_FD |
			     IBV_XRCD_INIT_ATTR_OFLAGS,
		.fd = -1, .oflags = oflags,
	};
	struct ibv_xrcd *xrcd;

	if (file)
		attr.fd = open(file, O_RDWR | O_CREAT, 0600);
	xrcd = ibv_open_xrcd(of, &attr);
	if (file)
		close(attr.fd);
	return xrcd;
}

static struct ibv_srq *try_srq(struct ibv_xrcd *xrcd, struct ibv_pd *of,
			       struct ibv_cq *cq)
{
	struct ibv_srq_init_attr_ex init = {
		.attr = { .max_wr = DEPTH, .max_sge = 2 },
		.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD |
			     IBV_SRQ_INIT_ATTR_XRCD | IBV_SRQ_INIT_ATTR_CQ,
		.srq_type = IBV_SRQT_XRC, .pd = of, .xrcd = xrcd, .cq = cq,
	};

	return ibv_create_srq_ex(of->context, &init);
}

/* All that a process of its own would have. */
static struct queue make_queue_of(struct ibv_context *of, struct ibv_xrcd *xrcd)
{
	struct queue q = { .pd = ibv_alloc_pd(of) };

	EXPECT(q.pd);
	q.mr = ibv_reg_mr(q.pd, memory, sizeof(memory), RIGHTS);
	q.cq = ibv_create_cq(of, 64, NULL, NULL, 0);
	EXPECT(q.mr && q.cq);
	q.srq = try_srq(xrcd, q.pd, q.cq);
	EXPECT(q.srq && !ibv_get_srq_num(q.srq, &q.number));
	EXPECT(q.number && q.number < 1 << 24);
	return q;
}

static struct queue make_queue(void)
{
	return make_queue_of(ctx, domain);
}

static void unmake_queue(struct queue *q)
{
	EXPECT(!ibv_destroy_srq(q->srq) && !ibv_destroy_cq(q->cq));
	EXPECT(!ibv_dereg_mr(q->mr) && !ibv_dealloc_pd(q->pd));
}

static struct ibv_qp *make_ini(void)
{
	struct ibv_qp_init_attr_ex init = {
		.qp_type = IBV_QPT_XRC_SEND, .send_cq = send_cq,
		.sq_sig_all = 1,
		.cap = { .max_send_wr = DEPTH, .max_send_sge = 2,
			 .max_inline_data = 64 },
		.comp_mask = IBV_QP_INIT_ATTR_PD |
			     IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		.send_ops_flags = IBV_QP_EX_WITH_SEND |
				  IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD,
		.pd = pd,
	};

	return ibv_create_qp_ex(ctx, &init);
}

static struct ibv_qp *make_tgt(struct ibv_xrcd *xrcd)
{
	struct ibv_qp_init_attr_ex init = {
		.qp_type = IBV_QPT_XRC_RECV, .xrcd = xrcd,
		.comp_mask = IBV_QP_INIT_ATTR_XRCD,
	};

	return ibv_create_qp_ex(xrcd->context, &init);
}

static void connect_ini(struct ibv_qp *ini, uint32_t tgt)
{
	struct ibv_qp_attr init = init_attr(), rtr = rtr_attr(tgt);
	struct ibv_qp_attr rts = rts_attr();

	EXPECT(!ibv_modify_qp(ini, &init, TO_INIT));
	EXPECT(!ibv_modify_qp(ini, &rtr, IBV_QP_STATE | IBV_QP_AV |
			      IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
			      IBV_QP_RQ_PSN));
	EXPECT(!ibv_modify_qp(ini, &rts, TO_RTS));
}

static void connect_tgt(struct ibv_qp *tgt, uint32_t ini)
{
	struct ibv_qp_attr init = init_attr(), rtr = rtr_attr(ini);
	struct ibv_qp_attr rts = rts_attr();

	EXPECT(!ibv_modify_qp(tgt, &init, TO_INIT));
	EXPECT(!ibv_modify_qp(tgt, &rtr, TO_RTR));
	EXPECT(!ibv_modify_qp(tgt, &rts, IBV_QP_STATE | IBV_QP_TIMEOUT |
			      IBV_QP_SQ_PSN));
}

static struct link make_link(void)
{
	struct link l = { make_ini(), make_tgt(domain) };

	EXPECT(l.ini && l.tgt);
	connect_ini(l.ini, l.tgt->qp_num);
	connect_tgt(l.tgt, l.ini->qp_num);
	return l;
}

static void unmake_link(struct link *l)
{
	EXPECT(!ibv_destroy_qp(l->ini) && !ibv_destroy_qp(l->tgt));
}

static int move_to(struct ibv_qp *qp, enum ibv_qp_state state)
{
	struct ibv_qp_attr attr = { .qp_state = state };

	return ibv_modify_qp(qp, &attr, IBV_QP_STATE);
}

static int try_receive(struct queue *q, uint64_t n)
{
	struct ibv_sge sge = {
		(uintptr_t)memory + n % SLOTS * SLOT, SLOT, q->mr->lkey,
	};
	struct ibv_recv_wr *bad, wr = {
		.wr_id = n, .sg_list = &sge, .num_sge = 1,
	};

	return ibv_post_srq_recv(q->srq, &wr, &bad);
}

/* Receive into slot n, whose number is that of the work request. */
static void receive(struct queue *q, uint64_t n)
{
	EXPECT(!try_receive(q, n));
}

static int try_post(struct ibv_qp *ini, uint32_t number,
		    enum ibv_wr_opcode opcode, uint32_t len, uint64_t to,
		    uint32_t rkey)
{
	struct ibv_sge sge = { (uintptr_t)source, len, source_mr->lkey };
	struct ibv_send_wr *bad, wr = {
		.sg_list = &sge, .num_sge = 1, .opcode = opcode,
		.imm_data = htobe32(0x1234),
		.qp_type.xrc.remote_srqn = number,
	};

	if (opcode == IBV_WR_ATOMIC_FETCH_AND_ADD ||
	    opcode == IBV_WR_ATOMIC_CMP_AND_SWP) {
		wr.wr.atomic.remote_addr = to;
		wr.wr.atomic.rkey = rkey;
		wr.wr.atomic.compare_add = 5;
		wr.wr.atomic.swap = 7;
	} else {
		wr.wr.rdma.remote_addr = to;
		wr.wr.rdma.rkey = rkey;
	}
	return ibv_post_send(ini, &wr, &bad);
}

static void send_to(struct link *l, uint32_t number, uint32_t len)
{
	EXPECT(!try_post(l->ini, number, IBV_WR_SEND, len, 0, 0));
}

/* One-sided: what becomes of it. */
static int access_status(struct link *l, const struct queue *q, uint32_t rkey,
			 enum ibv_wr_opcode opcode, uint32_t len)
{
	EXPECT(!try_post(l->ini, q->number, opcode, len, (uintptr_t)memory,
			 rkey));
	return status(send_cq);
}

static bool is_empty(struct ibv_cq *cq)
{
	struct ibv_wc wc;

	return !ibv_poll_cq(cq, 1, &wc);
}

static struct ibv_async_event next_event(struct ibv_context *of)
{
	struct pollfd fd = { .fd = of->async_fd, .events = POLLIN };
	struct ibv_async_event event;

	EXPECT(poll(&fd, 1, 20000 * slow()) == 1);
	EXPECT(!ibv_get_async_event(of, &event));
	printf("%s\n", ibv_event_type_str(event.event_type));
	ibv_ack_async_event(&event);
	return event;
}

/*
 * Cases
 */

/* Lengths of one packet, of several, and of nothing. */
static void sends(void)
{
	static const uint32_t lens[] = { 0, 1, 1024, 1025, 3001, SLOT };
	struct queue q = make_queue();
	struct link l = make_link();
	struct ibv_wc wc;
	unsigned int i;

	for (i = 0; i < sizeof(lens) / sizeof(lens[0]); i++) {
		memset(memory, 0, sizeof(memory));
		fill(source, SLOT, i);
		receive(&q, i);
		EXPECT(!try_post(l.ini, q.number, i % 2 ? IBV_WR_SEND :
				 IBV_WR_SEND_WITH_IMM, lens[i], 0, 0));
		EXPECT(status(send_cq) == IBV_WC_SUCCESS);

		wc = next_wc(q.cq);
		EXPECT(wc.status == IBV_WC_SUCCESS && wc.wr_id == i);
		EXPECT(wc.opcode == IBV_WC_RECV && wc.byte_len == lens[i]);
		EXPECT(wc.qp_num == l.tgt->qp_num);
		EXPECT(wc.src_qp == l.ini->qp_num);
		EXPECT(!!(wc.wc_flags & IBV_WC_WITH_IMM) == !(i % 2));
		EXPECT(i % 2 || wc.imm_data == htobe32(0x1234));
		EXPECT(is_filled(memory + i * SLOT, lens[i], i));
		EXPECT(!memory[i * SLOT + lens[i]] || lens[i] == SLOT);
	}
	EXPECT(is_empty(q.cq) && is_empty(send_cq));
	unmake_link(&l);
	unmake_queue(&q);
}

static void one_sided(void)
{
	struct queue q = make_queue();
	struct link l = make_link();
	uint64_t *word = (uint64_t *)memory, *got = (uint64_t *)source;
	struct ibv_wc wc;

	fill(source, SLOT, 3);
	EXPECT(!access_status(&l, &q, q.mr->rkey, IBV_WR_RDMA_WRITE, 3001));
	EXPECT(is_filled(memory, 3001, 3) && !memory[3001]);

	fill(memory, SLOT, 4);
	EXPECT(!access_status(&l, &q, q.mr->rkey, IBV_WR_RDMA_READ, SLOT));
	EXPECT(is_filled(source, SLOT, 4));

	*word = 37;
	EXPECT(!access_status(&l, &q, q.mr->rkey,
			      IBV_WR_ATOMIC_FETCH_AND_ADD, 8));
	EXPECT(*word == 42 && *got == 37);
	*word = 5;
	EXPECT(!access_status(&l, &q, q.mr->rkey,
			      IBV_WR_ATOMIC_CMP_AND_SWP, 8));
	EXPECT(*word == 7 && *got == 5);
	EXPECT(!access_status(&l, &q, q.mr->rkey,
			      IBV_WR_ATOMIC_CMP_AND_SWP, 8));
	EXPECT(*word == 7 && *got == 7);

	/* This one uses a receive of the queue, but not its memory. */
	receive(&q, 9);
	fill(source, SLOT, 5);
	EXPECT(!access_status(&l, &q, q.mr->rkey,
			      IBV_WR_RDMA_WRITE_WITH_IMM, 2000));
	wc = next_wc(q.cq);
	EXPECT(wc.status == IBV_WC_SUCCESS && wc.wr_id == 9);
	EXPECT(wc.opcode == IBV_WC_RECV_RDMA_WITH_IMM && wc.byte_len == 2000);
	EXPECT(wc.src_qp == l.ini->qp_num);
	EXPECT(is_filled(memory, 2000, 5));
	unmake_link(&l);
	unmake_queue(&q);
}

static void builder(void)
{
	struct queue a = make_queue(), b = make_queue();
	struct link l = make_link();
	struct ibv_qp_ex *ex = ibv_qp_to_qp_ex(l.ini);
	uint64_t *word = (uint64_t *)memory, *got = (uint64_t *)source;

	*word = 1;
	receive(&a, 1);
	receive(&b, 2);
	ibv_wr_start(ex);
	ibv_wr_send(ex);
	ibv_wr_set_xrc_srqn(ex, b.number);
	ibv_wr_set_sge(ex, source_mr->lkey, (uintptr_t)source, 100);
	ibv_wr_send(ex);
	ibv_wr_set_xrc_srqn(ex, a.number);
	ibv_wr_set_inline_data(ex, source, 10);
	ibv_wr_atomic_fetch_add(ex, a.mr->rkey, (uintptr_t)memory, 2);
	ibv_wr_set_xrc_srqn(ex, a.number);
	ibv_wr_set_sge(ex, source_mr->lkey, (uintptr_t)source, 8);
	EXPECT(!ibv_wr_complete(ex));

	EXPECT(next_wc(b.cq).byte_len == 100 && next_wc(a.cq).byte_len == 10);
	EXPECT(!status(send_cq) && !status(send_cq) && !status(send_cq));
	EXPECT(*word == 3 && *got == 1);
	unmake_link(&l);
	unmake_queue(&a);
	unmake_queue(&b);
}

/* One connection, each message for the queue that it names, in one burst. */
static void several_queues(void)
{
	struct queue q[3] = { make_queue(), make_queue(), make_queue() };
	struct link l = make_link();
	struct ibv_wc wc;
	unsigned int i;

	for (i = 0; i < 12; i++)
		receive(&q[i % 3], i);
	for (i = 0; i < 12; i++)
		send_to(&l, q[i % 3].number, 100 + i * 200);
	for (i = 0; i < 12; i++) {
		EXPECT(status(send_cq) == IBV_WC_SUCCESS);
		wc = next_wc(q[i % 3].cq);
		EXPECT(wc.status == IBV_WC_SUCCESS && wc.wr_id == i);
		EXPECT(wc.byte_len == 100 + i * 200);
	}

	/* One that is empty is waited for, and nothing goes elsewhere. */
	receive(&q[0], 20);
	send_to(&l, q[1].number, 1);
	send_to(&l, q[0].number, 2);
	stays_empty(q[0].cq);
	EXPECT(is_empty(q[1].cq) && is_empty(send_cq));
	receive(&q[1], 21);
	EXPECT(next_wc(q[1].cq).wr_id == 21 && next_wc(q[0].cq).wr_id == 20);
	EXPECT(!status(send_cq) && !status(send_cq));

	for (i = 0; i < 3; i++)
		EXPECT(is_empty(q[i].cq));
	unmake_link(&l);
	for (i = 0; i < 3; i++)
		unmake_queue(&q[i]);
}

/* Whose memory may be reached the queue says that a request names. */
static void protection_domains(void)
{
	static const enum ibv_wr_opcode opcodes[] = {
		IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ,
		IBV_WR_ATOMIC_FETCH_AND_ADD,
	};
	struct queue a = make_queue(), b = make_queue();
	struct link l;
	int i;

	for (i = 0; i < 3; i++) {
		l = make_link();
		EXPECT(access_status(&l, &a, a.mr->rkey, opcodes[i], 8) ==
		       IBV_WC_SUCCESS);
		EXPECT(access_status(&l, &b, b.mr->rkey, opcodes[i], 8) ==
		       IBV_WC_SUCCESS);
		EXPECT(access_status(&l, &b, a.mr->rkey, opcodes[i], 8) ==
		       IBV_WC_REM_ACCESS_ERR);
		EXPECT(next_event(ctx).event_type == IBV_EVENT_QP_ACCESS_ERR);
		EXPECT(next_event(ctx).event_type ==
		       IBV_EVENT_QP_LAST_WQE_REACHED);
		unmake_link(&l);
	}

	/* Nor is that of the initiator's domain, which is of this process. */
	l = make_link();
	EXPECT(access_status(&l, &a, source_mr->rkey, IBV_WR_RDMA_READ, 8) ==
	       IBV_WC_REM_ACCESS_ERR);
	EXPECT(next_event(ctx).event_type == IBV_EVENT_QP_ACCESS_ERR);
	EXPECT(next_event(ctx).event_type == IBV_EVENT_QP_LAST_WQE_REACHED);
	unmake_link(&l);
	unmake_queue(&a);
	unmake_queue(&b);
}

/* Whatever is asked of a queue that the target has not is refused. */
static void expect_astray(uint32_t number, uint32_t rkey)
{
	static const enum ibv_wr_opcode opcodes[] = {
		IBV_WR_SEND, IBV_WR_RDMA_WRITE, IBV_WR_RDMA_WRITE_WITH_IMM,
		IBV_WR_RDMA_READ, IBV_WR_ATOMIC_CMP_AND_SWP,
	};
	struct ibv_async_event event;
	unsigned int i;

	for (i = 0; i < sizeof(opcodes) / sizeof(opcodes[0]); i++) {
		struct link l = make_link();

		memory[0] = 1;
		source[0] = 2;
		EXPECT(!try_post(l.ini, number, opcodes[i], 8,
				 (uintptr_t)memory, rkey));
		EXPECT(status(send_cq) == IBV_WC_REM_ACCESS_ERR);
		EXPECT(memory[0] == 1 && source[0] == 2);

		event = next_event(ctx);
		EXPECT(event.event_type == IBV_EVENT_QP_ACCESS_ERR);
		EXPECT(event.element.qp == l.tgt);
		EXPECT(next_event(ctx).event_type ==
		       IBV_EVENT_QP_LAST_WQE_REACHED);
		unmake_link(&l);
	}
}

static void wrong_numbers(void)
{
	struct ibv_srq_init_attr basic = { .attr = { .max_wr = 1 } };
	struct ibv_xrcd *other = open_domain(ctx, NULL, O_CREAT);
	struct queue q = make_queue(), theirs;
	struct ibv_srq *srq = ibv_create_srq(pd, &basic);
	uint32_t number;

	EXPECT(other && srq);
	theirs = make_queue_of(ctx, other);
	receive(&q, 1);
	receive(&theirs, 2);

	expect_astray(0, q.mr->rkey);
	expect_astray(UNKNOWN, q.mr->rkey);
	expect_astray(theirs.number, theirs.mr->rkey);
	EXPECT(is_empty(q.cq) && is_empty(theirs.cq));

	number = theirs.number;
	unmake_queue(&theirs);
	expect_astray(number, q.mr->rkey);

	/* Others have no number. */
	EXPECT(ibv_get_srq_num(srq, &number) == EOPNOTSUPP);
	EXPECT(!ibv_destroy_srq(srq));
	unmake_queue(&q);
	EXPECT(!ibv_close_xrcd(other));
}

static struct ibv_qp *try_open(struct ibv_xrcd *xrcd, uint32_t qp_num)
{
	struct ibv_qp_open_attr attr = {
		.comp_mask = IBV_QP_OPEN_ATTR_NUM | IBV_QP_OPEN_ATTR_XRCD |
			     IBV_QP_OPEN_ATTR_TYPE,
		.xrcd = xrcd, .qp_num = qp_num, .qp_type = IBV_QPT_XRC_RECV,
	};

	return ibv_open_qp(xrcd->context, &attr);
}

/* Another context, as another process would have it, shares the target. */
static void shared_target(void)
{
	struct ibv_context *second = ibv_open_device(ctx->device);
	struct ibv_xrcd *same = open_domain(second, DOMAIN, O_CREAT);
	struct queue q = make_queue(), theirs;
	struct link l = make_link();
	struct ibv_async_event event;
	struct ibv_qp *handle;
	uint32_t number = l.tgt->qp_num;

	EXPECT(second && same);
	theirs = make_queue_of(second, same);
	handle = try_open(same, number);
	EXPECT(handle && handle->qp_num == number);
	EXPECT(!try_open(same, l.ini->qp_num) && errno == EINVAL);

	receive(&theirs, 1);
	send_to(&l, theirs.number, 10);
	EXPECT(next_wc(theirs.cq).qp_num == number && !status(send_cq));

	/* It lives as long as somebody has it. */
	EXPECT(!ibv_destroy_qp(l.tgt));
	receive(&q, 2);
	send_to(&l, q.number, 10);
	EXPECT(next_wc(q.cq).wr_id == 2 && !status(send_cq));
	EXPECT(!ibv_destroy_qp(handle) && !ibv_destroy_qp(l.ini));
	EXPECT(!try_open(domain, number) && errno == EINVAL);

	/*
	 * Whoever has it may end it, and who created it hears of that; uverbs
	 * gives other handles no file for events.
	 */
	l = make_link();
	handle = try_open(same, l.tgt->qp_num);
	EXPECT(handle && !move_to(handle, IBV_QPS_ERR));
	event = next_event(ctx);
	EXPECT(event.event_type == IBV_EVENT_QP_LAST_WQE_REACHED);
	EXPECT(event.element.qp == l.tgt);
	EXPECT(!ibv_destroy_qp(handle));
	unmake_link(&l);

	unmake_queue(&theirs);
	unmake_queue(&q);
	EXPECT(!ibv_close_xrcd(same) && !ibv_close_device(second));
}

/* A process that only receives: prints its number, and a message's length. */
static int serve(const char *device, const char *gid, int to)
{
	struct ibv_xrcd *same;
	struct queue q;

	open_device(device, gid);
	same = open_domain(ctx, DOMAIN, O_CREAT);
	EXPECT(same);
	q = make_queue_of(ctx, same);
	receive(&q, 1);
	EXPECT(write(to, &q.number, sizeof(q.number)) == sizeof(q.number));
	EXPECT(next_wc(q.cq).byte_len == 2222);
	EXPECT(is_filled(memory + SLOT, 2222, 6));

	/* It ends as it likes. */
	_exit(0);
}

static void another_process(int from)
{
	struct link l = make_link();
	uint32_t number;
	int exited;

	EXPECT(read(from, &number, sizeof(number)) == sizeof(number));
	fill(source, SLOT, 6);
	send_to(&l, number, 2222);
	EXPECT(status(send_cq) == IBV_WC_SUCCESS);
	EXPECT(wait(&exited) > 0 && !exited);

	/* Its queue went with it. */
	send_to(&l, number, 1);
	EXPECT(status(send_cq) == IBV_WC_REM_ACCESS_ERR);
	unmake_link(&l);
}

static void busy_objects(void)
{
	struct queue q = make_queue();
	struct ibv_qp *tgt;

	EXPECT(ibv_close_xrcd(domain) == EBUSY);
	EXPECT(ibv_destroy_cq(q.cq) == EBUSY);
	EXPECT(ibv_dealloc_pd(q.pd) == EBUSY);
	unmake_queue(&q);

	tgt = make_tgt(domain);
	EXPECT(tgt && ibv_close_xrcd(domain) == EBUSY);
	EXPECT(!ibv_destroy_qp(tgt));
	EXPECT(!ibv_close_xrcd(domain));
	domain = open_domain(ctx, DOMAIN, O_CREAT);
	EXPECT(domain);
}

static int ring(struct ibv_qp *qp)
{
	return ring_doorbell_of(ctx->cmd_fd, qp->handle) ? errno : 0;
}

static void bad_input(void)
{
	struct ibv_srq_init_attr_ex tags = {
		.attr = { .max_wr = 1 }, .pd = pd, .cq = send_cq,
		.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD |
			     IBV_SRQ_INIT_ATTR_TM | IBV_SRQ_INIT_ATTR_CQ,
		.srq_type = IBV_SRQT_TM, .tm_cap.max_num_tags = 1,
	};
	struct ibv_srq_init_attr_ex half = {
		.attr = { .max_wr = 1 }, .pd = pd, .cq = send_cq,
		.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD |
			     IBV_SRQ_INIT_ATTR_CQ,
		.srq_type = IBV_SRQT_XRC,
	};
	struct ibv_qp_init_attr_ex none = {
		.qp_type = IBV_QPT_XRC_RECV, .comp_mask = IBV_QP_INIT_ATTR_PD,
		.pd = pd,
	};
	struct ibv_xrcd_init_attr nameless = { };
	struct ibv_recv_wr recv = { }, *bad;
	struct link l = make_link();

	EXPECT(!ibv_open_xrcd(ctx, &nameless));
	EXPECT(!open_domain(ctx, DOMAIN, O_CREAT | O_EXCL));
	EXPECT(!open_domain(ctx, "/run/xrc-nobody", 0));
	EXPECT(!ibv_create_srq_ex(ctx, &tags) && errno == EOPNOTSUPP);
	EXPECT(!ibv_create_srq_ex(ctx, &half) && errno == EINVAL);
	EXPECT(!ibv_create_qp_ex(ctx, &none) && errno == EINVAL);

	EXPECT(ibv_post_recv(l.ini, &recv, &bad) == EINVAL && bad == &recv);
	EXPECT(ibv_post_recv(l.tgt, &recv, &bad) == EINVAL);
	EXPECT(try_post(l.tgt, 1, IBV_WR_SEND, 1, 0, 0) == EINVAL);

	/* And past the library. */
	EXPECT(!ring(l.ini));
	EXPECT(ring(l.tgt) == EINVAL);
	unmake_link(&l);
}

static void queries(void)
{
	struct ibv_qp_init_attr init;
	struct ibv_device_attr device;
	struct ibv_srq_attr shared;
	struct queue q = make_queue();
	struct link l = make_link();
	struct ibv_qp_attr attr;

	EXPECT(!ibv_query_device(ctx, &device));
	EXPECT(device.device_cap_flags & IBV_DEVICE_XRC);

	EXPECT(!ibv_query_qp(l.ini, &attr, IBV_QP_STATE | IBV_QP_CAP |
			     IBV_QP_DEST_QPN, &init));
	EXPECT(attr.qp_state == IBV_QPS_RTS);
	EXPECT(attr.dest_qp_num == l.tgt->qp_num);
	EXPECT(attr.cap.max_send_wr >= DEPTH && attr.cap.max_send_sge >= 2);
	EXPECT(!attr.cap.max_recv_wr && !attr.cap.max_recv_sge);

	EXPECT(!ibv_query_qp(l.tgt, &attr, IBV_QP_STATE | IBV_QP_CAP |
			     IBV_QP_DEST_QPN, &init));
	EXPECT(attr.qp_state == IBV_QPS_RTS);
	EXPECT(attr.dest_qp_num == l.ini->qp_num);
	EXPECT(!attr.cap.max_send_wr && !attr.cap.max_recv_wr);
	EXPECT(!attr.cap.max_send_sge && !attr.cap.max_recv_sge);

	EXPECT(!ibv_query_srq(q.srq, &shared));
	EXPECT(shared.max_wr >= DEPTH && shared.max_sge >= 2);
	unmake_link(&l);
	unmake_queue(&q);
}

/* A target that was reset is as good as new. */
static void again(void)
{
	struct queue q = make_queue();
	struct link l = make_link();
	int i;

	for (i = 0; i < 3; i++) {
		receive(&q, i);
		send_to(&l, q.number, 3000);
		EXPECT(!status(send_cq) && next_wc(q.cq).wr_id == (unsigned)i);

		EXPECT(!move_to(l.ini, IBV_QPS_RESET));
		EXPECT(!move_to(l.tgt, IBV_QPS_RESET));
		connect_ini(l.ini, l.tgt->qp_num);
		connect_tgt(l.tgt, l.ini->qp_num);
	}
	unmake_link(&l);
	unmake_queue(&q);
}

/* A target has nothing to drain; what it receives goes on. */
static void target_drains(void)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_SQD, .en_sqd_async_notify = 1,
	};
	struct pollfd events = { .fd = ctx->async_fd, .events = POLLIN };
	struct queue q = make_queue();
	struct link l = make_link();
	struct ibv_qp_init_attr init;
	struct ibv_async_event event;

	EXPECT(!ibv_modify_qp(l.tgt, &attr, IBV_QP_STATE |
			      IBV_QP_EN_SQD_ASYNC_NOTIFY));
	EXPECT(poll(&events, 1, 5000 * slow()) == 1);
	EXPECT(!ibv_get_async_event(ctx, &event));
	EXPECT(event.event_type == IBV_EVENT_SQ_DRAINED);
	EXPECT(event.element.qp == l.tgt);
	ibv_ack_async_event(&event);
	EXPECT(!ibv_query_qp(l.tgt, &attr, IBV_QP_STATE, &init));
	EXPECT(attr.qp_state == IBV_QPS_SQD && !attr.sq_draining);
	receive(&q, 0);
	send_to(&l, q.number, 3000);
	EXPECT(!status(send_cq) && !next_wc(q.cq).status);
	EXPECT(!move_to(l.tgt, IBV_QPS_RTS));
	unmake_link(&l);
	unmake_queue(&q);
}

/* They are the queue's, which may be another process's. */
static void completions_stay(void)
{
	struct queue q = make_queue();
	unsigned int i;

	for (i = 0; i < 2; i++) {
		struct link l = make_link();
		struct ibv_wc wc;

		receive(&q, i);
		send_to(&l, q.number, 10);
		EXPECT(!status(send_cq));
		EXPECT(!move_to(l.tgt, IBV_QPS_RESET));
		EXPECT(!i || !ibv_destroy_qp(l.tgt));
		wc = next_wc(q.cq);
		EXPECT(!wc.status && wc.wr_id == i && wc.byte_len == 10);
		EXPECT(i || !ibv_destroy_qp(l.tgt));
		EXPECT(!ibv_destroy_qp(l.ini));
	}
	EXPECT(is_empty(q.cq));
	unmake_queue(&q);
}

static void limit(void)
{
	struct ibv_srq_attr attr = { .srq_limit = 2 };
	struct queue q = make_queue();
	struct link l = make_link();
	struct ibv_async_event event;

	receive(&q, 1);
	receive(&q, 2);
	EXPECT(!ibv_modify_srq(q.srq, &attr, IBV_SRQ_LIMIT));
	send_to(&l, q.number, 1);
	event = next_event(ctx);
	EXPECT(event.event_type == IBV_EVENT_SRQ_LIMIT_REACHED);
	EXPECT(event.element.srq == q.srq);
	EXPECT(!status(send_cq) && !status(q.cq));

	attr.max_wr = 64;
	EXPECT(!ibv_modify_srq(q.srq, &attr, IBV_SRQ_MAX_WR));
	send_to(&l, q.number, 1);
	EXPECT(!status(send_cq) && next_wc(q.cq).wr_id == 2);
	unmake_link(&l);
	unmake_queue(&q);
}

/** struct pounding - messages for a queue until one fails */
struct pounding {
	struct link *link;
	uint32_t number;
	int status;
};

static void *pound(void *arg)
{
	struct pounding *p = arg;
	struct ibv_wc wc;
	int i;

	for (i = 0; i < 4; i++)
		send_to(p->link, p->number, SLOT);
	do {
		while (!ibv_poll_cq(send_cq, 1, &wc))
			;
		p->status = wc.status;
		if (!p->status)
			send_to(p->link, p->number, SLOT);
	} while (!p->status);
	return NULL;
}

/* Queues go while messages for them are under way. */
static void queue_goes_under_traffic(void)
{
	int round, i;

	for (round = 0; round < 20; round++) {
		struct queue q = make_queue();
		struct link l = make_link();
		struct pounding p = { .link = &l, .number = q.number };
		pthread_t thread;
		double end;

		for (i = 0; i < DEPTH; i++)
			receive(&q, i);
		EXPECT(!pthread_create(&thread, NULL, pound, &p));

		/* Posted again as they complete, for a while. */
		for (end = now() + 0.002 * round; now() < end; ) {
			struct ibv_wc wc;

			if (ibv_poll_cq(q.cq, 1, &wc))
				EXPECT(!wc.status && !try_receive(&q, wc.wr_id));
		}
		EXPECT(!ibv_destroy_srq(q.srq));
		EXPECT(!pthread_join(thread, NULL));
		EXPECT(p.status == IBV_WC_REM_ACCESS_ERR);
		while (!is_empty(send_cq))
			;
		EXPECT(!ibv_destroy_qp(l.ini));
		while (next_event(ctx).event_type !=
		       IBV_EVENT_QP_LAST_WQE_REACHED)
			;
		EXPECT(!ibv_destroy_qp(l.tgt));
		EXPECT(!ibv_destroy_cq(q.cq) && !ibv_dereg_mr(q.mr) &&
		       !ibv_dealloc_pd(q.pd));
	}
}

/* Something to look at from outside. */
static void sleep_with_all(void)
{
	struct queue q = make_queue();
	struct link l = make_link();

	receive(&q, 1);
	receive(&q, 2);
	send_to(&l, q.number, 1);
	EXPECT(!status(send_cq));
	printf("%u %u\n", l.ini->qp_num, l.tgt->qp_num);
	pause();
}

static const struct test_case cases[] = {
	CASE(sends),
	CASE(one_sided),
	CASE(builder),
	CASE(several_queues),
	CASE(protection_domains),
	CASE(wrong_numbers),
	CASE(shared_target),
	CASE(busy_objects),
	CASE(bad_input),
	CASE(queries),
	CASE(again),
	CASE(target_drains),
	CASE(completions_stay),
	CASE(limit),
	CASE(queue_goes_under_traffic),
	{ "sleep", sleep_with_all },
	{ }
};

int main(int argc, char **argv)
{
	int ends[2];
	bool forks;

	if (argc != 4)
		return 2;
	forks = !strcmp(argv[3], "another_process");
	EXPECT(!pipe(ends));
	if (forks && !fork())
		return serve(argv[1], argv[2], ends[1]);

	open_device(argv[1], argv[2]);
	domain = open_domain(ctx, DOMAIN, O_CREAT);
	source_mr = ibv_reg_mr(pd, source, sizeof(source), RIGHTS);
	send_cq = ibv_create_cq(ctx, 64, NULL, NULL, 0);
	EXPECT(domain && source_mr && send_cq);
	if (forks) {
		another_process(ends[0]);
		return 0;
	}
	if (run_case(cases, argv[3]))
		return 2;
	EXPECT(!ibv_destroy_cq(send_cq) && !ibv_dereg_mr(source_mr));
	EXPECT(!ibv_close_xrcd(domain) && !ibv_dealloc_pd(pd));
	EXPECT(!ibv_close_device(ctx));
	return 0;
}
