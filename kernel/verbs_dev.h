/* SPDX-License-Identifier: GPL-2.0 */
#ifndef FRDMA_VERBS_DEV_H
#define FRDMA_VERBS_DEV_H

#include <rdma/ib_verbs.h>

/* The module's version, which queries show as that of a firmware. */
#define FRDMA_VERSION_MAJOR	0
#define FRDMA_VERSION_MINOR	1
#define FRDMA_VERSION_PATCH	0

/* Advertised: queue pairs of a device; work requests, SGEs, reads of one. */
#define FRDMA_MAX_QP		(1 << 20)
#define FRDMA_MAX_QP_WR		(1 << 20)
#define FRDMA_MAX_SGE		32
#define FRDMA_MAX_RD_ATOM	128

struct frdma_dev;

int frdma_query_device(struct ib_device *ib, struct ib_device_attr *attr,
		       struct ib_udata *udata);
int frdma_modify_device(struct ib_device *ib, int mask,
			struct ib_device_modify *attr);
void frdma_get_dev_fw_str(struct ib_device *ib, char *str);

int frdma_query_port(struct ib_device *ib, u32 port,
		     struct ib_port_attr *attr);
int frdma_query_port_speed(struct ib_device *ib, u32 port, u64 *speed);
int frdma_modify_port(struct ib_device *ib, u32 port, int mask,
		      struct ib_port_modify *attr);
int frdma_get_port_immutable(struct ib_device *ib, u32 port,
			     struct ib_port_immutable *attr);
enum ib_mtu frdma_active_mtu(const struct frdma_dev *dev);
struct net_device *frdma_port_netdev(const struct frdma_dev *dev);
struct net_device *frdma_get_netdev(struct ib_device *ib, u32 port);
enum rdma_link_layer frdma_get_link_layer(struct ib_device *ib, u32 port);
int frdma_query_pkey(struct ib_device *ib, u32 port, u16 index, u16 *pkey);
int frdma_get_hw_stats(struct ib_device *ib, struct rdma_hw_stats *stats,
		       u32 port, int index);

#endif /* FRDMA_VERBS_DEV_H */
