#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Packets are taken from the interface that has their destination address, or
# from what it belongs to. A host behind another interface that has the peer's
# address reaches nobody. hostile/sideways.c is that host.
#
# guests: 1

. "${0%/*}/../lib/frdma.sh"
. "${0%/*}/../lib/ends.sh"

in_side() {
	nsenter --net=/run/netns/side "$@"
}

side_removes() {
	there frdma2 && rdma link delete frdma2
	ip link delete wa 2>/dev/null
	ip netns delete side 2>/dev/null
	true
}

# A namespace behind another interface here, wa, whose host has the addresses of
# the peer, knows the way to ours, and has link frdma2.
side_up() {
	local mac

	defer side_removes
	ip netns add side
	in_side ip link set lo up
	ip link add wa type veth peer name wb netns side
	ip link set wa up
	sysctl -qw net.ipv4.conf.all.rp_filter=0 net.ipv4.conf.wa.rp_filter=0
	mac=$(</sys/class/net/wa/address)
	in_side ip link set wb up
	in_side ip address add $ENDS_FAR4/24 dev wb
	in_side ip neighbour add $ENDS_NEAR4 lladdr "$mac" dev wb
	in_side ip address add $ENDS_FAR6/64 dev wb nodad
	in_side ip neighbour add $ENDS_NEAR6 lladdr "$mac" dev wb
	in_side rdma link add frdma2 type frdma netdev wb
	await 10 port_is frdma2
}

# Prints the index of the GID of LINK that begins so and is that of INTERFACE.
# Arguments: LINK INTERFACE PATTERN
gid_on() {
	local dir=/sys/class/infiniband/$1/ports/1 i

	for i in $(seq 0 31); do
		[ "$(cat "$dir/gid_attrs/ndevs/$i" 2>/dev/null)" = "$2" ] &&
			grep -q "^$3" "$dir/gids/$i" || continue
		echo "$i"
		return
	done
	fail "$1 has no such GID: $2 $3"
}

# Prints whether the victim has taken a packet of the attacker.
# Arguments: KIND FAMILY [NEAR_GID FAR_GID LINK GID]
attack() {
	local kind=$1 family=$2 near=${3-} far=${4-} link=${5-frdma2} gid=${6-}

	if [ -z "$near" ]; then
		near=$(gid_index frdma0 "$family") || return
	fi
	if [ -z "$far" ]; then
		far=$(gid_index frdma1 "$family") || return
	fi
	if [ -z "$gid" ]; then
		gid=$(gid_index "$link" "$family") || return
	fi
	"$PROGRAMS/hostile/sideways" "$kind" frdma0 "$near" frdma1 "$far" \
		"$link" "$gid"
}

# Arguments: as of attack
is_dropped() {
	local before said

	before=$(counter frdma0 drop_wrong_interface)
	said=$(attack "$@") || fail "sideways: $said"
	[ "$1" = gsi ] || [ "$said" = dropped ] || fail "it was $said"
	[ "$(counter frdma0 drop_wrong_interface)" -gt "$before" ]
}

# Each makes the interfaces and sets NEAR and FAR to the ends' names.
make_veth() {
	veth_up
	NEAR=va FAR=vb
}

make_bridge() {
	veth_up
	ip link add bra type bridge
	defer ip link delete bra
	ip link set va master bra
	NEAR=bra FAR=vb
}

make_bond() {
	veth_up
	ip link add bonda type bond mode active-backup miimon 50
	defer ip link delete bonda
	ip link set va down
	ip link set va master bonda
	NEAR=bonda FAR=vb
}

make_vlan() {
	veth_up
	ip link add va.5 link va type vlan id 5
	in_far ip link add vb.5 link vb type vlan id 5
	NEAR=va.5 FAR=vb.5
}

make_macvlan() {
	veth_up
	ip link add mva link va type macvlan mode bridge
	NEAR=mva FAR=vb
}

# Arguments: TYPE FAMILY
another_interface() {
	local kind NEAR FAR

	"make_$1"
	links_on $NEAR $FAR
	side_up
	for kind in rc ud gsi; do
		is_dropped $kind "$2"
	done
	flow "$2" frdma0 frdma1 "${ALL_KINDS[@]}"
	flow_is_well
}

# The same, where the administrator wants it otherwise.
may_be_allowed() {
	local kind

	ends_up
	side_up
	echo 0 >/sys/class/infiniband/frdma0/check_interface
	for kind in rc ud; do
		[ "$(attack $kind "$1")" = taken ] || fail "$kind is dropped"
	done
	[ "$(counter frdma0 drop_wrong_interface)" = 0 ]
}

# Prints the link-local address of an interface of the far end.
link_local() {
	in_far ip -j -6 address show "$1" scope link |
		jq -r '[.[].addr_info[].local // empty][0]'
}

# All interfaces on one hardware address have the same link-local address.
vlans_share_an_address() {
	local near far gid

	make_vlan
	ip link add va.6 link va type vlan id 6
	in_far ip link add vb.6 link vb type vlan id 6
	ip link set va.6 up
	in_far ip link set vb.6 up
	links_on va.5 vb.5
	await 10 gid_on frdma0 va.5 fe80
	await 10 gid_on frdma1 vb.6 fe80
	near=$(gid_on frdma0 va.5 fe80)
	far=$(gid_on frdma1 vb.5 fe80)
	gid=$(gid_on frdma1 vb.6 fe80)
	# Link-local addresses are usable once no other host has them.
	await 20 ping -I va.5 -c 1 -W 1 "$(link_local vb.5)"
	await 20 ping -I va.6 -c 1 -W 1 "$(link_local vb.6)"
	is_dropped rc ll "$near" "$far" frdma1 "$gid"
	"$PROGRAMS/lib/flow/flow" -n 20 frdma0 "$near" frdma1 "$far"
}

# Two VRFs may have the same addresses.
vrfs_share_an_address() {
	local kind

	veth_up
	ip link add vrfa type vrf table 77 || skip "no VRF here"
	defer ip link delete vrfa
	ip link add vrfb type vrf table 78
	defer ip link delete vrfb
	ip link set vrfa up
	ip link set vrfb up
	ip link set va master vrfa
	sysctl -qw net.ipv4.udp_l3mdev_accept=1
	in_vrf_a
	side_up
	ip link set wa master vrfb
	ip address add $ENDS_NEAR4/24 dev wa
	ip address add $ENDS_NEAR6/64 dev wa nodad
	await 10 in_side ping -c 1 -W 1 $ENDS_NEAR4
	for kind in rc ud; do
		is_dropped $kind "$1"
	done
	flow "$1" frdma0 frdma1 "${ALL_KINDS[@]}"
	flow_is_well
}

# Addresses and links as links_on gives them, where ping needs to be told of VRFs.
in_vrf_a() {
	ip address add $ENDS_NEAR4/24 dev va
	ip address add $ENDS_NEAR6/64 dev va nodad
	in_far ip address add $ENDS_FAR4/24 dev vb
	in_far ip address add $ENDS_FAR6/64 dev vb nodad
	await 20 ping -I vrfa -c 1 -W 1 $ENDS_FAR4
	await 20 ping -I vrfa -c 1 -W 1 $ENDS_FAR6
	modprobe frdma
	rdma link add frdma0 type frdma netdev va
	in_far rdma link add frdma1 type frdma netdev vb
	await 10 port_is frdma0
	await 10 port_is frdma1
}

# An interface that joins a bridge, or leaves it, keeps its connections.
joins_a_bridge() {
	ends_up
	side_up
	ip link add bra type bridge
	defer ip link delete bra
	ip link set bra up
	flow v4 frdma0 frdma1 "${ALL_KINDS[@]}"
	ip link set va master bra
	flow_goes_on
	ip link set va nomaster
	flow_is_well
	is_dropped rc v4
}

for kind in veth bridge bond vlan macvlan; do
	ktap_test another_interface $kind v4
done
ktap_test another_interface veth v6
ktap_test may_be_allowed v4
ktap_test may_be_allowed v6
ktap_test vlans_share_an_address
ktap_test vrfs_share_an_address v4
ktap_test vrfs_share_an_address v6
ktap_test joins_a_bridge
ktap_end
