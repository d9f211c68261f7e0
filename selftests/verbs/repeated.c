// SPDX-License-Identifier: GPL-2.0
/*
 * READs that are asked for again, of memory that is not pinned, and not there any
 * more. repeated.sh runs it:
 *
 *	repeated NEAR GID_INDEX FAR GID_INDEX CASE
 *
 * FAR asks, NEAR answers.
 */
#include "../lib/ondemand.h"
#include "../lib/slowfile.h"
#include "../lib/two.h"

/* Longer than any test takes. */
#define FOR_EVER_S	600

static void connect_them(int timeout)
{
	qp_timeout = timeout;
	make_qps();
	pd = near.pd;
	near.bytes = fresh(2 * PAGE);
	*near.bytes = 1;
	near.mr = reg(near.bytes, 2 * PAGE, ON_DEMAND);
	pd = far.pd;
	far.bytes = fresh(2 * PAGE);
	far.mr = reg(far.bytes, 2 * PAGE, RIGHTS);
}

static void begin_range(enum ibv_wr_opcode opcode, const struct ibv_mr *of_near,
			uint32_t from, uint32_t len)
{
	struct ibv_sge sge = { (uintptr_t)far.bytes, len, far.mr->lkey };
	struct ibv_send_wr *bad, wr = {
		.opcode = opcode, .sg_list = &sge, .num_sge = 1,
		.wr.rdma = { (uintptr_t)of_near->addr + from, of_near->rkey },
	};

	EXPECT(!ibv_post_send(far.qp, &wr, &bad));
}

static void begin(enum ibv_wr_opcode opcode, const struct ibv_mr *of_near)
{
	begin_range(opcode, of_near, 0, PAGE);
}

static void until_counted(const char *what, long more_than)
{
	double end = now() + 5 * slow();

	while (port_counter(what) <= more_than)
		EXPECT(now() < end);
}

static void tc(const char *command)
{
	EXPECT(!system(command));
}

/*
 * Its response is lost, and then its memory is unmapped: the peer hears of it, though
 * it never gives up asking while it is told that the memory may come.
 */
static void is_gone_for_good(void)
{
	int how;

	connect_them(16);
	begin(IBV_WR_RDMA_READ, near.mr);
	EXPECT(!status(far.cq));
	tc("tc qdisc add dev va root netem loss 100%");
	begin(IBV_WR_RDMA_READ, near.mr);
	until_counted("duplicate_requests", port_counter("duplicate_requests"));
	EXPECT(!munmap(near.bytes, PAGE));
	tc("tc qdisc delete dev va root");
	how = status(far.cq);
	printf("%s\n", ibv_wc_status_str(how));
	EXPECT(how == IBV_WC_REM_ACCESS_ERR);
}

/*
 * Of a READ that is complete copies arrive, while some of its memory is not to be
 * had, which @counter shows. What follows is executed. Requests are a second on their
 * way, and are repeated before that.
 */
static void copies_of_what_is_gone(uint32_t from, uint32_t page,
				   const char *counter)
{
	int fd = slowfile_open(FOR_EVER_S);
	uint8_t *gone = near.bytes + page * PAGE;
	struct ibv_mr *there;
	long before;
	int how;

	tc("nsenter --net=/run/netns/far tc qdisc add dev vb root netem"
	   " delay 1s");
	there = ibv_reg_mr(near.pd, fresh(PAGE), PAGE, RIGHTS);
	EXPECT(there);
	*gone = 1;
	begin_range(IBV_WR_RDMA_READ, near.mr, from, PAGE);
	EXPECT(!status(far.cq));
	before = port_counter(counter);
	EXPECT(mmap(gone, PAGE, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_FIXED, fd, 0) == gone);
	until_counted(counter, before);
	begin(IBV_WR_RDMA_WRITE, there);
	how = status(far.cq);
	printf("%s\n", ibv_wc_status_str(how));
	EXPECT(how == IBV_WC_SUCCESS);
}

/* They are told to come again, which they do not. */
static void is_not_wanted(void)
{
	connect_them(16);
	copies_of_what_is_gone(0, 0, "sent_rnr_naks");
}

/* Half of it is sent once more, and the other half waits. */
static void is_half_unwanted(void)
{
	connect_them(16);
	copies_of_what_is_gone(PAGE / 2, 1, "duplicate_requests");
}

/*
 * Its second half is longer in coming than the peer has retries: it asks again, and is
 * told to wait. Half of it was sent, and none of it before.
 */
static void is_half_there(void)
{
	int fd = slowfile_open(6);
	double begun;
	int how;

	connect_them(14);
	EXPECT(mmap(near.bytes + PAGE, PAGE, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_FIXED, fd, 0) == near.bytes + PAGE);
	begun = now();
	begin_range(IBV_WR_RDMA_READ, near.mr, 0, 2 * PAGE);
	how = status(far.cq);
	printf("%s after %.1f s\n", ibv_wc_status_str(how), now() - begun);
	EXPECT(how == IBV_WC_SUCCESS && now() - begun > 4);
	EXPECT(*far.bytes == 1);
}

/* While pages are waited for this process starts no other: one that waits mends it. */
static void lose_answers(double s)
{
	char command[120];

	snprintf(command, sizeof(command),
		 "tc qdisc add dev va root netem loss 100%% || exit;"
		 " (sleep %.1f; tc qdisc delete dev va root) &", s);
	tc(command);
}

/* One page has been read and is there; the other is withheld for so long. */
static void withhold_half(unsigned int seconds)
{
	int fd = slowfile_open(seconds);

	EXPECT(mmap(near.bytes + PAGE, PAGE, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_FIXED, fd, 0) == near.bytes + PAGE);
	begin(IBV_WR_RDMA_READ, near.mr);
	EXPECT(!status(far.cq));
}

/*
 * The answer to a request is lost, and the READ behind it waits in its middle, longer
 * than the peer has retries: it asks for both again.
 */
static struct ibv_mr *is_behind(enum ibv_wr_opcode opcode)
{
	struct ibv_mr *there;
	struct ibv_sge sge;
	struct ibv_send_wr *bad, wr = {
		.opcode = opcode, .sg_list = &sge, .num_sge = 1,
	};
	int n, how;

	connect_them(14);
	there = ibv_reg_mr(near.pd, fresh(PAGE), PAGE, RIGHTS);
	EXPECT(there);
	withhold_half(6);
	lose_answers(0.4);
	sge = (struct ibv_sge) { (uintptr_t)far.bytes, 8, far.mr->lkey };
	if (opcode == IBV_WR_RDMA_WRITE) {
		wr.wr.rdma.remote_addr = (uintptr_t)there->addr;
		wr.wr.rdma.rkey = there->rkey;
	} else {
		wr.wr.atomic.remote_addr = (uintptr_t)there->addr;
		wr.wr.atomic.compare_add = 1;
		wr.wr.atomic.rkey = there->rkey;
	}
	EXPECT(!ibv_post_send(far.qp, &wr, &bad));
	begin_range(IBV_WR_RDMA_READ, near.mr, PAGE / 2, PAGE);
	for (n = 0; n < 2; n++) {
		how = status(far.cq);
		printf("%s\n", ibv_wc_status_str(how));
		EXPECT(how == IBV_WC_SUCCESS);
	}
	return there;
}

static void is_behind_an_atomic(void)
{
	const struct ibv_mr *there = is_behind(IBV_WR_ATOMIC_FETCH_AND_ADD);

	EXPECT(*(uint64_t *)there->addr == 1);
}

static void is_behind_a_write(void)
{
	is_behind(IBV_WR_RDMA_WRITE);
}

/*
 * The half of it that is there is lost, and then its region goes: the peer, which asks
 * for all of it again, is told, once. It asks after 4.3 s, when answers have long not
 * been lost any more, and the other half is still withheld.
 */
static void is_half_gone(void)
{
	double begun;
	int how;

	connect_them(20);
	withhold_half(6);
	lose_answers(0.4);
	begun = now();
	begin_range(IBV_WR_RDMA_READ, near.mr, PAGE / 2, PAGE);
	usleep(100000);
	EXPECT(!ibv_dereg_mr(near.mr));
	how = status(far.cq);
	printf("%s after %.1f s\n", ibv_wc_status_str(how), now() - begun);
	EXPECT(how == IBV_WC_REM_ACCESS_ERR);
}

/*
 * It waits in its middle, and its peer, which never repeats a request, has sent the next:
 * the peer is asked for it when the READ is at its end.
 */
static void is_in_front(enum ibv_wr_opcode opcode)
{
	struct ibv_mr *there;
	int n, how;

	connect_them(0);
	there = ibv_reg_mr(near.pd, fresh(PAGE), PAGE, RIGHTS);
	EXPECT(there);
	withhold_half(2);
	begin_range(IBV_WR_RDMA_READ, near.mr, PAGE / 2, PAGE);
	begin(opcode, there);
	for (n = 0; n < 2; n++) {
		how = status(far.cq);
		printf("%s\n", ibv_wc_status_str(how));
		EXPECT(how == IBV_WC_SUCCESS);
	}
}

static void is_in_front_of_a_write(void)
{
	is_in_front(IBV_WR_RDMA_WRITE);
}

static void is_in_front_of_another(void)
{
	is_in_front(IBV_WR_RDMA_READ);
}

static const struct test_case cases[] = {
	CASE(is_half_there), CASE(is_gone_for_good), CASE(is_not_wanted),
	CASE(is_half_unwanted), CASE(is_behind_an_atomic),
	CASE(is_behind_a_write), CASE(is_half_gone),
	CASE(is_in_front_of_a_write), CASE(is_in_front_of_another), { },
};

int main(int argc, char **argv)
{
	if (argc != 6)
		return 2;
	slowfile_ends = true;
	device = argv[1];
	open_end(&near, argv[1], argv[2]);
	open_end(&far, argv[3], argv[4]);
	return run_case(cases, argv[5]);
}
