// SPDX-License-Identifier: GPL-2.0
/* ib_umem_check_rereg() says whether a pinned range may be used again. */
#include <rdma/ib_umem.h>

void *probe = ib_umem_check_rereg;
