/* SPDX-License-Identifier: GPL-2.0 */
/* Stands in for the kernel's, so that its assembly assembles in user space. */
#ifndef FRDMA_LINUX_LINKAGE_H
#define FRDMA_LINUX_LINKAGE_H

#define SYM_FUNC_START(name)	.globl name; .type name, @function; name:
#define SYM_FUNC_END(name)	.size name, . - name
#define RET			ret

#endif /* FRDMA_LINUX_LINKAGE_H */
