/* SPDX-License-Identifier: GPL-2.0 */
/* The state machine of queue pairs and the attributes that move it. */
#ifndef FRDMA_MODIFY_H
#define FRDMA_MODIFY_H

#include <rdma/ib_verbs.h>

int frdma_modify_qp(struct ib_qp *ib, struct ib_qp_attr *attr, int mask,
		    struct ib_udata *udata);

#endif /* FRDMA_MODIFY_H */
