// SPDX-License-Identifier: GPL-2.0
/*
 * An RDMA device that does nothing, on what an interface hangs on, as a RoCE
 * adapter has one: insmod roce.ko netdev=eth0 driver=1
 */
#include <linux/module.h>
#include <linux/netdevice.h>
#include <net/net_namespace.h>
#include <rdma/ib_mad.h>
#include <rdma/ib_verbs.h>

static char *netdev = "eth0";
module_param(netdev, charp, 0);
MODULE_PARM_DESC(netdev, "the interface");

static unsigned int driver = RDMA_DRIVER_MLX5;
module_param(driver, uint, 0);
MODULE_PARM_DESC(driver, "whose device it claims to be: enum rdma_driver_id");

/** struct plain - the device, and nothing else */
struct plain {
	struct ib_device ib;
};

static struct ib_device *device;

static int roce_query_device(struct ib_device *ib, struct ib_device_attr *attr,
			     struct ib_udata *udata)
{
	memset(attr, 0, sizeof(*attr));
	return 0;
}

static int roce_query_port(struct ib_device *ib, u32 port,
			   struct ib_port_attr *attr)
{
	attr->state = IB_PORT_DOWN;
	attr->gid_tbl_len = 1;
	attr->pkey_tbl_len = 1;
	return 0;
}

static int roce_query_pkey(struct ib_device *ib, u32 port, u16 index, u16 *pkey)
{
	*pkey = 0xffff;
	return 0;
}

static int roce_get_port_immutable(struct ib_device *ib, u32 port,
				   struct ib_port_immutable *attr)
{
	attr->core_cap_flags = RDMA_CORE_PORT_IBA_ROCE_UDP_ENCAP;
	attr->gid_tbl_len = 1;
	attr->pkey_tbl_len = 1;
	attr->max_mad_size = IB_MGMT_MAD_SIZE;
	return 0;
}

static enum rdma_link_layer roce_get_link_layer(struct ib_device *ib, u32 port)
{
	return IB_LINK_LAYER_ETHERNET;
}

static struct ib_device_ops roce_ops = {
	.owner			= THIS_MODULE,
	.uverbs_abi_ver		= 1,
	.get_link_layer		= roce_get_link_layer,
	.get_port_immutable	= roce_get_port_immutable,
	.query_device		= roce_query_device,
	.query_pkey		= roce_query_pkey,
	.query_port		= roce_query_port,
};

static int __init roce_init(void)
{
	struct net_device *ndev = dev_get_by_name(&init_net, netdev);
	struct plain *plain;
	int err = -ENODEV;

	if (!ndev)
		return err;
	if (!ndev->dev.parent)
		goto out;

	err = -ENOMEM;
	plain = ib_alloc_device(plain, ib);
	if (!plain)
		goto out;
	device = &plain->ib;
	roce_ops.driver_id = driver;
	device->node_type = RDMA_NODE_IB_CA;
	device->phys_port_cnt = 1;
	device->dev.parent = ndev->dev.parent;
	ib_set_device_ops(device, &roce_ops);
	err = ib_register_device(device, "roce%d", NULL);
	if (err)
		ib_dealloc_device(device);
out:
	dev_put(ndev);
	return err;
}

static void __exit roce_exit(void)
{
	ib_unregister_device(device);
	ib_dealloc_device(device);
}

module_init(roce_init);
module_exit(roce_exit);

MODULE_DESCRIPTION("an RDMA device that does nothing");
MODULE_LICENSE("GPL");
