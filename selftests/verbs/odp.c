// SPDX-License-Identifier: GPL-2.0
/*
 * Regions whose memory is not pinned. odp.sh runs it:
 *
 *	odp DEVICE GID_INDEX CASE
 *
 * Where pages take their time: late.c.
 */
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>
#include <stdbool.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "../lib/ondemand.h"

/* Some processors do not have it. */
#ifndef SYS_memfd_secret
#define SYS_memfd_secret -1
#endif

/* Names that rdma-core lacked for long. */
#define ODP_FLUSH		(1 << 6)
#define ODP_ATOMIC_WRITE	(1 << 7)

#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE	25
#endif

#define REFUSED(call, err) do {						\
	errno = 0;							\
	EXPECT(!(call) && errno == (err));				\
} while (0)

static void device_says_so(void)
{
	struct ibv_device_attr_ex attr;
	uint32_t rc = IBV_ODP_SUPPORT_SEND | IBV_ODP_SUPPORT_RECV |
		      IBV_ODP_SUPPORT_WRITE | IBV_ODP_SUPPORT_READ |
		      IBV_ODP_SUPPORT_ATOMIC | IBV_ODP_SUPPORT_SRQ_RECV |
		      ODP_ATOMIC_WRITE;

	EXPECT(!ibv_query_device_ex(ctx, NULL, &attr));
	if (attr.device_cap_flags_ex & DEVICE_FLUSH_GLOBAL)
		rc |= ODP_FLUSH;
	EXPECT(attr.odp_caps.general_caps ==
	       (IBV_ODP_SUPPORT | IBV_ODP_SUPPORT_IMPLICIT));
	EXPECT(attr.odp_caps.per_transport_caps.rc_odp_caps == rc);
	EXPECT(attr.xrc_odp_caps == rc);
}

static void refuses(void)
{
	unsigned char *p = fresh(SIZE);

	REFUSED(ibv_reg_mr(pd, p, 0, ON_DEMAND), EINVAL);
	REFUSED(ibv_reg_mr(pd, p, -1, ON_DEMAND), EINVAL);
	REFUSED(ibv_reg_mr(pd, (void *)-PAGE, PAGE, ON_DEMAND), EINVAL);
	REFUSED(ibv_reg_mr(pd, p, SIZE, IBV_ACCESS_ON_DEMAND |
			   IBV_ACCESS_REMOTE_WRITE), EINVAL);
	REFUSED(ibv_reg_mr(pd, p, SIZE, ON_DEMAND | IBV_ACCESS_MW_BIND),
		EOPNOTSUPP);
	REFUSED(ibv_reg_mr_iova(pd, NULL, SIZE_MAX, PAGE, ON_DEMAND), EINVAL);
}

static void write_finds_nothing_there(void)
{
	struct ends e = make_ends(SIZE, ON_DEMAND, ON_DEMAND);
	long before = page_faults();
	struct pair p = make_pair(4);

	EXPECT(!transfer(&p, IBV_WR_RDMA_WRITE, &e, SIZE));
	EXPECT(page_faults() > before);
	fill(e.src, SIZE, 31);
	EXPECT(!transfer(&p, IBV_WR_RDMA_WRITE, &e, SIZE));
	EXPECT(is_filled(e.dst, SIZE, 31));
	unmake_pair(&p);
	unmake_ends(&e);
}

static void read_finds_nothing_there(void)
{
	struct ends e = make_ends(SIZE, ON_DEMAND, ON_DEMAND);
	struct pair p = make_pair(4);

	fill(e.dst, SIZE, 7);
	EXPECT(!transfer(&p, IBV_WR_RDMA_READ, &e, SIZE));
	EXPECT(is_filled(e.src, SIZE, 7));

	/* The other end: what is not there is read as zeros. */
	EXPECT(!madvise(e.dst, SIZE, MADV_DONTNEED));
	EXPECT(!transfer(&p, IBV_WR_RDMA_READ, &e, SIZE));
	EXPECT(!memcmp(e.src, fresh(SIZE), SIZE));
	unmake_pair(&p);
	unmake_ends(&e);
}

static void send_finds_nothing_there(void)
{
	struct ends e = make_ends(SIZE, ON_DEMAND, ON_DEMAND);
	struct ibv_sge to[2] = {
		{ (uintptr_t)e.dst + 100, 5000, e.to->lkey },
		{ (uintptr_t)e.dst + 10000, SIZE - 10000, e.to->lkey },
	};
	struct ibv_recv_wr recv = { .sg_list = to, .num_sge = 2 }, *bad;
	struct pair p = make_pair(4);

	fill(e.src, SIZE, 13);
	EXPECT(!ibv_post_recv(p.far, &recv, &bad));
	EXPECT(!transfer(&p, IBV_WR_SEND, &e, SIZE - 10000));
	EXPECT(!status(p.far_cq));
	EXPECT(!memcmp((char *)e.dst + 100, e.src, 5000));
	EXPECT(!memcmp((char *)e.dst + 10000, (char *)e.src + 5000,
		       SIZE - 15000));
	unmake_pair(&p);
	unmake_ends(&e);
}

static void atomic_finds_nothing_there(void)
{
	struct ends e = make_ends(SIZE, ON_DEMAND, ON_DEMAND);
	struct ibv_sge sge = { (uintptr_t)e.src + 8, 8, e.from->lkey };
	struct ibv_send_wr *bad, wr = {
		.sg_list = &sge, .num_sge = 1,
		.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD,
		.wr.atomic = { .remote_addr = (uintptr_t)e.dst + PAGE,
			       .compare_add = 5, .rkey = e.to->rkey },
	};
	struct pair p = make_pair(4);
	int i;

	for (i = 0; i < 3; i++) {
		EXPECT(!ibv_post_send(p.near, &wr, &bad));
		EXPECT(!status(p.near_cq));
	}
	EXPECT(*(uint64_t *)((char *)e.dst + PAGE) == 15);
	EXPECT(*(uint64_t *)((char *)e.src + 8) == 10);
	unmake_pair(&p);
	unmake_ends(&e);
}

static void atomic_write_finds_nothing_there(void)
{
	struct ends e = make_ends(SIZE, ON_DEMAND, ON_DEMAND);
	struct ends at = { e.from, e.to, e.src, (char *)e.dst + PAGE };
	struct pair p = make_pair(4);

	*(uint64_t *)e.src = 0x123456789;
	EXPECT(!transfer(&p, IBV_WR_ATOMIC_WRITE, &at, 8));
	EXPECT(*(uint64_t *)at.dst == 0x123456789);

	/* Gone and come again. */
	EXPECT(!madvise(e.dst, SIZE, MADV_DONTNEED));
	EXPECT(!transfer(&p, IBV_WR_ATOMIC_WRITE, &at, 8));
	EXPECT(*(uint64_t *)at.dst == 0x123456789);
	unmake_pair(&p);
	unmake_ends(&e);
}

/* What the process gives up, and what it gets in its place. */
static void pages_go_and_come(void)
{
	struct ends e = make_ends(SIZE, RIGHTS, ON_DEMAND);
	struct pair p = make_pair(4);
	unsigned int seed;

	for (seed = 1; seed < 20; seed++) {
		fill(e.src, SIZE, seed);
		EXPECT(!transfer(&p, IBV_WR_RDMA_WRITE, &e, SIZE));
		EXPECT(is_filled(e.dst, SIZE, seed));
		EXPECT(!madvise(e.dst, SIZE, MADV_DONTNEED));
		EXPECT(!((char *)e.dst)[1]);
	}
	unmake_pair(&p);
	unmake_ends(&e);
}

/*
 * What the process has declared worthless is kept all the same once a peer has written
 * there, for whose writes no entry of a page table is marked.
 */
static void worthless_is_written(bool deregisters)
{
	struct ends e = make_ends(SIZE, RIGHTS, ON_DEMAND);
	struct pair p = make_pair(4);

	fill(e.src, SIZE, 31);
	fill(e.dst, SIZE, 13);
	EXPECT(!madvise(e.dst, SIZE, MADV_FREE));
	EXPECT(!transfer(&p, IBV_WR_RDMA_WRITE, &e, SIZE));
	if (deregisters)
		EXPECT(!ibv_dereg_mr(e.to));
	EXPECT(!madvise(e.dst, SIZE, MADV_PAGEOUT));
	EXPECT(is_filled(e.dst, SIZE, 31));
	if (deregisters)
		e.to = reg(e.dst, SIZE, ON_DEMAND);
	unmake_pair(&p);
	unmake_ends(&e);
}

static void worthless_is_kept(void)
{
	worthless_is_written(false);
	worthless_is_written(true);
}

/* A page that was only read is shared with others, and not to be written. */
static void read_page_is_not_written(void)
{
	struct ends e = make_ends(SIZE, ON_DEMAND, ON_DEMAND);
	unsigned char *other = fresh(SIZE);
	struct pair p = make_pair(4);

	EXPECT(!transfer(&p, IBV_WR_RDMA_READ, &e, SIZE));
	fill(e.src, SIZE, 31);
	EXPECT(!transfer(&p, IBV_WR_RDMA_WRITE, &e, SIZE));
	EXPECT(is_filled(e.dst, SIZE, 31));
	EXPECT(!other[1] && !other[SIZE - 1]);
	unmake_pair(&p);
	unmake_ends(&e);
}

/* After a fork the parent's pages are the parent's. */
static void child_keeps_what_it_had(void)
{
	struct ends e = make_ends(SIZE, RIGHTS, ON_DEMAND);
	struct pair p = make_pair(4);
	int go[2], wstatus;
	char c;
	pid_t pid;

	EXPECT(!pipe(go));
	fill(e.src, SIZE, 1);
	EXPECT(!transfer(&p, IBV_WR_RDMA_WRITE, &e, SIZE));

	pid = fork();
	EXPECT(pid >= 0);
	if (!pid)
		_exit(read(go[0], &c, 1) != 1 || !is_filled(e.dst, SIZE, 1));

	fill(e.src, SIZE, 2);
	EXPECT(!transfer(&p, IBV_WR_RDMA_WRITE, &e, SIZE));
	EXPECT(is_filled(e.dst, SIZE, 2));
	EXPECT(write(go[1], "x", 1) == 1);
	EXPECT(waitpid(pid, &wstatus, 0) == pid && !wstatus);
	unmake_pair(&p);
	unmake_ends(&e);
}

static void protection_holds(void)
{
	struct ends e = make_ends(SIZE, ON_DEMAND, ON_DEMAND);
	struct ends back = { e.to, e.from, e.dst, e.src };

	fill(e.src, SIZE, 31);
	EXPECT(!transfer_alone(IBV_WR_RDMA_WRITE, &e, SIZE));
	EXPECT(!mprotect(e.dst, SIZE, PROT_READ));
	EXPECT(transfer_alone(IBV_WR_RDMA_WRITE, &e, SIZE) ==
	       IBV_WC_REM_ACCESS_ERR);
	EXPECT(transfer_alone(IBV_WR_RDMA_READ, &back, 8) ==
	       IBV_WC_LOC_PROT_ERR);
	EXPECT(!transfer_alone(IBV_WR_RDMA_READ, &e, SIZE));
	EXPECT(!transfer_alone(IBV_WR_RDMA_WRITE, &back, SIZE));

	EXPECT(!mprotect(e.dst, SIZE, PROT_NONE));
	EXPECT(transfer_alone(IBV_WR_RDMA_READ, &e, 8) ==
	       IBV_WC_REM_ACCESS_ERR);
	EXPECT(transfer_alone(IBV_WR_RDMA_WRITE, &back, 8) ==
	       IBV_WC_LOC_PROT_ERR);

	EXPECT(!mprotect(e.dst, SIZE, PROT_READ | PROT_WRITE));
	EXPECT(!transfer_alone(IBV_WR_RDMA_WRITE, &e, SIZE));
	EXPECT(is_filled(e.dst, SIZE, 31));
	unmake_ends(&e);
}

/* To what e->to shows, and from there, no byte comes, whoever asks. */
static void nobody_reaches(const struct ends *e)
{
	struct ends back = { e->to, e->from, e->dst, e->src };

	EXPECT(transfer_alone(IBV_WR_RDMA_WRITE, e, 8) ==
	       IBV_WC_REM_ACCESS_ERR);
	EXPECT(transfer_alone(IBV_WR_RDMA_READ, e, 8) ==
	       IBV_WC_REM_ACCESS_ERR);
	EXPECT(transfer_alone(IBV_WR_RDMA_WRITE, &back, 8) ==
	       IBV_WC_LOC_PROT_ERR);
	EXPECT(transfer_alone(IBV_WR_RDMA_READ, &back, 8) ==
	       IBV_WC_LOC_PROT_ERR);
}

/* A hole is an error of who reaches for it; then there is memory again. */
static void holes_are_errors(void)
{
	struct ends e = make_ends(SIZE, ON_DEMAND, ON_DEMAND);
	struct ibv_sge to = { (uintptr_t)e.dst, 100, e.to->lkey };
	struct ibv_recv_wr recv = { .sg_list = &to, .num_sge = 1 }, *bad;
	struct pair p;

	EXPECT(!transfer_alone(IBV_WR_RDMA_WRITE, &e, SIZE));
	EXPECT(!munmap(e.dst, SIZE));
	nobody_reaches(&e);
	p = make_pair(4);
	EXPECT(!ibv_post_recv(p.far, &recv, &bad));
	EXPECT(transfer(&p, IBV_WR_SEND, &e, 100) == IBV_WC_REM_OP_ERR);
	EXPECT(status(p.far_cq) == IBV_WC_LOC_PROT_ERR);
	unmake_pair(&p);

	EXPECT(mmap(e.dst, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE |
		    MAP_ANONYMOUS | MAP_FIXED, -1, 0) == e.dst);
	fill(e.src, SIZE, 31);
	EXPECT(!transfer_alone(IBV_WR_RDMA_WRITE, &e, SIZE));
	EXPECT(is_filled(e.dst, SIZE, 31));
	unmake_ends(&e);
}

/* One region for all that the process has, and will have. */
static void implicit_is_everything(void)
{
	struct ibv_mr *mr = ibv_reg_mr(pd, NULL, SIZE_MAX, ON_DEMAND);
	static unsigned char in_bss[SIZE];
	struct ends e = { .from = mr, .to = mr };
	struct pair p = make_pair(4);

	EXPECT(mr);
	e.src = fresh(SIZE);
	e.dst = fresh(SIZE);
	fill(e.src, SIZE, 31);
	EXPECT(!transfer(&p, IBV_WR_RDMA_WRITE, &e, SIZE));
	EXPECT(is_filled(e.dst, SIZE, 31));

	/* Constant data can be sent, too. */
	e.src = (void *)device_says_so;
	e.dst = in_bss;
	EXPECT(!transfer(&p, IBV_WR_RDMA_WRITE, &e, 100));
	EXPECT(!memcmp(in_bss, (void *)device_says_so, 100));

	e.dst = (void *)device_says_so;
	EXPECT(transfer(&p, IBV_WR_RDMA_WRITE, &e, 100) ==
	       IBV_WC_REM_ACCESS_ERR);
	unmake_pair(&p);
	e.dst = (void *)0xffff800000000000;
	EXPECT(transfer_alone(IBV_WR_RDMA_WRITE, &e, 100) ==
	       IBV_WC_REM_ACCESS_ERR);
	e.dst = NULL;
	EXPECT(transfer_alone(IBV_WR_RDMA_WRITE, &e, 100) ==
	       IBV_WC_REM_ACCESS_ERR);
	EXPECT(!ibv_dereg_mr(mr));
}

static void prefetched_is_there(void)
{
	struct ends e = make_ends(SIZE, ON_DEMAND, ON_DEMAND);
	struct pair p = make_pair(4);
	long before;

	EXPECT(!prefetch(IBV_ADVISE_MR_ADVICE_PREFETCH, e.from, e.src, SIZE));
	EXPECT(!prefetch(IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE, e.to, e.dst,
			 SIZE));
	before = page_faults();
	EXPECT(!transfer(&p, IBV_WR_RDMA_WRITE, &e, SIZE));
	EXPECT(page_faults() == before);

	/* The process has them, so nothing has to be faulted in. */
	EXPECT(!madvise(e.src, SIZE, MADV_DONTNEED));
	EXPECT(!prefetch(IBV_ADVISE_MR_ADVICE_PREFETCH_NO_FAULT, e.from, e.src,
			 SIZE));
	EXPECT(!transfer(&p, IBV_WR_RDMA_WRITE, &e, PAGE));
	EXPECT(page_faults() > before);
	EXPECT(!madvise(e.src, SIZE, MADV_DONTNEED));
	fill(e.src, SIZE, 31);
	EXPECT(!prefetch(IBV_ADVISE_MR_ADVICE_PREFETCH_NO_FAULT, e.from, e.src,
			 SIZE));
	before = page_faults();
	EXPECT(!transfer(&p, IBV_WR_RDMA_WRITE, &e, SIZE));
	EXPECT(page_faults() == before && is_filled(e.dst, SIZE, 31));
	unmake_pair(&p);
	unmake_ends(&e);
}

static void prefetch_refuses(void)
{
	struct ends e = make_ends(SIZE, RIGHTS, ON_DEMAND);
	struct ibv_mr *ro = reg(e.dst, SIZE, IBV_ACCESS_ON_DEMAND), none = {};

	EXPECT(prefetch(IBV_ADVISE_MR_ADVICE_PREFETCH, &none, e.dst, 8) ==
	       ENOENT);
	EXPECT(prefetch(IBV_ADVISE_MR_ADVICE_PREFETCH, e.from, e.src, 8) ==
	       EINVAL);
	EXPECT(prefetch(IBV_ADVISE_MR_ADVICE_PREFETCH, e.to, e.dst,
			SIZE + 1) == EFAULT);
	EXPECT(prefetch(IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE, ro, e.dst, 8) ==
	       EPERM);
	EXPECT(!munmap(e.dst, SIZE));
	EXPECT(prefetch(IBV_ADVISE_MR_ADVICE_PREFETCH, e.to, e.dst, 8) ==
	       EFAULT);
	EXPECT(!ibv_dereg_mr(ro));
	unmake_ends(&e);
}

static bool stop;

/* Takes pages away again and again; what is in them stays. */
static void *disturb(void *arg)
{
	struct ends *e = arg;
	long rounds = 0;
	pid_t pid;

	for (; !__atomic_load_n(&stop, __ATOMIC_RELAXED); rounds++) {
		madvise(e->dst, 2 << 20, MADV_COLLAPSE);
		mprotect(e->dst, 2 << 20, PROT_READ | PROT_WRITE | PROT_EXEC);
		mprotect(e->dst, 2 << 20, PROT_READ | PROT_WRITE);
		pid = fork();
		if (!pid)
			_exit(0);
		if (pid > 0)
			waitpid(pid, NULL, 0);
	}
	return (void *)rounds;
}

static void restless(void)
{
	struct ends e = { .src = fresh(SIZE) };
	struct pair p = make_pair(4);
	unsigned char *area = fresh(4 << 20);
	double end = now() + (getenv("FULL") ? 60 : 8);
	unsigned int seed = 0;
	pthread_t thread;
	void *rounds;
	int result;

	e.dst = (void *)(((uintptr_t)area + (2 << 20) - 1) & -(2UL << 20));
	e.from = reg(e.src, SIZE, ON_DEMAND);
	e.to = reg(e.dst, 2 << 20, ON_DEMAND);
	EXPECT(!pthread_create(&thread, NULL, disturb, &e));
	while (now() < end) {
		fill(e.src, SIZE, ++seed);
		result = transfer(&p, IBV_WR_RDMA_WRITE, &e, SIZE);
		if (result)
			printf("%s\n", ibv_wc_status_str(result));
		EXPECT(!result);
		EXPECT(is_filled(e.dst, SIZE, seed));
		memset(e.src, 0, SIZE);
		result = transfer(&p, IBV_WR_RDMA_READ, &e, SIZE);
		if (result)
			printf("%s\n", ibv_wc_status_str(result));
		EXPECT(!result);
		EXPECT(is_filled(e.src, SIZE, seed));
	}
	__atomic_store_n(&stop, true, __ATOMIC_RELAXED);
	EXPECT(!pthread_join(thread, &rounds));
	printf("%u rounds, disturbed %ld times, %ld page faults\n", seed,
	       (long)rounds, page_faults());
	EXPECT(seed && rounds);
	unmake_pair(&p);
	unmake_ends(&e);
}

/* Who waits for pages goes, or what they are waited for in. */
static void nobody_waits_any_more(void)
{
	struct ends e;
	struct pair p;
	int i;

	for (i = 0; i < 60; i++) {
		e = make_ends(SIZE, ON_DEMAND, ON_DEMAND);
		p = make_pair(4);
		post(&p, i & 1 ? IBV_WR_RDMA_READ : IBV_WR_RDMA_WRITE, &e,
		     SIZE);
		if (i % 3) {
			unmake_pair(&p);
			unmake_ends(&e);
		} else {
			unmake_ends(&e);
			status(p.near_cq);
			unmake_pair(&p);
		}
		munmap(e.src, SIZE);
		munmap(e.dst, SIZE);
	}
}

/* The end of a process with requests under way is the kernel's to survive. */
static void dies_waiting(void)
{
	struct ends e = make_ends(SIZE, ON_DEMAND, ON_DEMAND);
	struct pair p = make_pair(4);

	post(&p, IBV_WR_RDMA_WRITE, &e, SIZE);
	post(&p, IBV_WR_RDMA_READ, &e, SIZE);
	_exit(0);
}

/*
 * Sends until the receive request completes. Who sends may go on on another
 * processor when pages have come, and what lo has of the first one then may be
 * overtaken: an unreliable connection loses the message.
 */
static void send_until_it_arrives(struct pair *p, const struct ends *e,
				  uint32_t len)
{
	struct ibv_wc wc;
	double end;
	int n, tries;

	for (tries = 0; tries < 3; tries++) {
		EXPECT(!transfer(p, IBV_WR_SEND, e, len));
		end = now() + 2 * slow();
		do
			n = ibv_poll_cq(p->far_cq, 1, &wc);
		while (!n && now() < end);
		if (n) {
			EXPECT(n == 1 && wc.status == IBV_WC_SUCCESS);
			return;
		}
		printf("lost on its way\n");
	}
	EXPECT(!"a message arrives");
}

/* Source of a datagram, and of an unreliable connection. */
static void unreliable_sends(void)
{
	struct ends e = make_ends(SIZE, ON_DEMAND, RIGHTS);
	struct ibv_qp_init_attr init = {
		.qp_type = IBV_QPT_UC, .sq_sig_all = 1,
		.cap = { .max_send_wr = 4, .max_recv_wr = 4,
			 .max_send_sge = 1, .max_recv_sge = 1 },
	};
	struct ibv_sge to = { (uintptr_t)e.dst, SIZE, e.to->lkey };
	struct ibv_recv_wr recv = { .sg_list = &to, .num_sge = 1 }, *bad;
	struct pair p;
	int i;

	p.near_cq = ibv_create_cq(ctx, 16, NULL, NULL, 0);
	p.far_cq = ibv_create_cq(ctx, 16, NULL, NULL, 0);
	init.send_cq = p.near_cq;
	init.recv_cq = p.far_cq;
	p.near = ibv_create_qp(pd, &init);
	p.far = ibv_create_qp(pd, &init);
	EXPECT(p.near && p.far);
	EXPECT(!connect_uc(p.near, p.far->qp_num));
	EXPECT(!connect_uc(p.far, p.near->qp_num));
	for (i = 1; i < 10; i++) {
		EXPECT(!ibv_post_recv(p.far, &recv, &bad));
		fill(e.src, SIZE, i);
		EXPECT(!mprotect(e.src, SIZE, PROT_READ));
		send_until_it_arrives(&p, &e, SIZE / 4);
		EXPECT(is_filled(e.dst, SIZE / 4, i));
		EXPECT(!mprotect(e.src, SIZE, PROT_READ | PROT_WRITE));
	}
	unmake_pair(&p);
	unmake_ends(&e);
}

/* Memory that even the kernel does not reach: nobody else copies it either. */
static void secret_is_refused(void)
{
	struct ends e = { .src = fresh(SIZE) };
	int fd = syscall(SYS_memfd_secret, 0);

	if (fd < 0) {
		printf("no secret memory: %s\n", strerror(errno));
		return;
	}
	EXPECT(!ftruncate(fd, SIZE));
	e.dst = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	EXPECT(e.dst != MAP_FAILED);
	fill(e.dst, SIZE, 1);
	e.from = reg(e.src, SIZE, ON_DEMAND);
	e.to = reg(e.dst, SIZE, ON_DEMAND);

	nobody_reaches(&e);
	EXPECT(prefetch(IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE, e.to, e.dst,
			SIZE) == EFAULT);
	EXPECT(is_filled(e.dst, SIZE, 1));
	unmake_ends(&e);
}

/* Whose source is elsewhere is not asked for more rights than before. */
static void atomic_write_only_reads(void)
{
	struct ibv_mr *other = reg(fresh(PAGE), PAGE, ON_DEMAND);
	struct ends e = make_ends(PAGE, 0, RIGHTS);
	struct pair p = make_pair(4);

	*(uint64_t *)e.src = 0x123456789;
	EXPECT(!transfer(&p, IBV_WR_ATOMIC_WRITE, &e, 8));
	EXPECT(*(uint64_t *)e.dst == 0x123456789);
	unmake_pair(&p);
	unmake_ends(&e);

	/* Nor is its source on demand. */
	e = make_ends(PAGE, ON_DEMAND, RIGHTS);
	*(uint64_t *)e.src = 0x987654321;
	EXPECT(!mprotect(e.src, PAGE, PROT_READ));
	EXPECT(!transfer_alone(IBV_WR_ATOMIC_WRITE, &e, 8));
	EXPECT(*(uint64_t *)e.dst == 0x987654321);
	unmake_ends(&e);
	EXPECT(!ibv_dereg_mr(other));
}

/* That pages were not to be had is no news to a connection after it. */
static void failure_is_forgotten(void)
{
	struct ends e = make_ends(SIZE, RIGHTS, ON_DEMAND);
	struct ibv_qp_attr rtr, init = init_attr();
	struct pair p = make_pair(4);
	long before = page_faults();

	/* Half a second between the peer's attempts. */
	reset_pair(&p);
	EXPECT(!connect_qp(p.near, p.far->qp_num));
	rtr = rtr_attr(p.near->qp_num);
	rtr.min_rnr_timer = 0;
	EXPECT(!ibv_modify_qp(p.far, &init, TO_INIT));
	EXPECT(!ibv_modify_qp(p.far, &rtr, TO_RTR));

	EXPECT(!munmap(e.dst, SIZE));
	post(&p, IBV_WR_RDMA_WRITE, &e, 8);
	while (page_faults() == before)
		;
	reset_pair(&p);

	EXPECT(mmap(e.dst, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE |
		    MAP_ANONYMOUS | MAP_FIXED, -1, 0) == e.dst);
	EXPECT(!connect_qp(p.near, p.far->qp_num));
	EXPECT(!connect_qp(p.far, p.near->qp_num));
	fill(e.src, SIZE, 31);
	EXPECT(!transfer(&p, IBV_WR_RDMA_WRITE, &e, SIZE));
	EXPECT(is_filled(e.dst, SIZE, 31));
	unmake_pair(&p);
	unmake_ends(&e);
}

/* What the control group "odp" has of the kernel's small memory, in bytes. */
static long charged(void)
{
	FILE *f = fopen("/sys/fs/cgroup/odp/memory.stat", "r");
	char name[64];
	long n;

	EXPECT(f);
	while (fscanf(f, "%63s %ld", name, &n) == 2)
		if (!strcmp(name, "slab"))
			break;
	fclose(f);
	EXPECT(!strcmp(name, "slab"));
	return n;
}

/*
 * A table entry for each page that is there, be it the same page of zeros
 * everywhere: 9 bytes.
 */
static void table_is_paid_for(void)
{
	struct { size_t step, all; } advised = { 64 << 20, 256 << 20 };
	struct { size_t step, all; } missed = { 2 << 20, 512 << 20 };
	size_t all = advised.all + missed.all, at;
	struct ends e = { .dst = fresh(PAGE) };
	struct pair p = make_pair(4);
	long before, after;

	e.src = mmap(NULL, all, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS |
		     MAP_NORESERVE, -1, 0);
	EXPECT(e.src != MAP_FAILED);
	e.from = reg(e.src, all, IBV_ACCESS_ON_DEMAND);
	e.to = reg(e.dst, PAGE, RIGHTS);

	before = charged();
	for (at = 0; at < advised.all; at += advised.step)
		EXPECT(!prefetch(IBV_ADVISE_MR_ADVICE_PREFETCH, e.from,
				 (char *)e.src + at, advised.step));
	after = charged();
	printf("advised: %ld bytes charged\n", after - before);
	EXPECT(after - before >= (long)(advised.all / PAGE * 8));

	before = after;
	for (; at < all; at += missed.step) {
		struct ends one = { e.from, e.to, (char *)e.src + at, e.dst };

		EXPECT(!transfer(&p, IBV_WR_RDMA_WRITE, &one, 8));
	}
	/*
	 * Each is one page, and so far from the next that it has a node. The
	 * figure comes in batches, of each CPU: some KiB may be missing.
	 */
	after = charged();
	printf("missed: %ld bytes charged\n", after - before);
	EXPECT(after - before >= (long)(missed.all / missed.step * 400));
	unmake_pair(&p);
	unmake_ends(&e);
}

/* Large enough that its end takes many turns of the scheduler. */
#define LARGE	((size_t)1 << 30)

static volatile bool large_is_gone;

static void stay_on_cpu(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	EXPECT(!sched_setaffinity(0, sizeof(set), &set));
}

static void *wants_the_cpu(void *unused)
{
	(void)unused;
	stay_on_cpu(0);
	while (!large_is_gone)
		;
	return NULL;
}

static double system_time(const struct rusage *of)
{
	return of->ru_stime.tv_sec + of->ru_stime.tv_usec / 1e6;
}

/*
 * Another thread wants the same CPU. While all pages leave the table of a region it
 * gets its turns: one in 20 ms at least, where the kernel would give one in 4.
 */
static void losing_lets_others_run(void)
{
	unsigned char *p = fresh(LARGE);
	struct ibv_mr *mr = reg(p, LARGE, ON_DEMAND);
	struct rusage before, after;
	pthread_t other;
	double took;
	long turns;

	madvise(p, LARGE, MADV_HUGEPAGE);
	EXPECT(!prefetch(IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE, mr, p, LARGE));
	stay_on_cpu(0);
	EXPECT(!pthread_create(&other, NULL, wants_the_cpu, NULL));
	EXPECT(!getrusage(RUSAGE_THREAD, &before));
	EXPECT(!ibv_dereg_mr(mr));
	EXPECT(!getrusage(RUSAGE_THREAD, &after));
	large_is_gone = true;
	EXPECT(!pthread_join(other, NULL));
	took = system_time(&after) - system_time(&before);
	turns = after.ru_nivcsw - before.ru_nivcsw;
	printf("dereg_mr took %.3f s of the CPU in %ld turns\n", took, turns);
	EXPECT(turns >= took / 0.02);
}

/* Waits to be killed, while others send. */
static void holds_a_region(void)
{
	reg(NULL, SIZE_MAX, ON_DEMAND);
	puts("holds");
	pause();
}

static const struct test_case cases[] = {
	CASE(device_says_so),
	CASE(refuses),
	CASE(write_finds_nothing_there),
	CASE(read_finds_nothing_there),
	CASE(send_finds_nothing_there),
	CASE(atomic_finds_nothing_there),
	CASE(atomic_write_finds_nothing_there),
	CASE(pages_go_and_come), CASE(worthless_is_kept),
	CASE(read_page_is_not_written),
	CASE(child_keeps_what_it_had),
	CASE(protection_holds),
	CASE(holes_are_errors),
	CASE(implicit_is_everything),
	CASE(prefetched_is_there),
	CASE(prefetch_refuses),
	CASE(restless),
	CASE(nobody_waits_any_more),
	CASE(dies_waiting),
	CASE(unreliable_sends),
	CASE(secret_is_refused),
	CASE(atomic_write_only_reads),
	CASE(failure_is_forgotten), CASE(losing_lets_others_run),
	CASE(table_is_paid_for), CASE(holds_a_region),
	{ }
};

int main(int argc, char **argv)
{
	return run_as_told(cases, argc, argv);
}
