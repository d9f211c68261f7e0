// SPDX-License-Identifier: GPL-2.0
#include "cnp.h"

#include <linux/ktime.h>

#include "proto/cc.h"
#include "qp.h"
#include "stats.h"
#include "trace.h"
#include "tx.h"

/* The caller owns the receive side. */
static void send_cnp(struct frdma_qp *qp)
{
	static const u8 zero[FRDMA_CNP_LEN];
	struct frdma_flow flow = frdma_flow_to_peer(qp, &qp->rq.route);
	struct frdma_hdr hdr;
	struct frdma_tx tx;
	u32 nr;

	frdma_cc_echo_plan(&hdr);
	hdr.dqpn = qp->attr.dest_qp_num;
	hdr.pkey = FRDMA_PKEY_DEFAULT;

	flow.queued = &qp->rq.queued;
	flow.kind = FRDMA_FLOW_CNP;
	frdma_tx_begin(&tx, &flow);
	nr = frdma_tx_reserve(&tx, &hdr, FRDMA_CNP_LEN, 1);
	if (nr) {
		frdma_stripes_put(&tx.to, zero, FRDMA_CNP_LEN);
		frdma_tx_commit(&tx);
		trace_frdma_tx(qp->dev->ndev->ifindex, qp->qpn, hdr.opcode,
			       hdr.psn, FRDMA_CNP_LEN, 1);
	}
	/* A refused one is not repeated: the next marked packet causes another. */
	if (frdma_tx_end(&tx) && nr)
		frdma_qp_count(qp, FRDMA_CNT_SENT_CNPS);
}

/* Half of a queue pair drops what is for the other half. */
static bool is_stray(const struct frdma_qp *qp, bool responses)
{
	return qp->type == (responses ? IB_QPT_XRC_TGT : IB_QPT_XRC_INI);
}

/**
 * frdma_cnp_obey_or_echo - data of the peer has come that met congestion
 * @qp: for which it was, and one of whose sides the caller owns
 * @responses: the send side; else the receive side
 *
 * Of READ responses it was this end that asked for too many at a time: its window
 * holds them, too, so there is nobody to be told. Datagrams have no connection
 * to be told of.
 *
 * Context: bottom halves off, in an RCU read section.
 */
void frdma_cnp_obey_or_echo(struct frdma_qp *qp, bool responses)
{
	struct frdma_req *rq = &qp->sq.req;
	u64 now_ns = ktime_get_ns();

	if (is_stray(qp, responses))
		return;
	if (responses)
		frdma_cc_notified(&rq->cc, frdma_req_outstanding(rq), now_ns);
	else if (frdma_qp_is_connected(qp) && frdma_qp_can_recv(qp) &&
		 frdma_cc_echo_due(&qp->rq.echo, now_ns))
		send_cnp(qp);
}
