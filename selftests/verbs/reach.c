// SPDX-License-Identifier: GPL-2.0
/*
 * Goes to the advertised maxima of a queue pair, and one beyond.
 *
 *	reach DEVICE GID small		elements, inline bytes, READs at a time
 *	reach DEVICE GID deep		work requests: takes a gigabyte
 */
#include "../lib/pair.h"

#define PIECE_LEN	97
#define READ_LEN	64

static struct ibv_device_attr limits;
static struct ibv_mr *mr;
static char *memory;
static size_t memory_len;

static struct ibv_qp_init_attr widest(struct ibv_cq *cq)
{
	return (struct ibv_qp_init_attr) {
		.send_cq = cq, .recv_cq = cq, .qp_type = IBV_QPT_RC,
		.sq_sig_all = 1,
		.cap = { .max_send_wr = limits.max_qp_rd_atom,
			 .max_recv_wr = 1, .max_send_sge = limits.max_sge,
			 .max_recv_sge = limits.max_sge },
	};
}

/* The most inline data that a queue pair is made with. */
static uint32_t find_max_inline(struct ibv_cq *cq)
{
	struct ibv_qp_init_attr init = widest(cq);
	uint32_t fits = 0, bytes;
	struct ibv_qp *qp;

	for (bytes = 64; bytes <= 1 << 20; bytes += 64) {
		init = widest(cq);
		init.cap.max_inline_data = bytes;
		qp = ibv_create_qp(pd, &init);
		if (!qp)
			break;
		EXPECT(init.cap.max_inline_data >= bytes);
		EXPECT(!ibv_destroy_qp(qp));
		fits = bytes;
	}
	EXPECT(fits && errno == EINVAL);
	return fits;
}

/* Connected to itself, with all the READs at a time that there may be. */
static void connect_widest(struct ibv_qp *qp)
{
	struct ibv_qp_attr init = init_attr(), rtr = rtr_attr(qp->qp_num);
	struct ibv_qp_attr rts = rts_attr();

	EXPECT(!ibv_modify_qp(qp, &init, TO_INIT));
	rtr.max_dest_rd_atomic = limits.max_qp_rd_atom + 1;
	EXPECT(ibv_modify_qp(qp, &rtr, TO_RTR) == EINVAL);
	rtr.max_dest_rd_atomic = limits.max_qp_rd_atom;
	EXPECT(!ibv_modify_qp(qp, &rtr, TO_RTR));
	rts.max_rd_atomic = limits.max_qp_init_rd_atom + 1;
	EXPECT(ibv_modify_qp(qp, &rts, TO_RTS) == EINVAL);
	rts.max_rd_atomic = limits.max_qp_init_rd_atom;
	EXPECT(!ibv_modify_qp(qp, &rts, TO_RTS));
}

static void fill_memory(void)
{
	size_t i;

	for (i = 0; i < memory_len / 2; i++)
		memory[i] = i * 31 + i / 251;
	memset(memory + memory_len / 2, 0, memory_len / 2);
}

/* Pieces of the first or second half, from its end to its begin. */
static void cut_up(struct ibv_sge *sge, int n, int half)
{
	int i;

	for (i = 0; i < n; i++)
		sge[i] = (struct ibv_sge) {
			.addr = (uintptr_t)memory + half * memory_len / 2 +
				(n - i - 1) * PIECE_LEN,
			.length = PIECE_LEN, .lkey = mr->lkey,
		};
}

static void send_pieces(struct ibv_qp *qp)
{
	int n = limits.max_sge;
	struct ibv_sge from[n + 1], to[n + 1];
	struct ibv_recv_wr *bad_recv, recv = { .sg_list = to };
	struct ibv_send_wr *bad_send, send = {
		.sg_list = from, .opcode = IBV_WR_SEND,
	};

	fill_memory();
	cut_up(from, n, 0);
	cut_up(to, n, 1);
	recv.num_sge = n + 1;
	EXPECT(ibv_post_recv(qp, &recv, &bad_recv));
	recv.num_sge = n;
	EXPECT(!ibv_post_recv(qp, &recv, &bad_recv));
	send.num_sge = n + 1;
	EXPECT(ibv_post_send(qp, &send, &bad_send));
	send.num_sge = n;
	EXPECT(!ibv_post_send(qp, &send, &bad_send));
	EXPECT(status(qp->send_cq) == IBV_WC_SUCCESS);
	EXPECT(status(qp->send_cq) == IBV_WC_SUCCESS);
	EXPECT(!memcmp(memory, memory + memory_len / 2, n * PIECE_LEN));
}

static void send_inline(struct ibv_qp *qp, uint32_t len)
{
	struct ibv_sge sge = { .addr = (uintptr_t)memory };
	struct ibv_send_wr *bad, wr = {
		.sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_RDMA_WRITE,
		.send_flags = IBV_SEND_INLINE,
		.wr.rdma = { .remote_addr = (uintptr_t)memory + memory_len / 2,
			     .rkey = mr->rkey },
	};

	fill_memory();
	sge.length = len + 1;
	EXPECT(ibv_post_send(qp, &wr, &bad));
	sge.length = len;
	EXPECT(!ibv_post_send(qp, &wr, &bad));
	EXPECT(status(qp->send_cq) == IBV_WC_SUCCESS);
	EXPECT(!memcmp(memory, memory + memory_len / 2, len));
}

/* All are posted before the first is polled, and one has no room. */
static void read_at_a_time(struct ibv_qp *qp)
{
	int i, n = limits.max_qp_init_rd_atom;
	struct ibv_sge sge[n];
	struct ibv_send_wr *bad, wr[n];

	fill_memory();
	memset(wr, 0, sizeof(wr));
	for (i = 0; i < n; i++) {
		sge[i] = (struct ibv_sge) {
			.addr = (uintptr_t)memory + memory_len / 2 +
				i * READ_LEN,
			.length = READ_LEN, .lkey = mr->lkey,
		};
		wr[i].sg_list = &sge[i];
		wr[i].num_sge = 1;
		wr[i].opcode = IBV_WR_RDMA_READ;
		wr[i].wr.rdma.remote_addr = (uintptr_t)memory + i * READ_LEN;
		wr[i].wr.rdma.rkey = mr->rkey;
		wr[i].next = i + 1 < n ? &wr[i + 1] : NULL;
	}
	EXPECT(!ibv_post_send(qp, wr, &bad));
	for (i = 0; i < n; i++)
		EXPECT(status(qp->send_cq) == IBV_WC_SUCCESS);
	EXPECT(!memcmp(memory, memory + memory_len / 2, n * READ_LEN));
}

static void small(void)
{
	struct ibv_cq *cq = ibv_create_cq(ctx, 1024, NULL, NULL, 0);
	struct ibv_qp_init_attr init;
	uint32_t max_inline;
	struct ibv_qp *qp;

	EXPECT(cq);
	max_inline = find_max_inline(cq);
	init = widest(cq);
	init.cap.max_inline_data = max_inline;
	qp = ibv_create_qp(pd, &init);
	EXPECT(qp);
	connect_widest(qp);
	send_pieces(qp);
	send_inline(qp, init.cap.max_inline_data);
	read_at_a_time(qp);
	printf("%d elements, %u inline bytes, %d READs\n", limits.max_sge,
	       init.cap.max_inline_data, limits.max_qp_init_rd_atom);
	EXPECT(!ibv_destroy_qp(qp) && !ibv_destroy_cq(cq));
}

/* Writes that nobody polls before all are posted; then all are complete. */
static void deep(void)
{
	struct ibv_cq *cq = ibv_create_cq(ctx, limits.max_cqe, NULL, NULL, 0);
	struct ibv_sge sge = {
		.addr = (uintptr_t)memory, .length = 8, .lkey = mr->lkey,
	};
	struct ibv_send_wr *bad, wr = {
		.sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_RDMA_WRITE,
		.wr.rdma = { .remote_addr = (uintptr_t)memory + 64,
			     .rkey = mr->rkey },
	};
	double begin = now(), posted;
	struct ibv_qp_init_attr init;
	struct ibv_qp *qp;
	int i;

	EXPECT(cq);
	init = widest(cq);
	init.cap.max_send_wr = limits.max_qp_wr;
	init.cap.max_recv_wr = limits.max_qp_wr;
	init.cap.max_send_sge = 1;
	init.cap.max_recv_sge = 1;
	qp = ibv_create_qp(pd, &init);
	EXPECT(qp);
	EXPECT(!connect_qp(qp, qp->qp_num));
	printf("made in %.1f s\n", now() - begin);
	begin = now();
	for (i = 0; i < limits.max_qp_wr; i++)
		EXPECT(!ibv_post_send(qp, &wr, &bad));
	posted = now();
	for (i = 0; i < limits.max_qp_wr; i++)
		EXPECT(status(cq) == IBV_WC_SUCCESS);
	printf("%d work requests posted in %.1f s, polled in %.1f s\n",
	       limits.max_qp_wr, posted - begin, now() - posted);
	EXPECT(!ibv_destroy_qp(qp) && !ibv_destroy_cq(cq));
}

int main(int argc, char **argv)
{
	EXPECT(argc == 4);
	open_device(argv[1], argv[2]);
	EXPECT(!ibv_query_device(ctx, &limits));
	memory_len = 65536;
	memory = aligned_alloc(4096, memory_len);
	EXPECT(memory);
	mr = ibv_reg_mr(pd, memory, memory_len, RIGHTS);
	EXPECT(mr);
	if (!strcmp(argv[3], "small"))
		small();
	else
		deep();
	EXPECT(!ibv_dereg_mr(mr) && !ibv_dealloc_pd(pd));
	EXPECT(!ibv_close_device(ctx));
	return 0;
}
