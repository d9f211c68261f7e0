// SPDX-License-Identifier: GPL-2.0
/* crc32_le() uses the CPU's instructions, and says so. */
#include <linux/crc32.h>

void *probe = crc32_optimizations;
