// SPDX-License-Identifier: GPL-2.0
#include "route.h"

#include <net/ip6_route.h>
#include <net/ipv6.h>
#include <net/route.h>

#include "ah.h"
#include "dev.h"
#include "net.h"
#include "proto/wire.h"

static struct rt6_info *to_rt6(const struct dst_entry *dst)
{
	return container_of(dst, struct rt6_info, dst);
}

static struct dst_entry *look_up_ipv4(const struct frdma_dev *dev,
				      const struct frdma_av *av, u16 sport)
{
	struct flowi4 fl4 = {
		.flowi4_oif	= av->ifindex,
		.daddr		= frdma_gid_ipv4(&av->dgid),
		.saddr		= frdma_gid_ipv4(&av->sgid),
		.flowi4_proto	= IPPROTO_UDP,
		.fl4_sport	= htons(sport),
		.fl4_dport	= htons(FRDMA_UDP_DPORT),
	};
	struct rtable *rt;

	rt = ip_route_output_key(frdma_net_ns(dev->net), &fl4);
	return IS_ERR(rt) ? NULL : &rt->dst;
}

#if IS_ENABLED(CONFIG_IPV6)
static struct dst_entry *look_up_ipv6(const struct frdma_dev *dev,
				      const struct frdma_av *av, u16 sport)
{
	struct flowi6 fl6 = {
		.flowi6_oif	= av->ifindex,
		.daddr		= frdma_gid_ipv6(&av->dgid),
		.saddr		= frdma_gid_ipv6(&av->sgid),
		.flowi6_proto	= IPPROTO_UDP,
		.fl6_sport	= htons(sport),
		.fl6_dport	= htons(FRDMA_UDP_DPORT),
	};
	struct dst_entry *dst;

	/* Its tables are not there (ipv6.disable=1). */
	if (!ipv6_mod_enabled())
		return NULL;
	dst = ip6_dst_lookup_flow(frdma_net_ns(dev->net), NULL, &fl6, NULL);
	return IS_ERR(dst) ? NULL : dst;
}

static u32 cookie_of(const struct dst_entry *dst)
{
	return dst->ops->family == AF_INET6 ? rt6_get_cookie(to_rt6(dst)) : 0;
}
#else
static struct dst_entry *look_up_ipv6(const struct frdma_dev *dev,
				      const struct frdma_av *av, u16 sport)
{
	return NULL;
}

static u32 cookie_of(const struct dst_entry *dst)
{
	return 0;
}
#endif

static bool is_of(const struct frdma_route *route, const struct frdma_av *av,
		  u16 sport)
{
	return route->dst && route->sport == sport &&
	       route->ifindex == av->ifindex &&
	       !memcmp(&route->dgid, &av->dgid, sizeof(av->dgid)) &&
	       !memcmp(&route->sgid, &av->sgid, sizeof(av->sgid));
}

/**
 * frdma_route_find - the route of packets
 * @route: of earlier ones, owned by the caller
 * @dev: link
 * @av: where they go
 * @sport: their UDP source port
 *
 * The same as before, if they go where those went and routing has not changed.
 *
 * Context: bottom halves off, in an RCU read section, for which the result is
 * good without a reference.
 * Return: the route; NULL: there is none.
 */
struct dst_entry *frdma_route_find(struct frdma_route *route,
				   const struct frdma_dev *dev,
				   const struct frdma_av *av, u16 sport)
{
	struct dst_entry *dst;

	if (likely(is_of(route, av, sport)) &&
	    likely(dst_check(route->dst, route->cookie)))
		return route->dst;

	frdma_route_forget(route);
	dst = av->net == RDMA_NETWORK_IPV4 ? look_up_ipv4(dev, av, sport) :
					     look_up_ipv6(dev, av, sport);
	if (!dst)
		return NULL;
	*route = (struct frdma_route) {
		.dst	 = dst,
		.cookie	 = cookie_of(dst),
		.ifindex = av->ifindex,
		.sgid	 = av->sgid,
		.dgid	 = av->dgid,
		.sport	 = sport,
	};
	return dst;
}

/**
 * frdma_route_stays_here - does it end on this host
 * @dst: of frdma_route_find()
 */
bool frdma_route_stays_here(const struct dst_entry *dst)
{
	if (dst->ops->family == AF_INET6)
		return to_rt6(dst)->rt6i_flags & RTF_LOCAL;
	return container_of(dst, struct rtable, dst)->rt_type == RTN_LOCAL;
}

/**
 * frdma_route_forget - give up what is held
 * @route: owned by the caller
 */
void frdma_route_forget(struct frdma_route *route)
{
	dst_release(route->dst);
	route->dst = NULL;
}
