// SPDX-License-Identifier: GPL-2.0
/*
 * The CRC-32 of kernel/crc_x86.S, as the kernel has it.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include "rnd.h"
#include "x86.h"

#ifdef __x86_64__

typedef u32 crc_fn(u32 crc, const void *src, size_t len, void *dst);

crc_fn frdma_crc_128, frdma_crc_copy_128;
crc_fn frdma_crc_256, frdma_crc_copy_256;
crc_fn frdma_crc_512, frdma_crc_copy_512;

/**
 * struct width - the functions of one width
 * @sum: reads only
 * @copy: stores what it reads
 */
struct width {
	crc_fn *sum;
	crc_fn *copy;
};

static struct rnd rnd = { 3 };

/* The definition: one bit after the other. */
static u32 crc_by_bit(u32 crc, const void *buf, size_t len)
{
	const u8 *at = buf;
	int bit;

	while (len--) {
		crc ^= *at++;
		for (bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? 0xedb88320 : 0);
	}
	return crc;
}

static void check_copy(crc_fn *copy, u32 crc, const u8 *src, size_t len,
		       u8 *dst, u32 want)
{
	put_canaries(dst, len);
	EXPECT_EQ(copy(crc, src, len, dst), want);
	EXPECT(!memcmp(dst, src, len));
	EXPECT(has_canaries(dst, len));
}

static void every_short_one(const struct width *width)
{
	static u8 bytes[SHORT_MAX], from[ALIGNMENTS + SHORT_MAX];
	static u8 to[2 * CANARY + ALIGNMENTS + SHORT_MAX];
	u32 want[SHORT_MAX + 1], seed = rnd_u64(&rnd), s, d, len;

	rnd_fill(&rnd, bytes, sizeof(bytes));
	for (len = 0; len <= SHORT_MAX; len++)
		want[len] = crc_by_bit(seed, bytes, len);

	for (s = 0; s < ALIGNMENTS && !tap_failed(); s++) {
		memcpy(from + s, bytes, sizeof(bytes));
		for (len = 0; len <= SHORT_MAX; len++) {
			EXPECT_EQ(width->sum(seed, from + s, len, NULL),
				  want[len]);
			for (d = 0; d < ALIGNMENTS; d++)
				check_copy(width->copy, seed, from + s, len,
					   to + CANARY + d, want[len]);
		}
	}
}

static void long_ones_in_pieces(const struct width *width)
{
	u8 *from = malloc(LONG_MAX_LEN + ALIGNMENTS);
	u8 *to = malloc(LONG_MAX_LEN + ALIGNMENTS + 2 * CANARY);
	int i;

	rnd_fill(&rnd, from, LONG_MAX_LEN + ALIGNMENTS);
	for (i = 0; i < 100 && !tap_failed(); i++) {
		u32 len = rnd_below(&rnd, LONG_MAX_LEN + 1), done, n;
		u8 *dst = to + CANARY + rnd_below(&rnd, ALIGNMENTS);
		u8 *src = from + rnd_below(&rnd, ALIGNMENTS);
		u32 seed = rnd_u64(&rnd), crc = seed;
		u32 want = crc_by_bit(seed, src, len);

		EXPECT_EQ(width->sum(seed, src, len, NULL), want);
		check_copy(width->copy, seed, src, len, dst, want);

		put_canaries(dst, len);
		for (done = 0; done < len; done += n) {
			n = min(len - done, rnd_below(&rnd, 5000) + 1);
			crc = width->copy(crc, src + done, n, dst + done);
		}
		EXPECT_EQ(crc, want);
		EXPECT(!memcmp(dst, src, len));
		EXPECT(has_canaries(dst, len));
	}
	free(from);
	free(to);
}

/* All of it lies at the very beginning of what may be touched, or at its end. */
static void not_a_byte_outside(const struct width *width)
{
	size_t page = sysconf(_SC_PAGESIZE), len;
	u8 *from = fenced(page), *to = fenced(page);
	u32 want;

	rnd_fill(&rnd, from, page);
	for (len = 0; len <= 2 * SHORT_MAX; len++) {
		want = crc_by_bit(~0, from, len);
		EXPECT_EQ(width->sum(~0, from, len, NULL), want);
		EXPECT_EQ(width->copy(~0, from, len, to), want);
		EXPECT(!memcmp(to, from, len));

		want = crc_by_bit(~0, from + page - len, len);
		EXPECT_EQ(width->sum(~0, from + page - len, len, NULL), want);
		EXPECT_EQ(width->copy(~0, from + page - len, len,
				      to + page - len), want);
		EXPECT(!memcmp(to + page - len, from + page - len, len));
	}
	unfence(from, page);
	unfence(to, page);
}

/* Writes to all bytes, over and over, until it is killed. */
static pid_t start_writer(u8 *mem, size_t len)
{
	pid_t parent = getpid(), pid = fork();
	size_t i;
	u8 n;

	assert(pid >= 0);
	if (pid)
		return pid;
	for (n = 0; getppid() == parent; n++)
		for (i = 0; i < len; i++)
			((volatile u8 *)mem)[i] = n;
	_exit(0);
}

/*
 * What is stored is what was summed, though another process writes to the
 * source: the short ones many times, as they are where loads would overlap.
 */
static void source_that_changes(const struct width *width)
{
	size_t page = sysconf(_SC_PAGESIZE), len;
	u32 seen = 0, last = 0, crc;
	static u8 to[1 << 16];
	u8 *from;
	pid_t pid;
	int i;

	from = mmap(NULL, page, PROT_READ | PROT_WRITE,
		    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert(from != MAP_FAILED);
	pid = start_writer(from, 600);

	for (i = 0; i < 200000 || seen < 1000; i++) {
		len = rnd_below(&rnd, 600);
		crc = width->copy(~0, from, len, to);
		EXPECT_EQ(crc, crc_by_bit(~0, to, len));
		seen += len && to[0] != last;
		last = to[0];
	}

	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	munmap(from, page);
}

#define HAS(feature)	__builtin_cpu_supports(feature)

#define TEST_IF(has, name, run, arg)					\
TEST(name##__##run)							\
{									\
	if (has)							\
		run(arg);						\
	else								\
		tap_skip("the processor does without");			\
}

#define TESTS_OF(bits, has)						\
static const struct width width_##bits = {				\
	frdma_crc_##bits, frdma_crc_copy_##bits				\
};									\
TEST_IF(has, frdma_crc_##bits, every_short_one, &width_##bits)		\
TEST_IF(has, frdma_crc_##bits, long_ones_in_pieces, &width_##bits)	\
TEST_IF(has, frdma_crc_##bits, not_a_byte_outside, &width_##bits)	\
TEST_IF(has, frdma_crc_##bits, source_that_changes, &width_##bits)

TESTS_OF(128, HAS("pclmul") && HAS("avx"))
TESTS_OF(256, HAS("vpclmulqdq") && HAS("avx2"))
TESTS_OF(512, HAS("vpclmulqdq") && HAS("avx512f"))

#else

TEST(frdma_crc__x86)
{
	tap_skip("of x86-64 only");
}

#endif /* __x86_64__ */
