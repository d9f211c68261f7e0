/* SPDX-License-Identifier: GPL-2.0 */
#ifndef FRDMA_COMPAT_CRC_H
#define FRDMA_COMPAT_CRC_H

#include <linux/crc32.h>

#ifdef HAVE_CRC32_OPTIMIZATIONS

static inline void frdma_crc_plain_init(void)
{
}

static inline void frdma_crc_plain_exit(void)
{
}

static inline u32 frdma_crc32_plain(u32 crc, const void *p, size_t len)
{
	return crc32_le(crc, p, len);
}

#else

void frdma_crc_plain_init(void);
void frdma_crc_plain_exit(void);
u32 frdma_crc32_plain(u32 crc, const void *p, size_t len);

#endif

#endif /* FRDMA_COMPAT_CRC_H */
