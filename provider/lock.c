// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <config.h>

#include <time.h>

#include "frdma.h"

/* A post or a poll holds its lock for less time than these attempts take. */
#define LOCK_ATTEMPTS	1000

/* Short beside a resize, long beside the time that a sleep costs. */
#define LOCK_SLEEP_NS	50000

void frdma_lock_wait(struct frdma_lock *lock)
{
	const struct timespec pause = { .tv_nsec = LOCK_SLEEP_NS };
	int attempt;

	for (;;) {
		for (attempt = 0; attempt < LOCK_ATTEMPTS; attempt++)
			if (!pthread_spin_trylock(&lock->spin))
				return;
		nanosleep(&pause, NULL);
	}
}
