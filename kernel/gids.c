// SPDX-License-Identifier: GPL-2.0
#include "gids.h"

#include <linux/bitmap.h>
#include <linux/netdevice.h>
#include <linux/string.h>

#include "dev.h"

/**
 * frdma_gids_init - none yet
 * @dev: link
 */
void frdma_gids_init(struct frdma_dev *dev)
{
	seqlock_init(&dev->gids.lock);
}

static bool find(const struct frdma_gids *gids, const union ib_gid *gid)
{
	u32 i;

	for_each_set_bit(i, gids->used, gids->end)
		if (!memcmp(&gids->gid[i], gid, sizeof(*gid)))
			return true;
	return false;
}

/**
 * frdma_gids_have - is an address one of a link's
 * @dev: link
 * @gid: address, as a GID
 *
 * Context: any but hard interrupts, and not between frdma_crc_begin() and
 * frdma_crc_end(): on PREEMPT_RT it takes the lock while an address comes or goes.
 */
bool frdma_gids_have(struct frdma_dev *dev, const union ib_gid *gid)
{
	struct frdma_gids *gids = &dev->gids;
	unsigned int seq;
	bool found;

	do {
		seq = read_seqbegin(&gids->lock);
		found = find(gids, gid);
	} while (read_seqretry(&gids->lock, seq));
	return found;
}

/**
 * frdma_gids_come_by - may packets to an address arrive by an interface
 * @dev: link
 * @owner: index of the interface that has the address
 * @ifindex: index of the interface of arrival
 *
 * A bridge, bond, team or VRF receives for the interfaces below it, which may
 * have kept their addresses. A VLAN or a macvlan receives for itself only.
 *
 * Context: in an RCU read section.
 */
bool frdma_gids_come_by(const struct frdma_dev *dev, int owner, int ifindex)
{
	struct net_device *ndev;

	if (likely(owner == ifindex))
		return true;
	ndev = dev_get_by_index_rcu(dev_net(dev->ndev), owner);
	while (ndev && ndev->ifindex != ifindex)
		ndev = netdev_master_upper_dev_get_rcu(ndev);
	return ndev;
}

static bool find_on(struct frdma_dev *dev, const union ib_gid *gid, int ifindex)
{
	const struct frdma_gids *gids = &dev->gids;
	u32 i;

	for_each_set_bit(i, gids->used, gids->end)
		if (!memcmp(&gids->gid[i], gid, sizeof(*gid)) &&
		    frdma_gids_come_by(dev, gids->ifindex[i], ifindex))
			return true;
	return false;
}

/**
 * frdma_gids_have_on - may packets to an address of a link arrive by an interface
 * @dev: link
 * @gid: address, as a GID; several interfaces may have the same
 * @ifindex: index of the interface of arrival
 *
 * Context: as frdma_gids_have(), and in an RCU read section.
 */
bool frdma_gids_have_on(struct frdma_dev *dev, const union ib_gid *gid,
			int ifindex)
{
	struct frdma_gids *gids = &dev->gids;
	unsigned int seq;
	bool found;

	do {
		seq = read_seqbegin(&gids->lock);
		found = find_on(dev, gid, ifindex);
	} while (read_seqretry(&gids->lock, seq));
	return found;
}

/* The core lists addresses of interfaces in other namespaces, too. */
static int ifindex_of(const struct ib_gid_attr *attr)
{
	const struct net *net = dev_net(to_frdma(attr->device)->ndev);
	const struct net_device *ndev;
	int ifindex = 0;

	rcu_read_lock();
	ndev = rcu_dereference(attr->ndev);
	if (ndev && net_eq(dev_net(ndev), net))
		ifindex = ndev->ifindex;
	rcu_read_unlock();

	return ifindex;
}

/**
 * frdma_add_gid - the core has put an address into its table
 * @attr: which, and where
 * @context: unused
 *
 * Context: verb; one at a time.
 * Return: 0.
 */
int frdma_add_gid(const struct ib_gid_attr *attr, void **context)
{
	struct frdma_gids *gids = &to_frdma(attr->device)->gids;
	int ifindex = ifindex_of(attr);

	write_seqlock_bh(&gids->lock);
	gids->gid[attr->index] = attr->gid;
	gids->ifindex[attr->index] = ifindex;
	__set_bit(attr->index, gids->used);
	gids->end = max(gids->end, attr->index + 1U);
	write_sequnlock_bh(&gids->lock);
	return 0;
}

/**
 * frdma_del_gid - the core takes an address out of its table
 * @attr: which, and where
 * @context: unused
 *
 * Context: verb; one at a time.
 * Return: 0.
 */
int frdma_del_gid(const struct ib_gid_attr *attr, void **context)
{
	struct frdma_gids *gids = &to_frdma(attr->device)->gids;

	write_seqlock_bh(&gids->lock);
	__clear_bit(attr->index, gids->used);
	write_sequnlock_bh(&gids->lock);
	return 0;
}
