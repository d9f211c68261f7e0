// SPDX-License-Identifier: GPL-2.0
/*
 * A context, and what was made on it, used by another process or by a second
 * context of the same one. import.sh builds and runs it:
 *
 *	import DEVICE GID_INDEX CASE
 *
 * The other process is this program, too, which is told where to find things:
 *
 *	import as-other GID_INDEX FD PD MR DM ADDRESS
 */
#include <fcntl.h>
#include <unistd.h>

#include "../lib/pair.h"

#define SIZE	(16 * 4096)
#define DM_SIZE	1000

static unsigned char shown[SIZE], local[SIZE], copy[DM_SIZE];

/* What is imported: it is the first process's. */
struct lent {
	struct ibv_mr *mr;
	struct ibv_dm *dm;
};

static struct lent lend(void)
{
	struct ibv_alloc_dm_attr attr = { .length = DM_SIZE };
	struct lent l = {
		.mr = ibv_reg_mr(pd, shown, SIZE, RIGHTS),
		.dm = ibv_alloc_dm(ctx, &attr),
	};

	EXPECT(l.mr && l.dm);
	fill(shown, DM_SIZE, 5);
	EXPECT(!ibv_memcpy_to_dm(l.dm, 0, shown, DM_SIZE));
	memset(shown, 0, SIZE);
	return l;
}

static void take_back(struct lent *l)
{
	EXPECT(!ibv_dereg_mr(l->mr) && !ibv_free_dm(l->dm));
}

/* Makes ctx and pd those of a second context on that file. */
static void import_context(int fd, uint32_t handle)
{
	ctx = ibv_import_device(fd);
	EXPECT(ctx);
	pd = ibv_import_pd(ctx, handle);
	EXPECT(pd);
}

static int reach(struct pair *p, enum ibv_wr_opcode opcode,
		 const struct ibv_mr *from, const struct ibv_mr *to,
		 uint64_t addr)
{
	struct ibv_sge sge = { (uintptr_t)local, SIZE, from->lkey };
	struct ibv_send_wr wr = {
		.opcode = opcode, .sg_list = &sge, .num_sge = 1,
		.wr.rdma = { .remote_addr = addr, .rkey = to->rkey },
	}, *bad;

	EXPECT(!ibv_post_send(p->near, &wr, &bad));
	return status(p->near_cq);
}

/* Queue pairs of the import reach for a region that the other registered. */
static void use_region(uint32_t handle, uint64_t addr)
{
	struct ibv_mr *mr = ibv_import_mr(pd, handle);
	struct ibv_mr *own = ibv_reg_mr(pd, local, SIZE, RIGHTS);
	struct pair p = make_pair(4);

	EXPECT(mr && own && mr->length == SIZE);
	EXPECT(!reach(&p, IBV_WR_RDMA_READ, own, mr, addr));
	EXPECT(!local[1] && !local[SIZE - 1]);
	fill(local, SIZE, 31);
	EXPECT(!reach(&p, IBV_WR_RDMA_WRITE, own, mr, addr));
	unmake_pair(&p);
	EXPECT(!ibv_dereg_mr(own));
	ibv_unimport_mr(mr);
}

static void use_memory(uint32_t handle)
{
	struct ibv_dm *dm = ibv_import_dm(ctx, handle);
	unsigned char want[DM_SIZE];

	EXPECT(dm);
	fill(want, DM_SIZE, 5);
	EXPECT(!ibv_memcpy_from_dm(copy, dm, 0, DM_SIZE));
	EXPECT(!memcmp(copy, want, DM_SIZE));
	EXPECT(ibv_memcpy_from_dm(copy, dm, 4, DM_SIZE));
	fill(want, DM_SIZE, 7);
	EXPECT(!ibv_memcpy_to_dm(dm, 0, want, DM_SIZE));
	ibv_unimport_dm(dm);
}

static void use_all(uint32_t mr, uint32_t dm, uint64_t addr)
{
	use_region(mr, addr);
	use_memory(dm);
	ibv_unimport_pd(pd);
	EXPECT(!ibv_close_device(ctx));
}

/* Whoever lent them sees what the import did. */
static void expect_used(struct lent *l)
{
	unsigned char want[SIZE];

	fill(want, SIZE, 31);
	EXPECT(!memcmp(shown, want, SIZE));
	fill(want, DM_SIZE, 7);
	EXPECT(!ibv_memcpy_from_dm(copy, l->dm, 0, DM_SIZE));
	EXPECT(!memcmp(copy, want, DM_SIZE));
}

static void run_other(int fd, const struct lent *l)
{
	char line[200];

	snprintf(line, sizeof(line), "exec \"$IMPORT\" as-other %d %d %u %u %u %llu",
		 gid_index, fd, pd->handle, l->mr->handle, l->dm->handle,
		 (unsigned long long)(uintptr_t)shown);
	EXPECT(!system(line));
}

static void another_process(void)
{
	struct lent l = lend();
	int i, fd = dup(ctx->cmd_fd);
	struct pair p;

	run_other(fd, &l);
	expect_used(&l);

	/* It is not the other's end that ends it. */
	for (i = 0; i < 3; i++) {
		memset(shown, 0, SIZE);
		fill(copy, DM_SIZE, 5);
		EXPECT(!ibv_memcpy_to_dm(l.dm, 0, copy, DM_SIZE));
		run_other(fd, &l);
	}
	p = make_pair(4);
	unmake_pair(&p);
	take_back(&l);
	EXPECT(!ibv_dealloc_pd(pd) && !ibv_close_device(ctx));
}

static void same_process(void)
{
	struct ibv_context *first = ctx;
	struct ibv_pd *first_pd = pd;
	struct lent l = lend();

	import_context(dup(ctx->cmd_fd), pd->handle);
	use_all(l.mr->handle, l.dm->handle, (uintptr_t)shown);
	expect_used(&l);
	take_back(&l);
	EXPECT(!ibv_dealloc_pd(first_pd) && !ibv_close_device(first));
}

/* The file is what objects belong to: the import keeps it open. */
static void outlives_who_opened(void)
{
	uint32_t mr, dm, pd_handle = pd->handle;
	int fd = dup(ctx->cmd_fd);
	struct lent l = lend();

	mr = l.mr->handle;
	dm = l.dm->handle;
	EXPECT(!ibv_close_device(ctx));
	import_context(fd, pd_handle);
	use_all(mr, dm, (uintptr_t)shown);
	EXPECT(is_filled(shown, SIZE, 31));
}

/* The import destroys; the other must not know the handle any more. */
static void destroys(void)
{
	struct ibv_context *first = ctx;
	struct lent l = lend();
	struct ibv_mr *mr;
	struct ibv_dm *dm;

	import_context(dup(ctx->cmd_fd), pd->handle);
	mr = ibv_import_mr(pd, l.mr->handle);
	dm = ibv_import_dm(ctx, l.dm->handle);
	EXPECT(mr && dm);
	EXPECT(!ibv_dereg_mr(mr) && !ibv_free_dm(dm) && !ibv_dealloc_pd(pd));
	EXPECT(ibv_dereg_mr(l.mr) && ibv_free_dm(l.dm));
	EXPECT(!ibv_close_device(ctx) && !ibv_close_device(first));
}

static void refuses(void)
{
	struct lent l = lend();
	int ends[2];

	EXPECT(!pipe(ends));
	EXPECT(!ibv_import_device(ends[0]) && errno == EINVAL);
	EXPECT(!ibv_import_device(open("/dev/null", O_RDWR)) &&
	       errno == ENODEV);
	EXPECT(!ibv_import_device(-1) && errno == EINVAL);

	/* No such thing, and a thing of another kind. */
	EXPECT(!ibv_import_pd(ctx, 0x12345678) && errno == ENOENT);
	EXPECT(!ibv_import_mr(pd, 0x12345678) && errno == ENOENT);
	EXPECT(!ibv_import_dm(ctx, 0x12345678) && errno == ENOENT);
	EXPECT(!ibv_import_pd(ctx, l.mr->handle) && errno);
	EXPECT(!ibv_import_mr(pd, l.dm->handle) && errno);
	EXPECT(!ibv_import_dm(ctx, pd->handle) && errno);
	take_back(&l);
}

/* The device goes while a second context has it. */
static void device_goes(void)
{
	struct ibv_context *first = ctx;
	int fd = dup(ctx->cmd_fd);
	struct lent l = lend();
	struct ibv_dm *dm;

	import_context(dup(fd), pd->handle);
	dm = ibv_import_dm(ctx, l.dm->handle);
	EXPECT(dm);
	EXPECT(!system("rdma link delete \"$RDMA_LINK\""));
	EXPECT(!ibv_memcpy_from_dm(copy, dm, 0, DM_SIZE));
	EXPECT(is_filled(copy, DM_SIZE, 5));
	EXPECT(!ibv_import_device(fd) && errno == ENODEV);
	EXPECT(!ibv_import_mr(pd, l.mr->handle));
	ibv_unimport_dm(dm);
	ibv_unimport_pd(pd);
	EXPECT(!ibv_close_device(ctx) && !ibv_close_device(first));
	close(fd);
	EXPECT(!system("modprobe -r frdma"));
}

static const struct test_case cases[] = {
	CASE(another_process),
	CASE(same_process),
	CASE(outlives_who_opened),
	CASE(destroys),
	CASE(refuses),
	CASE(device_goes),
	{ }
};

int main(int argc, char **argv)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc == 8) {
		gid_index = arg_number(argv[2]);
		import_context(dup(arg_number(argv[3])), arg_number(argv[4]));
		use_all(arg_number(argv[5]), arg_number(argv[6]),
			arg_number(argv[7]));
		return 0;
	}
	if (argc != 4)
		return 2;
	setenv("IMPORT", argv[0], 1);
	setenv("RDMA_LINK", argv[1], 1);
	open_device(argv[1], argv[2]);

	return run_case(cases, argv[3]);
}
