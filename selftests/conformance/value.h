/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Values in scripts: numbers, multiples of the path MTU (2P), names of regions,
 * queue pairs and shared receive queues, and sums of these: "mr+8", "P-1",
 * "mr^1".
 */
#ifndef CONFORM_VALUE_H
#define CONFORM_VALUE_H

#include <stdbool.h>
#include <stdint.h>

/** enum meaning - what a name stands for where it is written */
enum meaning {
	MEANS_NUMBER,
	MEANS_ADDRESS,
	MEANS_LKEY,
	MEANS_RKEY,
	MEANS_QPN,
	MEANS_SRQN,
	MEANS_HOST,
};

/**
 * struct names - who knows the names
 * @find: sets *value to what @name stands for
 * @arg: first argument of that
 */
struct names {
	bool (*find)(void *arg, const char *name, enum meaning meaning,
		     uint64_t *value);
	void *arg;
};

bool value_of(const char *text, enum meaning meaning, const struct names *names,
	      uint64_t *value);
bool value_is(const char *text, enum meaning meaning, const struct names *names,
	      uint64_t got, bool any);

/* What payload and memory are filled with, from a place in it on. */
static inline uint8_t pattern(uint64_t at)
{
	return at * 7 + (at >> 8) * 13 + 1;
}

#endif /* CONFORM_VALUE_H */
