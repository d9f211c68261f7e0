// SPDX-License-Identifier: GPL-2.0
/*
 * What "rdma -dd resource show" says of our objects beyond what the core
 * knows. Nothing is stopped for it: each figure is read as it is at that
 * moment, so figures of busy objects need not fit together.
 *
 * Everybody may ask. So nothing is said here by which memory or a connection
 * could be reached: no keys, no addresses, and PSNs to administrators only.
 */
#include <linux/capability.h>
#include <net/netlink.h>
#include <rdma/ib_verbs.h>
#include <rdma/rdma_netlink.h>
#include <rdma/restrack.h>

#include "cq.h"
#include "mr.h"
#include "nl.h"
#include "qp.h"

/**
 * struct detail - one figure
 * @name: as users see it, behind "drv_"
 * @value: of it
 */
struct detail {
	const char *name;
	u32 value;
};

static int put_figures(struct sk_buff *msg, const struct detail *details,
		       size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (rdma_nl_put_driver_u32(msg, details[i].name,
					   details[i].value))
			return -EMSGSIZE;
	return 0;
}

/* A word, if there is one, and figures behind it. */
static int put_details(struct sk_buff *msg, const char *name, const char *word,
		       const struct detail *details, size_t n)
{
	struct nlattr *table = nla_nest_start(msg, RDMA_NLDEV_ATTR_DRIVER);

	if (!table)
		return -EMSGSIZE;
	if ((word && rdma_nl_put_driver_string(msg, name, word)) ||
	    put_figures(msg, details, n)) {
		nla_nest_cancel(msg, table);
		return -EMSGSIZE;
	}
	nla_nest_end(msg, table);
	return 0;
}

static bool waits_for_pages(const struct frdma_page_in *in)
{
	return frdma_glance(in->state) == FRDMA_PAGE_IN_BUSY;
}

static const char *waits_for(const struct frdma_sq *sq)
{
	const struct frdma_retry *rt = &sq->req.retry;
	static const char * const names[] = {
		[FRDMA_WAIT_NONE] = "nothing",
		[FRDMA_WAIT_ACK]  = "ack",
		[FRDMA_WAIT_RNR]  = "receiver",
	};

	if (waits_for_pages(&sq->page_in) || frdma_glance(rt->held))
		return "pages";
	if (frdma_glance(rt->local_ns))
		return "host";
	return names[frdma_glance(rt->wait)];
}

/* A sender that knows the number of a queue pair and a PSN can speak for its peer. */
static bool may_see_psns(void)
{
	return ns_capable_noaudit(&init_user_ns, CAP_NET_ADMIN);
}

/*
 * What is in a ring. The receives of a shared queue are nobody's yet; some
 * queue pairs have no ring of sends either.
 */
static u32 posted(const struct frdma_ring *ring, u32 cons)
{
	return ring->head ? frdma_ring_prod_acquire(ring) - cons : 0;
}

/* The last figures of a queue pair. */
#define NR_PSNS		4

static int put_qp(struct sk_buff *msg, const struct frdma_qp *qp)
{
	const struct frdma_resp *rs = &qp->rq.resp;
	const struct frdma_req *rq = &qp->sq.req;
	const struct detail details[] = {
		{ "sq_posted", posted(&qp->sq.ring, frdma_glance(rq->wr_una)) },
		{ "window", frdma_glance(rq->cc.window) },
		{ "reads_out", frdma_glance(rq->rd_out) },
		{ "retries_left", frdma_glance(rq->retry.retry_left) },
		{ "rnr_retries_left", frdma_glance(rq->retry.rnr_left) },
		{ "rq_posted", posted(&qp->rq.ring, frdma_glance(qp->rq.cons)) },
		{ "rq_waits_for_pages", waits_for_pages(&qp->rq.page_in) },
		{ "msn", frdma_glance(rs->msn) },
		{ "una_psn", frdma_glance(rq->una_psn) },
		{ "next_psn", frdma_glance(rq->psn) },
		{ "end_psn", frdma_glance(rq->end_psn) },
		{ "expected_psn", frdma_glance(rs->epsn) },
	};
	size_t n = ARRAY_SIZE(details) - (may_see_psns() ? 0 : NR_PSNS);

	return put_details(msg, "waits_for", waits_for(&qp->sq), details, n);
}

/**
 * frdma_fill_res_qp_entry - where both sides of a queue pair stand
 * @msg: of netlink
 * @ib: queue pair; it may be destroyed meanwhile
 *
 * Context: process. Return: 0; -EMSGSIZE; -EAGAIN: leave it out.
 */
int frdma_fill_res_qp_entry(struct sk_buff *msg, struct ib_qp *ib)
{
	struct frdma_ib_qp *ibqp = to_frdma_ib_qp(ib);
	int err = -EAGAIN;

	mutex_lock(&ibqp->mutex);
	if (ibqp->qp)
		err = put_qp(msg, ibqp->qp);
	mutex_unlock(&ibqp->mutex);
	return err;
}

/**
 * frdma_fill_res_cq_entry - indices of a completion queue
 * @msg: of netlink
 * @ib: completion queue; it may be destroyed meanwhile
 *
 * Context: process. Return: 0; -EMSGSIZE; -EAGAIN: leave it out.
 */
int frdma_fill_res_cq_entry(struct sk_buff *msg, struct ib_cq *ib)
{
	struct frdma_cq *cq = to_frdma_cq(ib);
	int err = -EAGAIN;

	mutex_lock(&cq->resize);
	if (cq->ring.head) {
		const struct detail details[] = {
			{ "entries", cq->ring.entries },
			{ "prod", frdma_glance(cq->prod) },
			{ "cons", frdma_ring_cons_acquire(&cq->ring) },
			{ "armed", !!frdma_ring_armed(&cq->ring) },
			{ "dead", frdma_glance(cq->dead) },
		};

		err = put_details(msg, NULL, NULL, details,
				  ARRAY_SIZE(details));
	}
	mutex_unlock(&cq->resize);
	return err;
}

/**
 * frdma_fill_res_mr_entry - what a memory region is
 * @msg: of netlink
 * @ib: region
 *
 * Context: process. Return: 0; -EMSGSIZE.
 */
int frdma_fill_res_mr_entry(struct sk_buff *msg, struct ib_mr *ib)
{
	static const char * const kinds[] = {
		[FRDMA_MR_USER] = "user",
		[FRDMA_MR_FAST] = "fast",
		[FRDMA_MR_DMA]	= "dma",
		[FRDMA_MR_DMABUF] = "dma-buf",
		[FRDMA_MR_DM]	= "device",
		[FRDMA_MR_ODP]	= "on demand",
	};
	const struct frdma_mr *mr = to_frdma_mr(ib);
	const struct detail details[] = {
		{ "access", READ_ONCE(mr->access) },
		{ "valid", frdma_mr_is_valid(mr) },
		{ "windows", max(atomic_read(&mr->nr_windows), 0) },
	};

	return put_details(msg, "kind", kinds[mr->kind], details,
			   ARRAY_SIZE(details));
}
