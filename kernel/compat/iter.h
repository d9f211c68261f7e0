/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Last include of umem.c: going through memory block by block. Where there is no
 * such header, ib_verbs.h and ib_umem.h have what it has.
 */
#ifndef FRDMA_COMPAT_ITER_H
#define FRDMA_COMPAT_ITER_H

#ifdef HAVE_RDMA_ITER
#include <rdma/iter.h>
#endif

#endif /* FRDMA_COMPAT_ITER_H */
