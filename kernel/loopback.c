// SPDX-License-Identifier: GPL-2.0
#include <linux/atomic.h>
#include <linux/jiffies.h>
#include <linux/string.h>

#include "answer.h"
#include "completer.h"
#include "dev.h"
#include "lent.h"
#include "loopback.h"
#include "proto/hdr.h"
#include "proto/icrc.h"
#include "qp.h"
#include "responder.h"
#include "rx.h"
#include "stats.h"
#include "trace.h"
#include "tx.h"
#include "uc.h"
#include "uctx.h"

/* Longer than any packet is on its way within a host. */
#define ABROAD_MAX	HZ

/*
 * Are all packets known to have arrived? What is unreliable is not answered, so
 * that only time tells.
 */
static bool is_back(const struct frdma_qp *qp)
{
	const struct frdma_req *rq = &qp->sq.req;

	if (frdma_req_is_reliable(rq))
		return !frdma_req_in_flight(rq);
	return time_after(jiffies, qp->sq.abroad_at + ABROAD_MAX);
}

static bool is_open(struct frdma_qp *qp)
{
	if (qp->sq.abroad && is_back(qp))
		qp->sq.abroad = false;
	return READ_ONCE(qp->dev->loopback) && !qp->sq.abroad;
}

/*
 * With regions that are not pinned, memory would have to be asked for here that
 * a response will be stored in, and a READ of such memory is answered by
 * packets, which nothing may overtake. The domain of an XRC target is that of the
 * queue which a request names.
 */
static bool memory_is_pinned(struct frdma_qp *qp, struct frdma_qp *peer)
{
	if (frdma_pd_has_odp(qp->pd))
		return false;
	if (peer->type == IB_QPT_XRC_TGT)
		return !atomic_read(&qp->dev->nr_odp);
	return !frdma_pd_has_odp(peer->pd) && !frdma_pd_has_odp(peer->rq.pd);
}

static enum ib_qp_type type_of_peer(const struct frdma_qp *qp)
{
	return qp->type == IB_QPT_XRC_INI ? IB_QPT_XRC_TGT : qp->type;
}

/* The queue pair that packets would find, if they come to this device. */
static struct frdma_qp *find_peer(const struct frdma_qp *qp)
{
	struct frdma_qp *peer;

	peer = frdma_qp_find(qp->dev->net, qp->attr.dest_qp_num);
	return peer && peer->dev == qp->dev && peer->type == type_of_peer(qp) ?
	       peer : NULL;
}

/* The route is that of a side of it that the caller owns. */
static bool packets_stay_here(struct frdma_qp *qp, struct frdma_route *route)
{
	const struct frdma_flow flow = frdma_flow_to_peer(qp, route);

	return frdma_tx_stays_here(&flow);
}

/* Both know each other, so that what one says reaches the other. */
static bool are_connected(const struct frdma_qp *qp,
			  const struct frdma_qp *peer)
{
	const struct frdma_av *av = &qp->path.av, *back = &peer->path.av;

	return peer->attr.dest_qp_num == qp->qpn &&
	       !memcmp(&av->sgid, &back->dgid, sizeof(av->sgid)) &&
	       !memcmp(&av->dgid, &back->sgid, sizeof(av->dgid));
}

/**
 * frdma_loopback_begin - can a burst do without packets
 * @loop: set up if so
 * @qp: whose send side the caller owns
 *
 * Context: as a step of a side.
 * Return: true, and frdma_loopback_end() is owed.
 */
bool frdma_loopback_begin(struct frdma_loop *loop, struct frdma_qp *qp)
{
	struct frdma_qp *peer;

	if (!qp->path.ours || !is_open(qp))
		return false;
	peer = find_peer(qp);
	if (!peer || !frdma_side_try_own(&peer->rq.side))
		return false;
	if (!are_connected(qp, peer) || frdma_answers_wait(peer) ||
	    !memory_is_pinned(qp, peer) ||
	    !packets_stay_here(qp, &qp->sq.route) ||
	    !packets_stay_here(peer, &peer->rq.route)) {
		frdma_side_disown(&peer->rq.side, false);
		return false;
	}

	peer->rq.loop = qp;
	*loop = (struct frdma_loop) { .qp = qp, .peer = peer };
	return true;
}

/*
 * As it would arrive: fields that its opcode does not have are zero, and
 * numbers as wide as on the wire.
 */
static void make_packet(struct frdma_rx_pkt *pkt, const struct frdma_hdr *hdr,
			u32 len, u32 nr, const struct frdma_lent *lent)
{
	u8 buf[FRDMA_HDR_MAX];
	size_t hdr_len = frdma_hdr_build(buf, hdr);

	frdma_hdr_parse(&pkt->hdr, buf, hdr_len,
			hdr_len + len + hdr->pad + FRDMA_ICRC_LEN);
	pkt->skb = NULL;
	pkt->nr = nr;
	pkt->payload = frdma_payload_of(lent);
}

static void take_request(struct frdma_qp *peer, struct frdma_rx_pkt *pkt)
{
	if (frdma_qp_transport(peer) == FRDMA_UC)
		frdma_uc_take(peer, pkt);
	else
		frdma_responder_take(peer, pkt);
}

/**
 * frdma_loopback_send - have a run of requests executed
 * @loop: burst
 * @run: its packets, which count as sent (frdma_req_sent())
 * @lent: their payload
 *
 * A READ is answered before this returns: what follows it finds it done.
 */
void frdma_loopback_send(struct frdma_loop *loop,
			 const struct frdma_req_pkt *run,
			 const struct frdma_lent *lent)
{
	struct frdma_qp *peer = loop->peer;
	struct frdma_rx_pkt pkt;

	loop->used = true;
	frdma_qp_count_add(loop->qp, FRDMA_CNT_LOOPBACK_PACKETS, run->nr);
	make_packet(&pkt, &run->hdr, run->len, run->nr, lent);
	trace_frdma_rx(peer->dev->ndev->ifindex, peer->qpn, pkt.hdr.opcode,
		       pkt.hdr.psn, run->nr * run->len, run->nr);

	/* Only the last asks for an acknowledgement, and so is none of a run. */
	if (run->nr > 1 && run->hdr.ack_req) {
		pkt.hdr.ack_req = false;
		pkt.nr--;
		take_request(peer, &pkt);
		pkt.hdr.ack_req = true;
		pkt.nr = 1;
	}
	take_request(peer, &pkt);
	if (peer->rq.resp.read.active && !peer->rq.read_waits)
		frdma_responder_answer(peer);
}

/**
 * frdma_loopback_end - end of what frdma_loopback_begin() began
 * @loop: burst
 *
 * The responder acknowledges what it took. If that was nothing, others may have
 * left something, whose answers are packets: the requester goes on as if it had
 * not asked.
 */
void frdma_loopback_end(struct frdma_loop *loop)
{
	struct frdma_side *side = &loop->peer->rq.side;
	bool more;

	if (!loop->used)
		loop->peer->rq.loop = NULL;
	more = side->step(side);
	loop->peer->rq.loop = NULL;
	frdma_side_disown(side, more);
}

/**
 * frdma_loopback_answer - hand an answer to who is waiting for it
 * @qp: responder, within a burst (@qp->rq.loop)
 * @hdr: headers, of the first of a run
 * @len: bytes of payload of each
 * @nr: packets
 * @lent: the payload
 */
void frdma_loopback_answer(struct frdma_qp *qp, const struct frdma_hdr *hdr,
			   u32 len, u32 nr, const struct frdma_lent *lent)
{
	u32 ifindex = qp->dev->ndev->ifindex;
	struct frdma_qp *peer = qp->rq.loop;
	struct frdma_rx_pkt pkt;

	frdma_qp_count_add(qp, FRDMA_CNT_LOOPBACK_PACKETS, nr);
	make_packet(&pkt, hdr, len, nr, lent);
	trace_frdma_tx(ifindex, qp->qpn, hdr->opcode, hdr->psn, len, nr);
	trace_frdma_rx(ifindex, peer->qpn, hdr->opcode, hdr->psn, nr * len, nr);
	frdma_completer_take(peer, &pkt);
}
