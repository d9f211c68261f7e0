// SPDX-License-Identifier: GPL-2.0
#include "gids.h"

#include <linux/bitmap.h>
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

	write_seqlock_bh(&gids->lock);
	gids->gid[attr->index] = attr->gid;
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
