// SPDX-License-Identifier: GPL-2.0
#include "access.h"
#include "tap.h"

/* Without wrapping: in more bits than an address has. */
static bool modelled_range_in(u64 addr, u64 len, u64 start, u64 size)
{
	unsigned __int128 end = (unsigned __int128)addr + len;

	return addr >= start && end <= (unsigned __int128)start + size;
}

TEST(frdma_range_in__every_edge)
{
	static const u64 edges[] = {
		0, 1, 2, 3, 4095, 4096, 4097, 1ULL << 31, 1ULL << 32,
		1ULL << 63, U64_MAX - 4096, U64_MAX - 1, U64_MAX,
	};
	const u32 n = ARRAY_SIZE(edges);
	u32 i;

	for (i = 0; i < n * n * n * n; i++) {
		u64 addr = edges[i % n], len = edges[i / n % n];
		u64 start = edges[i / n / n % n], size = edges[i / n / n / n];

		/* A region never leaves the address space. */
		if (size && size - 1 > U64_MAX - start)
			continue;
		EXPECT(frdma_range_in(addr, len, start, size) ==
		       modelled_range_in(addr, len, start, size));
	}
}

TEST(frdma_range_in__one_byte_too_many)
{
	EXPECT(frdma_range_in(0x1000, 0x1000, 0x1000, 0x1000));
	EXPECT(!frdma_range_in(0x1000, 0x1001, 0x1000, 0x1000));
	EXPECT(!frdma_range_in(0x0fff, 0x1000, 0x1000, 0x1000));
	EXPECT(!frdma_range_in(0x1001, 0x1000, 0x1000, 0x1000));
}

TEST(frdma_range_in__empty_range)
{
	EXPECT(frdma_range_in(0x1000, 0, 0x1000, 0x1000));
	EXPECT(frdma_range_in(0x2000, 0, 0x1000, 0x1000));
	EXPECT(!frdma_range_in(0x2001, 0, 0x1000, 0x1000));
	EXPECT(!frdma_range_in(0x0fff, 0, 0x1000, 0x1000));
}

TEST(frdma_range_in__wrapping_range)
{
	EXPECT(!frdma_range_in(U64_MAX, 2, 0, U64_MAX));
	EXPECT(!frdma_range_in(0x1800, U64_MAX - 0x1000, 0x1000, 0x1000));
}
