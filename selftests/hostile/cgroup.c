// SPDX-License-Identifier: GPL-2.0
/*
 * A process in a control group that takes all that the group may have.
 * cgroup.sh makes the group, builds and runs it:
 *
 *	cgroup DEVICE GID_INDEX GROUP CASE
 */
#include <signal.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../lib/pair.h"
#include "../lib/bystander.h"

#define PAGE		4096
#define LARGE		(256 * PAGE)
#define STRIDE		(64 * PAGE)	/* what a node of a table is for */
#define NODES		256		/* of a region on demand */
#define SPARSE		((size_t)NODES * STRIDE)
#define DEPTH		16
#define MAX_OBJECTS	100000

/* What is asked for is counted until it is refused: 64 pages, on each CPU. */
#define ASKED_MAX	(2 * 64 * PAGE)

static const char *device, *gid, *group;

/* Opens a file of the group. */
static FILE *group_file(const char *name, const char *mode)
{
	char path[256];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", group, name);
	f = fopen(path, mode);
	EXPECT(f);
	return f;
}

static unsigned long figure(const char *name)
{
	FILE *f = group_file(name, "r");
	unsigned long value;

	EXPECT(fscanf(f, "%lu", &value) == 1);
	fclose(f);
	return value;
}

static unsigned long oom_kills(void)
{
	FILE *f = group_file("memory.events", "r");
	unsigned long value, kills = 0;
	char name[32];

	while (fscanf(f, "%31s %lu", name, &value) == 2)
		if (!strcmp(name, "oom_kill"))
			kills = value;
	fclose(f);
	return kills;
}

static void join(void)
{
	FILE *f = group_file("cgroup.procs", "w");

	EXPECT(fprintf(f, "%d\n", getpid()) > 0 && !fclose(f));
}

/*
 * Memory
 */

/** struct kind - a kind of object of which one may take much memory */
struct kind {
	const char *name;
	void *(*make)(void);
	int (*unmake)(void *object);
};

static struct ibv_cq *cq;
static char *memory;
static char *sparse;	/* much, of which little is there */
static struct pair pair;	/* to send from there */
static struct ibv_mr *target;

static void *make_queue_pair(void)
{
	return make_qp(cq, 64);
}

static void *make_completion_queue(void)
{
	return ibv_create_cq(ctx, 1000, NULL, NULL, 0);
}

static void *make_shared_queue(void)
{
	struct ibv_srq_init_attr init = {
		.attr = { .max_wr = 1000, .max_sge = 1 },
	};

	return ibv_create_srq(pd, &init);
}

static void *make_region(void)
{
	return ibv_reg_mr(pd, memory, LARGE, IBV_ACCESS_REMOTE_READ);
}

static void *make_device_memory(void)
{
	struct ibv_alloc_dm_attr attr = { .length = 16 * PAGE };

	return ibv_alloc_dm(ctx, &attr);
}

static int reconnect(struct ibv_qp *qp, uint32_t peer)
{
	struct ibv_qp_attr reset = { .qp_state = IBV_QPS_RESET };

	return ibv_modify_qp(qp, &reset, IBV_QP_STATE) ?: connect_qp(qp, peer);
}

/* Some bytes of there are written to elsewhere. */
static void post_write(const struct ibv_mr *mr, int node)
{
	struct ibv_sge sge = {
		(uintptr_t)sparse + node * STRIDE, 8, mr->lkey,
	};
	struct ibv_send_wr *bad, wr = {
		.sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_RDMA_WRITE,
		.wr.rdma = { (uintptr_t)memory, target->rkey },
	};

	EXPECT(!ibv_post_send(pair.near, &wr, &bad));
}

/* Who polls without a pause takes the time of those who bring pages. */
static int lazy_status(void)
{
	struct ibv_wc wc;

	while (!ibv_poll_cq(pair.near_cq, 1, &wc))
		usleep(200);
	return wc.status;
}

/*
 * A page for each node of the table of a region on demand, by sending from
 * there: the kernel brings them, and the process pays.
 */
static int bring_pages(const struct ibv_mr *mr)
{
	int node, i, err;

	err = reconnect(pair.near, pair.far->qp_num) ?:
	      reconnect(pair.far, pair.near->qp_num);
	for (node = 0; node < NODES && !err; node += DEPTH) {
		for (i = 0; i < DEPTH; i++)
			post_write(mr, node + i);
		for (i = 0; i < DEPTH; i++)
			if (lazy_status())
				err = ENOMEM;
	}
	return err;
}

static void *make_table(void)
{
	struct ibv_mr *mr = ibv_reg_mr(pd, sparse, SPARSE,
				       IBV_ACCESS_REMOTE_READ |
				       IBV_ACCESS_ON_DEMAND);
	int err;

	if (!mr)
		return NULL;
	err = bring_pages(mr);
	if (!err)
		return mr;
	EXPECT(!ibv_dereg_mr(mr));
	errno = err;
	return NULL;
}

static const struct kind kinds[] = {
	{ "queue_pairs", make_queue_pair,
	  (int (*)(void *))ibv_destroy_qp },
	{ "completion_queues", make_completion_queue,
	  (int (*)(void *))ibv_destroy_cq },
	{ "shared_queues", make_shared_queue,
	  (int (*)(void *))ibv_destroy_srq },
	{ "regions", make_region, (int (*)(void *))ibv_dereg_mr },
	{ "device_memory", make_device_memory, (int (*)(void *))ibv_free_dm },
	{ "tables_on_demand", make_table, (int (*)(void *))ibv_dereg_mr },
	{ }
};

/*
 * One less, and one may be had again: soon, for what was destroyed is still
 * charged until the kernel's readers of it are gone.
 */
static void exchange(const struct kind *kind, void **object)
{
	double end = now() + 10 * slow();

	EXPECT(!kind->unmake(*object));
	while (!(*object = kind->make())) {
		EXPECT(errno == ENOMEM && now() < end);
		usleep(10000);
	}
}

/* Until there is no more, which is said with ENOMEM, or ends us. */
static void hoard(const struct kind *kind, volatile unsigned int *made)
{
	static void *objects[MAX_OBJECTS];
	unsigned int i;

	join();
	open_device(device, gid);
	cq = ibv_create_cq(ctx, 16, NULL, NULL, 0);
	memory = aligned_alloc(PAGE, LARGE);
	sparse = mmap(NULL, SPARSE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS,
		      -1, 0);
	EXPECT(cq && memory && sparse != MAP_FAILED);
	memset(memory, 1, LARGE);
	pair = make_pair(DEPTH);
	target = ibv_reg_mr(pd, memory, PAGE, RIGHTS);
	EXPECT(target);
	while (*made < MAX_OBJECTS) {
		objects[*made] = kind->make();
		if (!objects[*made])
			break;
		++*made;
	}
	EXPECT(errno == ENOMEM);
	exchange(kind, &objects[*made - 1]);
	for (i = 0; i < *made; i++)
		EXPECT(!kind->unmake(objects[i]));
	_exit(0);
}

/* What it was charged is given back, but for what each CPU keeps in stock. */
static void charge_goes_back(void)
{
	double end = now() + 20 * slow();

	while (figure("memory.current") > 1 << 20) {
		EXPECT(now() < end);
		usleep(100000);
	}
}

static void hoards(const struct kind *kind)
{
	unsigned long max = figure("memory.max"), most = 0, current;
	unsigned long kills = oom_kills();
	volatile unsigned int *made;
	int wait_status;
	pid_t pid;

	made = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
		    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	EXPECT(made != MAP_FAILED);
	pid = fork();
	EXPECT(pid >= 0);
	if (!pid)
		hoard(kind, made);
	while (!waitpid(pid, &wait_status, WNOHANG)) {
		current = figure("memory.current");
		most = current > most ? current : most;
		usleep(2000);
	}
	EXPECT(!wait_status || (wait_status == SIGKILL &&
				oom_kills() > kills));
	printf("%u made, %lu of %lu KiB charged, %s\n", *made, most >> 10,
	       max >> 10, wait_status ? "killed" : "refused");
	/* What it had was charged, and it got no more than it may have. */
	EXPECT(*made > 10 && most > max * 3 / 4 && most <= max + ASKED_MAX);
	charge_goes_back();
}

/*
 * Contexts and objects
 */

#define HANDLES	2	/* as cgroup.sh says */
#define OBJECTS	8

static void counts_objects(void)
{
	struct ibv_context *second, *third;
	struct ibv_cq *cqs[OBJECTS];
	int i;

	join();
	open_device(device, gid);	/* a context, with a domain */
	second = ibv_open_device(ctx->device);
	EXPECT(second);
	third = ibv_open_device(ctx->device);
	EXPECT(!third && errno == EAGAIN);

	for (i = 0; i < OBJECTS; i++) {
		cqs[i] = ibv_create_cq(i % 2 ? ctx : second, 4, NULL, NULL, 0);
		if (!cqs[i])
			break;
	}
	EXPECT(i == OBJECTS - 1 && errno == EAGAIN);
	EXPECT(!make_qp(cqs[1], 4) && errno == EAGAIN);
	EXPECT(!ibv_alloc_pd(ctx) && errno == EAGAIN);
	EXPECT(!ibv_destroy_cq(cqs[--i]));
	cqs[i] = ibv_create_cq(ctx, 4, NULL, NULL, 0);
	EXPECT(cqs[i++]);

	/* Some are destroyed, others left to the end of this process. */
	EXPECT(!ibv_destroy_cq(cqs[--i]) && !ibv_destroy_cq(cqs[--i]));
	EXPECT(!ibv_close_device(second) || errno == EBUSY);
	_exit(0);
}

/* Nothing of the group is counted any more. */
static void nothing_is_counted(void)
{
	FILE *f = group_file("rdma.current", "r");
	bool listed = false;
	char line[128];

	while (fgets(line, sizeof(line), f)) {
		if (strncmp(line, device, strlen(device)))
			continue;
		listed = true;
		EXPECT(strstr(line, "hca_handle=0 hca_object=0"));
	}
	fclose(f);
	EXPECT(listed);
}

static void objects(void)
{
	int wait_status;
	pid_t pid = fork();

	EXPECT(pid >= 0);
	if (!pid)
		counts_objects();
	EXPECT(waitpid(pid, &wait_status, 0) == pid && !wait_status);
	nothing_is_counted();
}

int main(int argc, char **argv)
{
	const struct kind *kind;

	if (argc != 5)
		return 2;
	device = argv[1];
	gid = argv[2];
	group = argv[3];
	setvbuf(stdout, NULL, _IOLBF, 0);
	bystander_forks(device, gid);
	if (!strcmp(argv[4], "objects")) {
		objects();
	} else {
		for (kind = kinds; kind->name; kind++)
			if (!strcmp(kind->name, argv[4]))
				break;
		EXPECT(kind->name);
		hoards(kind);
	}
	bystander_is_well();
	bystander_stops();
	return 0;
}
