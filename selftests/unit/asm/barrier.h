/* SPDX-License-Identifier: GPL-2.0 */
/* Stands in for the kernel's: a test looks at its barriers. */
#ifndef FRDMA_ASM_BARRIER_H
#define FRDMA_ASM_BARRIER_H

#include <linux/compiler.h>

#define smp_wmb()		test_orders_stores()

#endif /* FRDMA_ASM_BARRIER_H */
