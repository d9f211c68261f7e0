// SPDX-License-Identifier: GPL-2.0
/* ib_umem_get() became ib_umem_get_va(). */
#include <rdma/ib_umem.h>

void *probe = ib_umem_get_va;
