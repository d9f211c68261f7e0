/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The addresses of a link, as GIDs. The core's table of them is read under a lock
 * that all CPUs share; each buffer of datagrams asks for one.
 */
#ifndef FRDMA_GIDS_H
#define FRDMA_GIDS_H

#include <linux/seqlock.h>
#include <rdma/ib_verbs.h>

struct frdma_dev;

/* As many as the index of one, a byte in all that names it, can tell. */
#define FRDMA_MAX_GIDS	(U8_MAX + 1)

/**
 * struct frdma_gids - what the core's table has
 * @lock: one writer at a time; readers look again
 * @end: behind the last one that was ever there
 * @used: which are there
 * @gid: by their index
 * @ifindex: of the interface that has @gid, by the same index; 0 if that is in
 *	another namespace than the link's
 */
struct frdma_gids {
	seqlock_t lock;
	u32 end;
	DECLARE_BITMAP(used, FRDMA_MAX_GIDS);
	union ib_gid gid[FRDMA_MAX_GIDS];
	int ifindex[FRDMA_MAX_GIDS];
};

void frdma_gids_init(struct frdma_dev *dev);
bool frdma_gids_have(struct frdma_dev *dev, const union ib_gid *gid);
bool frdma_gids_have_on(struct frdma_dev *dev, const union ib_gid *gid,
			int ifindex);
bool frdma_gids_come_by(const struct frdma_dev *dev, int owner, int ifindex);

/* Verbs of the core; contexts and returns as it defines them. */
int frdma_add_gid(const struct ib_gid_attr *attr, void **context);
int frdma_del_gid(const struct ib_gid_attr *attr, void **context);

#endif /* FRDMA_GIDS_H */
