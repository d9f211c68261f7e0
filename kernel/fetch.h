/* SPDX-License-Identifier: GPL-2.0 */
/* From the ring, which a process may rewrite, to the requester's window. */
#ifndef FRDMA_FETCH_H
#define FRDMA_FETCH_H

struct frdma_qp;

void frdma_fetch(struct frdma_qp *qp);

#endif /* FRDMA_FETCH_H */
