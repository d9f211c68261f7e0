/* SPDX-License-Identifier: GPL-2.0 */
#ifndef FRDMA_NETDEV_H
#define FRDMA_NETDEV_H

#include <linux/netdevice.h>

void frdma_netdev_catch_up(struct net_device *ndev);

int frdma_netdev_init(void);
void frdma_netdev_exit(void);

#endif /* FRDMA_NETDEV_H */
