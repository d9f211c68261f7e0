// SPDX-License-Identifier: GPL-2.0
/*
 * Moves random data between two machines by every operation that a reliable
 * connection offers to a process, and verifies every byte at both ends.
 *
 *	exchange -d DEV -g GID [-M BYTES]		waits: the responder
 *	exchange -d DEV -g GID [OPTION...] HOST		the requester
 *
 * It goes in rounds. In a round the requester posts a list of operations of
 * random kinds, sizes, places, scatter/gather lists and flags. Both ends draw
 * the same plan from the same seed, and model it on two images of each slot
 * of memory; afterwards each end compares the whole slot, bytes around the
 * message included, with its image.
 */
#include <arpa/inet.h>
#include <err.h>
#include <getopt.h>
#include <inttypes.h>
#include <netdb.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <infiniband/verbs.h>

#include "../lib/number.h"

#define MAX_SGE		32
#define MARGIN		256	/* bytes of a slot around the message */
#define GAP		5	/* bytes between the pieces of a message */
#define MAX_INLINE	64

/* What the two ends must agree about; the requester says it. */
struct plan {
	uint64_t seed;
	uint64_t size;		/* of the longest message */
	uint32_t rounds;
	uint32_t ops;		/* in a round */
	uint32_t sges;		/* at most, of a work request */
	uint32_t mtu;		/* enum ibv_mtu; 0: what the port has */
	uint32_t max_inline;
	uint32_t exact;		/* every message has "size" bytes */
	char kinds[16];		/* letters of "kinds" */
};

/* What one end tells the other about itself. */
struct end {
	union ibv_gid gid;
	uint64_t base;		/* address of slot 0 */
	uint64_t stride;	/* from slot to slot */
	uint32_t qpn;
	uint32_t psn;
	uint32_t rkey;
	uint32_t mtu;		/* enum ibv_mtu of its port */
	uint32_t reads;		/* READs and atomics at a time */
};

struct op {
	const struct kind *kind;
	uint32_t slot;
	uint64_t len;
	uint64_t local;		/* where the message begins in the slot */
	uint64_t remote;
	uint32_t local_sges;
	uint32_t remote_sges;	/* of the receive */
	uint64_t spare;		/* bytes that the receive is longer */
	uint64_t compare;
	uint64_t operand;	/* swap or add */
	uint32_t imm;
	unsigned int flags;	/* enum ibv_send_flags */
};

static const struct kind {
	char letter;
	const char *name;
	enum ibv_wr_opcode opcode;
	enum ibv_wc_opcode done;
	enum ibv_wc_opcode received;	/* where takes_recv */
	bool takes_recv;
	bool has_imm;
	bool is_atomic;
	bool is_word;			/* eight bytes, on eight bytes */
	bool from_remote;
} kinds[] = {
	{ .letter = 's', .name = "SEND", .opcode = IBV_WR_SEND,
	  .done = IBV_WC_SEND, .received = IBV_WC_RECV, .takes_recv = true },
	{ .letter = 'S', .name = "SEND_WITH_IMM",
	  .opcode = IBV_WR_SEND_WITH_IMM, .done = IBV_WC_SEND,
	  .received = IBV_WC_RECV, .takes_recv = true, .has_imm = true },
	{ .letter = 'w', .name = "RDMA_WRITE", .opcode = IBV_WR_RDMA_WRITE,
	  .done = IBV_WC_RDMA_WRITE },
	{ .letter = 'W', .name = "RDMA_WRITE_WITH_IMM",
	  .opcode = IBV_WR_RDMA_WRITE_WITH_IMM, .done = IBV_WC_RDMA_WRITE,
	  .received = IBV_WC_RECV_RDMA_WITH_IMM, .takes_recv = true,
	  .has_imm = true },
	{ .letter = 'r', .name = "RDMA_READ", .opcode = IBV_WR_RDMA_READ,
	  .done = IBV_WC_RDMA_READ, .from_remote = true },
	{ .letter = 'c', .name = "CMP_SWAP",
	  .opcode = IBV_WR_ATOMIC_CMP_AND_SWP, .done = IBV_WC_COMP_SWAP,
	  .is_atomic = true, .is_word = true, .from_remote = true },
	{ .letter = 'f', .name = "FETCH_ADD",
	  .opcode = IBV_WR_ATOMIC_FETCH_AND_ADD, .done = IBV_WC_FETCH_ADD,
	  .is_atomic = true, .is_word = true, .from_remote = true },
	{ .letter = 'a', .name = "ATOMIC_WRITE",
	  .opcode = IBV_WR_ATOMIC_WRITE, .done = IBV_WC_ATOMIC_WRITE,
	  .is_word = true },
};

static struct plan plan = {
	.seed = 1, .size = 65536, .rounds = 20, .ops = 16, .sges = 4,
	.max_inline = MAX_INLINE, .kinds = "sSwWrcf",
};
static const char *dev_name, *port = "18516", *host;
static int gid_index = -1;
static uint64_t region_bytes;		/* 0: as much as the slots need */
static int max_reads = 16;

static struct ibv_context *ctx;
static struct ibv_pd *pd;
static struct ibv_mr *mr;
static struct ibv_cq *cq;
static struct ibv_qp *qp;
static struct end me, peer;
static int sock;

static uint64_t slot_bytes;
static uint8_t *image[2];		/* [REQUESTER], [RESPONDER] */

enum { REQUESTER, RESPONDER };

/* splitmix64 */
static uint64_t mix(uint64_t x)
{
	x = (x + 0x9e3779b97f4a7c15) * 0xbf58476d1ce4e5b9;
	x = (x ^ x >> 27) * 0x94d049bb133111eb;
	return x ^ x >> 31;
}

static uint64_t drawn;

static uint64_t draw(uint64_t below)
{
	return mix(plan.seed << 32 ^ drawn++) % below;
}

/* What both ends put into a slot before a round. */
static void fill(uint8_t *to, uint32_t round, uint32_t slot, int role)
{
	uint64_t key = mix(plan.seed ^ ((uint64_t)round << 32 | slot << 1 |
				       role));
	uint64_t word;
	size_t at;

	for (at = 0; at < slot_bytes; at += sizeof(word)) {
		word = mix(key + at);
		memcpy(to + at, &word, sizeof(word));
	}
}

static uint64_t draw_size(void)
{
	uint64_t len;

	if (plan.exact)
		return plan.size;
	switch (draw(4)) {
	case 0:
		len = draw(9);
		break;
	case 1:
		len = draw(257);
		break;
	case 2:		/* about a whole number of packets */
		len = (draw(plan.size / 1024 + 1) << 10) + draw(5) - 2;
		break;
	default:
		len = draw(plan.size + 1);
	}
	return len > plan.size ? 0 : len;
}

static const struct kind *draw_kind(void)
{
	char letter = plan.kinds[draw(strlen(plan.kinds))];
	size_t i;

	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (kinds[i].letter == letter)
			return &kinds[i];
	errx(2, "no kind '%c'", letter);
}

/* Draws an operation. image[] holds the slot as it is before. */
static void draw_op(struct op *op, uint32_t slot)
{
	memset(op, 0, sizeof(*op));
	op->kind = draw_kind();
	op->slot = slot;
	op->len = op->kind->is_word ? 8 : draw_size();
	op->local = draw(MARGIN / 2);
	op->remote = op->kind->is_word ? 8 * draw(MARGIN / 16) :
					 draw(MARGIN / 2);
	op->local_sges = op->kind->is_word ? 1 : draw(plan.sges + 1);
	if (op->len && !op->local_sges)
		op->local_sges = 1;
	op->remote_sges = op->kind->takes_recv ? 1 + draw(plan.sges) : 1;
	op->spare = draw(2) * draw(MARGIN / 4);
	op->imm = draw(UINT32_MAX);
	op->operand = draw(UINT64_MAX);
	if (draw(2))
		memcpy(&op->compare, image[RESPONDER] + op->remote, 8);
	if (slot == plan.ops - 1 || draw(2))
		op->flags |= IBV_SEND_SIGNALED;
	if (!draw(4))
		op->flags |= IBV_SEND_FENCE;
	if (!draw(4))
		op->flags |= IBV_SEND_SOLICITED;
	if (!op->kind->from_remote && op->len <= plan.max_inline && draw(2))
		op->flags |= IBV_SEND_INLINE;
}

/* The length of piece i of a message that is spread over so many. */
static uint64_t piece_len(uint64_t len, uint32_t pieces, uint32_t i)
{
	uint64_t each = len / pieces;

	return i < pieces - 1 ? each : len - each * (pieces - 1);
}

/* Describes a message as a scatter/gather list: pieces with gaps between. */
static void spread(struct ibv_sge *sge, uint64_t addr, uint64_t len,
		   uint32_t pieces)
{
	uint32_t i;

	for (i = 0; i < pieces; i++) {
		sge[i].addr = addr;
		sge[i].length = piece_len(len, pieces, i);
		sge[i].lkey = mr ? mr->lkey : 0;
		addr += sge[i].length + GAP;
	}
}

/* Copies len bytes from one image to the other, both spread. */
static void move(uint8_t *to, uint64_t to_len, uint32_t to_pieces,
		 const uint8_t *from, uint32_t from_pieces, uint64_t len)
{
	struct ibv_sge t[MAX_SGE], f[MAX_SGE];
	uint32_t ti = 0, fi = 0;
	uint64_t n, moved = 0;

	spread(t, (uintptr_t)to, to_len, to_pieces);
	spread(f, (uintptr_t)from, len, from_pieces);
	while (moved < len) {
		n = t[ti].length < f[fi].length ? t[ti].length : f[fi].length;
		if (n > len - moved)
			n = len - moved;
		memcpy((void *)(uintptr_t)t[ti].addr,
		       (void *)(uintptr_t)f[fi].addr, n);
		moved += n;
		t[ti].addr += n;
		f[fi].addr += n;
		t[ti].length -= n;
		f[fi].length -= n;
		if (!t[ti].length)
			ti++;
		if (!f[fi].length)
			fi++;
	}
}

/* Does to the images what the operation does to the memory of both ends. */
static void model(const struct op *op)
{
	uint8_t *local = image[REQUESTER] + op->local;
	uint8_t *remote = image[RESPONDER] + op->remote;
	uint64_t old, new;

	if (op->kind->is_atomic) {
		memcpy(&old, remote, 8);
		memcpy(local, &old, 8);
		if (op->kind->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD)
			new = old + op->operand;
		else
			new = old == op->compare ? op->operand : old;
		memcpy(remote, &new, 8);
	} else if (op->kind->from_remote) {
		move(local, op->len, op->local_sges, remote, 1, op->len);
	} else if (op->kind->received == IBV_WC_RECV && op->kind->takes_recv) {
		move(remote, op->len + op->spare, op->remote_sges, local,
		     op->local_sges, op->len);
	} else {
		move(remote, op->len, 1, local, op->local_sges, op->len);
	}
}

static void *slot_of(const struct end *end, uint32_t slot)
{
	return (void *)(uintptr_t)(end->base + slot * end->stride);
}

/* Draws the operations of a round, and puts its data into the own memory. */
static void plan_round(struct op *ops, uint32_t round, int role)
{
	uint32_t i;

	for (i = 0; i < plan.ops; i++) {
		fill(image[RESPONDER], round, i, RESPONDER);
		draw_op(&ops[i], i);
		fill(slot_of(&me, i), round, i, role);
	}
}

static void verify_round(const struct op *ops, uint32_t round, int role)
{
	const struct op *op;
	const uint8_t *has;
	uint64_t at;

	for (op = ops; op < ops + plan.ops; op++) {
		fill(image[REQUESTER], round, op->slot, REQUESTER);
		fill(image[RESPONDER], round, op->slot, RESPONDER);
		model(op);
		has = slot_of(&me, op->slot);
		if (!memcmp(has, image[role], slot_bytes))
			continue;
		for (at = 0; has[at] == image[role][at]; at++)
			;
		errx(1, "%s: round %u slot %u: %s of %" PRIu64 " bytes, from offset %" PRIu64
			" to %" PRIu64 ": byte %" PRIu64 " is %02x, not %02x",
		     role == REQUESTER ? "requester" : "responder", round,
		     op->slot, op->kind->name, op->len, op->local, op->remote,
		     at, has[at], image[role][at]);
	}
}

static struct ibv_wc poll_one(void)
{
	struct ibv_wc wc;
	int n;

	do {
		n = ibv_poll_cq(cq, 1, &wc);
	} while (!n);
	if (n < 0)
		errx(1, "ibv_poll_cq: %d", n);
	if (wc.status)
		errx(1, "completion %" PRIu64 ": %s (vendor %#x)", wc.wr_id,
		     ibv_wc_status_str(wc.status), wc.vendor_err);
	return wc;
}

static void post_receives(const struct op *ops)
{
	struct ibv_sge sge[MAX_SGE];
	struct ibv_recv_wr wr, *bad;
	const struct op *op;
	int ret;

	for (op = ops; op < ops + plan.ops; op++) {
		if (!op->kind->takes_recv)
			continue;
		wr = (struct ibv_recv_wr) { .wr_id = op->slot };
		if (op->kind->received == IBV_WC_RECV) {
			wr.sg_list = sge;
			wr.num_sge = op->remote_sges;
			spread(sge, (uintptr_t)slot_of(&me, op->slot) +
			       op->remote, op->len + op->spare,
			       op->remote_sges);
		}
		ret = ibv_post_recv(qp, &wr, &bad);
		if (ret)
			errx(1, "ibv_post_recv: %s", strerror(ret));
	}
}

static void check_receives(const struct op *ops)
{
	const struct op *op;
	struct ibv_wc wc;

	for (op = ops; op < ops + plan.ops; op++) {
		if (!op->kind->takes_recv)
			continue;
		wc = poll_one();
		if (wc.wr_id != op->slot || wc.opcode != op->kind->received ||
		    wc.byte_len != op->len || wc.qp_num != qp->qp_num ||
		    !!(wc.wc_flags & IBV_WC_WITH_IMM) != op->kind->has_imm ||
		    (op->kind->has_imm && ntohl(wc.imm_data) != op->imm))
			errx(1, "slot %u: %s of %" PRIu64 " bytes, imm %#x: completion %" PRIu64
				" has opcode %d, length %u, flags %#x, imm %#x",
			     op->slot, op->kind->name, op->len, op->imm,
			     wc.wr_id, wc.opcode, wc.byte_len, wc.wc_flags,
			     ntohl(wc.imm_data));
	}
}

static void make_send(const struct op *op, struct ibv_send_wr *wr,
		      struct ibv_sge *sge)
{
	uint64_t addr = (uintptr_t)slot_of(&peer, op->slot) + op->remote;

	*wr = (struct ibv_send_wr) {
		.wr_id = op->slot,
		.sg_list = sge,
		.num_sge = op->local_sges,
		.opcode = op->kind->opcode,
		.send_flags = op->flags,
		.imm_data = htonl(op->imm),
	};
	spread(sge, (uintptr_t)slot_of(&me, op->slot) + op->local, op->len,
	       op->local_sges);
	if (op->kind->is_atomic) {
		wr->wr.atomic.remote_addr = addr;
		wr->wr.atomic.rkey = peer.rkey;
		wr->wr.atomic.compare_add =
			op->kind->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD ?
			op->operand : op->compare;
		wr->wr.atomic.swap = op->operand;
	} else {
		wr->wr.rdma.remote_addr = addr;
		wr->wr.rdma.rkey = peer.rkey;
	}
}

/* Posts all operations of a round as one list. */
static void post_sends(const struct op *ops)
{
	struct ibv_sge (*sge)[MAX_SGE] = calloc(plan.ops, sizeof(*sge));
	struct ibv_send_wr *wr = calloc(plan.ops, sizeof(*wr)), *bad;
	uint32_t i;
	int ret;

	for (i = 0; i < plan.ops; i++) {
		make_send(&ops[i], &wr[i], sge[i]);
		wr[i].next = i < plan.ops - 1 ? &wr[i + 1] : NULL;
	}
	ret = ibv_post_send(qp, wr, &bad);
	if (ret)
		errx(1, "ibv_post_send: %s", strerror(ret));
	free(wr);
	free(sge);
}

static void check_sends(const struct op *ops)
{
	const struct op *op;
	struct ibv_wc wc;

	for (op = ops; op < ops + plan.ops; op++) {
		if (!(op->flags & IBV_SEND_SIGNALED))
			continue;
		wc = poll_one();
		if (wc.wr_id != op->slot || wc.opcode != op->kind->done)
			errx(1, "slot %u: %s: completion %" PRIu64 " has opcode %d",
			     op->slot, op->kind->name, wc.wr_id, wc.opcode);
	}
}

static void tell(const void *what, size_t len)
{
	if (write(sock, what, len) != (ssize_t)len)
		err(1, "the other end is gone");
}

static void hear(void *what, size_t len)
{
	if (recv(sock, what, len, MSG_WAITALL) != (ssize_t)len)
		errx(1, "the other end is gone");
}

/* Both ends come here before either goes on. */
static void meet(char stage)
{
	char heard;

	tell(&stage, 1);
	hear(&heard, 1);
	if (heard != stage)
		errx(1, "stage '%c' here, '%c' there", stage, heard);
}

static void run(int role)
{
	struct op *ops = calloc(plan.ops, sizeof(*ops));
	uint64_t bytes = 0;
	uint32_t round, i;

	for (round = 0; round < plan.rounds; round++) {
		plan_round(ops, round, role);
		if (role == RESPONDER)
			post_receives(ops);
		meet('f');
		if (role == REQUESTER) {
			post_sends(ops);
			check_sends(ops);
		}
		meet('d');
		if (role == RESPONDER)
			check_receives(ops);
		verify_round(ops, round, role);
		for (i = 0; i < plan.ops; i++)
			bytes += ops[i].len;
	}
	meet('e');
	printf("%u operations, %" PRIu64 " bytes, all as they should be\n",
	       plan.rounds * plan.ops, bytes);
	free(ops);
}

static void open_device(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	int i;

	for (i = 0; list && list[i]; i++)
		if (!strcmp(ibv_get_device_name(list[i]), dev_name))
			ctx = ibv_open_device(list[i]);
	if (!ctx)
		errx(1, "no device %s", dev_name);
	pd = ibv_alloc_pd(ctx);
	if (!pd)
		err(1, "ibv_alloc_pd");
}

/* Slots lie as far apart as the region allows, the last one at its end. */
static void make_memory(void)
{
	uint64_t need = slot_bytes * plan.ops;
	uint64_t bytes = region_bytes > need ? region_bytes : need;
	void *mem;

	mem = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (mem == MAP_FAILED)
		err(1, "mmap %" PRIu64, bytes);
	mr = ibv_reg_mr(pd, mem, bytes, IBV_ACCESS_LOCAL_WRITE |
			IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
			IBV_ACCESS_REMOTE_ATOMIC);
	if (!mr)
		err(1, "ibv_reg_mr of %" PRIu64 " bytes", bytes);
	me.base = (uintptr_t)mem;
	me.stride = plan.ops > 1 ? (bytes - slot_bytes) / (plan.ops - 1) & ~7ul
				 : 0;
	if (region_bytes)
		me.base += bytes - slot_bytes - (plan.ops - 1) * me.stride;
	me.rkey = mr->rkey;
	image[REQUESTER] = malloc(slot_bytes);
	image[RESPONDER] = malloc(slot_bytes);
	if (!image[REQUESTER] || !image[RESPONDER])
		err(1, "two images of %" PRIu64 " bytes", slot_bytes);
}

static void make_qp(void)
{
	struct ibv_qp_init_attr init = {
		.qp_type = IBV_QPT_RC,
		.cap.max_send_wr = plan.ops,
		.cap.max_recv_wr = plan.ops,
		.cap.max_send_sge = plan.sges,
		.cap.max_recv_sge = plan.sges,
		.cap.max_inline_data = plan.max_inline,
	};
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT,
		.port_num = 1,
		.qp_access_flags = IBV_ACCESS_REMOTE_WRITE |
				   IBV_ACCESS_REMOTE_READ |
				   IBV_ACCESS_REMOTE_ATOMIC,
	};
	struct ibv_device_attr dev;
	struct ibv_port_attr port_attr;

	cq = ibv_create_cq(ctx, 2 * plan.ops, NULL, NULL, 0);
	if (!cq)
		err(1, "ibv_create_cq");
	init.send_cq = cq;
	init.recv_cq = cq;
	qp = ibv_create_qp(pd, &init);
	if (!qp)
		err(1, "ibv_create_qp");
	if (ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX |
			  IBV_QP_PORT | IBV_QP_ACCESS_FLAGS))
		err(1, "to INIT");
	if (ibv_query_device(ctx, &dev) ||
	    ibv_query_port(ctx, 1, &port_attr) ||
	    ibv_query_gid(ctx, 1, gid_index, &me.gid))
		err(1, "query of %s", dev_name);
	me.reads = dev.max_qp_rd_atom < max_reads ? dev.max_qp_rd_atom :
						    max_reads;
	me.mtu = port_attr.active_mtu;
	me.qpn = qp->qp_num;
	me.psn = mix(plan.seed ^ getpid()) & 0xffffff;
}

static void connect_qp(void)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTR,
		.path_mtu = me.mtu < peer.mtu ? me.mtu : peer.mtu,
		.dest_qp_num = peer.qpn,
		.rq_psn = peer.psn,
		.max_dest_rd_atomic = me.reads,
		.min_rnr_timer = 12,
		.ah_attr.is_global = 1,
		.ah_attr.port_num = 1,
		.ah_attr.grh.dgid = peer.gid,
		.ah_attr.grh.sgid_index = gid_index,
		.ah_attr.grh.hop_limit = 64,
	};

	if (plan.mtu)
		attr.path_mtu = plan.mtu;
	if (ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_AV |
			  IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
			  IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER))
		err(1, "to RTR");
	attr = (struct ibv_qp_attr) {
		.qp_state = IBV_QPS_RTS,
		.sq_psn = me.psn,
		.timeout = 20,		/* four seconds: guests stall */
		.retry_cnt = 7,
		.rnr_retry = 7,
		.max_rd_atomic = peer.reads,
	};
	if (ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN |
			  IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
			  IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC))
		err(1, "to RTS");
}

static void call_or_wait(void)
{
	struct addrinfo hints = {
		.ai_socktype = SOCK_STREAM,
		.ai_family = host ? AF_UNSPEC : AF_INET6,
		.ai_flags = host ? 0 : AI_PASSIVE,
	}, *addr;
	int ret, on = 1, listener;

	ret = getaddrinfo(host, port, &hints, &addr);
	if (ret)
		errx(1, "%s: %s", host, gai_strerror(ret));
	sock = socket(addr->ai_family, SOCK_STREAM, 0);
	if (host) {
		if (connect(sock, addr->ai_addr, addr->ai_addrlen))
			err(1, "%s", host);
		freeaddrinfo(addr);
		return;
	}
	listener = sock;
	setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (bind(listener, addr->ai_addr, addr->ai_addrlen) ||
	    listen(listener, 1))
		err(1, "port %s", port);
	sock = accept(listener, NULL, NULL);
	if (sock < 0)
		err(1, "accept");
	close(listener);
	freeaddrinfo(addr);
}

static uint64_t number(const char *text)
{
	uint64_t value;
	char *end;

	value = strtoull(text, &end, 0);
	switch (*end) {
	case 'G':
		value <<= 10;
		/* fall through */
	case 'M':
		value <<= 10;
		/* fall through */
	case 'K':
		value <<= 10;
		end++;
	}
	if (end == text || *end)
		errx(2, "'%s' is no number", text);
	return value;
}

static enum ibv_mtu mtu_of(const char *text)
{
	enum ibv_mtu mtu;

	for (mtu = IBV_MTU_256; mtu <= IBV_MTU_4096; mtu++)
		if (128u << mtu == number(text))
			return mtu;
	errx(2, "no path MTU: %s", text);
}

static void usage(void)
{
	fputs("usage: exchange -d DEV -g GID [OPTION...] [HOST]\n"
	      "  -d DEV -g GID  device, and index of its GID\n"
	      "  -p PORT        TCP port where the two ends meet (18516)\n"
	      "  -M BYTES       size of the memory region here (as needed)\n"
	      "  -a READS       of the other end at a time, atomics, too (16)\n"
	      "With HOST, the end that waits there:\n"
	      "  -r ROUNDS -n OPERATIONS (in a round)\n"
	      "  -s BYTES       of the longest message; -x: of every message\n"
	      "  -q SGES -i BYTES  scatter/gather elements and inline data at most\n"
	      "  -m MTU         path MTU (the smaller one of both ports)\n"
	      "  -o KINDS       of sSwWrcfa: SEND, WRITE (capitals: immediate),\n"
	      "                 READ, CMP_SWAP, FETCH_ADD, ATOMIC_WRITE (all but a)\n"
	      "  -S SEED\n", stderr);
	exit(2);
}

static void parse(int argc, char **argv)
{
	int c;

	while ((c = getopt(argc, argv, "d:g:p:M:a:r:n:s:xq:i:m:o:S:")) != -1) {
		switch (c) {
		case 'd':
			dev_name = optarg;
			break;
		case 'g':
			gid_index = arg_number(optarg);
			break;
		case 'p':
			port = optarg;
			break;
		case 'M':
			region_bytes = number(optarg);
			break;
		case 'a':
			max_reads = number(optarg);
			break;
		case 'r':
			plan.rounds = number(optarg);
			break;
		case 'n':
			plan.ops = number(optarg);
			break;
		case 's':
			plan.size = number(optarg);
			break;
		case 'x':
			plan.exact = 1;
			break;
		case 'q':
			plan.sges = number(optarg);
			break;
		case 'i':
			plan.max_inline = number(optarg);
			break;
		case 'm':
			plan.mtu = mtu_of(optarg);
			break;
		case 'o':
			snprintf(plan.kinds, sizeof(plan.kinds), "%s", optarg);
			break;
		case 'S':
			plan.seed = number(optarg);
			break;
		default:
			usage();
		}
	}
	host = argv[optind];
	if (!dev_name || gid_index < 0 || !plan.ops || !plan.sges ||
	    plan.sges > MAX_SGE)
		usage();
}

int main(int argc, char **argv)
{
	int role;

	parse(argc, argv);
	role = host ? REQUESTER : RESPONDER;
	open_device();
	call_or_wait();
	if (role == REQUESTER)
		tell(&plan, sizeof(plan));
	else
		hear(&plan, sizeof(plan));
	slot_bytes = (plan.size + MARGIN + plan.sges * GAP + 7) & ~7ull;
	make_memory();
	make_qp();
	tell(&me, sizeof(me));
	hear(&peer, sizeof(peer));
	connect_qp();
	meet('c');
	run(role);

	if (ibv_destroy_qp(qp) || ibv_destroy_cq(cq) || ibv_dereg_mr(mr) ||
	    ibv_dealloc_pd(pd) || ibv_close_device(ctx))
		err(1, "cleanup");
	return 0;
}
