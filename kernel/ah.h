/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Where packets go: the address vector, by which queue pairs and address
 * handles describe a path, and address handles.
 */
#ifndef FRDMA_AH_H
#define FRDMA_AH_H

#include <rdma/ib_addr.h>
#include <rdma/ib_verbs.h>

#include "account.h"

struct frdma_dev;

/* Advertised: address handles of a device. */
#define FRDMA_MAX_AH		(1 << 20)

/**
 * struct frdma_av - what a packet needs to know of its path
 * @sgid: source address
 * @dgid: destination address
 * @net: RDMA_NETWORK_IPV4: both addresses are IPv4-mapped;
 *       RDMA_NETWORK_IPV6: both are IPv6
 * @ifindex: interface that owns @sgid: the device's own or one above it (a
 *           VLAN); where packets leave
 * @flow_label: 20 bits; 0: packets carry none, and queue pairs make their
 *              source port of their numbers
 * @sgid_index: of @sgid in the port's table, for queries
 * @hop_limit: TTL, never 0
 * @traffic_class: TOS
 * @sl: service level: priority of packets in this host
 * @static_rate: for queries; nothing is slowed down
 * @dmac: hardware address that the consumer resolved, for queries and for
 *        nothing else: packets ask the neighbour table
 *
 * Values only: no reference to the GID table entry, which may change or go
 * while the vector stays as it was made.
 */
struct frdma_av {
	union ib_gid sgid;
	union ib_gid dgid;
	enum rdma_network_type net;
	int ifindex;
	u32 flow_label;
	u8 sgid_index;
	u8 hop_limit;
	u8 traffic_class;
	u8 sl;
	u8 static_rate;
	u8 dmac[ETH_ALEN];
};

/** frdma_gid_ipv4() - the IPv4 address that a GID stands for */
static inline __be32 frdma_gid_ipv4(const union ib_gid *gid)
{
	return *(const __be32 *)&gid->raw[12];
}

/** frdma_gid_ipv6() - a GID as the IPv6 address that it is */
static inline struct in6_addr frdma_gid_ipv6(const union ib_gid *gid)
{
	struct in6_addr addr;

	memcpy(&addr, gid->raw, sizeof(addr));
	return addr;
}

/**
 * frdma_av_init() - judge an address attribute and copy what it says
 * @av: to be filled in, untouched on failure
 * @dev: the device
 * @attr: whose grh.sgid_attr the caller holds
 *
 * Context: any. Return: 0; -EINVAL if the port is not 1, there is no GRH, the
 * source is not a RoCE v2 GID, or source and destination are not of the same
 * network type; -ENODEV if the interface of the source is gone.
 */
int frdma_av_init(struct frdma_av *av, struct frdma_dev *dev,
		  const struct rdma_ah_attr *attr);

/**
 * frdma_av_to_attr() - the attribute an address vector was made from
 * @av: the vector
 * @attr: to be filled in; grh.sgid_attr is left NULL
 *
 * Context: any.
 */
void frdma_av_to_attr(const struct frdma_av *av, struct rdma_ah_attr *attr);

/**
 * frdma_av_sport() - UDP source port of packets along a path
 * @av: the path
 * @lqpn: local queue pair
 * @rqpn: remote queue pair
 *
 * Context: any. Return: host byte order, from the flow label if there is one
 * (A17.9.1), else from the queue pairs.
 */
static inline u16 frdma_av_sport(const struct frdma_av *av, u32 lqpn, u32 rqpn)
{
	return rdma_get_udp_sport(av->flow_label, lqpn, rqpn);
}

/**
 * struct frdma_ah - the driver's part of an address handle, freed by RCU
 * @num: in the device's table, by which a process names it; 0 for consumers
 *       in the kernel, who name it by pointer
 * @pd: protection domain, to be compared with the queue pair's
 * @av: the path. Constant with @num; otherwise modify_ah changes it, and the
 *      consumer keeps that apart from its posts.
 * @charge: of the handle
 * @rcu: delays the end
 */
struct frdma_ah {
	u32 num;
	struct ib_pd *pd;
	struct frdma_av av;
	struct frdma_charge charge;
	struct rcu_head rcu;
};

/**
 * struct frdma_ib_ah - an address handle, freed by ib_core
 * @ib: what ib_core knows of it
 * @ah: the driver's part
 */
struct frdma_ib_ah {
	struct ib_ah ib;
	struct frdma_ah *ah;
};

static inline struct frdma_ib_ah *to_frdma_ib_ah(struct ib_ah *ib)
{
	return container_of(ib, struct frdma_ib_ah, ib);
}

/**
 * frdma_ah_find() - the address handle that a process means
 * @dev: the device
 * @num: its number, any value; the caller compares the protection domain
 *
 * Context: in an RCU read section, for which the result is good. Return: NULL
 * if there is none.
 */
struct frdma_ah *frdma_ah_find(struct frdma_dev *dev, u32 num);

/* Verbs; contexts and returns as ib_core defines them. */
int frdma_create_ah(struct ib_ah *ib, struct rdma_ah_init_attr *attr,
		    struct ib_udata *udata);
int frdma_create_user_ah(struct ib_ah *ib, struct rdma_ah_init_attr *attr,
			 struct ib_udata *udata);
int frdma_modify_ah(struct ib_ah *ib, struct rdma_ah_attr *attr);
int frdma_query_ah(struct ib_ah *ib, struct rdma_ah_attr *attr);
int frdma_destroy_ah(struct ib_ah *ib, u32 flags);

#endif /* FRDMA_AH_H */
