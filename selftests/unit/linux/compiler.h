/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Stands in for the kernel's, for files whose stores and barriers a test looks
 * at (test_words.c).
 */
#ifndef FRDMA_LINUX_COMPILER_H
#define FRDMA_LINUX_COMPILER_H

/* Defined by the test. */
void test_stores(const void *at, size_t size);
void test_orders_stores(void);

#define noinline		__attribute__((noinline))

#define data_race(expr)		(expr)

#define WRITE_ONCE(x, value) do {					\
	*(volatile typeof(x) *)&(x) = (value);				\
	test_stores(&(x), sizeof(x));					\
} while (0)

#endif /* FRDMA_LINUX_COMPILER_H */
