/* SPDX-License-Identifier: GPL-2.0 */
/* The verbs of queue pairs. */
#ifndef FRDMA_VERBS_QP_H
#define FRDMA_VERBS_QP_H

#include <rdma/ib_verbs.h>

int frdma_create_qp(struct ib_qp *ib, struct ib_qp_init_attr *init,
		    struct ib_udata *udata);
int frdma_query_qp(struct ib_qp *ib, struct ib_qp_attr *attr, int mask,
		   struct ib_qp_init_attr *init);
int frdma_destroy_qp(struct ib_qp *ib, struct ib_udata *udata);

#endif /* FRDMA_VERBS_QP_H */
