// SPDX-License-Identifier: GPL-2.0
/*
 * Regions whose memory is not pinned, and whose pages take seconds to come. late.sh
 * runs it:
 *
 *	late DEVICE GID_INDEX CASE
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <sys/socket.h>

#include "../lib/ondemand.h"
#include "../lib/slowfile.h"

/* Connects them again, so that what is lost is not sent again. */
static void connect_once(struct pair *p, uint8_t timeout)
{
	struct ibv_qp_attr init = init_attr(), rtr, rts = rts_attr();
	int i;

	rts.timeout = timeout;
	rts.retry_cnt = 0;
	reset_pair(p);
	for (i = 0; i < 2; i++) {
		struct ibv_qp *qp = i ? p->far : p->near;

		rtr = rtr_attr(i ? p->near->qp_num : p->far->qp_num);
		EXPECT(!ibv_modify_qp(qp, &init, TO_INIT));
		EXPECT(!ibv_modify_qp(qp, &rtr, TO_RTR));
		EXPECT(!ibv_modify_qp(qp, &rts, TO_RTS));
	}
}

/* The peer is not to blame for the time that pages take here. */
static void late_pages_are_waited_for(void)
{
	int fd = slowfile_open(3);
	struct ends e = make_ends(SIZE, RIGHTS, RIGHTS);
	void *late = mmap(NULL, SIZE, PROT_READ, MAP_PRIVATE, fd, 0);
	struct ibv_sge from[2] = { { (uintptr_t)e.src, PAGE, e.from->lkey } };
	struct ibv_send_wr *bad, wr = {
		.sg_list = from, .num_sge = 2, .opcode = IBV_WR_RDMA_WRITE,
		.wr.rdma = { .remote_addr = (uintptr_t)e.dst,
			     .rkey = e.to->rkey },
	};
	struct pair p = make_pair(4);
	struct ibv_mr *mr;
	double begin;
	int result;

	EXPECT(late != MAP_FAILED);
	EXPECT(!madvise(late, SIZE, MADV_RANDOM));
	mr = reg(late, SIZE, IBV_ACCESS_ON_DEMAND);
	from[1] = (struct ibv_sge) { (uintptr_t)late, PAGE, mr->lkey };
	fill(e.src, PAGE, 31);

	/* Half a second, and no other chance. */
	connect_once(&p, 17);
	begin = now();
	EXPECT(!ibv_post_send(p.near, &wr, &bad));
	result = status(p.near_cq);
	printf("%s after %.1f s\n", ibv_wc_status_str(result), now() - begin);
	EXPECT(!result && now() - begin > 2.5);
	EXPECT(is_filled(e.dst, PAGE, 31));
	unmake_pair(&p);
	EXPECT(!ibv_dereg_mr(mr));
	unmake_ends(&e);
}

/*
 * Nor for the time that a page takes which has gone since a response was asked for
 * that is to be stored there: here while the second half of the response waits for
 * a page of its own.
 */
static void lost_pages_are_waited_for(void)
{
	int fd = slowfile_open(3 * slow());
	struct ends e = {
		.src = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE,
			    fd, 0),
		.dst = mmap(NULL, SIZE, PROT_READ, MAP_PRIVATE, fd,
			    SLOWFILE_SIZE / 2),
	};
	struct pair p = make_pair(4);
	double begin;
	int result;

	EXPECT(e.src != MAP_FAILED && e.dst != MAP_FAILED);
	EXPECT(!madvise(e.src, SIZE, MADV_RANDOM));
	EXPECT(!madvise(e.dst, SIZE, MADV_RANDOM));
	e.from = reg(e.src, SIZE, ON_DEMAND);
	e.to = reg(e.dst, SIZE, IBV_ACCESS_ON_DEMAND | IBV_ACCESS_REMOTE_READ);
	EXPECT(!prefetch(IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE, e.from, e.src,
			 2 * PAGE));
	EXPECT(!prefetch(IBV_ADVISE_MR_ADVICE_PREFETCH, e.to, e.dst, PAGE));
	EXPECT(!posix_fadvise(fd, 0, 2 * PAGE, POSIX_FADV_DONTNEED));

	/* 4.3 s, or 17, and no other chance. */
	connect_once(&p, slow() > 1 ? 22 : 20);
	begin = now();
	post(&p, IBV_WR_RDMA_READ, &e, 2 * PAGE);
	sleep(slow());
	EXPECT(!madvise(e.src + PAGE, PAGE, MADV_DONTNEED));
	result = status(p.near_cq);
	printf("%s after %.1f s\n", ibv_wc_status_str(result), now() - begin);
	EXPECT(!result && now() - begin > 5 * slow());
	unmake_pair(&p);
	unmake_ends(&e);
}

/*
 * While a page is late, its process can neither map memory nor start threads:
 * so what a test wants then is made before, and waits for this.
 */
static volatile bool late_now;

static void await_late(void)
{
	while (!late_now)
		usleep(1000);
}

/* From here on pages are late that @p has asked for. */
static void post_late(struct pair *p, enum ibv_wr_opcode opcode,
		      const struct ends *e, uint32_t len)
{
	long before = page_faults();

	post(p, opcode, e, len);
	while (page_faults() == before)
		;
	late_now = true;
}

/** struct leaver - who gives a queue pair up, which may take long */
struct leaver {
	struct ibv_qp *qp;
	bool destroys;
	double end;
};

static void *leave(void *arg)
{
	struct ibv_qp_attr reset = { .qp_state = IBV_QPS_RESET };
	struct leaver *l = arg;

	await_late();
	EXPECT(!(l->destroys ? ibv_destroy_qp(l->qp) :
			       ibv_modify_qp(l->qp, &reset, IBV_QP_STATE)));
	l->end = now();
	return NULL;
}

/** struct asker - another process, which lists queue pairs when it is told */
struct asker {
	int tell, hear;
};

static struct asker make_asker(void)
{
	int tell[2], hear[2];
	char c = 0;

	EXPECT(!pipe(tell) && !pipe(hear));
	if (fork()) {
		close(tell[0]);
		close(hear[1]);
		return (struct asker) { tell[1], hear[0] };
	}
	close(tell[1]);
	EXPECT(read(tell[0], &c, 1) == 1);
	EXPECT(!system("rdma resource show qp >/dev/null"));
	EXPECT(write(hear[1], &c, 1) == 1);
	_exit(0);
}

static void ask(struct asker a)
{
	char c = 0;

	EXPECT(write(a.tell, &c, 1) == 1 && read(a.hear, &c, 1) == 1);
	close(a.tell);
	close(a.hear);
}

/* Whoever looks at queue pairs does not wait for one that waits for pages. */
static void ask_while_leaving(void *late, bool destroys)
{
	struct ends e = { .src = late, .dst = fresh(PAGE) };
	struct asker asker = make_asker();
	struct pair p = make_pair(4);
	struct leaver l = { .qp = p.near, .destroys = destroys };
	double begin, end;
	pthread_t thread;

	e.from = reg(late, PAGE, IBV_ACCESS_ON_DEMAND);
	e.to = reg(e.dst, PAGE, RIGHTS);
	late_now = false;
	EXPECT(!pthread_create(&thread, NULL, leave, &l));
	post_late(&p, IBV_WR_RDMA_WRITE, &e, PAGE);

	begin = now();
	usleep(200000 * slow());
	ask(asker);
	end = now();
	EXPECT(!pthread_join(thread, NULL));
	printf("%s took %.1f s, asked for %.1f s\n",
	       destroys ? "destroy" : "reset", l.end - begin, end - begin);

	/* Long before the pages come; with the rings gone, the process waits. */
	EXPECT(end - begin < 2 * slow());
	EXPECT(destroys || l.end - begin < 2 * slow());

	EXPECT(destroys || !ibv_destroy_qp(p.near));
	EXPECT(!ibv_destroy_qp(p.far));
	EXPECT(!ibv_destroy_cq(p.near_cq) && !ibv_destroy_cq(p.far_cq));
	unmake_ends(&e);
}

static void asking_does_not_wait_for_pages(void)
{
	int fd = slowfile_open(5 * slow());
	char *late = mmap(NULL, SIZE, PROT_READ, MAP_PRIVATE, fd, 0);

	EXPECT(late != MAP_FAILED && !madvise(late, SIZE, MADV_RANDOM));
	/* Whoever inherits it would wait as it closes it. */
	close(fd);
	ask_while_leaving(late, false);
	ask_while_leaving(late + SIZE / 2, true);
}

/** struct flood - packets without a valid ICRC, of one CPU */
struct flood {
	pthread_t thread;
	struct sockaddr_in at;
	uint32_t qpn;
	int cpu;
	long sent;
};

static volatile bool flooded;

static void *flood(void *arg)
{
	static const uint8_t bth[4] = { 4, 0, 0xff, 0xff };
	static uint8_t packet[60000];
	struct flood *f = arg;
	uint32_t dqpn = htonl(f->qpn);
	cpu_set_t cpus;
	int sock;

	CPU_ZERO(&cpus);
	CPU_SET(f->cpu, &cpus);
	EXPECT(!pthread_setaffinity_np(pthread_self(), sizeof(cpus), &cpus));
	memcpy(packet, bth, sizeof(bth));
	memcpy(packet + sizeof(bth), &dqpn, sizeof(dqpn));

	sock = socket(AF_INET, SOCK_DGRAM, 0);
	EXPECT(!connect(sock, (void *)&f->at, sizeof(f->at)));
	await_late();
	for (; !flooded; f->sent++)
		EXPECT(send(sock, packet, sizeof(packet), 0) ==
		       sizeof(packet));
	close(sock);
	return NULL;
}

/* Packets that were dropped so far, as damaged ones, or since there was no room. */
static long dropped(void)
{
	return port_counter("drop_bad_icrc") + port_counter("drop_queue_full");
}

/* What two CPUs have for a queue pair at once, one leaves for the other. */
static void make_flood(struct flood f[2], uint32_t qpn)
{
	union ibv_gid gid;
	int i;

	EXPECT(!ibv_query_gid(ctx, 1, gid_index, &gid));
	for (i = 0; i < 2; i++) {
		f[i] = (struct flood) { .qpn = qpn, .cpu = i };
		f[i].at.sin_family = AF_INET;
		f[i].at.sin_port = htons(4791);
		memcpy(&f[i].at.sin_addr, gid.raw + 12, 4);
		EXPECT(!pthread_create(&f[i].thread, NULL, flood, &f[i]));
	}
}

/*
 * A response waits for its second page. What comes meanwhile is dropped, and
 * not kept until there is no more room, and until the page is there. While they come, a
 * CPU that the host stops as it has the queue pair lets the other one fill it for that
 * moment: up to a third of the packets, on a host without any time for the guest.
 */
static void waiting_keeps_nothing(void)
{
	char *p = (char *)fresh(SIZE);
	struct ends e = { .src = fresh(SIZE), .dst = p };
	struct flood f[2];
	struct pair pair;
	double begin;
	long sent, before, full;

	EXPECT(mmap(p + PAGE, PAGE, PROT_READ, MAP_PRIVATE | MAP_FIXED,
		    slowfile_open(8 * slow()), 0) == p + PAGE);
	e.from = reg(e.src, SIZE, RIGHTS);
	e.to = reg(p, 2 * PAGE, IBV_ACCESS_ON_DEMAND | IBV_ACCESS_REMOTE_READ);
	EXPECT(!prefetch(IBV_ADVISE_MR_ADVICE_PREFETCH, e.to, p, PAGE));
	fill(e.src, SIZE, 31);

	qp_timeout = 21;
	pair = make_pair(4);
	make_flood(f, pair.far->qp_num);
	full = port_counter("drop_queue_full");
	before = dropped();
	begin = now();
	post_late(&pair, IBV_WR_RDMA_READ, &e, 2 * PAGE);
	sleep(4 * slow());
	flooded = true;
	EXPECT(!pthread_join(f[0].thread, NULL));
	EXPECT(!pthread_join(f[1].thread, NULL));
	sent = f[0].sent + f[1].sent;
	while (dropped() - before < sent && now() - begin < 6 * slow())
		usleep(1000);
	full = port_counter("drop_queue_full") - full;
	printf("%ld packets in %.1f s, %ld found no room, %ld are kept\n",
	       sent, now() - begin, full, sent - (dropped() - before));
	EXPECT(sent > 500 && dropped() - before == sent);
	EXPECT(now() - begin < 7 * slow());

	EXPECT(!status(pair.near_cq));
	EXPECT(now() - begin > 7 * slow());
	unmake_pair(&pair);
	unmake_ends(&e);
}

static const struct test_case cases[] = {
	CASE(late_pages_are_waited_for),
	CASE(lost_pages_are_waited_for),
	CASE(asking_does_not_wait_for_pages),
	CASE(waiting_keeps_nothing),
	{ }
};

int main(int argc, char **argv)
{
	return run_as_told(cases, argc, argv);
}
