// SPDX-License-Identifier: GPL-2.0
/*
 * A host with the address of the peer, behind another interface, who knows all
 * numbers and keys:
 *
 *	sideways KIND VICTIM GID PEER GID ATTACKER GID
 *
 * KIND is rc, ud or gsi; VICTIM, PEER and ATTACKER are links. Prints "taken" if
 * the victim took what the attacker sent, else "dropped". What the peer sends
 * has to be taken.
 */
#include "../lib/two.h"

#include <unistd.h>

#define QKEY		0x1234
#define GSI_QKEY	0x80010000
#define GRH		40
#define LEN		64

static struct end attacker;

static void open_side(struct end *end, char **args)
{
	open_end(end, args[0], args[1]);
	end->bytes = aligned_alloc(LEN, 2 * LEN);
	EXPECT(end->bytes);
	memset(end->bytes, 0, 2 * LEN);
	end->mr = ibv_reg_mr(end->pd, end->bytes, 2 * LEN, RIGHTS);
	EXPECT(end->mr);
}

static struct ibv_send_wr request(struct end *from, struct ibv_sge *sge)
{
	*sge = (struct ibv_sge) { (uintptr_t)from->bytes, LEN, from->mr->lkey };
	return (struct ibv_send_wr) {
		.sg_list = sge, .num_sge = 1, .send_flags = IBV_SEND_SIGNALED,
	};
}

/* Writes to the memory of the victim; true if it got there. */
static bool writes(struct end *from, const char *text)
{
	struct ibv_send_wr *bad, wr;
	struct ibv_sge sge;

	strcpy((char *)from->bytes, text);
	wr = request(from, &sge);
	wr.opcode = IBV_WR_RDMA_WRITE;
	wr.wr.rdma.remote_addr = (uintptr_t)near.bytes;
	wr.wr.rdma.rkey = near.mr->rkey;
	EXPECT(!ibv_post_send(from->qp, &wr, &bad));
	next_wc(from->cq);
	return !strcmp((char *)near.bytes, text);
}

static void rc(void)
{
	qp_timeout = 14;
	make_qps();
	pd = attacker.pd;
	attacker.qp = make_qp(attacker.cq, 4);
	EXPECT(attacker.qp);
	connect_end(&attacker, &near);
	if (writes(&attacker, "attacker")) {
		printf("taken\n");
		return;
	}
	EXPECT(writes(&far, "peer"));
	printf("dropped\n");
}

static struct ibv_qp *make_ud(struct end *end)
{
	struct ibv_qp_init_attr init = {
		.send_cq = end->cq, .recv_cq = end->cq, .qp_type = IBV_QPT_UD,
		.cap = { .max_send_wr = 4, .max_recv_wr = 4,
			 .max_send_sge = 1, .max_recv_sge = 1 },
	};
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = 1,
				    .qkey = QKEY };

	end->qp = ibv_create_qp(end->pd, &init);
	EXPECT(end->qp);
	EXPECT(!ibv_modify_qp(end->qp, &attr, IBV_QP_STATE | IBV_QP_QKEY |
			      IBV_QP_PKEY_INDEX | IBV_QP_PORT));
	attr.qp_state = IBV_QPS_RTR;
	EXPECT(!ibv_modify_qp(end->qp, &attr, IBV_QP_STATE));
	attr.qp_state = IBV_QPS_RTS;
	EXPECT(!ibv_modify_qp(end->qp, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN));
	return end->qp;
}

static void send_datagram(struct end *from, uint32_t qpn, uint32_t qkey)
{
	struct ibv_ah_attr way = {
		.is_global = 1, .port_num = 1,
		.grh = { .sgid_index = from->gid_index, .hop_limit = 4,
			 .dgid = near.gid },
	};
	struct ibv_send_wr *bad, wr;
	struct ibv_sge sge;

	wr = request(from, &sge);
	wr.opcode = IBV_WR_SEND;
	wr.wr.ud.ah = ibv_create_ah(from->pd, &way);
	wr.wr.ud.remote_qpn = qpn;
	wr.wr.ud.remote_qkey = qkey;
	EXPECT(wr.wr.ud.ah && !ibv_post_send(from->qp, &wr, &bad));
	EXPECT(next_wc(from->cq).status == IBV_WC_SUCCESS);
}

static bool takes_a_datagram(void)
{
	double end = now() + 0.3 * slow();
	struct ibv_wc wc;

	while (now() < end) {
		if (ibv_poll_cq(near.cq, 1, &wc) == 1) {
			EXPECT(wc.status == IBV_WC_SUCCESS);
			return true;
		}
		usleep(1000);
	}
	return false;
}

static void ud(void)
{
	struct ibv_sge sge = { (uintptr_t)near.bytes, GRH + LEN, near.mr->lkey };
	struct ibv_recv_wr *bad, wr = { .sg_list = &sge, .num_sge = 1 };

	make_ud(&near);
	make_ud(&far);
	make_ud(&attacker);
	EXPECT(!ibv_post_recv(near.qp, &wr, &bad));
	send_datagram(&attacker, near.qp->qp_num, QKEY);
	if (takes_a_datagram()) {
		printf("taken\n");
		return;
	}
	send_datagram(&far, near.qp->qp_num, QKEY);
	EXPECT(takes_a_datagram());
	printf("dropped\n");
}

/* What becomes of them the counters of the victim's link tell. */
static void gsi(void)
{
	make_ud(&attacker);
	send_datagram(&attacker, 1, GSI_QKEY);
	usleep(100000 * slow());
}

static const struct test_case cases[] = {
	CASE(rc), CASE(ud), CASE(gsi), { }
};

int main(int argc, char **argv)
{
	if (argc != 8)
		return 2;
	open_side(&near, argv + 2);
	open_side(&far, argv + 4);
	open_side(&attacker, argv + 6);
	return run_case(cases, argv[1]);
}
