// SPDX-License-Identifier: GPL-2.0
/*
 * Processes that fork while their queue pairs are at work, and such as are
 * killed at whatever moment. death.sh builds and runs it:
 *
 *	death DEVICE GID_INDEX CASE [COUNT]
 */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../lib/pair.h"
#include "../lib/bystander.h"
#include "../lib/maps.h"

#define PAGE		4096
#define SIZE		(64 * PAGE)
#define SOON		5	/* seconds in which whoever is killed is gone */

static const char *device, *gid;
static int count = 60;

static pid_t fork_or_fail(void)
{
	pid_t pid = fork();

	EXPECT(pid >= 0);
	return pid;
}

/* How a process ended, which must be soon. */
static int ended(pid_t pid)
{
	double end = now() + SOON * slow();
	int wait_status = 0;

	while (!waitpid(pid, &wait_status, WNOHANG)) {
		if (now() > end) {
			printf("process %d does not end\n", pid);
			exit(1);
		}
		usleep(1000);
	}
	return wait_status;
}

/* What rdma says there is, in one line. */
static void there_is(char *line, size_t len)
{
	FILE *f = popen("rdma resource show", "r");

	EXPECT(f && fgets(line, len, f));
	EXPECT(!pclose(f));
}

static char before[256];

/*
 * Whoever brings pages of a process keeps its address space meanwhile, and that
 * its mappings of rings: these may be gone a moment later than the process.
 */
static void nothing_is_left(const char *of, int number)
{
	double end = now() + SOON * slow();
	char after[sizeof(before)];

	do
		there_is(after, sizeof(after));
	while (strcmp(before, after) && now() < end);

	if (strcmp(before, after)) {
		printf("%s %d: before: %safter: %s", of, number, before,
		       after);
		exit(1);
	}
}

/*
 * Forks
 */

static void children_come_and_go(void)
{
	pid_t pid;
	int i;

	open_device(device, gid);
	bystander_begins();
	for (i = 0; i < 20; i++) {
		pid = fork_or_fail();
		if (!pid)
			_exit(0);
		bystander_goes_on();
		EXPECT(!ended(pid));
		bystander_goes_on();
	}
	bystander_ends();
}

/* They have all of it, the file and the rings; it is their parent's still. */
static void children_stay(void)
{
	pid_t pids[5];
	int i;

	open_device(device, gid);
	bystander_begins();
	for (i = 0; i < 5; i++) {
		pids[i] = fork_or_fail();
		if (!pids[i]) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			for (;;)
				pause();
		}
		bystander_goes_on();
	}
	for (i = 0; i < 20; i++)
		bystander_goes_on();
	bystander_ends();
	for (i = 0; i < 5; i++) {
		EXPECT(!kill(pids[i], SIGKILL));
		EXPECT(ended(pids[i]) == SIGKILL);
	}
}

/* A child inherits the file and no mapping of it: map the rings in place. */
static void map_again(void)
{
	int i;

	for (i = 0; i < nr_maps; i++)
		EXPECT(mmap(maps[i].at, maps[i].len, PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_FIXED_NOREPLACE, ctx->cmd_fd,
			    maps[i].offset) == maps[i].at);
}

/*
 * A child that goes on when the process that made the objects is gone. The
 * pinned region is shared memory, which the child has. The on-demand region
 * looks its pages up in the address space of the dead parent.
 */
static void heir(int said, struct pair *p, unsigned char *memory,
		 struct ibv_mr *mr, struct ibv_mr *on_demand)
{
	struct ibv_sge sge = { (uintptr_t)memory, PAGE, mr->lkey };
	struct ibv_send_wr wr = {
		.opcode = IBV_WR_RDMA_WRITE,
		.wr.rdma = { (uintptr_t)memory + PAGE, mr->rkey },
	};
	int i;

	map_again();
	while (getppid() != 1)
		usleep(1000);
	for (i = 0; i < 20; i++) {
		fill(memory, PAGE, i + 3);
		EXPECT(!post_wait(p->near, p->near_cq, wr, sge));
		EXPECT(is_filled(memory + PAGE, PAGE, i + 3));
	}
	if (on_demand) {
		sge.lkey = on_demand->lkey;
		EXPECT(post_wait(p->near, p->near_cq, wr, sge) ==
		       IBV_WC_LOC_PROT_ERR);
		EXPECT(!ibv_dereg_mr(on_demand));
	}
	unmake_pair(p);
	EXPECT(!ibv_dereg_mr(mr));
	EXPECT(write(said, "", 1) == 1);
	_exit(0);
}

static void parent_dies(int said)
{
	unsigned char *memory = mmap(NULL, SIZE, PROT_READ | PROT_WRITE,
				     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct ibv_mr *mr, *on_demand;
	struct pair p;

	EXPECT(memory != MAP_FAILED);
	open_device(device, gid);
	p = make_pair(4);
	mr = ibv_reg_mr(pd, memory, SIZE, RIGHTS);
	on_demand = ibv_reg_mr(pd, memory, SIZE,
			       RIGHTS | IBV_ACCESS_ON_DEMAND);
	EXPECT(mr && on_demand);
	find_maps();
	EXPECT(nr_maps > 0);
	if (!fork_or_fail())
		heir(said, &p, memory, mr, on_demand);
	kill(getpid(), SIGKILL);
}

static void parent_goes_first(void)
{
	int said[2];
	char byte;
	pid_t pid;

	EXPECT(!pipe(said));
	pid = fork_or_fail();
	if (!pid)
		parent_dies(said[1]);
	close(said[1]);
	EXPECT(ended(pid) == SIGKILL);
	EXPECT(read(said[0], &byte, 1) == 1);
}

/* Another program does not inherit the file. */
static void another_program(void)
{
	pid_t pid;

	open_device(device, gid);
	bystander_begins();
	pid = fork_or_fail();
	if (!pid) {
		execl("/bin/sh", "sh", "-c", "! ls -l /proc/self/fd | grep -q "
		      "-e uverbs -e infinibandevent", NULL);
		_exit(1);
	}
	EXPECT(!ended(pid));
	bystander_goes_on();
	bystander_ends();
}

/*
 * Kills
 */

/* All kinds of objects, made, used, changed and unmade. */
static void one_cycle(void)
{
	static unsigned char memory[SIZE] __attribute__((aligned(PAGE)));
	struct ibv_alloc_dm_attr dm_attr = { .length = PAGE };
	struct ibv_srq_init_attr srq_attr = {
		.attr = { .max_wr = 16, .max_sge = 1 },
	};
	struct ibv_xrcd_init_attr xrcd_attr = {
		.comp_mask = IBV_XRCD_INIT_ATTR_FD |
			     IBV_XRCD_INIT_ATTR_OFLAGS,
		.fd = -1, .oflags = O_CREAT,
	};
	struct ibv_sge sge = { (uintptr_t)memory, SIZE / 2, 0 };
	struct ibv_send_wr *bad, wr = {
		.sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_RDMA_WRITE,
	};
	struct ibv_xrcd *domain;
	struct ibv_mr *mr, *odp;
	struct ibv_ah_attr ah;
	struct ibv_srq *srq;
	struct ibv_ah *handle;
	struct ibv_mw *mw;
	struct ibv_dm *dm;
	struct pair p;
	int i;

	open_device(device, gid);
	mr = ibv_reg_mr(pd, memory, SIZE, RIGHTS);
	odp = ibv_reg_mr(pd, memory, SIZE, RIGHTS | IBV_ACCESS_ON_DEMAND);
	mw = ibv_alloc_mw(pd, IBV_MW_TYPE_1);
	dm = ibv_alloc_dm(ctx, &dm_attr);
	srq = ibv_create_srq(pd, &srq_attr);
	domain = ibv_open_xrcd(ctx, &xrcd_attr);
	ah = rtr_attr(1).ah_attr;
	handle = ibv_create_ah(pd, &ah);
	EXPECT(mr && odp && mw && dm && srq && domain && handle);
	p = make_pair(8);

	wr.wr.rdma.remote_addr = (uintptr_t)memory + SIZE / 2;
	for (i = 0; i < 6; i++) {
		sge.lkey = i % 2 ? odp->lkey : mr->lkey;
		wr.wr.rdma.rkey = mr->rkey;
		wr.opcode = i < 3 ? IBV_WR_RDMA_WRITE : IBV_WR_RDMA_READ;
		EXPECT(!ibv_post_send(p.near, &wr, &bad));
	}
	EXPECT(!ibv_resize_cq(p.near_cq, 64));
	for (i = 0; i < 6; i++)
		EXPECT(!status(p.near_cq));
	EXPECT(!ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0,
			     IBV_ACCESS_LOCAL_WRITE));

	unmake_pair(&p);
	EXPECT(!ibv_destroy_ah(handle) && !ibv_close_xrcd(domain));
	EXPECT(!ibv_destroy_srq(srq) && !ibv_free_dm(dm));
	EXPECT(!ibv_dealloc_mw(mw) && !ibv_dereg_mr(odp));
	EXPECT(!ibv_dereg_mr(mr) && !ibv_dealloc_pd(pd));
	EXPECT(!ibv_close_device(ctx));
}

/* Seconds that it takes: the second, since the first one loads things. */
static double cycle_takes(void)
{
	double begin;

	one_cycle();
	begin = now();
	one_cycle();
	return now() - begin;
}

/*
 * COUNT times, a little later each time. A cycle may well take less than the one that was
 * measured, while the machine had other work: one that ends first shows how much.
 */
static void killed_at_every_moment(void)
{
	double moment, takes = cycle_takes();
	int i, status, whole = 0;
	pid_t pid;

	for (i = 0; i < count; i++) {
		moment = 1.1 * takes * i / count;
		pid = fork_or_fail();
		if (!pid) {
			one_cycle();
			_exit(0);
		}
		usleep(moment * 1e6);
		kill(pid, SIGKILL);
		status = ended(pid);
		EXPECT(!status || status == SIGKILL);
		whole += !status;
		if (!status && moment < takes)
			takes = moment;
		nothing_is_left("kill", i);
	}
	printf("%d of %d were killed, of a cycle of %d ms\n", count - whole,
	       count, (int)(takes * 1e3));
	EXPECT(whole < count / 2);
}

/* A child that is traced, and stopped where its cycle begins. */
static pid_t traced_cycle(int *status)
{
	pid_t pid = fork_or_fail();

	if (!pid) {
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		raise(SIGSTOP);
		one_cycle();
		_exit(0);
	}
	EXPECT(waitpid(pid, status, 0) == pid && WIFSTOPPED(*status));
	return pid;
}

/* Runs a traced child to its system call number @n, and kills it there. */
static bool killed_at_call(int n)
{
	int status;
	pid_t pid = traced_cycle(&status);

	while (n-- && !WIFEXITED(status)) {
		EXPECT(!ptrace(PTRACE_SYSCALL, pid, NULL, NULL));
		EXPECT(waitpid(pid, &status, 0) == pid);
	}
	if (WIFEXITED(status)) {
		EXPECT(!WEXITSTATUS(status));
		return false;
	}
	kill(pid, SIGKILL);
	EXPECT(ended(pid) == SIGKILL);
	return true;
}

/* How many stops a cycle has: one before and one after each call. */
static int stops_of_a_cycle(void)
{
	int status, n = 0;
	pid_t pid = traced_cycle(&status);

	for (; !WIFEXITED(status); n++) {
		EXPECT(!ptrace(PTRACE_SYSCALL, pid, NULL, NULL));
		EXPECT(waitpid(pid, &status, 0) == pid);
	}
	EXPECT(!WEXITSTATUS(status));
	return n;
}

/* COUNT of them, evenly spread. */
static void killed_at_every_call(void)
{
	int i, stops = stops_of_a_cycle(), killed = 0;

	for (i = 0; i < count; i++) {
		killed += killed_at_call(1 + (long)stops * i / count);
		nothing_is_left("call", i);
	}
	printf("%d of %d were killed, at %d stops\n", killed, count, stops);
	EXPECT(killed > count / 2);
}

static void *wait_for_completion(void *channel)
{
	struct ibv_cq *cq;
	void *context;

	ibv_get_cq_event(channel, &cq, &context);
	return NULL;
}

static void *wait_for_event(void *unused)
{
	struct ibv_async_event event;

	ibv_get_async_event(ctx, &event);
	return unused;
}

static void *send_for_ever(void *pair)
{
	struct pair *p = pair;
	struct ibv_wc wc[8];
	struct ibv_send_wr *bad, wr = { .opcode = IBV_WR_RDMA_WRITE };

	for (;;) {
		ibv_post_send(p->near, &wr, &bad);
		ibv_poll_cq(p->near_cq, 8, wc);
	}
	return NULL;
}

/* All of it at a time, in threads. */
static void waits(int said)
{
	struct ibv_comp_channel *channel;
	pthread_t ids[3];
	struct ibv_cq *cq;
	struct pair p;

	open_device(device, gid);
	channel = ibv_create_comp_channel(ctx);
	cq = ibv_create_cq(ctx, 16, NULL, channel, 0);
	EXPECT(channel && cq && !ibv_req_notify_cq(cq, 0));
	p = make_pair(16);
	EXPECT(!pthread_create(&ids[0], NULL, wait_for_completion, channel));
	EXPECT(!pthread_create(&ids[1], NULL, wait_for_event, NULL));
	EXPECT(!pthread_create(&ids[2], NULL, send_for_ever, &p));
	EXPECT(write(said, "", 1) == 1);
	for (;;)
		pause();
}

static void killed_while_it_waits(void)
{
	int i, said[2];
	char byte;
	pid_t pid;

	EXPECT(!pipe(said));
	for (i = 0; i < 8; i++) {
		pid = fork_or_fail();
		if (!pid)
			waits(said[1]);
		EXPECT(read(said[0], &byte, 1) == 1);
		usleep(i * 10000);
		kill(pid, SIGKILL);
		EXPECT(ended(pid) == SIGKILL);
		nothing_is_left("kill", i);
	}
}

/** struct meeting - what two processes tell each other */
struct meeting {
	volatile uint32_t near, far, rkey;
	volatile uint64_t addr;
};

static struct meeting *meeting;

/* Serves reads of its memory until it is killed. */
static void victim(void)
{
	static unsigned char memory[SIZE];
	struct ibv_cq *cq;
	struct ibv_mr *mr;
	struct ibv_qp *qp;

	open_device(device, gid);
	cq = ibv_create_cq(ctx, 16, NULL, NULL, 0);
	mr = ibv_reg_mr(pd, memory, SIZE, RIGHTS);
	EXPECT(cq && mr);
	qp = make_qp(cq, 4);
	EXPECT(qp && !connect_qp(qp, meeting->near));
	meeting->addr = (uintptr_t)memory;
	meeting->rkey = mr->rkey;
	meeting->far = qp->qp_num;
	for (;;)
		pause();
}

/* Its peer has a work request under way, and is told that it failed. */
static void lose_a_peer(int number)
{
	static unsigned char memory[SIZE];
	struct ibv_cq *cq = ibv_create_cq(ctx, 16, NULL, NULL, 0);
	struct ibv_mr *mr = ibv_reg_mr(pd, memory, SIZE, RIGHTS);
	struct ibv_qp *qp = make_qp(cq, 4);
	struct ibv_sge sge = { (uintptr_t)memory, SIZE, mr->lkey };
	struct ibv_send_wr wr = { .opcode = IBV_WR_RDMA_READ };
	int how = 0;
	double kill_at;
	pid_t pid;

	*meeting = (struct meeting) { .near = qp->qp_num };
	pid = fork_or_fail();
	if (!pid)
		victim();
	while (!meeting->far)
		usleep(1000);
	EXPECT(!connect_qp(qp, meeting->far));
	wr.wr.rdma.remote_addr = meeting->addr;
	wr.wr.rdma.rkey = meeting->rkey;
	EXPECT(!post_wait(qp, cq, wr, sge));
	for (kill_at = now() + number * 0.007; !how;) {
		if (pid && now() > kill_at) {
			kill(pid, SIGKILL);
			EXPECT(ended(pid) == SIGKILL);
			pid = 0;
		}
		how = post_wait(qp, cq, wr, sge);
	}
	EXPECT(!pid && how == IBV_WC_RETRY_EXC_ERR);
	EXPECT(!ibv_destroy_qp(qp) && !ibv_dereg_mr(mr));
	EXPECT(!ibv_destroy_cq(cq));
}

static void peers_are_told(void)
{
	int i;

	meeting = mmap(NULL, sizeof(*meeting), PROT_READ | PROT_WRITE,
		       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	EXPECT(meeting != MAP_FAILED);
	open_device(device, gid);
	for (i = 0; i < 8; i++)
		lose_a_peer(i);
}

static const struct test_case cases[] = {
	CASE(children_come_and_go),
	CASE(children_stay),
	CASE(parent_goes_first),
	CASE(another_program),
	CASE(killed_at_every_moment),
	CASE(killed_at_every_call),
	CASE(killed_while_it_waits),
	CASE(peers_are_told),
	{ }
};

int main(int argc, char **argv)
{
	int err;

	if (argc < 4)
		return 2;
	device = argv[1];
	gid = argv[2];
	if (argc > 4)
		count = arg_number(argv[4]);
	bystander_forks(device, gid);
	there_is(before, sizeof(before));
	err = run_case(cases, argv[3]);
	bystander_is_well();
	bystander_stops();
	return err;
}
