/* SPDX-License-Identifier: GPL-2.0 */
#ifndef FRDMA_DEV_H
#define FRDMA_DEV_H

#include <linux/hrtimer.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/netdevice.h>
#include <linux/rhashtable-types.h>
#include <linux/xarray.h>
#include <rdma/ib_verbs.h>
#include <rdma/rdma_netlink.h>

#include "dscp.h"
#include "gids.h"
#include "poller.h"

struct frdma_net;
struct frdma_qp;
struct frdma_stats;

/**
 * struct frdma_dev - one link: an RDMA device on a network interface
 * @ib: what ib_core knows of it; freed with the whole by ib_dealloc_device()
 * @entry: in the list of all links; links_lock (dev.c)
 * @ndev: the interface, held from link add until the last reference to @ib
 *        is gone. Its namespace is the one in which packets travel.
 * @ndev_tracker: the reference behind @ndev
 * @net: @ndev's namespace when the link was added; held as long as @ndev
 * @net_entry: in the list of @net's links (net.c)
 * @mrs: struct frdma_mr, windows too; see frdma_mr_named(). Writers take its lock, readers RCU
 * @mrs_next: where the search for a free key goes on; under the lock of @mrs
 * @ahs: struct frdma_ah by number; writers take its lock, readers RCU
 * @ahs_next: where the search for a free number goes on; likewise
 * @srqs: struct frdma_srq of extended reliable connections, by number; writers
 *        take its lock, readers RCU
 * @srqs_next: where the search for a free number goes on; likewise
 * @gsi_qp: queue pair 1, read under RCU; NULL while there is none. Set by
 *          cmpxchg, since a second one is refused
 * @mcast_lock: guards changes of @members; RTNL is taken inside
 * @members: struct frdma_member, which queue pairs are in which multicast
 *           group; read under RCU
 * @nr_groups: how many groups that are; written under @mcast_lock
 * @stats: per-CPU counters, see stats.h
 * @counters: struct frdma_qp_counter by number
 * @counters_next: where to look for a number that is free; by xa_alloc_cyclic()
 * @counters_past: what those counted that are no more
 * @counters_mutex: a counter is added up, or leaves @counters for
 *                  @counters_past
 * @loopback: packets to this device's own queue pairs are not made; read and
 *	written without a lock
 * @trains: packets are sent in trains; likewise
 * @ecn: packets of reliable connections are ECN-capable; read and written without a
 *	lock, as are @cnp_dscp and @cnp_priority
 * @cnp_dscp: DSCP of congestion notifications
 * @cnp_priority: priority of congestion notifications
 * @dscp: priorities of all other packets
 * @check_interface: a packet has to arrive by the interface that has its
 *	destination address; read and written without a lock
 * @guard: a process needs CAP_NET_RAW to send UDP to the RoCE port; read and
 *	written without a lock
 * @gather_us: interval in which requests of processes are looked for that come one
 *	by one, in microseconds; 0: all are to be rung for; likewise
 * @max_reads: READs and atomics of a connection at a time, as advertised; read and
 *	written without a lock
 * @nr_odp: memory regions alive whose memory is not pinned, of all protection
 *	domains
 * @gids: its addresses
 * @poller: takes what processes post to their send queues; here ends what packets
 *	and posts read, and seldom changes
 * @going: the core is about to wait for the end of all verbs, so none waits
 *	for on-demand pages of a process. ib_umem_get() and
 *	copy_to_user() may still wait for a process. Written by frdma_client
 * @port_active: what the port was last reported to be; written under RTNL
 * @nr_qp: queue pairs alive, against the advertised maximum
 * @nr_cq: completion queues alive
 * @nr_srq: shared receive queues alive
 * @nr_mr: memory regions alive
 * @nr_mw: memory windows alive
 * @dm_bytes: device memory given out
 * @ahead_bytes: memory of requests and answers that are ahead of their turn (ahead.h),
 *	of trains that the host had no room for (unsent.h), and of packets that
 *	wait for an owner (run.h)
 * @nr_ah: address handles alive
 * @nr_member: queue pairs attached to multicast groups
 * @nr_pd: protection domains alive
 * @nr_xrcd: domains of extended reliable connections alive
 * @nr_uctx: contexts alive
 */
struct frdma_dev {
	struct ib_device ib;
	struct list_head entry;
	struct net_device *ndev;
	netdevice_tracker ndev_tracker;
	struct frdma_net *net;
	struct list_head net_entry;
	struct xarray mrs;
	u32 mrs_next;
	struct xarray ahs;
	u32 ahs_next;
	struct xarray srqs;
	u32 srqs_next;
	struct frdma_qp __rcu *gsi_qp;
	struct mutex mcast_lock;
	struct rhltable members;
	atomic_t nr_groups;
	struct frdma_stats __percpu *stats;
	struct xarray counters;
	u32 counters_next;
	struct frdma_stats *counters_past;
	struct mutex counters_mutex;
	bool loopback;
	bool trains;
	bool ecn;
	u8 cnp_dscp;
	u8 cnp_priority;
	struct frdma_dscp dscp;
	bool check_interface;
	bool guard;
	u32 gather_us;
	u8 max_reads;
	atomic_t nr_odp;
	struct frdma_gids gids;
	struct frdma_poller poller;
	bool going;
	bool port_active;
	atomic_t nr_qp;
	atomic_t nr_cq;
	atomic_t nr_srq;
	atomic_t nr_mr;
	atomic_t nr_mw;
	atomic_t dm_bytes;
	atomic_t ahead_bytes;
	atomic_t nr_ah;
	atomic_t nr_member;
	atomic_t nr_pd;
	atomic_t nr_xrcd;
	atomic_t nr_uctx;
};

static inline struct frdma_dev *to_frdma(struct ib_device *ib)
{
	return container_of(ib, struct frdma_dev, ib);
}

/*
 * @cnp_dscp and @cnp_priority of new links: CS6 (network control) and its
 * priority, as adapters have them.
 */
#define FRDMA_CNP_DSCP		48
#define FRDMA_CNP_PRIORITY	6

/* @gather_us of new links, and the most that it can be. */
#define FRDMA_GATHER_US		16
#define FRDMA_GATHER_US_MAX	1000

/**
 * frdma_gather_ns - that interval now
 * @dev: device
 *
 * Return: nanoseconds; 0 also where the poller looks anyway, and where timers are
 * too coarse, or always wait for tasks.
 */
static inline u32 frdma_gather_ns(const struct frdma_dev *dev)
{
	u32 ns = READ_ONCE(dev->gather_us) * NSEC_PER_USEC;

	if (IS_ENABLED(CONFIG_PREEMPT_RT) || READ_ONCE(dev->poller.us) ||
	    ns < hrtimer_resolution)
		return 0;
	return ns;
}

struct frdma_dev *frdma_dev_get_by_netdev(const struct net_device *ndev);

/* What "rdma link add ... type frdma" calls. */
extern struct rdma_link_ops frdma_link_ops;

/* Is told when a link begins to go. */
extern struct ib_client frdma_client;

#endif /* FRDMA_DEV_H */
