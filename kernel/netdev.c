// SPDX-License-Identifier: GPL-2.0
/*
 * What happens to an interface happens to its link.
 *
 * up, down, carrier	the port becomes ACTIVE or DOWN, with an event
 * gone, or moved to	the link is deleted: its queue pairs know routes and
 * another namespace	addresses of a namespace that they are no longer in
 * MTU, name, address	nothing to do: queries read them from the interface,
 *			and the core keeps the GIDs
 * suspend, resume	nothing to do: the interface goes down and up, or stays
 *			up; timers and packets wait for the CPU
 */
#include <linux/rtnetlink.h>
#include <rdma/ib_verbs.h>

#include "dev.h"
#include "net.h"
#include "netdev.h"
#include "uapi/frdma-abi.h"

static void update_port(struct frdma_dev *dev)
{
	bool active = ib_get_curr_port_state(dev->ndev) == IB_PORT_ACTIVE;

	ASSERT_RTNL();

	if (active == dev->port_active)
		return;
	dev->port_active = active;
	ib_dispatch_port_state_event(&dev->ib, dev->ndev);
}

/* A reference that is taken by interface, as it may end at any time. */
static struct ib_device *link_get(struct net_device *ndev)
{
	return ib_device_get_by_netdev(ndev, FRDMA_DRIVER_ID);
}

static int netdev_event(struct notifier_block *nb, unsigned long event,
			void *info)
{
	struct net_device *ndev = netdev_notifier_info_to_dev(info);
	struct ib_device *ib = link_get(ndev);

	if (!ib)
		return NOTIFY_DONE;

	switch (event) {
	case NETDEV_UNREGISTER:
		ib_unregister_device_queued(ib);
		break;
	case NETDEV_UP:
	case NETDEV_DOWN:
	case NETDEV_CHANGE:
		update_port(to_frdma(ib));
		break;
	}

	ib_device_put(ib);
	return NOTIFY_DONE;
}

static struct notifier_block netdev_notifier = {
	.notifier_call = netdev_event,
};

/**
 * frdma_netdev_catch_up - see to what happened while a link was being added
 * @ndev: interface of the link, held by the caller
 *
 * The notifier finds a link once it is registered. An interface that went
 * away before that takes the link with it now.
 *
 * Context: process; takes RTNL.
 */
void frdma_netdev_catch_up(struct net_device *ndev)
{
	struct frdma_dev *dev;
	struct ib_device *ib;

	rtnl_lock();
	ib = link_get(ndev);
	if (!ib)
		goto out;

	dev = to_frdma(ib);
	if (ndev->reg_state == NETREG_REGISTERED &&
	    net_eq(dev_net(ndev), frdma_net_ns(dev->net)))
		update_port(dev);
	else
		ib_unregister_device_queued(ib);
	ib_device_put(ib);
out:
	rtnl_unlock();
}

/**
 * frdma_netdev_init - be told of interfaces
 *
 * Context: module load.
 * Return: 0 or -ENOMEM.
 */
int __init frdma_netdev_init(void)
{
	return register_netdevice_notifier(&netdev_notifier);
}

/**
 * frdma_netdev_exit - end of what frdma_netdev_init() began
 *
 * Context: module load that fails, module removal.
 */
void frdma_netdev_exit(void)
{
	unregister_netdevice_notifier(&netdev_notifier);
}
