// SPDX-License-Identifier: GPL-2.0
/*
 * What the device and its port say of themselves: queries and counters.
 */
#include <linux/ethtool.h>
#include <linux/module.h>
#include <linux/rtnetlink.h>
#include <linux/time64.h>
#include <rdma/ib_addr.h>
#include <rdma/ib_mad.h>
#include <rdma/ib_verbs.h>

#include "ah.h"
#include "counters.h"
#include "cq.h"
#include "dev.h"
#include "dm.h"
#include "gids.h"
#include "mcast.h"
#include "mr.h"
#include "mw.h"
#include "net.h"
#include "proto/wire.h"
#include "qp.h"
#include "srq.h"
#include "stats.h"
#include "uapi/frdma-abi.h"
#include "uctx.h"
#include "verbs_dev.h"

#define VENDOR_PART_ID	1

/* 4.096 us * 2^15 = 134 ms: the peer's acknowledgement may wait for a CPU. */
#define LOCAL_ACK_DELAY	15

/* Pinning counts pages in 32 bits. */
#define MAX_MR_BYTES	((u64)U32_MAX << PAGE_SHIFT)

/* Completions are stamped in nanoseconds. */
#define TIMESTAMP_KHZ	USEC_PER_SEC

/* Memory can be persistent only where its cache lines can be written back. */
#define FLUSH_PERSISTENT_CAP \
	(IS_ENABLED(CONFIG_ARCH_HAS_PMEM_API) ? IB_DEVICE_FLUSH_PERSISTENT : 0)

#define DEVICE_CAPS (IB_DEVICE_BAD_PKEY_CNTR | IB_DEVICE_BAD_QKEY_CNTR | \
		     IB_DEVICE_CURR_QP_STATE_MOD | IB_DEVICE_PORT_ACTIVE_EVENT | \
		     IB_DEVICE_SYS_IMAGE_GUID | IB_DEVICE_RC_RNR_NAK_GEN | \
		     IB_DEVICE_MEM_MGT_EXTENSIONS | IB_DEVICE_SRQ_RESIZE | \
		     IB_DEVICE_MEM_WINDOW | IB_DEVICE_MEM_WINDOW_TYPE_2B | \
		     IB_DEVICE_ATOMIC_WRITE | IB_DEVICE_FLUSH_GLOBAL | \
		     FLUSH_PERSISTENT_CAP | IB_DEVICE_XRC)

/* Connections, extended or not, are carried by the same engine. */
#define RC_ODP_CAPS (IB_ODP_SUPPORT_SEND | IB_ODP_SUPPORT_RECV | \
		     IB_ODP_SUPPORT_WRITE | IB_ODP_SUPPORT_READ | \
		     IB_ODP_SUPPORT_ATOMIC | IB_ODP_SUPPORT_SRQ_RECV | \
		     IB_ODP_SUPPORT_ATOMIC_WRITE | \
		     (IB_DEVICE_FLUSH_GLOBAL ? IB_ODP_SUPPORT_FLUSH : 0))

/* Limits: each is reached, or ends in -ENOMEM. What is missing here is 0. */
static const struct ib_device_attr device_limits = {
	.fw_ver				= (u64)FRDMA_VERSION_MAJOR << 32 |
					  FRDMA_VERSION_MINOR << 16 |
					  FRDMA_VERSION_PATCH,
	.max_mr_size			= MAX_MR_BYTES,
	.page_size_cap			= (u32)PAGE_MASK,
	.vendor_id			= FRDMA_VENDOR_ID,
	.vendor_part_id			= VENDOR_PART_ID,
	.device_cap_flags		= DEVICE_CAPS,
	.kernel_cap_flags		= IBK_ALLOW_USER_UNREG |
					  IBK_ON_DEMAND_PAGING,
	.max_qp				= FRDMA_MAX_QP,
	.max_qp_wr			= FRDMA_MAX_QP_WR,
	.max_send_sge			= FRDMA_MAX_SGE,
	.max_recv_sge			= FRDMA_MAX_SGE,
	.max_sge_rd			= FRDMA_MAX_SGE,
	.max_srq			= FRDMA_MAX_SRQ,
	.max_srq_wr			= FRDMA_MAX_SRQ_WR,
	.max_srq_sge			= FRDMA_MAX_SRQ_SGE,
	.max_cq				= FRDMA_MAX_CQ,
	.max_cqe			= FRDMA_MAX_CQE,
	.max_mr				= FRDMA_MAX_MR,
	.max_mw				= FRDMA_MAX_MW,
	.max_pd				= FRDMA_MAX_PD,
	.max_qp_rd_atom			= FRDMA_MAX_RD_ATOM,
	.max_res_rd_atom		= FRDMA_MAX_RD_ATOM * FRDMA_MAX_QP,
	.max_qp_init_rd_atom		= FRDMA_MAX_RD_ATOM,
	.atomic_cap			= IB_ATOMIC_GLOB,
	.max_mcast_grp			= FRDMA_MAX_MCAST_GRP,
	.max_mcast_qp_attach		= FRDMA_MAX_MCAST_QP,
	.max_total_mcast_qp_attach	= FRDMA_MAX_MCAST_ATTACH,
	.max_ah				= FRDMA_MAX_AH,
	.max_fast_reg_page_list_len	= FRDMA_MAX_FAST_REG_BLOCKS,
	.max_pkeys			= 1,
	.cq_caps = {
		.max_cq_moderation_count	= U16_MAX,
		.max_cq_moderation_period	= U16_MAX,
	},
	.timestamp_mask			= U64_MAX,
	.hca_core_clock			= TIMESTAMP_KHZ,
	.local_ca_ack_delay		= LOCAL_ACK_DELAY,
	.max_dm_size			= FRDMA_MAX_DM_BYTES,
	.odp_caps			= {
		.general_caps		= IB_ODP_SUPPORT |
					  IB_ODP_SUPPORT_IMPLICIT,
		.per_transport_caps	= {
			.rc_odp_caps	= RC_ODP_CAPS,
			.uc_odp_caps	= IB_ODP_SUPPORT_SEND,
			.ud_odp_caps	= IB_ODP_SUPPORT_SEND,
			.xrc_odp_caps	= RC_ODP_CAPS,
		},
	},
};

/**
 * frdma_query_device - capabilities and limits
 * @ib: device
 * @attr: where to
 * @udata: driver data of a process, of which there is none; may be NULL
 *
 * Context: verb; also from within ib_register_device().
 * Return: 0, -EOPNOTSUPP or -EFAULT.
 */
int frdma_query_device(struct ib_device *ib, struct ib_device_attr *attr,
		       struct ib_udata *udata)
{
	*attr = device_limits;
	attr->max_qp_rd_atom = READ_ONCE(to_frdma(ib)->max_reads);
	attr->max_qp_init_rd_atom = attr->max_qp_rd_atom;
	attr->sys_image_guid = ib->node_guid;
	return frdma_no_driver_data(udata);
}

/**
 * frdma_modify_device - change the node description
 * @ib: device
 * @mask: IB_DEVICE_MODIFY_*
 * @attr: new values
 *
 * Context: verb.
 * Return: 0; -EOPNOTSUPP for anything but the description.
 */
int frdma_modify_device(struct ib_device *ib, int mask,
			struct ib_device_modify *attr)
{
	if (mask & ~IB_DEVICE_MODIFY_NODE_DESC)
		return -EOPNOTSUPP;

	if (mask & IB_DEVICE_MODIFY_NODE_DESC)
		memcpy(ib->node_desc, attr->node_desc, sizeof(ib->node_desc));
	return 0;
}

/**
 * frdma_get_dev_fw_str - "firmware": the module's version
 * @ib: device
 * @str: IB_FW_VERSION_NAME_MAX bytes
 *
 * Context: verb.
 */
void frdma_get_dev_fw_str(struct ib_device *ib, char *str)
{
	strscpy(str, THIS_MODULE->version, IB_FW_VERSION_NAME_MAX);
}

/* Speeds of Ethernet, in Mb/s, as InfiniBand words. */
static const struct {
	u32 mbps;
	u16 speed;
	u8 width;
} link_speeds[] = {
	{ SPEED_1000,	IB_SPEED_SDR,	IB_WIDTH_1X },
	{ SPEED_10000,	IB_SPEED_FDR10,	IB_WIDTH_1X },
	{ SPEED_20000,	IB_SPEED_DDR,	IB_WIDTH_4X },
	{ SPEED_25000,	IB_SPEED_EDR,	IB_WIDTH_1X },
	{ SPEED_40000,	IB_SPEED_FDR10,	IB_WIDTH_4X },
	{ SPEED_50000,	IB_SPEED_HDR,	IB_WIDTH_1X },
	{ SPEED_100000,	IB_SPEED_EDR,	IB_WIDTH_4X },
	{ SPEED_200000,	IB_SPEED_HDR,	IB_WIDTH_4X },
	{ SPEED_400000,	IB_SPEED_NDR,	IB_WIDTH_4X },
};

/*
 * ib_get_eth_speed() would do, but logs a line per query of an interface that
 * does not know its speed, as most virtual ones do not.
 */
static u32 link_mbps(struct net_device *ndev)
{
	struct ethtool_link_ksettings settings;
	int err = -ENODEV;

	rtnl_lock();
	if (ndev->reg_state == NETREG_REGISTERED)
		err = __ethtool_get_link_ksettings(ndev, &settings);
	rtnl_unlock();

	if (err || settings.base.speed == (u32)SPEED_UNKNOWN)
		return SPEED_1000;
	return settings.base.speed;
}

static void fill_link_speed(struct ib_port_attr *attr, u32 mbps)
{
	unsigned int i = 0;

	while (i < ARRAY_SIZE(link_speeds) - 1 && link_speeds[i].mbps < mbps)
		i++;
	attr->active_speed = link_speeds[i].speed;
	attr->active_width = link_speeds[i].width;
}

/* IPv6, UDP, BTH, XRCETH, RETH, immediate data, ICRC: the most around payload. */
#define MAX_HEADERS_LEN	(40 + 8 + 12 + 4 + 16 + 4 + FRDMA_ICRC_LEN)

/**
 * frdma_active_mtu - the largest path MTU that the interface carries now
 * @dev: device
 *
 * Context: any.
 */
enum ib_mtu frdma_active_mtu(const struct frdma_dev *dev)
{
	unsigned int mtu = READ_ONCE(dev->ndev->mtu);
	enum ib_mtu fits = IB_MTU_4096;

	while (fits > IB_MTU_256 &&
	       ib_mtu_enum_to_int(fits) + MAX_HEADERS_LEN > mtu)
		fits--;
	return fits;
}

static enum ib_port_phys_state link_phys_state(struct net_device *ndev)
{
	if (!netif_running(ndev))
		return IB_PORT_PHYS_STATE_DISABLED;
	if (!netif_carrier_ok(ndev))
		return IB_PORT_PHYS_STATE_POLLING;
	return IB_PORT_PHYS_STATE_LINK_UP;
}

/* Violations of keys: 16 bits, which stay at their highest value (14.2.5.6). */
static u32 violations(const struct frdma_stats *sum,
			    enum frdma_drop_reason why)
{
	return min_t(u64, sum->dropped[why], U16_MAX);
}

/**
 * frdma_query_port - state, MTU, speed and tables of the port
 * @ib: device
 * @port: 1
 * @attr: where to, zeroed
 *
 * Context: verb; takes RTNL.
 * Return: 0.
 */
int frdma_query_port(struct ib_device *ib, u32 port, struct ib_port_attr *attr)
{
	struct frdma_dev *dev = to_frdma(ib);
	struct net_device *ndev = dev->ndev;
	struct frdma_stats sum;

	frdma_counters_sum(dev, &sum);
	attr->bad_pkey_cntr = violations(&sum, FRDMA_DROP_BAD_PKEY);
	attr->qkey_viol_cntr = violations(&sum, FRDMA_DROP_BAD_QKEY);
	attr->state = ib_get_curr_port_state(ndev);
	attr->phys_state = link_phys_state(ndev);
	attr->max_mtu = IB_MTU_4096;
	attr->active_mtu = frdma_active_mtu(dev);
	attr->gid_tbl_len = FRDMA_MAX_GIDS;
	attr->pkey_tbl_len = 1;
	attr->port_cap_flags = IB_PORT_CM_SUP;
	attr->ip_gids = true;
	attr->max_msg_sz = FRDMA_MSG_MAX;
	attr->max_vl_num = 1;
	fill_link_speed(attr, link_mbps(ndev));
	return 0;
}

/**
 * frdma_query_port_speed - what the interface carries
 * @ib: device
 * @port: 1
 * @speed: set, in units of 100 Mb/s
 *
 * Exact where frdma_query_port() has to choose among InfiniBand's speeds.
 *
 * Context: verb; takes RTNL.
 * Return: 0.
 */
int frdma_query_port_speed(struct ib_device *ib, u32 port, u64 *speed)
{
	*speed = link_mbps(to_frdma(ib)->ndev) / 100;
	return 0;
}

/**
 * frdma_modify_port - accept what a RoCE port has nothing to do for
 * @ib: device
 * @port: 1
 * @mask: IB_PORT_*
 * @attr: new values
 *
 * The connection manager sets a capability bit, which is always set here. The
 * counter of Q_Key violations stays as it is: nobody resets counters here.
 *
 * Context: verb.
 * Return: 0; -EOPNOTSUPP for what belongs to InfiniBand's subnet management.
 */
int frdma_modify_port(struct ib_device *ib, u32 port, int mask,
		      struct ib_port_modify *attr)
{
	if (attr->clr_port_cap_mask & IB_PORT_CM_SUP ||
	    attr->set_port_cap_mask & ~IB_PORT_CM_SUP)
		return -EOPNOTSUPP;
	return 0;
}

/**
 * frdma_get_port_immutable - what never changes of the port
 * @ib: device
 * @port: 1
 * @attr: where to
 *
 * RoCE v2 only: so the core makes no GIDs of version 1.
 *
 * Context: within ib_register_device().
 * Return: 0.
 */
int frdma_get_port_immutable(struct ib_device *ib, u32 port,
			     struct ib_port_immutable *attr)
{
	attr->core_cap_flags = RDMA_CORE_PORT_IBA_ROCE_UDP_ENCAP;
	attr->gid_tbl_len = FRDMA_MAX_GIDS;
	attr->pkey_tbl_len = 1;
	attr->max_mad_size = IB_MGMT_MAD_SIZE;
	return 0;
}

/**
 * frdma_get_link_layer - Ethernet
 * @ib: device
 * @port: 1
 *
 * Context: verb.
 * Return: IB_LINK_LAYER_ETHERNET.
 */
enum rdma_link_layer frdma_get_link_layer(struct ib_device *ib, u32 port)
{
	return IB_LINK_LAYER_ETHERNET;
}

/**
 * frdma_port_netdev - the interface that stands for the port
 * @dev: device
 *
 * The core gives a port the addresses of its interface and of what is above
 * it, but those of a VLAN only to the interface below: this one then stands
 * for the port, and the link has its addresses, too.
 *
 * Context: any.
 */
struct net_device *frdma_port_netdev(const struct frdma_dev *dev)
{
	return rdma_vlan_dev_real_dev(dev->ndev) ?: dev->ndev;
}

/**
 * frdma_get_netdev - the same for the core
 * @ib: device
 * @port: 1
 *
 * It was told with ib_device_set_netdev(), but SMC-R of older kernels asks
 * nobody but the driver.
 *
 * Context: any.
 * Return: the interface, to be given to dev_put().
 */
struct net_device *frdma_get_netdev(struct ib_device *ib, u32 port)
{
	struct net_device *ndev = frdma_port_netdev(to_frdma(ib));

	dev_hold(ndev);
	return ndev;
}

/**
 * frdma_query_pkey - the one partition key of RoCE (A17.4.7)
 * @ib: device
 * @port: 1
 * @index: 0
 * @pkey: where to
 *
 * Context: verb.
 * Return: 0; -EINVAL beyond the table.
 */
int frdma_query_pkey(struct ib_device *ib, u32 port, u16 index, u16 *pkey)
{
	if (index)
		return -EINVAL;

	*pkey = FRDMA_PKEY_DEFAULT;
	return 0;
}

/**
 * frdma_get_hw_stats - the counters of the port
 * @ib: device
 * @stats: from frdma_alloc_hw_port_stats()
 * @port: 1; 0 for the device, which has none of its own
 * @index: counter asked for; all are filled in
 *
 * Context: verb.
 * Return: number of counters.
 */
int frdma_get_hw_stats(struct ib_device *ib, struct rdma_hw_stats *stats,
		       u32 port, int index)
{
	struct frdma_dev *dev = to_frdma(ib);

	if (!port)
		return -EINVAL;

	memset(stats->value, 0, stats->num_counters * sizeof(*stats->value));
	frdma_stats_add(stats->value, dev->stats);
	frdma_net_read_stats(dev->net, stats->value);
	return stats->num_counters;
}
