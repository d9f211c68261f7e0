/* SPDX-License-Identifier: GPL-2.0 */
/* Performance management: counters in the words of IBTA vol. 1, 16.1. */
#ifndef FRDMA_PMA_H
#define FRDMA_PMA_H

#include <rdma/ib_mad.h>

int frdma_process_mad(struct ib_device *ib, int flags, u32 port,
		      const struct ib_wc *wc, const struct ib_grh *grh,
		      const struct ib_mad *in, struct ib_mad *out,
		      size_t *out_len, u16 *out_pkey_index);

#endif /* FRDMA_PMA_H */
