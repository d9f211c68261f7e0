/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the tests of assembly share: lengths, alignments, and memory that tells
 * whether something was touched beside what should be. The sanitizers do not
 * see what assembly touches.
 */
#ifndef FRDMA_TEST_X86_H
#define FRDMA_TEST_X86_H

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "env.h"
#include "tap.h"

#define SHORT_MAX	300
#define LONG_MAX_LEN	70000
#define ALIGNMENTS	64
#define CANARY		64
#define CANARY_BYTE	0xa5

/* Memory between two pages that nobody may touch; its end is one of a page. */
static inline u8 *fenced(size_t len)
{
	size_t page = sysconf(_SC_PAGESIZE);
	u8 *mem;

	len = (len + page - 1) / page * page;
	mem = mmap(NULL, len + 2 * page, PROT_READ | PROT_WRITE,
		   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert(mem != MAP_FAILED);
	assert(!mprotect(mem, page, PROT_NONE));
	assert(!mprotect(mem + page + len, page, PROT_NONE));
	return mem + page;
}

static inline void unfence(u8 *mem, size_t len)
{
	size_t page = sysconf(_SC_PAGESIZE);

	munmap(mem - page, (len + page - 1) / page * page + 2 * page);
}

/* There has to be room for CANARY bytes on both sides. */
static inline void put_canaries(u8 *mem, size_t len)
{
	memset(mem - CANARY, CANARY_BYTE, len + 2 * CANARY);
}

static inline bool is_canary(const u8 *at)
{
	static u8 canary[CANARY];

	if (!canary[0])
		memset(canary, CANARY_BYTE, sizeof(canary));
	return !memcmp(at, canary, sizeof(canary));
}

static inline bool has_canaries(const u8 *mem, size_t len)
{
	return is_canary(mem - CANARY) && is_canary(mem + len);
}

#endif /* FRDMA_TEST_X86_H */
