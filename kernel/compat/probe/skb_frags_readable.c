// SPDX-License-Identifier: GPL-2.0
/* Fragments may be memory of a device, which the CPU cannot read. */
#include <linux/skbuff.h>

void *probe = skb_frags_readable;
