// SPDX-License-Identifier: GPL-2.0
/*
 * A send queue that is much longer than what can be in flight. limits.sh runs it:
 *
 *	deep DEVICE GID_INDEX
 */
#include "../lib/pair.h"
#include "../lib/meminfo.h"

#define DEPTH		16384
#define INLINE_MAX	1024
#define RECEIVES	512
#define SIGNALED_EACH	1024

static struct ibv_cq *near_cq, *far_cq;

static struct ibv_qp *make(struct ibv_cq *cq, uint32_t sends, uint32_t receives)
{
	struct ibv_qp_init_attr init = {
		.send_cq = cq, .recv_cq = cq, .qp_type = IBV_QPT_RC,
		.cap = { .max_send_wr = sends, .max_recv_wr = receives,
			 .max_send_sge = 1, .max_recv_sge = 1,
			 .max_inline_data = INLINE_MAX },
	};
	struct ibv_qp *qp = ibv_create_qp(pd, &init);

	EXPECT(qp);
	return qp;
}

/* The queue and 1,024 copies. Copies of all would take twice the memory. */
static struct ibv_qp *make_deep(void)
{
	double before = bytes_of("VmallocUsed"), took;
	struct ibv_qp *qp = make(near_cq, DEPTH, 1);

	took = bytes_of("VmallocUsed") - before;
	printf("%.0f bytes for %d work requests of %d\n", took, DEPTH,
	       INLINE_MAX);
	EXPECT(took < 1.5 * DEPTH * INLINE_MAX);
	return qp;
}

/* The immediate data is the number of the request. The peer has no receives yet. */
static void post_all(struct ibv_qp *qp)
{
	static unsigned char data[64];
	struct ibv_sge sge = { (uintptr_t)data, sizeof(data), 0 };
	struct ibv_send_wr *bad, wr = {
		.sg_list = &sge, .num_sge = 1,
		.opcode = IBV_WR_SEND_WITH_IMM,
	};
	uint32_t i;

	for (i = 0; i < DEPTH; i++) {
		wr.wr_id = i;
		wr.imm_data = i;
		wr.send_flags = IBV_SEND_INLINE;
		if (i % SIGNALED_EACH == SIGNALED_EACH - 1)
			wr.send_flags |= IBV_SEND_SIGNALED;
		EXPECT(!ibv_post_send(qp, &wr, &bad));
	}
	errno = ibv_post_send(qp, &wr, &bad);
	EXPECT(errno == ENOMEM);
}

static void post_receives(struct ibv_qp *qp, struct ibv_mr *mr)
{
	struct ibv_sge sge = { (uintptr_t)mr->addr, mr->length, mr->lkey };
	struct ibv_recv_wr *bad, wr = { .sg_list = &sge, .num_sge = 1 };
	int i;

	for (i = 0; i < RECEIVES; i++)
		EXPECT(!ibv_post_recv(qp, &wr, &bad));
}

static void take_all(struct ibv_qp *qp)
{
	static unsigned char there[64];
	struct ibv_mr *mr = ibv_reg_mr(pd, there, sizeof(there), RIGHTS);
	struct ibv_wc wc;
	uint32_t i;

	EXPECT(mr);
	for (i = 0; i < DEPTH; i++) {
		if (!(i % RECEIVES))
			post_receives(qp, mr);
		wc = next_wc(far_cq);
		EXPECT(!wc.status && wc.imm_data == i);
	}
}

int main(int argc, char **argv)
{
	struct ibv_qp *near, *far;
	struct ibv_wc wc;
	uint32_t i;

	if (argc != 3)
		return 2;
	open_device(argv[1], argv[2]);
	near_cq = ibv_create_cq(ctx, DEPTH, NULL, NULL, 0);
	far_cq = ibv_create_cq(ctx, 2 * RECEIVES, NULL, NULL, 0);
	EXPECT(near_cq && far_cq);
	near = make_deep();
	far = make(far_cq, 1, RECEIVES);
	EXPECT(!connect_qp(near, far->qp_num));
	EXPECT(!connect_qp(far, near->qp_num));

	post_all(near);
	take_all(far);
	for (i = SIGNALED_EACH - 1; i < DEPTH; i += SIGNALED_EACH) {
		wc = next_wc(near_cq);
		EXPECT(!wc.status && wc.wr_id == i);
	}
	return 0;
}
