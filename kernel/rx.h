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
 * @vlan_id: VLAN of the interface, 0xffff: none
 * @multicast: it went to a group that the queue pair is attached to
 *
 * In skb->cb: a buffer may wait for the owner of its queue pair, and the
 * interface may be gone by then.
 */
struct frdma_rx_cb {
	u16 vlan_id;
	bool multicast;
};

/** frdma_rx_vlan - the VLAN in which a buffer arrived, 0xffff: none */
static inline u16 frdma_rx_vlan(const struct sk_buff *skb)
{
	return ((const struct frdma_rx_cb *)skb->cb)->vlan_id;
}

/** frdma_rx_is_multicast - did it go to a group, and so to several queue pairs */
static inline bool frdma_rx_is_multicast(const struct sk_buff *skb)
{
	return ((const struct frdma_rx_cb *)skb->cb)->multicast;
}

/**
 * struct frdma_rx_pkt - a packet whose ICRC was found right
 * @skb: the buffer that it is in
 * @payload: where its payload begins there
 * @hdr: its headers; the opcode may be one that does not exist
 */
struct frdma_rx_pkt {
	const struct sk_buff *skb;
	struct frdma_cursor payload;
	struct frdma_hdr hdr;
};

/**
 * typedef frdma_rx_fn - take a packet
 * @qp: for which it is, a side of which the caller owns
 * @pkt: the packet, whose payload is to be copied now or never
 */
typedef void (*frdma_rx_fn)(struct frdma_qp *qp,
			    const struct frdma_rx_pkt *pkt);

void frdma_rx(struct frdma_net *fnet, struct sk_buff *skb);
void frdma_rx_each(struct frdma_qp *qp, struct sk_buff *skb, bool responses,
		   frdma_rx_fn take);

#endif /* FRDMA_RX_H */
