/* SPDX-License-Identifier: GPL-2.0 */
#ifndef FRDMA_OFFLOAD_H
#define FRDMA_OFFLOAD_H

struct net_device;

void frdma_offload_warn(const char *name, struct net_device *ndev);

#endif /* FRDMA_OFFLOAD_H */
