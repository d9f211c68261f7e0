// SPDX-License-Identifier: GPL-2.0
/* ib_virt_dma_to_ptr() and ib_virt_dma_to_page() replaced plain casts. */
#include <rdma/ib_verbs.h>

void *probe = ib_virt_dma_to_page;
