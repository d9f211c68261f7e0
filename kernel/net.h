/* SPDX-License-Identifier: GPL-2.0 */
#ifndef FRDMA_NET_H
#define FRDMA_NET_H

#include <linux/skbuff.h>
#include <net/net_namespace.h>
#include <rdma/ib_verbs.h>

#include "stats.h"

struct frdma_dev;
struct frdma_net;

struct net *frdma_net_ns(const struct frdma_net *fnet);
const struct sock *frdma_net_socket(const struct frdma_net *fnet);
struct frdma_dev *frdma_net_find_dev(struct frdma_net *fnet,
				     const union ib_gid *gid, int ifindex);
struct frdma_dev *frdma_net_find_dev_on(struct frdma_net *fnet, int ifindex);
struct frdma_dev *frdma_net_find_guard(struct net *net,
				       const union ib_gid *sgid,
				       const union ib_gid *dgid, int ifindex);
bool frdma_net_is_home(const struct frdma_dev *dev);
void frdma_net_drop(struct frdma_net *fnet, struct sk_buff *skb,
		    enum frdma_drop_reason why);
void frdma_net_read_stats(struct frdma_net *fnet, u64 *sum);

int frdma_net_join(struct frdma_dev *dev, struct net *net);
void frdma_net_leave(struct frdma_dev *dev);

int frdma_net_init(void);
void frdma_net_exit(void);

#endif /* FRDMA_NET_H */
