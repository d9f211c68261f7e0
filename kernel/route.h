/* SPDX-License-Identifier: GPL-2.0 */
/* The way that packets went, for those that follow. */
#ifndef FRDMA_ROUTE_H
#define FRDMA_ROUTE_H

#include <rdma/ib_verbs.h>

struct dst_entry;
struct frdma_av;
struct frdma_dev;

/**
 * struct frdma_route - the route of the packets before, owned by who sends
 * @dst: held; NULL: there is none
 * @cookie: by which IPv6 sees that routing has changed
 * @sgid: what it was looked up for, as in an address vector
 * @dgid: likewise
 * @ifindex: likewise
 * @sport: UDP source port, by which one of several ways may be chosen
 */
struct frdma_route {
	struct dst_entry *dst;
	u32 cookie;
	int ifindex;
	union ib_gid sgid;
	union ib_gid dgid;
	u16 sport;
};

struct dst_entry *frdma_route_find(struct frdma_route *route,
				   const struct frdma_dev *dev,
				   const struct frdma_av *av, u16 sport);
bool frdma_route_stays_here(const struct dst_entry *dst);
void frdma_route_forget(struct frdma_route *route);

#endif /* FRDMA_ROUTE_H */
