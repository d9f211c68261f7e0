// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Extended reliable connections: domains, and what is found by its number. */
#include <config.h>

#include <errno.h>
#include <stdlib.h>

#include "frdma.h"
#include "verbs.h"

struct ibv_xrcd *frdma_open_xrcd(struct ibv_context *ibvctx,
				 struct ibv_xrcd_init_attr *attr)
{
	struct ib_uverbs_open_xrcd_resp resp = {};
	struct ibv_open_xrcd cmd = {};
	struct verbs_xrcd *vxrcd;
	int err;

	vxrcd = calloc(1, sizeof(*vxrcd));
	if (!vxrcd)
		return NULL;

	err = ibv_cmd_open_xrcd(ibvctx, vxrcd, sizeof(*vxrcd), attr,
				&cmd, sizeof(cmd), &resp, sizeof(resp));
	if (err)
		goto err_free_xrcd;

	return &vxrcd->xrcd;

err_free_xrcd:
	free(vxrcd);
	errno = err;
	return NULL;
}

int frdma_close_xrcd(struct ibv_xrcd *ibvxrcd)
{
	struct verbs_xrcd *vxrcd;
	int err;

	vxrcd = container_of(ibvxrcd, struct verbs_xrcd, xrcd);
	err = ibv_cmd_close_xrcd(vxrcd);
	if (err)
		return err;

	free(vxrcd);
	return 0;
}

/* One more handle of a queue pair that has no rings. */
struct ibv_qp *frdma_open_qp(struct ibv_context *ibvctx,
			     struct ibv_qp_open_attr *attr)
{
	struct ib_uverbs_create_qp_resp resp = {};
	struct ibv_open_qp cmd = {};
	struct frdma_qp *qp;
	int err;

	qp = calloc(1, sizeof(*qp));
	if (!qp)
		return NULL;

	err = ibv_cmd_open_qp(ibvctx, &qp->vqp, sizeof(qp->vqp), attr,
			      &cmd, sizeof(cmd), &resp, sizeof(resp));
	if (err)
		goto err_free_qp;

	frdma_lock_init(&qp->sq.lock, true);
	frdma_lock_init(&qp->rq.lock, true);
	return &qp->vqp.qp;

err_free_qp:
	free(qp);
	errno = err;
	return NULL;
}
