/* SPDX-License-Identifier: GPL-2.0 */
/* Work requests that send nothing: keys registered, bound, invalidated. */
#ifndef FRDMA_LOCAL_H
#define FRDMA_LOCAL_H

#include <linux/types.h>

struct frdma_qp;

bool frdma_local_execute(struct frdma_qp *qp);

#endif /* FRDMA_LOCAL_H */
