/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What chance decides, and what is right or rubbish. Nothing that comes from here
 * is an address of this process, but for those that are given to the kernel.
 */
#ifndef FRDMA_TEST_CHANCE_H
#define FRDMA_TEST_CHANCE_H

#include "table.h"

#define PAGE		4096
#define ARENA		(1 << 20)

/**
 * struct thread - one that calls
 * @random: what chance decides from now on
 * @answers: where the kernel writes
 * @slot: of the object of each kind that was used last, @picked as it was then;
 *        -1: there was none
 * @calls: how many it has to make
 */
struct thread {
	uint64_t random;
	unsigned char *answers;
	int slot[NR_KINDS];
	struct object picked[NR_KINDS];
	unsigned int calls;
};

/* Memory to register, and a page that cannot be written to. */
static unsigned char *arena, *readable;

static uint64_t any(struct thread *me)
{
	uint64_t z = me->random += 0x9e3779b97f4a7c15;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
	return z ^ (z >> 31);
}

static uint64_t below(struct thread *me, uint64_t n)
{
	return any(me) % n;
}

/* One of @n times. */
static bool once_in(struct thread *me, unsigned int n)
{
	return !below(me, n);
}

/* A page of the arena, or any byte of it, or a ring. */
static uint64_t address(struct thread *me)
{
	switch (below(me, 16)) {
	case 0:
		return (uintptr_t)arena + below(me, ARENA);
	case 1:
		return (uintptr_t)zone + below(me, ZONE / PAGE) * PAGE;
	default:
		return (uintptr_t)arena + below(me, ARENA / PAGE) * PAGE;
	}
}

/* What is no address of ours, but for the arena, and too much for a number. */
static uint64_t rubbish(struct thread *me)
{
	switch (below(me, 8)) {
	case 0:
		return any(me);
	case 1:
		return -1ULL;
	case 2:
		return 1ULL << below(me, 64);
	case 3:
		return address(me);
	case 4:
		return (uint32_t)any(me);
	default:
		return below(me, 12);
	}
}

/* A pointer that nothing, or not everything, can be written to. */
static uint64_t bad_pointer(struct thread *me)
{
	const uint64_t pointers[] = {
		0, 16, (uintptr_t)readable, (uintptr_t)arena + ARENA - 6,
		(uintptr_t)arena + ARENA, 0xffff888000000000, -8ULL,
		(uintptr_t)arena + below(me, ARENA / 2),
	};

	return pointers[below(me, 8)];
}

/* Makes a word or two of the body wrong. */
static void spoil(struct thread *me, void *body, size_t len)
{
	unsigned int n = once_in(me, 8) ? 4 : 1;
	size_t size = once_in(me, 3) ? 1 : 4;
	uint64_t word;

	while (n--) {
		word = rubbish(me);
		if (len >= size)
			memcpy((char *)body + below(me, len / size) * size,
			       &word, size);
	}
}

#endif /* FRDMA_TEST_CHANCE_H */
