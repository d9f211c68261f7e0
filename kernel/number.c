// SPDX-License-Identifier: GPL-2.0
#include <linux/random.h>

#include "number.h"

struct frdma_shuffle frdma_qp_order __ro_after_init = {
	.first = FRDMA_QPN_FIRST,
	.last  = FRDMA_QPN_LAST,
};

struct frdma_shuffle frdma_mr_order __ro_after_init = {
	.first = FRDMA_MR_NUMBER_FIRST,
	.last  = FRDMA_MR_NUMBER_LAST,
};

void __init frdma_number_init(void)
{
	get_random_bytes(frdma_qp_order.round, sizeof(frdma_qp_order.round));
	get_random_bytes(frdma_mr_order.round, sizeof(frdma_mr_order.round));
}
