// SPDX-License-Identifier: GPL-2.0
/*
 * A process that has registered memory whose pages it withholds: a file of its
 * own file system, which does not answer. Who waits for such pages is itself,
 * and nobody else; and it can be ended.
 *
 * usage: withheld DEV GID CASE
 */
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>

#include "../lib/pair.h"
#include "../lib/slowfile.h"

#define PAGE	4096
#define STRANGER	65533
#define NR_WAITING	300
#define NR_USERS	9
#define FIRST_USER	70000

/* Longer than any test takes. */
#define FOR_EVER_S	600

static const char *device, *gid;

/* The file. Its server has no part in what else the process has open. */
static void *file;

static void map_file(void)
{
	int fd = slowfile_open(FOR_EVER_S);

	file = mmap(NULL, SLOWFILE_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE,
		    fd, 0);
	EXPECT(file != MAP_FAILED);
	/* Its last close would be answered as late as all else. */
	close(fd);
}

/* What is not to be waited for has to be there by then. */
static double soon(void)
{
	return now() + 4 * slow();
}

static struct ibv_mr *withhold(void)
{
	struct ibv_mr *mr = ibv_reg_mr(pd, file, SLOWFILE_SIZE,
				       RIGHTS | IBV_ACCESS_ON_DEMAND);

	EXPECT(mr);
	return mr;
}

/* A WRITE of the nth page, to what is there. */
static void write_from(struct ibv_qp *qp, const struct ibv_mr *from,
		       unsigned int nth, const struct ibv_mr *to)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)from->addr + nth * PAGE, .length = 64,
		.lkey = from->lkey,
	};
	struct ibv_send_wr *bad, wr = {
		.opcode = IBV_WR_RDMA_WRITE, .sg_list = &sge, .num_sge = 1,
		.wr.rdma = { (uintptr_t)to->addr, to->rkey },
	};

	EXPECT(!ibv_post_send(qp, &wr, &bad));
}

static struct ibv_mr *some_memory(void)
{
	static char bytes[PAGE];
	struct ibv_mr *mr = ibv_reg_mr(pd, bytes, sizeof(bytes), RIGHTS);

	EXPECT(mr);
	return mr;
}

/* The source of the one, and the target of the other, never come. */
static struct pair waiting_pair(const struct ibv_mr *mr)
{
	const struct ibv_mr *memory = some_memory();
	struct pair p = make_pair(4);

	write_from(p.near, mr, 0, memory);
	write_from(p.far, memory, 0, mr);
	usleep(300000 * slow());
	return p;
}

/* Its rings it cannot give back: the address space is locked for the fault. */
static void is_reset(void)
{
	struct ibv_qp_attr reset = { .qp_state = IBV_QPS_RESET };
	struct pair p = waiting_pair(withhold());
	double end = soon();

	EXPECT(!ibv_modify_qp(p.near, &reset, IBV_QP_STATE));
	EXPECT(!ibv_modify_qp(p.far, &reset, IBV_QP_STATE));
	EXPECT(!connect_qp(p.near, p.far->qp_num));
	EXPECT(!connect_qp(p.far, p.near->qp_num));
	EXPECT(now() < end);
}

/* Waits to be killed. */
static void is_killed(void)
{
	waiting_pair(withhold());
	puts("waits");
	pause();
}

/* Pages that never come, asked for by the process itself. */
static int advise(const struct ibv_mr *mr)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)mr->addr, .length = SLOWFILE_SIZE,
		.lkey = mr->lkey,
	};

	return ibv_advise_mr(pd, IBV_ADVISE_MR_ADVICE_PREFETCH,
			     IBV_ADVISE_MR_FLAG_FLUSH, &sge, 1);
}

/* Waits to be killed. */
static void advise_is_killed(void)
{
	const struct ibv_mr *mr = withhold();

	puts("waits");
	advise(mr);
	pause();
}

/* Its link is deleted while it waits. */
static void advise_is_told(void)
{
	const struct ibv_mr *mr = withhold();

	puts("waits");
	EXPECT(advise(mr) == EIO);
	puts("told");
	pause();
}

/*
 * Many that wait, made before: then the address space is locked. Returns where they
 * would complete.
 */
static struct ibv_cq *have_many_wait(void)
{
	static struct ibv_qp *qps[NR_WAITING];
	const struct ibv_mr *memory;
	struct ibv_mr *mr;
	struct ibv_cq *cq;
	int i;

	mr = ibv_reg_mr(pd, file, SLOWFILE_SIZE, IBV_ACCESS_ON_DEMAND);
	cq = ibv_create_cq(ctx, 4 * NR_WAITING, NULL, NULL, 0);
	EXPECT(mr && cq);
	memory = some_memory();
	for (i = 0; i < NR_WAITING; i++)
		qps[i] = make_pair_on(cq, cq, 1).near;
	for (i = 0; i < NR_WAITING; i++)
		write_from(qps[i], mr, i % (SLOWFILE_SIZE / PAGE), memory);
	sleep(1);
	return cq;
}

static struct ibv_qp *make_uc(struct ibv_cq *cq)
{
	struct ibv_qp_init_attr init = {
		.send_cq = cq, .recv_cq = cq, .qp_type = IBV_QPT_UC,
		.sq_sig_all = 1,
		.cap = { .max_send_wr = 4, .max_send_sge = 1,
			 .max_recv_wr = 4, .max_recv_sge = 1 },
	};
	struct ibv_qp *qp = ibv_create_qp(pd, &init);

	EXPECT(qp);
	return qp;
}

/*
 * Most of them may not even wait: no peer answers what was not sent, and none is
 * blamed for that.
 */
static void more_wait_for_ever(void)
{
	struct ibv_cq *cq;
	struct ibv_wc wc;
	double end;

	withhold();
	cq = have_many_wait();
	for (end = now() + 2 * slow(); now() < end; )
		EXPECT(!ibv_poll_cq(cq, 1, &wc));
}

/* Who may not wait as well asks again: nothing says that it was sent. */
static void one_more_waits(void)
{
	struct ibv_cq *cq = ibv_create_cq(ctx, 8, NULL, NULL, 0);
	struct ibv_qp *near = make_uc(cq), *far = make_uc(cq);
	const struct ibv_mr *memory = some_memory();
	const struct ibv_mr *mr = withhold();
	double end;
	struct ibv_wc wc;

	EXPECT(!connect_uc(near, far->qp_num));
	EXPECT(!connect_uc(far, near->qp_num));
	have_many_wait();
	write_from(near, mr, 0, memory);
	for (end = now() + 1; now() < end; )
		EXPECT(!ibv_poll_cq(cq, 1, &wc));
}

static void keeps_many_waiting(void)
{
	EXPECT(!setuid(STRANGER));
	have_many_wait();
	puts("waits");
	pause();
}

/* Waits to be killed, as that user. */
static void wait_as(uid_t user, int tell)
{
	char byte = 0;

	EXPECT(!setuid(user));
	EXPECT(!prctl(PR_SET_PDEATHSIG, SIGKILL));
	open_device(device, gid);
	have_many_wait();
	EXPECT(write(tell, &byte, 1) == 1);
	pause();
}

/* In a user namespace of the maker's, as another user, when told to. */
static void be_another(uid_t maker, int told, int tell)
{
	char byte = 0;

	EXPECT(!setuid(maker));
	EXPECT(!prctl(PR_SET_PDEATHSIG, SIGKILL));
	EXPECT(!unshare(CLONE_NEWUSER));
	EXPECT(write(tell, &byte, 1) == 1);
	EXPECT(read(told, &byte, 1) == 1);
	wait_as(0, tell);
}

/* As newuidmap does it for whoever has subordinate users. */
static void allow_another(pid_t child, unsigned int user)
{
	char path[64];
	FILE *map;

	snprintf(path, sizeof(path), "/proc/%d/uid_map", child);
	map = fopen(path, "w");
	EXPECT(map && fprintf(map, "0 %u 1", user) > 0 && !fclose(map));
}

/* Waits to be killed, as so many others. */
static void wait_as_others(uid_t maker, unsigned int nr_users)
{
	int told[2], tell[2];
	unsigned int i;
	char byte = 0;
	pid_t child;

	for (i = 0; i < nr_users; i++) {
		EXPECT(!pipe(told) && !pipe(tell));
		child = fork();
		if (!child)
			be_another(maker, told[0], tell[1]);
		close(tell[1]);
		EXPECT(read(tell[0], &byte, 1) == 1);
		allow_another(child, FIRST_USER + i);
		EXPECT(write(told[1], &byte, 1) == 1);
		EXPECT(read(tell[0], &byte, 1) == 1);
	}
	puts("waits");
	pause();
}

/* Who has subordinate users. */
static void many_users_of_one(void)
{
	wait_as_others(STRANGER, NR_USERS);
}

/* One by one; with 64 each they would have all that there is. */
static void many_users(void)
{
	unsigned int i;
	int tell[2];
	char byte;

	for (i = 0; i < NR_USERS; i++) {
		EXPECT(!pipe(tell));
		if (!fork())
			wait_as(FIRST_USER + i, tell[1]);
		close(tell[1]);
		EXPECT(read(tell[0], &byte, 1) == 1);
	}
	puts("waits");
	pause();
}

/* Which root has made, who is another user outside. */
static void container(void)
{
	wait_as_others(0, 1);
}

static const struct test_case cases[] = {
	CASE(is_reset), CASE(is_killed), CASE(one_more_waits),
	CASE(more_wait_for_ever),
	CASE(keeps_many_waiting),
	CASE(many_users_of_one), CASE(many_users), CASE(container),
	CASE(advise_is_killed), CASE(advise_is_told), { },
};

int main(int argc, char **argv)
{
	if (argc != 4)
		return 2;
	map_file();
	device = argv[1];
	gid = argv[2];
	open_device(device, gid);
	return run_case(cases, argv[3]);
}
