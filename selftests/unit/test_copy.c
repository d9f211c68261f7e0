// SPDX-License-Identifier: GPL-2.0
/*
 * The copy of kernel/copy_x86.S, as the kernel has it.
 */
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
#include "rnd.h"
#include "x86.h"

#ifdef __x86_64__

void frdma_copy_256(void *dst, const void *src, size_t len);

/* What the destination is aligned to, and the largest last store. */
#define DST_ALIGN	32
#define LAST_MAX	8

static struct rnd rnd = { 4 };

/* All of the copy, and nothing around it. @dst has canaries on both sides. */
static void check_copy(u8 *dst, const u8 *src, size_t len)
{
	put_canaries(dst, len);
	frdma_copy_256(dst, src, len);
	EXPECT(!memcmp(dst, src, len));
	EXPECT(has_canaries(dst, len));
}

static void every_short_one(void)
{
	static u8 from[ALIGNMENTS + SHORT_MAX];
	static u8 to[2 * CANARY + ALIGNMENTS + SHORT_MAX]
		__attribute__((aligned(ALIGNMENTS)));
	u32 s, d, len;

	rnd_fill(&rnd, from, sizeof(from));
	for (s = 0; s < ALIGNMENTS && !tap_failed(); s++)
		for (d = 0; d < ALIGNMENTS; d += DST_ALIGN)
			for (len = 1; len <= SHORT_MAX; len++)
				check_copy(to + CANARY + d, from + s, len);
}

static void long_ones(void)
{
	u8 *from = malloc(LONG_MAX_LEN + ALIGNMENTS);
	u8 *to = aligned_alloc(ALIGNMENTS, LONG_MAX_LEN / ALIGNMENTS *
			       ALIGNMENTS + 2 * ALIGNMENTS + 2 * CANARY);
	int i;

	rnd_fill(&rnd, from, LONG_MAX_LEN + ALIGNMENTS);
	for (i = 0; i < 1000 && !tap_failed(); i++)
		check_copy(to + CANARY + rnd_below(&rnd, 2) * DST_ALIGN,
			   from + rnd_below(&rnd, ALIGNMENTS),
			   1 + rnd_below(&rnd, LONG_MAX_LEN));
	free(from);
	free(to);
}

/* All of it lies at the very beginning of what may be touched, or at its end. */
static void not_a_byte_outside(void)
{
	size_t page = sysconf(_SC_PAGESIZE), len, at;
	u8 *from = fenced(page), *to = fenced(page);

	rnd_fill(&rnd, from, page);
	for (len = 1; len <= 2 * SHORT_MAX; len++) {
		frdma_copy_256(to, from, len);
		EXPECT(!memcmp(to, from, len));
		at = (page - len) / DST_ALIGN * DST_ALIGN;
		frdma_copy_256(to + at, from + page - len, len);
		EXPECT(!memcmp(to + at, from + page - len, len));
	}
	unfence(from, page);
	unfence(to, page);
}

/**
 * struct steps - what is seen of a copy after each of its instructions
 * @src: its source
 * @dst: its destination: what was stored there is inverted at once
 * @len: bytes of it
 * @stored: bytes that were stored so far
 * @last: bytes of the last store
 * @bad: a byte was stored that is not the next one, or a store was not aligned
 */
static struct steps {
	const u8 *src;
	u8 *dst;
	size_t len;
	size_t stored;
	size_t last;
	bool bad;
} steps;

static void look_at_step(int sig)
{
	size_t i, before = steps.stored;

	for (i = 0; i < steps.len; i++) {
		if (steps.dst[i] != steps.src[i])
			continue;
		steps.bad |= i != steps.stored;
		steps.stored++;
		steps.dst[i] = ~steps.src[i];
	}
	if (steps.stored == before)
		return;
	steps.last = steps.stored - before;
	steps.bad |= steps.last & (steps.last - 1) ||
		     (uintptr_t)(steps.dst + before) % steps.last;
}

/* From here on, a SIGTRAP after each instruction; or none from here on. */
static inline void toggle_trap(void)
{
	asm volatile("lea -128(%%rsp), %%rsp; pushfq; xorq $0x100, (%%rsp); "
		     "popfq; lea 128(%%rsp), %%rsp" : : : "memory", "cc");
}

static void copy_in_steps(u8 *dst, const u8 *src, size_t len)
{
	size_t i;

	for (i = 0; i < len; i++)
		dst[i] = ~src[i];
	steps = (struct steps) { .src = src, .dst = dst, .len = len };
	toggle_trap();
	frdma_copy_256(dst, src, len);
	toggle_trap();
}

/* A process may see a byte, and write there: it is not stored once more. */
static void each_byte_once_in_their_order(void)
{
	static u8 to[SHORT_MAX] __attribute__((aligned(DST_ALIGN)));
	void (*before)(int) = signal(SIGTRAP, look_at_step);
	static u8 from[SHORT_MAX];
	size_t len;

	rnd_fill(&rnd, from, sizeof(from));
	for (len = 1; len < SHORT_MAX; len++) {
		copy_in_steps(to, from, len);
		EXPECT(!steps.bad);
		EXPECT_EQ(steps.stored, len);
		EXPECT(steps.last <= LAST_MAX);
	}
	signal(SIGTRAP, before);
}

#define TEST_IF_AVX(run)						\
TEST(frdma_copy_256__##run)						\
{									\
	if (__builtin_cpu_supports("avx"))				\
		run();							\
	else								\
		tap_skip("the processor does without");			\
}

TEST_IF_AVX(every_short_one)
TEST_IF_AVX(long_ones)
TEST_IF_AVX(not_a_byte_outside)
TEST_IF_AVX(each_byte_once_in_their_order)

#else

TEST(frdma_copy__x86)
{
	tap_skip("of x86-64 only");
}

#endif /* __x86_64__ */
