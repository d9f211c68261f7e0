/* SPDX-License-Identifier: GPL-2.0 */
/* The send side of a queue pair: what its owner does in a step. */
#ifndef FRDMA_REQUESTER_H
#define FRDMA_REQUESTER_H

#include "run.h"

bool frdma_requester_step(struct frdma_side *side);

#endif /* FRDMA_REQUESTER_H */
