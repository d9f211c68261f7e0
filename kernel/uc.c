// SPDX-License-Identifier: GPL-2.0
#include "dev.h"
#include "execute.h"
#include "proto/resp.h"
#include "qp.h"
#include "recv.h"
#include "rx.h"
#include "stats.h"
#include "uc.h"
#include "wc.h"

/*
 * The receive request that the packet would use: the open message's, if any.
 * The rest of a message that was given up takes none: others may wait for it.
 */
static struct frdma_resp_recv look_for_recv(struct frdma_qp *qp,
					    const struct frdma_op *op)
{
	struct frdma_resp_recv recv = { };

	if (op->starts == qp->rq.resp.in_msg)
		return recv;
	if (op->kind != FRDMA_KIND_SEND && !op->takes_recv)
		return recv;
	recv.ready = frdma_recv_take(qp);
	if (recv.ready)
		recv.len = qp->rq.cur->fault ? U32_MAX : qp->rq.cur->len;
	return recv;
}

/*
 * The peer's mistakes cost it the message, and nobody is told (IBTA 9.8.3).
 * A receive request that cannot be filled is a mistake of this end.
 */
static void refuse(struct frdma_qp *qp, enum frdma_resp_verdict verdict)
{
	struct frdma_cqe cqe = {
		.status	    = FRDMA_WC_LOC_PROT_ERR,
		.opcode	    = IB_WC_RECV,
		.vendor_err = verdict,
	};

	frdma_resp_abandon(&qp->rq.resp);
	switch (verdict) {
	case FRDMA_RESP_BAD_ORDER:
		frdma_qp_drop_unbuilt(qp, FRDMA_DROP_OUT_OF_SEQUENCE);
		break;
	case FRDMA_RESP_NO_RECV:
		frdma_qp_drop_unbuilt(qp, FRDMA_DROP_NO_RECV);
		break;
	case FRDMA_RESP_RECV_FAULT:
		frdma_qp_drop_unbuilt(qp, FRDMA_DROP_BAD_REQUEST);
		frdma_wc_recv(qp, &cqe, false);
		frdma_qp_error(qp);
		break;
	default:
		frdma_qp_drop_unbuilt(qp, FRDMA_DROP_BAD_REQUEST);
		break;
	}
}

static void take_request(struct frdma_qp *qp, const struct frdma_rx_pkt *pkt)
{
	const struct frdma_op *op = frdma_op(pkt->hdr.opcode);
	struct frdma_resp *rs = &qp->rq.resp;
	enum frdma_resp_verdict verdict;
	u64 orig;
	u32 len;

	if (!frdma_qp_can_recv(qp)) {
		frdma_qp_drop_unbuilt(qp, FRDMA_DROP_QP_STATE);
		return;
	}
	if (frdma_resp_breaks(rs, &pkt->hdr)) {
		frdma_qp_count(qp, FRDMA_CNT_OUT_OF_ORDER);
		frdma_resp_abandon(rs);
	}

	verdict = frdma_resp_judge_uc(rs, &pkt->hdr, look_for_recv(qp, op));
	if (verdict == FRDMA_RESP_ACCEPT)
		verdict = frdma_execute(qp, pkt, &orig);
	if (verdict != FRDMA_RESP_ACCEPT) {
		refuse(qp, verdict);
		return;
	}

	len = rs->got + pkt->hdr.payload_len;
	frdma_resp_commit_uc(rs, &pkt->hdr);
	frdma_executed(qp, pkt, len);
}

/* How many packets of a run can be executed at once. */
static u32 count_run(struct frdma_qp *qp, const struct frdma_rx_pkt *pkt)
{
	const struct frdma_resp *rs = &qp->rq.resp;
	struct frdma_resp_recv recv;

	if (!frdma_qp_can_recv(qp) || frdma_resp_breaks(rs, &pkt->hdr))
		return 0;
	recv = look_for_recv(qp, frdma_op(pkt->hdr.opcode));
	if (frdma_resp_judge_uc(rs, &pkt->hdr, recv) != FRDMA_RESP_ACCEPT)
		return 0;
	return frdma_resp_count_run(rs, &pkt->hdr, recv, pkt->nr);
}

/* As the responder's: if one of them cannot be executed, all come alone. */
static void take_run(struct frdma_qp *qp, struct frdma_rx_pkt *pkt)
{
	u64 orig;

	pkt->nr = count_run(qp, pkt);
	if (!pkt->nr)
		return;
	if (frdma_execute(qp, pkt, &orig) != FRDMA_RESP_ACCEPT) {
		pkt->nr = 0;
		return;
	}
	frdma_resp_commit_run(&qp->rq.resp, &pkt->hdr, pkt->nr);
	frdma_executed(qp, pkt, 0);
}

/**
 * frdma_uc_take - take a request, or a run, that never was in a buffer
 * @qp: whose receive side the caller owns
 * @pkt: judged as frdma_rx_each() would; becomes what would follow it
 */
void frdma_uc_take(struct frdma_qp *qp, struct frdma_rx_pkt *pkt)
{
	frdma_rx_hand_over(qp, pkt, take_request, take_run);
}

/**
 * frdma_uc_packet - take requests of the peer
 * @side: receive side, owned by the caller
 * @skb: consumed
 */
void frdma_uc_packet(struct frdma_side *side, struct sk_buff *skb)
{
	frdma_rx_each(frdma_qp_of_recv(side), skb, false, take_request,
		      take_run);
}
