// SPDX-License-Identifier: GPL-2.0
/*
 * Only the kernel sends RoCE.
 *
 * A packet counts as sent by the peer if it has the peer's addresses. So a
 * process that sends UDP to port 4791 could speak for every connection of its
 * host. On the addresses and interfaces of a link it needs what it would need
 * for a raw socket, by which it could send anything: CAP_NET_RAW in the user
 * namespace that owns the network namespace.
 */
#include <linux/capability.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/netfilter.h>
#include <linux/udp.h>
#include <net/ip.h>
#include <net/ipv6.h>
#include <net/sock.h>

#include "dev.h"
#include "guard.h"
#include "net.h"
#include "proto/wire.h"
#include "stats.h"

/*
 * Packets of frdma have no socket. A raw socket could not be created without the
 * capability. A tunnel emits its packets by a socket of the kernel, whatever
 * socket the inner packet came from.
 */
static bool is_of_process(const struct sock *sk)
{
	return sk && sk_fullsock(sk) && !sk->sk_kern_sock &&
	       sk->sk_type != SOCK_RAW;
}

static bool is_roce(const struct sk_buff *skb, int offset)
{
	const struct udphdr *udp;
	struct udphdr copy;

	udp = skb_header_pointer(skb, offset, sizeof(copy), &copy);
	return udp && (udp->dest == htons(FRDMA_UDP_DPORT) ||
		       udp->source == htons(FRDMA_UDP_DPORT));
}

/*
 * As with a raw socket, the creator of the socket needs the capability: the file
 * has its credentials. A closed socket has no file; SCTP may still send by one.
 */
static bool creator_is_capable(struct sock *sk, struct user_namespace *ns)
{
	bool capable = false;

	read_lock_bh(&sk->sk_callback_lock);
	if (sk->sk_socket && sk->sk_socket->file)
		capable = file_ns_capable(sk->sk_socket->file, ns, CAP_NET_RAW);
	read_unlock_bh(&sk->sk_callback_lock);

	return capable;
}

static unsigned int judge(struct sk_buff *skb,
			  const struct nf_hook_state *state,
			  const union ib_gid *sgid, const union ib_gid *dgid)
{
	struct frdma_dev *dev;

	dev = frdma_net_find_guard(state->net, sgid, dgid, state->out->ifindex);
	if (!dev || creator_is_capable(state->sk, state->net->user_ns))
		return NF_ACCEPT;

	frdma_dev_drop_unbuilt(dev, FRDMA_DROP_NOT_PERMITTED);
	return NF_DROP;
}

/**
 * frdma_guard_ipv4 - netfilter hook: what this host sends over IPv4
 * @priv: unused
 * @skb: packet, before it is fragmented
 * @state: what it is sent by
 *
 * Context: LOCAL_OUT, in an RCU read section.
 * Return: NF_DROP, which is EPERM for the sender; else NF_ACCEPT.
 */
unsigned int frdma_guard_ipv4(void *priv, struct sk_buff *skb,
			      const struct nf_hook_state *state)
{
	union ib_gid sgid, dgid;

	if (likely(!is_of_process(state->sk)) ||
	    ip_hdr(skb)->protocol != IPPROTO_UDP ||
	    !is_roce(skb, skb_network_offset(skb) + ip_hdrlen(skb)))
		return NF_ACCEPT;

	ipv6_addr_set_v4mapped(ip_hdr(skb)->saddr, (struct in6_addr *)&sgid);
	ipv6_addr_set_v4mapped(ip_hdr(skb)->daddr, (struct in6_addr *)&dgid);
	return judge(skb, state, &sgid, &dgid);
}

/**
 * frdma_guard_ipv6 - netfilter hook: what this host sends over IPv6
 * @priv: unused
 * @skb: packet, before it is fragmented
 * @state: what it is sent by
 *
 * Context: LOCAL_OUT, in an RCU read section.
 * Return: NF_DROP, which is EPERM for the sender; else NF_ACCEPT.
 */
unsigned int frdma_guard_ipv6(void *priv, struct sk_buff *skb,
			      const struct nf_hook_state *state)
{
	union ib_gid sgid, dgid;
	u8 next;
	__be16 frag;
	int offset;

	if (likely(!is_of_process(state->sk)))
		return NF_ACCEPT;
	next = ipv6_hdr(skb)->nexthdr;
	offset = ipv6_skip_exthdr(skb, skb_network_offset(skb) +
				  sizeof(struct ipv6hdr), &next, &frag);
	if (offset < 0 || next != IPPROTO_UDP || !is_roce(skb, offset))
		return NF_ACCEPT;

	memcpy(&sgid, &ipv6_hdr(skb)->saddr, sizeof(sgid));
	memcpy(&dgid, &ipv6_hdr(skb)->daddr, sizeof(dgid));
	return judge(skb, state, &sgid, &dgid);
}
