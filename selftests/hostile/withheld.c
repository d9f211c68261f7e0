// SPDX-License-Identifier: GPL-2.0
/*
 * A process that has registered memory whose pages it withholds: a file of its
 * own file system, which does not answer. Who waits for such pages is itself,
 * and nobody else; and it can be ended.
 *
 * usage: withheld DEV GID CASE
 */
#include <sys/mman.h>

#include "../lib/pair.h"
#include "../lib/slowfile.h"

#define PAGE	4096
#define STRANGER	65533
#define NR_WAITING	300

/* Longer than any test takes. */
#define FOR_EVER_S	600

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

/* A user who has many wait, made before: then his address space is locked. */
static void keeps_many_waiting(void)
{
	static struct ibv_qp *qps[NR_WAITING];
	const struct ibv_mr *memory;
	struct ibv_mr *mr;
	struct ibv_cq *cq;
	int i;

	EXPECT(!setuid(STRANGER));
	mr = ibv_reg_mr(pd, file, SLOWFILE_SIZE, IBV_ACCESS_ON_DEMAND);
	cq = ibv_create_cq(ctx, 4 * NR_WAITING, NULL, NULL, 0);
	EXPECT(mr && cq);
	memory = some_memory();
	for (i = 0; i < NR_WAITING; i++)
		qps[i] = make_pair_on(cq, cq, 1).near;
	for (i = 0; i < NR_WAITING; i++)
		write_from(qps[i], mr, i % (SLOWFILE_SIZE / PAGE), memory);
	sleep(1);
	puts("waits");
	pause();
}

static const struct test_case cases[] = {
	CASE(is_reset), CASE(is_killed), CASE(keeps_many_waiting),
	CASE(advise_is_killed), CASE(advise_is_told), { },
};

int main(int argc, char **argv)
{
	if (argc != 4)
		return 2;
	map_file();
	open_device(argv[1], argv[2]);
	return run_case(cases, argv[3]);
}
