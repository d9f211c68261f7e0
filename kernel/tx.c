// SPDX-License-Identifier: GPL-2.0
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/udp.h>
#include <linux/pkt_sched.h>
#include <net/inet_ecn.h>
#include <net/ip.h>
#include <net/ip6_checksum.h>
#include <net/ipv6.h>
#include <net/udp.h>

#include "adapter.h"
#include "crc.h"
#include "dev.h"
#include "dscp.h"
#include "net.h"
#include "queued.h"
#include "proto/wire.h"
#include "route.h"
#include "stats.h"
#include "trace.h"
#include "tx.h"
#include "unsent.h"

/* Small first packets are built where the network headers are. */
#define FRDMA_TX_LINEAR_MAX	256

/* Room for the headers below ours. */
#define FRDMA_TX_HEADROOM	(LL_MAX_HEADER + sizeof(struct ipv6hdr) + \
				 sizeof(struct udphdr))

static bool flow_is_ipv4(const struct frdma_flow *flow)
{
	return flow->av->net == RDMA_NETWORK_IPV4;
}

static void fill_udp(struct udphdr *udp, const struct frdma_flow *flow, u32 len)
{
	*udp = (struct udphdr) {
		.source	= htons(flow->sport),
		.dest	= htons(FRDMA_UDP_DPORT),
		.len	= htons(sizeof(*udp) + len),
	};
}

/*
 * Identification 0: never fragmented, so it needs none (RFC 6864). That of a
 * train is also the one of each of its packets (set_train_id()).
 */
static void fill_ipv4(struct iphdr *ip, const struct frdma_flow *flow, u32 len)
{
	*ip = (struct iphdr) {
		.version  = 4,
		.ihl	  = sizeof(*ip) / 4,
		.tos	  = flow->tclass,
		.tot_len  = htons(sizeof(*ip) + sizeof(struct udphdr) + len),
		.frag_off = htons(IP_DF),
		.ttl	  = flow->av->hop_limit,
		.protocol = IPPROTO_UDP,
		.saddr	  = frdma_gid_ipv4(&flow->av->sgid),
		.daddr	  = frdma_gid_ipv4(&flow->av->dgid),
	};
}

static void fill_ipv6(struct ipv6hdr *ip, const struct frdma_flow *flow,
		      u32 len)
{
	ip6_flow_hdr(ip, flow->tclass,
		     htonl(flow->av->flow_label & 0xfffff));
	ip->payload_len = htons(sizeof(struct udphdr) + len);
	ip->nexthdr = IPPROTO_UDP;
	ip->hop_limit = flow->av->hop_limit;
	ip->saddr = frdma_gid_ipv6(&flow->av->sgid);
	ip->daddr = frdma_gid_ipv6(&flow->av->dgid);
}

/*
 * The traffic class of a process, its ECN bits apart: CE (RFC 3168) is for routers
 * to set. Where the process left the bits 0, packets of a connection that obeys
 * notifications are ECT(0) if the link's attribute says so.
 */
static u8 traffic_class(const struct frdma_flow *flow)
{
	const struct frdma_dev *dev = flow->dev;
	u8 tclass = flow->av->traffic_class;

	if (flow->kind == FRDMA_FLOW_CNP)
		return READ_ONCE(dev->cnp_dscp) << 2;
	if (INET_ECN_is_ce(tclass))
		tclass &= ~INET_ECN_MASK;
	if (INET_ECN_is_not_ect(tclass) && flow->kind == FRDMA_FLOW_MARKED &&
	    READ_ONCE(dev->ecn))
		tclass |= INET_ECN_ECT_0;
	return tclass;
}

/*
 * What VLANs and queueing disciplines go by: the service level, as in adapters, or
 * else the priority of the DSCP. One that a process chooses is at most 6: sockets
 * need CAP_NET_ADMIN for 7.
 */
static u32 priority(const struct frdma_flow *flow)
{
	if (flow->kind == FRDMA_FLOW_CNP)
		return READ_ONCE(flow->dev->cnp_priority);
	if (flow->av->sl)
		return min_t(u32, flow->av->sl, TC_PRIO_INTERACTIVE);
	return frdma_dscp_priority(&flow->dev->dscp,
				   flow->dev->ndev, flow->tclass >> 2);
}

#if !IS_ENABLED(CONFIG_IPV6)
static int ip6_local_out(struct net *net, struct sock *sk, struct sk_buff *skb)
{
	kfree_skb(skb);
	return -EAFNOSUPPORT;
}
#endif

/*
 * The UDP checksum of a packet is 0, as RoCE has it. That of a train is left
 * to whoever takes it apart, because the stack has no train without one.
 */
static void set_train_csum(struct sk_buff *skb, const struct frdma_tx *tx)
{
	struct udphdr *udp = udp_hdr(skb);
	u32 len = skb->len - skb_transport_offset(skb);

	if (flow_is_ipv4(&tx->flow)) {
		const struct iphdr *ip = ip_hdr(skb);

		udp->check = ~udp_v4_check(len, ip->saddr, ip->daddr, 0);
	} else {
		const struct ipv6hdr *ip = ipv6_hdr(skb);

		udp->check = ~udp_v6_check(len, &ip->saddr, &ip->daddr, 0);
	}

	skb->ip_summed = CHECKSUM_PARTIAL;
	skb->csum_start = skb_transport_header(skb) - skb->head;
	skb->csum_offset = offsetof(struct udphdr, check);
	skb_shinfo(skb)->gso_type = SKB_GSO_UDP_L4;
	skb_shinfo(skb)->gso_size = tx->seg_len;
	skb_shinfo(skb)->gso_segs = tx->nr;
}

/*
 * The ICRC covers the identification, so who takes the train apart has to leave
 * it as it is. Adapters number packets as they like: by default only software, ours
 * or the peer's, claims to do this (tx-tcp-mangleid-segmentation), so that the stack
 * cuts what goes to any other, there where it leaves for it: the demand is the
 * buffer's, and crosses VLANs, bonds, bridges and hosts that forward.
 */
static void set_train_id(struct sk_buff *skb)
{
	skb_shinfo(skb)->gso_type |= SKB_GSO_TCP_FIXEDID |
				     SKB_GSO_TCP_FIXEDID_INNER;
}

static void push_ipv4(struct sk_buff *skb, const struct frdma_tx *tx, u32 len)
{
	skb_push(skb, sizeof(struct iphdr));
	skb_reset_network_header(skb);
	fill_ipv4(ip_hdr(skb), &tx->flow, len);
	skb->protocol = htons(ETH_P_IP);
	memset(IPCB(skb), 0, sizeof(*IPCB(skb)));
	if (tx->nr > 1) {
		set_train_csum(skb, tx);
		set_train_id(skb);
	}
}

static void push_ipv6(struct sk_buff *skb, const struct frdma_tx *tx, u32 len)
{
	skb_push(skb, sizeof(struct ipv6hdr));
	skb_reset_network_header(skb);
	fill_ipv6(ipv6_hdr(skb), &tx->flow, len);
	skb->protocol = htons(ETH_P_IPV6);
	memset(IP6CB(skb), 0, sizeof(*IP6CB(skb)));
	if (tx->nr > 1)
		set_train_csum(skb, tx);
}

static void push_headers(struct sk_buff *skb, const struct frdma_tx *tx)
{
	u32 len = skb->len;

	skb_push(skb, sizeof(struct udphdr));
	skb_reset_transport_header(skb);
	fill_udp(udp_hdr(skb), &tx->flow, len);
	if (flow_is_ipv4(&tx->flow))
		push_ipv4(skb, tx, len);
	else
		push_ipv6(skb, tx, len);
}

/* Give the stack a train, at its IP header and with its route. */
static int hand_over(const struct frdma_dev *dev, struct sk_buff *skb)
{
	struct net *net = frdma_net_ns(dev->net);
	int err;

	err = skb->protocol == htons(ETH_P_IP) ? ip_local_out(net, NULL, skb) :
						 ip6_local_out(net, NULL, skb);
	return net_xmit_eval(err);
}

static u32 packets_of(const struct sk_buff *skb)
{
	return skb_is_gso(skb) ? skb_shinfo(skb)->gso_segs : 1;
}

/* @nr packets in one buffer, of @len bytes from BTH to ICRC, have left. */
static void count_sent(const struct frdma_qp *qp, u32 nr, u32 len)
{
	frdma_qp_count_add(qp, FRDMA_CNT_TX_PACKETS, nr);
	frdma_qp_count_add(qp, FRDMA_CNT_TX_BYTES, len);
	if (nr > 1)
		frdma_qp_count(qp, FRDMA_CNT_TX_TRAINS);
}

/*
 * Where an interface has a transmit queue for each CPU (XPS), what a side sends
 * from one CPU could overtake what it has sent from another: work begins where it
 * is posted, and goes on where acknowledgements come in. So all of it keeps to
 * the queue of the CPU that sent the first, until nothing can be left in there.
 */
static void choose_lane(struct frdma_lane *lane)
{
	if (!lane->sender ||
	    time_after(jiffies, lane->used_at + FRDMA_LANE_SILENCE))
		lane->sender = smp_processor_id() + 1;
	lane->used_at = jiffies;
}

#ifdef CONFIG_XPS
static void keep_lane(struct sk_buff *skb, const struct frdma_lane *lane)
{
	if (lane)
		skb->sender_cpu = lane->sender;
}
#else
static void keep_lane(struct sk_buff *skb, const struct frdma_lane *lane)
{
}
#endif

/*
 * Each packet of a train, @len bytes in all, leaves by itself. The stack would tell us of
 * one that is too long by ICMP, and remember the MTU that it names for minutes, which
 * may long be another.
 */
static bool fits(const struct frdma_tx *tx, const struct dst_entry *dst, u32 len)
{
	if (tx->nr > 1)
		len = tx->seg_len;
	len += sizeof(struct udphdr);
	len += flow_is_ipv4(&tx->flow) ? sizeof(struct iphdr) :
					 sizeof(struct ipv6hdr);
	return len <= dst_mtu(dst);
}

/* A qdisc is full, or memory is short: what follows would fare no better now. */
static bool is_crowded(int err)
{
	return err > 0 || err == -ENOBUFS || err == -ENOMEM;
}

static struct dst_entry *route(const struct frdma_flow *flow)
{
	return frdma_route_find(flow->route, flow->dev, flow->av, flow->sport);
}

/* The stack, or what is before it, takes no such train now. */
static void refuse_train(struct frdma_tx *tx, struct sk_buff *skb,
			 enum frdma_drop_reason why)
{
	tx->refused = true;
	frdma_qp_drop_several(tx->flow.qp, tx->nr, why);
	kfree_skb(skb);
}

/* The side gives the train to the stack later. */
static void keep_train(struct frdma_tx *tx, struct sk_buff *skb,
		       struct dst_entry *dst)
{
	struct frdma_unsent *unsent = tx->flow.unsent;

	if (!frdma_unsent_waits(unsent))
		frdma_unsent_pause(unsent);
	skb_dst_set(skb, dst_clone(dst));
	if (frdma_unsent_keep(unsent, tx->flow.qp, skb)) {
		tx->refused = true;
		frdma_qp_count_add(tx->flow.qp, FRDMA_CNT_TX_DELAYED, tx->nr);
	} else {
		refuse_train(tx, skb, FRDMA_DROP_NOT_SENT);
	}
}

/*
 * The stack consumes what it refuses, so a side that keeps refused trains gives
 * it a clone's twin, as TCP does.
 */
static void send_train(struct frdma_tx *tx, struct sk_buff *skb,
		       struct dst_entry *dst)
{
	struct frdma_unsent *unsent = tx->flow.unsent;
	u32 len = skb->len, nr = tx->nr;
	struct sk_buff *twin = NULL;
	int err;

	push_headers(skb, tx);
	if (unsent && unlikely(frdma_unsent_waits(unsent))) {
		keep_train(tx, skb, dst);
		return;
	}
	if (unsent)
		twin = skb_clone(skb, GFP_ATOMIC);

	if (tx->flow.queued)
		skb_set_owner_w(skb, tx->flow.queued->sk);
	skb_dst_set_noref(skb, dst);
	err = hand_over(tx->flow.dev, skb);
	if (likely(!err)) {
		consume_skb(twin);
		count_sent(tx->flow.qp, nr, len);
		if (likely(!tx->refused))
			tx->passed += tx->psns;
		return;
	}
	tx->crowded |= is_crowded(err);
	if (tx->flow.queued && is_crowded(err))
		frdma_queued_refused(tx->flow.queued);
	if (twin && is_crowded(err))
		keep_train(tx, twin, dst);
	else
		refuse_train(tx, twin, FRDMA_DROP_NOT_SENT);
}

/**
 * frdma_tx_give_up - count a train that the stack does not take
 * @qp: whose packets they are
 * @skb: the train, at its IP header; it stays
 */
void frdma_tx_give_up(const struct frdma_qp *qp, const struct sk_buff *skb)
{
	frdma_qp_drop_several(qp, packets_of(skb), FRDMA_DROP_NOT_SENT);
}

/**
 * frdma_tx_again - give the stack a train that it has refused before
 * @qp: whose packets they are
 * @skb: the train, at its IP header, with a reference to its route; it stays
 * @sk: owner of what the side sends
 *
 * Context: as a step of a side. Return: false if it is refused again.
 */
bool frdma_tx_again(const struct frdma_qp *qp, struct sk_buff *skb,
		    struct sock *sk)
{
	u32 headers = skb_transport_offset(skb) + sizeof(struct udphdr);
	struct sk_buff *twin = skb_clone(skb, GFP_ATOMIC);
	int err;

	if (!twin)
		return false;
	skb_set_owner_w(twin, sk);
	err = hand_over(qp->dev, twin);
	if (!err)
		count_sent(qp, packets_of(skb), skb->len - headers);
	else if (is_crowded(err))
		return false;
	else
		frdma_tx_give_up(qp, skb);
	return true;
}

/* Give the open train to the stack; one without packets is none. */
static void frdma_tx_flush(struct frdma_tx *tx)
{
	struct sk_buff *skb = tx->skb;
	struct dst_entry *dst;

	tx->skb = NULL;
	if (!skb)
		return;
	if (!tx->nr) {
		consume_skb(skb);
		return;
	}

	dst = route(&tx->flow);
	if (unlikely(!dst)) {
		refuse_train(tx, skb, FRDMA_DROP_NO_ROUTE);
		return;
	}
	if (unlikely(!fits(tx, dst, skb->len))) {
		refuse_train(tx, skb, FRDMA_DROP_NOT_SENT);
		return;
	}
	skb->priority = priority(&tx->flow);
	keep_lane(skb, tx->flow.lane);
	send_train(tx, skb, dst);
}

/* The packet, of @len bytes, begins a train. */
static bool starts_train(const struct frdma_tx *tx, u32 len)
{
	return !tx->skb || tx->closed || len > tx->seg_len ||
	       tx->psns + tx->span > tx->most ||
	       tx->skb->len + len > FRDMA_TRAIN_MAX_BYTES ||
	       skb_shinfo(tx->skb)->nr_frags == MAX_SKB_FRAGS;
}

/* @room: bytes of its first packet that are built behind the UDP header. */
static bool open_train(struct frdma_tx *tx, u32 len, u32 room)
{
	u32 size = FRDMA_TX_HEADROOM + room;

	tx->skb = tx->flow.unsent ? alloc_skb_fclone(size, GFP_ATOMIC) :
				    alloc_skb(size, GFP_ATOMIC);
	if (!tx->skb)
		return false;
	skb_reserve(tx->skb, FRDMA_TX_HEADROOM);
	tx->linear = room == len;
	tx->seg_len = len;
	tx->nr = 0;
	tx->psns = 0;
	tx->closed = false;
	return true;
}

/* The packet is built behind the network headers. */
static bool is_linear(const struct frdma_tx *tx)
{
	return tx->linear && !tx->nr;
}

/* Send or drop what is open, and open a train that begins with a packet. */
static bool begin_train(struct frdma_tx *tx, u32 len, u32 room)
{
	frdma_tx_flush(tx);
	return open_train(tx, len, room);
}

/*
 * A train is a GSO buffer, so there is none where the administrator wants no
 * such buffers on the interface ("ethtool -K eth0 gso off"), or none of ours.
 */
static bool has_trains(const struct frdma_flow *flow)
{
	struct net_device *ndev = flow->dev->ndev;

	if (!READ_ONCE(flow->dev->trains) || !(ndev->features & NETIF_F_GSO))
		return false;
	return flow_is_ipv4(flow) ? !frdma_adapter_numbers(ndev) :
				    !frdma_adapter_spoils(ndev);
}

static void make_pseudo(struct frdma_icrc_pseudo *pseudo,
			const struct frdma_flow *flow)
{
	struct ipv6hdr ipv6;
	struct iphdr ipv4;
	struct udphdr udp;

	fill_udp(&udp, flow, 0);
	if (flow_is_ipv4(flow)) {
		fill_ipv4(&ipv4, flow, 0);
		frdma_icrc_pseudo_ipv4(pseudo, &ipv4, &udp);
	} else {
		fill_ipv6(&ipv6, flow, 0);
		frdma_icrc_pseudo_ipv6(pseudo, &ipv6, &udp);
	}
}

/**
 * frdma_tx_begin - start a burst
 * @tx: to be set up
 * @flow: of all its packets; what it points to stays until frdma_tx_end()
 *
 * Context: from here to frdma_tx_end(): bottom halves off.
 */
void frdma_tx_begin(struct frdma_tx *tx, const struct frdma_flow *flow)
{
	tx->flow = *flow;
	tx->flow.tclass = traffic_class(flow);
	tx->pseudo = flow->lane ? &flow->lane->pseudo : &tx->own;
	tx->skb = NULL;
	tx->refused = false;
	tx->crowded = false;
	tx->passed = 0;
	tx->span = 1;
	tx->most = has_trains(flow) ? FRDMA_TRAIN_MAX : 1;
	if (flow->lane)
		choose_lane(flow->lane);
	frdma_txmem_begin(&tx->mem);
	if (!flow->lane || !tx->pseudo->len)
		make_pseudo(tx->pseudo, flow);
}

/* Packets of @len bytes that the train has room for, one of them at least. */
static u32 room_for_run(const struct frdma_tx *tx, u32 len)
{
	u32 bytes = min(FRDMA_TRAIN_MAX_BYTES - tx->skb->len,
			frdma_txmem_left(&tx->mem));

	/* A shorter one is its last. */
	if (is_linear(tx) || len < tx->seg_len)
		return 1;
	return min(tx->most - tx->psns, bytes / len);
}

/*
 * The CRC of the headers of packet @i of a run, which are at @at. What is
 * between the first one and the last, which may ask for an acknowledgement, is
 * the packet before but for what counts; if it has no header that may differ.
 */
static u32 seed_packet(struct frdma_tx *tx, u32 i, const void *at, u32 hdr_len)
{
	if (i && i < tx->run - 1 && hdr_len == sizeof(struct frdma_bth))
		return frdma_icrc_seed_next(tx->pseudo, false);

	frdma_icrc_pseudo_set(tx->pseudo, 0, tx->at_len);
	return frdma_icrc_seed(tx->pseudo, at, hdr_len);
}

/*
 * Where its ICRC will be, each packet is summed, and the headers are now. The
 * one that asks for an acknowledgement comes last, if there is room for all.
 */
static void build_headers(struct frdma_tx *tx, bool all)
{
	struct frdma_hdr hdr = *tx->hdr;
	void *at = tx->at;
	u32 hdr_len, i;
	u32 *sum;

	hdr.ack_req &= all;
	hdr_len = frdma_hdr_build_run(tx->at, tx->at_len, &hdr, tx->run);

	for (i = 0; i < tx->run; i++, at += tx->at_len) {
		sum = at + tx->at_len - FRDMA_ICRC_LEN;
		*sum = seed_packet(tx, i, at, hdr_len);
	}
}

/**
 * frdma_tx_reserve - make room for packets that are alike
 * @tx: burst
 * @hdr: headers of the first, which stay until frdma_tx_commit(), but @ack_req
 *	is that of the last one wanted, and none before asks
 * @payload_len: bytes of the payload of each
 * @max: how many are wanted; more than one only without pad
 *
 * Return: how many there is room for, whose payload the caller puts to @tx->to,
 * which sums it; 0 if there is no memory.
 */
u32 frdma_tx_reserve(struct frdma_tx *tx, const struct frdma_hdr *hdr,
		     u32 payload_len, u32 max)
{
	u32 hdr_len = frdma_hdr_len(hdr->opcode);
	u32 len = hdr_len + payload_len + hdr->pad + FRDMA_ICRC_LEN;
	bool open;

	open = !starts_train(tx, len) ||
	       begin_train(tx, len, len <= FRDMA_TX_LINEAR_MAX ? len : 0);
	if (open && !is_linear(tx) && !frdma_txmem_room(&tx->mem, len))
		open = begin_train(tx, len, len);
	if (!open) {
		tx->refused = true;
		tx->crowded = true;
		if (tx->flow.unsent)
			frdma_unsent_pause(tx->flow.unsent);
		frdma_qp_drop_unbuilt(tx->flow.qp, FRDMA_DROP_NO_MEMORY);
		return 0;
	}

	tx->at = is_linear(tx) ? skb_tail_pointer(tx->skb) :
				 frdma_txmem_at(&tx->mem);
	tx->hdr = hdr;
	tx->at_len = len;
	tx->to = (struct frdma_stripes) {
		.at = tx->at + hdr_len, .left = payload_len,
		.len = payload_len, .gap = len - payload_len, .sum = hdr->pad,
	};
	tx->run = max > 1 ? min(max, room_for_run(tx, len)) : 1;
	build_headers(tx, tx->run == max);
	return tx->run;
}

/**
 * frdma_tx_shorten - want fewer of the reserved packets
 * @tx: burst
 * @nr: how many, the first of them; at least one. None of them asks for an
 *	acknowledgement, unless these are all
 */
void frdma_tx_shorten(struct frdma_tx *tx, u32 nr)
{
	tx->run = nr;
}

static void count_bytes(struct sk_buff *skb, u32 len)
{
	skb->len += len;
	skb->data_len += len;
	skb->truesize += len;
}

/* Hand the next piece of the page over to the buffer. */
static void append_piece(struct frdma_tx *tx, u32 len)
{
	struct page_frag *frag = &tx->mem.frag;
	struct sk_buff *skb = tx->skb;
	int i = skb_shinfo(skb)->nr_frags;

	if (skb_can_coalesce(skb, i, frag->page, frag->offset)) {
		skb_frag_size_add(&skb_shinfo(skb)->frags[i - 1], len);
	} else {
		get_page(frag->page);
		skb_fill_page_desc(skb, i, frag->page, frag->offset, len);
	}
	frag->offset += len;
	count_bytes(skb, len);
}

/* The pad belongs to the sum, whose place the ICRC takes. */
static void seal_run(struct frdma_tx *tx)
{
	void *icrc = tx->at + tx->at_len - FRDMA_ICRC_LEN;
	u32 pad = tx->hdr->pad;
	u32 crc, i;

	for (i = 0; i < tx->run; i++, icrc += tx->at_len) {
		crc = *(u32 *)icrc;
		if (pad) {
			memset(icrc - pad, 0, pad);
			crc = frdma_crc32(crc, icrc - pad, pad);
		}
		*(__le32 *)icrc = frdma_icrc_final(crc);
	}
}

/**
 * frdma_tx_commit - the payload of the reserved packets is there
 * @tx: burst
 */
void frdma_tx_commit(struct frdma_tx *tx)
{
	u32 len = tx->run * tx->at_len;

	seal_run(tx);
	if (is_linear(tx))
		skb_put(tx->skb, len);
	else
		append_piece(tx, len);
	tx->nr += tx->run;
	tx->psns += tx->run * tx->span;
	tx->closed = tx->at_len < tx->seg_len;
}

/**
 * frdma_tx_push - give the stack what was built so far
 * @tx: burst, of which no packets are reserved
 */
void frdma_tx_push(struct frdma_tx *tx)
{
	frdma_tx_flush(tx);
}

/**
 * frdma_tx_end - send what was built
 * @tx: burst; the flow may change from here on
 *
 * Return: false if the host could not take all of it: some packets are lost.
 */
bool frdma_tx_end(struct frdma_tx *tx)
{
	frdma_tx_flush(tx);
	frdma_txmem_end(&tx->mem);
	return !tx->refused;
}

/**
 * frdma_tx_stays_here - would packets come back to this host
 * @flow: of these packets
 *
 * So says its routing, as long as the address is there, and its interface up.
 *
 * Context: bottom halves off, in an RCU read section.
 */
bool frdma_tx_stays_here(const struct frdma_flow *flow)
{
	const struct dst_entry *dst = route(flow);

	return dst && frdma_route_stays_here(dst);
}
