/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Packets in. A buffer may be one packet or a whole train of them; its
 * payload may lie anywhere in its fragments and is never linearised.
 */
#ifndef FRDMA_RX_H
#define FRDMA_RX_H

#include <linux/skbuff.h>

#include "cursor.h"
#include "proto/hdr.h"

struct frdma_net;
struct frdma_qp;

/**
 * struct frdma_rx_cb - what is kept of how a buffer arrived
 * @ifindex: index of the interface. A packet of this host came by lo: the
 *	interface of its addresses
 * @vlan_id: VLAN of the interface, 0xffff: none
 * @local: this host has sent it
 * @multicast: it went to a group that the queue pair is attached to
 * @part: clone of a train: another side takes the other packets (mixed.h)
 *
 * In skb->cb: a buffer may wait for the owner of its queue pair, and the
 * interface may be gone by then.
 */
struct frdma_rx_cb {
	int ifindex;
	u16 vlan_id;
	bool local;
	bool multicast;
	bool part;
};

/** frdma_rx_cb - how a buffer arrived */
static inline const struct frdma_rx_cb *frdma_rx_cb(const struct sk_buff *skb)
{
	return (const struct frdma_rx_cb *)skb->cb;
}

/** frdma_rx_vlan - the VLAN in which a buffer arrived, 0xffff: none */
static inline u16 frdma_rx_vlan(const struct sk_buff *skb)
{
	return frdma_rx_cb(skb)->vlan_id;
}

/** frdma_rx_is_multicast - did it go to a group, and so to several queue pairs */
static inline bool frdma_rx_is_multicast(const struct sk_buff *skb)
{
	return frdma_rx_cb(skb)->multicast;
}

/**
 * struct frdma_rx_pkt - a packet whose ICRC was found right, or a run of them
 * @skb: the buffer that it is in; NULL: it never was one (loopback.h)
 * @payload: its payload, there or where it is lent
 * @hdr: its headers; the opcode may be one that does not exist
 * @nr: packets; if it is a run, all else is about the first of them
 */
struct frdma_rx_pkt {
	const struct sk_buff *skb;
	struct frdma_payload payload;
	struct frdma_hdr hdr;
	u32 nr;
};

/** frdma_rx_len - bytes of payload of a packet, or of all of a run */
static inline u32 frdma_rx_len(const struct frdma_rx_pkt *pkt)
{
	return pkt->nr * pkt->hdr.payload_len;
}

/**
 * typedef frdma_rx_fn - take a packet
 * @qp: for which it is, a side of which the caller owns
 * @pkt: the packet, whose payload is to be copied now or never
 */
typedef void (*frdma_rx_fn)(struct frdma_qp *qp,
			    const struct frdma_rx_pkt *pkt);

/**
 * typedef frdma_rx_run_fn - take packets that differ in their PSN only
 * @qp: for which they are, a side of which the caller owns
 * @pkt: the packets, as for frdma_rx_fn. Its @nr, more than one, becomes how
 *	many were taken: what it does must not differ from that of taking each
 *	of them alone. So the others will be
 */
typedef void (*frdma_rx_run_fn)(struct frdma_qp *qp, struct frdma_rx_pkt *pkt);

void frdma_rx(struct frdma_net *fnet, struct sk_buff *skb);
void frdma_rx_hand_over(struct frdma_qp *qp, struct frdma_rx_pkt *pkt,
			frdma_rx_fn take, frdma_rx_run_fn take_run);
void frdma_rx_each(struct frdma_qp *qp, struct sk_buff *skb, bool responses,
		   frdma_rx_fn take, frdma_rx_run_fn take_run);

#endif /* FRDMA_RX_H */
