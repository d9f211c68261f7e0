// SPDX-License-Identifier: GPL-2.0
/* Flags of a mapping are set by a function, which knows the locks. */
#include <linux/mm.h>

void *probe = vm_flags_set;
