// SPDX-License-Identifier: GPL-2.0
/*
 * Adapters that are RDMA devices themselves. With RoCE enabled, such an adapter
 * takes packets to UDP port 4791 out of the stream for its own queue pairs, so
 * that a link on its interface sends but receives nothing.
 */
#include <linux/device.h>
#include <linux/module.h>
#include <linux/netdevice.h>
#include <linux/rtnetlink.h>
#include <linux/string.h>
#include <rdma/ib_verbs.h>

#include "offload.h"

/* rdma_rxe receives by a socket, as frdma does. */
static bool takes_roce(struct ib_device *ib)
{
	u32 port;

	if (ib->ops.owner == THIS_MODULE ||
	    ib->ops.driver_id == RDMA_DRIVER_RXE)
		return false;
	rdma_for_each_port(ib, port)
		if (rdma_protocol_roce_udp_encap(ib, port))
			return true;
	return false;
}

/* device_for_each_child(): ends at an adapter, which @found then holds. */
static int find_adapter(struct device *child, void *found)
{
	struct ib_device *ib;

	if (!child->class || strcmp(child->class->name, "infiniband"))
		return 0;
	ib = rdma_device_to_ibdev(child);
	if (!ib_device_try_get(ib))
		return 0;
	if (takes_roce(ib)) {
		*(struct ib_device **)found = ib;
		return 1;
	}
	ib_device_put(ib);
	return 0;
}

static void warn_of(const char *name, const struct net_device *ndev,
		    const struct ib_device *ib)
{
	const struct device *parent = ib->dev.parent;
	const char *bus = parent->bus ? parent->bus->name : "pci";
	const char *at = dev_name(parent);

	if (ib->ops.driver_id == RDMA_DRIVER_MLX5)
		pr_warn("link %s on %s will receive nothing while %s takes RoCE packets for itself; to end that: devlink dev param set %s/%s name enable_roce value false cmode driverinit; devlink dev reload %s/%s\n",
			name, ndev->name, dev_name(&ib->dev), bus, at, bus, at);
	else
		pr_warn("link %s on %s may receive nothing if %s takes RoCE packets for itself; to end that: modprobe -r %s\n",
			name, ndev->name, dev_name(&ib->dev),
			module_name(ib->ops.owner));
}

/* netdev_walk_all_lower_dev(): ends at an interface of an adapter. */
static int look_at(struct net_device *ndev, struct netdev_nested_priv *priv)
{
	return ndev->dev.parent &&
	       device_for_each_child(ndev->dev.parent, priv->data,
				     find_adapter);
}

/**
 * frdma_offload_warn - log if an adapter may take the packets of a new link
 * @name: of the link
 * @ndev: its interface; the adapter may be that of one below it
 *
 * Context: process; takes RTNL.
 */
void frdma_offload_warn(const char *name, struct net_device *ndev)
{
	struct ib_device *ib = NULL;
	struct netdev_nested_priv priv = { .data = &ib };

	/* The parent of an interface is held until that is unregistered. */
	rtnl_lock();
	if (ndev->reg_state == NETREG_REGISTERED && !look_at(ndev, &priv))
		netdev_walk_all_lower_dev(ndev, look_at, &priv);
	rtnl_unlock();
	if (!ib)
		return;
	warn_of(name, ndev, ib);
	ib_device_put(ib);
}
