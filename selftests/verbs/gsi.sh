#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Management datagrams find their device where links share an address: two
# cables to two neighbours with the same link-local address at this end.
#
# roots: trixie bookworm sid

. "${0%/*}/../lib/frdma.sh"

# Interface $1 here, to $1p in namespace $2, with a link at either end.
cable() {
	ip netns add "$2"
	ip link add "$1" type veth peer name "$1p" netns "$2"
	ip address add fe80::77/64 dev "$1" nodad
	ip -n "$2" address add fe80::99/64 dev "$1p" nodad
	ip link set "$1" up
	ip -n "$2" link set "$1p" up
	rdma link add "f$1" type frdma netdev "$1"
	ip netns exec "$2" rdma link add "f$1p" type frdma netdev "$1p"
	# A new device drops all it is given until its carrier has been seen,
	# and rdma_cm asks for the neighbour for two seconds only.
	await 20 ping -c 1 -W 1 "fe80::99%$1"
	await 20 ip netns exec "$2" ping -c 1 -W 1 "fe80::77%$1p"
}

cables_down() {
	local netns

	for netns in red blue; do
		[ ! -e /run/netns/$netns ] || ip netns delete $netns
	done
	await 20 no_link_is_left
}

no_link_is_left() {
	prints_no . ls /sys/class/infiniband
}

has_gid() {
	grep -qs 0077 "/sys/class/infiniband/$1/ports/1/gids"/*
}

# The neighbour in namespace $1 calls by cable $2; link $3 hears nothing of it.
called() {
	local before

	before=$(counter "$3" rx_packets)
	rping -s -a :: -C 5 -v >"$KTAP_TMP/server" 2>&1 &
	await 20 listens 1 cm
	ip netns exec "$1" rping -c -v -C 5 -a "fe80::77%${2}p"
	wait $!
	note "f$2 $(counter "f$2" rx_packets), $3 $(counter "$3" rx_packets)"
	[ "$(counter "f$2" rx_packets)" -gt 0 ]
	[ "$(counter "$3" rx_packets)" = "$before" ] ||
		fail "$3 was given packets of f$2"
}

# To an address of this host, by way of the interface that is named.
calls_itself() {
	local before

	before=$(counter "$2" rx_packets)
	rping -s -a :: -C 5 -v >"$KTAP_TMP/server" 2>&1 &
	await 20 listens 1 cm
	rping -c -v -C 5 -a "fe80::77%$1"
	wait $!
	[ "$(counter "$2" rx_packets)" = "$before" ] ||
		fail "$2 was given packets of f$1"
}

# A VLAN of cable $2 with a link of its own: the neighbour in namespace $1 calls
# there, and is called.
vlan_on_top() {
	local netns=$1 below=$2

	defer link_delete fvlan
	ip link add vlan5 link "$below" type vlan id 5
	defer netdev_delete vlan5
	ip -n "$netns" link add vlan5p link "${below}p" type vlan id 5
	ip address add fd55::1/64 dev vlan5 nodad
	ip -n "$netns" address add fd55::2/64 dev vlan5p nodad
	ip link set vlan5 up
	ip -n "$netns" link set vlan5p up
	rdma link add fvlan type frdma netdev vlan5
	await 20 grep -qs 'fd55' /sys/class/infiniband/fvlan/ports/1/gids/*
	# As in "cable".
	await 20 ip netns exec "$netns" ping -c 1 -W 1 fd55::1
	await 20 ping -c 1 -W 1 fd55::2

	rping -s -a :: -C 5 -v >"$KTAP_TMP/server" 2>&1 &
	await 20 listens 1 cm
	ip netns exec "$netns" rping -c -v -C 5 -a fd55::1
	wait $!
	ip netns exec "$netns" rping -s -a :: -C 5 -v >"$KTAP_TMP/server" 2>&1 &
	await 20 listens 1 cm
	rping -c -v -C 5 -a fd55::2
	wait $!
}

modprobe frdma
defer cables_down
cable va red
cable vb blue
await 20 has_gid fva
await 20 has_gid fvb
ktap_test called red va fvb
ktap_test called blue vb fva
ktap_test calls_itself va fvb
ktap_test calls_itself vb fva
ktap_test vlan_on_top red va
ktap_end
