// SPDX-License-Identifier: GPL-2.0
/* hrtimer_setup() takes the function that hrtimer_init() left to the caller. */
#include <linux/hrtimer.h>

void *probe = hrtimer_setup;
