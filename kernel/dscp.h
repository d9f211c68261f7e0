/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Priorities of packets by their DSCP. Switches and adapters that trust the DSCP
 * take its upper three bits; where the administrator has given the interface a
 * table ("dcb app add dev eth0 dscp-prio 26:3"), that counts.
 */
#ifndef FRDMA_DSCP_H
#define FRDMA_DSCP_H

#include <linux/types.h>

struct net_device;

#define FRDMA_NR_DSCP	64

/**
 * struct frdma_dscp - what the table of an interface said last
 * @changes: of all tables, when it was read
 * @priority: by DSCP: one more than its priority; 0: the table has none
 *
 * Read and written without a lock: concurrent readers of the table write the same.
 */
struct frdma_dscp {
	u32 changes;
	u8 priority[FRDMA_NR_DSCP];
};

u32 frdma_dscp_priority(struct frdma_dscp *table, struct net_device *ndev,
			u8 dscp);
int frdma_dscp_init(void);
void frdma_dscp_exit(void);

#endif /* FRDMA_DSCP_H */
