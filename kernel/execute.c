// SPDX-License-Identifier: GPL-2.0
#include <linux/atomic.h>

#include "dev.h"
#include "execute.h"
#include "flush.h"
#include "mr.h"
#include "proto/resp.h"
#include "qp.h"
#include "recv.h"
#include "rx.h"
#include "sge.h"
#include "stats.h"
#include "wc.h"

/**
 * frdma_execute_enter - enter memory that the peer names
 * @qp: whose receive side the caller owns
 * @rkey: its key
 * @va: where
 * @len: bytes, 0 for none of it
 * @access: rights that the peer needs, enum ib_access_flags
 *
 * Return: the region, to be left by frdma_mr_leave(); NULL if it is not his.
 */
struct frdma_mr *frdma_execute_enter(struct frdma_qp *qp, u32 rkey, u64 va,
				     u64 len, int access)
{
	enum frdma_mr_fault fault;

	return frdma_mr_enter(qp->dev, qp->pd, qp->qpn, rkey, va, len, access,
			      &fault);
}

/**
 * frdma_execute_page_in - have memory brought that is not there
 * @qp: whose receive side the caller owns
 * @mr: entered
 * @va: where
 * @len: bytes that are needed now
 * @ahead: bytes that will be
 * @access: what is done with them, enum ib_access_flags
 *
 * Memory that is not pinned may be absent: the peer has to come again, as it
 * has for a receive request (9.7.5.2.8 leaves open for what).
 *
 * Return: FRDMA_RESP_ACCEPT if it is there, FRDMA_RESP_NO_RECV if it will be,
 * FRDMA_RESP_BAD_KEY if it never can.
 */
enum frdma_resp_verdict frdma_execute_page_in(struct frdma_qp *qp,
					      const struct frdma_mr *mr, u64 va,
					      u32 len, u32 ahead, int access)
{
	if (!frdma_mr_is_absent(mr, va, len, access))
		return FRDMA_RESP_ACCEPT;

	return frdma_mr_page_in(mr, va, len, ahead, access,
				&qp->rq.page_in) == FRDMA_MR_ABSENT ?
	       FRDMA_RESP_NO_RECV : FRDMA_RESP_BAD_KEY;
}

/* Fill a receive request, as far as the packet goes. */
static enum frdma_resp_verdict store_send(struct frdma_qp *qp,
					  const struct frdma_rx_pkt *pkt)
{
	const struct frdma_rwr *cur = qp->rq.cur;
	u32 got = qp->rq.resp.got;
	u32 len = frdma_rx_len(pkt);
	enum frdma_mr_fault fault;

	fault = frdma_sge_scatter_payload(qp->dev, qp->rq.pd, cur->sge,
					  cur->wqe.num_sge, got, pkt->payload,
					  len);
	if (fault == FRDMA_MR_OK)
		return FRDMA_RESP_ACCEPT;
	/* The packet of a run that misses them asks, when it comes alone. */
	if (fault == FRDMA_MR_ABSENT && pkt->nr == 1)
		fault = frdma_sge_page_in(qp->dev, qp->rq.pd, cur->sge,
					  cur->wqe.num_sge, got, len,
					  IB_ACCESS_LOCAL_WRITE,
					  &qp->rq.page_in);

	return fault == FRDMA_MR_OK || fault == FRDMA_MR_ABSENT ?
	       FRDMA_RESP_NO_RECV : FRDMA_RESP_RECV_FAULT;
}

static enum frdma_resp_verdict execute_send(struct frdma_qp *qp,
					    const struct frdma_rx_pkt *pkt)
{
	enum frdma_resp_verdict verdict = FRDMA_RESP_ACCEPT;

	if (qp->rq.cur->fault)
		return FRDMA_RESP_RECV_FAULT;
	if (frdma_rx_len(pkt))
		verdict = store_send(qp, pkt);
	if (verdict != FRDMA_RESP_ACCEPT)
		return verdict;

	if (!(frdma_op(pkt->hdr.opcode)->ext & FRDMA_EXT_INV))
		return FRDMA_RESP_ACCEPT;

	switch (frdma_mr_invalidate(qp->dev, qp->pd, qp->qpn,
				    pkt->hdr.inv_rkey, true, NULL)) {
	case FRDMA_MR_NOT_INVALIDATED:
		return FRDMA_RESP_BAD_INV;
	case FRDMA_MR_DRAINING:
		/* A reader on another CPU: the peer has to come again. */
		return FRDMA_RESP_NO_RECV;
	default:
		return FRDMA_RESP_ACCEPT;
	}
}

/* As in store_send(), a packet of a run asks when it comes alone. */
static enum frdma_resp_verdict ask_for_write(struct frdma_qp *qp,
					     const struct frdma_rx_pkt *pkt,
					     const struct frdma_mr *mr, u64 va,
					     u32 ahead)
{
	u32 len = frdma_rx_len(pkt);

	if (pkt->nr == 1)
		return frdma_execute_page_in(qp, mr, va, len, ahead,
					     IB_ACCESS_REMOTE_WRITE);
	return frdma_mr_is_absent(mr, va, len, IB_ACCESS_REMOTE_WRITE) ?
	       FRDMA_RESP_NO_RECV : FRDMA_RESP_ACCEPT;
}

static enum frdma_resp_verdict execute_write(struct frdma_qp *qp,
					     const struct frdma_rx_pkt *pkt)
{
	const struct frdma_resp *rs = &qp->rq.resp;
	bool starts = frdma_op(pkt->hdr.opcode)->starts;
	u32 rkey = starts ? pkt->hdr.rkey : rs->rkey;
	u64 va = starts ? pkt->hdr.va : rs->va;
	u32 payload_len = frdma_rx_len(pkt);
	u32 len = starts ? pkt->hdr.dma_len : payload_len;
	struct frdma_payload from = pkt->payload;
	enum frdma_resp_verdict verdict;
	struct frdma_mr *mr;

	/* Without a byte to write, the key means nothing (IBTA 9.4.3). */
	if (!len)
		return FRDMA_RESP_ACCEPT;
	mr = frdma_execute_enter(qp, rkey, va, len, IB_ACCESS_REMOTE_WRITE);
	if (!mr)
		return FRDMA_RESP_BAD_KEY;
	verdict = ask_for_write(qp, pkt, mr, va, starts ? len : rs->left);
	if (verdict == FRDMA_RESP_ACCEPT)
		frdma_mr_write_payload(mr, va, &from, payload_len);
	frdma_mr_leave(mr);
	return verdict;
}

/*
 * The response is produced after the commit; here only the key is judged, and
 * whether the first packet is there: once the request is accepted, the peer's
 * patience is that of its timeout.
 */
static enum frdma_resp_verdict execute_read(struct frdma_qp *qp,
					    const struct frdma_rx_pkt *pkt)
{
	const struct frdma_hdr *hdr = &pkt->hdr;
	enum frdma_resp_verdict verdict;
	struct frdma_mr *mr;

	if (!hdr->dma_len)
		return FRDMA_RESP_ACCEPT;
	mr = frdma_execute_enter(qp, hdr->rkey, hdr->va, hdr->dma_len,
				 IB_ACCESS_REMOTE_READ);
	if (!mr)
		return FRDMA_RESP_BAD_KEY;
	verdict = frdma_execute_page_in(qp, mr, hdr->va,
					min(hdr->dma_len, qp->rq.resp.mtu),
					hdr->dma_len, IB_ACCESS_REMOTE_READ);
	frdma_mr_leave(mr);
	return verdict;
}

/*
 * Enter the eight bytes that an atomic, or an ATOMIC WRITE, is about. If they
 * can be touched, the caller leaves the region.
 */
static enum frdma_resp_verdict
enter_eight_bytes(struct frdma_qp *qp, const struct frdma_hdr *hdr, int access,
		  struct frdma_mr **mr, u64 **at)
{
	enum frdma_resp_verdict verdict;

	*mr = frdma_execute_enter(qp, hdr->rkey, hdr->va, sizeof(**at), access);
	if (!*mr)
		return FRDMA_RESP_BAD_KEY;
	verdict = frdma_execute_page_in(qp, *mr, hdr->va, sizeof(**at),
					sizeof(**at), access);
	if (verdict != FRDMA_RESP_ACCEPT)
		goto err_leave;
	*at = frdma_mr_atomic(*mr, hdr->va);
	if (*at)
		return FRDMA_RESP_ACCEPT;
	verdict = FRDMA_RESP_BAD_ALIGN;

err_leave:
	frdma_mr_leave(*mr);
	return verdict;
}

/* With the CPU's own atomics: host programs may join in (ATOMIC_GLOB). */
static enum frdma_resp_verdict execute_atomic(struct frdma_qp *qp,
					      const struct frdma_rx_pkt *pkt,
					      u64 *orig)
{
	const struct frdma_hdr *hdr = &pkt->hdr;
	enum frdma_resp_verdict verdict;
	struct frdma_mr *mr;
	u64 *at;

	verdict = enter_eight_bytes(qp, hdr, IB_ACCESS_REMOTE_ATOMIC, &mr, &at);
	if (verdict != FRDMA_RESP_ACCEPT)
		return verdict;
	if (frdma_opcode_swaps(hdr->opcode))
		*orig = cmpxchg64(at, hdr->compare, hdr->swap_add);
	else
		*orig = atomic64_fetch_add(hdr->swap_add, (atomic64_t *)at);
	frdma_mr_leave(mr);
	return FRDMA_RESP_ACCEPT;
}

/*
 * Whoever sees the eight bytes sees all of them, and what was written before
 * them (A19): a store with release.
 */
static enum frdma_resp_verdict
execute_atomic_write(struct frdma_qp *qp, const struct frdma_rx_pkt *pkt)
{
	struct frdma_payload from = pkt->payload;
	enum frdma_resp_verdict verdict;
	struct frdma_mr *mr;
	u64 *at, value;

	verdict = enter_eight_bytes(qp, &pkt->hdr, IB_ACCESS_REMOTE_WRITE, &mr,
				    &at);
	if (verdict != FRDMA_RESP_ACCEPT)
		return verdict;
	frdma_payload_copy(&from, &value, sizeof(value));
	atomic64_set_release((atomic64_t *)at, value);
	frdma_mr_leave(mr);
	return FRDMA_RESP_ACCEPT;
}

/*
 * Returns true once all of the range is in persistent memory. A region may be as
 * large as the memory of the host, so a work item writes back what is more than a
 * step may. The peer is told to come again; meanwhile nothing else is executed.
 */
static bool flush_range(struct frdma_qp *qp, const struct frdma_mr *mr,
			const struct frdma_flush_range *range)
{
	struct frdma_flush *flush = &qp->rq.flush;

	if (frdma_flush_is_busy(flush))
		return false;
	if (frdma_flush_is_done(flush, range))
		return true;
	if (range->len <= FRDMA_FLUSH_AT_ONCE - qp->rq.flush_spent) {
		frdma_flush_persistent(mr, range->addr, range->len);
		qp->rq.flush_spent += range->len;
		return true;
	}
	frdma_flush_begin(flush, qp->qpn, range);
	return false;
}

static bool flush(struct frdma_qp *qp, const struct frdma_mr *mr,
		  const struct frdma_hdr *hdr)
{
	struct frdma_flush_range range = {
		.request = hdr->psn,
		.pd	= qp->pd,
		.rkey	= hdr->rkey,
		.access	= frdma_resp_flush_access(hdr),
		.addr	= hdr->va,
		.len	= hdr->dma_len,
	};

	if (!(hdr->flush_placement & FRDMA_FLUSH_PERSISTENT)) {
		frdma_flush_global();
		return true;
	}
	if (hdr->flush_select == FRDMA_FLUSH_REGION) {
		range.addr = mr->iova;
		range.len = mr->length;
	}
	return flush_range(qp, mr, &range);
}

/* Requests are executed in order: what it is about was written before. */
static enum frdma_resp_verdict execute_flush(struct frdma_qp *qp,
					     const struct frdma_rx_pkt *pkt)
{
	const struct frdma_hdr *hdr = &pkt->hdr;
	bool all = hdr->flush_select == FRDMA_FLUSH_REGION;
	struct frdma_mr *mr;
	bool done;

	mr = frdma_execute_enter(qp, hdr->rkey, hdr->va, all ? 0 : hdr->dma_len,
				 frdma_resp_flush_access(hdr));
	if (!mr)
		return FRDMA_RESP_BAD_KEY;
	done = flush(qp, mr, hdr);
	frdma_mr_leave(mr);
	return done ? FRDMA_RESP_ACCEPT : FRDMA_RESP_NO_RECV;
}

/**
 * frdma_execute - do what a request asks for
 * @qp: whose receive side the caller owns
 * @pkt: a request that was judged FRDMA_RESP_ACCEPT, or a run of them
 * @orig: set to what an atomic found in memory
 *
 * Return: FRDMA_RESP_ACCEPT, or why it could not be done; of a run, why one of
 * its packets could not be, and some of those before it may be done.
 */
enum frdma_resp_verdict
frdma_execute(struct frdma_qp *qp, const struct frdma_rx_pkt *pkt, u64 *orig)
{
	switch (frdma_op(pkt->hdr.opcode)->kind) {
	case FRDMA_KIND_SEND:
		return execute_send(qp, pkt);
	case FRDMA_KIND_WRITE:
		return execute_write(qp, pkt);
	case FRDMA_KIND_READ:
		return execute_read(qp, pkt);
	case FRDMA_KIND_ATOMIC_WRITE:
		return execute_atomic_write(qp, pkt);
	case FRDMA_KIND_FLUSH:
		return execute_flush(qp, pkt);
	default:
		return execute_atomic(qp, pkt, orig);
	}
}

/* A message that uses a receive request is complete. */
static void complete_recv(struct frdma_qp *qp, const struct frdma_rx_pkt *pkt,
			  u32 len)
{
	const struct frdma_op *op = frdma_op(pkt->hdr.opcode);
	bool write = op->kind == FRDMA_KIND_WRITE;
	struct frdma_cqe cqe = {
		.opcode	  = write ? IB_WC_RECV_RDMA_WITH_IMM : IB_WC_RECV,
		.byte_len = len,
	};

	if (op->ext & FRDMA_EXT_XRCETH)
		cqe.src_qp = qp->attr.dest_qp_num;
	if (op->ext & FRDMA_EXT_IMM) {
		cqe.wc_flags |= IB_WC_WITH_IMM;
		cqe.ex = (__force u32)pkt->hdr.imm_data;
	}
	if (op->ext & FRDMA_EXT_INV) {
		cqe.wc_flags |= IB_WC_WITH_INVALIDATE;
		cqe.ex = pkt->hdr.inv_rkey;
	}
	frdma_wc_recv(qp, &cqe, pkt->hdr.solicited);
}

static void count_request(struct frdma_qp *qp, const struct frdma_op *op)
{
	static const enum frdma_counter counters[] = {
		[FRDMA_KIND_SEND]   = FRDMA_CNT_RX_SENDS,
		[FRDMA_KIND_WRITE]  = FRDMA_CNT_RX_WRITES,
		[FRDMA_KIND_READ]   = FRDMA_CNT_RX_READS,
		[FRDMA_KIND_ATOMIC] = FRDMA_CNT_RX_ATOMICS,
		[FRDMA_KIND_ATOMIC_WRITE] = FRDMA_CNT_RX_ATOMIC_WRITES,
		[FRDMA_KIND_FLUSH]  = FRDMA_CNT_RX_FLUSHES,
	};

	if (op->ends)
		frdma_qp_count(qp, counters[op->kind]);
}

/* IBTA 11.6.3.2: the peer is connected, though nobody said so. */
static void notice_established(struct frdma_qp *qp)
{
	if (frdma_qp_state(qp) != IB_QPS_RTR || qp->rq.comm_est)
		return;
	qp->rq.comm_est = true;
	frdma_qp_event(qp, IB_EVENT_COMM_EST);
}

/**
 * frdma_executed - tell whom it concerns, once a request is committed
 * @qp: whose receive side the caller owns
 * @pkt: the request, or a run of those in the middle of a message
 * @len: bytes of its message so far, of one that ends it
 */
void frdma_executed(struct frdma_qp *qp, const struct frdma_rx_pkt *pkt,
		    u32 len)
{
	const struct frdma_op *op = frdma_op(pkt->hdr.opcode);

	notice_established(qp);
	count_request(qp, op);
	if (op->ends_recv)
		complete_recv(qp, pkt, len);
}
