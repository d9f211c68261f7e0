// SPDX-License-Identifier: GPL-2.0
/*
 * Calls that the kernel refuses, one for each case. refusals.sh looks for the
 * reason in the trace:
 *
 *	refusals DEVICE GID_INDEX CASE
 */
#include <errno.h>

#include "../lib/pair.h"

/* More than any advertised maximum. */
#define TOO_MANY	(1U << 30)

static struct ibv_cq *cq;

static struct ibv_qp *make_qp_with(struct ibv_qp_cap cap)
{
	struct ibv_qp_init_attr init = {
		.send_cq = cq, .recv_cq = cq, .qp_type = IBV_QPT_RC,
		.cap = cap,
	};

	return ibv_create_qp(pd, &init);
}

static void refused(bool taken, int err)
{
	EXPECT(!taken && errno == err);
}

static void many_sends(void)
{
	struct ibv_qp_cap cap = { .max_send_wr = TOO_MANY };

	refused(make_qp_with(cap), EINVAL);
}

static void many_receives(void)
{
	struct ibv_qp_cap cap = { .max_recv_wr = TOO_MANY };

	refused(make_qp_with(cap), EINVAL);
}

static void much_inline(void)
{
	struct ibv_qp_cap cap = { .max_inline_data = TOO_MANY };

	refused(make_qp_with(cap), EINVAL);
}

static void many_completions(void)
{
	errno = 0;
	refused(ibv_create_cq(ctx, TOO_MANY, NULL, NULL, 0), EINVAL);
}

static void deep_srq(void)
{
	struct ibv_srq_init_attr init = { .attr = { .max_wr = TOO_MANY } };

	refused(ibv_create_srq(pd, &init), EINVAL);
}

/* RTR of a queue pair in INIT, with attributes that a case has changed. */
static void enter_rtr(struct ibv_qp_attr rtr, int mask)
{
	struct ibv_qp *qp = make_qp(cq, 4);
	struct ibv_qp_attr init = init_attr();

	EXPECT(qp && !ibv_modify_qp(qp, &init, TO_INIT));
	EXPECT(ibv_modify_qp(qp, &rtr, mask) == EINVAL);
	EXPECT(!ibv_destroy_qp(qp));
}

static void large_path_mtu(void)
{
	struct ibv_qp_attr rtr = rtr_attr(1);

	rtr.path_mtu = IBV_MTU_4096;
	enter_rtr(rtr, TO_RTR);
}

static void long_rnr_timer(void)
{
	struct ibv_qp_attr rtr = rtr_attr(1);

	rtr.min_rnr_timer = 32;
	enter_rtr(rtr, TO_RTR);
}

static void attribute_is_missing(void)
{
	enter_rtr(rtr_attr(1), TO_RTR & ~IBV_QP_DEST_QPN);
}

static void no_such_transition(void)
{
	struct ibv_qp *qp = make_qp(cq, 4);
	struct ibv_qp_attr rts = rts_attr();

	EXPECT(qp && ibv_modify_qp(qp, &rts, TO_RTS) == EINVAL);
	EXPECT(!ibv_destroy_qp(qp));
}

static void implicit_with_iova(void)
{
	refused(ibv_reg_mr_iova(pd, NULL, SIZE_MAX, 4096,
				IBV_ACCESS_ON_DEMAND), EINVAL);
}

static void no_memory_there(void)
{
	refused(ibv_reg_mr(pd, (void *)4096, 4096, 0), EFAULT);
}

static void device_memory_of_no_size(void)
{
	struct ibv_alloc_dm_attr attr = { .length = 1, .log_align_req = 31 };

	refused(ibv_alloc_dm(ctx, &attr), EINVAL);
}

static void small_cq(void)
{
	struct ibv_send_wr wr = { .opcode = IBV_WR_RDMA_WRITE }, *bad;
	struct ibv_qp *qp = make_qp(cq, 4);
	double end = now() + 20 * slow();
	int i;

	EXPECT(qp && !connect_qp(qp, qp->qp_num));
	for (i = 0; i < 4; i++)
		EXPECT(!ibv_post_send(qp, &wr, &bad));
	while (!ibv_resize_cq(cq, 1) && now() < end)
		EXPECT(!ibv_resize_cq(cq, 16));
	EXPECT(now() < end);
}

static void small_srq(void)
{
	struct ibv_srq_init_attr init = {
		.attr = { .max_wr = 4, .max_sge = 1 },
	};
	struct ibv_srq_attr less = { .max_wr = 1 };
	struct ibv_recv_wr wr = { }, *bad;
	struct ibv_srq *srq;
	int i;

	srq = ibv_create_srq(pd, &init);
	EXPECT(srq);
	for (i = 0; i < 4; i++)
		EXPECT(!ibv_post_srq_recv(srq, &wr, &bad));
	EXPECT(ibv_modify_srq(srq, &less, IBV_SRQ_MAX_WR) == EINVAL);
	EXPECT(!ibv_destroy_srq(srq));
}

static const struct test_case cases[] = {
	CASE(many_sends),
	CASE(many_receives),
	CASE(much_inline),
	CASE(many_completions),
	CASE(deep_srq),
	CASE(large_path_mtu),
	CASE(long_rnr_timer),
	CASE(attribute_is_missing),
	CASE(no_such_transition),
	CASE(implicit_with_iova),
	CASE(no_memory_there),
	CASE(device_memory_of_no_size),
	CASE(small_cq),
	CASE(small_srq),
	{ }
};

int main(int argc, char **argv)
{
	if (argc != 4)
		return 2;
	open_device(argv[1], argv[2]);
	cq = ibv_create_cq(ctx, 16, NULL, NULL, 0);
	EXPECT(cq);
	return run_case(cases, argv[3]);
}
