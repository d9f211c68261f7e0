// SPDX-License-Identifier: GPL-2.0
/*
 * The door for packets: UDP port 4791, once per network namespace that has a
 * link, opened by its first and closed by its last.
 *
 * Tunnel sockets receive in softirq without a queue, but UDP would cut a
 * train (a GSO buffer) into packets again before it gives it to one, except
 * where the buffer says that it was meant for a tunnel. A netfilter hook,
 * behind all others, says so for trains to our port. So a train crosses the
 * stack and an administrator's filters once, and arrives whole. Another hook
 * keeps processes from sending to the port (guard.c).
 *
 * A link holds its namespace's struct frdma_net as long as it may send or
 * receive. The end of a namespace waits for that: its interfaces are gone
 * from it by then, which has told their links to go, too.
 */
#include <linux/module.h>
#include <linux/netfilter.h>
#include <linux/netfilter_ipv4.h>
#include <linux/netfilter_ipv6.h>
#include <linux/rtnetlink.h>
#include <linux/udp.h>
#include <linux/wait_bit.h>
#include <net/ip.h>
#include <net/ipv6.h>
#include <net/netns/generic.h>
#include <net/udp.h>
#include <net/udp_tunnel.h>

#include "dev.h"
#include "gids.h"
#include "guard.h"
#include "net.h"
#include "proto/wire.h"
#include "rx.h"
#include "trace.h"

/**
 * struct frdma_net - what frdma keeps of a network namespace
 * @net: the namespace; it does not end while it has links
 * @devs: links on interfaces of this namespace, by net_entry; read under RCU
 * @sk4: receives from UDP port 4791 over IPv4; NULL while there is no link
 * @sk6: the same over IPv6; NULL also where the kernel has no IPv6
 * @stats: packets dropped before a link was found; NULL while there is no link
 *
 * Written under frdma_net_mutex; @sk4, @sk6 and @stats while nothing receives.
 */
struct frdma_net {
	struct net *net;
	struct list_head devs;
	struct sock *sk4;
	struct sock *sk6;
	struct frdma_stats __percpu *stats;
};

static unsigned int frdma_net_id __read_mostly;

/* Guards struct frdma_net in all namespaces. Frdma holds no lock around it. */
static DEFINE_MUTEX(frdma_net_mutex);

/*
 * Only the IP header is sure to be at hand here, and what others may look at,
 * a tap's clone say, must not be marked.
 */
static void mark_train(struct sk_buff *skb)
{
	const struct udphdr *udp;
	struct udphdr copy;

	if (!(skb_shinfo(skb)->gso_type & SKB_GSO_UDP_L4) ||
	    skb_shinfo(skb)->gso_type & SKB_GSO_FRAGLIST)
		return;
	udp = skb_header_pointer(skb, skb_transport_offset(skb), sizeof(*udp),
				 &copy);
	if (!udp || udp->dest != htons(FRDMA_UDP_DPORT))
		return;

	/* Without a mark UDP cuts the train: slower, and right. */
	if (skb_unclone(skb, GFP_ATOMIC))
		return;
	skb_shinfo(skb)->gso_type |= SKB_GSO_UDP_TUNNEL;
}

static unsigned int mark_train_ipv4(void *priv, struct sk_buff *skb,
				    const struct nf_hook_state *state)
{
	if (skb_is_gso(skb))
		mark_train(skb);
	return NF_ACCEPT;
}

static unsigned int mark_train_ipv6(void *priv, struct sk_buff *skb,
				    const struct nf_hook_state *state)
{
	if (skb_is_gso(skb) && ipv6_hdr(skb)->nexthdr == IPPROTO_UDP)
		mark_train(skb);
	return NF_ACCEPT;
}

static const struct nf_hook_ops hooks_ipv4[] = {
	{
		.hook		= mark_train_ipv4,
		.pf		= NFPROTO_IPV4,
		.hooknum	= NF_INET_LOCAL_IN,
		.priority	= NF_IP_PRI_LAST,
	}, {
		.hook		= frdma_guard_ipv4,
		.pf		= NFPROTO_IPV4,
		.hooknum	= NF_INET_LOCAL_OUT,
		.priority	= NF_IP_PRI_LAST,
	},
};

static const struct nf_hook_ops hooks_ipv6[] = {
	{
		.hook		= mark_train_ipv6,
		.pf		= NFPROTO_IPV6,
		.hooknum	= NF_INET_LOCAL_IN,
		.priority	= NF_IP6_PRI_LAST,
	}, {
		.hook		= frdma_guard_ipv6,
		.pf		= NFPROTO_IPV6,
		.hooknum	= NF_INET_LOCAL_OUT,
		.priority	= NF_IP6_PRI_LAST,
	},
};

static int register_hooks(struct net *net, sa_family_t family)
{
	return family == AF_INET ?
	       nf_register_net_hooks(net, hooks_ipv4, ARRAY_SIZE(hooks_ipv4)) :
	       nf_register_net_hooks(net, hooks_ipv6, ARRAY_SIZE(hooks_ipv6));
}

static void unregister_hooks(struct net *net, sa_family_t family)
{
	if (family == AF_INET)
		nf_unregister_net_hooks(net, hooks_ipv4, ARRAY_SIZE(hooks_ipv4));
	else
		nf_unregister_net_hooks(net, hooks_ipv6, ARRAY_SIZE(hooks_ipv6));
}

/* Softirq, in an RCU read section; the buffer is ours. */
static int receive_from_udp(struct sock *sk, struct sk_buff *skb)
{
	/* The mark was for UDP only: a clone may go on to other eyes. */
	if (skb_is_gso(skb))
		skb_shinfo(skb)->gso_type &= ~SKB_GSO_UDP_TUNNEL;

	frdma_rx(net_generic(sock_net(sk), frdma_net_id), skb);
	return 0;
}

static struct sock *open_socket(struct net *net, sa_family_t family)
{
	struct udp_port_cfg port = {
		.family = family,
		.local_udp_port = htons(FRDMA_UDP_DPORT),
		.ipv6_v6only = family == AF_INET6,
	};
	struct udp_tunnel_sock_cfg tunnel = {
		.encap_type = 1,
		.encap_rcv = receive_from_udp,
	};
	struct socket *sock;
	int err;

	err = udp_sock_create(net, &port, &sock);
	if (err)
		return ERR_PTR(err);

	err = register_hooks(net, family);
	if (err) {
		udp_tunnel_sock_release(sock->sk);
		return ERR_PTR(err);
	}

	udp_allow_gso(sock->sk);
	setup_udp_tunnel_sock(net, sock->sk, &tunnel);
	return sock->sk;
}

static void close_socket(struct net *net, struct sock *sk)
{
	if (!sk)
		return;
	unregister_hooks(net, sk->sk_family);
	udp_tunnel_sock_release(sk);
}

/* Softirqs that found a socket before it was closed may still receive. */
static void net_close(struct frdma_net *fnet)
{
	close_socket(fnet->net, fnet->sk6);
	close_socket(fnet->net, fnet->sk4);
	synchronize_net();

	free_percpu(fnet->stats);
	fnet->sk4 = NULL;
	fnet->sk6 = NULL;
	fnet->stats = NULL;
}

static int net_open_ipv6(struct frdma_net *fnet)
{
	struct sock *sk = open_socket(fnet->net, AF_INET6);

	if (PTR_ERR(sk) == -EAFNOSUPPORT || PTR_ERR(sk) == -EPFNOSUPPORT) {
		pr_info_once("this kernel has no IPv6: links use IPv4 only\n");
		return 0;
	}
	if (IS_ERR(sk))
		return PTR_ERR(sk);

	fnet->sk6 = sk;
	return 0;
}

static int net_open(struct frdma_net *fnet)
{
	struct sock *sk;
	int err;

	fnet->stats = alloc_percpu(struct frdma_stats);
	if (!fnet->stats)
		return -ENOMEM;

	sk = open_socket(fnet->net, AF_INET);
	if (IS_ERR(sk)) {
		err = PTR_ERR(sk);
		goto err_close;
	}
	fnet->sk4 = sk;

	err = net_open_ipv6(fnet);
	if (err)
		goto err_close;
	return 0;

err_close:
	net_close(fnet);
	return err;
}

/**
 * frdma_net_join - a link begins to receive
 * @dev: link, of whose members only the interface is looked at
 * @net: namespace of the interface, which the caller holds
 *
 * Opens the door for the first link of a namespace, and sets dev->net.
 *
 * Context: process.
 * Return: 0, and frdma_net_leave() is owed; -EADDRINUSE if somebody else has
 * UDP port 4791, -ENOMEM, or what else opening a socket may fail with.
 */
int frdma_net_join(struct frdma_dev *dev, struct net *net)
{
	struct frdma_net *fnet = net_generic(net, frdma_net_id);
	int err = 0;

	mutex_lock(&frdma_net_mutex);
	if (list_empty(&fnet->devs))
		err = net_open(fnet);
	if (!err) {
		dev->net = fnet;
		list_add_tail_rcu(&dev->net_entry, &fnet->devs);
	}
	mutex_unlock(&frdma_net_mutex);

	return err;
}

/**
 * frdma_net_leave - a link receives no more
 * @dev: link whose queue pairs are destroyed
 *
 * Closes the door behind the last link. On return no softirq is left that has
 * found the link or one of its queue pairs, and the namespace may be gone.
 *
 * Context: process.
 */
void frdma_net_leave(struct frdma_dev *dev)
{
	struct frdma_net *fnet = dev->net;

	mutex_lock(&frdma_net_mutex);
	list_del_rcu(&dev->net_entry);
	if (list_empty(&fnet->devs)) {
		net_close(fnet);
		wake_up_var(&fnet->devs);
	} else {
		synchronize_net();
	}
	mutex_unlock(&frdma_net_mutex);
}

/**
 * frdma_net_ns - the network namespace itself
 * @fnet: what frdma keeps of it
 *
 * Context: any.
 * Return: the namespace, as long as a link of it is there.
 */
struct net *frdma_net_ns(const struct frdma_net *fnet)
{
	return fnet->net;
}

/**
 * frdma_net_socket - a socket of this module, for others like it
 * @fnet: of a link that the caller keeps alive
 *
 * Context: any.
 * Return: the one that receives over IPv4.
 */
const struct sock *frdma_net_socket(const struct frdma_net *fnet)
{
	return fnet->sk4;
}

/**
 * frdma_net_is_home - is a link's interface still in the link's namespace
 * @dev: link
 *
 * The link of one that is not any more is about to end.
 *
 * Context: process; RTNL held, which keeps the answer true.
 */
bool frdma_net_is_home(const struct frdma_dev *dev)
{
	ASSERT_RTNL();

	return dev->ndev->reg_state == NETREG_REGISTERED &&
	       net_eq(dev_net(dev->ndev), dev->net->net);
}

static bool has_gsi(const struct frdma_dev *dev)
{
	return rcu_access_pointer(dev->gsi_qp);
}

/**
 * frdma_net_find_dev - the link that an address belongs to
 * @fnet: namespace
 * @gid: address, as a GID
 * @ifindex: interface that the packet came by
 *
 * Two interfaces may have the same address, each on a network of its own, as
 * with link-local ones; the one that the packet came by is meant. If it lacks
 * the address, the link of another interface is returned: its queue pair judges
 * whether the packet may come by this one. Links that share interface and address,
 * because one is a VLAN of the other's, answer in the order of their birth:
 * rdma_cm tries devices in the same order.
 *
 * Context: any but hard interrupts, in an RCU read section, for which the
 * result is good.
 * Return: the link; NULL if the address is none of theirs, or if it has no
 * GSI queue pair.
 */
struct frdma_dev *frdma_net_find_dev(struct frdma_net *fnet,
				     const union ib_gid *gid, int ifindex)
{
	struct frdma_dev *dev;

	list_for_each_entry_rcu(dev, &fnet->devs, net_entry)
		if (has_gsi(dev) && frdma_gids_have_on(dev, gid, ifindex))
			return dev;
	list_for_each_entry_rcu(dev, &fnet->devs, net_entry)
		if (has_gsi(dev) && frdma_gids_have(dev, gid))
			return dev;
	return NULL;
}

/**
 * frdma_net_find_dev_on - the link on an interface
 * @fnet: namespace
 * @ifindex: the interface
 *
 * Context: in an RCU read section, for which the result is good.
 * Return: the link; NULL if there is none.
 */
struct frdma_dev *frdma_net_find_dev_on(struct frdma_net *fnet, int ifindex)
{
	struct frdma_dev *dev;

	list_for_each_entry_rcu(dev, &fnet->devs, net_entry)
		if (dev->ndev->ifindex == ifindex)
			return dev;
	return NULL;
}

/**
 * frdma_net_find_guard - the link that RoCE packets concern, if it is guarded
 * @net: namespace
 * @sgid: source address, as a GID
 * @dgid: destination address, as a GID
 * @ifindex: interface that they leave by
 *
 * Context: any but hard interrupts, in an RCU read section, for which the
 * result is good.
 * Return: the first link which has one of the addresses, or is on the
 * interface; NULL if there is none.
 */
struct frdma_dev *frdma_net_find_guard(struct net *net,
				       const union ib_gid *sgid,
				       const union ib_gid *dgid, int ifindex)
{
	struct frdma_net *fnet = net_generic(net, frdma_net_id);
	struct frdma_dev *dev;

	list_for_each_entry_rcu(dev, &fnet->devs, net_entry)
		if (READ_ONCE(dev->guard) &&
		    (dev->ndev->ifindex == ifindex ||
		     frdma_gids_have(dev, sgid) || frdma_gids_have(dev, dgid)))
			return dev;
	return NULL;
}

/**
 * frdma_net_drop - give up a packet that no link was found for
 * @fnet: namespace it was received in
 * @skb: the packet or the train, each packet of which counts; data at the UDP
 *	header; freed
 * @why: reason
 *
 * Each link of the namespace shows it in its counters: it may have been meant
 * for any of them.
 *
 * Context: within frdma_rx().
 */
void frdma_net_drop(struct frdma_net *fnet, struct sk_buff *skb,
		    enum frdma_drop_reason why)
{
	this_cpu_add(fnet->stats->dropped[why], frdma_skb_packets(skb));
	trace_frdma_drop(skb->dev ? skb->dev->ifindex : 0, 0, skb,
			 frdma_drop_name(why));
	kfree_skb(skb);
}

/**
 * frdma_net_read_stats - what frdma_net_drop() has counted
 * @fnet: namespace
 * @sum: as for frdma_stats_add()
 *
 * Context: any; a link of the namespace is there.
 */
void frdma_net_read_stats(struct frdma_net *fnet, u64 *sum)
{
	frdma_stats_add(sum, fnet->stats);
}

static int __net_init frdma_net_enter_ns(struct net *net)
{
	struct frdma_net *fnet = net_generic(net, frdma_net_id);

	fnet->net = net;
	INIT_LIST_HEAD(&fnet->devs);
	return 0;
}

/*
 * All interfaces have left the namespace, so that all links in it are on
 * their way out by ib_unregister_device_queued(), or will be as soon as the
 * core lets them be found again (frdma_netdev_catch_up()).
 */
static void __net_exit frdma_net_leave_ns(struct net *net)
{
	struct frdma_net *fnet = net_generic(net, frdma_net_id);

	wait_var_event(&fnet->devs, list_empty(&fnet->devs));

	/* The last to leave has done so. */
	mutex_lock(&frdma_net_mutex);
	mutex_unlock(&frdma_net_mutex);
}

static struct pernet_operations frdma_net_ops = {
	.init	= frdma_net_enter_ns,
	.exit	= frdma_net_leave_ns,
	.id	= &frdma_net_id,
	.size	= sizeof(struct frdma_net),
};

/**
 * frdma_net_init - be told of network namespaces
 *
 * Context: module load.
 * Return: 0 or -ENOMEM.
 */
int __init frdma_net_init(void)
{
	return register_pernet_subsys(&frdma_net_ops);
}

/**
 * frdma_net_exit - end of what frdma_net_init() began
 *
 * Context: module load that fails, module removal; no link is left.
 */
void frdma_net_exit(void)
{
	unregister_pernet_subsys(&frdma_net_ops);
}
