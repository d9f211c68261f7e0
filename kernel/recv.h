/* SPDX-License-Identifier: GPL-2.0 */
/* Receive requests: from the posted ring to the one in use. */
#ifndef FRDMA_RECV_H
#define FRDMA_RECV_H

#include "qp.h"

bool frdma_recv_take(struct frdma_qp *qp);
bool frdma_recv_flush(struct frdma_qp *qp);
void frdma_recv_reset(struct frdma_qp *qp);

#endif /* FRDMA_RECV_H */
