/* SPDX-License-Identifier: GPL-2.0 */
/* The receive side of a queue pair: what its owner does with requests. */
#ifndef FRDMA_RESPONDER_H
#define FRDMA_RESPONDER_H

#include "run.h"

struct frdma_qp;
struct frdma_rx_pkt;

bool frdma_responder_step(struct frdma_side *side);
void frdma_responder_packet(struct frdma_side *side, struct sk_buff *skb);
void frdma_responder_take(struct frdma_qp *qp, struct frdma_rx_pkt *pkt);
void frdma_responder_answer(struct frdma_qp *qp);

#endif /* FRDMA_RESPONDER_H */
