// SPDX-License-Identifier: GPL-2.0
#include <pthread.h>

#include "adder.h"

static pthread_t thread;
static bool runs, stop;
static uint64_t *sum, added;

static void *add(void *arg)
{
	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
		__atomic_fetch_add(sum, 1, __ATOMIC_RELAXED);
		added++;
	}
	return NULL;
}

/**
 * adder_begin - from now on 1 is added to memory, again and again
 * @at: eight bytes
 *
 * Return: false if there is such a thread already, or can be none.
 */
bool adder_begin(uint64_t *at)
{
	if (runs)
		return false;
	sum = at;
	added = 0;
	stop = false;
	runs = !pthread_create(&thread, NULL, add, NULL);
	return runs;
}

/**
 * adder_end - no longer
 * @so_much: set to what was added
 *
 * Return: false if there was no such thread.
 */
bool adder_end(uint64_t *so_much)
{
	if (!runs)
		return false;
	__atomic_store_n(&stop, true, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
	runs = false;
	*so_much = added;
	return true;
}
