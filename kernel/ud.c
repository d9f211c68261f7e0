// SPDX-License-Identifier: GPL-2.0
#include <linux/ip.h>
#include <linux/ipv6.h>

#include "dev.h"
#include "qp.h"
#include "recv.h"
#include "rx.h"
#include "sge.h"
#include "stats.h"
#include "ud.h"
#include "wc.h"

/* IBTA 9.6.1.4: management's own Q_Key on queue pair 1. */
static bool qkey_matches(const struct frdma_qp *qp, u32 qkey)
{
	return qkey == (qp->type == IB_QPT_GSI ? FRDMA_QKEY_GSI : qp->qkey);
}

/* A17.4.5.1: the completion says which it was. */
static u8 network_sl(enum rdma_network_type type)
{
	return type == RDMA_NETWORK_IPV4 ? FRDMA_SL_UDP_IPV4 :
					   FRDMA_SL_UDP_IPV6;
}

/* A17.4.5.2: 40 bytes in front of the payload; IPv4 fills the last 20. */
static enum rdma_network_type make_grh(const struct sk_buff *skb, u8 *grh)
{
	if (ip_hdr(skb)->version == 4) {
		memset(grh, 0, FRDMA_GRH_LEN - sizeof(struct iphdr));
		memcpy(grh + FRDMA_GRH_LEN - sizeof(struct iphdr), ip_hdr(skb),
		       sizeof(struct iphdr));
		return RDMA_NETWORK_IPV4;
	}
	memcpy(grh, ipv6_hdr(skb), FRDMA_GRH_LEN);
	return RDMA_NETWORK_IPV6;
}

static enum frdma_mr_fault store(struct frdma_qp *qp,
				 const struct frdma_rx_pkt *pkt, const u8 *grh)
{
	const struct frdma_rwr *cur = qp->rq.cur;
	u32 len = pkt->hdr.payload_len;
	enum frdma_mr_fault fault;

	fault = frdma_sge_scatter(qp->dev, qp->rq.pd, cur->sge,
				  cur->wqe.num_sge, 0, grh, FRDMA_GRH_LEN);
	if (fault != FRDMA_MR_OK || !len)
		return fault;
	return frdma_sge_scatter_payload(qp->dev, qp->rq.pd, cur->sge,
					 cur->wqe.num_sge, FRDMA_GRH_LEN,
					 pkt->payload, len);
}

/* A datagram whose place is not there now is lost: the next finds it there. */
static enum frdma_mr_fault ask_for_pages(struct frdma_qp *qp,
					 const struct frdma_rx_pkt *pkt)
{
	const struct frdma_rwr *cur = qp->rq.cur;
	enum frdma_mr_fault fault;

	fault = frdma_sge_page_in(qp->dev, qp->rq.pd, cur->sge,
				  cur->wqe.num_sge, 0,
				  FRDMA_GRH_LEN + pkt->hdr.payload_len,
				  IB_ACCESS_LOCAL_WRITE, &qp->rq.page_in);
	return fault == FRDMA_MR_OK ? FRDMA_MR_ABSENT : fault;
}

static void deliver(struct frdma_qp *qp, const struct frdma_rx_pkt *pkt)
{
	const struct frdma_op *op = frdma_op(pkt->hdr.opcode);
	enum frdma_mr_fault fault;
	u8 grh[FRDMA_GRH_LEN];
	struct frdma_cqe cqe = {
		.opcode		  = IB_WC_RECV,
		.byte_len	  = pkt->hdr.payload_len + FRDMA_GRH_LEN,
		.src_qp		  = pkt->hdr.sqpn,
		.wc_flags	  = IB_WC_GRH,
		.network_hdr_type = make_grh(pkt->skb, grh),
		.vlan_id	  = frdma_rx_vlan(pkt->skb),
	};

	cqe.sl = network_sl(cqe.network_hdr_type);
	if (op->ext & FRDMA_EXT_IMM) {
		cqe.wc_flags |= IB_WC_WITH_IMM;
		cqe.ex = (__force u32)pkt->hdr.imm_data;
	}

	fault = qp->rq.cur->fault ? FRDMA_MR_BAD_KEY : store(qp, pkt, grh);
	if (fault == FRDMA_MR_ABSENT)
		fault = ask_for_pages(qp, pkt);
	if (fault == FRDMA_MR_ABSENT) {
		frdma_qp_drop_unbuilt(qp, FRDMA_DROP_NO_RECV);
		return;
	}
	if (fault != FRDMA_MR_OK) {
		cqe.status = FRDMA_WC_LOC_PROT_ERR;
		frdma_wc_recv(qp, &cqe, false);
		frdma_qp_error(qp);
		return;
	}
	frdma_qp_count(qp, FRDMA_CNT_RX_SENDS);
	frdma_wc_recv(qp, &cqe, pkt->hdr.solicited);
}

static void take_datagram(struct frdma_qp *qp, const struct frdma_rx_pkt *pkt)
{
	const struct frdma_op *op = frdma_op(pkt->hdr.opcode);
	enum frdma_drop_reason why;

	why = FRDMA_DROP_QP_STATE;
	if (!frdma_qp_can_recv(qp))
		goto drop;
	why = FRDMA_DROP_BAD_OPCODE;
	if (op->kind != FRDMA_KIND_SEND)
		goto drop;
	why = FRDMA_DROP_BAD_QKEY;
	if (!qkey_matches(qp, pkt->hdr.qkey))
		goto drop;
	why = FRDMA_DROP_NO_RECV;
	if (!frdma_recv_take(qp))
		goto drop;

	/* The peer's mistake: it must not cost the receiver its queue pair. */
	why = FRDMA_DROP_BAD_LENGTH;
	if (!qp->rq.cur->fault &&
	    pkt->hdr.payload_len + FRDMA_GRH_LEN > qp->rq.cur->len)
		goto drop;

	deliver(qp, pkt);
	return;
drop:
	frdma_qp_drop_unbuilt(qp, why);
}

/**
 * frdma_ud_packet - take datagrams
 * @side: receive side, owned by the caller
 * @skb: consumed
 */
void frdma_ud_packet(struct frdma_side *side, struct sk_buff *skb)
{
	frdma_rx_each(frdma_qp_of_recv(side), skb, false, take_datagram,
		      NULL);
}

/**
 * frdma_ud_step - do what there is to do on the receive side
 * @side: owned by the caller; of an unreliable connection, too
 *
 * Return: true if there is more, but not now.
 */
bool frdma_ud_step(struct frdma_side *side)
{
	struct frdma_qp *qp = frdma_qp_of_recv(side);
	bool more = frdma_side_take_packets(side);

	if (frdma_qp_state(qp) == IB_QPS_ERR)
		more |= frdma_recv_flush(qp);
	if (qp->rq.notify) {
		qp->rq.notify = false;
		frdma_cq_notify(qp->rq.cq);
	}
	return more;
}
