/* SPDX-License-Identifier: GPL-2.0 */
/* The receive side of unreliable connections. */
#ifndef FRDMA_UC_H
#define FRDMA_UC_H

#include "run.h"

void frdma_uc_packet(struct frdma_side *side, struct sk_buff *skb);

#endif /* FRDMA_UC_H */
