/* SPDX-License-Identifier: GPL-2.0 */
/* The send side's way in for packets: acknowledgements and responses. */
#ifndef FRDMA_COMPLETER_H
#define FRDMA_COMPLETER_H

#include "run.h"

struct frdma_qp;
struct frdma_rx_pkt;

void frdma_completer_packet(struct frdma_side *side, struct sk_buff *skb);
bool frdma_completer_step(struct frdma_qp *qp);
void frdma_completer_expire(struct frdma_qp *qp);
void frdma_completer_take(struct frdma_qp *qp, struct frdma_rx_pkt *pkt);

#endif /* FRDMA_COMPLETER_H */
