// SPDX-License-Identifier: GPL-2.0
/*
 * The order in which a message becomes visible: a thread polls the memory of
 * messages, as a program does that waits for no completion.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../lib/pair.h"

#define SIZE		(64 << 10)
#define MESSAGES	200

/* In the place of a message. */
#define MESSAGE_NONE	0
#define MESSAGE_END	-1

static unsigned char to[SIZE] __attribute__((aligned(4096)));
static unsigned char from[SIZE] __attribute__((aligned(4096)));
static struct ibv_mr *to_mr, *from_mr;
static struct pair pair;

/**
 * struct watch - what the other thread looks at
 * @look: waits for message @want, and adds to @bad if it came in disorder
 * @at: where messages go
 * @len: bytes of each
 * @want: the message under way, whose bytes are 1 to 255; or MESSAGE_*
 * @seen: the last one that @look has seen
 * @bad: messages in disorder
 */
static struct watch {
	void (*look)(unsigned char want);
	volatile unsigned char *at;
	size_t len;
	atomic_int want, seen;
	unsigned long bad;
} watch;

static void *watcher(void *arg __attribute__((unused)))
{
	int last = MESSAGE_NONE, want;

	while ((want = atomic_load(&watch.want)) != MESSAGE_END) {
		if (want == last)
			continue;
		watch.look(want);
		last = want;
		atomic_store(&watch.seen, want);
	}
	return NULL;
}

/* A reader that sees the last byte sees the others. */
static void look_at_tail(unsigned char want)
{
	size_t i;

	while (watch.at[watch.len - 1] != want)
		;
	for (i = 0; i < watch.len; i++)
		if (watch.at[i] != want) {
			watch.bad++;
			return;
		}
}

/* A word at the end changes at once. */
static void look_at_word(unsigned char want)
{
	volatile uint64_t *word = (void *)(watch.at + watch.len - 8);
	uint64_t all = want * 0x0101010101010101ULL, old = *word, now;

	if (old == all)
		return;
	do
		now = *word;
	while (now == old);
	if (now != all)
		watch.bad++;
	while (*word != all)
		;
}

/* A word that the program has reset stays so: no byte is stored twice. */
static void look_and_reset(unsigned char want)
{
	volatile uint64_t *word = (void *)watch.at;

	while (*word != want * 0x0101010101010101ULL)
		;
	*word = 0;
}

/* One message of the watched length, to its end. */
static void send_message(enum ibv_wr_opcode op, size_t src, struct ibv_mr *mr)
{
	uintptr_t dst = (uintptr_t)watch.at;
	struct ibv_sge sge = { (uintptr_t)mr->addr + src, watch.len, mr->lkey };
	struct ibv_sge into = { dst, watch.len, to_mr->lkey };
	struct ibv_send_wr wr = { .opcode = op };
	struct ibv_recv_wr recv = { .sg_list = &into, .num_sge = 1 }, *bad;

	wr.wr.rdma.remote_addr = op == IBV_WR_RDMA_READ ? sge.addr : dst;
	wr.wr.rdma.rkey = op == IBV_WR_RDMA_READ ? mr->rkey : to_mr->rkey;
	if (op == IBV_WR_SEND)
		EXPECT(!ibv_post_recv(pair.far, &recv, &bad));
	EXPECT(post_wait(pair.near, pair.near_cq, wr,
			 op == IBV_WR_RDMA_READ ? into : sge) == IBV_WC_SUCCESS);
	if (op == IBV_WR_SEND)
		EXPECT(status(pair.far_cq) == IBV_WC_SUCCESS);
}

static void wait_until_seen(int message)
{
	double end = now() + 20 * slow();

	while (atomic_load(&watch.seen) != message)
		EXPECT(now() < end);
}

/* Sends messages of @len bytes to @dst, watched by @look. */
static void watch_messages(void (*look)(unsigned char), enum ibv_wr_opcode op,
			   size_t len, size_t dst, size_t src,
			   struct ibv_mr *mr)
{
	unsigned long undone = 0;
	pthread_t thread;
	int i, message;

	memset(to, 0, sizeof(to));
	watch = (struct watch) { .look = look, .at = to + dst, .len = len };
	atomic_store(&watch.want, MESSAGE_NONE);
	EXPECT(!pthread_create(&thread, NULL, watcher, NULL));
	for (i = 0; i < MESSAGES; i++) {
		message = 1 + i % 255;
		memset((char *)mr->addr + src, message, len);
		atomic_store(&watch.want, message);
		send_message(op, src, mr);
		wait_until_seen(message);
		undone += look == look_and_reset &&
			  *(volatile uint64_t *)watch.at;
	}
	atomic_store(&watch.want, MESSAGE_END);
	pthread_join(thread, NULL);
	printf("%zu bytes to 0x%zx from 0x%zx: %lu in disorder, %lu undone\n",
	       len, dst, src, watch.bad, undone);
	EXPECT(!watch.bad && !undone);
}

/* Short and long ones, with all kinds of ends. */
static void tails_of(enum ibv_wr_opcode op)
{
	watch_messages(look_at_tail, op, 64, 64, 0, from_mr);
	watch_messages(look_at_tail, op, 256, 64, 0, from_mr);
	watch_messages(look_at_tail, op, 1000, 3, 64, from_mr);
	watch_messages(look_at_tail, op, 1024, 0, 64, from_mr);
	watch_messages(look_at_tail, op, 8191, 0, 1, from_mr);
	watch_messages(look_at_tail, op, 20000, 7, 0, from_mr);
}

static void writes(void)
{
	tails_of(IBV_WR_RDMA_WRITE);
}

static void reads(void)
{
	tails_of(IBV_WR_RDMA_READ);
}

static void sends(void)
{
	tails_of(IBV_WR_SEND);
}

static void flags(void)
{
	watch_messages(look_and_reset, IBV_WR_RDMA_WRITE, 8, 0, 0, from_mr);
	watch_messages(look_and_reset, IBV_WR_RDMA_WRITE, 12, 0, 0, from_mr);
	watch_messages(look_and_reset, IBV_WR_RDMA_WRITE, 30, 8, 3, from_mr);
	watch_messages(look_and_reset, IBV_WR_RDMA_WRITE, 1023, 64, 0, from_mr);
}

/*
 * A message lies on two pages that are not contiguous in memory: one page is
 * mapped twice. The pages meet within the last word.
 */
static void words_of_two_pages(void)
{
	size_t page = sysconf(_SC_PAGESIZE);
	int fd = memfd_create("order", 0);
	struct ibv_mr *mr;
	char *twice;

	EXPECT(fd >= 0 && !ftruncate(fd, page));
	twice = mmap(NULL, 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS,
		     -1, 0);
	EXPECT(twice != MAP_FAILED);
	EXPECT(mmap(twice, page, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
		    fd, 0) == twice);
	EXPECT(mmap(twice + page, page, PROT_READ | PROT_WRITE,
		    MAP_SHARED | MAP_FIXED, fd, 0) == twice + page);
	mr = ibv_reg_mr(pd, twice, 2 * page, RIGHTS);
	EXPECT(mr);
	watch_messages(look_at_word, IBV_WR_RDMA_WRITE, 64, 64, page - 60, mr);
	watch_messages(look_at_word, IBV_WR_RDMA_WRITE, 8, 64, page - 3, mr);
	watch_messages(look_at_word, IBV_WR_RDMA_READ, 64, 0, page - 61, mr);
	EXPECT(!ibv_dereg_mr(mr));
}

int main(int argc, char **argv)
{
	static const struct test_case cases[] = {
		CASE(writes), CASE(reads), CASE(sends), CASE(flags),
		CASE(words_of_two_pages), {}
	};

	EXPECT(argc == 4);
	open_device(argv[1], argv[2]);
	to_mr = ibv_reg_mr(pd, to, sizeof(to), RIGHTS);
	from_mr = ibv_reg_mr(pd, from, sizeof(from), RIGHTS);
	EXPECT(to_mr && from_mr);
	pair = make_pair(8);
	return run_case(cases, argv[3]);
}
