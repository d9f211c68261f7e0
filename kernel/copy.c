// SPDX-License-Identifier: GPL-2.0
#include "copy.h"

#include <linux/align.h>
#include <linux/compiler.h>
#include <linux/minmax.h>
#include <asm/barrier.h>

/* Integers at any address. */
struct loose_u64 { u64 v; } __packed;
struct loose_u32 { u32 v; } __packed;
struct loose_u16 { u16 v; } __packed;
struct loose_u8 { u8 v; } __packed;

/* A process may be writing there: each value that is read will do. */
#define LOAD(type, src)	data_race(((const struct loose_##type *)(src))->v)

/* One load and one store. */
#define COPY_ONE(type, dst, src) \
	WRITE_ONCE(*(type *)(dst), LOAD(type, src))

/* @dst is aligned to a word in the functions that copy words. */
static __always_inline void copy_2_words(void *dst, const void *src)
{
	COPY_ONE(u64, dst, src);
	COPY_ONE(u64, dst + 8, src + 8);
}

static __always_inline void copy_4_words(void *dst, const void *src)
{
	copy_2_words(dst, src);
	copy_2_words(dst + 16, src + 16);
}

static __always_inline void copy_8_words(void *dst, const void *src)
{
	copy_4_words(dst, src);
	copy_4_words(dst + 32, src + 32);
}

/* One store. */
static void copy_one(void *dst, const void *src, size_t size)
{
	switch (size) {
	case 8:
		COPY_ONE(u64, dst, src);
		break;
	case 4:
		COPY_ONE(u32, dst, src);
		break;
	case 2:
		COPY_ONE(u16, dst, src);
		break;
	default:
		COPY_ONE(u8, dst, src);
	}
}

/* The size of the largest aligned store at @dst within @len bytes. */
static size_t store_size(const void *dst, size_t len)
{
	size_t size = FRDMA_COPY_WORD;

	while (size > len || !IS_ALIGNED((unsigned long)dst, size))
		size /= 2;
	return size;
}

static void copy_parts(void *dst, const void *src, size_t len)
{
	size_t size;

	for (; len; len -= size, dst += size, src += size) {
		size = store_size(dst, len);
		if (size == len)
			/* With the program that polls the last byte. */
			smp_wmb();
		copy_one(dst, src, size);
	}
}

/* @dst is aligned to a word. The last word, or a part of it, is stored last. */
static __always_inline void copy_from_word(void *dst, const void *src,
					   size_t len)
{
	for (; len > 64; len -= 64, dst += 64, src += 64)
		copy_8_words(dst, src);
	if (len > 32) {
		copy_4_words(dst, src);
		len -= 32;
		dst += 32;
		src += 32;
	}
	if (len > 16) {
		copy_2_words(dst, src);
		len -= 16;
		dst += 16;
		src += 16;
	}
	if (len > 8) {
		COPY_ONE(u64, dst, src);
		len -= 8;
		dst += 8;
		src += 8;
	}
	if (unlikely(len < FRDMA_COPY_WORD)) {
		copy_parts(dst, src, len);
		return;
	}
	/* With the program that polls the last byte. */
	smp_wmb();
	COPY_ONE(u64, dst, src);
}

/* @head: bytes in front of the next word of @dst. */
static noinline void copy_from_within_word(void *dst, const void *src,
					   size_t len, size_t head)
{
	head = min(head, len);
	copy_parts(dst, src, head);
	copy_from_word(dst + head, src + head, len - head);
}

void frdma_copy_words(void *dst, const void *src, size_t len)
{
	size_t head = -(unsigned long)dst % FRDMA_COPY_WORD;

	if (unlikely(head))
		copy_from_within_word(dst, src, len, head);
	else
		copy_from_word(dst, src, len);
}
