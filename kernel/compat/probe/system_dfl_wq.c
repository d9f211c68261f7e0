// SPDX-License-Identifier: GPL-2.0
/* The unbound work queue has the name of a default. */
#include <linux/workqueue.h>

void *probe = &system_dfl_wq;
