// SPDX-License-Identifier: GPL-2.0
#include <linux/bitops.h>
#include <linux/minmax.h>
#include <linux/netdevice.h>
#include <linux/pkt_sched.h>
#include <net/dcbevent.h>
#include <net/dcbnl.h>
#include <rdma/ib_addr.h>

#include "dscp.h"

/* Changes of tables of all interfaces, from 1 on. */
static u32 dcb_changes = 1;

/* Of several priorities for one DSCP the highest counts, as in drivers. */
static void read_table(struct frdma_dscp *table, struct net_device *ndev)
{
	struct net_device *below = rdma_vlan_dev_real_dev(ndev) ?: ndev;
	struct dcb_ieee_app_dscp_map map = { };
	u32 changes = READ_ONCE(dcb_changes);
	unsigned int dscp;

	if (IS_ENABLED(CONFIG_DCB))
		dcb_ieee_getapp_dscp_prio_mask_map(below, &map);
	for (dscp = 0; dscp < FRDMA_NR_DSCP; dscp++)
		WRITE_ONCE(table->priority[dscp], fls(map.map[dscp]));
	WRITE_ONCE(table->changes, changes);
}

/**
 * frdma_dscp_priority - the priority of a packet
 * @table: of its link
 * @ndev: the interface of the link; the table is that of the one below a VLAN
 * @dscp: 0..63
 *
 * Context: bottom halves off. Return: what the interface's table says, or the upper
 * three bits of @dscp, but at most 6: sockets need CAP_NET_ADMIN for 7.
 */
u32 frdma_dscp_priority(struct frdma_dscp *table, struct net_device *ndev,
			u8 dscp)
{
	u8 entry;

	if (unlikely(READ_ONCE(table->changes) != READ_ONCE(dcb_changes)))
		read_table(table, ndev);
	entry = READ_ONCE(table->priority[dscp]);
	return entry ? entry - 1 : min(dscp >> 3, TC_PRIO_INTERACTIVE);
}

/* Names the interface by a number that is not unique: all tables are read anew. */
static int dcb_event(struct notifier_block *nb, unsigned long event, void *info)
{
	if (event == DCB_APP_EVENT)
		WRITE_ONCE(dcb_changes, dcb_changes + 1);
	return NOTIFY_OK;
}

static struct notifier_block dcb_notifier = {
	.notifier_call = dcb_event,
};

/**
 * frdma_dscp_init - be told of changed tables
 *
 * Context: module load. Return: 0; -errno.
 */
int __init frdma_dscp_init(void)
{
	return register_dcbevent_notifier(&dcb_notifier);
}

/** frdma_dscp_exit - end of what frdma_dscp_init() began; module exit */
void frdma_dscp_exit(void)
{
	unregister_dcbevent_notifier(&dcb_notifier);
}
