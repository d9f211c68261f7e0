/* SPDX-License-Identifier: GPL-2.0 */
/* The receive side of unreliable connections. */
#ifndef FRDMA_UC_H
#define FRDMA_UC_H

#include "run.h"

struct frdma_qp;
struct frdma_rx_pkt;

void frdma_uc_packet(struct frdma_side *side, struct sk_buff *skb);
void frdma_uc_take(struct frdma_qp *qp, struct frdma_rx_pkt *pkt);

#endif /* FRDMA_UC_H */
