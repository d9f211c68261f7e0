// SPDX-License-Identifier: GPL-2.0
#include "refuse.h"

#include <linux/device.h>
#include <rdma/ib_verbs.h>

#include "dev.h"
#include "trace.h"

int frdma_refuse(const struct ib_device *ib, int err, const char *fmt, ...)
{
	const struct frdma_dev *dev = container_of(ib, struct frdma_dev, ib);
	struct va_format reason = { .fmt = fmt };
	va_list args;

	va_start(args, fmt);
	reason.va = &args;
	trace_frdma_refuse(dev->ndev->ifindex, err, &reason);
	ibdev_dbg(ib, "%pV (%d)\n", &reason, err);
	va_end(args);
	return err;
}
