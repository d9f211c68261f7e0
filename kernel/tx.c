// SPDX-License-Identifier: GPL-2.0
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/udp.h>
#include <net/ip.h>
#include <net/ip6_checksum.h>
#include <net/ip6_route.h>
#include <net/ipv6.h>
#include <net/route.h>
#include <net/udp.h>

#include "dev.h"
#include "net.h"
#include "proto/wire.h"
#include "stats.h"
#include "trace.h"
#include "tx.h"

/*
 * Memory of packets, cut from large pages. A burst takes the page out of its
 * CPU's slot, so that none other can use it, whatever preempts whom.
 */
static DEFINE_PER_CPU(struct page_frag, tx_frag);

static void take_page(struct page_frag *frag)
{
	struct page_frag *slot;

	preempt_disable();
	slot = this_cpu_ptr(&tx_frag);
	*frag = *slot;
	slot->page = NULL;
	preempt_enable();
}

/* One page is enough for a slot: a burst that came between left one. */
static void put_page_back(struct page_frag *frag)
{
	struct page_frag *slot;

	preempt_disable();
	slot = this_cpu_ptr(&tx_frag);
	if (!slot->page) {
		*slot = *frag;
		frag->page = NULL;
	}
	preempt_enable();
	if (frag->page)
		put_page(frag->page);
}

/* Small first packets are built where the network headers are. */
#define FRDMA_TX_LINEAR_MAX	256

/* Room for the headers below ours. */
#define FRDMA_TX_HEADROOM	(LL_MAX_HEADER + sizeof(struct ipv6hdr) + \
				 sizeof(struct udphdr))

static bool flow_is_ipv4(const struct frdma_flow *flow)
{
	return flow->av->net == RDMA_NETWORK_IPV4;
}

static __be32 gid_ipv4(const union ib_gid *gid)
{
	return *(const __be32 *)&gid->raw[12];
}

static struct in6_addr gid_ipv6(const union ib_gid *gid)
{
	struct in6_addr addr;

	memcpy(&addr, gid->raw, sizeof(addr));
	return addr;
}

static void fill_udp(struct udphdr *udp, const struct frdma_flow *flow, u32 len)
{
	*udp = (struct udphdr) {
		.source	= htons(flow->sport),
		.dest	= htons(FRDMA_UDP_DPORT),
		.len	= htons(sizeof(*udp) + len),
	};
}

/* Identification 0: never fragmented, so it needs none (RFC 6864). */
static void fill_ipv4(struct iphdr *ip, const struct frdma_flow *flow, u32 len)
{
	*ip = (struct iphdr) {
		.version  = 4,
		.ihl	  = sizeof(*ip) / 4,
		.tos	  = flow->av->traffic_class,
		.tot_len  = htons(sizeof(*ip) + sizeof(struct udphdr) + len),
		.frag_off = htons(IP_DF),
		.ttl	  = flow->av->hop_limit,
		.protocol = IPPROTO_UDP,
		.saddr	  = gid_ipv4(&flow->av->sgid),
		.daddr	  = gid_ipv4(&flow->av->dgid),
	};
}

static void fill_ipv6(struct ipv6hdr *ip, const struct frdma_flow *flow,
		      u32 len)
{
	ip6_flow_hdr(ip, flow->av->traffic_class,
		     htonl(flow->av->flow_label & 0xfffff));
	ip->payload_len = htons(sizeof(struct udphdr) + len);
	ip->nexthdr = IPPROTO_UDP;
	ip->hop_limit = flow->av->hop_limit;
	ip->saddr = gid_ipv6(&flow->av->sgid);
	ip->daddr = gid_ipv6(&flow->av->dgid);
}

static struct dst_entry *route_ipv4(const struct frdma_flow *flow)
{
	struct flowi4 fl4 = {
		.flowi4_oif	= flow->av->ifindex,
		.daddr		= gid_ipv4(&flow->av->dgid),
		.saddr		= gid_ipv4(&flow->av->sgid),
		.flowi4_proto	= IPPROTO_UDP,
		.fl4_sport	= htons(flow->sport),
		.fl4_dport	= htons(FRDMA_UDP_DPORT),
	};
	struct rtable *rt;

	if (flow->cache) {
		rt = dst_cache_get_ip4(flow->cache, &fl4.saddr);
		if (rt)
			return &rt->dst;
	}

	rt = ip_route_output_key(frdma_net_ns(flow->dev->net), &fl4);
	if (IS_ERR(rt))
		return NULL;
	if (flow->cache)
		dst_cache_set_ip4(flow->cache, &rt->dst, fl4.saddr);
	return &rt->dst;
}

#if IS_ENABLED(CONFIG_IPV6)
static struct dst_entry *route_ipv6(const struct frdma_flow *flow)
{
	struct flowi6 fl6 = {
		.flowi6_oif	= flow->av->ifindex,
		.daddr		= gid_ipv6(&flow->av->dgid),
		.saddr		= gid_ipv6(&flow->av->sgid),
		.flowi6_proto	= IPPROTO_UDP,
		.fl6_sport	= htons(flow->sport),
		.fl6_dport	= htons(FRDMA_UDP_DPORT),
	};
	struct dst_entry *dst;

	if (flow->cache) {
		dst = dst_cache_get_ip6(flow->cache, &fl6.saddr);
		if (dst)
			return dst;
	}

	dst = ip6_dst_lookup_flow(frdma_net_ns(flow->dev->net), NULL, &fl6,
				  NULL);
	if (IS_ERR(dst))
		return NULL;
	if (flow->cache)
		dst_cache_set_ip6(flow->cache, dst, &fl6.saddr);
	return dst;
}
#else
static struct dst_entry *route_ipv6(const struct frdma_flow *flow)
{
	return NULL;
}

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

static int xmit_ipv4(struct sk_buff *skb, const struct frdma_tx *tx, u32 len)
{
	skb_push(skb, sizeof(struct iphdr));
	skb_reset_network_header(skb);
	fill_ipv4(ip_hdr(skb), &tx->flow, len);
	skb->protocol = htons(ETH_P_IP);
	memset(IPCB(skb), 0, sizeof(*IPCB(skb)));
	if (tx->nr > 1)
		set_train_csum(skb, tx);
	return ip_local_out(frdma_net_ns(tx->flow.dev->net), NULL, skb);
}

static int xmit_ipv6(struct sk_buff *skb, const struct frdma_tx *tx, u32 len)
{
	skb_push(skb, sizeof(struct ipv6hdr));
	skb_reset_network_header(skb);
	fill_ipv6(ipv6_hdr(skb), &tx->flow, len);
	skb->protocol = htons(ETH_P_IPV6);
	memset(IP6CB(skb), 0, sizeof(*IP6CB(skb)));
	if (tx->nr > 1)
		set_train_csum(skb, tx);
	return ip6_local_out(frdma_net_ns(tx->flow.dev->net), NULL, skb);
}

/* Give the open train to the stack; one without packets is none. */
static void frdma_tx_flush(struct frdma_tx *tx)
{
	struct frdma_dev *dev = tx->flow.dev;
	struct sk_buff *skb = tx->skb;
	struct dst_entry *dst;
	u32 len;
	int err;

	tx->skb = NULL;
	if (!skb)
		return;
	if (!tx->nr) {
		kfree_skb(skb);
		return;
	}

	dst = flow_is_ipv4(&tx->flow) ? route_ipv4(&tx->flow) :
					route_ipv6(&tx->flow);
	if (!dst) {
		tx->refused = true;
		frdma_drop(dev, skb, FRDMA_DROP_NO_ROUTE);
		return;
	}
	skb_dst_set(skb, dst);

	len = skb->len;
	frdma_count_add(dev, FRDMA_CNT_TX_PACKETS, tx->nr);
	frdma_count_add(dev, FRDMA_CNT_TX_BYTES, len);
	if (tx->nr > 1)
		frdma_count(dev, FRDMA_CNT_TX_TRAINS);

	skb_push(skb, sizeof(struct udphdr));
	skb_reset_transport_header(skb);
	fill_udp(udp_hdr(skb), &tx->flow, len);

	err = flow_is_ipv4(&tx->flow) ? xmit_ipv4(skb, tx, len) :
					xmit_ipv6(skb, tx, len);
	if (unlikely(net_xmit_eval(err))) {
		tx->refused = true;
		frdma_drop_unbuilt(dev, FRDMA_DROP_NOT_SENT);
	}
}

/* The packet must be the first of a train. */
static bool starts_train(const struct frdma_tx *tx, u32 len)
{
	return !tx->skb || tx->closed || len > tx->seg_len ||
	       tx->nr == FRDMA_TRAIN_MAX ||
	       tx->skb->len + len > FRDMA_TRAIN_MAX_BYTES ||
	       skb_shinfo(tx->skb)->nr_frags == MAX_SKB_FRAGS;
}

static bool open_train(struct frdma_tx *tx, u32 len, bool linear)
{
	u32 room = linear ? len : 0;

	tx->skb = alloc_skb(FRDMA_TX_HEADROOM + room, GFP_ATOMIC);
	if (!tx->skb)
		return false;
	skb_reserve(tx->skb, FRDMA_TX_HEADROOM);
	tx->linear = linear;
	tx->seg_len = len;
	tx->nr = 0;
	tx->closed = false;
	return true;
}

/*
 * Short of large pages, the refill answers true with a small one. That must
 * not stay: a CPU would never build a train of large packets again.
 */
static bool page_has_room(struct frdma_tx *tx, u32 len)
{
	struct page_frag *frag = &tx->frag;

	if (!skb_page_frag_refill(len, frag, GFP_ATOMIC))
		return false;
	if (frag->size - frag->offset >= len)
		return true;
	put_page(frag->page);
	frag->page = NULL;
	return false;
}

/* The packet is built behind the network headers. */
static bool is_linear(const struct frdma_tx *tx)
{
	return tx->linear && !tx->nr;
}

/* Send or drop what is open, and open a train that begins with a packet. */
static bool begin_train(struct frdma_tx *tx, u32 len, bool linear)
{
	frdma_tx_flush(tx);
	return open_train(tx, len, linear);
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
	struct udphdr udp;

	tx->flow = *flow;
	tx->skb = NULL;
	tx->refused = false;
	take_page(&tx->frag);
	fill_udp(&udp, flow, 0);
	if (flow_is_ipv4(flow)) {
		struct iphdr ip;

		fill_ipv4(&ip, flow, 0);
		frdma_icrc_pseudo_ipv4(&tx->pseudo, &ip, &udp);
	} else {
		struct ipv6hdr ip;

		fill_ipv6(&ip, flow, 0);
		frdma_icrc_pseudo_ipv6(&tx->pseudo, &ip, &udp);
	}
}

/**
 * frdma_tx_reserve - make room for a packet
 * @tx: burst
 * @hdr: its headers, which stay until frdma_tx_commit()
 * @payload_len: bytes of its payload
 *
 * Return: where the caller puts the payload, NULL if there is no memory.
 */
void *frdma_tx_reserve(struct frdma_tx *tx, const struct frdma_hdr *hdr,
		       u32 payload_len)
{
	u32 hdr_len = frdma_hdr_len(hdr->opcode);
	u32 len = hdr_len + payload_len + hdr->pad + FRDMA_ICRC_LEN;
	bool open;

	open = !starts_train(tx, len) ||
	       begin_train(tx, len, len <= FRDMA_TX_LINEAR_MAX);
	if (open && !is_linear(tx) && !page_has_room(tx, len))
		open = begin_train(tx, len, true);
	if (!open) {
		frdma_drop_unbuilt(tx->flow.dev, FRDMA_DROP_NO_MEMORY);
		return NULL;
	}

	tx->at = is_linear(tx) ? skb_tail_pointer(tx->skb) :
				 page_address(tx->frag.page) + tx->frag.offset;
	tx->hdr = hdr;
	tx->at_len = len;
	tx->payload_len = payload_len;
	return tx->at + hdr_len;
}

/* Hand the reserved piece of the page over to the buffer. */
static void append_frag(struct frdma_tx *tx)
{
	struct page_frag *frag = &tx->frag;
	struct sk_buff *skb = tx->skb;
	int i = skb_shinfo(skb)->nr_frags;

	if (skb_can_coalesce(skb, i, frag->page, frag->offset)) {
		skb_frag_size_add(&skb_shinfo(skb)->frags[i - 1], tx->at_len);
	} else {
		get_page(frag->page);
		skb_fill_page_desc(skb, i, frag->page, frag->offset,
				   tx->at_len);
	}
	frag->offset += tx->at_len;
	skb->len += tx->at_len;
	skb->data_len += tx->at_len;
	skb->truesize += tx->at_len;
}

/**
 * frdma_tx_commit - the reserved packet is complete but for its headers
 * @tx: burst
 */
void frdma_tx_commit(struct frdma_tx *tx)
{
	u32 hdr_len = frdma_hdr_build(tx->at, tx->hdr);
	void *payload = tx->at + hdr_len;
	u32 tail = tx->payload_len + tx->hdr->pad;
	u32 crc;

	memset(payload + tx->payload_len, 0, tx->hdr->pad);
	frdma_icrc_pseudo_set(&tx->pseudo, tx->nr, tx->at_len);
	crc = frdma_icrc_seed(&tx->pseudo, tx->at, hdr_len);
	crc = frdma_crc32(crc, payload, tail);
	*(__le32 *)(payload + tail) = frdma_icrc_final(crc);

	if (is_linear(tx))
		skb_put(tx->skb, tx->at_len);
	else
		append_frag(tx);
	tx->nr++;
	tx->closed = tx->at_len < tx->seg_len ||
		     tx->hdr->opcode == FRDMA_READ_REQUEST;
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
	put_page_back(&tx->frag);
	return !tx->refused;
}

/** frdma_tx_exit - give back what is left of the pages; module exit */
void frdma_tx_exit(void)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		struct page_frag *frag = per_cpu_ptr(&tx_frag, cpu);

		if (frag->page)
			put_page(frag->page);
		frag->page = NULL;
	}
}
