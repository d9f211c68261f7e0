// SPDX-License-Identifier: GPL-2.0
/*
 * Completion timestamps beside the clock of the device, as a program compares
 * them:
 *
 *	clock DEVICE GID_INDEX
 */
#include "../lib/pair.h"

static uint64_t device_clock_ns(void)
{
	struct ibv_values_ex values = {
		.comp_mask = IBV_VALUES_MASK_RAW_CLOCK,
	};

	EXPECT(!ibv_query_rt_values_ex(ctx, &values));
	return values.raw_clock.tv_sec * 1000000000ULL +
	       values.raw_clock.tv_nsec;
}

static struct ibv_cq_ex *make_stamped_cq(void)
{
	struct ibv_cq_init_attr_ex attr = {
		.cqe = 4, .wc_flags = IBV_WC_EX_WITH_COMPLETION_TIMESTAMP,
	};
	struct ibv_cq_ex *cq = ibv_create_cq_ex(ctx, &attr);

	EXPECT(cq);
	return cq;
}

static uint64_t next_stamp_ns(struct ibv_cq_ex *cq)
{
	struct ibv_poll_cq_attr attr = {};
	double end = now() + 20 * slow();
	uint64_t stamp_ns;
	int err;

	do
		err = ibv_start_poll(cq, &attr);
	while (err == ENOENT && now() < end);
	EXPECT(!err && cq->status == IBV_WC_SUCCESS);
	stamp_ns = ibv_wc_read_completion_ts(cq);
	ibv_end_poll(cq);
	return stamp_ns;
}

int main(int argc, char **argv)
{
	struct ibv_send_wr wr = { .opcode = IBV_WR_RDMA_WRITE }, *bad;
	uint64_t before_ns, stamp_ns;
	struct ibv_cq_ex *cq;
	struct ibv_qp *qp;

	if (argc != 3)
		return 2;
	open_device(argv[1], argv[2]);
	cq = make_stamped_cq();
	qp = make_qp(ibv_cq_ex_to_cq(cq), 4);
	EXPECT(qp && !connect_qp(qp, qp->qp_num));

	before_ns = device_clock_ns();
	EXPECT(!ibv_post_send(qp, &wr, &bad));
	stamp_ns = next_stamp_ns(cq);
	printf("before %llu, stamp %llu, after %llu\n",
	       (unsigned long long)before_ns, (unsigned long long)stamp_ns,
	       (unsigned long long)device_clock_ns());
	EXPECT(before_ns <= stamp_ns && stamp_ns <= device_clock_ns());
	return 0;
}
