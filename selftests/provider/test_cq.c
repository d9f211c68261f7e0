// SPDX-License-Identifier: GPL-2.0
/* Completion queues. */
#include "fake.h"

TEST(poll_cq__converts)
{
	struct frdma_cq *cq = open_cq(0);
	struct ibv_wc wc;

	EXPECT_EQ(frdma_poll_cq(&cq->vcq.cq, 1, &wc), 0);
	complete(&cq->ring, 7);
	EXPECT_EQ(frdma_poll_cq(&cq->vcq.cq, 1, &wc), 1);
	EXPECT_EQ(wc.wr_id, 7);
	EXPECT_EQ(wc.opcode, IBV_WC_RECV);
	EXPECT_EQ(wc.byte_len, 100);
	EXPECT_EQ(wc.invalidated_rkey, 0x1234);
	EXPECT_EQ(wc.qp_num, 17);
	EXPECT_EQ(wc.src_qp, 18);
	EXPECT_EQ(wc.sl, 3);
	EXPECT_EQ(wc.vendor_err, 4);
	EXPECT_EQ(wc.wc_flags, IBV_WC_GRH | IBV_WC_WITH_INV);
	EXPECT_EQ(wc.slid, 0);
	EXPECT_EQ(frdma_poll_cq(&cq->vcq.cq, 1, &wc), 0);
	close_cq(cq);
}

TEST(poll_cq__in_batches_and_around)
{
	struct frdma_cq *cq = open_cq(0);
	struct ibv_wc wc[CQ_ENTRIES];
	uint64_t made = 0, seen = 0;
	int i, n;

	for (i = 0; i < 50; i++) {
		while (cq->ring.head->prod - cq->ring.head->cons < CQ_ENTRIES)
			complete(&cq->ring, made++);
		n = frdma_poll_cq(&cq->vcq.cq, 3, wc);
		EXPECT_EQ(n, 3);
		for (n = 0; n < 3; n++)
			EXPECT_EQ(wc[n].wr_id, seen++);
		EXPECT_EQ(cq->ring.head->cons, seen);
	}
	EXPECT_EQ(frdma_poll_cq(&cq->vcq.cq, CQ_ENTRIES, wc), CQ_ENTRIES - 3);
	EXPECT_EQ(frdma_poll_cq(&cq->vcq.cq, 0, wc), 0);
	close_cq(cq);
}

TEST(poll_cq__eio_when_unplugged)
{
	struct frdma_cq *cq = open_cq(0);
	struct ibv_wc wc;

	complete(&cq->ring, 1);
	EXPECT_EQ(frdma_poll_cq(&cq->vcq.cq, 1, &wc), 1);
	memset(cq->ring.head, 0, cq->ring.size);
	EXPECT(frdma_poll_cq(&cq->vcq.cq, 1, &wc) == -EIO);
	close_cq(cq);
}

TEST(cq_ex__reads_all)
{
	struct frdma_cq *cq = open_cq(FRDMA_CQ_WC_FLAGS);
	struct ibv_cq_ex *ex = &cq->vcq.cq_ex;
	struct ibv_poll_cq_attr attr = {};

	EXPECT_EQ(kernel.cq_flags, FRDMA_CQ_WC_FLAGS);
	EXPECT_EQ(ex->start_poll(ex, &attr), ENOENT);
	complete(&cq->ring, 1);
	complete(&cq->ring, 2);
	EXPECT_EQ(ex->start_poll(ex, &attr), 0);
	EXPECT_EQ(ex->wr_id, 1);
	EXPECT_EQ(ex->status, IBV_WC_SUCCESS);
	EXPECT_EQ(ex->read_opcode(ex), IBV_WC_RECV);
	EXPECT_EQ(ex->read_vendor_err(ex), 4);
	EXPECT_EQ(ex->read_wc_flags(ex), IBV_WC_GRH | IBV_WC_WITH_INV);
	EXPECT_EQ(ex->read_byte_len(ex), 100);
	EXPECT_EQ(ex->read_imm_data(ex), 0x1234);
	EXPECT_EQ(ex->read_qp_num(ex), 17);
	EXPECT_EQ(ex->read_src_qp(ex), 18);
	EXPECT_EQ(ex->read_slid(ex), 0);
	EXPECT_EQ(ex->read_sl(ex), 3);
	EXPECT_EQ(ex->read_dlid_path_bits(ex), 0);
	EXPECT_EQ(ex->read_completion_ts(ex), 1001);
	EXPECT_EQ(cq->ring.head->cons, 0);
	EXPECT_EQ(ex->next_poll(ex), 0);
	EXPECT_EQ(ex->wr_id, 2);
	EXPECT_EQ(ex->next_poll(ex), ENOENT);
	ex->end_poll(ex);
	EXPECT_EQ(cq->ring.head->cons, 2);
	EXPECT_EQ(ex->start_poll(ex, &attr), ENOENT);
	close_cq(cq);
}

TEST(cq_ex__both_ways_of_polling_mix)
{
	struct frdma_cq *cq = open_cq(0);
	struct ibv_cq_ex *ex = &cq->vcq.cq_ex;
	struct ibv_poll_cq_attr attr = {};
	struct ibv_wc wc;

	complete(&cq->ring, 1);
	complete(&cq->ring, 2);
	complete(&cq->ring, 3);
	EXPECT_EQ(ex->start_poll(ex, &attr), 0);
	ex->end_poll(ex);
	EXPECT_EQ(frdma_poll_cq(&cq->vcq.cq, 1, &wc), 1);
	EXPECT_EQ(wc.wr_id, 2);
	EXPECT_EQ(ex->start_poll(ex, &attr), 0);
	EXPECT_EQ(ex->wr_id, 3);
	ex->end_poll(ex);
	close_cq(cq);
}

/* Which who polls alone may do: no lock is in its way. */
TEST(cq_ex__queue_pair_is_destroyed_while_completions_are_read)
{
	struct frdma_cq *cq = open_lone_cq();
	struct ibv_cq_ex *ex = &cq->vcq.cq_ex;
	struct ibv_poll_cq_attr attr = {};

	complete_of(&cq->ring, 1, 17);
	complete_of(&cq->ring, 2, 16);
	complete_of(&cq->ring, 3, 17);
	complete_of(&cq->ring, 4, 16);
	EXPECT_EQ(ex->start_poll(ex, &attr), 0);
	EXPECT_EQ(ex->wr_id, 1);
	frdma_cq_forget(&cq->vcq.cq, 16);
	EXPECT_EQ(cq->ring.head->cons, 0);
	EXPECT_EQ(ex->read_completion_ts(ex), 1001);
	EXPECT_EQ(ex->next_poll(ex), 0);
	EXPECT_EQ(ex->wr_id, 3);
	EXPECT_EQ(ex->next_poll(ex), ENOENT);
	ex->end_poll(ex);
	EXPECT_EQ(cq->ring.head->cons, 4);
	complete(&cq->ring, 5);
	EXPECT_EQ(ex->start_poll(ex, &attr), 0);
	EXPECT_EQ(ex->wr_id, 5);
	ex->end_poll(ex);
	EXPECT_EQ(cq->ring.head->cons, 5);
	close_cq(cq);
}

/* The last one read, and nothing else. */
TEST(cq_ex__queue_pair_is_destroyed_with_its_last_completion)
{
	struct frdma_cq *cq = open_lone_cq();
	struct ibv_cq_ex *ex = &cq->vcq.cq_ex;
	struct ibv_poll_cq_attr attr = {};
	struct ibv_wc wc;

	complete(&cq->ring, 1);
	complete(&cq->ring, 2);
	EXPECT_EQ(ex->start_poll(ex, &attr), 0);
	frdma_cq_forget(&cq->vcq.cq, 17);
	EXPECT_EQ(ex->wr_id, 1);
	ex->end_poll(ex);
	EXPECT_EQ(cq->ring.head->cons, 2);
	EXPECT_EQ(frdma_poll_cq(&cq->vcq.cq, 1, &wc), 0);
	complete(&cq->ring, 3);
	frdma_cq_forget(&cq->vcq.cq, 17);
	EXPECT_EQ(cq->ring.head->cons, 3);
	close_cq(cq);
}

static uint64_t raw_ns(void)
{
	struct timespec now;

	EXPECT(!clock_gettime(CLOCK_MONOTONIC_RAW, &now));
	return now.tv_sec * 1000000000ULL + now.tv_nsec;
}

static struct timespec raw_clock(void)
{
	struct ibv_values_ex values = { .comp_mask = ~0U };

	EXPECT_EQ(frdma_query_rt_values(&kernel.vctx.context, &values), 0);
	EXPECT_EQ(values.comp_mask, IBV_VALUES_MASK_RAW_CLOCK);
	EXPECT_EQ(values.raw_clock.tv_sec, 0);
	return values.raw_clock;
}

TEST(query_rt_values__reads_the_kernels_clock)
{
	kernel_open();
	kernel.clock_ns = 5000000001;
	EXPECT_EQ((uint64_t)raw_clock().tv_nsec, 5000000001);
	kernel_close();
}

TEST(query_rt_values__without_the_method_reads_its_own_clock)
{
	uint64_t before = raw_ns(), now;

	kernel_open();
	now = raw_clock().tv_nsec;
	EXPECT(now >= before && now <= raw_ns());
	kernel_close();
}

TEST(cq_ex__refuses_what_it_has_not)
{
	EXPECT(!open_cq(IBV_WC_EX_WITH_TM_INFO));
	EXPECT_EQ(errno, EOPNOTSUPP);
	kernel_close();
	EXPECT(!open_cq(1ULL << 40));
	kernel_close();
}

TEST(req_notify_cq__asks_in_the_ring)
{
	struct frdma_cq *cq = open_cq(0);
	struct frdma_ring_head *head = cq->ring.head;

	EXPECT_EQ(frdma_req_notify_cq(&cq->vcq.cq, 1), 0);
	EXPECT_EQ(head->armed, FRDMA_ARM_SOLICITED);
	EXPECT_EQ(frdma_req_notify_cq(&cq->vcq.cq, 0), 0);
	EXPECT_EQ(head->armed, FRDMA_ARM_SOLICITED | FRDMA_ARM_NEXT);
	head->armed = 0;
	EXPECT_EQ(frdma_req_notify_cq(&cq->vcq.cq, 0), 0);
	EXPECT_EQ(head->armed, FRDMA_ARM_NEXT);
	close_cq(cq);
}

TEST(resize_cq__goes_on_in_the_new_ring)
{
	struct frdma_cq *cq = open_cq(0);
	struct frdma_ring_head *old = cq->ring.head;
	struct ibv_wc wc;

	complete(&cq->ring, 1);
	EXPECT_EQ(frdma_poll_cq(&cq->vcq.cq, 1, &wc), 1);
	EXPECT_EQ(frdma_resize_cq(&cq->vcq.cq, 32), 0);
	EXPECT(cq->ring.head != old);
	EXPECT_EQ(cq->ring.entries, 32);
	EXPECT_EQ(cq->vcq.cq.cqe, 32);
	complete(&cq->ring, 2);
	EXPECT_EQ(frdma_poll_cq(&cq->vcq.cq, 1, &wc), 1);
	EXPECT_EQ(wc.wr_id, 2);
	EXPECT_EQ(cq->ring.head->cons, 1);
	close_cq(cq);
}

TEST(resize_cq__refused_changes_nothing)
{
	struct frdma_cq *cq = open_cq(0);
	struct frdma_ring old = cq->ring;

	kernel.fail_resize = EINVAL;
	EXPECT_EQ(frdma_resize_cq(&cq->vcq.cq, 1), EINVAL);
	EXPECT(!memcmp(&old, &cq->ring, sizeof(old)));
	close_cq(cq);
}
