/* SPDX-License-Identifier: GPL-2.0 */
/* Stands in for the kernel's. */
#ifndef FRDMA_LINUX_ALIGN_H
#define FRDMA_LINUX_ALIGN_H

#define IS_ALIGNED(x, a)	(((x) & ((typeof(x))(a) - 1)) == 0)

#endif /* FRDMA_LINUX_ALIGN_H */
