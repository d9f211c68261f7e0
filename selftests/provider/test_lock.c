// SPDX-License-Identifier: GPL-2.0
/* Locks of queues, and system calls. */
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#include "fake.h"

/* The lock that another thread would want during the doorbell. */
static struct frdma_lock *wanted;
static unsigned int got;

static void take_wanted(void)
{
	if (!pthread_spin_trylock(&wanted->spin)) {
		pthread_spin_unlock(&wanted->spin);
		got++;
	}
}

/* The doorbell reports whether another thread could post meanwhile. */
static void watch(struct frdma_lock *lock)
{
	wanted = lock;
	got = 0;
	EXPECT(lock->needed);
	kernel.in_doorbell = take_wanted;
}

TEST(post_send__rings_without_the_lock)
{
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND }, *bad;
	struct ibv_qp *qp = open_qp(IBV_QPT_RC, 0);

	watch(&to_frdma_qp(qp)->sq.lock);
	EXPECT_EQ(frdma_post_send(qp, &wr, &bad), 0);
	EXPECT_EQ(got, 1);
	close_qp(qp);
}

TEST(post_recv__rings_without_the_lock)
{
	struct ibv_recv_wr wr = {}, *bad;
	struct ibv_qp *qp = open_qp(IBV_QPT_RC, 0);

	watch(&to_frdma_qp(qp)->rq.lock);
	to_frdma_qp(qp)->rq.ring.head->flags = FRDMA_RING_NEED_DOORBELL;
	EXPECT_EQ(frdma_post_recv(qp, &wr, &bad), 0);
	EXPECT_EQ(got, 1);
	close_qp(qp);
}

TEST(wr_complete__rings_without_the_lock)
{
	struct ibv_qp *qp = open_qp(IBV_QPT_RC, IBV_QP_EX_WITH_SEND);
	struct ibv_qp_ex *ex = &to_frdma_qp(qp)->vqp.qp_ex;

	watch(&to_frdma_qp(qp)->sq.lock);
	ibv_wr_start(ex);
	ibv_wr_send(ex);
	ibv_wr_set_sge(ex, 0, 0, 0);
	EXPECT_EQ(ibv_wr_complete(ex), 0);
	EXPECT_EQ(got, 1);
	close_qp(qp);
}

/* All calls leave the lock free, also those that fail. */
TEST(locks__are_free_after_each_call)
{
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND }, *bad;
	struct ibv_recv_wr recv = {}, *bad_recv;
	struct ibv_qp *qp = open_qp(IBV_QPT_RC, IBV_QP_EX_WITH_SEND);
	struct ibv_qp_ex *ex = &to_frdma_qp(qp)->vqp.qp_ex;
	int i;

	to_frdma_qp(qp)->rq.ring.head->flags = FRDMA_RING_NEED_DOORBELL;
	watch(&to_frdma_qp(qp)->sq.lock);
	for (i = 0; i < SQ_ENTRIES + 2; i++) {
		kernel.fail_doorbell = i == 2 ? EIO : 0;
		frdma_post_send(qp, &wr, &bad);
		got = 0;
		take_wanted();
		EXPECT_EQ(got, 1);
	}
	ibv_wr_start(ex);
	ibv_wr_send(ex);
	EXPECT_EQ(ibv_wr_complete(ex), ENOMEM);
	got = 0;
	take_wanted();
	EXPECT_EQ(got, 1);

	watch(&to_frdma_qp(qp)->rq.lock);
	for (i = 0; i < RQ_ENTRIES + 2; i++) {
		kernel.fail_doorbell = i == 2 ? EIO : 0;
		frdma_post_recv(qp, &recv, &bad_recv);
		got = 0;
		take_wanted();
		EXPECT_EQ(got, 1);
	}
	close_qp(qp);
}

static _Atomic pid_t waiter_tid;

static void *wait_for_lock(void *lock)
{
	waiter_tid = gettid();
	frdma_lock(lock);
	frdma_unlock(lock);
	return NULL;
}

/* How often a thread has given its CPU up by itself: a spinning one does not. */
static long times_asleep(pid_t tid)
{
	char path[64], line[256];
	long times = -1;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/task/%d/status", tid);
	f = fopen(path, "r");
	EXPECT(f);
	while (fgets(line, sizeof(line), f))
		sscanf(line, "voluntary_ctxt_switches: %ld", &times);
	fclose(f);
	return times;
}

TEST(lock__a_long_wait_sleeps)
{
	struct frdma_lock lock;
	pthread_t waiter;
	int ms;

	frdma_lock_init(&lock, true);
	frdma_lock(&lock);
	EXPECT(!pthread_create(&waiter, NULL, wait_for_lock, &lock));
	for (ms = 0; ms < 10000; ms++) {
		if (waiter_tid && times_asleep(waiter_tid) >= 10)
			break;
		usleep(1000);
	}
	EXPECT(times_asleep(waiter_tid) >= 10);
	frdma_unlock(&lock);
	EXPECT(!pthread_join(waiter, NULL));
	frdma_lock_destroy(&lock);
}
