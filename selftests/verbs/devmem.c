// SPDX-License-Identifier: GPL-2.0
/*
 * Device memory, used as it should be and as it should not. devmem.sh builds
 * and runs it:
 *
 *	devmem DEVICE GID_INDEX CASE
 *
 * In each pair of queue pairs far has device memory, and near reaches for it.
 */
#include <stdbool.h>
#include <unistd.h>

#include "../lib/pair.h"

#define PAGE	4096
#define SIZE	(16 * PAGE)
#define ZERO_BASED	(RIGHTS | IBV_ACCESS_ZERO_BASED)

#define REFUSED(call, err) do {						\
	errno = 0;							\
	EXPECT(!(call) && errno == (err));				\
} while (0)

static unsigned char local[SIZE], copy[SIZE];
static struct ibv_mr *local_mr;
static size_t max_size;

static struct ibv_dm *alloc(size_t len, uint32_t log_align, uint32_t mask)
{
	struct ibv_alloc_dm_attr attr = {
		.length = len, .log_align_req = log_align, .comp_mask = mask,
	};

	return ibv_alloc_dm(ctx, &attr);
}

static struct ibv_dm *make_dm(size_t len)
{
	struct ibv_dm *dm = alloc(len, 0, 0);

	EXPECT(dm);
	return dm;
}

static struct ibv_mr *reg(struct ibv_dm *dm, uint64_t off, size_t len,
			  unsigned int access)
{
	struct ibv_mr *mr = ibv_reg_dm_mr(pd, dm, off, len, access);

	EXPECT(mr);
	return mr;
}

static bool holds(struct ibv_dm *dm, uint64_t off, const void *bytes,
		  size_t len)
{
	memset(copy, 0xee, len);
	EXPECT(!ibv_memcpy_from_dm(copy, dm, off, len));
	return !memcmp(copy, bytes, len);
}

static int reach(struct pair *p, enum ibv_wr_opcode opcode, uint32_t rkey,
		 uint64_t addr, uint32_t len)
{
	struct ibv_send_wr wr = {
		.opcode = opcode,
		.wr.rdma = { .remote_addr = addr, .rkey = rkey },
	};
	struct ibv_sge sge = { (uintptr_t)local, len, local_mr->lkey };

	return post_wait(p->near, p->near_cq, wr, sge);
}

static void refuses(void)
{
	struct ibv_dm *dm = make_dm(SIZE);

	EXPECT(max_size >= 1 << 20);
	REFUSED(alloc(0, 0, 0), EINVAL);
	REFUSED(alloc(max_size + 1, 0, 0), ENOMEM);
	REFUSED(alloc(-1, 0, 0), ENOMEM);
	REFUSED(alloc(64, 13, 0), EINVAL);
	REFUSED(alloc(64, -1, 0), EINVAL);
	REFUSED(alloc(64, 0, 1), EOPNOTSUPP);

	EXPECT(ibv_memcpy_to_dm(dm, 0, local, SIZE + 4));
	EXPECT(ibv_memcpy_to_dm(dm, SIZE, local, 4));
	EXPECT(ibv_memcpy_to_dm(dm, -4ULL, local, 8));
	EXPECT(ibv_memcpy_to_dm(dm, 1, local, 4) == EINVAL);
	EXPECT(ibv_memcpy_from_dm(local, dm, SIZE, 4));
	EXPECT(ibv_memcpy_from_dm(local, dm, 0, 3) == EINVAL);

	REFUSED(ibv_reg_dm_mr(pd, dm, 0, SIZE, RIGHTS), EINVAL);
	REFUSED(ibv_reg_dm_mr(pd, dm, 0, SIZE + 1, ZERO_BASED), EINVAL);
	REFUSED(ibv_reg_dm_mr(pd, dm, 1, SIZE, ZERO_BASED), EINVAL);
	REFUSED(ibv_reg_dm_mr(pd, dm, -1, 2, ZERO_BASED), EINVAL);
	REFUSED(ibv_reg_dm_mr(pd, dm, 0, SIZE,
			      IBV_ACCESS_REMOTE_WRITE |
			      IBV_ACCESS_ZERO_BASED), EINVAL);
	EXPECT(!ibv_free_dm(dm));
}

/* It begins empty, and gives back what was put there. */
static void is_copied_to_and_from(void)
{
	static unsigned char nothing[SIZE];
	struct ibv_dm *dm = make_dm(SIZE), *other = alloc(100, 12, 0);

	EXPECT(other);
	EXPECT(holds(dm, 0, nothing, SIZE));
	fill(local, SIZE, 31);
	EXPECT(!ibv_memcpy_to_dm(dm, 0, local, SIZE));
	EXPECT(holds(dm, 0, local, SIZE));
	EXPECT(holds(dm, 100, local + 100, PAGE));
	EXPECT(holds(other, 0, nothing, 100));
	EXPECT(!ibv_free_dm(dm) && !ibv_free_dm(other));

	dm = make_dm(SIZE);
	EXPECT(holds(dm, 0, nothing, SIZE));
	EXPECT(!ibv_free_dm(dm));
}

static void is_written_and_read(void)
{
	struct ibv_dm *dm = make_dm(SIZE);
	struct ibv_mr *mr = reg(dm, 0, SIZE, ZERO_BASED);
	struct pair p = make_pair(4);

	fill(local, SIZE, 31);
	EXPECT(!reach(&p, IBV_WR_RDMA_WRITE, mr->rkey, 0, SIZE));
	EXPECT(holds(dm, 0, local, SIZE));
	fill(local, SIZE, 7);
	EXPECT(!ibv_memcpy_to_dm(dm, 0, local, SIZE));
	memset(local, 0, SIZE);
	EXPECT(!reach(&p, IBV_WR_RDMA_READ, mr->rkey, 0, SIZE));
	EXPECT(holds(dm, 0, local, SIZE) && is_filled(local, SIZE, 7));

	unmake_pair(&p);
	EXPECT(!ibv_dereg_mr(mr) && !ibv_free_dm(dm));
}

/* What is sent, and where it arrives. */
static void is_sent_and_received(void)
{
	struct ibv_dm *dm = make_dm(2 * SIZE);
	struct ibv_mr *mr = reg(dm, 0, 2 * SIZE, ZERO_BASED);
	struct pair p = make_pair(4);
	struct ibv_sge from = { 0, SIZE, mr->lkey };
	struct ibv_sge to = { SIZE, SIZE, mr->lkey };
	struct ibv_recv_wr recv = { .sg_list = &to, .num_sge = 1 }, *bad;
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND };

	fill(local, SIZE, 13);
	EXPECT(!ibv_memcpy_to_dm(dm, 0, local, SIZE));
	EXPECT(!ibv_post_recv(p.far, &recv, &bad));
	EXPECT(!post_wait(p.near, p.near_cq, wr, from));
	EXPECT(!status(p.far_cq));
	EXPECT(holds(dm, SIZE, local, SIZE));

	unmake_pair(&p);
	EXPECT(!ibv_dereg_mr(mr) && !ibv_free_dm(dm));
}

static void is_added_to(void)
{
	struct ibv_dm *dm = make_dm(64);
	struct ibv_mr *mr = reg(dm, 0, 64, ZERO_BASED);
	struct pair p = make_pair(4);
	struct ibv_send_wr wr = {
		.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD,
		.wr.atomic = { .remote_addr = 56, .compare_add = 5,
			       .rkey = mr->rkey },
	};
	struct ibv_sge sge = { (uintptr_t)local, 8, local_mr->lkey };
	uint64_t want = 15;
	int i;

	for (i = 0; i < 3; i++)
		EXPECT(!post_wait(p.near, p.near_cq, wr, sge));
	EXPECT(holds(dm, 56, &want, 8));

	unmake_pair(&p);
	EXPECT(!ibv_dereg_mr(mr) && !ibv_free_dm(dm));
}

/* It shows nothing, which programs may want to know. */
static void is_registered_without_a_byte(void)
{
	struct ibv_dm *dm = make_dm(SIZE);
	struct ibv_mr *mr = reg(dm, SIZE, 0, ZERO_BASED);
	struct pair p = make_pair(4);

	EXPECT(!reach(&p, IBV_WR_RDMA_WRITE, mr->rkey, 0, 0));
	EXPECT(reach(&p, IBV_WR_RDMA_WRITE, mr->rkey, 0, 1) ==
	       IBV_WC_REM_ACCESS_ERR);
	unmake_pair(&p);
	EXPECT(!ibv_dereg_mr(mr) && !ibv_free_dm(dm));
}

/* A region of a part counts from zero, too, and ends where it ends. */
static void shows_a_part(void)
{
	struct ibv_dm *dm = make_dm(SIZE);
	struct ibv_mr *mr = reg(dm, PAGE + 100, 1000, ZERO_BASED);
	struct pair p = make_pair(4);
	uint32_t zero = 0;

	memset(local, 0x5a, 1000);
	EXPECT(!reach(&p, IBV_WR_RDMA_WRITE, mr->rkey, 0, 1000));
	EXPECT(holds(dm, PAGE + 100, local, 1000));
	EXPECT(holds(dm, PAGE + 96, &zero, 4));
	EXPECT(holds(dm, PAGE + 1100, &zero, 4));
	EXPECT(reach(&p, IBV_WR_RDMA_WRITE, mr->rkey, 1, 1000) ==
	       IBV_WC_REM_ACCESS_ERR);
	unmake_pair(&p);

	p = make_pair(4);
	EXPECT(reach(&p, IBV_WR_RDMA_WRITE, mr->rkey, -1ULL, 1) ==
	       IBV_WC_REM_ACCESS_ERR);
	unmake_pair(&p);
	EXPECT(!ibv_dereg_mr(mr) && !ibv_free_dm(dm));
}

static void is_shown_by_a_window(void)
{
	struct ibv_dm *dm = make_dm(SIZE);
	struct ibv_mr *mr = reg(dm, 0, SIZE, IBV_ACCESS_LOCAL_WRITE |
				IBV_ACCESS_MW_BIND | IBV_ACCESS_ZERO_BASED);
	struct ibv_mw *mw = ibv_alloc_mw(pd, IBV_MW_TYPE_1);
	struct ibv_mw_bind bind = {
		.bind_info = { .mr = mr, .addr = PAGE, .length = PAGE,
			       .mw_access_flags = IBV_ACCESS_REMOTE_WRITE },
	};
	struct pair p = make_pair(4);

	EXPECT(mw);
	EXPECT(!ibv_bind_mw(p.far, mw, &bind) && !status(p.far_cq));
	fill(local, SIZE, 31);
	EXPECT(!reach(&p, IBV_WR_RDMA_WRITE, mw->rkey, PAGE, PAGE));
	EXPECT(holds(dm, PAGE, local, PAGE));
	EXPECT(ibv_dereg_mr(mr) == EBUSY);
	EXPECT(!ibv_dealloc_mw(mw));
	unmake_pair(&p);
	EXPECT(!ibv_dereg_mr(mr) && !ibv_free_dm(dm));
}

static void stays_while_it_is_registered(void)
{
	struct ibv_dm *dm = make_dm(SIZE);
	struct ibv_mr *mr = reg(dm, 0, SIZE, ZERO_BASED);
	struct pair p = make_pair(4);

	EXPECT(ibv_free_dm(dm) == EBUSY);
	EXPECT(!reach(&p, IBV_WR_RDMA_WRITE, mr->rkey, 0, SIZE));
	EXPECT(holds(dm, 0, local, SIZE));
	EXPECT(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0,
			    IBV_ACCESS_LOCAL_WRITE));
	unmake_pair(&p);
	EXPECT(!ibv_dereg_mr(mr) && !ibv_free_dm(dm));
}

static void is_as_much_as_it_says(void)
{
	struct ibv_dm *half = make_dm(max_size / 2), *rest, *all;

	rest = make_dm(max_size / 2);
	REFUSED(alloc(1, 0, 0), ENOMEM);
	EXPECT(!ibv_free_dm(half));
	half = make_dm(max_size / 2);
	EXPECT(!ibv_free_dm(half) && !ibv_free_dm(rest));
	all = make_dm(max_size);
	EXPECT(!ibv_free_dm(all));
}

/* Killed with all of it; devmem.sh tries again. */
static void takes_all_and_stays(void)
{
	struct ibv_dm *dm = make_dm(max_size);

	reg(dm, 0, max_size, ZERO_BASED);
	puts("taken");
	pause();
}

/* The device goes; what is mapped stays with the process. */
static void outlives_the_device(void)
{
	struct ibv_dm *dm = make_dm(SIZE);

	EXPECT(!system("rdma link delete \"$RDMA_LINK\""));
	EXPECT(!system("modprobe -r frdma"));
	fill(local, SIZE, 31);
	EXPECT(!ibv_memcpy_to_dm(dm, 0, local, SIZE));
	EXPECT(holds(dm, 0, local, SIZE));
}

static const struct test_case cases[] = {
	CASE(refuses),
	CASE(is_copied_to_and_from),
	CASE(is_written_and_read),
	CASE(is_sent_and_received),
	CASE(is_added_to),
	CASE(is_registered_without_a_byte),
	CASE(shows_a_part),
	CASE(is_shown_by_a_window),
	CASE(stays_while_it_is_registered),
	CASE(is_as_much_as_it_says),
	CASE(takes_all_and_stays),
	CASE(outlives_the_device),
	{ }
};

int main(int argc, char **argv)
{
	struct ibv_device_attr_ex attr;

	if (argc != 4)
		return 2;
	setenv("RDMA_LINK", argv[1], 1);
	open_device(argv[1], argv[2]);
	EXPECT(!ibv_query_device_ex(ctx, NULL, &attr));
	max_size = attr.max_dm_size;
	local_mr = ibv_reg_mr(pd, local, SIZE, RIGHTS);
	EXPECT(local_mr);
	return run_case(cases, argv[3]);
}
