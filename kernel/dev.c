// SPDX-License-Identifier: GPL-2.0
/*
 * The life of a link: "rdma link add", and everything that may end it, which
 * is "rdma link delete", the end of its interface or namespace, and the
 * removal of the module. All of these go through dealloc_driver().
 */
#include <linux/if_arp.h>
#include <linux/if_vlan.h>
#include <linux/module.h>
#include <linux/rtnetlink.h>
#include <net/addrconf.h>
#include <rdma/ib_addr.h>
#include <rdma/ib_verbs.h>
#include <rdma/uverbs_ioctl.h>

#include "advise.h"
#include "ah.h"
#include "clock.h"
#include "counters.h"
#include "cq.h"
#include "dev.h"
#include "dm.h"
#include "dmabuf.h"
#include "fast.h"
#include "gids.h"
#include "mcast.h"
#include "modify.h"
#include "mr.h"
#include "mw.h"
#include "net.h"
#include "netdev.h"
#include "nl.h"
#include "offload.h"
#include "page_in.h"
#include "pma.h"
#include "poller.h"
#include "post.h"
#include "qp.h"
#include "shared.h"
#include "srq.h"
#include "stats.h"
#include "sysfs.h"
#include "uapi/frdma-abi.h"
#include "uctx.h"
#include "umem.h"
#include "verbs_dev.h"
#include "verbs_qp.h"
#include "xrc.h"

#include "compat/ops.h"

static bool loopback = true;
module_param(loopback, bool, 0644);
MODULE_PARM_DESC(loopback,
		 "what the attribute of new links is: spare packets to themselves");

static bool trains = true;
module_param(trains, bool, 0644);
MODULE_PARM_DESC(trains,
		 "what the attribute of new links is: send packets in trains");

static int set_gather_us(const char *value, const struct kernel_param *param)
{
	return param_set_uint_minmax(value, param, 0, FRDMA_GATHER_US_MAX);
}

static const struct kernel_param_ops gather_us_ops = {
	.set = set_gather_us,
	.get = param_get_uint,
};

static unsigned int gather_us = FRDMA_GATHER_US;
module_param_cb(gather_us, &gather_us_ops, &gather_us, 0644);
__MODULE_PARM_TYPE(gather_us, "uint");
MODULE_PARM_DESC(gather_us,
		 "what the attribute of new links is: look for requests each so many us, 0 to 1000");

static int set_poll_us(const char *value, const struct kernel_param *param)
{
	return param_set_uint_minmax(value, param, 0, FRDMA_POLL_US_MAX);
}

static const struct kernel_param_ops poll_us_ops = {
	.set = set_poll_us,
	.get = param_get_uint,
};

static unsigned int poll_us;
module_param_cb(poll_us, &poll_us_ops, &poll_us, 0644);
__MODULE_PARM_TYPE(poll_us, "uint");
MODULE_PARM_DESC(poll_us,
		 "what the attribute of new links is: watch send queues for so many us, 0 to 10000000");

/* Guards the list of links, which makes interfaces and GUIDs unique in it. */
static DEFINE_SPINLOCK(links_lock);
static LIST_HEAD(links);

/*
 * Nobody uses the link any more. Called also for one that was not completely
 * set up. Other than the list, what is here was never seen by anyone else, or
 * is looked at by packets only until frdma_net_leave() returns.
 */
static void dealloc_driver(struct ib_device *ib)
{
	struct frdma_dev *dev = to_frdma(ib);

	frdma_poller_stop(&dev->poller);
	if (dev->net)
		frdma_net_leave(dev);

	spin_lock(&links_lock);
	list_del(&dev->entry);
	spin_unlock(&links_lock);

	xa_destroy(&dev->counters);
	xa_destroy(&dev->srqs);
	frdma_mcast_destroy(dev);
	xa_destroy(&dev->ahs);
	xa_destroy(&dev->mrs);
	kfree(dev->counters_past);
	free_percpu(dev->stats);
	put_device(ib->dev.parent);
	netdev_put(dev->ndev, &dev->ndev_tracker);
}

static const struct ib_device_ops frdma_dev_ops = {
	.owner			= THIS_MODULE,
	.driver_id		= FRDMA_DRIVER_ID,
	.uverbs_abi_ver		= FRDMA_ABI_VERSION,
	.device_group		= &frdma_attr_group,

	.dealloc_driver		= dealloc_driver,
	.get_dev_fw_str		= frdma_get_dev_fw_str,
	.enable_driver		= frdma_netdev_catch_up,
	.modify_device		= frdma_modify_device,
	.query_device		= frdma_query_device,

	.fill_res_cq_entry	= frdma_fill_res_cq_entry,
	.fill_res_mr_entry	= frdma_fill_res_mr_entry,
	.fill_res_qp_entry	= frdma_fill_res_qp_entry,

	.add_gid		= frdma_add_gid,
	.alloc_hw_port_stats	= frdma_alloc_hw_port_stats,
	.counter_alloc_stats	= frdma_counter_alloc_stats,
	.counter_bind_qp	= frdma_counter_bind_qp,
	.counter_dealloc	= frdma_counter_dealloc,
	.counter_unbind_qp	= frdma_counter_unbind_qp,
	.counter_update_stats	= frdma_counter_update_stats,
	.del_gid		= frdma_del_gid,
	.get_hw_stats		= frdma_get_hw_stats,
	.get_link_layer		= frdma_get_link_layer,
	.get_netdev		= frdma_get_netdev,
	.get_port_immutable	= frdma_get_port_immutable,
	.modify_port		= frdma_modify_port,
	.process_mad		= frdma_process_mad,
	.query_pkey		= frdma_query_pkey,
	.query_port		= frdma_query_port,

	.alloc_pd		= frdma_alloc_pd,
	.alloc_ucontext		= frdma_alloc_ucontext,
	.dealloc_pd		= frdma_dealloc_pd,
	.dealloc_ucontext	= frdma_dealloc_ucontext,
	.disassociate_ucontext	= frdma_disassociate_ucontext,
	.mmap			= frdma_shared_mmap,
	.mmap_free		= frdma_shared_mmap_free,
	.query_ucontext		= frdma_query_ucontext,

	.advise_mr		= frdma_advise_mr,
	.alloc_mr		= frdma_alloc_mr,
	.dereg_mr		= frdma_dereg_mr,
	.get_dma_mr		= frdma_get_dma_mr,
	.map_mr_sg		= frdma_map_mr_sg,
	.reg_user_mr		= frdma_reg_user_mr,
	.reg_user_mr_dmabuf	= frdma_reg_dmabuf_mr,
	.rereg_user_mr		= frdma_rereg_user_mr,

	.alloc_dm		= frdma_alloc_dm,
	.dealloc_dm		= frdma_dealloc_dm,
	.reg_dm_mr		= frdma_reg_dm_mr,

	.alloc_mw		= frdma_alloc_mw,
	.dealloc_mw		= frdma_dealloc_mw,

	.create_cq		= frdma_create_cq,
	.destroy_cq		= frdma_destroy_cq,
	.modify_cq		= frdma_modify_cq,
	.poll_cq		= frdma_poll_cq,
	.req_notify_cq		= frdma_req_notify_cq,
	.resize_user_cq		= frdma_resize_cq,

	.create_ah		= frdma_create_ah,
	.create_user_ah		= frdma_create_user_ah,
	.destroy_ah		= frdma_destroy_ah,
	.modify_ah		= frdma_modify_ah,
	.query_ah		= frdma_query_ah,

	.attach_mcast		= frdma_attach_mcast,
	.create_qp		= frdma_create_qp,
	.destroy_qp		= frdma_destroy_qp,
	.detach_mcast		= frdma_detach_mcast,
	.modify_qp		= frdma_modify_qp,
	.post_recv		= frdma_post_recv,
	.post_send		= frdma_post_send,
	.query_qp		= frdma_query_qp,

	.create_srq		= frdma_create_srq,
	.destroy_srq		= frdma_destroy_srq,
	.modify_srq		= frdma_modify_srq,
	.post_srq_recv		= frdma_post_srq_recv,
	.query_srq		= frdma_query_srq,

	.alloc_xrcd		= frdma_alloc_xrcd,
	.dealloc_xrcd		= frdma_dealloc_xrcd,

	INIT_RDMA_OBJ_SIZE(ib_ah, frdma_ib_ah, ib),
	INIT_RDMA_OBJ_SIZE(ib_cq, frdma_cq, ib),
	INIT_RDMA_OBJ_SIZE(ib_mw, frdma_mw, ib),
	INIT_RDMA_OBJ_SIZE(ib_pd, frdma_pd, ib),
	INIT_RDMA_OBJ_SIZE(ib_qp, frdma_ib_qp, ib),
	INIT_RDMA_OBJ_SIZE(ib_srq, frdma_srq, ib),
	INIT_RDMA_OBJ_SIZE(ib_ucontext, frdma_uctx, ib),
	INIT_RDMA_OBJ_SIZE(ib_xrcd, frdma_xrcd, ib),
};

/*
 * EUI-64 of the interface's hardware address, in which the two bytes in the
 * middle, ff:fe for each such address, give way to @salt.
 */
static __be64 salted_guid(const struct net_device *ndev, u16 salt)
{
	__be64 guid;

	addrconf_addr_eui48((u8 *)&guid, ndev->dev_addr);
	return guid ^ cpu_to_be64((u64)salt << 24);
}

static bool guid_is_taken(__be64 guid)
{
	const struct frdma_dev *other;

	lockdep_assert_held(&links_lock);

	list_for_each_entry(other, &links, entry)
		if (other->ib.node_guid == guid)
			return true;
	return false;
}

/*
 * Interfaces on top of each other, and those in different namespaces, may
 * share a hardware address. A VLAN has its number for salt, so that its GUID
 * does not depend on the order in which links are added; others take the next
 * that is free, beyond those of VLANs.
 */
static __be64 unique_guid(const struct net_device *ndev)
{
	u16 salt = is_vlan_dev(ndev) ? vlan_dev_vlan_id(ndev) : 0;
	__be64 guid = salted_guid(ndev, salt);

	while (guid_is_taken(guid)) {
		salt += VLAN_N_VID;
		if (salt < VLAN_N_VID)
			salt++;
		guid = salted_guid(ndev, salt);
	}
	return guid;
}

/* One link per interface: the second would have the same addresses. */
static int enlist(struct frdma_dev *dev)
{
	const struct frdma_dev *other;
	int err = 0;

	spin_lock(&links_lock);
	list_for_each_entry(other, &links, entry)
		if (other->ndev == dev->ndev)
			err = -EEXIST;
	if (!err) {
		dev->ib.node_guid = unique_guid(dev->ndev);
		list_add_tail(&dev->entry, &links);
	}
	spin_unlock(&links_lock);

	return err;
}

/**
 * frdma_dev_get_by_netdev - the link on an interface
 * @ndev: interface
 *
 * Context: process.
 * Return: the link, to be given to ib_device_put(); NULL if there is none, or
 * if it is not registered yet or no more.
 */
struct frdma_dev *frdma_dev_get_by_netdev(const struct net_device *ndev)
{
	struct frdma_dev *dev, *found = NULL;

	spin_lock(&links_lock);
	list_for_each_entry(dev, &links, entry)
		if (dev->ndev == ndev && ib_device_try_get(&dev->ib))
			found = dev;
	spin_unlock(&links_lock);

	return found;
}

/*
 * What the interface hangs on, a PCI function say, which virtual ones lack.
 * Programs find it as /sys/class/infiniband/<link>/device, with the interface
 * in its net/. It may go with the interface while we still name it, hence the
 * reference; RTNL, because until it goes the interface holds it for us.
 */
static struct device *get_parent(struct net_device *ndev)
{
	struct device *parent = NULL;

	rtnl_lock();
	if (ndev->reg_state == NETREG_REGISTERED)
		parent = get_device(ndev->dev.parent);
	rtnl_unlock();

	return parent;
}

/*
 * The namespace that the interface is in, to be given to put_net(). The caller
 * holds the interface, which may move all the same, and the namespace that it
 * has left may end; but as long as it is in one, that one is there.
 */
static struct net *get_net_of(const struct net_device *ndev)
{
	struct net *net = NULL;

	rtnl_lock();
	if (ndev->reg_state == NETREG_REGISTERED)
		net = maybe_get_net(dev_net(ndev));
	rtnl_unlock();

	return net;
}

/* What processes ask of us beyond the verbs of the core. */
static const struct uapi_definition frdma_uapi[] = {
	UAPI_DEF_CHAIN(frdma_clock_uapi),
	UAPI_DEF_CHAIN(frdma_dm_uapi),
	UAPI_DEF_CHAIN(frdma_pd_uapi),
	UAPI_DEF_CHAIN(frdma_qp_uapi),
	{ }
};

static struct frdma_dev *dev_alloc(struct net_device *ndev, struct net *net)
{
	struct frdma_dev *dev;
	struct ib_device *ib;

	dev = ib_alloc_device_with_net(frdma_dev, ib, net);
	if (!dev)
		return NULL;

	ib = &dev->ib;
	if (frdma_mcast_init(dev)) {
		ib_dealloc_device(ib);
		return NULL;
	}

	ib->node_type = RDMA_NODE_IB_CA;
	ib->phys_port_cnt = 1;
	ib->num_comp_vectors = num_online_cpus();
	ib->driver_def = frdma_uapi;
	ib->dev.parent = get_parent(ndev);
	strscpy(ib->node_desc, "frdma", sizeof(ib->node_desc));

	dev->loopback = loopback;
	dev->trains = trains;
	dev->ecn = true;
	dev->cnp_dscp = FRDMA_CNP_DSCP;
	dev->cnp_priority = FRDMA_CNP_PRIORITY;
	dev->check_interface = true;
	dev->guard = true;
	dev->gather_us = gather_us;
	dev->max_reads = FRDMA_MAX_RD_ATOM;
	frdma_poller_init(&dev->poller);
	INIT_LIST_HEAD(&dev->entry);
	xa_init_flags(&dev->mrs, XA_FLAGS_ALLOC1 | XA_FLAGS_ACCOUNT);
	xa_init_flags(&dev->counters, XA_FLAGS_ALLOC1);
	mutex_init(&dev->counters_mutex);
	frdma_gids_init(dev);
	xa_init_flags(&dev->ahs, XA_FLAGS_ALLOC1 | XA_FLAGS_ACCOUNT);
	xa_init_flags(&dev->srqs, XA_FLAGS_ALLOC1 | XA_FLAGS_ACCOUNT);
	dev->ndev = ndev;
	netdev_hold(ndev, &dev->ndev_tracker, GFP_KERNEL);

	/* From here on ib_dealloc_device() undoes it all. */
	ib_set_device_ops(ib, &frdma_dev_ops);
	ib_set_device_ops(ib, &frdma_newer_ops);
	return dev;
}

static int dev_setup(struct frdma_dev *dev, struct net *net)
{
	int err;

	dev->stats = alloc_percpu(struct frdma_stats);
	dev->counters_past = kzalloc(sizeof(*dev->counters_past), GFP_KERNEL);
	if (!dev->stats || !dev->counters_past)
		return -ENOMEM;

	err = enlist(dev);
	if (err)
		return err;

	err = frdma_net_join(dev, net);
	if (err)
		return err;

	return ib_device_set_netdev(&dev->ib, frdma_port_netdev(dev), 1);
}

/* Errors have a sentence where the errno alone would leave one guessing. */
static int refuse(const char *name, const struct net_device *ndev, int err,
		  const char *why)
{
	pr_err_ratelimited("no link %s on %s: %s (%pe)\n", name, ndev->name,
			   why, ERR_PTR(err));
	return err;
}

/* The core calls a name that is taken -ENFILE, which tells nobody so. */
static const char *why_no_link(int err)
{
	switch (err) {
	case -EEXIST:
		return "the interface has a frdma link already";
	case -EADDRINUSE:
		return "UDP port 4791 is in use in this network namespace; if rdma_rxe holds it, delete its links and unload it";
	case -ENFILE:
		return "the name is taken by another RDMA device";
	default:
		return "it could not be set up";
	}
}

static int check_interface(const char *name, const struct net_device *ndev)
{
	if (ndev->flags & IFF_LOOPBACK)
		return refuse(name, ndev, -EOPNOTSUPP,
			      "a link needs an address that other hosts can reach; add it to the interface that has one, programs on this host reach it there, too");
	if (ndev->type != ARPHRD_ETHER)
		return refuse(name, ndev, -EOPNOTSUPP,
			      "it is not an Ethernet interface");
	return 0;
}

/* The name, which the core gives it when it is registered, is its thread's, too. */
static int begin_poller(struct frdma_dev *dev, const char *name)
{
	u32 us = READ_ONCE(poll_us);

	if (!us)
		return 0;
	return dev_set_name(&dev->ib.dev, "%s", name) ?:
	       frdma_poller_set(dev, us);
}

static int newlink_in(const char *name, struct net_device *ndev,
		      struct net *net)
{
	struct frdma_dev *dev;
	const char *why;
	int err;

	dev = dev_alloc(ndev, net);
	if (!dev)
		return -ENOMEM;

	err = dev_setup(dev, net);
	if (err)
		goto err_dealloc;
	err = begin_poller(dev, name);
	if (err)
		goto err_dealloc;

	ib_mark_name_assigned_by_user(&dev->ib);
	err = ib_register_device(&dev->ib, name, NULL);
	if (err)
		goto err_dealloc;

	/* The link may be deleted again by now: @dev is not ours any more. */
	return 0;

err_dealloc:
	ib_dealloc_device(&dev->ib);
	why = why_no_link(err);
	return refuse(name, ndev, err == -ENFILE ? -EEXIST : err, why);
}

/*
 * rdma_link_ops: the core holds @ndev and has found no device called @name.
 * An interface that is down gets a link whose port is DOWN. The namespace is
 * held until the link is in its list, which its end waits for.
 */
static int newlink(const char *name, struct net_device *ndev)
{
	struct net *net;
	int err;

	err = check_interface(name, ndev);
	if (err)
		return err;

	net = get_net_of(ndev);
	if (!net)
		return refuse(name, ndev, -ENODEV, "the interface is going");
	err = newlink_in(name, ndev, net);
	put_net(net);
	if (!err)
		frdma_offload_warn(name, ndev);
	return err;
}

struct rdma_link_ops frdma_link_ops = {
	.type		= "frdma",
	.newlink	= newlink,
};

/* Also of a link that the core moves to another namespace, and had taken away. */
static int link_comes(struct ib_device *ib)
{
	if (ib->ops.owner != THIS_MODULE)
		return -EOPNOTSUPP;

	WRITE_ONCE(to_frdma(ib)->going, false);
	return 0;
}

static void link_goes(struct ib_device *ib, void *unused)
{
	WRITE_ONCE(to_frdma(ib)->going, true);
	frdma_page_in_wake();
}

/*
 * Whoever takes a link away, the core tells its clients first, and the last to
 * register before the others. Uverbs is one, which waits until nobody is in a
 * verb any more, and tells no driver before that. Uverbs is loaded before this
 * module (main.c), so this one is told earlier as a client of its own devices.
 */
struct ib_client frdma_client = {
	.name	= "frdma",
	.add	= link_comes,
	.remove	= link_goes,
};
