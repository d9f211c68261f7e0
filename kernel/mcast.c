// SPDX-License-Identifier: GPL-2.0
#include <linux/igmp.h>
#include <linux/inetdevice.h>
#include <linux/rtnetlink.h>
#include <linux/slab.h>
#include <net/addrconf.h>
#include <net/ipv6.h>

#include "limit.h"
#include "mcast.h"
#include "net.h"
#include "qp.h"

static const struct rhashtable_params members_params = {
	.key_len		= sizeof(union ib_gid),
	.key_offset		= offsetof(struct frdma_member, mgid),
	.head_offset		= offsetof(struct frdma_member, entry),
	.automatic_shrinking	= true,
};

static bool mgid_is_ipv4(const union ib_gid *mgid)
{
	return ipv6_addr_v4mapped((const struct in6_addr *)mgid);
}

static int join_ipv4(struct net_device *ndev, const union ib_gid *mgid)
{
	struct in_device *in_dev = __in_dev_get_rtnl(ndev);

	if (!in_dev)
		return -ENODEV;
	ip_mc_inc_group(in_dev, *(const __be32 *)&mgid->raw[12]);
	return 0;
}

static void leave_ipv4(struct net_device *ndev, const union ib_gid *mgid)
{
	struct in_device *in_dev = __in_dev_get_rtnl(ndev);

	if (in_dev)
		ip_mc_dec_group(in_dev, *(const __be32 *)&mgid->raw[12]);
}

#if IS_ENABLED(CONFIG_IPV6)
static int join_ipv6(struct net_device *ndev, const union ib_gid *mgid)
{
	return ipv6_dev_mc_inc(ndev, (const struct in6_addr *)mgid);
}

static void leave_ipv6(struct net_device *ndev, const union ib_gid *mgid)
{
	ipv6_dev_mc_dec(ndev, (const struct in6_addr *)mgid);
}
#else
static int join_ipv6(struct net_device *ndev, const union ib_gid *mgid)
{
	return -EAFNOSUPPORT;
}

static void leave_ipv6(struct net_device *ndev, const union ib_gid *mgid)
{
}
#endif

/*
 * Have IP take packets to a group that is new here, and the interface let them
 * in.
 */
static int join(struct frdma_dev *dev, const union ib_gid *mgid)
{
	int err = -ENODEV;

	lockdep_assert_held(&dev->mcast_lock);

	rtnl_lock();
	if (frdma_net_is_home(dev))
		err = mgid_is_ipv4(mgid) ? join_ipv4(dev->ndev, mgid) :
					   join_ipv6(dev->ndev, mgid);
	rtnl_unlock();
	return err;
}

/*
 * Of an interface that is gone IP has forgotten it already. One that has moved
 * to another namespace may be in the same group there, for others.
 */
static void leave(struct frdma_dev *dev, const union ib_gid *mgid)
{
	lockdep_assert_held(&dev->mcast_lock);

	rtnl_lock();
	if (!frdma_net_is_home(dev))
		goto out;
	if (mgid_is_ipv4(mgid))
		leave_ipv4(dev->ndev, mgid);
	else
		leave_ipv6(dev->ndev, mgid);
out:
	rtnl_unlock();
}

/**
 * frdma_mcast_members - the first member of a group
 * @dev: device
 * @mgid: the group
 *
 * Context: RCU read section, which is all that keeps the result alive.
 * Return: its entry, with the other members behind it; NULL if there is none.
 */
struct rhlist_head *frdma_mcast_members(struct frdma_dev *dev,
					const union ib_gid *mgid)
{
	return rhltable_lookup(&dev->members, mgid, members_params);
}

/* That queue pair's membership, which lasts as long as the lock is held. */
static struct frdma_member *find_member(struct frdma_dev *dev,
					const union ib_gid *mgid,
					const struct frdma_qp *qp)
{
	struct frdma_member *member, *found = NULL;
	struct rhlist_head *pos;

	lockdep_assert_held(&dev->mcast_lock);

	rcu_read_lock();
	frdma_for_each_member(member, pos, dev, mgid) {
		if (member->qp == qp) {
			found = member;
			break;
		}
	}
	rcu_read_unlock();

	return found;
}

static bool has_members(struct frdma_dev *dev, const union ib_gid *mgid)
{
	bool has;

	rcu_read_lock();
	has = frdma_mcast_members(dev, mgid);
	rcu_read_unlock();

	return has;
}

static unsigned int count_members(struct frdma_dev *dev,
				  const union ib_gid *mgid)
{
	struct frdma_member *member;
	struct rhlist_head *pos;
	unsigned int nr = 0;

	rcu_read_lock();
	frdma_for_each_member(member, pos, dev, mgid)
		nr++;
	rcu_read_unlock();

	return nr;
}

/* An unprivileged user gets half of the places that others left in a group. */
static bool has_share(struct frdma_dev *dev,
		      const struct frdma_member *member, unsigned int nr)
{
	const struct frdma_account *account = member->charge.account;
	const struct frdma_member *other;
	struct rhlist_head *pos;
	unsigned int own = 0;

	if (!account || !account->limited)
		return true;

	rcu_read_lock();
	frdma_for_each_member(other, pos, dev, &member->mgid)
		own += other->charge.account == account;
	rcu_read_unlock();

	return own < (FRDMA_MAX_MCAST_QP - (nr - own)) / 2;
}

/* The group is charged to the user of its first member. */
static int open_group(struct frdma_dev *dev, struct frdma_member *member)
{
	struct frdma_account *account = member->charge.account;
	int err;

	if (!frdma_pool_take(account, FRDMA_POOL_GROUPS, &dev->nr_groups,
			     FRDMA_MAX_MCAST_GRP, 1))
		return -ENOMEM;
	err = join(dev, &member->mgid);
	if (err)
		frdma_pool_give(account, FRDMA_POOL_GROUPS, &dev->nr_groups, 1);
	else
		member->has_group = true;
	return err;
}

/* @member was the last one. */
static void close_group(struct frdma_dev *dev, struct frdma_member *member)
{
	leave(dev, &member->mgid);
	frdma_pool_give(member->charge.account, FRDMA_POOL_GROUPS,
			&dev->nr_groups, 1);
}

/* Charge the group to the user of another member. */
static void pass_group_on(struct frdma_dev *dev, struct frdma_member *member)
{
	struct frdma_member *heir;
	struct rhlist_head *pos;

	rcu_read_lock();
	frdma_for_each_member(heir, pos, dev, &member->mgid) {
		heir->has_group = true;
		frdma_pool_move(member->charge.account, heir->charge.account,
				FRDMA_POOL_GROUPS, 1);
		break;
	}
	rcu_read_unlock();
}

static int add_member(struct frdma_dev *dev, struct frdma_member *member)
{
	unsigned int nr = count_members(dev, &member->mgid);
	int err;

	if (find_member(dev, &member->mgid, member->qp))
		return -EINVAL;
	if (nr >= FRDMA_MAX_MCAST_QP || !has_share(dev, member, nr))
		return -ENOMEM;
	if (!nr) {
		err = open_group(dev, member);
		if (err)
			return err;
	}

	err = rhltable_insert(&dev->members, &member->entry, members_params);
	if (err) {
		if (!nr)
			close_group(dev, member);
		return -ENOMEM;
	}
	member->qp->nr_groups++;
	return 0;
}

static void remove_member(struct frdma_dev *dev, struct frdma_member *member)
{
	rhltable_remove(&dev->members, &member->entry, members_params);
	member->qp->nr_groups--;
	if (!has_members(dev, &member->mgid))
		close_group(dev, member);
	else if (member->has_group)
		pass_group_on(dev, member);
}

/**
 * frdma_mcast_init - a link of which nothing is attached
 * @dev: being set up
 *
 * Context: may sleep. Return: 0; -ENOMEM.
 */
int frdma_mcast_init(struct frdma_dev *dev)
{
	mutex_init(&dev->mcast_lock);
	return rhltable_init(&dev->members, &members_params);
}

/**
 * frdma_mcast_destroy - the end of that
 * @dev: of which nothing is attached any more
 *
 * Context: may sleep.
 */
void frdma_mcast_destroy(struct frdma_dev *dev)
{
	rhltable_destroy(&dev->members);
}

/* ib_core has seen to it that it is a datagram queue pair, and a group. */
int frdma_attach_mcast(struct ib_qp *ib, union ib_gid *mgid, u16 mlid)
{
	struct frdma_dev *dev = to_frdma(ib->device);
	struct frdma_qp *qp = to_frdma_qp(ib);
	struct frdma_member *member;
	struct frdma_charge charge;
	int err;

	if (!frdma_limit_take(&dev->nr_member, FRDMA_MAX_MCAST_ATTACH,
			      FRDMA_POOL_MEMBERS,
			      &charge, qp->charge.account, sizeof(*member)))
		return -ENOMEM;

	member = kzalloc(sizeof(*member), FRDMA_GFP_OBJECT);
	if (!member) {
		err = -ENOMEM;
		goto err_limit_give;
	}
	member->mgid = *mgid;
	member->qp = qp;
	member->charge = charge;

	mutex_lock(&dev->mcast_lock);
	err = add_member(dev, member);
	mutex_unlock(&dev->mcast_lock);
	if (err)
		goto err_free;
	return 0;

err_free:
	kfree(member);
err_limit_give:
	frdma_limit_give(&dev->nr_member, FRDMA_POOL_MEMBERS, &charge);
	return err;
}

int frdma_detach_mcast(struct ib_qp *ib, union ib_gid *mgid, u16 mlid)
{
	struct frdma_dev *dev = to_frdma(ib->device);
	struct frdma_member *member;

	mutex_lock(&dev->mcast_lock);
	member = find_member(dev, mgid, to_frdma_qp(ib));
	if (member)
		remove_member(dev, member);
	mutex_unlock(&dev->mcast_lock);

	if (!member)
		return -EINVAL;
	frdma_limit_give(&dev->nr_member, FRDMA_POOL_MEMBERS, &member->charge);
	kfree_rcu(member, rcu);
	return 0;
}
