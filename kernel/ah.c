// SPDX-License-Identifier: GPL-2.0
/* Address vectors and address handles. */
#include "ah.h"

#include <linux/etherdevice.h>
#include <linux/ipv6.h>
#include <linux/slab.h>
#include <linux/xarray.h>
#include <net/ipv6.h>
#include <rdma/ib_cache.h>

#include "dev.h"
#include "limit.h"
#include "refuse.h"
#include "uapi/frdma-abi.h"
#include "uctx.h"

/*
 * Service levels become priorities of packets, of which Ethernet has eight. One beyond is
 * none: it is that of a datagram's completion, which says what brought it, and comes
 * back in the address of an answer.
 */
#define AV_SL_MAX	7

static u8 service_level(const struct rdma_ah_attr *attr)
{
	u8 sl = rdma_ah_get_sl(attr);

	return sl <= AV_SL_MAX ? sl : 0;
}

static bool gid_is_ipv4(const union ib_gid *gid)
{
	return ipv6_addr_v4mapped((const struct in6_addr *)gid);
}

/* The network that both ends belong to; RDMA_NETWORK_IB: there is none. */
static enum rdma_network_type attr_network(const struct rdma_ah_attr *attr)
{
	const struct ib_global_route *grh = rdma_ah_read_grh(attr);
	bool ipv4 = gid_is_ipv4(&grh->sgid_attr->gid);

	if (grh->sgid_attr->gid_type != IB_GID_TYPE_ROCE_UDP_ENCAP)
		return RDMA_NETWORK_IB;
	if (gid_is_ipv4(&grh->dgid) != ipv4)
		return RDMA_NETWORK_IB;

	return ipv4 ? RDMA_NETWORK_IPV4 : RDMA_NETWORK_IPV6;
}

/*
 * Index of the interface that owns a GID, or an errno. The core lists addresses of
 * interfaces above and below the link's in whatever namespace they are: one of
 * another is nobody's here, nor is its index.
 */
static int gid_ifindex(const struct frdma_dev *dev,
		       const struct ib_gid_attr *gid)
{
	struct net_device *ndev;
	int ifindex = -ENODEV;

	rcu_read_lock();
	ndev = rdma_read_gid_attr_ndev_rcu(gid);
	if (!IS_ERR(ndev) && net_eq(dev_net(ndev), dev_net(dev->ndev)))
		ifindex = ndev->ifindex;
	rcu_read_unlock();

	return ifindex;
}

int frdma_av_init(struct frdma_av *av, struct frdma_dev *dev,
		  const struct rdma_ah_attr *attr)
{
	const struct ib_global_route *grh;
	enum rdma_network_type net;
	int ifindex;

	if (rdma_ah_get_port_num(attr) != 1 ||
	    attr->type != RDMA_AH_ATTR_TYPE_ROCE ||
	    !(rdma_ah_get_ah_flags(attr) & IB_AH_GRH))
		return frdma_refuse(&dev->ib, -EINVAL,
				    "address: port 1 and a GRH (is_global, sgid_index) are needed");

	grh = rdma_ah_read_grh(attr);
	if (!grh->sgid_attr || grh->sgid_attr->device != &dev->ib)
		return frdma_refuse(&dev->ib, -EINVAL,
				    "address: sgid_index %u is empty",
				    grh->sgid_index);

	net = attr_network(attr);
	if (net == RDMA_NETWORK_IB)
		return frdma_refuse(&dev->ib, -EINVAL,
				    "address: the GID of sgid_index %u is not RoCEv2",
				    grh->sgid_index);
	/* A port has its default GID even then (ipv6.disable=1). */
	if (net == RDMA_NETWORK_IPV6 && !ipv6_mod_enabled())
		return frdma_refuse(&dev->ib, -EAFNOSUPPORT,
				    "address: the GID of sgid_index %u is IPv6, which the kernel has disabled",
				    grh->sgid_index);

	ifindex = gid_ifindex(dev, grh->sgid_attr);
	if (ifindex < 0)
		return frdma_refuse(&dev->ib, ifindex,
				    "address: the interface of sgid_index %u is gone or in another namespace",
				    grh->sgid_index);

	*av = (struct frdma_av) {
		.sgid		= grh->sgid_attr->gid,
		.dgid		= grh->dgid,
		.net		= net,
		.ifindex	= ifindex,
		.flow_label	= grh->flow_label & IB_GRH_FLOWLABEL_MASK,
		.sgid_index	= grh->sgid_index,
		.hop_limit	= grh->hop_limit ?: IPV6_DEFAULT_HOPLIMIT,
		.traffic_class	= grh->traffic_class,
		.sl		= service_level(attr),
		.static_rate	= rdma_ah_get_static_rate(attr),
	};
	ether_addr_copy(av->dmac, attr->roce.dmac);
	return 0;
}

void frdma_av_to_attr(const struct frdma_av *av, struct rdma_ah_attr *attr)
{
	*attr = (struct rdma_ah_attr) {
		.type			= RDMA_AH_ATTR_TYPE_ROCE,
		.port_num		= 1,
		.ah_flags		= IB_AH_GRH,
		.sl			= av->sl,
		.static_rate		= av->static_rate,
		.grh.dgid		= av->dgid,
		.grh.flow_label		= av->flow_label,
		.grh.sgid_index		= av->sgid_index,
		.grh.hop_limit		= av->hop_limit,
		.grh.traffic_class	= av->traffic_class,
	};
	ether_addr_copy(attr->roce.dmac, av->dmac);
}

struct frdma_ah *frdma_ah_find(struct frdma_dev *dev, u32 num)
{
	return xa_load(&dev->ahs, num);
}

/* The core may ask for one in any context, and then says so. */
int frdma_create_ah(struct ib_ah *ib, struct rdma_ah_init_attr *attr,
		    struct ib_udata *udata)
{
	gfp_t gfp = attr->flags & RDMA_CREATE_AH_SLEEPABLE ?
		    FRDMA_GFP_OBJECT : GFP_ATOMIC;
	struct frdma_dev *dev = to_frdma(ib->device);
	struct frdma_charge charge;
	struct frdma_ah *ah;
	int err;

	if (!frdma_limit_take(&dev->nr_ah, FRDMA_MAX_AH, FRDMA_POOL_AH,
			      &charge, frdma_pd_account(ib->pd), sizeof(*ah)))
		return -ENOMEM;

	ah = kzalloc(sizeof(*ah), gfp);
	if (!ah) {
		err = -ENOMEM;
		goto err_limit_give;
	}

	err = frdma_av_init(&ah->av, dev, attr->ah_attr);
	if (err)
		goto err_free;

	ah->pd = ib->pd;
	ah->charge = charge;
	to_frdma_ib_ah(ib)->ah = ah;
	return 0;

err_free:
	kfree(ah);
err_limit_give:
	frdma_limit_give(&dev->nr_ah, FRDMA_POOL_AH, &charge);
	return err;
}

int frdma_create_user_ah(struct ib_ah *ib, struct rdma_ah_init_attr *attr,
			 struct ib_udata *udata)
{
	struct frdma_dev *dev = to_frdma(ib->device);
	struct frdma_create_ah_resp resp = {};
	struct frdma_ah *ah;
	u32 num;
	int err;

	err = frdma_check_request(udata);
	if (err)
		return err;
	err = frdma_create_ah(ib, attr, udata);
	if (err)
		return err;

	/* The number is what a process has: reserve it, answer, then fill in. */
	ah = to_frdma_ib_ah(ib)->ah;
	err = xa_alloc_cyclic(&dev->ahs, &num, NULL, XA_LIMIT(1, INT_MAX),
			      &dev->ahs_next, FRDMA_GFP_OBJECT);
	if (err < 0)
		goto err_destroy;

	ah->num = num;
	resp.ah = num;
	err = frdma_respond(udata, &resp, sizeof(resp));
	if (err)
		goto err_destroy;

	xa_store(&dev->ahs, ah->num, ah, GFP_KERNEL_ACCOUNT);
	return 0;

err_destroy:
	frdma_destroy_ah(ib, RDMA_DESTROY_AH_SLEEPABLE);
	return err;
}

/* Only consumers in the kernel can come here: no verb of a process does. */
int frdma_modify_ah(struct ib_ah *ib, struct rdma_ah_attr *attr)
{
	return frdma_av_init(&to_frdma_ib_ah(ib)->ah->av, to_frdma(ib->device),
			     attr);
}

int frdma_query_ah(struct ib_ah *ib, struct rdma_ah_attr *attr)
{
	frdma_av_to_attr(&to_frdma_ib_ah(ib)->ah->av, attr);
	return 0;
}

/* Sleeps only for a process's handle, which is never destroyed elsewhere. */
int frdma_destroy_ah(struct ib_ah *ib, u32 flags)
{
	struct frdma_ah *ah = to_frdma_ib_ah(ib)->ah;
	struct frdma_dev *dev = to_frdma(ib->device);

	if (ah->num)
		xa_erase(&dev->ahs, ah->num);
	frdma_limit_give(&dev->nr_ah, FRDMA_POOL_AH, &ah->charge);
	kfree_rcu(ah, rcu);
	return 0;
}
