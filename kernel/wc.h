/* SPDX-License-Identifier: GPL-2.0 */
/* Completions of a queue pair's work requests. */
#ifndef FRDMA_WC_H
#define FRDMA_WC_H

#include "qp.h"

void frdma_wc_send(struct frdma_qp *qp, const struct frdma_swr *wr, u8 status);
void frdma_wc_recv(struct frdma_qp *qp, struct frdma_cqe *cqe, bool solicited);

#endif /* FRDMA_WC_H */
