/* SPDX-License-Identifier: GPL-2.0 */
/* The receive side of datagram queue pairs, and what UC has in common. */
#ifndef FRDMA_UD_H
#define FRDMA_UD_H

#include "run.h"

bool frdma_ud_step(struct frdma_side *side);
void frdma_ud_packet(struct frdma_side *side, struct sk_buff *skb);

#endif /* FRDMA_UD_H */
