/* SPDX-License-Identifier: GPL-2.0 */
/*
 * CRC-32 as in Ethernet, least significant bit first, as fast as the processor
 * can. Nothing is inverted: a CRC begins as ~0.
 *
 * On x86-64 that takes the vector registers, which the kernel lends out for a
 * while. Whoever has several packets to sum, or much to copy, borrows them
 * once:
 *
 *	frdma_crc_begin();
 *	for (...)
 *		crc[i] = frdma_crc32(crc[i], payload[i], len[i]);
 *	frdma_crc_end();
 *
 * In User Mode Linux there is nothing to borrow: they are those of its process,
 * which no other has. KMSAN does not see what assembly stores: as in the
 * kernel's own libraries, it is left out then, and KMSAN knows of each byte that
 * is copied or summed whether it was ever written.
 *
 * frdma_copy() copies into registered memory, by the rules of copy.h.
 */
#ifndef FRDMA_CRC_H
#define FRDMA_CRC_H

#if defined(CONFIG_X86_64) && !defined(CONFIG_KMSAN)

#include <linux/types.h>

void frdma_crc_init(void);
void frdma_crc_exit(void);
void frdma_crc_begin(void);
void frdma_crc_end(void);
u32 frdma_crc32(u32 crc, const void *p, size_t len);
u32 frdma_crc32_copy(u32 crc, void *dst, const void *src, size_t len);
void frdma_copy(void *dst, const void *src, size_t len);

#else

#include <linux/string.h>

#include "compat/crc.h"
#include "copy.h"

static __always_inline void frdma_crc_init(void)
{
	frdma_crc_plain_init();
}

static inline void frdma_crc_exit(void)
{
	frdma_crc_plain_exit();
}

static inline u32 frdma_crc32(u32 crc, const void *p, size_t len)
{
	return frdma_crc32_plain(crc, p, len);
}

static inline void frdma_crc_begin(void)
{
}

static inline void frdma_crc_end(void)
{
}

static inline u32 frdma_crc32_copy(u32 crc, void *dst, const void *src,
				   size_t len)
{
	memcpy(dst, src, len);
	return frdma_crc32(crc, dst, len);
}

static inline void frdma_copy(void *dst, const void *src, size_t len)
{
	frdma_copy_words(dst, src, len);
}

#endif

#endif /* FRDMA_CRC_H */
