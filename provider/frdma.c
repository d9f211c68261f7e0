// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The door: which devices are ours, and what a context can do. */
#include <config.h>

#include <stdlib.h>

#include <rdma/frdma-abi-layout.h>

#include "frdma.h"
#include "abi.h"
#include "cq.h"
#include "dm.h"
#include "mr.h"
#include "pd.h"
#include "qp.h"
#include "srq.h"
#include "verbs.h"

static void frdma_free_context(struct ibv_context *ibvctx);

static const struct verbs_match_ent frdma_match_table[] = {
	VERBS_DRIVER_ID(FRDMA_DRIVER_ID),
	{}
};

static const struct verbs_context_ops frdma_ctx_ops = {
	.advise_mr = frdma_advise_mr,
	.alloc_dm = frdma_alloc_dm,
	.alloc_mw = frdma_alloc_mw,
	.alloc_parent_domain = frdma_alloc_parent_domain,
	.alloc_pd = frdma_alloc_pd,
	.alloc_td = frdma_alloc_td,
	.attach_mcast = ibv_cmd_attach_mcast,
	.bind_mw = frdma_bind_mw,
	.close_xrcd = frdma_close_xrcd,
	.create_ah = frdma_create_ah,
	.create_cq = frdma_create_cq,
	.create_cq_ex = frdma_create_cq_ex,
	.create_qp = frdma_create_qp,
	.create_qp_ex = frdma_create_qp_ex,
	.create_srq = frdma_create_srq,
	.create_srq_ex = frdma_create_srq_ex,
	.dealloc_mw = frdma_dealloc_mw,
	.dealloc_pd = frdma_dealloc_pd,
	.dealloc_td = frdma_dealloc_td,
	.dereg_mr = frdma_dereg_mr,
	.destroy_ah = frdma_destroy_ah,
	.destroy_cq = frdma_destroy_cq,
	.destroy_qp = frdma_destroy_qp,
	.destroy_srq = frdma_destroy_srq,
	.detach_mcast = ibv_cmd_detach_mcast,
	.free_context = frdma_free_context,
	.free_dm = frdma_free_dm,
	.get_srq_num = frdma_get_srq_num,
	.import_dm = frdma_import_dm,
	.import_mr = frdma_import_mr,
	.import_pd = frdma_import_pd,
	.modify_cq = frdma_modify_cq,
	.modify_qp = frdma_modify_qp,
	.modify_srq = frdma_modify_srq,
	.open_qp = frdma_open_qp,
	.open_xrcd = frdma_open_xrcd,
	.poll_cq = frdma_poll_cq,
	.post_recv = frdma_post_recv,
	.post_send = frdma_post_send,
	.post_srq_recv = frdma_post_srq_recv,
	.query_device_ex = frdma_query_device_ex,
	.query_ece = frdma_query_ece,
	.query_port = frdma_query_port,
#if FRDMA_QUERY_PORT_SPEED
	.query_port_speed = ibv_cmd_query_port_speed,
#endif
	.query_qp = frdma_query_qp,
	.query_rt_values = frdma_query_rt_values,
	.query_srq = frdma_query_srq,
	.reg_dm_mr = frdma_reg_dm_mr,
	.reg_dmabuf_mr = frdma_reg_dmabuf_mr,
	.reg_mr = frdma_reg_mr,
	.req_notify_cq = frdma_req_notify_cq,
	.rereg_mr = frdma_rereg_mr,
	.resize_cq = frdma_resize_cq,
	.set_ece = frdma_set_ece,
	.unimport_dm = frdma_unimport_dm,
	.unimport_mr = frdma_unimport_mr,
	.unimport_pd = frdma_unimport_pd,
};

static int get_context(struct verbs_context *vctx)
{
	struct frdma_get_context_resp resp = {};
	struct frdma_get_context cmd = {};

	return ibv_cmd_get_context(vctx, &cmd.ibv_cmd, sizeof(cmd),
#if FRDMA_GET_CONTEXT_FDS
				   NULL,
#endif
				   &resp.ibv_resp, sizeof(resp));
}

/* The context that another process has, who lent its file. */
static int query_context(struct verbs_context *vctx)
{
	return ibv_cmd_query_context(&vctx->context, NULL);
}

static struct verbs_context *open_context(struct ibv_device *ibvdev, int cmd_fd,
					  int (*learn)(struct verbs_context *))
{
	struct frdma_context *ctx;

	ctx = verbs_init_and_alloc_context(ibvdev, cmd_fd, ctx, vctx,
					   FRDMA_DRIVER_ID);
	if (!ctx)
		return NULL;

	if (learn(&ctx->vctx)) {
		verbs_err(&ctx->vctx, "cannot get a context: %m\n");
		goto err_free_context;
	}

	verbs_set_ops(&ctx->vctx, &frdma_ctx_ops);
	return &ctx->vctx;

err_free_context:
	verbs_uninit_context(&ctx->vctx);
	free(ctx);
	return NULL;
}

static struct verbs_context *frdma_alloc_context(struct ibv_device *ibvdev,
						 int cmd_fd,
						 void *private_data)
{
	(void)private_data;

	return open_context(ibvdev, cmd_fd, get_context);
}

static struct verbs_context *frdma_import_context(struct ibv_device *ibvdev,
						  int cmd_fd)
{
	return open_context(ibvdev, cmd_fd, query_context);
}

static void frdma_free_context(struct ibv_context *ibvctx)
{
	struct frdma_context *ctx;

	ctx = container_of(ibvctx, struct frdma_context, vctx.context);
	verbs_uninit_context(&ctx->vctx);
	free(ctx);
}

/*
 * Netlink tells which driver a device belongs to. Where it cannot be asked,
 * libibverbs knows devices from sysfs alone, and ours say there what they are.
 */
static bool frdma_match_device(struct verbs_sysfs_dev *sysfs_dev)
{
	char version[16];

	if (sysfs_dev->driver_id != RDMA_DRIVER_UNKNOWN)
		return sysfs_dev->match;

	return ibv_read_ibdev_sysfs_file(version, sizeof(version), sysfs_dev,
					 "frdma_abi") > 0;
}

static struct verbs_device *
frdma_alloc_device(struct verbs_sysfs_dev *sysfs_dev __attribute__((unused)))
{
	return calloc(1, sizeof(struct verbs_device));
}

static void frdma_uninit_device(struct verbs_device *vdev)
{
	free(vdev);
}

static const struct verbs_device_ops frdma_dev_ops = {
	.name = "frdma",
	.match_min_abi_version = FRDMA_ABI_VERSION,
	.match_max_abi_version = FRDMA_ABI_VERSION,
	.match_table = frdma_match_table,
	.match_device = frdma_match_device,
	.alloc_device = frdma_alloc_device,
	.uninit_device = frdma_uninit_device,
	.alloc_context = frdma_alloc_context,
	.import_context = frdma_import_context,
};
PROVIDER_DRIVER(frdma, frdma_dev_ops);
