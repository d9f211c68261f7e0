// SPDX-License-Identifier: GPL-2.0
/*
 * Unreliable connections, datagrams and multicast between queue pairs of one
 * device. unreliable.sh builds and runs it:
 *
 *	unreliable DEVICE GID_INDEX CASE
 */
#include <arpa/inet.h>
#include <linux/capability.h>
#include <stdbool.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../lib/pair.h"

#define QKEY	0x1234
#define GRH	40
#define DEPTH	8
#define LEN	5000

static unsigned char memory[4 * 8192];
static unsigned char *const source = memory, *const target = memory + 8192;
static struct ibv_mr *mr;

static enum ibv_qp_state state(struct ibv_qp *qp)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	EXPECT(!ibv_query_qp(qp, &attr, IBV_QP_STATE, &init));
	return attr.qp_state;
}

static void fill_source(unsigned int seed)
{
	size_t i;

	for (i = 0; i < 8192; i++)
		source[i] = i * 7 + (i >> 8) + seed;
	memset(target, 0, 8192);
}

static void post_recv(struct ibv_qp *qp, void *to, uint32_t len)
{
	struct ibv_sge sge = { (uintptr_t)to, len, mr->lkey };
	struct ibv_recv_wr wr = { .sg_list = &sge, .num_sge = 1 }, *bad;

	EXPECT(!ibv_post_recv(qp, &wr, &bad));
}

static struct ibv_qp *create(enum ibv_qp_type type, struct ibv_cq *cq)
{
	struct ibv_qp_init_attr_ex init = {
		.send_cq = cq, .recv_cq = cq, .qp_type = type, .sq_sig_all = 1,
		.cap = { .max_send_wr = DEPTH, .max_recv_wr = DEPTH,
			 .max_send_sge = 2, .max_recv_sge = 2,
			 .max_inline_data = 64 },
		.comp_mask = IBV_QP_INIT_ATTR_PD |
			     IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		.pd = pd,
		.send_ops_flags = IBV_QP_EX_WITH_SEND |
				  IBV_QP_EX_WITH_SEND_WITH_IMM,
	};
	struct ibv_qp *qp;

	if (type == IBV_QPT_UC)
		init.send_ops_flags |= IBV_QP_EX_WITH_RDMA_WRITE |
				       IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM;
	qp = ibv_create_qp_ex(ctx, &init);
	EXPECT(qp);
	return qp;
}

/*
 * Unreliable connections.
 */

static void connect_from_last_psn(struct ibv_qp *qp, uint32_t peer)
{
	struct ibv_qp_attr init = init_attr(), rtr = rtr_attr(peer);
	struct ibv_qp_attr rts = { .qp_state = IBV_QPS_RTS };

	/* Soon PSNs come round. */
	rtr.rq_psn = 0xfffffe;
	rts.sq_psn = 0xfffffe;
	EXPECT(ibv_modify_qp(qp, &rtr, UC_TO_RTR));
	EXPECT(!ibv_modify_qp(qp, &init, TO_INIT));
	EXPECT(ibv_modify_qp(qp, &rtr, TO_RTR) == EINVAL);
	EXPECT(!ibv_modify_qp(qp, &rtr, UC_TO_RTR));
	EXPECT(!ibv_modify_qp(qp, &rts, UC_TO_RTS));
}

static struct pair make_uc(void)
{
	struct pair p;

	p.near_cq = ibv_create_cq(ctx, 2 * DEPTH, NULL, NULL, 0);
	p.far_cq = ibv_create_cq(ctx, 2 * DEPTH, NULL, NULL, 0);
	EXPECT(p.near_cq && p.far_cq);
	p.near = create(IBV_QPT_UC, p.near_cq);
	p.far = create(IBV_QPT_UC, p.far_cq);
	connect_from_last_psn(p.near, p.far->qp_num);
	connect_from_last_psn(p.far, p.near->qp_num);
	return p;
}

static void send_uc(struct pair *p, enum ibv_wr_opcode opcode, uint32_t len,
		    uint32_t rkey, unsigned int flags)
{
	struct ibv_sge sge = { (uintptr_t)source, len, mr->lkey };
	struct ibv_send_wr wr = {
		.sg_list = &sge, .num_sge = 1, .opcode = opcode,
		.send_flags = flags, .imm_data = htonl(0x11223344),
		.wr.rdma = { (uintptr_t)target, rkey },
	}, *bad;

	EXPECT(!ibv_post_send(p->near, &wr, &bad));
	EXPECT(status(p->near_cq) == IBV_WC_SUCCESS);
}

static void received(struct pair *p, enum ibv_wc_opcode opcode, uint32_t len,
		     bool imm)
{
	struct ibv_wc wc = next_wc(p->far_cq);

	EXPECT(wc.status == IBV_WC_SUCCESS && wc.opcode == opcode);
	EXPECT(wc.byte_len == len && wc.qp_num == p->far->qp_num);
	EXPECT(!!(wc.wc_flags & IBV_WC_WITH_IMM) == imm);
	EXPECT(!imm || wc.imm_data == htonl(0x11223344));
	EXPECT(!memcmp(source, target, len));
}

static void uc_operations(void)
{
	static const uint32_t lens[] = { 0, 1, 1023, 1024, 1025, LEN };
	struct pair p = make_uc();
	struct ibv_qp_ex *ex = ibv_qp_to_qp_ex(p.near);
	unsigned int i;

	for (i = 0; i < sizeof(lens) / sizeof(lens[0]); i++) {
		fill_source(i);
		post_recv(p.far, target, LEN);
		send_uc(&p, IBV_WR_SEND, lens[i], 0, 0);
		received(&p, IBV_WC_RECV, lens[i], false);
		fill_source(i + 100);
		post_recv(p.far, NULL, 0);
		send_uc(&p, IBV_WR_RDMA_WRITE_WITH_IMM, lens[i], mr->rkey, 0);
		received(&p, IBV_WC_RECV_RDMA_WITH_IMM, lens[i], true);
	}

	fill_source(7);
	post_recv(p.far, target, LEN);
	send_uc(&p, IBV_WR_SEND_WITH_IMM, 60, 0, IBV_SEND_INLINE);
	received(&p, IBV_WC_RECV, 60, true);

	fill_source(8);
	post_recv(p.far, NULL, 0);
	ibv_wr_start(ex);
	ibv_wr_rdma_write(ex, mr->rkey, (uintptr_t)target);
	ibv_wr_set_sge(ex, mr->lkey, (uintptr_t)source, LEN);
	ibv_wr_rdma_write_imm(ex, mr->rkey, (uintptr_t)target,
			      htonl(0x11223344));
	ibv_wr_set_inline_data(ex, source, 8);
	EXPECT(!ibv_wr_complete(ex));
	EXPECT(status(p.near_cq) == IBV_WC_SUCCESS);
	EXPECT(status(p.near_cq) == IBV_WC_SUCCESS);
	received(&p, IBV_WC_RECV_RDMA_WITH_IMM, 8, true);
	EXPECT(!memcmp(source, target, LEN));
	unmake_pair(&p);
}

/* What the peer does wrong is lost, and nobody hears of it (IBTA 9.8.3). */
static void uc_drops_in_silence(void)
{
	struct pair p = make_uc();

	fill_source(1);
	send_uc(&p, IBV_WR_SEND, LEN, 0, 0);
	send_uc(&p, IBV_WR_RDMA_WRITE, LEN, mr->rkey ^ 0x55, 0);
	send_uc(&p, IBV_WR_RDMA_WRITE_WITH_IMM, 4, mr->rkey, 0);
	post_recv(p.far, target, 2000);
	send_uc(&p, IBV_WR_SEND, LEN, 0, 0);
	stays_empty(p.far_cq);

	/* The receive that was too short waits for the next message. */
	fill_source(2);
	send_uc(&p, IBV_WR_SEND, 2000, 0, 0);
	received(&p, IBV_WC_RECV, 2000, false);
	EXPECT(state(p.near) == IBV_QPS_RTS && state(p.far) == IBV_QPS_RTS);
	unmake_pair(&p);
}

/* IBTA 10.3.1.5: the send side stops, and goes on when told to. */
static void uc_sqe_and_back(void)
{
	struct ibv_qp_attr on = {
		.qp_state = IBV_QPS_RTS, .cur_qp_state = IBV_QPS_SQE,
	};
	struct pair p = make_uc();
	struct ibv_sge sge[2] = {
		{ (uintptr_t)source, 2048, mr->lkey },
		{ (uintptr_t)source, 8, mr->lkey ^ 0x55 },
	};
	struct ibv_send_wr good = {
		.sg_list = sge, .num_sge = 1, .opcode = IBV_WR_SEND,
	}, *no;
	struct ibv_send_wr bad = {
		.sg_list = sge, .num_sge = 2, .opcode = IBV_WR_SEND,
		.next = &good,
	};

	EXPECT(!ibv_post_send(p.near, &bad, &no));
	EXPECT(status(p.near_cq) == IBV_WC_LOC_PROT_ERR);
	EXPECT(status(p.near_cq) == IBV_WC_WR_FLUSH_ERR);
	EXPECT(state(p.near) == IBV_QPS_SQE);

	/* Receiving goes on meanwhile. */
	fill_source(3);
	post_recv(p.near, target, LEN);
	EXPECT(!ibv_post_send(p.far, &good, &no));
	EXPECT(status(p.far_cq) == IBV_WC_SUCCESS);
	EXPECT(status(p.near_cq) == IBV_WC_SUCCESS);
	EXPECT(!memcmp(source, target, 2048));

	EXPECT(!ibv_modify_qp(p.near, &on, IBV_QP_STATE | IBV_QP_CUR_STATE));
	post_recv(p.far, target, LEN);
	send_uc(&p, IBV_WR_SEND, LEN, 0, 0);
	received(&p, IBV_WC_RECV, LEN, false);
	unmake_pair(&p);
}

/*
 * Datagrams.
 */

struct datagrams {
	struct ibv_cq *cq;
	struct ibv_qp *qp;
};

static struct datagrams make_ud(void)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT, .port_num = 1, .qkey = QKEY,
	};
	struct datagrams d;

	d.cq = ibv_create_cq(ctx, 2 * DEPTH, NULL, NULL, 0);
	EXPECT(d.cq);
	d.qp = create(IBV_QPT_UD, d.cq);
	EXPECT(!ibv_modify_qp(d.qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX |
			      IBV_QP_PORT | IBV_QP_QKEY));
	attr.qp_state = IBV_QPS_RTR;
	EXPECT(!ibv_modify_qp(d.qp, &attr, IBV_QP_STATE));
	attr.qp_state = IBV_QPS_RTS;
	EXPECT(!ibv_modify_qp(d.qp, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN));
	return d;
}

static void unmake_ud(struct datagrams *d)
{
	EXPECT(!ibv_destroy_qp(d->qp) && !ibv_destroy_cq(d->cq));
}

static struct ibv_ah *make_ah(const union ibv_gid *to)
{
	struct ibv_ah_attr attr = rtr_attr(0).ah_attr;
	struct ibv_ah *ah;

	if (to)
		attr.grh.dgid = *to;
	ah = ibv_create_ah(pd, &attr);
	EXPECT(ah);
	return ah;
}

static void send_ud(struct datagrams *from, struct ibv_ah *ah, uint32_t to,
		    uint32_t qkey, uint32_t len)
{
	struct ibv_qp_ex *ex = ibv_qp_to_qp_ex(from->qp);

	ibv_wr_start(ex);
	ibv_wr_send_imm(ex, htonl(len));
	ibv_wr_set_ud_addr(ex, ah, to, qkey);
	ibv_wr_set_sge(ex, mr->lkey, (uintptr_t)source, len);
	EXPECT(!ibv_wr_complete(ex));
	EXPECT(status(from->cq) == IBV_WC_SUCCESS);
}

static void ud_received(struct datagrams *d, uint32_t from, uint32_t len)
{
	struct ibv_wc wc = next_wc(d->cq);

	EXPECT(wc.status == IBV_WC_SUCCESS && wc.opcode == IBV_WC_RECV);
	EXPECT(wc.byte_len == len + GRH && wc.src_qp == from);
	EXPECT(wc.wc_flags == (IBV_WC_GRH | IBV_WC_WITH_IMM));
	EXPECT(wc.imm_data == htonl(len));
	/* As mlx5 says it: UDP, and IPv6 or IPv4. UCX reads no other. */
	EXPECT(wc.sl == (target[0] >> 4 == 6 ? 9 : 10));
	EXPECT(!memcmp(source, target + GRH, len));
}

static uint32_t active_mtu(void)
{
	struct ibv_port_attr port;

	EXPECT(!ibv_query_port(ctx, 1, &port));
	return 128 << port.active_mtu;
}

static void ud_operations(void)
{
	struct datagrams near = make_ud(), far = make_ud();
	struct ibv_ah *ah = make_ah(NULL), *back;
	uint32_t mtu = active_mtu(), len;
	struct ibv_wc wc = { .wc_flags = IBV_WC_GRH };

	for (len = 0; len <= mtu; len += len < 4 ? 1 : (mtu - 4) / 4) {
		fill_source(len);
		post_recv(far.qp, target, mtu + GRH);
		send_ud(&near, ah, far.qp->qp_num, QKEY, len);
		ud_received(&far, near.qp->qp_num, len);
	}

	/* From what came in front of it an answer finds its way. */
	wc.src_qp = near.qp->qp_num;
	back = ibv_create_ah_from_wc(pd, &wc, (struct ibv_grh *)target, 1);
	EXPECT(back);
	post_recv(near.qp, target, mtu + GRH);
	send_ud(&far, back, near.qp->qp_num, QKEY, 100);
	ud_received(&near, far.qp->qp_num, 100);
	EXPECT(!ibv_destroy_ah(ah) && !ibv_destroy_ah(back));
	unmake_ud(&near);
	unmake_ud(&far);
}

static void ud_drops_in_silence(void)
{
	struct datagrams near = make_ud(), far = make_ud();
	struct ibv_ah *ah = make_ah(NULL);

	fill_source(1);
	send_ud(&near, ah, far.qp->qp_num, QKEY, 8);
	post_recv(far.qp, target, 200 + GRH);
	send_ud(&near, ah, far.qp->qp_num, QKEY + 1, 8);
	send_ud(&near, ah, far.qp->qp_num, QKEY, 201);
	stays_empty(far.cq);

	/* The sender's own Q_Key (IBTA 10.2.5). */
	send_ud(&near, ah, far.qp->qp_num, 0x80000000, 200);
	ud_received(&far, near.qp->qp_num, 200);
	EXPECT(!ibv_destroy_ah(ah));
	unmake_ud(&near);
	unmake_ud(&far);
}

static void give_up_raw(void)
{
	struct __user_cap_header_struct hdr = {
		.version = _LINUX_CAPABILITY_VERSION_3,
	};
	struct __user_cap_data_struct data[2];

	EXPECT(!syscall(SYS_capget, &hdr, data));
	data[0].effective &= ~(1U << CAP_NET_RAW);
	EXPECT(!syscall(SYS_capset, &hdr, data));
}

/*
 * To an address that the test has netfilter refuse: these are lost, each of them
 * completes, and who is sent to next does not wait for it.
 */
static void ud_refused_delay_nobody(void)
{
	struct datagrams near = make_ud(), far = make_ud();
	union ibv_gid refused = rtr_attr(0).ah_attr.grh.dgid;
	struct ibv_ah *ah = make_ah(NULL), *nowhere;
	unsigned int i;

	refused.raw[15] = 99;
	nowhere = make_ah(&refused);
	fill_source(1);
	post_recv(far.qp, target, 100 + GRH);
	alarm(10);
	for (i = 0; i < 2000; i++)
		send_ud(&near, nowhere, far.qp->qp_num, QKEY, 100);
	send_ud(&near, ah, far.qp->qp_num, QKEY, 100);
	ud_received(&far, near.qp->qp_num, 100);
	alarm(0);
	EXPECT(!ibv_destroy_ah(ah) && !ibv_destroy_ah(nowhere));
	unmake_ud(&near);
	unmake_ud(&far);
}

static bool is_ipv4(const union ibv_gid *gid)
{
	return !memcmp(gid->raw, "\0\0\0\0\0\0\0\0\0\0\xff\xff", 12);
}

/* The index of a GID of the other family than the device's that was named. */
static int other_gid(union ibv_gid *gid)
{
	union ibv_gid first;
	int i;

	EXPECT(!ibv_query_gid(ctx, 1, gid_index, &first));
	for (i = 0; i < 16; i++)
		if (!ibv_query_gid(ctx, 1, i, gid) && gid->raw[15] &&
		    is_ipv4(gid) != is_ipv4(&first))
			return i;
	EXPECT(!"a GID of the other family");
	return -1;
}

/* Each goes its own way, though all are of one queue pair. */
static void ud_take_turns(void)
{
	struct datagrams near = make_ud(), far = make_ud();
	struct ibv_ah_attr attr = rtr_attr(0).ah_attr;
	bool ipv4 = is_ipv4(&attr.grh.dgid);
	struct ibv_ah *ah[2] = { make_ah(NULL) };
	unsigned int i;

	attr.grh.sgid_index = other_gid(&attr.grh.dgid);
	ah[1] = ibv_create_ah(pd, &attr);
	EXPECT(ah[1]);
	for (i = 0; i < 20; i++) {
		/* Twice the one, then twice the other. */
		unsigned int which = i / 2 % 2;

		fill_source(i);
		post_recv(far.qp, target, 100 + GRH);
		send_ud(&near, ah[which], far.qp->qp_num, QKEY, 100);
		ud_received(&far, near.qp->qp_num, 100);
		EXPECT((target[0] >> 4 != 6) == (ipv4 == !which));
	}
	EXPECT(!ibv_destroy_ah(ah[0]) && !ibv_destroy_ah(ah[1]));
	unmake_ud(&near);
	unmake_ud(&far);
}

/* IBTA 10.2.5: a Q_Key with the upper bit set is not for everybody. */
static void ud_privileged_qkeys(void)
{
	struct ibv_qp_attr attr = { .qkey = 0x80010000 };
	struct datagrams d = make_ud();

	EXPECT(!ibv_modify_qp(d.qp, &attr, IBV_QP_QKEY));
	give_up_raw();
	EXPECT(ibv_modify_qp(d.qp, &attr, IBV_QP_QKEY) == EPERM);
	attr.qkey = 1;
	EXPECT(!ibv_modify_qp(d.qp, &attr, IBV_QP_QKEY));
	unmake_ud(&d);
}

/*
 * Multicast.
 */

#define TO_ALL	0xffffff

/* A group of the family of the address in use. */
static union ibv_gid group_gid(uint8_t number)
{
	union ibv_gid gid = rtr_attr(0).ah_attr.grh.dgid;

	if (!is_ipv4(&gid))
		gid = (union ibv_gid) { .raw = { 0xff, 0x0e } };
	gid.raw[12] = 239;
	gid.raw[13] = 78;
	gid.raw[14] = 0;
	gid.raw[15] = number;
	return gid;
}

/* One copy for each queue pair of the group, the sender's as well. */
static void mcast_delivers(void)
{
	union ibv_gid group = group_gid(1), other = group_gid(2);
	struct datagrams d[4];
	struct ibv_ah *ah;
	unsigned int i;

	for (i = 0; i < 4; i++) {
		d[i] = make_ud();
		post_recv(d[i].qp, target, 1000 + GRH);
	}
	ah = make_ah(&group);
	for (i = 0; i < 3; i++)
		EXPECT(!ibv_attach_mcast(d[i].qp, &group, 0));
	EXPECT(!ibv_attach_mcast(d[3].qp, &other, 0));

	fill_source(1);
	send_ud(&d[0], ah, TO_ALL, QKEY, 1000);
	for (i = 0; i < 3; i++)
		ud_received(&d[i], d[0].qp->qp_num, 1000);

	/* From outside of the group; who has left hears nothing. */
	EXPECT(!ibv_detach_mcast(d[2].qp, &group, 0));
	for (i = 0; i < 3; i++)
		post_recv(d[i].qp, target, 1000 + GRH);
	fill_source(2);
	send_ud(&d[3], ah, TO_ALL, QKEY, 999);
	for (i = 0; i < 2; i++)
		ud_received(&d[i], d[3].qp->qp_num, 999);
	stays_empty(d[2].cq);
	EXPECT(!ibv_poll_cq(d[3].cq, 1, &(struct ibv_wc) { }));

	/* What is left is tidied up: one by detach, one by destroy. */
	for (i = 0; i < 2; i++)
		EXPECT(!ibv_detach_mcast(d[i].qp, &group, 0));
	post_recv(d[0].qp, target, 1000 + GRH);
	send_ud(&d[3], ah, TO_ALL, QKEY, 999);
	stays_empty(d[0].cq);
	EXPECT(ibv_destroy_qp(d[3].qp) == EBUSY);
	EXPECT(!ibv_detach_mcast(d[3].qp, &other, 0));
	EXPECT(!ibv_destroy_ah(ah));
	for (i = 0; i < 4; i++)
		unmake_ud(&d[i]);
}

static void mcast_rules(void)
{
	union ibv_gid group = group_gid(3), own;
	struct ibv_device_attr device;
	struct datagrams d = make_ud();
	struct pair p = make_uc();

	EXPECT(!ibv_query_device(ctx, &device));
	EXPECT(device.max_mcast_grp > 0 && device.max_mcast_qp_attach > 1);
	EXPECT(!ibv_query_gid(ctx, 1, gid_index, &own));
	EXPECT(ibv_attach_mcast(d.qp, &own, 0) == EINVAL);
	EXPECT(ibv_attach_mcast(p.near, &group, 0) == EINVAL);
	EXPECT(ibv_detach_mcast(d.qp, &group, 0) == EINVAL);
	EXPECT(!ibv_attach_mcast(d.qp, &group, 0));
	EXPECT(!ibv_detach_mcast(d.qp, &group, 0));
	EXPECT(ibv_detach_mcast(d.qp, &group, 0) == EINVAL);

	/* Whoever just ends leaves the group, too. */
	EXPECT(!ibv_attach_mcast(d.qp, &group, 0));
}

/* As many groups as the device says, and no more: IP has lists of them. */
static void mcast_many(void)
{
	union ibv_gid group = group_gid(0), first = group;
	struct ibv_device_attr device;
	struct datagrams d = make_ud();
	int n;

	EXPECT(!ibv_query_device(ctx, &device));
	EXPECT(device.max_mcast_grp <= 1 << 16);
	for (n = 0; n < device.max_mcast_grp; n++) {
		group.raw[14] = n >> 8;
		group.raw[15] = n;
		EXPECT(!ibv_attach_mcast(d.qp, &group, 0));
	}
	group.raw[13]++;
	EXPECT(ibv_attach_mcast(d.qp, &group, 0) == ENOMEM);
	EXPECT(!ibv_detach_mcast(d.qp, &first, 0));
	EXPECT(!ibv_attach_mcast(d.qp, &group, 0));
	EXPECT(ibv_attach_mcast(d.qp, &first, 0) == ENOMEM);
}

/* In the group that all hosts are in, until somebody ends it. */
static void mcast_all_hosts(void)
{
	union ibv_gid all = { .raw = { 0xff, 0x02, [15] = 1 } };
	struct datagrams d = make_ud();

	EXPECT(!ibv_attach_mcast(d.qp, &all, 0));
	printf("attached\n");
	pause();
}

/* The port has a GID of IPv6, and the kernel nothing to send by it. */
static void no_ipv6(void)
{
	union ibv_gid all = { .raw = { 0xff, 0x02, [15] = 1 } };
	struct datagrams d = make_ud();
	struct ibv_ah_attr attr = {
		.is_global = 1, .port_num = 1,
		.grh = { .dgid = all, .sgid_index = gid_index, .hop_limit = 1 },
	};
	struct ibv_qp_attr init = init_attr(), rtr = rtr_attr(1);

	errno = 0;
	EXPECT(!ibv_create_ah(pd, &attr) && errno == EAFNOSUPPORT);
	unmake_ud(&d);

	d.qp = make_qp(ibv_create_cq(ctx, 1, NULL, NULL, 0), 1);
	EXPECT(d.qp && !ibv_modify_qp(d.qp, &init, TO_INIT));
	rtr.ah_attr = attr;
	EXPECT(ibv_modify_qp(d.qp, &rtr, TO_RTR) == EAFNOSUPPORT);
}

static const struct test_case cases[] = {
	CASE(uc_operations),
	CASE(uc_drops_in_silence),
	CASE(uc_sqe_and_back),
	CASE(ud_operations),
	CASE(ud_drops_in_silence),
	CASE(ud_refused_delay_nobody),
	CASE(ud_take_turns),
	CASE(ud_privileged_qkeys),
	CASE(mcast_delivers),
	CASE(mcast_rules),
	CASE(mcast_many),
	CASE(mcast_all_hosts),
	CASE(no_ipv6),
	{ }
};

int main(int argc, char **argv)
{
	if (argc != 4)
		return 2;
	open_device(argv[1], argv[2]);
	mr = ibv_reg_mr(pd, memory, sizeof(memory), RIGHTS);
	EXPECT(mr);	return run_case(cases, argv[3]);
}
