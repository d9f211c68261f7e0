// SPDX-License-Identifier: GPL-2.0
/* ib_virt_dma_to_ptr() replaced a plain cast. */
#include <rdma/ib_verbs.h>

void *probe = ib_virt_dma_to_ptr;
