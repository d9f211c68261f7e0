/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Packets out. Equal packets of one flow leave as one buffer, a train, which
 * crosses the network stack once (SKB_GSO_UDP_L4); only its last packet may
 * be shorter. A caller adds packet after packet, without knowing of trains:
 *
 *	frdma_tx_begin(&tx, &flow);
 *	while (...) {
 *		nr = frdma_tx_reserve(&tx, &hdr, len, max);
 *		... put the payload of nr packets to &tx.to ...
 *		frdma_tx_commit(&tx);
 *	}
 *	frdma_tx_end(&tx);
 *
 * Packets that differ in their PSN only are added as a run. What was reserved
 * and not committed does not exist.
 */
#ifndef FRDMA_TX_H
#define FRDMA_TX_H

#include <linux/skbuff.h>

#include "ah.h"
#include "proto/hdr.h"
#include "proto/icrc.h"
#include "qp.h"
#include "stripes.h"
#include "txmem.h"

struct frdma_dev;
struct frdma_queued;
struct frdma_unsent;

/*
 * Packets of a train: no kernel takes fewer than 64 from a process either. Those
 * that its READs ask for count, too: a peer of ours takes no train before it may
 * send so many, and may drop what is behind a longer response.
 */
#define FRDMA_TRAIN_MAX		64

/* Who has sent nothing for so long has nothing left in a transmit queue. */
#define FRDMA_LANE_SILENCE	(HZ / 5)

/* Bytes of a train behind its UDP header, so that its length fits 16 bits. */
#define FRDMA_TRAIN_MAX_BYTES	65000

/**
 * enum frdma_flow_kind - how packets are to be treated on their way
 * @FRDMA_FLOW_PLAIN: nobody sends less because they are marked (UC, UD, GSI)
 * @FRDMA_FLOW_MARKED: routers may mark them instead of dropping them (RC, XRC)
 * @FRDMA_FLOW_CNP: a notification of congestion, which must not wait behind data
 */
enum frdma_flow_kind {
	FRDMA_FLOW_PLAIN,
	FRDMA_FLOW_MARKED,
	FRDMA_FLOW_CNP,
};

/**
 * struct frdma_flow - where packets come from and go to
 * @dev: the device
 * @qp: whose packets they are
 * @av: addresses
 * @route: of earlier packets, owned by the caller
 * @lane: of earlier packets, owned by the caller, and all for that address and
 *	port; NULL: their order is nothing
 * @queued: what the side has in queues of this host, to which they are added; may
 *	be NULL
 * @unsent: where the side keeps trains that the host has no room for; NULL: they
 *	are dropped
 * @kind: how they are treated on their way
 * @sport: UDP source port
 * @tclass: traffic class in their IP headers; set by frdma_tx_begin()
 */
struct frdma_flow {
	struct frdma_dev *dev;
	const struct frdma_qp *qp;
	const struct frdma_av *av;
	struct frdma_route *route;
	struct frdma_lane *lane;
	struct frdma_queued *queued;
	struct frdma_unsent *unsent;
	enum frdma_flow_kind kind;
	u16 sport;
	u8 tclass;
};

/**
 * frdma_flow_to_peer - the flow of a connected queue pair, without a lane
 * @qp: queue pair
 * @route: of the side that the caller owns
 */
static inline struct frdma_flow frdma_flow_to_peer(struct frdma_qp *qp,
						   struct frdma_route *route)
{
	return (struct frdma_flow) {
		.dev	= qp->dev,
		.qp	= qp,
		.av	= &qp->path.av,
		.route	= route,
		.kind	= frdma_qp_is_reliable(qp) ? FRDMA_FLOW_MARKED :
						     FRDMA_FLOW_PLAIN,
		.sport	= qp->path.sport,
	};
}

/**
 * struct frdma_tx - a burst of packets that is being built
 * @flow: of all of them
 * @pseudo: the part of the ICRC that they share: that of the lane, or @own
 * @own: where there is no lane
 * @mem: what packets are cut from
 * @skb: the train that is open, if any
 * @seg_len: bytes of its first packet, BTH to ICRC
 * @nr: packets in it
 * @span: PSNs that each of the packets that are reserved next uses up
 * @psns: PSNs that the packets in it use up
 * @most: PSNs that more than one of them may: 1 where there are no trains
 * @linear: its first packet is built behind the network headers
 * @closed: its last packet was shorter
 * @at: where the reserved run is being built
 * @run: its packets
 * @at_len: bytes of each
 * @to: where the payload goes; what sums a packet is where its ICRC will be
 * @hdr: headers of the first one
 * @refused: the stack did not take some train, which is lost or kept in
 *	@flow.unsent, or there was no memory for one
 * @crowded: for want of room, which others would want as well
 * @passed: PSNs that were used up by the trains before that
 */
struct frdma_tx {
	struct frdma_flow flow;
	struct frdma_icrc_pseudo *pseudo;
	struct frdma_icrc_pseudo own;
	struct frdma_txmem mem;
	struct sk_buff *skb;
	u32 seg_len;
	u32 nr;
	u32 span;
	u32 psns;
	u32 most;
	bool linear;
	bool closed;
	void *at;
	u32 run;
	u32 at_len;
	struct frdma_stripes to;
	const struct frdma_hdr *hdr;
	bool refused;
	bool crowded;
	u32 passed;
};

/** frdma_tx_set_span - from here on a packet uses up so many PSNs, not one */
static inline void frdma_tx_set_span(struct frdma_tx *tx, u32 span)
{
	tx->span = span;
}

/** frdma_tx_open_packets - packets that the stack was not yet given */
static inline u32 frdma_tx_open_packets(const struct frdma_tx *tx)
{
	return tx->skb ? tx->nr : 0;
}

void frdma_tx_begin(struct frdma_tx *tx, const struct frdma_flow *flow);
u32 frdma_tx_reserve(struct frdma_tx *tx, const struct frdma_hdr *hdr,
		     u32 payload_len, u32 max);
void frdma_tx_shorten(struct frdma_tx *tx, u32 nr);
void frdma_tx_commit(struct frdma_tx *tx);
bool frdma_tx_end(struct frdma_tx *tx);
void frdma_tx_push(struct frdma_tx *tx);
void frdma_tx_give_up(const struct frdma_qp *qp, const struct sk_buff *skb);
bool frdma_tx_again(const struct frdma_qp *qp, struct sk_buff *skb,
		    struct sock *sk);
bool frdma_tx_stays_here(const struct frdma_flow *flow);

#endif /* FRDMA_TX_H */
