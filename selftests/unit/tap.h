/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Tests that print TAP. A test is
 *
 *	TEST(function__case)
 *	{
 *		EXPECT(frdma_function(1) == 2);
 *	}
 *
 * and runs in the order of its file. A failed expectation fails the test and
 * leaves it going on.
 */
#ifndef FRDMA_TAP_H
#define FRDMA_TAP_H

#include <stdbool.h>
#include <stdio.h>

struct tap_test {
	const char *name;
	void (*run)(void);
	struct tap_test *next;
};

void tap_add(struct tap_test *test);
void tap_fail(const char *file, int line, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
bool tap_failed(void);
void tap_skip(const char *why);

#define TEST(name_)							\
	static void name_(void);					\
	static struct tap_test name_##_test = { #name_, name_, 0 };	\
	__attribute__((constructor)) static void name_##_add(void)	\
	{								\
		tap_add(&name_##_test);					\
	}								\
	static void name_(void)

#define EXPECT(cond) do {						\
	if (!(cond))							\
		tap_fail(__FILE__, __LINE__, "%s", #cond);		\
} while (0)

/* Integers of any type, shown when they differ. */
#define EXPECT_EQ(got, want) do {					\
	unsigned long long got_ = (got);				\
	unsigned long long want_ = (want);				\
									\
	if (got_ != want_)						\
		tap_fail(__FILE__, __LINE__, "%s is 0x%llx, not 0x%llx",\
			 #got, got_, want_);				\
} while (0)

#endif /* FRDMA_TAP_H */
