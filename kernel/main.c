// SPDX-License-Identifier: GPL-2.0
/*
 * frdma: a software RoCEv2 adapter on any Ethernet interface.
 *
 *	rdma link add frdma0 type frdma netdev eth0
 */
#include <linux/kmod.h>
#include <linux/module.h>
#include <linux/stringify.h>
#include <rdma/ib_verbs.h>
#include <rdma/rdma_netlink.h>

#include "crc.h"
#include "dev.h"
#include "dscp.h"
#include "flush.h"
#include "net.h"
#include "netdev.h"
#include "number.h"
#include "page_in.h"
#include "qp.h"
#include "queued.h"
#include "txmem.h"
#include "uapi/frdma-abi.h"
#include "verbs_dev.h"

static int __init frdma_init(void)
{
	int err;

	frdma_crc_init();
	frdma_number_init();

	err = frdma_qp_cache_init();
	if (err)
		goto err_crc;

	err = frdma_page_in_queue_init();
	if (err)
		goto err_qp_cache;

	err = frdma_flush_queue_init();
	if (err)
		goto err_page_in;

	err = frdma_txmem_init();
	if (err)
		goto err_flush;

	err = frdma_net_init();
	if (err)
		goto err_txmem;

	err = frdma_dscp_init();
	if (err)
		goto err_net;

	err = frdma_netdev_init();
	if (err)
		goto err_dscp;

	/*
	 * Uverbs registers first, see frdma_client. Kernels that have ib_umem in
	 * ib_core do not load it for this module. Without it nobody waits.
	 */
	request_module("ib_uverbs");
	err = ib_register_client(&frdma_client);
	if (err)
		goto err_netdev;

	/* From here on links are added. */
	rdma_link_register(&frdma_link_ops);
	return 0;

err_netdev:
	frdma_netdev_exit();
err_dscp:
	frdma_dscp_exit();
err_net:
	frdma_net_exit();
err_txmem:
	frdma_txmem_exit();
err_flush:
	frdma_flush_queue_exit();
err_page_in:
	frdma_page_in_queue_exit();
err_qp_cache:
	frdma_qp_cache_exit();
err_crc:
	frdma_crc_exit();
	return err;
}

static void __exit frdma_exit(void)
{
	rdma_link_unregister(&frdma_link_ops);
	ib_unregister_driver((enum rdma_driver_id)FRDMA_DRIVER_ID);
	ib_unregister_client(&frdma_client);
	frdma_netdev_exit();
	frdma_dscp_exit();
	frdma_net_exit();
	frdma_queued_exit();
	frdma_txmem_exit();
	frdma_flush_queue_exit();
	frdma_page_in_queue_exit();
	frdma_qp_cache_exit();
	frdma_crc_exit();
}

module_init(frdma_init);
module_exit(frdma_exit);

MODULE_AUTHOR("frdma developers");
MODULE_DESCRIPTION("Software RoCEv2 adapter");
MODULE_LICENSE("GPL");
MODULE_VERSION(__stringify(FRDMA_VERSION_MAJOR) "."
	       __stringify(FRDMA_VERSION_MINOR) "."
	       __stringify(FRDMA_VERSION_PATCH));
MODULE_ALIAS_RDMA_LINK("frdma");
