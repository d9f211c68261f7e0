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
#include <linux/if_vlan.h>
#include <linux/rtnetlink.h>
#include <rdma/ib_verbs.h>

#include "dev.h"
#include "net.h"
#include "netdev.h"

static void report_port(struct frdma_dev *dev)
{
	struct ib_event event = {
		.device = &dev->ib,
		.element.port_num = 1,
		.event = dev->port_active ? IB_EVENT_PORT_ACTIVE :
					    IB_EVENT_PORT_ERR,
	};

	/* The core looks at the port's interface: not at a VLAN on it. */
	if (is_vlan_dev(dev->ndev))
		ib_dispatch_event(&event);
	else
		ib_dispatch_port_state_event(&dev->ib, dev->ndev);
}

static void update_port(struct frdma_dev *dev)
{
	bool active = ib_get_curr_port_state(dev->ndev) == IB_PORT_ACTIVE;

	ASSERT_RTNL();

	if (active == dev->port_active)
		return;
	dev->port_active = active;
	report_port(dev);
}

static int netdev_event(struct notifier_block *nb, unsigned long event,
			void *info)
{
	struct net_device *ndev = netdev_notifier_info_to_dev(info);
	struct frdma_dev *dev = frdma_dev_get_by_netdev(ndev);

	if (!dev)
		return NOTIFY_DONE;

	switch (event) {
	case NETDEV_UNREGISTER:
		ib_unregister_device_queued(&dev->ib);
		break;
	case NETDEV_UP:
	case NETDEV_DOWN:
	case NETDEV_CHANGE:
		update_port(dev);
		break;
	}

	ib_device_put(&dev->ib);
	return NOTIFY_DONE;
}

static struct notifier_block netdev_notifier = {
	.notifier_call = netdev_event,
};

/**
 * frdma_netdev_catch_up - see to what happened while a link was not to be found
 * @ib: link that the notifier finds from here on
 *
 * The core lets a link be found once it is registered, and again after it has
 * moved it to another namespace of RDMA, for which it had taken it away. An
 * interface that went away meanwhile takes the link with it now.
 *
 * Context: verb (enable_driver), under the core's link locks; takes RTNL.
 * Return: 0.
 */
int frdma_netdev_catch_up(struct ib_device *ib)
{
	struct frdma_dev *dev = to_frdma(ib);

	rtnl_lock();
	if (frdma_net_is_home(dev))
		update_port(dev);
	else
		ib_unregister_device_queued(ib);
	rtnl_unlock();

	return 0;
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
