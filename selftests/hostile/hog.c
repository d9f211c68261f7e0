// SPDX-License-Identifier: GPL-2.0
/*
 * A process makes objects of one kind until a verb fails: hog.sh. RLIMIT_MEMLOCK is
 * 0, and the process unmaps its rings, so none of the memory counts as its own.
 *
 * usage: hog DEV GID CASE
 *
 * It prints the errno, and waits to be killed.
 */
#include <sys/resource.h>

#include "../lib/ondemand.h"

#define MANY	(1 << 20)

/* One page for each node of the kernel's table: the worst case. */
#define FAR_APART	(64 * PAGE)
#define NR_APART	4096

/* Elements that one ioctl() takes, as its attributes are of 64 KiB at most. */
#define NR_AT_ONCE	1024

static struct ibv_cq *cq;

/* All mappings of the device. */
static void unmap_rings(void)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	struct { unsigned long from, to; } found[8];
	int nr = 0;
	char line[512];

	EXPECT(maps);
	while (nr < 8 && fgets(line, sizeof(line), maps))
		if (strstr(line, "uverbs") &&
		    sscanf(line, "%lx-%lx", &found[nr].from,
			   &found[nr].to) == 2)
			nr++;
	fclose(maps);
	while (nr--)
		EXPECT(!munmap((void *)found[nr].from,
			       found[nr].to - found[nr].from));
}

/* Makes objects until that fails, with ENOMEM. */
static void fill_with(bool (*make)(void))
{
	int nr = 0;

	errno = 0;
	while (nr < MANY && make())
		nr++;
	printf("%d, then %s\n", nr, strerror(errno));
	EXPECT(errno == ENOMEM);
	puts("full");
	pause();
}

static bool make_long_qp(void)
{
	struct ibv_qp_init_attr init = {
		.send_cq = cq, .recv_cq = cq, .qp_type = IBV_QPT_RC,
		.cap = { .max_send_wr = 16384, .max_recv_wr = 1,
			 .max_send_sge = 1, .max_recv_sge = 1,
			 .max_inline_data = 1024 },
	};

	if (!ibv_create_qp(pd, &init))
		return false;
	unmap_rings();
	return true;
}

static void queue_pairs(void)
{
	fill_with(make_long_qp);
}

static bool make_long_cq(void)
{
	if (!ibv_create_cq(ctx, 4096, NULL, NULL, 0))
		return false;
	unmap_rings();
	return true;
}

static void completion_queues(void)
{
	fill_with(make_long_cq);
}

static bool make_long_srq(void)
{
	struct ibv_srq_init_attr init = {
		.attr = { .max_wr = 4096, .max_sge = 1 },
	};

	if (!ibv_create_srq(pd, &init))
		return false;
	unmap_rings();
	return true;
}

static void shared_queues(void)
{
	fill_with(make_long_srq);
}

static bool make_responder(void)
{
	struct ibv_qp *qp = make_qp(cq, 1);
	struct ibv_qp_attr init = init_attr(), rtr;

	if (!qp)
		return false;
	unmap_rings();
	rtr = rtr_attr(qp->qp_num);
	rtr.max_dest_rd_atomic = 128;
	errno = ibv_modify_qp(qp, &init, TO_INIT) ?:
		ibv_modify_qp(qp, &rtr, TO_RTR);
	return !errno;
}

static void responders(void)
{
	fill_with(make_responder);
}

static bool make_on_demand(void)
{
	return ibv_reg_mr(pd, NULL, SIZE_MAX, ON_DEMAND);
}

static void on_demand_regions(void)
{
	fill_with(make_on_demand);
}

static unsigned char *apart;

/* All pages are the zero page, and each has a node of its own. */
static bool make_table(void)
{
	static struct ibv_sge sge[NR_APART];
	struct ibv_mr *mr;
	int i;

	mr = ibv_reg_mr(pd, apart, NR_APART * FAR_APART,
			IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_ON_DEMAND);
	if (!mr)
		return false;
	for (i = 0; i < NR_APART; i++)
		sge[i] = (struct ibv_sge) {
			(uintptr_t)apart + i * FAR_APART, 1, mr->lkey,
		};
	for (i = 0, errno = 0; i < NR_APART && !errno; i += NR_AT_ONCE)
		errno = ibv_advise_mr(pd, IBV_ADVISE_MR_ADVICE_PREFETCH,
				      IBV_ADVISE_MR_FLAG_FLUSH, sge + i,
				      NR_AT_ONCE);
	return !errno;
}

static void tables(void)
{
	int i;

	apart = mmap(NULL, NR_APART * FAR_APART, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	EXPECT(apart != MAP_FAILED);
	EXPECT(!madvise(apart, NR_APART * FAR_APART, MADV_NOHUGEPAGE));
	for (i = 0; i < NR_APART; i++)
		EXPECT(!*(volatile unsigned char *)(apart + i * FAR_APART));
	fill_with(make_table);
}

static bool make_piece(void)
{
	struct ibv_alloc_dm_attr attr = { .length = 1 << 20 };

	if (!ibv_alloc_dm(ctx, &attr))
		return false;
	unmap_rings();
	return true;
}

/* Ends at the user's share of the link's device memory. */
static void device_memory(void)
{
	fill_with(make_piece);
}

static bool make_member(void)
{
	struct ibv_qp_init_attr init = {
		.send_cq = cq, .recv_cq = cq, .qp_type = IBV_QPT_UD,
		.cap = { .max_send_wr = 1, .max_recv_wr = 1,
			 .max_send_sge = 1, .max_recv_sge = 1 },
	};
	union ibv_gid group = { .raw = {
		[10] = 0xff, [11] = 0xff, [12] = 239, [13] = 79, [15] = 1,
	} };
	struct ibv_qp *qp = ibv_create_qp(pd, &init);

	EXPECT(qp);
	errno = ibv_attach_mcast(qp, &group, 0);
	return !errno;
}

/* Ends at the user's share of the places in one group. */
static void group_members(void)
{
	fill_with(make_member);
}

static const struct test_case cases[] = {
	CASE(queue_pairs), CASE(completion_queues), CASE(shared_queues),
	CASE(responders), CASE(on_demand_regions), CASE(tables),
	CASE(device_memory), CASE(group_members), { },
};

int main(int argc, char **argv)
{
	const struct rlimit none = {};

	if (argc != 4)
		return 2;
	EXPECT(!setrlimit(RLIMIT_MEMLOCK, &none));
	open_device(argv[1], argv[2]);
	cq = ibv_create_cq(ctx, 16, NULL, NULL, 0);
	EXPECT(cq);
	return run_case(cases, argv[3]);
}
