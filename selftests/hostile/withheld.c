// SPDX-License-Identifier: GPL-2.0
/*
 * A process that has registered memory whose pages it withholds: a file of its
 * own file system, which does not answer. Its queue pairs wait for such pages,
 * and nobody else; its address space stays free, and it can be ended.
 *
 * usage: withheld DEV GID CASE
 */
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>

#include "../lib/ondemand.h"
#include "../lib/slowfile.h"

#define STRANGER	65533
#define NR_WAITING	300
#define NR_USERS	9
#define FIRST_USER	70000

/* Longer than any test takes. */
#define FOR_EVER_S	600

static const char *gid;

/* The file. Its server has no part in what else the process has open. */
static void *file;

/* A page that is there, and one of the file. */
static unsigned char *half;

static void *map_of(int fd)
{
	void *p = mmap(NULL, SLOWFILE_SIZE, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE, fd, 0);

	EXPECT(p != MAP_FAILED);
	return p;
}

static void map_file(void)
{
	int fd = slowfile_open(FOR_EVER_S);

	file = map_of(fd);
	half = fresh(2 * PAGE);
	EXPECT(mmap(half + PAGE, PAGE, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_FIXED, fd, 0) == half + PAGE);
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
	return reg(file, SLOWFILE_SIZE, ON_DEMAND);
}

/** struct place - some bytes of a region */
struct place {
	const struct ibv_mr *mr;
	size_t at;
};

/* The nth page of what is withheld, again and again. */
static struct place nth_page(const struct ibv_mr *mr, unsigned int nth)
{
	return (struct place){ mr, nth * PAGE % SLOWFILE_SIZE };
}

static void begin(struct ibv_qp *qp, enum ibv_wr_opcode opcode,
		  struct place near, struct place far, uint32_t len)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)near.mr->addr + near.at, .length = len,
		.lkey = near.mr->lkey,
	};
	struct ibv_send_wr *bad, wr = {
		.opcode = opcode, .sg_list = &sge, .num_sge = 1,
		.wr.rdma = { (uintptr_t)far.mr->addr + far.at, far.mr->rkey },
	};

	EXPECT(!ibv_post_send(qp, &wr, &bad));
}

static void write_to(struct ibv_qp *qp, struct place from, struct place to)
{
	begin(qp, IBV_WR_RDMA_WRITE, from, to, 64);
}

static struct ibv_mr *some_memory(void)
{
	static char bytes[2 * PAGE];

	return reg(bytes, sizeof(bytes), RIGHTS);
}

/* The source of the one, and the target of the other, never come. */
static struct pair waiting_pair(const struct ibv_mr *mr)
{
	const struct place memory = { some_memory(), 0 };
	struct pair p = make_pair(4);

	write_to(p.near, nth_page(mr, 0), memory);
	write_to(p.far, memory, nth_page(mr, 0));
	usleep(300000 * slow());
	return p;
}

static void reset_and_connect(struct pair *p)
{
	reset_pair(p);
	EXPECT(!connect_qp(p->near, p->far->qp_num));
	EXPECT(!connect_qp(p->far, p->near->qp_num));
}

static void is_reset(void)
{
	struct pair p = waiting_pair(withhold());
	double end = soon();

	reset_and_connect(&p);
	EXPECT(now() < end);
}

static void is_destroyed(void)
{
	struct ibv_mr *mr = withhold();
	struct pair p = waiting_pair(mr);
	double end = soon();

	unmake_pair(&p);
	EXPECT(!ibv_dereg_mr(mr));
	EXPECT(now() < end);
}

/* Both sides of both queue pairs work again after a reset. */
static void is_reset_and_sends(void)
{
	const struct place memory = { some_memory(), 0 };
	struct pair p = waiting_pair(withhold());

	reset_and_connect(&p);
	write_to(p.near, memory, memory);
	EXPECT(status(p.near_cq) == IBV_WC_SUCCESS);
	write_to(p.far, memory, memory);
	EXPECT(status(p.far_cq) == IBV_WC_SUCCESS);
}

/* mmap() needs the lock of the address space for writing. */
static void maps_while_waiting(void)
{
	waiting_pair(withhold());
	puts("waits");
	fresh(PAGE);
	puts("mapped");
	pause();
}

/* Another file. This many reads of it fail; later reads are answered late. */
static struct ibv_mr *reg_failing(unsigned int failures)
{
	void *p;
	int fd;

	slowfile_failures = failures;
	fd = slowfile_open(FOR_EVER_S);
	p = map_of(fd);
	close(fd);
	return reg(p, SLOWFILE_SIZE, ON_DEMAND);
}

/* A second try of a fault finds the page not up to date, and reads it again. */
static void maps_after_failures(void)
{
	waiting_pair(reg_failing(2));
	puts("waits");
	fresh(PAGE);
	puts("mapped");
	pause();
}

/* A page that cannot be read ends the WRITE with an error. */
static void failure_is_told(void)
{
	const struct place memory = { some_memory(), 0 };
	const struct place broken = { reg_failing(-1), 0 };
	struct pair p = make_pair(4);

	write_to(p.near, broken, memory);
	EXPECT(status(p.near_cq) == IBV_WC_LOC_PROT_ERR);
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

/** struct many - many that wait */
struct many {
	struct ibv_qp *qps[NR_WAITING];
	struct ibv_cq *cq;	/* where they would complete */
	struct ibv_mr *withheld;
	struct place memory;	/* what is there */
};

static struct many *make_many(void)
{
	static struct many many;
	int i;

	many.withheld = withhold();
	many.memory.mr = some_memory();
	many.cq = ibv_create_cq(ctx, 4 * NR_WAITING, NULL, NULL, 0);
	EXPECT(many.cq);
	/* So many have to be answered in time by a machine that may be slow. */
	qp_timeout = 18;
	for (i = 0; i < NR_WAITING; i++)
		many.qps[i] = make_pair_on(many.cq, many.cq, 1).near;
	return &many;
}

/* Returns where they would complete. */
static struct ibv_cq *have_many_wait(void)
{
	struct many *many = make_many();
	int i;

	for (i = 0; i < NR_WAITING; i++)
		write_to(many->qps[i], nth_page(many->withheld, i),
			 many->memory);
	sleep(1);
	return many->cq;
}

static void nothing_completes(struct ibv_cq *cq, double s)
{
	double end = now() + s;
	struct ibv_wc wc;

	while (now() < end) {
		if (!ibv_poll_cq(cq, 1, &wc))
			continue;
		printf("completed: %s\n", ibv_wc_status_str(wc.status));
		exit(1);
	}
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
	nothing_completes(have_many_wait(), 2 * slow());
}

/* How many were told to wait within a second. */
static long told_to_wait(struct ibv_cq *cq)
{
	long told = port_counter("sent_rnr_naks");

	nothing_completes(cq, 1);
	told = port_counter("sent_rnr_naks") - told;
	printf("# told to wait within 1 s: %ld\n", told);
	return told;
}

/*
 * Their peers write to what is withheld, and have to come again: those of whom the
 * user may not even wait ever later, or nobody else would get anywhere. How soon
 * that is so depends on how busy the host is.
 */
static void more_are_waited_for(void)
{
	struct many *many = make_many();
	double end;
	long told;
	int i;

	for (i = 0; i < NR_WAITING; i++)
		write_to(many->qps[i], many->memory,
			 nth_page(many->withheld, i));
	nothing_completes(many->cq, 2 * slow());
	end = now() + 8 * slow();
	do {
		told = told_to_wait(many->cq);
	} while (told >= 4 * NR_WAITING && now() < end);
	EXPECT(told > 0 && told < 4 * NR_WAITING);
}

/*
 * The half that is there is sent, the other may not even be waited for: the peer is
 * told so, and not left without an answer until its retries have run out.
 */
static void half_is_read(void)
{
	const struct place far = { reg(half, 2 * PAGE, ON_DEMAND), 0 };
	const struct place near = { some_memory(), 0 };
	struct pair p = make_pair(4);
	long told;

	*half = 1;
	begin(p.near, IBV_WR_RDMA_READ, near, far, PAGE);
	EXPECT(status(p.near_cq) == IBV_WC_SUCCESS);
	have_many_wait();
	begin(p.near, IBV_WR_RDMA_READ, near, far, 2 * PAGE);
	told = port_counter("sent_rnr_naks");
	nothing_completes(p.near_cq, 3 * slow());
	told = port_counter("sent_rnr_naks") - told;
	printf("# told to wait: %ld\n", told);
	EXPECT(told > 0 && told < 30 * slow());
}

/* Who may not wait as well asks again: nothing says that it was sent. */
static void one_more_waits(void)
{
	struct ibv_cq *cq = ibv_create_cq(ctx, 8, NULL, NULL, 0);
	struct ibv_qp *near = make_uc(cq), *far = make_uc(cq);
	const struct place memory = { some_memory(), 0 };
	const struct place withheld = { withhold(), 0 };

	EXPECT(!connect_uc(near, far->qp_num));
	EXPECT(!connect_uc(far, near->qp_num));
	have_many_wait();
	write_to(near, withheld, memory);
	nothing_completes(cq, 1);
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
	CASE(is_reset), CASE(is_reset_and_sends), CASE(is_destroyed),
	CASE(maps_while_waiting), CASE(maps_after_failures),
	CASE(failure_is_told), CASE(is_killed), CASE(one_more_waits),
	CASE(more_wait_for_ever), CASE(more_are_waited_for), CASE(half_is_read),
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
