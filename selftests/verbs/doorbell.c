// SPDX-License-Identifier: GPL-2.0
/*
 * Doorbells rung, and events asked for, by those who did not open the device. doorbell.sh builds and
 * runs it:
 *
 *	doorbell DEVICE GID_INDEX CASE
 */
#include <fcntl.h>
#include <grp.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../lib/doorbell.h"
#include "../lib/pair.h"

#define NOBODY	65534

static unsigned char memory[4096];
static struct ibv_mr *mr;
static struct pair p;

static void post(void)
{
	struct ibv_sge sge = { (uintptr_t)memory, 64, mr->lkey };
	struct ibv_recv_wr recv = { .sg_list = &sge, .num_sge = 1 };
	struct ibv_send_wr send = {
		.sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND,
	}, *bad_send;
	struct ibv_recv_wr *bad_recv;

	EXPECT(!ibv_post_recv(p.far, &recv, &bad_recv));
	EXPECT(!ibv_post_send(p.near, &send, &bad_send));
}

static void exchange(void)
{
	post();
	EXPECT(status(p.near_cq) == IBV_WC_SUCCESS);
	EXPECT(status(p.far_cq) == IBV_WC_SUCCESS);
}

/* As a server does that opens its devices as root and then steps down. */
static void another_user(void)
{
	exchange();
	EXPECT(!setgroups(0, NULL) && !setgid(NOBODY) && !setuid(NOBODY));
	exchange();
}

/* The same server, if it sleeps until something completes. */
static void another_user_waits_for_events(void)
{
	struct ibv_comp_channel *channel = ibv_create_comp_channel(ctx);
	struct ibv_cq *cq, *raised;
	struct ibv_qp *qp;
	void *cookie;

	EXPECT(channel);
	cq = ibv_create_cq(ctx, 4, NULL, channel, 0);
	EXPECT(cq);
	qp = make_qp(cq, 4);
	EXPECT(qp && !connect_qp(qp, qp->qp_num));
	p.near = qp;
	p.far = qp;
	EXPECT(!setgroups(0, NULL) && !setgid(NOBODY) && !setuid(NOBODY));

	alarm(60 * slow());
	EXPECT(!ibv_req_notify_cq(cq, 0));
	post();
	EXPECT(!ibv_get_cq_event(channel, &raised, &cookie) && raised == cq);
	ibv_ack_cq_events(cq, 1);
	EXPECT(status(cq) == IBV_WC_SUCCESS);
	EXPECT(status(cq) == IBV_WC_SUCCESS);

	/* What is not solicited raises none; an error does. */
	EXPECT(!fcntl(channel->fd, F_SETFL, O_NONBLOCK));
	EXPECT(!ibv_req_notify_cq(cq, 1));
	post();
	EXPECT(status(cq) == IBV_WC_SUCCESS);
	EXPECT(status(cq) == IBV_WC_SUCCESS);
	EXPECT(ibv_get_cq_event(channel, &raised, &cookie) && errno == EAGAIN);
}

/* In the error state, receives are announced by the doorbell, too. */
static void another_user_after_an_error(void)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };

	EXPECT(!ibv_modify_qp(p.near, &attr, IBV_QP_STATE));
	EXPECT(!ibv_modify_qp(p.far, &attr, IBV_QP_STATE));
	EXPECT(!setgid(NOBODY) && !setuid(NOBODY));
	post();
	EXPECT(status(p.near_cq) == IBV_WC_WR_FLUSH_ERR);
	EXPECT(status(p.far_cq) == IBV_WC_WR_FLUSH_ERR);
}

/* A process that was started anew has the file and not the memory. */
static void another_program(void)
{
	char fd[16], handle[16];
	int said;
	pid_t child;

	snprintf(fd, sizeof(fd), "%d", ctx->cmd_fd);
	snprintf(handle, sizeof(handle), "%u", p.near->handle);
	EXPECT(!fcntl(ctx->cmd_fd, F_SETFD, 0));

	child = fork();
	EXPECT(child >= 0);
	if (!child) {
		execl("/proc/self/exe", "doorbell", fd, handle, NULL);
		_exit(126);
	}
	EXPECT(waitpid(child, &said, 0) == child && !said);
	exchange();
}

static void no_queue_pair(void)
{
	uint32_t handle = p.near->handle;

	EXPECT(ring_doorbell_of(ctx->cmd_fd, ~0) && errno == ENOENT);
	EXPECT(ring_doorbell_of(ctx->cmd_fd, pd->handle) && errno);
	unmake_pair(&p);
	EXPECT(ring_doorbell_of(ctx->cmd_fd, handle) && errno == ENOENT);
}

static const struct test_case cases[] = {
	CASE(another_user),
	CASE(another_user_waits_for_events),
	CASE(another_user_after_an_error),
	CASE(another_program),
	CASE(no_queue_pair),
	{ }
};

int main(int argc, char **argv)
{
	if (argc == 3)
		return !!ring_doorbell_of(arg_number(argv[1]), arg_number(argv[2]));
	if (argc != 4)
		return 2;
	open_device(argv[1], argv[2]);
	mr = ibv_reg_mr(pd, memory, sizeof(memory), RIGHTS);
	EXPECT(mr);
	p = make_pair(4);
	return run_case(cases, argv[3]);
}
