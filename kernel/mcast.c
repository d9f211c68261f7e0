// SPDX-License-Identifier: GPL-2.0
#include <linux/igmp.h>
#include <linux/inetdevice.h>
#include <linux/rtnetlink.h>
#include <linux/slab.h>
#include <net/addrconf.h>
#include <net/ipv6.h>

#include "limit.h"
#include "mcast.h"
#include "qp.h"

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

/* Have IP take packets to the group, and the interface let them in. */
static int join(struct net_device *ndev, const union ib_gid *mgid)
{
	int err;

	rtnl_lock();
	err = mgid_is_ipv4(mgid) ? join_ipv4(ndev, mgid) :
				   join_ipv6(ndev, mgid);
	rtnl_unlock();
	return err;
}

/* Of an interface that is gone IP has forgotten it already. */
static void leave(struct net_device *ndev, const union ib_gid *mgid)
{
	rtnl_lock();
	if (mgid_is_ipv4(mgid))
		leave_ipv4(ndev, mgid);
	else
		leave_ipv6(ndev, mgid);
	rtnl_unlock();
}

/* That queue pair's membership; with no queue pair, anybody's. */
static struct frdma_member *find_member(struct frdma_dev *dev,
					const union ib_gid *mgid,
					const struct frdma_qp *qp)
{
	struct frdma_member *member;

	lockdep_assert_held(&dev->mcast_lock);
	hash_for_each_possible(dev->members, member, entry,
			       frdma_mcast_key(mgid))
		if (frdma_member_is_of(member, mgid) &&
		    (!qp || member->qp == qp))
			return member;
	return NULL;
}

static int add_member(struct frdma_dev *dev, struct frdma_member *member)
{
	int err = 0;

	if (find_member(dev, &member->mgid, member->qp))
		return -EINVAL;
	if (!find_member(dev, &member->mgid, NULL))
		err = join(dev->ndev, &member->mgid);
	if (err)
		return err;

	hash_add_rcu(dev->members, &member->entry,
		     frdma_mcast_key(&member->mgid));
	member->qp->nr_groups++;
	return 0;
}

/**
 * frdma_mcast_init - a link of which nothing is attached
 * @dev: being set up
 */
void frdma_mcast_init(struct frdma_dev *dev)
{
	mutex_init(&dev->mcast_lock);
	hash_init(dev->members);
}

/* ib_core has seen to it that it is a datagram queue pair, and a group. */
int frdma_attach_mcast(struct ib_qp *ib, union ib_gid *mgid, u16 mlid)
{
	struct frdma_dev *dev = to_frdma(ib->device);
	struct frdma_member *member;
	int err;

	if (!frdma_limit_take(&dev->nr_member, FRDMA_MAX_MCAST_ATTACH))
		return -ENOMEM;

	member = kzalloc(sizeof(*member), GFP_KERNEL_ACCOUNT);
	if (!member) {
		err = -ENOMEM;
		goto err_limit_give;
	}
	member->mgid = *mgid;
	member->qp = to_frdma_qp(ib);

	mutex_lock(&dev->mcast_lock);
	err = add_member(dev, member);
	mutex_unlock(&dev->mcast_lock);
	if (err)
		goto err_free;
	return 0;

err_free:
	kfree(member);
err_limit_give:
	frdma_limit_give(&dev->nr_member);
	return err;
}

int frdma_detach_mcast(struct ib_qp *ib, union ib_gid *mgid, u16 mlid)
{
	struct frdma_dev *dev = to_frdma(ib->device);
	struct frdma_member *member;

	mutex_lock(&dev->mcast_lock);
	member = find_member(dev, mgid, to_frdma_qp(ib));
	if (member) {
		hash_del_rcu(&member->entry);
		member->qp->nr_groups--;
		if (!find_member(dev, mgid, NULL))
			leave(dev->ndev, mgid);
	}
	mutex_unlock(&dev->mcast_lock);

	if (!member)
		return -EINVAL;
	kfree_rcu(member, rcu);
	frdma_limit_give(&dev->nr_member);
	return 0;
}
