/* SPDX-License-Identifier: GPL-2.0 */
/* What lies below the interface of a link, as far as trains are concerned. */
#ifndef FRDMA_ADAPTER_H
#define FRDMA_ADAPTER_H

#include <linux/types.h>

struct net_device;

bool frdma_adapter_numbers(struct net_device *ndev);
bool frdma_adapter_spoils(struct net_device *ndev);

#endif /* FRDMA_ADAPTER_H */
