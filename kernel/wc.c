// SPDX-License-Identifier: GPL-2.0
#include "dev.h"
#include "stats.h"
#include "trace.h"
#include "wc.h"

/* The engine has numbers of its own, which are those of the core. */
#define SAME_NUMBER(a, b) static_assert((int)(a) == (int)(b))

SAME_NUMBER(FRDMA_WC_SUCCESS, IB_WC_SUCCESS);
SAME_NUMBER(FRDMA_WC_LOC_LEN_ERR, IB_WC_LOC_LEN_ERR);
SAME_NUMBER(FRDMA_WC_LOC_QP_OP_ERR, IB_WC_LOC_QP_OP_ERR);
SAME_NUMBER(FRDMA_WC_LOC_PROT_ERR, IB_WC_LOC_PROT_ERR);
SAME_NUMBER(FRDMA_WC_WR_FLUSH_ERR, IB_WC_WR_FLUSH_ERR);
SAME_NUMBER(FRDMA_WC_MW_BIND_ERR, IB_WC_MW_BIND_ERR);
SAME_NUMBER(FRDMA_WC_BAD_RESP_ERR, IB_WC_BAD_RESP_ERR);
SAME_NUMBER(FRDMA_WC_LOC_ACCESS_ERR, IB_WC_LOC_ACCESS_ERR);
SAME_NUMBER(FRDMA_WC_REM_INV_REQ_ERR, IB_WC_REM_INV_REQ_ERR);
SAME_NUMBER(FRDMA_WC_REM_ACCESS_ERR, IB_WC_REM_ACCESS_ERR);
SAME_NUMBER(FRDMA_WC_REM_OP_ERR, IB_WC_REM_OP_ERR);
SAME_NUMBER(FRDMA_WC_RETRY_EXC_ERR, IB_WC_RETRY_EXC_ERR);
SAME_NUMBER(FRDMA_WC_RNR_RETRY_EXC_ERR, IB_WC_RNR_RETRY_EXC_ERR);
SAME_NUMBER(FRDMA_WC_GENERAL_ERR, IB_WC_GENERAL_ERR);
SAME_NUMBER(FRDMA_WQE_FENCE, IB_SEND_FENCE);
SAME_NUMBER(FRDMA_WQE_SIGNALED, IB_SEND_SIGNALED);
SAME_NUMBER(FRDMA_WQE_SOLICITED, IB_SEND_SOLICITED);
SAME_NUMBER(FRDMA_WQE_INLINE, IB_SEND_INLINE);
SAME_NUMBER(FRDMA_WR_REG_MR, IB_WR_REG_MR);
SAME_NUMBER(FRDMA_WR_FLUSH, IB_WR_FLUSH);
SAME_NUMBER(FRDMA_WC_FLUSH, IB_WC_FLUSH);
SAME_NUMBER(FRDMA_WR_ATOMIC_WRITE, IB_WR_ATOMIC_WRITE);
SAME_NUMBER(FRDMA_WC_ATOMIC_WRITE, IB_WC_ATOMIC_WRITE);

/* An overflow breaks the queue pair that caused it (IBTA 10.8.2.1). */
static void push(struct frdma_qp *qp, struct frdma_cq *cq,
		 struct frdma_cqe *cqe, bool solicited)
{
	cqe->qp_num = qp->qpn;
	if (!qp->user)
		cqe->kernel_qp = (uintptr_t)qp->ib;
	trace_frdma_cqe(qp->dev->ndev->ifindex, qp->qpn, cqe->wr_id,
			cqe->status, cqe->opcode, cqe->byte_len);

	if (cqe->status == FRDMA_WC_WR_FLUSH_ERR)
		frdma_qp_count(qp, FRDMA_CNT_CQE_FLUSHES);
	else if (cqe->status)
		frdma_qp_count(qp, FRDMA_CNT_CQE_ERRORS);

	if (frdma_cq_push(cq, cqe, solicited))
		return;
	frdma_qp_count(qp, FRDMA_CNT_CQ_OVERFLOWS);
	if (frdma_qp_state(qp) != IB_QPS_ERR)
		frdma_qp_event(qp, IB_EVENT_QP_FATAL);
	frdma_qp_error(qp);
}

/* Only the kernel registers memory, and each kernel numbers that its own way. */
static u32 wc_opcode(const struct frdma_swr *wr)
{
	u8 opcode = frdma_wr(wr->wqe.opcode)->wc_opcode;

	return opcode == FRDMA_WC_REG_MR ? IB_WC_REG_MR : opcode;
}

/**
 * frdma_wc_send - complete a send work request
 * @qp: whose send side the caller owns
 * @wr: the work request
 * @status: enum frdma_wc_status
 *
 * Success is silent unless it was asked for.
 */
void frdma_wc_send(struct frdma_qp *qp, const struct frdma_swr *wr, u8 status)
{
	struct frdma_cqe cqe = {
		.wr_id	    = wr->wqe.wr_id,
		.status	    = status,
		.opcode	    = wc_opcode(wr),
		.byte_len   = frdma_kind_brings_data(wr->kind) ? wr->len : 0,
		.vendor_err = wr->vendor_err,
		.vlan_id    = 0xffff,
	};

	if (!status && !qp->sq.signal_all &&
	    !(wr->wqe.flags & FRDMA_WQE_SIGNALED))
		return;
	push(qp, qp->sq.cq, &cqe, false);
	qp->sq.notify = true;
}

/**
 * frdma_wc_recv - complete the receive request in use
 * @qp: whose receive side the caller owns, with a receive request in use
 * @cqe: what the completion says, but for the work request and queue pair
 * @solicited: the peer asked for an event
 */
void frdma_wc_recv(struct frdma_qp *qp, struct frdma_cqe *cqe, bool solicited)
{
	cqe->wr_id = qp->rq.cur->wqe.wr_id;
	if (!(cqe->wc_flags & IB_WC_GRH))
		cqe->vlan_id = 0xffff;
	qp->rq.have_cur = false;
	push(qp, qp->rq.cq, cqe, solicited);
	qp->rq.notify = true;
}
