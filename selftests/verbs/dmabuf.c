// SPDX-License-Identifier: GPL-2.0
/*
 * Regions of dma-bufs, used as they should be and as they should not.
 * dmabuf.sh builds and runs it:
 *
 *	dmabuf DEVICE GID_INDEX EXPORTER CASE
 *
 * EXPORTER is "udmabuf", pages of a memfd, or "heap", the system heap. In each
 * pair of queue pairs far has the buffer, and near reaches for it.
 */
#include <fcntl.h>
#include <stdbool.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <linux/dma-buf.h>
#include <linux/dma-heap.h>

#include "../lib/pair.h"
#include "../lib/udmabuf.h"

#define PAGE	4096
#define SIZE	(64 * PAGE)

#define REFUSED(call, err) do {						\
	errno = 0;							\
	EXPECT(!(call) && errno == (err));				\
} while (0)

static const char *exporter;
static unsigned char local[SIZE];
static struct ibv_mr *local_mr;

static int heap(void)
{
	struct dma_heap_allocation_data alloc = {
		.len = SIZE, .fd_flags = O_RDWR | O_CLOEXEC,
	};
	int dev = open("/dev/dma_heap/system", O_RDWR);

	EXPECT(dev >= 0);
	EXPECT(!ioctl(dev, DMA_HEAP_IOCTL_ALLOC, &alloc));
	close(dev);
	return alloc.fd;
}

/** struct buffer - one that is exported, and how this process sees it */
struct buffer {
	int fd;
	unsigned char *at;
};

static struct buffer make_buffer(void)
{
	struct buffer b = {
		.fd = strcmp(exporter, "heap") ? make_udmabuf(SIZE) : heap(),
	};

	b.at = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, b.fd, 0);
	EXPECT(b.at != MAP_FAILED);
	return b;
}

static void forget_buffer(struct buffer *b)
{
	EXPECT(!munmap(b->at, SIZE) && !close(b->fd));
}

static void sync_buffer(const struct buffer *b, uint64_t flags)
{
	struct dma_buf_sync sync = { .flags = flags | DMA_BUF_SYNC_RW };

	EXPECT(!ioctl(b->fd, DMA_BUF_IOCTL_SYNC, &sync));
}

static bool holds(const struct buffer *b, size_t off, const void *bytes,
		  size_t len)
{
	bool same;

	sync_buffer(b, DMA_BUF_SYNC_START);
	same = !memcmp(b->at + off, bytes, len);
	sync_buffer(b, DMA_BUF_SYNC_END);
	return same;
}

static struct ibv_mr *reg_all(const struct buffer *b)
{
	struct ibv_mr *mr = ibv_reg_dmabuf_mr(pd, 0, SIZE, 0, b->fd, RIGHTS);

	EXPECT(mr);
	return mr;
}

static int reach(struct pair *p, enum ibv_wr_opcode opcode,
		 struct ibv_mr *mr, uint64_t addr, uint32_t len)
{
	struct ibv_send_wr wr = {
		.opcode = opcode,
		.wr.rdma = { .remote_addr = addr, .rkey = mr->rkey },
	};
	struct ibv_sge sge = { (uintptr_t)local, len, local_mr->lkey };

	return post_wait(p->near, p->near_cq, wr, sge);
}

static void refuses(void)
{
	struct buffer b = make_buffer();
	int file = memfd_create("no dma-buf", 0);

	REFUSED(ibv_reg_dmabuf_mr(pd, 0, PAGE, 0, -1, RIGHTS), EBADF);
	REFUSED(ibv_reg_dmabuf_mr(pd, 0, PAGE, 0, file, RIGHTS), EINVAL);
	REFUSED(ibv_reg_dmabuf_mr(pd, 0, 0, 0, b.fd, RIGHTS), EINVAL);
	REFUSED(ibv_reg_dmabuf_mr(pd, 0, SIZE + 1, 0, b.fd, RIGHTS), EINVAL);
	REFUSED(ibv_reg_dmabuf_mr(pd, PAGE, SIZE, 0, b.fd, RIGHTS), EINVAL);
	REFUSED(ibv_reg_dmabuf_mr(pd, -PAGE, 2 * PAGE, 0, b.fd, RIGHTS),
		EINVAL);
	REFUSED(ibv_reg_dmabuf_mr(pd, 0, PAGE, -PAGE / 2, b.fd, RIGHTS),
		EINVAL);
	REFUSED(ibv_reg_dmabuf_mr(pd, PAGE / 2, PAGE, -PAGE / 2, b.fd, RIGHTS),
		EINVAL);
	REFUSED(ibv_reg_dmabuf_mr(pd, 0, PAGE, 0, b.fd,
				  IBV_ACCESS_REMOTE_WRITE), EINVAL);
	close(file);
	forget_buffer(&b);
}

static void is_written_and_read(void)
{
	struct buffer b = make_buffer();
	struct ibv_mr *mr = reg_all(&b);
	struct pair p = make_pair(4);

	fill(local, SIZE, 31);
	EXPECT(!reach(&p, IBV_WR_RDMA_WRITE, mr, 0, SIZE));
	EXPECT(holds(&b, 0, local, SIZE));

	memset(local, 0, SIZE);
	EXPECT(!reach(&p, IBV_WR_RDMA_READ, mr, 0, SIZE));
	EXPECT(holds(&b, 0, local, SIZE));
	EXPECT(is_filled(local, SIZE, 31));

	unmake_pair(&p);
	EXPECT(!ibv_dereg_mr(mr));
	forget_buffer(&b);
}

/* The buffer is what is sent. */
static void is_a_source(void)
{
	struct buffer b = make_buffer();
	struct ibv_mr *mr = reg_all(&b);
	struct pair p = make_pair(4);
	struct ibv_send_wr wr = {
		.opcode = IBV_WR_RDMA_WRITE,
		.wr.rdma = { .remote_addr = (uintptr_t)local,
			     .rkey = local_mr->rkey },
	};
	struct ibv_sge sge = { 0, SIZE, mr->lkey };

	sync_buffer(&b, DMA_BUF_SYNC_START);
	fill(b.at, SIZE, 7);
	sync_buffer(&b, DMA_BUF_SYNC_END);
	memset(local, 0, SIZE);
	EXPECT(!post_wait(p.near, p.near_cq, wr, sge));
	EXPECT(holds(&b, 0, local, SIZE));

	unmake_pair(&p);
	EXPECT(!ibv_dereg_mr(mr));
	forget_buffer(&b);
}

static void is_received_to(void)
{
	struct buffer b = make_buffer();
	struct ibv_mr *mr = reg_all(&b);
	struct pair p = make_pair(4);
	struct ibv_sge to = { 100, 3 * PAGE, mr->lkey };
	struct ibv_recv_wr recv = { .sg_list = &to, .num_sge = 1 }, *bad;
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND };
	struct ibv_sge from = { (uintptr_t)local, 3 * PAGE, local_mr->lkey };

	fill(local, SIZE, 13);
	EXPECT(!ibv_post_recv(p.far, &recv, &bad));
	EXPECT(!post_wait(p.near, p.near_cq, wr, from));
	EXPECT(!status(p.far_cq));
	EXPECT(holds(&b, 100, local, 3 * PAGE));

	unmake_pair(&p);
	EXPECT(!ibv_dereg_mr(mr));
	forget_buffer(&b);
}

static void is_added_to(void)
{
	struct buffer b = make_buffer();
	struct ibv_mr *mr = reg_all(&b);
	struct pair p = make_pair(4);
	struct ibv_send_wr wr = {
		.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD,
		.wr.atomic = { .remote_addr = PAGE - 8, .compare_add = 5,
			       .rkey = mr->rkey },
	};
	struct ibv_sge sge = { (uintptr_t)local, 8, local_mr->lkey };
	uint64_t want = 15;
	int i;

	for (i = 0; i < 3; i++)
		EXPECT(!post_wait(p.near, p.near_cq, wr, sge));
	EXPECT(holds(&b, PAGE - 8, &want, 8));

	unmake_pair(&p);
	EXPECT(!ibv_dereg_mr(mr));
	forget_buffer(&b);
}

/* A part of the buffer, at an address of the owner's choice, and no more. */
static void shows_a_part(void)
{
	struct buffer b = make_buffer();
	uint64_t iova = 0x7000100, zero = 0;
	struct ibv_mr *mr;
	struct pair p;

	mr = ibv_reg_dmabuf_mr(pd, PAGE + 0x100, 1000, iova, b.fd, RIGHTS);
	EXPECT(mr);
	p = make_pair(4);
	memset(local, 0x5a, 1000);
	EXPECT(!reach(&p, IBV_WR_RDMA_WRITE, mr, iova, 1000));
	EXPECT(holds(&b, PAGE + 0x100, local, 1000));
	EXPECT(holds(&b, PAGE + 0xf8, &zero, 8));
	EXPECT(holds(&b, PAGE + 0x100 + 1000, &zero, 8));
	EXPECT(reach(&p, IBV_WR_RDMA_WRITE, mr, iova + 1, 1000) ==
	       IBV_WC_REM_ACCESS_ERR);
	unmake_pair(&p);

	p = make_pair(4);
	EXPECT(reach(&p, IBV_WR_RDMA_WRITE, mr, iova - 1, 1) ==
	       IBV_WC_REM_ACCESS_ERR);
	unmake_pair(&p);

	EXPECT(!ibv_dereg_mr(mr));
	p = make_pair(4);
	EXPECT(reach(&p, IBV_WR_RDMA_WRITE, mr, iova, 1) ==
	       IBV_WC_REM_ACCESS_ERR);
	unmake_pair(&p);
	forget_buffer(&b);
}

static void only_for_reading(void)
{
	struct buffer b = make_buffer();
	struct ibv_mr *mr;
	struct pair p;

	mr = ibv_reg_dmabuf_mr(pd, 0, SIZE, 0, b.fd, IBV_ACCESS_REMOTE_READ);
	EXPECT(mr);
	p = make_pair(4);
	EXPECT(!reach(&p, IBV_WR_RDMA_READ, mr, 0, SIZE));
	EXPECT(reach(&p, IBV_WR_RDMA_WRITE, mr, 0, 8) ==
	       IBV_WC_REM_ACCESS_ERR);
	unmake_pair(&p);
	EXPECT(!ibv_dereg_mr(mr));
	forget_buffer(&b);
}

/* Everybody else lets go of the buffer; the region keeps it. */
static void outlives_the_exporter(void)
{
	struct buffer b = make_buffer();
	struct ibv_mr *mr = reg_all(&b);
	struct pair p = make_pair(4);
	static unsigned char copy[SIZE];

	fill(local, SIZE, 31);
	memcpy(copy, local, SIZE);
	EXPECT(!reach(&p, IBV_WR_RDMA_WRITE, mr, 0, SIZE));
	forget_buffer(&b);

	memset(local, 0, SIZE);
	EXPECT(!reach(&p, IBV_WR_RDMA_READ, mr, 0, SIZE));
	EXPECT(!memcmp(local, copy, SIZE));
	EXPECT(!reach(&p, IBV_WR_RDMA_WRITE, mr, 0, SIZE));

	unmake_pair(&p);
	EXPECT(!ibv_dereg_mr(mr));
}

static void is_registered_twice(void)
{
	struct buffer b = make_buffer();
	struct ibv_mr *first = reg_all(&b), *second = reg_all(&b);
	struct pair p = make_pair(4);

	EXPECT(!ibv_dereg_mr(first));
	fill(local, SIZE, 3);
	EXPECT(!reach(&p, IBV_WR_RDMA_WRITE, second, 0, SIZE));
	EXPECT(holds(&b, 0, local, SIZE));
	unmake_pair(&p);
	EXPECT(!ibv_dereg_mr(second));
	forget_buffer(&b);
}

/* What rereg_mr changes is memory of the process. */
static void stays_as_it_is(void)
{
	struct buffer b = make_buffer();
	struct ibv_mr *mr = reg_all(&b);

	EXPECT(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0,
			    IBV_ACCESS_LOCAL_WRITE));
	EXPECT(!ibv_dereg_mr(mr));
	forget_buffer(&b);
}

/* Until it is killed; dmabuf.sh looks at what is there, and what is left. */
static void has_a_region(void)
{
	struct buffer b = make_buffer();

	reg_all(&b);
	puts("registered");
	pause();
}

/** struct difficult - a kind of buffer of exporter/exporter.c */
struct difficult {
	const char *name;
	int err;	/* of its registration */
};

/* As in exporter.c. */
#define EXPORT	0xf100

/* By the argument of the ioctl(). */
static const struct difficult difficult[] = {
	{ "no-vmap", EOPNOTSUPP },
	{ "iomem", EOPNOTSUPP },
	{ "no-pin", EBUSY },
	{ "moves", 0 },
};

static int export_difficult(int kind)
{
	int dev = open("/dev/frdma-exporter", O_RDWR);
	int fd;

	EXPECT(dev >= 0);
	fd = ioctl(dev, EXPORT, kind);
	EXPECT(fd >= 0);
	close(dev);
	return fd;
}

/* EXPORTER is a name in difficult. */
static void is_difficult(void)
{
	struct ibv_mr *mr;
	int kind = 0, fd;

	while (strcmp(difficult[kind].name, exporter))
		EXPECT(++kind < (int)(sizeof(difficult) / sizeof(*difficult)));
	fd = export_difficult(kind);
	mr = ibv_reg_dmabuf_mr(pd, 0, PAGE, 0, fd, RIGHTS);
	EXPECT((mr ? 0 : errno) == difficult[kind].err);
	EXPECT(!mr || !ibv_dereg_mr(mr));
	EXPECT(!close(fd));
}

static const struct test_case cases[] = {
	CASE(refuses),
	CASE(is_written_and_read),
	CASE(is_a_source),
	CASE(is_received_to),
	CASE(is_added_to),
	CASE(shows_a_part),
	CASE(only_for_reading),
	CASE(outlives_the_exporter),
	CASE(is_registered_twice),
	CASE(stays_as_it_is),
	CASE(has_a_region), CASE(is_difficult),
	{ }
};

int main(int argc, char **argv)
{
	if (argc != 5)
		return 2;
	exporter = argv[3];
	open_device(argv[1], argv[2]);
	local_mr = ibv_reg_mr(pd, local, SIZE, RIGHTS);
	EXPECT(local_mr);
	return run_case(cases, argv[4]);
}
