// SPDX-License-Identifier: GPL-2.0
/* Shrinkers are allocated by the kernel. */
#include <linux/shrinker.h>

void *probe = shrinker_alloc;
