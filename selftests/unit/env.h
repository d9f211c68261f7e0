/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Stands in for kernel/proto/env.h in user space: it has the same guard and
 * is included first (-include), so that the engine compiles unchanged.
 */
#ifndef FRDMA_PROTO_ENV_H
#define FRDMA_PROTO_ENV_H

#include <assert.h>
#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <linux/types.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/ib_user_verbs.h>

typedef __u8 u8;
typedef __u16 u16;
typedef __u32 u32;
typedef __u64 u64;
typedef __s8 s8;
typedef __s16 s16;
typedef __s32 s32;
typedef __s64 s64;

#define __force
#define __packed		__attribute__((packed))
#define __must_check		__attribute__((warn_unused_result))
#define __maybe_unused		__attribute__((unused))
#define fallthrough		__attribute__((fallthrough))
#define likely(x)		__builtin_expect(!!(x), 1)
#define unlikely(x)		__builtin_expect(!!(x), 0)

#define BUILD_BUG_ON(cond)	static_assert(!(cond), #cond)

#define BIT(n)			(1UL << (n))
#define BIT_ULL(n)		(1ULL << (n))
#define GENMASK(h, l)		((~0UL << (l)) & (~0UL >> (63 - (h))))
#define FIELD_GET(mask, reg)	(((reg) & (mask)) >> __builtin_ctzl(mask))
#define FIELD_PREP(mask, val) \
	(((typeof(mask))(val) << __builtin_ctzl(mask)) & (mask))
#define FIELD_MAX(mask)		((mask) >> __builtin_ctzl(mask))
#define __ffs(word)		__builtin_ctzl(word)

#define ARRAY_SIZE(a)		(sizeof(a) / sizeof((a)[0]))
#define DIV_ROUND_UP(n, d)	(((n) + (d) - 1) / (d))
#define U32_MAX			UINT32_MAX
#define U64_MAX			UINT64_MAX

/* User space speculates as it likes. */
#define array_index_nospec(index, size)	(index)

/* As in the kernel, both sides must have one type. */
#define CMP_(a, b, op) ({						\
	typeof(a) a_ = (a);						\
	typeof(b) b_ = (b);						\
	(void)(&a_ == &b_);						\
	a_ op b_ ? a_ : b_;						\
})
#define min(a, b)		CMP_(a, b, <)
#define max(a, b)		CMP_(a, b, >)
#define min_t(t, a, b)		min((t)(a), (t)(b))
#define max_t(t, a, b)		max((t)(a), (t)(b))
#define clamp(v, lo, hi)	min(max(v, lo), hi)

#define cpu_to_be16		htobe16
#define cpu_to_be32		htobe32
#define cpu_to_be64		htobe64
#define cpu_to_le32		htole32
#define be16_to_cpu		be16toh
#define be32_to_cpu		be32toh
#define be64_to_cpu		be64toh
#define le32_to_cpu		le32toh

/* Running CRC-32 of IEEE 802.3, neither begun nor ended with an inversion. */
static inline u32 frdma_crc32(u32 crc, const void *buf, size_t len)
{
	static const u32 by_nibble[16] = {
		0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac,
		0x76dc4190, 0x6b6b51f4, 0x4db26158, 0x5005713c,
		0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c,
		0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c,
	};
	const u8 *at = buf;

	while (len--) {
		crc ^= *at++;
		crc = crc >> 4 ^ by_nibble[crc & 15];
		crc = crc >> 4 ^ by_nibble[crc & 15];
	}
	return crc;
}

#endif /* FRDMA_PROTO_ENV_H */
