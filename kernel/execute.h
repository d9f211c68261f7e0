/* SPDX-License-Identifier: GPL-2.0 */
/* What the peer's requests ask for, done to memory; nothing is answered here. */
#ifndef FRDMA_EXECUTE_H
#define FRDMA_EXECUTE_H

#include "proto/resp.h"

struct frdma_mr;
struct frdma_qp;
struct frdma_rx_pkt;

enum frdma_resp_verdict
frdma_execute(struct frdma_qp *qp, const struct frdma_rx_pkt *pkt, u64 *orig);
void frdma_executed(struct frdma_qp *qp, const struct frdma_rx_pkt *pkt,
		    u32 len);

/* For responses to READs, which read in their own time. */
struct frdma_mr *frdma_execute_enter(struct frdma_qp *qp, u32 rkey, u64 va,
				     u64 len, int access);
enum frdma_resp_verdict
frdma_execute_page_in(struct frdma_qp *qp, const struct frdma_mr *mr, u64 va,
		      u32 len, u32 ahead, int access);

#endif /* FRDMA_EXECUTE_H */
