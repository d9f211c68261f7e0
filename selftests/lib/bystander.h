/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Two queue pairs that have nothing to do with what a test does to others:
 * they go on. They may be of a process of their own. Include it after pair.h.
 */
#ifndef FRDMA_TEST_BYSTANDER_H
#define FRDMA_TEST_BYSTANDER_H

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static struct pair bystander;
static struct ibv_mr *bystander_mr;
static unsigned char bystander_memory[2][256];

static inline void bystander_begins(void)
{
	bystander = make_pair(4);
	bystander_mr = ibv_reg_mr(pd, bystander_memory,
				  sizeof(bystander_memory), RIGHTS);
	EXPECT(bystander_mr);
}

/* A message passes, unspoilt. */
static inline void bystander_goes_on(void)
{
	static unsigned char round;
	size_t len = sizeof(bystander_memory[0]);
	struct ibv_sge from = {
		(uintptr_t)bystander_memory[0], len, bystander_mr->lkey,
	}, to = {
		(uintptr_t)bystander_memory[1], len, bystander_mr->lkey,
	};
	struct ibv_recv_wr *bad_recv, recv = { .sg_list = &to, .num_sge = 1 };
	struct ibv_send_wr *bad_send, send = {
		.sg_list = &from, .num_sge = 1, .opcode = IBV_WR_SEND,
	};

	memset(bystander_memory[0], ++round, len);
	EXPECT(!ibv_post_recv(bystander.far, &recv, &bad_recv));
	EXPECT(!ibv_post_send(bystander.near, &send, &bad_send));
	EXPECT(status(bystander.near_cq) == IBV_WC_SUCCESS);
	EXPECT(status(bystander.far_cq) == IBV_WC_SUCCESS);
	EXPECT(!memcmp(bystander_memory[0], bystander_memory[1], len));
}

static inline void bystander_ends(void)
{
	unmake_pair(&bystander);
	EXPECT(!ibv_dereg_mr(bystander_mr));
}

/* Of a bystander that is a process of its own. */
static pid_t bystander_pid;
static struct {
	volatile bool stopped;
	volatile unsigned long rounds;
} *bystander_state;

static inline void bystander_lives(const char *device, const char *gid,
				   pid_t parent)
{
	/* Machines stall. */
	qp_timeout = 18;
	open_device(device, gid);
	bystander_begins();
	while (!bystander_state->stopped && getppid() == parent) {
		bystander_goes_on();
		bystander_state->rounds++;
		usleep(10000);
	}
	bystander_ends();
	_exit(0);
}

/* Call it before the device is opened. It has begun when this returns. */
static inline void bystander_forks(const char *device, const char *gid)
{
	pid_t parent = getpid();

	bystander_state = mmap(NULL, sizeof(*bystander_state),
			       PROT_READ | PROT_WRITE,
			       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	EXPECT(bystander_state != MAP_FAILED);
	bystander_pid = fork();
	EXPECT(bystander_pid >= 0);
	if (!bystander_pid)
		bystander_lives(device, gid, parent);
	while (!bystander_state->rounds) {
		EXPECT(!waitpid(bystander_pid, NULL, WNOHANG));
		usleep(10000);
	}
}

/* It passes messages still. */
static inline void bystander_is_well(void)
{
	unsigned long rounds = bystander_state->rounds;
	double end = now() + 30 * slow();

	while (bystander_state->rounds == rounds) {
		EXPECT(!waitpid(bystander_pid, NULL, WNOHANG));
		EXPECT(now() < end);
		usleep(1000);
	}
}

/* All of it has been well; how many messages that were. */
static inline unsigned long bystander_stops(void)
{
	int wait_status;

	bystander_state->stopped = true;
	EXPECT(waitpid(bystander_pid, &wait_status, 0) == bystander_pid);
	EXPECT(!wait_status);
	return bystander_state->rounds;
}

#endif /* FRDMA_TEST_BYSTANDER_H */
