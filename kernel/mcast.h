/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Multicast: which queue pairs of a link are attached to which group. A link
 * is a member, in the eyes of IGMP and MLD, of each group that one of its
 * queue pairs is attached to.
 */
#ifndef FRDMA_MCAST_H
#define FRDMA_MCAST_H

#include <linux/rhashtable.h>
#include <rdma/ib_verbs.h>

#include "account.h"
#include "dev.h"

struct frdma_qp;

/*
 * Advertised: groups of a device, queue pairs of a group and of all. IP walks
 * lists of its groups, under RTNL; each datagram is copied for all queue pairs of
 * its group at once.
 */
#define FRDMA_MAX_MCAST_GRP	(1 << 13)
#define FRDMA_MAX_MCAST_QP	64
#define FRDMA_MAX_MCAST_ATTACH	(FRDMA_MAX_MCAST_GRP * FRDMA_MAX_MCAST_QP)

/**
 * struct frdma_member - a queue pair that is attached to a group
 * @entry: in the table of its device, by group; written under the device's
 *	mcast_lock, read under RCU
 * @mgid: the group
 * @qp: the queue pair, which cannot be destroyed while it is attached
 * @has_group: the group is charged to the user of this member. One member of each
 *	group has it. Under the device's mcast_lock
 * @charge: of the membership
 * @rcu: frees it
 */
struct frdma_member {
	struct rhlist_head entry;
	union ib_gid mgid;
	struct frdma_qp *qp;
	bool has_group;
	struct frdma_charge charge;
	struct rcu_head rcu;
};

/* In an RCU read section; @pos is a struct rhlist_head *. */
#define frdma_for_each_member(member, pos, dev, mgid)			\
	rhl_for_each_entry_rcu(member, pos,				\
			       frdma_mcast_members(dev, mgid), entry)

struct rhlist_head *frdma_mcast_members(struct frdma_dev *dev,
					const union ib_gid *mgid);
int frdma_mcast_init(struct frdma_dev *dev);
void frdma_mcast_destroy(struct frdma_dev *dev);

/* Verbs; contexts and returns as ib_core defines them. */
int frdma_attach_mcast(struct ib_qp *ib, union ib_gid *mgid, u16 mlid);
int frdma_detach_mcast(struct ib_qp *ib, union ib_gid *mgid, u16 mlid);

#endif /* FRDMA_MCAST_H */
