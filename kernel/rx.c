// SPDX-License-Identifier: GPL-2.0
#include <linux/if_vlan.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/sizes.h>
#include <linux/udp.h>
#include <net/dsfield.h>
#include <net/inet_ecn.h>
#include <net/ip.h>
#include <net/ipv6.h>

#include "cnp.h"
#include "crc.h"
#include "dev.h"
#include "gids.h"
#include "mcast.h"
#include "mixed.h"
#include "net.h"
#include "proto/icrc.h"
#include "proto/op.h"
#include "proto/wire.h"
#include "qp.h"
#include "rx.h"
#include "stats.h"
#include "trace.h"

/* BTH and ICRC: nothing shorter is a packet, in a train either. */
#define MIN_PACKET	(sizeof(struct frdma_bth) + FRDMA_ICRC_LEN)

/* The longest one, with its UDP header: all headers and the largest MTU. */
#define MAX_PACKET	(sizeof(struct udphdr) + FRDMA_HDR_MAX + SZ_4K + \
			 FRDMA_ICRC_LEN)

/*
 * Bytes of a run, with its headers: what was read for the ICRC is still near
 * when it is copied.
 */
#define RUN_BYTES	SZ_64K

static bool skb_is_ipv4(const struct sk_buff *skb)
{
	return ip_hdr(skb)->version == 4;
}

/* RFC 3168: a switch has marked it instead of dropping it. */
static bool skb_met_congestion(const struct sk_buff *skb)
{
	return INET_ECN_is_ce(skb_is_ipv4(skb) ?
			      ip_hdr(skb)->tos :
			      ipv6_get_dsfield(ipv6_hdr(skb)));
}

/* The addresses of a packet as the GIDs that they are. */
static void skb_gids(const struct sk_buff *skb, union ib_gid *sgid,
		     union ib_gid *dgid)
{
	if (skb_is_ipv4(skb)) {
		ipv6_addr_set_v4mapped(ip_hdr(skb)->saddr,
				       (struct in6_addr *)sgid);
		ipv6_addr_set_v4mapped(ip_hdr(skb)->daddr,
				       (struct in6_addr *)dgid);
	} else {
		memcpy(sgid, &ipv6_hdr(skb)->saddr, sizeof(*sgid));
		memcpy(dgid, &ipv6_hdr(skb)->daddr, sizeof(*dgid));
	}
}

/*
 * Linux takes a packet to any of its addresses from any interface. On the network
 * behind another interface, an attacker may have the peer's address. Packets of
 * this host come by lo.
 */
static bool may_come_by_any(const struct frdma_dev *dev,
				  const struct frdma_rx_cb *cb)
{
	return cb->local || !READ_ONCE(dev->check_interface);
}

/* IBTA 9.6.1.2: both addresses of a connection are checked. */
static bool is_from_peer(const struct frdma_qp *qp, const struct sk_buff *skb,
			 enum frdma_drop_reason *why)
{
	const struct frdma_rx_cb *cb = frdma_rx_cb(skb);
	const struct frdma_av *av = &qp->path.av;
	union ib_gid sgid, dgid;

	skb_gids(skb, &sgid, &dgid);
	*why = FRDMA_DROP_BAD_ADDRESS;
	if (memcmp(&sgid, &av->dgid, sizeof(sgid)) ||
	    memcmp(&dgid, &av->sgid, sizeof(dgid)))
		return false;

	*why = FRDMA_DROP_WRONG_INTERFACE;
	return likely(cb->ifindex == av->ifindex) ||
	       may_come_by_any(qp->dev, cb) ||
	       frdma_gids_come_by(qp->dev, av->ifindex, cb->ifindex);
}

/* A datagram may come from anywhere, to an address of this link or to a group. */
static bool is_datagram_for(const struct frdma_qp *qp,
			    const struct sk_buff *skb,
			    enum frdma_drop_reason *why)
{
	const struct frdma_rx_cb *cb = frdma_rx_cb(skb);
	union ib_gid sgid, dgid;

	if (cb->multicast)
		return true;

	skb_gids(skb, &sgid, &dgid);
	if (frdma_gids_have_on(qp->dev, &dgid, cb->ifindex))
		return true;

	*why = FRDMA_DROP_BAD_ADDRESS;
	if (!frdma_gids_have(qp->dev, &dgid))
		return false;

	*why = FRDMA_DROP_WRONG_INTERFACE;
	return may_come_by_any(qp->dev, cb);
}

static bool has_right_addresses(const struct frdma_qp *qp,
				const struct sk_buff *skb,
				enum frdma_drop_reason *why)
{
	return frdma_qp_is_connected(qp) ? is_from_peer(qp, skb, why) :
					   is_datagram_for(qp, skb, why);
}

/* IBTA 10.9.3: equal, and one of both a full member. */
static bool pkeys_match(u16 a, u16 b)
{
	return !((a ^ b) & FRDMA_PKEY_BASE) && (a | b) & FRDMA_PKEY_FULL;
}

/**
 * struct rx_train - a buffer that is being taken apart
 * @skb: the buffer
 * @at: where the next packet begins
 * @pseudo: the part of the ICRC that its packets share
 * @ip_id: IPv4 identification of the first
 * @id_counts: that of each other is the next one; no meaning with IPv6
 * @id_known: that is sure
 * @seg_len: bytes of each packet but the last
 * @nr: number of packets
 * @headers: of the one that is being read
 * @last: BTH of the one before, or of one before that is like it but for its PSN
 * @last_len: bytes of that, if it was good and had no other header; else 0
 * @mixed: other sides that the train was passed on to
 */
struct rx_train {
	const struct sk_buff *skb;
	struct frdma_cursor at;
	struct frdma_icrc_pseudo pseudo;
	u16 ip_id;
	bool id_counts;
	bool id_known;
	u32 seg_len;
	u32 nr;
	u8 headers[FRDMA_HDR_MAX];
	struct frdma_bth last;
	u32 last_len;
	struct frdma_mixed mixed;
};

static void rx_train_init(struct rx_train *train, const struct sk_buff *skb)
{
	u32 len = skb->len - sizeof(struct udphdr);

	train->skb = skb;
	train->last_len = 0;
	train->mixed.nr = 0;
	train->mixed.refused = 0;
	train->at = frdma_cursor_at(skb, sizeof(struct udphdr));
	train->ip_id = 0;
	train->id_counts = false;
	train->id_known = true;
	if (skb_is_ipv4(skb)) {
		train->id_counts = !(skb_shinfo(skb)->gso_type &
				     SKB_GSO_TCP_FIXEDID);
		train->id_known = !train->id_counts;
		train->ip_id = ntohs(ip_hdr(skb)->id);
		frdma_icrc_pseudo_ipv4(&train->pseudo, ip_hdr(skb),
				       udp_hdr(skb));
	} else {
		frdma_icrc_pseudo_ipv6(&train->pseudo, ipv6_hdr(skb),
				       udp_hdr(skb));
	}
	train->seg_len = skb_is_gso(skb) ? skb_shinfo(skb)->gso_size : len;
	train->nr = skb_is_gso(skb) ? DIV_ROUND_UP(len, train->seg_len) : 1;
}

/*
 * Copies the headers that the opcode calls for, as far as a packet of @len
 * bytes has them, and goes on to its payload. What lies in a buffer may still
 * change: a process of this host can have a page of its own sent (splice()).
 * So all that is judged here is read once.
 */
static u32 copy_headers(struct frdma_cursor *at, u32 len, u8 *headers)
{
	const u32 bth_len = sizeof(struct frdma_bth);
	u32 hdr_len;

	if (unlikely(len < bth_len)) {
		frdma_cursor_copy(at, headers, len);
		return len;
	}
	frdma_cursor_take(at, headers, bth_len);
	hdr_len = min(len, frdma_hdr_len(headers[0]));
	if (hdr_len > bth_len)
		frdma_cursor_copy(at, headers + bth_len, hdr_len - bth_len);
	return hdr_len;
}

/* @crc: up to the payload, which is at @at; @len: bytes of it, with its pad. */
static bool payload_has_icrc(struct frdma_cursor at, u32 crc, u32 len)
{
	__le32 icrc;

	crc = frdma_cursor_crc(&at, crc, len);
	frdma_cursor_take(&at, &icrc, sizeof(icrc));
	return icrc == frdma_icrc_final(crc);
}

/* @at: the payload; @len: bytes of the packet. */
static bool icrc_is_right(struct rx_train *train, u32 i,
			  struct frdma_cursor at, u32 len, u32 hdr_len)
{
	u16 ip_id = train->ip_id + (train->id_counts ? i : 0);
	u32 crc;

	/* What a packet of a train would have had as one of its own. */
	if (train->nr > 1)
		frdma_icrc_pseudo_set(&train->pseudo, ip_id, len);
	crc = frdma_icrc_seed(&train->pseudo, train->headers, hdr_len);
	return payload_has_icrc(at, crc, len - hdr_len - FRDMA_ICRC_LEN);
}

/*
 * A train that comes from another machine, or that GRO has made of packets, does
 * not say how they are numbered: one behind the first shows it whose ICRC is right if
 * they are all the same. Until then each is asked, as what is damaged shows nothing.
 */
static bool icrc_shows_fixed_id(struct rx_train *train, u32 i,
				struct frdma_cursor at, u32 len, u32 hdr_len)
{
	if (!i || train->id_known)
		return false;

	train->id_counts = false;
	train->id_known = icrc_is_right(train, i, at, len, hdr_len);
	train->id_counts = !train->id_known;
	return train->id_known;
}

/* The queue pair that a packet must name in order to be for this one. */
static u32 expected_dqpn(const struct frdma_qp *qp, const struct sk_buff *skb)
{
	return frdma_rx_is_multicast(skb) ? FRDMA_QPN_MULTICAST : qp->qpn;
}

/* Is it a packet, and one for this side? *why is set if not. */
static bool headers_are_for(const struct rx_train *train,
			    const struct frdma_qp *qp, bool responses,
			    u32 hdr_len, u32 len, struct frdma_hdr *hdr,
			    enum frdma_drop_reason *why)
{
	*why = FRDMA_DROP_SHORT;
	switch (frdma_hdr_parse(hdr, train->headers, hdr_len, len)) {
	case FRDMA_HDR_SHORT:
		return false;
	case FRDMA_HDR_VERSION:
		*why = FRDMA_DROP_BAD_VERSION;
		return false;
	default:
		break;
	}

	*why = FRDMA_DROP_MIXED_TRAIN;
	return hdr->dqpn == expected_dqpn(qp, train->skb) &&
	       frdma_op(hdr->opcode)->response == responses;
}

/* Now that the headers are known to be what was sent. */
static bool headers_fit(const struct frdma_qp *qp, const struct frdma_hdr *hdr,
			enum frdma_drop_reason *why)
{
	*why = FRDMA_DROP_WRONG_TRANSPORT;
	if (!frdma_opcode_is_on(hdr->opcode, frdma_qp_transport(qp)))
		return false;

	*why = FRDMA_DROP_BAD_PKEY;
	return pkeys_match(hdr->pkey, FRDMA_PKEY_DEFAULT);
}

static u32 rx_train_len(const struct rx_train *train, u32 i)
{
	u32 off = sizeof(struct udphdr) + i * train->seg_len;

	return min(train->seg_len, train->skb->len - off);
}

/*
 * Reads and judges packet @i; *why is set if it is to be dropped. One whose
 * BTH is but for what counts that of a good one before it needs to have the
 * right ICRC only.
 */
static bool rx_train_packet(struct rx_train *train, u32 i,
			    const struct frdma_qp *qp, bool responses,
			    struct frdma_rx_pkt *pkt,
			    enum frdma_drop_reason *why)
{
	const struct frdma_bth *bth = (const void *)train->headers;
	u32 len = rx_train_len(train, i);
	struct frdma_cursor at = train->at;
	u32 hdr_len = copy_headers(&at, len, train->headers);
	bool alike = len == train->last_len &&
		     frdma_hdr_parse_next(&pkt->hdr, &train->last, bth);

	frdma_cursor_skip(&train->at, len);
	train->last_len = 0;

	if (!alike && !headers_are_for(train, qp, responses, hdr_len, len,
				       &pkt->hdr, why))
		return false;

	if (!icrc_is_right(train, i, at, len, hdr_len) &&
	    !icrc_shows_fixed_id(train, i, at, len, hdr_len)) {
		*why = FRDMA_DROP_BAD_ICRC;
		return false;
	}

	if (!alike && !headers_fit(qp, &pkt->hdr, why))
		return false;

	if (hdr_len == sizeof(*bth)) {
		train->last = *bth;
		train->last_len = len;
	}
	pkt->skb = train->skb;
	pkt->nr = 1;
	pkt->payload = (struct frdma_payload) {
		.at	= at,
		.left	= pkt->hdr.payload_len,
		.len	= pkt->hdr.payload_len,
		.gap	= len - pkt->hdr.payload_len,
	};
	return true;
}

/*
 * Is a packet good, and like the good one before, which it follows? Then its
 * BTH, @found, is known beforehand, to the last bit, and so is the CRC of what
 * is in front of the payload. Whatever it is, it counts as the one before for
 * the next: who does not take it asks no more.
 */
static __always_inline bool bth_continues_run(struct rx_train *train,
					      const struct frdma_bth *found,
					      u32 *crc)
{
	*crc = frdma_icrc_seed_next(&train->pseudo, train->id_counts);
	return !memcmp(found, &train->pseudo.crc_bth, sizeof(*found));
}

/* How many of @most packets from @i on lie at *@kaddr, one behind the other. */
static u32 packets_in_place(struct rx_train *train, u32 i, u32 most,
			    const void **kaddr)
{
	u32 len = train->last_len;

	if (rx_train_len(train, i + most - 1) != len)
		most--;
	return min(most, frdma_cursor_run(&train->at, kaddr) / len);
}

/* How many of @nr packets continue the run. */
static u32 count_in_place(struct rx_train *train, u32 nr, const void *kaddr)
{
	const u32 bth_len = sizeof(struct frdma_bth);
	u32 to_icrc = train->last_len - FRDMA_ICRC_LEN;
	u32 n, crc;

	for (n = 0; n < nr; n++, kaddr += train->last_len) {
		if (!bth_continues_run(train, kaddr, &crc))
			break;
		crc = frdma_crc32(crc, kaddr + bth_len, to_icrc - bth_len);
		if (get_unaligned((const __le32 *)(kaddr + to_icrc)) !=
		    frdma_icrc_final(crc))
			break;
	}
	frdma_cursor_skip(&train->at, n * train->last_len);
	return n;
}

/* The same for packet @i, which may lie in several places. */
static bool continues_run(struct rx_train *train, u32 i)
{
	struct frdma_cursor at = train->at;
	u32 len = train->last_len;
	struct frdma_bth found;
	u32 crc;

	if (rx_train_len(train, i) != len)
		return false;
	frdma_cursor_take(&at, &found, sizeof(found));
	if (!bth_continues_run(train, &found, &crc) ||
	    !payload_has_icrc(at, crc, len - sizeof(found) - FRDMA_ICRC_LEN))
		return false;
	frdma_cursor_skip(&train->at, len);
	return true;
}

/* How many of @most packets from @i on continue the run. */
static u32 count_run(struct rx_train *train, u32 i, u32 most)
{
	const void *kaddr;
	u32 nr = 0, here, n;

	while (nr < most) {
		here = packets_in_place(train, i + nr, most - nr, &kaddr);
		if (here)
			n = count_in_place(train, here, kaddr);
		else
			n = continues_run(train, i + nr);
		nr += n;
		if (n < max(here, 1U))
			break;
	}
	return nr;
}

/*
 * Makes a run of packet @i, a good one, and those behind it that continue it.
 * The first that does not is left to be judged as any other.
 */
static void rx_train_run(struct rx_train *train, u32 i,
			 struct frdma_rx_pkt *pkt)
{
	u32 more = train->nr - i - 1;

	if (!more || !train->last_len || !frdma_hdr_may_run(&pkt->hdr))
		return;

	more = min(more, RUN_BYTES / train->last_len);
	frdma_crc_begin();
	pkt->nr += count_run(train, i + 1, more);
	frdma_crc_end();
}

/* Goes on to a later packet of a run. */
static void skip_packets(struct frdma_rx_pkt *pkt, u32 nr)
{
	frdma_hdr_skip(&pkt->hdr, nr);
	frdma_cursor_skip(&pkt->payload.at,
			  nr * (pkt->hdr.payload_len + pkt->payload.gap));
}

/**
 * frdma_rx_hand_over - have a packet taken, or a run
 * @qp: for which it is, one of whose sides the caller owns
 * @pkt: the packets; becomes what would follow them
 * @take: called for each that is not taken as one of a run
 * @take_run: called for a run first
 */
void frdma_rx_hand_over(struct frdma_qp *qp, struct frdma_rx_pkt *pkt,
			frdma_rx_fn take, frdma_rx_run_fn take_run)
{
	u32 left = pkt->nr;

	if (left > 1) {
		take_run(qp, pkt);
		left -= pkt->nr;
		skip_packets(pkt, pkt->nr);
		pkt->nr = 1;
	}
	for (; left; left--) {
		take(qp, pkt);
		skip_packets(pkt, 1);
	}
}

/* Negative: packets counted before turned out to be another queue pair's. */
static void count_received(const struct frdma_qp *qp, s64 nr, s64 bytes)
{
	frdma_qp_count_add(qp, FRDMA_CNT_RX_PACKETS, nr);
	frdma_qp_count_add(qp, FRDMA_CNT_RX_BYTES, bytes);
}

/* Count all packets of a buffer. note_taken() counts the packets of a part. */
static void count_train(const struct frdma_qp *qp, const struct rx_train *train)
{
	const struct sk_buff *skb = train->skb;

	if (unlikely(frdma_rx_cb(skb)->part))
		return;
	count_received(qp, train->nr, skb->len - sizeof(struct udphdr));
	if (train->nr > 1)
		frdma_qp_count(qp, FRDMA_CNT_RX_TRAINS);
	if (unlikely(skb_met_congestion(skb)))
		frdma_qp_count_add(qp, FRDMA_CNT_RX_MARKED, train->nr);
}

/*
 * Drop packet @i, or pass the train on to the side that @hdr names. The side that
 * got the whole train has dropped malformed packets, so a part skips them.
 */
static void refuse_packet(struct rx_train *train, u32 i,
			  const struct frdma_qp *qp,
			  const struct frdma_hdr *hdr,
			  enum frdma_drop_reason why)
{
	const struct frdma_rx_cb *cb = frdma_rx_cb(train->skb);
	bool judged = why != FRDMA_DROP_SHORT &&
		      why != FRDMA_DROP_BAD_VERSION &&
		      why != FRDMA_DROP_MIXED_TRAIN;

	if (cb->part && !judged)
		return;
	if (why == FRDMA_DROP_MIXED_TRAIN && !cb->multicast &&
	    frdma_mixed_pass_on(&train->mixed, qp, train->skb, hdr)) {
		count_received(qp, -1, -(s64)rx_train_len(train, i));
		return;
	}
	if (cb->part)
		count_received(qp, 1, rx_train_len(train, i));
	frdma_qp_drop_unbuilt(qp, why);
}

/* Packet @i begins a run. All packets of a run have the same length. */
static void note_taken(const struct rx_train *train, u32 i,
		       const struct frdma_qp *qp,
		       const struct frdma_rx_pkt *pkt)
{
	if (unlikely(frdma_rx_cb(train->skb)->part))
		count_received(qp, pkt->nr, pkt->nr * rx_train_len(train, i));
	else if (!i)
		trace_frdma_rx(qp->dev->ndev->ifindex, qp->qpn, pkt->hdr.opcode,
			       pkt->hdr.psn, train->skb->len, train->nr);
}

/* A part of a mixed train holds one packet for @qp at least. */
static void refuse_buffer(struct frdma_qp *qp, struct sk_buff *skb,
			  enum frdma_drop_reason why)
{
	if (!frdma_rx_cb(skb)->part) {
		frdma_qp_drop(qp, skb, why);
		return;
	}
	frdma_qp_drop_unbuilt(qp, why);
	kfree_skb(skb);
}

/**
 * frdma_rx_each - judge the packets of a buffer, in their order
 * @qp: for which they are, one of whose sides the caller owns
 * @skb: consumed; data at the UDP header
 * @responses: the side is the send side
 * @take: called for each packet that passes
 * @take_run: called for several of them at once, where they differ in their
 *	PSN only; NULL: never
 */
void frdma_rx_each(struct frdma_qp *qp, struct sk_buff *skb, bool responses,
		   frdma_rx_fn take, frdma_rx_run_fn take_run)
{
	enum frdma_drop_reason why;
	struct frdma_rx_pkt pkt;
	struct rx_train train;
	bool echo = false;
	u32 i, nr;

	if (!has_right_addresses(qp, skb, &why)) {
		refuse_buffer(qp, skb, why);
		return;
	}

	rx_train_init(&train, skb);
	count_train(qp, &train);

	for (i = 0; i < train.nr; i += nr) {
		nr = 1;
		if (!rx_train_packet(&train, i, qp, responses, &pkt, &why)) {
			refuse_packet(&train, i, qp, &pkt.hdr, why);
			continue;
		}
		if (take_run)
			rx_train_run(&train, i, &pkt);
		note_taken(&train, i, qp, &pkt);
		nr = pkt.nr;
		echo |= frdma_hdr_brings_data(&pkt.hdr);
		frdma_rx_hand_over(qp, &pkt, take, take_run);
	}
	if (unlikely(echo && skb_met_congestion(skb)))
		frdma_cnp_obey_or_echo(qp, responses);
	consume_skb(skb);
}

/*
 * The interface that a packet came by, for one of a VRF the one below it. A
 * packet of this host comes by lo, and still counts as of the interface that
 * it names.
 */
static int skb_ifindex(struct sk_buff *skb)
{
	if (skb_is_ipv4(skb))
		return inet_sdif(skb) ?: inet_iif(skb);
	return inet6_sdif(skb) ?: inet6_iif(skb);
}

/*
 * Packets of this host to itself come by lo, or by a VRF, which marks them.
 * eth_type_trans() gives no packet of a network that mark.
 */
static bool is_local(const struct sk_buff *skb)
{
	return skb->dev->flags & IFF_LOOPBACK ||
	       skb->pkt_type == PACKET_LOOPBACK;
}

/*
 * Datagrams to queue pair 1 are told apart by their destination address and
 * the interface that they came by.
 */
static struct frdma_qp *find_gsi(struct frdma_net *fnet,
				 struct sk_buff *skb)
{
	union ib_gid sgid, dgid;
	struct frdma_dev *dev;

	skb_gids(skb, &sgid, &dgid);
	dev = frdma_net_find_dev(fnet, &dgid, skb_ifindex(skb));
	return dev ? frdma_qp_find_gsi(dev) : NULL;
}

/* Keep what will be asked for, and let go of all that may go away. */
static void detach(struct sk_buff *skb, bool multicast)
{
	const struct net_device *in = skb->dev;
	struct frdma_rx_cb cb = {
		.ifindex = skb_ifindex(skb),
		.vlan_id = is_vlan_dev(in) ? vlan_dev_vlan_id(in) : 0xffff,
		.local = is_local(skb),
		.multicast = multicast,
	};

	BUILD_BUG_ON(sizeof(cb) > sizeof(skb->cb));
	memcpy(skb->cb, &cb, sizeof(cb));
	skb_dst_drop(skb);
	skb_ext_reset(skb);
	nf_reset_ct(skb);
	skb->dev = NULL;
}

/*
 * One copy for each queue pair that is attached to the group by the link that
 * it came by; what the link itself has sent, IP has brought back (IBTA 10.5).
 * Each queue pair verifies the ICRC of the headers that it has read itself: the
 * headers in the shared buffer may change.
 */
static void deliver_to_group(struct frdma_net *fnet, struct sk_buff *skb)
{
	struct frdma_dev *dev = frdma_net_find_dev_on(fnet, skb_ifindex(skb));
	struct frdma_member *member;
	struct rhlist_head *pos;
	union ib_gid sgid, dgid;
	bool any = false;

	skb_gids(skb, &sgid, &dgid);
	detach(skb, true);
	if (dev) {
		frdma_for_each_member(member, pos, dev, &dgid) {
			struct sk_buff *copy = skb_clone(skb, GFP_ATOMIC);

			any = true;
			if (!copy)
				frdma_qp_drop_unbuilt(member->qp,
						      FRDMA_DROP_NO_MEMORY);
			else if (!frdma_side_deliver(&member->qp->rq.side,
						     copy))
				frdma_qp_drop(member->qp, copy,
					      FRDMA_DROP_QUEUE_FULL);
		}
	}
	if (any)
		consume_skb(skb);
	else
		frdma_net_drop(fnet, skb, FRDMA_DROP_NO_QP);
}

/*
 * IP reassembly makes a list of fragments of one packet. A list longer than any
 * packet is refused before it costs a large allocation: the sender chose its
 * length. Returns false if @skb was dropped.
 */
static bool flatten(struct frdma_net *fnet, struct sk_buff *skb)
{
	if (!skb_is_gso(skb) && skb->len > MAX_PACKET) {
		frdma_net_drop(fnet, skb, FRDMA_DROP_BAD_LENGTH);
		return false;
	}
	if (skb_linearize(skb)) {
		frdma_net_drop(fnet, skb, FRDMA_DROP_NO_MEMORY);
		return false;
	}
	return true;
}

/**
 * frdma_rx - a buffer has come for the RoCE port
 * @fnet: namespace in which it arrived
 * @skb: consumed; data at the UDP header, IP header before it
 *
 * Only what is needed to find the queue pair is looked at here; all else is
 * judged under ownership.
 *
 * Context: softirq, bottom halves off.
 */
void frdma_rx(struct frdma_net *fnet, struct sk_buff *skb)
{
	struct frdma_side *side;
	struct frdma_bth copy;
	const struct frdma_bth *bth;
	struct frdma_qp *qp;
	u32 qpn;

	if (!skb_frags_readable(skb) ||
	    (skb_is_gso(skb) && skb_shinfo(skb)->gso_size < MIN_PACKET)) {
		frdma_net_drop(fnet, skb, FRDMA_DROP_SHORT);
		return;
	}
	if (skb_has_frag_list(skb) && !flatten(fnet, skb))
		return;

	bth = skb_header_pointer(skb, sizeof(struct udphdr), sizeof(*bth),
				 &copy);
	if (!bth || (skb_is_ipv4(skb) && ip_hdr(skb)->ihl != 5)) {
		frdma_net_drop(fnet, skb, FRDMA_DROP_SHORT);
		return;
	}

	rcu_read_lock();
	qpn = be32_to_cpu(bth->dqpn) & FRDMA_BTH_DQPN;
	if (qpn == FRDMA_QPN_MULTICAST) {
		deliver_to_group(fnet, skb);
		goto out;
	}
	/*
	 * All else goes to one host; what has no address here is not ours. What
	 * a VRF brings back to this host is marked as such.
	 */
	if (skb->pkt_type != PACKET_HOST && skb->pkt_type != PACKET_LOOPBACK) {
		frdma_net_drop(fnet, skb, FRDMA_DROP_BAD_ADDRESS);
		goto out;
	}
	qp = qpn == FRDMA_QPN_GSI ? find_gsi(fnet, skb) :
				    frdma_qp_find(fnet, qpn);
	if (!qp) {
		frdma_net_drop(fnet, skb, FRDMA_DROP_NO_QP);
		goto out;
	}

	detach(skb, false);
	side = frdma_op(bth->opcode)->response ? &qp->sq.side : &qp->rq.side;
	if (!frdma_side_deliver(side, skb))
		frdma_qp_drop(qp, skb, FRDMA_DROP_QUEUE_FULL);
out:
	rcu_read_unlock();
}
