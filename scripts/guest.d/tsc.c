// SPDX-License-Identifier: GPL-2.0
/*
 * Prints how many kHz the time stamp counter of this machine has, measured for
 * a tenth of a second. An emulated processor shows the same counter, but a
 * guest on a busy machine cannot measure it: its clock ran nine times too fast.
 */
#include <stdint.h>
#include <stdio.h>
#include <time.h>
#include <x86intrin.h>

#define TRIES	100

struct moment {
	int64_t ns;
	uint64_t ticks;
};

static int64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC_RAW, &t);
	return t.tv_sec * 1000000000ll + t.tv_nsec;
}

/* The counter, read where reading it took the least time. */
static struct moment look(void)
{
	struct moment best = { 0 };
	int64_t before, after, shortest = INT64_MAX;
	uint64_t ticks;
	int i;

	for (i = 0; i < TRIES; i++) {
		before = now_ns();
		ticks = __rdtsc();
		after = now_ns();
		if (after - before >= shortest)
			continue;
		shortest = after - before;
		best.ns = before + shortest / 2;
		best.ticks = ticks;
	}
	return best;
}

int main(void)
{
	struct moment begin = look(), end;

	nanosleep(&(struct timespec){ .tv_nsec = 100000000 }, NULL);
	end = look();
	printf("%.0f\n", (end.ticks - begin.ticks) * 1e6 /
			 (end.ns - begin.ns));
	return 0;
}
