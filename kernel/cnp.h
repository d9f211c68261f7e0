/* SPDX-License-Identifier: GPL-2.0 */
/* What comes of data that met congestion. */
#ifndef FRDMA_CNP_H
#define FRDMA_CNP_H

#include <linux/types.h>

struct frdma_qp;

void frdma_cnp_obey_or_echo(struct frdma_qp *qp, bool responses);

#endif /* FRDMA_CNP_H */
