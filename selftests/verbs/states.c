// SPDX-License-Identifier: GPL-2.0
/*
 * States of queue pairs that are seldom visited, and what queries say.
 * states.sh builds and runs it:
 *
 *	states DEVICE GID_INDEX CASE
 */
#include <stdbool.h>
#include <unistd.h>

#include "../lib/pair.h"

#define QKEY	0x1234

static unsigned char memory[4096];
static struct ibv_mr *mr;
static struct ibv_ah *ah;

static struct ibv_qp_attr query(struct ibv_qp *qp)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	EXPECT(!ibv_query_qp(qp, &attr, IBV_QP_STATE, &init));
	return attr;
}

static int move(struct ibv_qp *qp, enum ibv_qp_state to)
{
	struct ibv_qp_attr attr = { .qp_state = to };

	return ibv_modify_qp(qp, &attr, IBV_QP_STATE);
}

static int move_from(struct ibv_qp *qp, enum ibv_qp_state from,
		     enum ibv_qp_state to)
{
	struct ibv_qp_attr attr = { .qp_state = to, .cur_qp_state = from };

	return ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_CUR_STATE);
}

/* With a length that no message can have, the kernel finds it wrong at once. */
static void post(struct ibv_qp *qp, uint32_t to, bool right)
{
	struct ibv_sge sge[2] = {
		{ (uintptr_t)memory, right ? 8 : 0x80000000, mr->lkey },
		{ (uintptr_t)memory, right ? 8 : 0x80000000, mr->lkey },
	};
	struct ibv_send_wr wr = {
		.sg_list = sge, .num_sge = 2, .opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_SIGNALED,
	}, *bad;

	if (qp->qp_type == IBV_QPT_UD) {
		wr.wr.ud.ah = ah;
		wr.wr.ud.remote_qpn = to;
		wr.wr.ud.remote_qkey = QKEY;
	}
	EXPECT(!ibv_post_send(qp, &wr, &bad));
}

static struct ibv_qp *make_datagrams(struct ibv_cq *cq)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT, .port_num = 1, .qkey = QKEY,
	};
	struct ibv_qp_init_attr init = {
		.send_cq = cq, .recv_cq = cq, .qp_type = IBV_QPT_UD,
		.cap = { .max_send_wr = 4, .max_recv_wr = 4,
			 .max_send_sge = 2, .max_recv_sge = 2 },
	};
	struct ibv_qp *qp = ibv_create_qp(pd, &init);

	EXPECT(qp);
	EXPECT(!ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX |
			      IBV_QP_PORT | IBV_QP_QKEY));
	attr.qp_state = IBV_QPS_RTR;
	EXPECT(!ibv_modify_qp(qp, &attr, IBV_QP_STATE));
	attr.qp_state = IBV_QPS_RTS;
	EXPECT(!ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN));
	return qp;
}

/* IBTA 10.3.1.6: in SQD nothing is begun, be it right or wrong. */
static void sqd_begins_nothing(void)
{
	struct pair p = make_pair(4);

	EXPECT(!move(p.near, IBV_QPS_SQD));
	post(p.near, 0, false);
	stays_empty(p.near_cq);
	EXPECT(query(p.near).qp_state == IBV_QPS_SQD);
	EXPECT(!query(p.near).sq_draining);
	EXPECT(!move(p.near, IBV_QPS_RTS));
	EXPECT(status(p.near_cq) == IBV_WC_LOC_LEN_ERR);
	EXPECT(query(p.near).qp_state == IBV_QPS_ERR);
}

static void post_read(struct pair *p)
{
	struct ibv_sge sge = { (uintptr_t)memory, 8, mr->lkey };
	struct ibv_send_wr wr = {
		.sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_RDMA_READ,
		.wr.rdma = {
			.remote_addr = (uintptr_t)memory + 64,
			.rkey = mr->rkey,
		},
	}, *bad;

	EXPECT(!ibv_post_send(p->near, &wr, &bad));
}

static int set_reads(struct ibv_qp *qp, unsigned int most)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_SQD, .max_rd_atomic = most,
	};

	return ibv_modify_qp(qp, &attr,
			     IBV_QP_STATE | IBV_QP_MAX_QP_RD_ATOMIC);
}

/* What counts is how many there may be when they are sent, not when posted. */
static void sqd_changes_reads(void)
{
	struct pair p = make_pair(4);

	EXPECT(!move(p.near, IBV_QPS_SQD));
	EXPECT(!set_reads(p.near, 0));
	post_read(&p);
	EXPECT(!set_reads(p.near, 1));
	EXPECT(!move(p.near, IBV_QPS_RTS));
	EXPECT(status(p.near_cq) == IBV_WC_SUCCESS);

	EXPECT(!move(p.near, IBV_QPS_SQD));
	post_read(&p);
	EXPECT(!set_reads(p.near, 0));
	EXPECT(!move(p.near, IBV_QPS_RTS));
	EXPECT(status(p.near_cq) == IBV_WC_LOC_QP_OP_ERR);
	EXPECT(query(p.near).qp_state == IBV_QPS_ERR);
}

static void sqd_begins_no_datagram(void)
{
	struct ibv_cq *cq = ibv_create_cq(ctx, 16, NULL, NULL, 0);
	struct ibv_qp *qp = make_datagrams(cq);

	EXPECT(!move(qp, IBV_QPS_SQD));
	post(qp, qp->qp_num, false);
	post(qp, qp->qp_num, true);
	stays_empty(cq);
	EXPECT(query(qp).qp_state == IBV_QPS_SQD);
	EXPECT(!move(qp, IBV_QPS_RTS));
	EXPECT(status(cq) == IBV_WC_LOC_LEN_ERR);
	EXPECT(status(cq) == IBV_WC_WR_FLUSH_ERR);
	EXPECT(query(qp).qp_state == IBV_QPS_SQE);
}

/* IBTA 10.3.1.5: the consumer says that sending may go on. */
static void sqe_and_back(void)
{
	struct ibv_cq *cq = ibv_create_cq(ctx, 16, NULL, NULL, 0);
	struct ibv_qp *qp = make_datagrams(cq);

	EXPECT(move(qp, IBV_QPS_SQE));
	post(qp, qp->qp_num, false);
	EXPECT(status(cq) == IBV_WC_LOC_LEN_ERR);
	EXPECT(query(qp).qp_state == IBV_QPS_SQE);

	EXPECT(move(qp, IBV_QPS_SQD));
	EXPECT(move_from(qp, IBV_QPS_RTS, IBV_QPS_RTS));
	EXPECT(!move_from(qp, IBV_QPS_SQE, IBV_QPS_RTS));
	post(qp, qp->qp_num, true);
	EXPECT(status(cq) == IBV_WC_SUCCESS);
	EXPECT(query(qp).qp_state == IBV_QPS_RTS);
}

/* A connection has no such state. */
static void no_sqe_of_a_connection(void)
{
	struct pair p = make_pair(4);

	EXPECT(move(p.near, IBV_QPS_SQE));
	EXPECT(!move(p.near, IBV_QPS_SQD));
	EXPECT(move(p.near, IBV_QPS_SQE));
	EXPECT(move_from(p.near, IBV_QPS_SQE, IBV_QPS_RTS));
	EXPECT(move_from(p.near, IBV_QPS_RTS, IBV_QPS_RTS));
	EXPECT(!move_from(p.near, IBV_QPS_SQD, IBV_QPS_RTS));
	EXPECT(!move_from(p.near, IBV_QPS_RTS, IBV_QPS_RTS));
}

static void queries_tell_all(void)
{
	struct ibv_qp_attr rtr = rtr_attr(0), attr;
	struct ibv_qp_init_attr init;
	struct pair p = make_pair(4);

	EXPECT(!ibv_query_qp(p.near, &attr, IBV_QP_STATE, &init));
	EXPECT(attr.qp_state == IBV_QPS_RTS);
	EXPECT(attr.cur_qp_state == IBV_QPS_RTS);
	EXPECT(attr.path_mtu == IBV_MTU_1024);
	EXPECT(attr.path_mig_state == IBV_MIG_MIGRATED);
	EXPECT(attr.dest_qp_num == p.far->qp_num);
	EXPECT(attr.qp_access_flags == RIGHTS);
	EXPECT(!attr.sq_draining && !attr.pkey_index && attr.port_num == 1);
	EXPECT(attr.max_rd_atomic == 4 && attr.max_dest_rd_atomic == 4);
	EXPECT(attr.min_rnr_timer == 1 && attr.timeout == 12);
	EXPECT(attr.retry_cnt == 7 && attr.rnr_retry == 7);
	EXPECT(attr.ah_attr.is_global && attr.ah_attr.port_num == 1);
	EXPECT(!memcmp(&attr.ah_attr.grh.dgid, &rtr.ah_attr.grh.dgid,
		       sizeof(rtr.ah_attr.grh.dgid)));
	EXPECT(attr.ah_attr.grh.sgid_index == gid_index);
	EXPECT(!attr.alt_port_num && !attr.alt_timeout);
	EXPECT(attr.cap.max_send_wr >= 4 && attr.cap.max_recv_wr >= 4);
	EXPECT(init.qp_type == IBV_QPT_RC && init.sq_sig_all);
}

static void reset_forgets(void)
{
	struct pair p = make_pair(4);
	struct ibv_qp_attr attr;

	EXPECT(!move(p.near, IBV_QPS_RESET));
	attr = query(p.near);
	EXPECT(attr.qp_state == IBV_QPS_RESET);
	EXPECT(!attr.dest_qp_num && !attr.qp_access_flags);
	EXPECT(!attr.max_rd_atomic && !attr.max_dest_rd_atomic);
	EXPECT(!attr.timeout && !attr.retry_cnt && !attr.rnr_retry);
	EXPECT(!connect_qp(p.near, p.far->qp_num));
}

static bool is_ipv4(const union ibv_gid *gid)
{
	return gid->raw[10] == 0xff && gid->raw[11] == 0xff;
}

/* That of another kind of address than the present one. */
static int other_gid_index(void)
{
	struct ibv_gid_entry own, other;
	int i;

	EXPECT(!ibv_query_gid_ex(ctx, 1, gid_index, &own, 0));
	for (i = 0; ; i++) {
		EXPECT(i < 64);
		if (!ibv_query_gid_ex(ctx, 1, i, &other, 0) &&
		    other.gid_type == own.gid_type &&
		    is_ipv4(&other.gid) != is_ipv4(&own.gid))
			return i;
	}
}

/* There and back, so that answers of either side arrive, too. */
static void talk(struct pair *p)
{
	struct ibv_sge sge = { (uintptr_t)memory, 8, mr->lkey };
	struct ibv_send_wr wr = {
		.opcode = IBV_WR_RDMA_READ,
		.wr.rdma = { (uintptr_t)memory + 64, mr->rkey },
	};
	int i;

	for (i = 0; i < 3; i++) {
		EXPECT(post_wait(p->near, p->near_cq, wr, sge) ==
		       IBV_WC_SUCCESS);
		EXPECT(post_wait(p->far, p->far_cq, wr, sge) ==
		       IBV_WC_SUCCESS);
	}
}

static void connect_anew(struct pair *p)
{
	EXPECT(!move(p->near, IBV_QPS_RESET));
	EXPECT(!move(p->far, IBV_QPS_RESET));
	EXPECT(!connect_qp(p->near, p->far->qp_num));
	EXPECT(!connect_qp(p->far, p->near->qp_num));
}

/* By addresses of one kind, of the other, and again of the first. */
static void reset_takes_another_way(void)
{
	struct pair p = make_pair(4);
	int first = gid_index, other = other_gid_index();

	talk(&p);
	gid_index = other;
	connect_anew(&p);
	talk(&p);
	gid_index = first;
	connect_anew(&p);
	talk(&p);
}

/* Without a reset, where nothing is under way. */
static void drained_takes_another_way(void)
{
	struct pair p = make_pair(4);
	struct ibv_qp *ends[] = { p.near, p.far };
	struct ibv_qp_attr attr;
	unsigned int i;

	talk(&p);
	gid_index = other_gid_index();
	for (i = 0; i < 2; i++)
		EXPECT(!move(ends[i], IBV_QPS_SQD));
	for (i = 0; i < 2; i++) {
		attr = rtr_attr(0);
		attr.qp_state = IBV_QPS_SQD;
		EXPECT(!ibv_modify_qp(ends[i], &attr,
				      IBV_QP_STATE | IBV_QP_AV));
	}
	for (i = 0; i < 2; i++)
		EXPECT(!move(ends[i], IBV_QPS_RTS));
	talk(&p);
}

/* Another queue pair means another UDP port. */
static void reset_takes_another_peer(void)
{
	struct pair a = make_pair(4), b = make_pair(4);
	struct pair crossed = { a.near_cq, b.far_cq, a.near, b.far };

	talk(&a);
	talk(&b);
	connect_anew(&crossed);
	talk(&crossed);
}

static const struct test_case cases[] = {
	CASE(sqd_begins_nothing),
	CASE(sqd_begins_no_datagram),
	CASE(sqd_changes_reads),
	CASE(sqe_and_back),
	CASE(no_sqe_of_a_connection),
	CASE(queries_tell_all),
	CASE(reset_forgets),
	CASE(reset_takes_another_way),
	CASE(reset_takes_another_peer),
	CASE(drained_takes_another_way),
	{ }
};

int main(int argc, char **argv)
{
	struct ibv_ah_attr attr;

	if (argc != 4)
		return 2;
	open_device(argv[1], argv[2]);
	mr = ibv_reg_mr(pd, memory, sizeof(memory), RIGHTS);
	EXPECT(mr);
	attr = rtr_attr(0).ah_attr;
	ah = ibv_create_ah(pd, &attr);
	EXPECT(ah);
	return run_case(cases, argv[3]);
}
