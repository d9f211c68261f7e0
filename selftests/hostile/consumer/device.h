/* SPDX-License-Identifier: GPL-2.0 */
/* What the consumers here begin with: a device, and a domain on it. */
#ifndef CONSUMER_DEVICE_H
#define CONSUMER_DEVICE_H

#include <linux/module.h>
#include <linux/netdevice.h>
#include <rdma/ib_verbs.h>

static char *netdev = "eth0";
module_param(netdev, charp, 0);
static int gid_index = 1;
module_param(gid_index, int, 0);

static struct ib_device *dev;
static struct ib_pd *pd;

static int modify(struct ib_qp *qp, enum ib_qp_state state, int mask,
		  struct ib_qp_attr attr)
{
	attr.qp_state = state;
	return ib_modify_qp(qp, &attr, IB_QP_STATE | mask);
}

/* From RESET to RTS, with what @attr says for all states. */
static int bring_up(struct ib_qp *qp, struct ib_qp_attr attr)
{
	return modify(qp, IB_QPS_INIT, IB_QP_PKEY_INDEX | IB_QP_PORT |
		      IB_QP_ACCESS_FLAGS, attr) ?:
	       modify(qp, IB_QPS_RTR, IB_QP_AV | IB_QP_PATH_MTU |
		      IB_QP_DEST_QPN | IB_QP_RQ_PSN |
		      IB_QP_MAX_DEST_RD_ATOMIC | IB_QP_MIN_RNR_TIMER, attr) ?:
	       modify(qp, IB_QPS_RTS, IB_QP_TIMEOUT | IB_QP_RETRY_CNT |
		      IB_QP_RNR_RETRY | IB_QP_SQ_PSN | IB_QP_MAX_QP_RD_ATOMIC,
		      attr);
}

static int with_domain(int (*run)(void))
{
	int err;

	pd = ib_alloc_pd(dev, 0);
	if (IS_ERR(pd))
		return PTR_ERR(pd);
	err = run();
	ib_dealloc_pd(pd);
	return err;
}

/* Calls @run with a domain on the interface's device. Returns what it does. */
static int with_device(int (*run)(void))
{
	struct net_device *ndev = dev_get_by_name(&init_net, netdev);
	int err;

	if (!ndev)
		return -ENODEV;
	dev = ib_device_get_by_netdev(ndev, RDMA_DRIVER_UNKNOWN);
	dev_put(ndev);
	if (!dev)
		return -ENODEV;
	err = with_domain(run);
	ib_device_put(dev);
	return err;
}

#endif /* CONSUMER_DEVICE_H */
