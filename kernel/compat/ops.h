/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Lets the table in dev.c name today's verbs on kernels whose struct
 * ib_device_ops has older signatures. The last include of dev.c: from here on
 * a verb's name stands for a function of the old type that calls the new one.
 */
#ifndef FRDMA_COMPAT_OPS_H
#define FRDMA_COMPAT_OPS_H

#include <rdma/uverbs_ioctl.h>

/* The driver data sits inside the bundle; a kernel consumer has neither. */
#ifndef HAVE_CREATE_CQ_ATTRS
static int compat_create_cq(struct ib_cq *cq,
			    const struct ib_cq_init_attr *attr,
			    struct ib_udata *udata)
{
	struct uverbs_attr_bundle *attrs = NULL;

	if (udata)
		attrs = rdma_udata_to_uverbs_attr_bundle(udata);
	return frdma_create_cq(cq, attr, attrs);
}

#define frdma_create_cq	compat_create_cq
#endif

#ifndef HAVE_RESIZE_USER_CQ
static int compat_resize_cq(struct ib_cq *cq, int cqe, struct ib_udata *udata)
{
	return cqe < 0 ? -EINVAL : frdma_resize_cq(cq, cqe, udata);
}

#define frdma_resize_cq	compat_resize_cq
#define resize_user_cq	resize_cq
#endif

/* Nobody can ask for a DMA handle. */
#ifndef HAVE_REG_USER_MR_DMAH
static struct ib_mr *compat_reg_user_mr(struct ib_pd *pd, u64 start, u64 length,
					u64 virt_addr, int access,
					struct ib_udata *udata)
{
	return frdma_reg_user_mr(pd, start, length, virt_addr, access, NULL,
				 udata);
}

#define frdma_reg_user_mr compat_reg_user_mr
#endif

/* A device has one port, of which they need not be told. */
#ifndef HAVE_COUNTER_BIND_QP_PORT
static int compat_counter_bind_qp(struct rdma_counter *counter,
				  struct ib_qp *qp)
{
	return frdma_counter_bind_qp(counter, qp, 1);
}

static int compat_counter_unbind_qp(struct ib_qp *qp)
{
	return frdma_counter_unbind_qp(qp, 1);
}

#define frdma_counter_bind_qp	compat_counter_bind_qp
#define frdma_counter_unbind_qp	compat_counter_unbind_qp
#endif

/* Called for each counter, whether there is anything to set up or not. */
#ifdef HAVE_SIZE_RDMA_COUNTER
static void compat_counter_init(struct rdma_counter *counter)
{
}
#endif

/* Verbs that older kernels do not call at all. */
static const struct ib_device_ops frdma_newer_ops = {
#ifdef HAVE_QUERY_PORT_SPEED
	.query_port_speed = frdma_query_port_speed,
#endif
/* Where the core leaves it to the driver how large its own part is. */
#ifdef HAVE_SIZE_RDMA_COUNTER
	.size_rdma_counter = sizeof(struct rdma_counter),
	.counter_init = compat_counter_init,
#endif
};

/* Likewise; the last argument, of which nothing is used, has two types. */
#ifndef HAVE_REG_USER_MR_DMABUF_DMAH
#ifdef HAVE_REG_USER_MR_DMABUF_ATTRS
#define compat_dmabuf_data	uverbs_attr_bundle
#else
#define compat_dmabuf_data	ib_udata
#endif

static struct ib_mr *compat_reg_dmabuf_mr(struct ib_pd *pd, u64 offset,
					  u64 length, u64 virt_addr, int fd,
					  int access,
					  struct compat_dmabuf_data *data)
{
	return frdma_reg_dmabuf_mr(pd, offset, length, virt_addr, fd, access,
				   NULL, NULL);
}

#define frdma_reg_dmabuf_mr compat_reg_dmabuf_mr
#endif

#endif /* FRDMA_COMPAT_OPS_H */
