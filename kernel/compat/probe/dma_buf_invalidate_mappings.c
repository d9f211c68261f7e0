// SPDX-License-Identifier: GPL-2.0
/* An importer need not want to be told when a buffer moves. */
#include <linux/dma-buf.h>

void *probe = dma_buf_invalidate_mappings;
