// SPDX-License-Identifier: GPL-2.0
/* A header within a tunnel's has a fixed identification of its own. */
#include <linux/skbuff.h>

int probe = SKB_GSO_TCP_FIXEDID_INNER;
