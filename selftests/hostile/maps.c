// SPDX-License-Identifier: GPL-2.0
/*
 * A process that maps rings and device memory as it should not, and does to its
 * mappings what can be done to memory. maps.sh builds and runs it:
 *
 *	maps DEVICE GID_INDEX CASE
 *
 * The mappings are, in this order: a completion queue, a send queue, a receive
 * queue, device memory.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>
#include <fcntl.h>

#include "../lib/pair.h"
#include "../lib/bystander.h"
#include "../lib/maps.h"

#define PAGE	4096UL
#define COUNT(array)	(sizeof(array) / sizeof((array)[0]))

enum { OF_CQ, OF_SQ, OF_RQ, OF_DM, NR_MAPPINGS };

static struct ibv_cq *cq;
static struct ibv_qp *qp;
static struct ibv_dm *dm;

/* Deep enough that each has several pages. */
static void make_mappings(void)
{
	struct ibv_alloc_dm_attr attr = { .length = 4 * PAGE };

	cq = ibv_create_cq(ctx, 256, NULL, NULL, 0);
	EXPECT(cq);
	qp = make_qp(cq, 128);
	dm = ibv_alloc_dm(ctx, &attr);
	EXPECT(qp && dm && !connect_qp(qp, qp->qp_num));
	find_maps();
	EXPECT(nr_maps == NR_MAPPINGS);
}

static void unmake_mappings(void)
{
	EXPECT(!ibv_destroy_qp(qp) && !ibv_destroy_cq(cq) && !ibv_free_dm(dm));
}

/* The address, or NULL and errno. */
static void *map_at(void *at, size_t len, int prot, int flags, int fd,
		    unsigned long offset)
{
	void *got = mmap(at, len, prot, flags, fd, offset);

	return got == MAP_FAILED ? NULL : got;
}

static void *map_shared(size_t len, unsigned long offset)
{
	return map_at(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED,
		      ctx->cmd_fd, offset);
}

static void *map_again(const struct map *map)
{
	return map_shared(map->len, map->offset);
}

/* Bytes behind the indices and the slots in use. */
static volatile unsigned char *last_byte(const struct map *map)
{
	return (unsigned char *)map->at + map->len - 1;
}

/*
 * What is refused
 */

#define REFUSED(call, err) do {						\
	errno = 0;							\
	EXPECT(!(call) && errno == (err));				\
} while (0)

static void wrong_places(void)
{
	const struct map *map;
	unsigned int i;

	for (map = maps; map < maps + nr_maps; map++) {
		REFUSED(map_shared(map->len + PAGE, map->offset), EINVAL);
		REFUSED(map_shared(map->len - PAGE, map->offset), EINVAL);
		REFUSED(map_shared(PAGE, map->offset + PAGE), EINVAL);
		REFUSED(map_shared(map->len, map->offset + PAGE), EINVAL);
		REFUSED(map_shared(map->len, map->offset + 1), EINVAL);
		REFUSED(map_shared(0, map->offset), EINVAL);
		REFUSED(map_at(NULL, map->len, PROT_READ, MAP_PRIVATE,
			       ctx->cmd_fd, map->offset), EINVAL);
	}
	REFUSED(map_shared(maps[0].len, -PAGE), EOVERFLOW);
	srandom(getpid());
	for (i = 0; i < 2000; i++) {
		unsigned long offset = (unsigned long)random() << i % 20;
		void *at = map_shared((1 + i % 4) * PAGE, offset * PAGE);

		/* Chance may find one. */
		for (map = maps; map < maps + nr_maps; map++)
			if (map->offset == offset * PAGE)
				break;
		EXPECT(!at || map < maps + nr_maps);
	}
}

static void places_that_are_gone(void)
{
	unsigned int i;

	unmake_mappings();
	for (i = 0; i < NR_MAPPINGS; i++)
		REFUSED(map_shared(maps[i].len, maps[i].offset), EINVAL);
	make_mappings();
}

/* A second file of the same device has no mappings, but for its own. */
static void another_file(void)
{
	struct ibv_context *other = ibv_open_device(ctx->device);
	struct ibv_cq *own;
	unsigned char *at;
	unsigned int i;

	EXPECT(other);
	for (i = 0; i < NR_MAPPINGS; i++)
		REFUSED(map_at(NULL, maps[i].len, PROT_READ, MAP_SHARED,
			       other->cmd_fd, maps[i].offset), EINVAL);
	own = ibv_create_cq(other, 256, NULL, NULL, 0);
	EXPECT(own);
	*last_byte(&maps[OF_CQ]) = 77;
	at = map_at(NULL, maps[OF_CQ].len, PROT_READ, MAP_SHARED,
		    other->cmd_fd, maps[OF_CQ].offset);
	EXPECT(!at || at[maps[OF_CQ].len - 1] == 0);
	EXPECT(!ibv_destroy_cq(own) && !ibv_close_device(other));
}

/* It neither grows, nor does it become two, nor show another part. */
static void mappings_that_grow(void)
{
	const struct map *map;
	void *at;

	for (map = maps; map < maps + nr_maps; map++) {
		at = mremap(map->at, map->len, map->len + PAGE,
			    MREMAP_MAYMOVE);
		EXPECT(at == MAP_FAILED && errno == EFAULT);
		at = mremap(map->at, 0, map->len, MREMAP_MAYMOVE);
		EXPECT(at == MAP_FAILED);
		at = mremap(map->at, map->len, map->len, MREMAP_MAYMOVE |
			    MREMAP_DONTUNMAP);
		EXPECT(at == MAP_FAILED && errno == EINVAL);
		EXPECT(remap_file_pages(map->at, PAGE, 0, 1, 0));
	}
}

/*
 * What a process may do, to its own disadvantage only
 */

static void mapped_twice(void)
{
	const struct map *map;
	unsigned char *at;

	for (map = maps; map < maps + nr_maps; map++) {
		at = map_again(map);
		EXPECT(at);
		*last_byte(map) = 0x5a;
		EXPECT(at[map->len - 1] == 0x5a);
		at[map->len - 1] = 0;
		EXPECT(!*last_byte(map));
		EXPECT(!munmap(at, map->len));
	}
}

/* What is left shows what it did. */
static void unmapped_in_part(void)
{
	const struct map *map;

	for (map = maps; map < maps + nr_maps; map++) {
		EXPECT(map->len >= 3 * PAGE);
		*last_byte(map) = 0x5a;
		EXPECT(!munmap(map->at + PAGE, PAGE));
		EXPECT(*last_byte(map) == 0x5a);
		EXPECT(!munmap(map->at, PAGE));
		EXPECT(*last_byte(map) == 0x5a);
		*last_byte(map) = 0;
	}
}

static void moved(void)
{
	unsigned char *at, *place;
	const struct map *map;

	for (map = maps; map < maps + nr_maps; map++) {
		place = map_at(NULL, map->len, PROT_NONE,
			       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		*last_byte(map) = 0x5a;
		at = mremap(map->at, map->len, map->len,
			    MREMAP_MAYMOVE | MREMAP_FIXED, place);
		EXPECT(at == place && at[map->len - 1] == 0x5a);
		at[map->len - 1] = 0;
		EXPECT(mremap(at, map->len, PAGE, 0) == at);
	}
}

/* The queue pair sees its own pages, not what lies over them. */
static void mapped_over(void)
{
	struct map map = maps[OF_SQ], other = maps[OF_RQ];
	unsigned char *at, *place;

	at = map_at(map.at, map.len, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	EXPECT(at);
	memset(at, 0xa5, map.len);
	at = map_again(&map);
	EXPECT(at && at[map.len - 1] == 0);
	at[map.len - 1] = 1;
	/* One over another, and then over a part of both, not where it was. */
	place = map_at(NULL, 2 * (map.len + other.len), PROT_NONE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	EXPECT(place);
	EXPECT(map_at(place, other.len, PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_FIXED, ctx->cmd_fd, other.offset));
	EXPECT(map_at(place + PAGE, map.len, PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_FIXED, ctx->cmd_fd, map.offset));
	EXPECT(place[PAGE + map.len - 1] == 1);
	EXPECT(map_at(place + 2 * PAGE, map.len, PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_FIXED, ctx->cmd_fd, map.offset));
	EXPECT(place[2 * PAGE + map.len - 1] == 1);
	place[0] = 0xff;
	EXPECT((unsigned char)other.at[0] == 0xff);
}

static sigjmp_buf after_fault;

static void on_fault(int sig)
{
	siglongjmp(after_fault, sig);
}

/* The signal that reading, or writing, a byte there raises; 0: none. */
static int fault_of(volatile unsigned char *at, bool writes)
{
	int sig = sigsetjmp(after_fault, 1);

	if (sig)
		return sig;
	if (writes)
		*at = *at;
	else
		(void)*at;
	return 0;
}

static void protected(void)
{
	const struct map *map;
	unsigned char *at;

	for (map = maps; map < maps + nr_maps; map++) {
		at = map_at(NULL, map->len, PROT_READ, MAP_SHARED,
			    ctx->cmd_fd, map->offset);
		EXPECT(at && !fault_of(at, false));
		EXPECT(fault_of(at, true) == SIGSEGV);
		EXPECT(!mprotect(at, map->len, PROT_READ | PROT_WRITE));
		EXPECT(!fault_of(at, true));
		EXPECT(!mprotect(at + PAGE, PAGE, PROT_NONE));
		EXPECT(fault_of(at + PAGE, false) == SIGSEGV);
		EXPECT(!fault_of(at, true));
		mprotect(at, map->len, PROT_READ | PROT_EXEC);
		EXPECT(!fault_of(at + PAGE, false));
		EXPECT(fault_of(at, true) == SIGSEGV);
		EXPECT(!munmap(at, map->len));
	}
}

/*
 * Whatever is advised: the bytes are there, or a signal, never other bytes;
 * and another mapping shows them still.
 */
static void advised(void)
{
	const struct map *map;
	unsigned char *at;
	int advice, sig;

	for (map = maps; map < maps + nr_maps; map++)
		for (advice = 0; advice < 130; advice++) {
			/* These are about the machine's memory. */
			if (advice == MADV_HWPOISON ||
			    advice == MADV_HWPOISON + 1)
				continue;
			*last_byte(map) = advice + 1;
			at = map_again(map);
			EXPECT(at);
			madvise(at, map->len, advice);
			sig = fault_of(at + map->len - 1, false);
			EXPECT(sig || at[map->len - 1] ==
				      (unsigned char)(advice + 1));
			EXPECT(!munmap(at, map->len));
			EXPECT(*last_byte(map) ==
			       (unsigned char)(advice + 1));
		}
}

/* The kernel reads and writes it as it does other memory. */
static void used_as_memory(void)
{
	struct iovec there, here;
	unsigned char bytes[16], *at;
	const struct map *map;
	int ends[2], fd;

	fd = open("/proc/self/mem", O_RDWR);
	EXPECT(fd >= 0 && !pipe(ends));
	for (map = maps; map < maps + nr_maps; map++) {
		at = (unsigned char *)map->at + map->len - 16;
		fill(bytes, 16, map - maps + 3);
		EXPECT(write(ends[1], bytes, 16) == 16);
		EXPECT(read(ends[0], at, 16) == 16);
		EXPECT(is_filled(at, 16, map - maps + 3));

		fill(bytes, 16, 5);
		EXPECT(pwrite(fd, bytes, 16, (uintptr_t)at) == 16);
		EXPECT(is_filled(at, 16, 5));

		there = (struct iovec) { at, 16 };
		here = (struct iovec) { bytes, 16 };
		memset(bytes, 0, 16);
		EXPECT(process_vm_readv(getpid(), &here, 1, &there, 1, 0) ==
		       16);
		EXPECT(is_filled(bytes, 16, 5));
		mlock(map->at, map->len);
		munlock(map->at, map->len);
		msync(map->at, map->len, MS_SYNC);
	}
	close(fd);
}

/* Pages lent to a pipe, or pinned for a region, outlive the ring. */
static void lent_and_outlived(void)
{
	struct iovec iov = { maps[OF_RQ].at + PAGE, 64 };
	unsigned char bytes[64];
	struct ibv_mr *mr;
	int ends[2];

	EXPECT(!pipe(ends));
	fill(iov.iov_base, 64, 9);
	EXPECT(vmsplice(ends[1], &iov, 1, 0) == 64);
	mr = ibv_reg_mr(pd, maps[OF_RQ].at, maps[OF_RQ].len, RIGHTS);
	unmake_mappings();
	EXPECT(read(ends[0], bytes, 64) == 64 && is_filled(bytes, 64, 9));
	EXPECT(!mr || !ibv_dereg_mr(mr));
	make_mappings();
}

/* A region of a send queue: the peer's writes are rubbish in a ring. */
static void registered(void)
{
	struct ibv_mr *mr = ibv_reg_mr(pd, maps[OF_SQ].at, maps[OF_SQ].len,
				       RIGHTS);
	struct pair p = make_pair(4);
	struct ibv_sge sge;
	struct ibv_send_wr wr = { .opcode = IBV_WR_RDMA_WRITE };

	EXPECT(mr);
	*last_byte(&maps[OF_SQ]) = 0x5a;
	/* The whole ring over itself, its indices first. */
	sge = (struct ibv_sge) {
		(uintptr_t)maps[OF_SQ].at + PAGE, maps[OF_SQ].len - PAGE,
		mr->lkey,
	};
	wr.wr.rdma.remote_addr = (uintptr_t)maps[OF_SQ].at;
	wr.wr.rdma.rkey = mr->rkey;
	EXPECT(post_wait(p.near, p.near_cq, wr, sge) == IBV_WC_SUCCESS);
	EXPECT((unsigned char)maps[OF_SQ].at[maps[OF_SQ].len - PAGE - 1] ==
	       0x5a);
	unmake_pair(&p);
	EXPECT(!ibv_dereg_mr(mr));
}

/* The signal that a poll of the completion queue raises; 0: none. */
static int fault_of_poll(void)
{
	struct ibv_wc wc;
	int sig = sigsetjmp(after_fault, 1);

	if (!sig)
		ibv_poll_cq(cq, 1, &wc);
	return sig;
}

/* A poll in the child must not consume the parent's completion. */
static void not_inherited(void)
{
	struct ibv_send_wr wr = { .opcode = IBV_WR_RDMA_WRITE }, *bad;
	int wait_status;
	pid_t child;

	EXPECT(!ibv_post_send(qp, &wr, &bad));
	child = fork();
	EXPECT(child >= 0);
	if (!child) {
		find_maps();
		EXPECT(!nr_maps);
		EXPECT(fault_of_poll() == SIGSEGV);
		_exit(0);
	}
	EXPECT(waitpid(child, &wait_status, 0) == child && !wait_status);
	EXPECT(status(cq) == IBV_WC_SUCCESS);
}

/* The child has the file, so it maps what its parent may; and goes. */
static void by_a_child(void)
{
	struct map map = maps[OF_SQ];
	unsigned char *at;
	int wait_status;
	pid_t child;

	child = fork();
	EXPECT(child >= 0);
	if (!child) {
		at = map_again(&map);
		EXPECT(at);
		at[map.len - 1] = 0x5a;
		munmap(at, PAGE);
		_exit(0);
	}
	EXPECT(waitpid(child, &wait_status, 0) == child && !wait_status);
	EXPECT(*last_byte(&map) == 0x5a);
	EXPECT(!fault_of((unsigned char *)map.at, true));
}

/* The mappings hold the file: memory and queues are there until they go. */
static void without_a_file(void)
{
	unsigned int i;

	EXPECT(!close(ctx->cmd_fd));
	for (i = 0; i < NR_MAPPINGS; i++) {
		*last_byte(&maps[i]) = 0x5a;
		EXPECT(*last_byte(&maps[i]) == 0x5a);
		REFUSED(map_again(&maps[i]), EBADF);
	}
	for (i = 0; i < NR_MAPPINGS; i++)
		EXPECT(!munmap(maps[i].at, maps[i].len));
	_exit(0);
}

static const struct test_case cases[] = {
	CASE(wrong_places),
	CASE(places_that_are_gone),
	CASE(another_file),
	CASE(mappings_that_grow),
	CASE(mapped_twice),
	CASE(unmapped_in_part),
	CASE(moved),
	CASE(mapped_over),
	CASE(protected),
	CASE(advised),
	CASE(used_as_memory),
	CASE(lent_and_outlived),
	CASE(registered),
	CASE(not_inherited),
	CASE(by_a_child),
	CASE(without_a_file),
	{ }
};

/* Whatever was done, the kernel can take it all down, and others go on. */
int main(int argc, char **argv)
{
	if (argc != 4)
		return 2;
	signal(SIGSEGV, on_fault);
	signal(SIGBUS, on_fault);
	open_device(argv[1], argv[2]);
	make_mappings();
	if (run_case(cases, argv[3]))
		return 2;
	bystander_begins();
	bystander_goes_on();
	bystander_ends();
	return 0;
}
