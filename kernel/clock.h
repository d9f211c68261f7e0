/* SPDX-License-Identifier: GPL-2.0 */
#ifndef FRDMA_CLOCK_H
#define FRDMA_CLOCK_H

#include <linux/ktime.h>
#include <rdma/uverbs_ioctl.h>

/**
 * frdma_clock_ns() - the clock of completion timestamps
 *
 * It is CLOCK_MONOTONIC_RAW without the offset of any time namespace: a queue
 * may be read by processes of several namespaces.
 *
 * Context: any. Return: nanoseconds.
 */
static inline u64 frdma_clock_ns(void)
{
	return ktime_get_raw_ns();
}

/* The method of the device object, for the device's table (dev.c). */
extern const struct uapi_definition frdma_clock_uapi[];

#endif /* FRDMA_CLOCK_H */
