// SPDX-License-Identifier: GPL-2.0
#include "adapter.h"

#include <linux/netdevice.h>
#include <linux/string.h>
#include <net/rtnetlink.h>

/* What is behind a tap is a program, and may be a virtual machine's adapter. */
static bool is_tap(const struct net_device *ndev)
{
	return ndev->rtnl_link_ops && !strcmp(ndev->rtnl_link_ops->kind, "tun");
}

/* 1 if it is such an adapter, which ends a walk; else 0. */
static int numbers(struct net_device *ndev, struct netdev_nested_priv *unused)
{
	const netdev_features_t both = NETIF_F_GSO_UDP_L4 |
				       NETIF_F_TSO_MANGLEID;

	return (ndev->dev.parent || is_tap(ndev)) &&
	       (ndev->features & both) == both;
}

/* 1 if the stack cuts trains for it in part, which ends a walk; else 0. */
static int cuts_in_part(struct net_device *ndev,
			struct netdev_nested_priv *unused)
{
	return !!(ndev->gso_partial_features & NETIF_F_GSO_UDP_L4);
}

/**
 * frdma_adapter_spoils - would the packets of an IPv6 train be spoilt
 * @ndev: interface that it leaves by
 *
 * On some kernels. The device may lie below a VLAN, a bond or a bridge.
 *
 * Context: bottom halves off, or an RCU read section.
 */
bool frdma_adapter_spoils(struct net_device *ndev)
{
	struct netdev_nested_priv unused = { };

	return FRDMA_GSO_PARTIAL_IS_BROKEN &&
	       (cuts_in_part(ndev, NULL) ||
		netdev_walk_all_lower_dev_rcu(ndev, cuts_in_part, &unused));
}

/**
 * frdma_adapter_numbers - would the packets of an IPv4 train get numbers
 * @ndev: interface that it leaves by
 *
 * By itself no adapter takes such a train, since its buffer says that the
 * identification is to stay. But "ethtool -K eth0 tso on" makes any claim that it
 * leaves it so. It may lie below a VLAN, a bond or a bridge.
 *
 * Context: bottom halves off, or an RCU read section.
 */
bool frdma_adapter_numbers(struct net_device *ndev)
{
	struct netdev_nested_priv unused = { };

	return numbers(ndev, NULL) ||
	       netdev_walk_all_lower_dev_rcu(ndev, numbers, &unused);
}
