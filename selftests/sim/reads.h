/* SPDX-License-Identifier: GPL-2.0 */
/*
 * READs and atomics that the responder may be answering, as far as the requester can
 * know: an adapter takes one more than was agreed upon for an invalid request.
 */
#ifndef FRDMA_SIM_READS_H
#define FRDMA_SIM_READS_H

#include "side.h"

void reads_sent(struct sim_side *side, const struct frdma_req_pkt *pkt);
void reads_heard(struct sim_side *side, u32 psn);
void reads_probe(struct sim_side *side);
void reads_check(struct sim_side *side);

#endif /* FRDMA_SIM_READS_H */
