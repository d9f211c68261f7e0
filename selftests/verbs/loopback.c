// SPDX-License-Identifier: GPL-2.0
/*
 * Queue pairs of one device. Whether there are packets between them or not,
 * what they say to each other is the same. loopback.sh runs it:
 *
 *	loopback DEVICE GID_INDEX CASE
 */
#include <pthread.h>
#include <unistd.h>

#include "../lib/pair.h"

#define BYTES	(1 << 20)
#define DEPTH	32

static unsigned char *source, *target;
static struct ibv_mr *from, *to;

/* More pages than the module lends out at once, and none beside the next. */
static unsigned char *scattered(size_t len)
{
	unsigned char *p = aligned_alloc(4096, len);
	size_t i;

	EXPECT(p);
	for (i = 0; i < len; i += 8192)
		p[i] = 1;
	for (i = 4096; i < len; i += 8192)
		p[i] = 1;
	return p;
}

static void make_memory(void)
{
	source = scattered(BYTES);
	target = scattered(BYTES);
	from = ibv_reg_mr(pd, source, BYTES, RIGHTS);
	to = ibv_reg_mr(pd, target, BYTES, RIGHTS);
	EXPECT(from && to);
}

static void post_receive(struct ibv_qp *qp, uint32_t len)
{
	struct ibv_sge sge = { (uintptr_t)target, len, to->lkey };
	struct ibv_recv_wr wr = { .sg_list = &sge, .num_sge = 1 }, *bad;

	EXPECT(!ibv_post_recv(qp, &wr, &bad));
}

/* Sends @len bytes of the source, from its byte @off on, in pieces. */
static int move(struct pair *p, enum ibv_wr_opcode opcode, uint32_t off,
		uint32_t len)
{
	bool brings = opcode == IBV_WR_RDMA_READ;
	unsigned char *here = brings ? target : source;
	struct ibv_mr *mr = brings ? to : from;
	struct ibv_sge sge[3] = {
		{ (uintptr_t)here + off, len / 3, mr->lkey },
		{ (uintptr_t)here + off + len / 3, len / 5, mr->lkey },
		{ (uintptr_t)here + off + len / 3 + len / 5,
		  len - len / 3 - len / 5, mr->lkey },
	};
	struct ibv_send_wr wr = {
		.opcode = opcode, .sg_list = sge, .num_sge = 3,
		.wr.rdma = {
			.remote_addr = (uintptr_t)(brings ? source : target) + off,
			.rkey = brings ? from->rkey : to->rkey,
		},
	}, *bad;

	EXPECT(!ibv_post_send(p->near, &wr, &bad));
	return status(p->near_cq);
}

/* Every length, at every alignment, by every operation that carries bytes. */
static void bytes_arrive(void)
{
	static const uint32_t lens[] = {
		0, 1, 3, 64, 1000, 1023, 1024, 1025, 2048, 4099, 65536, 70001,
		BYTES - 64,
	};
	struct pair p = make_pair(DEPTH);
	unsigned int i, seed = 1;
	uint32_t off, len;

	for (i = 0; i < sizeof(lens) / sizeof(lens[0]); i++)
		for (off = 0; off < 64; off += 21) {
			len = lens[i];
			fill(source, BYTES, ++seed);
			memset(target, 0, BYTES);
			EXPECT(!move(&p, IBV_WR_RDMA_WRITE, off, len));
			EXPECT(!memcmp(target + off, source + off, len));
			EXPECT(!target[off + len]);

			memset(target, 0, BYTES);
			EXPECT(!move(&p, IBV_WR_RDMA_READ, off, len));
			EXPECT(!memcmp(target + off, source + off, len));
			EXPECT(!target[off + len]);

			memset(target, 0, BYTES);
			post_receive(p.far, len);
			EXPECT(!move(&p, IBV_WR_SEND, off, len));
			EXPECT(next_wc(p.far_cq).byte_len == len);
			EXPECT(!memcmp(target, source + off, len));
			EXPECT(!target[len]);
		}
	unmake_pair(&p);
}

static void inline_bytes_arrive(void)
{
	struct pair p = make_pair(DEPTH);
	struct ibv_sge sge = { (uintptr_t)"by value", 8, 0 };
	struct ibv_send_wr wr = {
		.opcode = IBV_WR_SEND, .send_flags = IBV_SEND_INLINE,
	};

	post_receive(p.far, 64);
	EXPECT(!post_wait(p.near, p.near_cq, wr, sge));
	EXPECT(next_wc(p.far_cq).byte_len == 8);
	EXPECT(!memcmp(target, "by value", 8));
	unmake_pair(&p);
}

static void atomics_count(void)
{
	struct pair p = make_pair(DEPTH);
	struct ibv_sge sge = { (uintptr_t)source, 8, from->lkey };
	struct ibv_send_wr wr = {
		.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD,
		.wr.atomic = { .remote_addr = (uintptr_t)target,
			       .rkey = to->rkey, .compare_add = 3 },
	};
	uint64_t i;

	memset(target, 0, 8);
	for (i = 0; i < 1000; i++) {
		EXPECT(!post_wait(p.near, p.near_cq, wr, sge));
		EXPECT(*(uint64_t *)source == 3 * i);
	}
	EXPECT(*(uint64_t *)target == 3 * i);
	unmake_pair(&p);
}

/* Long READs, as many as may be, with what they must not be overtaken by. */
static void reads_stay_in_order(void)
{
	struct pair p = make_pair(DEPTH);
	struct ibv_send_wr *bad;
	unsigned int round, i;

	for (round = 1; round <= 20; round++) {
		fill(source, BYTES, round);
		for (i = 0; i < 8; i++) {
			bool writes = i == 7;
			struct ibv_sge sge = {
				(uintptr_t)(writes ? target : target + i),
				BYTES / 2, to->lkey,
			};
			struct ibv_send_wr wr = {
				.wr_id = i, .sg_list = &sge, .num_sge = 1,
				.opcode = writes ? IBV_WR_RDMA_WRITE :
						   IBV_WR_RDMA_READ,
				.send_flags = writes ? IBV_SEND_FENCE : 0,
				.wr.rdma = {
					.remote_addr = (uintptr_t)source +
						       (writes ? BYTES / 2 : 0),
					.rkey = from->rkey,
				},
			};

			EXPECT(!ibv_post_send(p.near, &wr, &bad));
		}
		for (i = 0; i < 8; i++) {
			struct ibv_wc wc = next_wc(p.near_cq);

			EXPECT(!wc.status && wc.wr_id == i);
		}
		EXPECT(is_filled(target + 6, BYTES / 2, round));
		EXPECT(!memcmp(source + BYTES / 2, target, BYTES / 2));
	}
	unmake_pair(&p);
}

/* What the peer refuses, and what is refused here. */
static void errors_are_told(void)
{
	struct ibv_sge sge = { (uintptr_t)source, 4096, from->lkey };
	struct ibv_sge wrong = { (uintptr_t)source, 4096, from->lkey + 1 };
	struct ibv_send_wr write = {
		.opcode = IBV_WR_RDMA_WRITE,
		.wr.rdma = { .remote_addr = (uintptr_t)target,
			     .rkey = to->rkey + 1 },
	}, send = { .opcode = IBV_WR_SEND };
	struct pair p = make_pair(DEPTH);

	EXPECT(post_wait(p.near, p.near_cq, write, sge) ==
	       IBV_WC_REM_ACCESS_ERR);
	unmake_pair(&p);

	write.wr.rdma.rkey = to->rkey;
	p = make_pair(DEPTH);
	EXPECT(post_wait(p.near, p.near_cq, write, wrong) ==
	       IBV_WC_LOC_PROT_ERR);
	unmake_pair(&p);

	p = make_pair(DEPTH);
	post_receive(p.far, 4095);
	EXPECT(post_wait(p.near, p.near_cq, send, sge) ==
	       IBV_WC_REM_INV_REQ_ERR);
	EXPECT(status(p.far_cq) == IBV_WC_LOC_LEN_ERR);
	unmake_pair(&p);
}

static void *receive_later(void *qp)
{
	usleep(200000 * slow());
	post_receive(qp, 4096);
	return NULL;
}

/* It waits for a receive request as long as it may, and not longer. */
static void receiver_not_ready(void)
{
	struct ibv_sge sge = { (uintptr_t)source, 4096, from->lkey };
	struct ibv_send_wr send = { .opcode = IBV_WR_SEND };
	struct pair p = make_pair(DEPTH);
	struct ibv_qp_attr attr = init_attr();
	pthread_t thread;

	fill(source, 4096, 5);
	EXPECT(!pthread_create(&thread, NULL, receive_later, p.far));
	EXPECT(!post_wait(p.near, p.near_cq, send, sge));
	EXPECT(!status(p.far_cq));
	EXPECT(is_filled(target, 4096, 5));
	EXPECT(!pthread_join(thread, NULL));

	attr.qp_state = IBV_QPS_RESET;
	EXPECT(!ibv_modify_qp(p.near, &attr, IBV_QP_STATE));
	EXPECT(!ibv_modify_qp(p.far, &attr, IBV_QP_STATE));
	EXPECT(!connect_qp(p.far, p.near->qp_num));
	attr = init_attr();
	EXPECT(!ibv_modify_qp(p.near, &attr, TO_INIT));
	attr = rtr_attr(p.far->qp_num);
	EXPECT(!ibv_modify_qp(p.near, &attr, TO_RTR));
	attr = rts_attr();
	attr.rnr_retry = 2;
	EXPECT(!ibv_modify_qp(p.near, &attr, TO_RTS));
	EXPECT(post_wait(p.near, p.near_cq, send, sge) ==
	       IBV_WC_RNR_RETRY_EXC_ERR);
	unmake_pair(&p);
}

/* A peer that is gone, or is another's, does not answer. */
static void nobody_answers(void)
{
	struct ibv_sge sge = { (uintptr_t)source, 4096, from->lkey };
	struct ibv_send_wr write = {
		.opcode = IBV_WR_RDMA_WRITE,
		.wr.rdma = { .remote_addr = (uintptr_t)target,
			     .rkey = to->rkey },
	};
	struct pair p = make_pair(DEPTH), q = make_pair(DEPTH);
	struct ibv_cq *cq = ibv_create_cq(ctx, DEPTH, NULL, NULL, 0);
	struct ibv_qp *third = make_qp(cq, DEPTH);

	EXPECT(!ibv_destroy_qp(p.far));
	EXPECT(post_wait(p.near, p.near_cq, write, sge) ==
	       IBV_WC_RETRY_EXC_ERR);

	EXPECT(!connect_qp(third, q.far->qp_num));
	EXPECT(post_wait(third, cq, write, sge) == IBV_WC_RETRY_EXC_ERR);
	EXPECT(!post_wait(q.near, q.near_cq, write, sge));
}

static void to_itself(void)
{
	struct ibv_cq *cq = ibv_create_cq(ctx, 2 * DEPTH, NULL, NULL, 0);
	struct ibv_qp *qp = make_qp(cq, DEPTH);
	struct pair p = { cq, cq, qp, qp };
	unsigned int round, i;

	EXPECT(!connect_qp(qp, qp->qp_num));
	for (round = 1; round <= 100; round++) {
		fill(source, 70000, round);
		EXPECT(!move(&p, IBV_WR_RDMA_WRITE, 3, 70000));
		EXPECT(!move(&p, IBV_WR_RDMA_READ, 3, 70000));
		EXPECT(!memcmp(target + 3, source + 3, 70000));
		post_receive(qp, 70000);
		i = move(&p, IBV_WR_SEND, 0, 70000);
		EXPECT(!i && !status(cq));
		EXPECT(!memcmp(target, source, 70000));
	}
}

/** struct talk - one direction of two */
struct talk {
	struct ibv_qp *qp, *peer;
	struct ibv_cq *cq, *peer_cq;
	unsigned char *here, *there;
	struct ibv_mr *here_mr, *there_mr;
};

static void *talk(void *arg)
{
	struct talk *t = arg;
	struct ibv_sge sge = { (uintptr_t)t->here, 8192, t->here_mr->lkey };
	struct ibv_send_wr wr = {
		.opcode = IBV_WR_RDMA_WRITE,
		.wr.rdma = { .remote_addr = (uintptr_t)t->there,
			     .rkey = t->there_mr->rkey },
	};
	unsigned int i;

	for (i = 1; i < 5000; i++) {
		fill(t->here, 8192, i);
		EXPECT(!post_wait(t->qp, t->cq, wr, sge));
		EXPECT(is_filled(t->there, 8192, i));
	}
	return NULL;
}

/* On two CPUs, each is at times where the other wants to be. */
static void both_ways(void)
{
	struct pair p = make_pair(DEPTH);
	struct talk one = {
		p.near, p.far, p.near_cq, p.far_cq, source, target, from, to,
	}, other = {
		p.far, p.near, p.far_cq, p.near_cq, target + 65536,
		source + 65536, to, from,
	};
	pthread_t a, b;

	EXPECT(!pthread_create(&a, NULL, talk, &one));
	EXPECT(!pthread_create(&b, NULL, talk, &other));
	EXPECT(!pthread_join(a, NULL) && !pthread_join(b, NULL));
	unmake_pair(&p);
}

static bool stopped;

/* Whoever modifies a queue pair owns both of its sides for a while. */
static void *modify(void *qp)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTS, .qp_access_flags = RIGHTS,
	};

	while (!__atomic_load_n(&stopped, __ATOMIC_RELAXED)) {
		attr.min_rnr_timer ^= 1;
		EXPECT(!ibv_modify_qp(qp, &attr, IBV_QP_STATE |
				      IBV_QP_MIN_RNR_TIMER |
				      IBV_QP_ACCESS_FLAGS));
	}
	return NULL;
}

/* Some messages find the peer's side free, and some do not. */
static void peer_is_modified(void)
{
	struct pair p = make_pair(DEPTH);
	pthread_t thread;
	unsigned int i;

	EXPECT(!pthread_create(&thread, NULL, modify, p.far));
	for (i = 1; i < 3000; i++) {
		fill(source, 4096, i);
		EXPECT(!move(&p, IBV_WR_RDMA_WRITE, 0, 4096));
		EXPECT(is_filled(target, 4096, i));
		EXPECT(!move(&p, IBV_WR_RDMA_READ, 1, 4000));
	}
	__atomic_store_n(&stopped, true, __ATOMIC_RELAXED);
	EXPECT(!pthread_join(thread, NULL));
	unmake_pair(&p);
}

/* A packet of more pieces than are lent: each element lies on two pages. */
static void too_many_pieces(void)
{
	struct ibv_qp_init_attr init = {
		.qp_type = IBV_QPT_RC, .sq_sig_all = 1,
		.cap = { .max_send_wr = DEPTH, .max_recv_wr = DEPTH,
			 .max_send_sge = 32, .max_recv_sge = 1 },
	};
	struct ibv_cq *cq = ibv_create_cq(ctx, 2 * DEPTH, NULL, NULL, 0);
	struct ibv_sge sge[32];
	struct ibv_send_wr wr = {
		.opcode = IBV_WR_RDMA_WRITE, .sg_list = sge, .num_sge = 32,
		.wr.rdma = { .remote_addr = (uintptr_t)target,
			     .rkey = to->rkey },
	}, *bad;
	unsigned int round, i;
	struct ibv_qp *qp;

	init.send_cq = cq;
	init.recv_cq = cq;
	qp = ibv_create_qp(pd, &init);
	EXPECT(qp && !connect_qp(qp, qp->qp_num));
	for (round = 1; round <= 100; round++) {
		fill(source, BYTES, round);
		for (i = 0; i < 32; i++)
			sge[i] = (struct ibv_sge) {
				(uintptr_t)source + 8192 * (i + 1) - 8, 16,
				from->lkey,
			};
		EXPECT(!ibv_post_send(qp, &wr, &bad));
		EXPECT(!status(cq));
		for (i = 0; i < 32; i++)
			EXPECT(!memcmp(target + 16 * i,
				       source + 8192 * (i + 1) - 8, 16));
	}
	EXPECT(!ibv_destroy_qp(qp));
}

static const struct test_case cases[] = {
	CASE(bytes_arrive), CASE(inline_bytes_arrive), CASE(atomics_count),
	CASE(reads_stay_in_order), CASE(errors_are_told),
	CASE(receiver_not_ready), CASE(nobody_answers), CASE(to_itself),
	CASE(both_ways), CASE(peer_is_modified), CASE(too_many_pieces), { },
};

int main(int argc, char **argv)
{
	if (argc != 4)
		return 2;
	open_device(argv[1], argv[2]);
	make_memory();
	return run_case(cases, argv[3]);
}
