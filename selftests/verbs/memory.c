// SPDX-License-Identifier: GPL-2.0
/*
 * Memory regions, rings, completion queues and address handles, used as they
 * should be and as they should not. memory.sh builds and runs it:
 *
 *	memory DEVICE GID_INDEX CASE
 *
 * Each case is a process of its own. The first expectation that does not hold
 * is printed and ends it.
 */
#include <poll.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../lib/pair.h"

#define PAGE	4096
#define MAX_MAPS	64
#define DEPTH	64

#define REFUSED(call, err) do {						\
	errno = 0;							\
	EXPECT(!(call) && errno == (err));				\
} while (0)

static void *pages(size_t len)
{
	void *p = mmap(NULL, len, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	EXPECT(p != MAP_FAILED);
	return p;
}

static int post(struct pair *p, enum ibv_wr_opcode opcode, const void *local,
		uint32_t len, uint32_t lkey, const void *remote, uint32_t rkey)
{
	struct ibv_sge sge = { (uintptr_t)local, len, lkey };
	struct ibv_send_wr *bad, wr = {
		.sg_list = &sge, .num_sge = 1, .opcode = opcode,
		.wr.rdma = { .remote_addr = (uintptr_t)remote, .rkey = rkey },
	};

	return ibv_post_send(p->near, &wr, &bad);
}

static int transfer(struct pair *p, enum ibv_wr_opcode opcode,
		    const void *local, uint32_t len, uint32_t lkey,
		    const void *remote, uint32_t rkey)
{
	EXPECT(!post(p, opcode, local, len, lkey, remote, rkey));
	return status(p->near_cq);
}

/* The process's mappings of rings. */
struct map {
	char *at;
	size_t len;
	long offset;
};

static int ring_maps(struct map *maps)
{
	unsigned long from, to, offset;
	char line[512];
	int n = 0;
	FILE *f;

	f = fopen("/proc/self/maps", "r");
	EXPECT(f);
	while (fgets(line, sizeof(line), f))
		if (strstr(line, "/uverbs") &&
		    sscanf(line, "%lx-%lx %*s %lx", &from, &to, &offset) == 3) {
			EXPECT(n < MAX_MAPS);
			maps[n++] = (struct map) { (void *)from, to - from,
						   offset };
		}
	fclose(f);
	return n;
}

static void mr_refuses(void)
{
	char *p = pages(1 << 20);
	void *ro = mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS,
			-1, 0);

	REFUSED(ibv_reg_mr(pd, p, 0, RIGHTS), EINVAL);
	REFUSED(ibv_reg_mr(pd, p, -1, RIGHTS), EINVAL);
	REFUSED(ibv_reg_mr(pd, (void *)-100, 200, RIGHTS), EINVAL);
	REFUSED(ibv_reg_mr_iova(pd, p, 200, -100ULL, RIGHTS), EINVAL);
	REFUSED(ibv_reg_mr(pd, (void *)16, 100, RIGHTS), EFAULT);
	REFUSED(ibv_reg_mr(pd, ro, PAGE, IBV_ACCESS_LOCAL_WRITE), EFAULT);
	REFUSED(ibv_reg_mr(pd, p, 100, IBV_ACCESS_REMOTE_WRITE), EINVAL);
	EXPECT(!ibv_reg_mr(pd, p, 1ULL << 46, RIGHTS));
}

static void mr_takes_optional_flags(void)
{
	struct ibv_mr *mr;

	mr = ibv_reg_mr(pd, pages(PAGE), 100,
			RIGHTS | IBV_ACCESS_RELAXED_ORDERING);
	EXPECT(mr);
	EXPECT(!ibv_dereg_mr(mr));
}

static void mr_of_any_length_and_alignment(void)
{
	char *p = pages(1 << 20);
	struct ibv_mr *mr;
	int i;

	for (i = 0; i < 2000; i++) {
		mr = ibv_reg_mr(pd, p + i, 1 + 7 * i, RIGHTS);
		EXPECT(mr && mr->lkey && mr->rkey);
		EXPECT(!ibv_dereg_mr(mr));
	}
}

static void mr_carries_data_at_any_address(void)
{
	struct ibv_cq *cq = ibv_create_cq(ctx, 64, NULL, NULL, 0);
	struct pair p = make_pair_on(cq, cq, DEPTH);
	size_t half = 512 << 10, i;
	char *b = pages(2 * half);
	struct ibv_mr *mr, *odd;

	mr = ibv_reg_mr(pd, b, 2 * half, RIGHTS);
	odd = ibv_reg_mr_iova(pd, b + PAGE, 2 * PAGE, 0x7000, RIGHTS);
	EXPECT(mr && odd);
	for (i = 0; i < half; i++)
		b[i] = i * 31 + (i >> 8);

	EXPECT(!transfer(&p, IBV_WR_RDMA_WRITE, b, half, mr->lkey, b + half,
			 mr->rkey));
	EXPECT(!memcmp(b, b + half, half));
	EXPECT(!transfer(&p, IBV_WR_RDMA_READ, (void *)0x7001, PAGE + 5,
			 odd->lkey, b + half, mr->rkey));
	EXPECT(!memcmp(b + PAGE + 1, b + half, PAGE + 5));

	unmake_qps(&p);
	EXPECT(!ibv_dereg_mr(mr) && !ibv_dereg_mr(odd) && !ibv_destroy_cq(cq));
}

/* One access, which must end so; the queue pairs do not survive an error. */
static void access_ends(int want, const void *local, uint32_t len,
			uint32_t lkey, const void *remote, uint32_t rkey)
{
	struct ibv_cq *cq = ibv_create_cq(ctx, 64, NULL, NULL, 0);
	struct pair p = make_pair_on(cq, cq, DEPTH);

	EXPECT(transfer(&p, IBV_WR_RDMA_WRITE, local, len, lkey, remote,
			rkey) == want);
	unmake_qps(&p);
	EXPECT(!ibv_destroy_cq(cq));
}

static void mr_guards(void)
{
	struct ibv_pd *other = ibv_alloc_pd(ctx);
	char *b = pages(4 * PAGE);
	struct ibv_mr *mr, *foreign, *local;

	mr = ibv_reg_mr(pd, b, 2 * PAGE, RIGHTS);
	foreign = ibv_reg_mr(other, b, 2 * PAGE, RIGHTS);
	local = ibv_reg_mr(pd, b, 2 * PAGE, IBV_ACCESS_LOCAL_WRITE);
	EXPECT(mr && foreign && local);

	access_ends(IBV_WC_SUCCESS, b, 8, local->lkey, b + 100, mr->rkey);
	access_ends(IBV_WC_SUCCESS, b, PAGE, mr->lkey, b + PAGE, mr->rkey);
	access_ends(IBV_WC_REM_ACCESS_ERR, b, PAGE, mr->lkey, b + PAGE + 1,
		    mr->rkey);
	access_ends(IBV_WC_REM_ACCESS_ERR, b, 8, mr->lkey, b - 1, mr->rkey);
	access_ends(IBV_WC_REM_ACCESS_ERR, b, 8, mr->lkey, (void *)-4L,
		    mr->rkey);
	access_ends(IBV_WC_REM_ACCESS_ERR, b, 8, mr->lkey, b, local->rkey);
	access_ends(IBV_WC_REM_ACCESS_ERR, b, 8, mr->lkey, b, foreign->rkey);
	access_ends(IBV_WC_REM_ACCESS_ERR, b, 8, mr->lkey, b, mr->rkey ^ 1);
	access_ends(IBV_WC_REM_ACCESS_ERR, b, 8, mr->lkey, b, 0);
	access_ends(IBV_WC_LOC_PROT_ERR, b, 8, foreign->lkey, b, mr->rkey);
	access_ends(IBV_WC_LOC_PROT_ERR, b, 8, 0, b, mr->rkey);
	access_ends(IBV_WC_LOC_PROT_ERR, b + 2 * PAGE - 4, 8, mr->lkey, b,
		    mr->rkey);

	EXPECT(!ibv_dereg_mr(foreign));
	access_ends(IBV_WC_REM_ACCESS_ERR, b, 8, mr->lkey, b, foreign->rkey);
	EXPECT(!ibv_dereg_mr(mr) && !ibv_dereg_mr(local));
	EXPECT(!ibv_dealloc_pd(other));
}

/* Whoever has found a region a moment ago does not find it any more. */
static void mr_is_gone_once_deregistered(void)
{
	char *b = pages(2 * PAGE);
	struct ibv_mr *mr, *gone;
	uint32_t lkey, rkey;
	int i;

	mr = ibv_reg_mr(pd, b, 2 * PAGE, RIGHTS);
	gone = ibv_reg_mr(pd, b, 2 * PAGE, RIGHTS);
	EXPECT(mr && gone);
	lkey = gone->lkey;
	rkey = gone->rkey;

	for (i = 0; i < 8; i++)
		access_ends(IBV_WC_SUCCESS, b, 8, lkey, b + 100, rkey);
	EXPECT(!ibv_dereg_mr(gone));
	for (i = 0; i < 8; i++) {
		access_ends(IBV_WC_REM_ACCESS_ERR, b, 8, mr->lkey, b, rkey);
		access_ends(IBV_WC_LOC_PROT_ERR, b, 8, lkey, b, mr->rkey);
	}
	EXPECT(!ibv_dereg_mr(mr));
}

static void mr_rereg_changes_what_it_says(void)
{
	struct ibv_pd *other = ibv_alloc_pd(ctx);
	char *b = pages(4 * PAGE);
	struct ibv_mr *mr, *src;

	mr = ibv_reg_mr(pd, b, 4 * PAGE, IBV_ACCESS_LOCAL_WRITE);
	src = ibv_reg_mr(pd, b, 4 * PAGE, IBV_ACCESS_LOCAL_WRITE);
	EXPECT(mr && src);
	access_ends(IBV_WC_REM_ACCESS_ERR, b, 8, src->lkey, b, mr->rkey);

	EXPECT(!ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0,
			     RIGHTS));
	access_ends(IBV_WC_SUCCESS, b, 8, src->lkey, b, mr->rkey);

	EXPECT(!ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_TRANSLATION, NULL,
			     b + 100, 1000, 0));
	access_ends(IBV_WC_SUCCESS, b, 1000, src->lkey, b + 100, mr->rkey);
	access_ends(IBV_WC_REM_ACCESS_ERR, b, 1001, src->lkey, b + 100,
		    mr->rkey);

	EXPECT(!ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_PD, other, NULL, 0, 0));
	access_ends(IBV_WC_REM_ACCESS_ERR, b, 8, src->lkey, b + 100, mr->rkey);
	EXPECT(ibv_dealloc_pd(other));
	EXPECT(!ibv_dereg_mr(mr) && !ibv_dereg_mr(src));
	EXPECT(!ibv_dealloc_pd(other));
}

static void mr_of_4_gib_reaches_its_far_end(void)
{
	struct ibv_cq *cq = ibv_create_cq(ctx, 64, NULL, NULL, 0);
	size_t len = 4ULL << 30, n = 64 << 10, i;
	struct pair p = make_pair_on(cq, cq, DEPTH);
	char *b = pages(len), *s = pages(n);
	struct ibv_mr *mr, *src;
	double start;

	/* What it takes to have the memory is not what registering takes. */
	for (i = 0; i < len; i += PAGE)
		b[i] = 1;
	start = now();
	mr = ibv_reg_mr(pd, b, len, RIGHTS);
	EXPECT(mr);
	printf("registered in %.2f s\n", now() - start);
	EXPECT(now() - start < 20);

	src = ibv_reg_mr(pd, s, n, RIGHTS);
	EXPECT(src);
	for (i = 0; i < n; i++)
		s[i] = i * 7 + (i >> 8);
	EXPECT(!transfer(&p, IBV_WR_RDMA_WRITE, s, n, src->lkey, b + len - n,
			 mr->rkey));
	EXPECT(!memcmp(s, b + len - n, n));
	memset(s, 0, n);
	EXPECT(!transfer(&p, IBV_WR_RDMA_READ, s, n, src->lkey, b + len - n,
			 mr->rkey));
	EXPECT(!memcmp(s, b + len - n, n));
	EXPECT(transfer(&p, IBV_WR_RDMA_WRITE, s, 1, src->lkey, b + len,
			mr->rkey) == IBV_WC_REM_ACCESS_ERR);

	unmake_qps(&p);
	EXPECT(!ibv_dereg_mr(mr) && !ibv_dereg_mr(src) && !ibv_destroy_cq(cq));
}

static void cq_refuses(void)
{
	REFUSED(ibv_create_cq(ctx, 0, NULL, NULL, 0), EINVAL);
	REFUSED(ibv_create_cq(ctx, -1, NULL, NULL, 0), EINVAL);
	REFUSED(ibv_create_cq(ctx, (1 << 20) + 1, NULL, NULL, 0), EINVAL);
	REFUSED(ibv_create_cq(ctx, 1, NULL, NULL, ctx->num_comp_vectors),
		EINVAL);
}

static void cq_of_the_largest_size(void)
{
	struct ibv_cq *cq = ibv_create_cq(ctx, 1 << 20, NULL, NULL, 0);

	EXPECT(cq && cq->cqe >= 1 << 20);
	EXPECT(!ibv_destroy_cq(cq));
}

static void cq_resize_keeps_completions(void)
{
	struct ibv_cq *cq = ibv_create_cq(ctx, 16, NULL, NULL, 0);
	struct pair p = make_pair_on(cq, cq, DEPTH);
	char *b = pages(PAGE);
	struct ibv_mr *mr = ibv_reg_mr(pd, b, PAGE, RIGHTS);
	int i;

	for (i = 0; i < 6; i++)
		EXPECT(!post(&p, IBV_WR_RDMA_WRITE, b, 8, mr->lkey, b,
			     mr->rkey));
	sleep(slow());
	EXPECT(ibv_resize_cq(cq, 3));
	EXPECT(ibv_resize_cq(cq, 0));
	EXPECT(ibv_resize_cq(cq, 1 << 30));
	EXPECT(!ibv_resize_cq(cq, 2000) && cq->cqe >= 2000);
	for (i = 0; i < 6; i++)
		EXPECT(!status(cq));
	EXPECT(!ibv_resize_cq(cq, 8));
	for (i = 0; i < 50; i++)
		EXPECT(!transfer(&p, IBV_WR_RDMA_WRITE, b, 8, mr->lkey, b,
				 mr->rkey));

	unmake_qps(&p);
	EXPECT(!ibv_dereg_mr(mr) && !ibv_destroy_cq(cq));
}

static int events_on(struct ibv_comp_channel *channel, int ms)
{
	struct pollfd fd = { .fd = channel->fd, .events = POLLIN };
	struct ibv_cq *cq;
	void *arg;

	if (!poll(&fd, 1, ms))
		return 0;
	EXPECT(!ibv_get_cq_event(channel, &cq, &arg));
	ibv_ack_cq_events(cq, 1);
	return 1;
}

static void cq_events_on_each_vector(void)
{
	struct ibv_comp_channel *channel = ibv_create_comp_channel(ctx);
	char *b = pages(PAGE);
	struct ibv_mr *mr = ibv_reg_mr(pd, b, PAGE, RIGHTS);
	struct ibv_cq *cq;
	struct pair p;
	int v, i;

	for (v = 0; v < ctx->num_comp_vectors; v++) {
		cq = ibv_create_cq(ctx, 64, NULL, channel, v);
		p = make_pair_on(cq, cq, DEPTH);
		for (i = 0; i < 100; i++) {
			EXPECT(!ibv_req_notify_cq(cq, 0));
			EXPECT(!post(&p, IBV_WR_RDMA_WRITE, b, 8, mr->lkey, b,
				     mr->rkey));
			EXPECT(events_on(channel, 5000));
			EXPECT(!status(cq));
		}
		EXPECT(!events_on(channel, 20));

		/* Success is not solicited, an error is. */
		EXPECT(!ibv_req_notify_cq(cq, 1));
		EXPECT(!transfer(&p, IBV_WR_RDMA_WRITE, b, 8, mr->lkey, b,
				 mr->rkey));
		EXPECT(!events_on(channel, 20));
		EXPECT(transfer(&p, IBV_WR_RDMA_WRITE, b, 8, mr->lkey, b, 1));
		EXPECT(events_on(channel, 5000));
		unmake_qps(&p);
		EXPECT(!ibv_destroy_cq(cq));
	}
	EXPECT(!ibv_dereg_mr(mr) && !ibv_destroy_comp_channel(channel));
}

static void cq_forgets_a_queue_pair(void)
{
	struct ibv_cq *cq = ibv_create_cq(ctx, 64, NULL, NULL, 0);
	struct pair p = make_pair_on(cq, cq, DEPTH), q = make_pair_on(cq, cq, DEPTH);
	char *b = pages(PAGE);
	struct ibv_mr *mr = ibv_reg_mr(pd, b, PAGE, RIGHTS);
	uint32_t stays = q.near->qp_num;
	struct ibv_wc wc[64];

	EXPECT(!post(&p, IBV_WR_RDMA_WRITE, b, 8, mr->lkey, b, mr->rkey));
	EXPECT(!post(&q, IBV_WR_RDMA_WRITE, b, 8, mr->lkey, b, mr->rkey));
	EXPECT(!post(&p, IBV_WR_RDMA_WRITE, b, 8, mr->lkey, b, mr->rkey));
	sleep(slow());
	unmake_qps(&p);
	EXPECT(ibv_poll_cq(cq, 64, wc) == 1 && wc[0].qp_num == stays);

	unmake_qps(&q);
	EXPECT(!ibv_dereg_mr(mr) && !ibv_destroy_cq(cq));
}

/* Counts async events until it is quiet. */
static int async_events(enum ibv_event_type type)
{
	struct pollfd fd = { .fd = ctx->async_fd, .events = POLLIN };
	struct ibv_async_event event;
	int n = 0;

	while (poll(&fd, 1, 1000)) {
		EXPECT(!ibv_get_async_event(ctx, &event));
		n += event.event_type == type;
		ibv_ack_async_event(&event);
	}

	return n;
}

/* Who writes nonsense into the indices breaks this queue and no other. */
static void ring_scribbled_over(void)
{
	struct map maps[MAX_MAPS], ring;
	char *b = pages(PAGE);
	struct ibv_mr *mr = ibv_reg_mr(pd, b, PAGE, RIGHTS);
	struct ibv_cq *bad_cq, *good_cq;
	struct pair bad, good;

	EXPECT(!ring_maps(maps));
	bad_cq = ibv_create_cq(ctx, 16, NULL, NULL, 0);
	EXPECT(ring_maps(maps) == 1);
	ring = maps[0];
	good_cq = ibv_create_cq(ctx, 16, NULL, NULL, 0);
	bad = make_pair_on(bad_cq, bad_cq, DEPTH);
	good = make_pair_on(good_cq, good_cq, DEPTH);
	EXPECT(!transfer(&bad, IBV_WR_RDMA_WRITE, b, 8, mr->lkey, b,
			 mr->rkey));

	memset(ring.at, 0xa5, ring.len);
	post(&bad, IBV_WR_RDMA_WRITE, b, 8, mr->lkey, b, mr->rkey);
	EXPECT(async_events(IBV_EVENT_CQ_ERR) == 1);
	post(&bad, IBV_WR_RDMA_WRITE, b, 8, mr->lkey, b, mr->rkey);
	EXPECT(async_events(IBV_EVENT_CQ_ERR) == 0);
	EXPECT(!transfer(&good, IBV_WR_RDMA_WRITE, b, 8, mr->lkey, b,
			 mr->rkey));

	unmake_qps(&bad);
	unmake_qps(&good);
	EXPECT(!ibv_destroy_cq(bad_cq) && !ibv_destroy_cq(good_cq));
	EXPECT(!ibv_dereg_mr(mr) && !ring_maps(maps));
}

static bool cannot_map(int fd, size_t len, int flags, long offset)
{
	return mmap(NULL, len, PROT_READ | PROT_WRITE, flags, fd, offset) ==
	       MAP_FAILED;
}

static void ring_maps_only_as_it_is(void)
{
	struct ibv_context *other = ibv_open_device(ctx->device);
	struct ibv_cq *cq = ibv_create_cq(ctx, 16, NULL, NULL, 0);
	struct map maps[MAX_MAPS], m;
	int fd = ctx->cmd_fd;
	char *again;

	EXPECT(cq && ring_maps(maps) == 1);
	m = maps[0];
	EXPECT(cannot_map(fd, m.len, MAP_PRIVATE, m.offset));
	EXPECT(cannot_map(fd, m.len + PAGE, MAP_SHARED, m.offset));
	EXPECT(cannot_map(fd, m.len, MAP_SHARED, m.offset + (64 << 20)));
	EXPECT(cannot_map(other->cmd_fd, m.len, MAP_SHARED, m.offset));
	again = mmap(NULL, m.len, PROT_READ, MAP_SHARED, fd, m.offset);
	EXPECT(again != MAP_FAILED);
	EXPECT(mremap(again, m.len, 2 * m.len, MREMAP_MAYMOVE) == MAP_FAILED);

	/* The pages live as long as the mapping. */
	EXPECT(!ibv_destroy_cq(cq));
	EXPECT(cannot_map(fd, m.len, MAP_SHARED, m.offset));
	EXPECT(again[m.len - 1] == 0);
	EXPECT(!ibv_close_device(other));
}

static void ah_refuses(void)
{
	struct ibv_ah_attr attr = {
		.is_global = 1, .port_num = 1,
		.grh = { .sgid_index = gid_index },
	};
	union ibv_gid gid, ipv6 = { .raw = { 0xfe, 0x80 } };
	struct ibv_ah *ah;
	int i;

	EXPECT(!ibv_query_gid(ctx, 1, gid_index, &gid));
	attr.grh.dgid = gid;
	for (i = 0; i < 500; i++) {
		ah = ibv_create_ah(pd, &attr);
		EXPECT(ah);
		EXPECT(!ibv_destroy_ah(ah));
	}

	attr.port_num = 2;
	EXPECT(!ibv_create_ah(pd, &attr));
	attr.port_num = 1;
	attr.is_global = 0;
	EXPECT(!ibv_create_ah(pd, &attr));
	attr.is_global = 1;
	attr.grh.sgid_index = 200;
	EXPECT(!ibv_create_ah(pd, &attr));
	attr.grh.sgid_index = gid_index;
	attr.grh.dgid = ipv6;
	EXPECT(!ibv_create_ah(pd, &attr));
}

/* The device goes while the process polls: it is told, and nothing faults. */
static void unplug(void)
{
	struct ibv_cq *cq = ibv_create_cq(ctx, 16, NULL, NULL, 0);
	struct pair p = make_pair_on(cq, cq, DEPTH);
	char *b = pages(PAGE);
	struct ibv_mr *mr = ibv_reg_mr(pd, b, PAGE, RIGHTS);
	struct map maps[MAX_MAPS];
	int n = ring_maps(maps);
	struct ibv_wc wc;
	int i, err = 0;

	EXPECT(n >= 3);
	EXPECT(!transfer(&p, IBV_WR_RDMA_WRITE, b, 8, mr->lkey, b, mr->rkey));
	EXPECT(!system("rdma link delete \"$RDMA_LINK\""));

	EXPECT(ibv_poll_cq(cq, 1, &wc) < 0);
	for (i = 0; i < 100 && !err; i++)
		err = post(&p, IBV_WR_RDMA_WRITE, b, 8, mr->lkey, b, mr->rkey);
	EXPECT(err == EIO);
	REFUSED(ibv_alloc_pd(ctx), EIO);
	EXPECT(cannot_map(ctx->cmd_fd, maps[0].len, MAP_SHARED,
			  maps[0].offset));
	EXPECT(!system("modprobe -r frdma"));
	for (i = 0; i < n; i++)
		memset(maps[i].at, 1, maps[i].len);
}

static const struct test_case cases[] = {
	CASE(mr_refuses),
	CASE(mr_takes_optional_flags),
	CASE(mr_of_any_length_and_alignment),
	CASE(mr_carries_data_at_any_address),
	CASE(mr_guards),
	CASE(mr_is_gone_once_deregistered),
	CASE(mr_rereg_changes_what_it_says),
	CASE(mr_of_4_gib_reaches_its_far_end),
	CASE(cq_refuses),
	CASE(cq_of_the_largest_size),
	CASE(cq_resize_keeps_completions),
	CASE(cq_events_on_each_vector),
	CASE(cq_forgets_a_queue_pair),
	CASE(ring_scribbled_over),
	CASE(ring_maps_only_as_it_is),
	CASE(ah_refuses),
	CASE(unplug),
	{ }
};

int main(int argc, char **argv)
{
	if (argc != 4)
		return 2;
	setenv("RDMA_LINK", argv[1], 1);
	open_device(argv[1], argv[2]);
	return run_case(cases, argv[3]);
}
