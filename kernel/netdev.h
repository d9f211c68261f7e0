/* SPDX-License-Identifier: GPL-2.0 */
#ifndef FRDMA_NETDEV_H
#define FRDMA_NETDEV_H

struct ib_device;

int frdma_netdev_catch_up(struct ib_device *ib);

int frdma_netdev_init(void);
void frdma_netdev_exit(void);

#endif /* FRDMA_NETDEV_H */
