/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Multicast: which queue pairs of a link are attached to which group. A link
 * is a member, in the eyes of IGMP and MLD, of each group that one of its
 * queue pairs is attached to.
 */
#ifndef FRDMA_MCAST_H
#define FRDMA_MCAST_H

#include <linux/hashtable.h>
#include <linux/jhash.h>
#include <rdma/ib_verbs.h>

#include "dev.h"

struct frdma_qp;

/* Advertised: groups of a device, queue pairs of a group and of all. */
#define FRDMA_MAX_MCAST_GRP	4096
#define FRDMA_MAX_MCAST_QP	4096
#define FRDMA_MAX_MCAST_ATTACH	4096

/**
 * struct frdma_member - a queue pair that is attached to a group
 * @entry: in the table of its device, by group; written under the device's
 *	mcast_lock, read under RCU
 * @mgid: the group
 * @qp: the queue pair, which cannot be destroyed while it is attached
 * @rcu: frees it
 */
struct frdma_member {
	struct hlist_node entry;
	union ib_gid mgid;
	struct frdma_qp *qp;
	struct rcu_head rcu;
};

/** frdma_mcast_key - where the members of a group are in the table */
static inline u32 frdma_mcast_key(const union ib_gid *mgid)
{
	return jhash(mgid, sizeof(*mgid), 0);
}

/** frdma_member_is_of - is it attached to that group */
static inline bool frdma_member_is_of(const struct frdma_member *member,
				      const union ib_gid *mgid)
{
	return !memcmp(&member->mgid, mgid, sizeof(*mgid));
}

/* In an RCU read section. */
#define frdma_for_each_member(member, dev, mgid)			\
	hash_for_each_possible_rcu((dev)->members, member, entry,	\
				   frdma_mcast_key(mgid))		\
		if (frdma_member_is_of(member, mgid))

void frdma_mcast_init(struct frdma_dev *dev);

/* Verbs; contexts and returns as ib_core defines them. */
int frdma_attach_mcast(struct ib_qp *ib, union ib_gid *mgid, u16 mlid);
int frdma_detach_mcast(struct ib_qp *ib, union ib_gid *mgid, u16 mlid);

#endif /* FRDMA_MCAST_H */
