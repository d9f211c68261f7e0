/* SPDX-License-Identifier: GPL-2.0 */
#ifndef FRDMA_REFUSE_H
#define FRDMA_REFUSE_H

#include <linux/compiler_attributes.h>

struct ib_device;

/**
 * frdma_refuse() - refuse a verb, and say why
 * @ib: the device
 * @err: negative errno for the caller of the verb
 * @fmt: the verb, a colon, and the reason
 *
 * libibverbs passes on an errno alone, and EINVAL has a hundred causes. The
 * reason goes to the tracepoint frdma_refuse and to dynamic debug. The log has
 * none of it by default: a process can provoke any number of refusals.
 *
 * Context: any. Return: @err.
 */
int __cold __printf(3, 4) frdma_refuse(const struct ib_device *ib, int err,
				       const char *fmt, ...);

#endif /* FRDMA_REFUSE_H */
