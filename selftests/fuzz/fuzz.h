/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the fuzz targets share. A target is one function of libFuzzer's, which
 * eats its input from the front; where the input ends, all is zero. Whatever
 * it is, the engine must keep what it promises: FUZZ_CHECK().
 */
#ifndef FRDMA_FUZZ_H
#define FRDMA_FUZZ_H

#include <stdio.h>
#include <stdlib.h>

#include "env.h"

typedef int (*fuzz_fn)(const u8 *data, size_t size);

/**
 * struct fuzz_target - one of those in a program that replays corpora
 * @name: of its file and of its corpus
 * @run: eats one input
 * @next: another
 */
struct fuzz_target {
	const char *name;
	fuzz_fn run;
	struct fuzz_target *next;
};

void fuzz_add(struct fuzz_target *target);

/*
 * FUZZ_TARGET(name)(const u8 *data, size_t size) begins the function. With
 * libFuzzer there is one in a program, and it has libFuzzer's name for it.
 */
#ifdef FUZZ_LIBFUZZER
#define FUZZ_TARGET(name_)						\
	int LLVMFuzzerTestOneInput(const u8 *data, size_t size);	\
	int LLVMFuzzerTestOneInput
#else
#define FUZZ_TARGET(name_)						\
	static int fuzz_##name_(const u8 *data, size_t size);		\
	static struct fuzz_target name_##_target = {			\
		#name_, fuzz_##name_, NULL				\
	};								\
	__attribute__((constructor)) static void name_##_add(void)	\
	{								\
		fuzz_add(&name_##_target);				\
	}								\
	static int fuzz_##name_
#endif

/* Packets that all inputs together have brought to the engine. */
extern u64 fuzz_packets;

/**
 * struct fuzz - what is left of an input
 * @at: next byte
 * @left: bytes from there on
 */
struct fuzz {
	const u8 *at;
	size_t left;
};

static inline u64 fuzz_take(struct fuzz *fuzz, size_t bytes)
{
	u64 value = 0;

	for (; bytes && fuzz->left; bytes--, fuzz->left--)
		value = value << 8 | *fuzz->at++;
	return value;
}

static inline u8 fuzz_u8(struct fuzz *fuzz)
{
	return fuzz_take(fuzz, 1);
}

static inline u32 fuzz_u32(struct fuzz *fuzz)
{
	return fuzz_take(fuzz, 4);
}

static inline u64 fuzz_u64(struct fuzz *fuzz)
{
	return fuzz_take(fuzz, 8);
}

/* One of 0 .. n - 1, by one byte. */
static inline u8 fuzz_below(struct fuzz *fuzz, u32 n)
{
	return fuzz_u8(fuzz) % n;
}

#define FUZZ_CHECK(cond, fmt, ...) do {					\
	if (!(cond)) {							\
		fprintf(stderr, "%s:%d: %s: " fmt "\n", __FILE__,	\
			__LINE__, #cond, ##__VA_ARGS__);		\
		abort();						\
	}								\
} while (0)

#endif /* FRDMA_FUZZ_H */
