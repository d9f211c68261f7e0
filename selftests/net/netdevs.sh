#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Every kind of interface that is Ethernet carries a link: its GIDs come, and
# traffic passes. Others are refused, and so is lo, though packets through lo
# are accepted.
#
# guests: 1
# short: carries_a_link bond
# kernel: stock
# timeout: 600

. "${0%/*}/../lib/frdma.sh"
. "${0%/*}/../lib/ends.sh"

# Each makes the interfaces and sets NEAR and FAR to the ends' names.
make_veth() {
	veth_up
	NEAR=va FAR=vb
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

make_ipvlan() {
	veth_up
	ip link add iva link va type ipvlan mode l2
	NEAR=iva FAR=vb
}

make_bridge() {
	veth_up
	ip link add bra type bridge
	defer netdev_delete bra
	ip link set va master bra
	NEAR=bra FAR=vb
}

# Two cables; the second is used when the first is cut.
make_bond() {
	veth_up
	ip link add wa type veth peer name wb netns far
	ip link add bonda type bond mode active-backup miimon 50
	in_far ip link add bondb type bond mode active-backup miimon 50
	defer netdev_delete bonda
	ip link set va down
	ip link set va master bonda
	ip link set wa master bonda
	in_far ip link set vb down
	in_far ip link set vb master bondb
	in_far ip link set wb master bondb
	NEAR=bonda FAR=bondb
}

make_vxlan() {
	veth_up
	ip address add 10.79.0.1/24 dev va
	in_far ip address add 10.79.0.2/24 dev vb
	ip link add vxa type vxlan id 7 dstport 4789 remote 10.79.0.2 dev va
	in_far ip link add vxb type vxlan id 7 dstport 4789 \
		remote 10.79.0.1 dev vb
	NEAR=vxa FAR=vxb
}

# Two radios that see each other, without an access point.
make_wifi() {
	local phy

	need_modules mac80211_hwsim
	modprobe mac80211_hwsim radios=2
	defer modprobe -r mac80211_hwsim
	defer ends_remove
	ip netns add far
	in_far ip link set lo up
	phy=$(cat /sys/class/net/wlan1/phy80211/name)
	iw phy "$phy" set netns name far
	iw dev wlan0 set type ibss
	in_far iw dev wlan1 set type ibss
	ip link set wlan0 up
	in_far ip link set wlan1 up
	iw dev wlan0 ibss join frdma 2412 fixed-freq 02:00:00:00:0f:00
	in_far iw dev wlan1 ibss join frdma 2412 fixed-freq 02:00:00:00:0f:00
	NEAR=wlan0 FAR=wlan1
}

carries_a_link() {
	local NEAR FAR family

	"make_$1"
	links_on $NEAR $FAR
	rdma link show frdma0/1 | grep "netdev ${NEAR%.5}"
	for family in v4 v6; do
		flow_of_rounds $family frdma0 frdma1
	done
}

# Arguments: FAMILY LINK LINK
flow_of_rounds() {
	flow "$@" -n 20
	await 20 flow_ended
	wait "$FLOW"
}

bond_fails_over() {
	local NEAR FAR

	make_bond
	links_on $NEAR $FAR
	flow v4 frdma0 frdma1
	in_far ip link set vb down
	flow_is_well
}

# A link on eth0 has the addresses of its VLANs, and they decide the VLAN.
vlan_of_a_link_below() {
	local near far

	veth_up
	links_on
	ip link add va.5 link va type vlan id 5
	in_far ip link add vb.5 link vb type vlan id 5
	ip link set va.5 up
	in_far ip link set vb.5 up
	ip address add 10.79.0.1/24 dev va.5
	in_far ip address add 10.79.0.2/24 dev vb.5
	await 5 gid_of frdma0 0a4f:0001
	await 5 gid_of frdma1 0a4f:0002
	near=$(gid_of frdma0 0a4f:0001)
	far=$(gid_of frdma1 0a4f:0002)
	await 20 ping -c 1 -W 1 10.79.0.2
	"$PROGRAMS/lib/flow/flow" -n 20 frdma0 "$near" frdma1 "$far"
	[ "$(cat /sys/class/net/va.5/statistics/tx_bytes)" -gt 300000 ]
}

# Prints the index of the GID that ends so.
gid_of() {
	grep -l "$2\$" "/sys/class/infiniband/$1/ports/1/gids/"* 2>/dev/null |
		sed 's,.*/,,' | grep .
}

# An interface without a cable has a link, too: this host reaches itself.
through_lo() {
	defer ends_remove
	modprobe dummy numdummies=0
	ip link add va type dummy
	ip link set va up
	ip address add $ENDS_NEAR4/24 dev va
	ip address add $ENDS_NEAR6/64 dev va nodad
	modprobe frdma
	rdma link add frdma0 type frdma netdev va
	await 5 port_is frdma0
	flow_of_rounds "$1" frdma0 frdma0
}

# So it does in a VRF, where what it sends to itself comes back by that.
in_a_vrf() {
	defer ends_remove
	modprobe dummy numdummies=0
	ip link add vrfa type vrf table 77 || skip "no VRF here"
	defer netdev_delete vrfa
	ip link set vrfa up
	ip link add va type dummy
	ip link set va master vrfa
	ip link set va up
	ip address add $ENDS_NEAR4/24 dev va
	ip address add $ENDS_NEAR6/64 dev va nodad
	sysctl -qw net.ipv4.udp_l3mdev_accept=1
	modprobe frdma
	rdma link add frdma0 type frdma netdev va
	await 5 port_is frdma0
	echo 0 >/sys/class/infiniband/frdma0/loopback
	flow "$1" frdma0 frdma0 -k rc,xrc,uc,ud -n 20
	await 20 flow_ended
	wait "$FLOW" || fail "flow: $(tail -n 1 "$FLOW_OUT")"
}

# Two links in one namespace reach each other by the cable, as the core looks
# for a peer behind the link's interface and nowhere else; the host has to be
# told to listen to its own addresses.
two_links_here() {
	defer ends_remove
	ip link add va type veth peer name vc
	ip link set va up
	ip link set vc up
	ip address add $ENDS_NEAR4/24 dev va
	ip address add 10.79.0.1/24 dev vc
	sysctl -qw net.ipv4.conf.va.accept_local=1 \
		net.ipv4.conf.vc.accept_local=1
	modprobe frdma
	rdma link add frdma0 type frdma netdev va
	rdma link add frdma1 type frdma netdev vc
	await 5 port_is frdma0
	await 5 port_is frdma1
	[ "$(cat /sys/class/infiniband/frdma0/node_guid)" != \
		"$(cat /sys/class/infiniband/frdma1/node_guid)" ]
	flow_of_rounds v4 frdma0 frdma1
}

is_refused() {
	local name=$1

	shift
	ip link add "$name" "$@" || skip "no such interface here"
	defer netdev_delete "$name"
	refuse "Operation not supported" \
		rdma link add frdma0 type frdma netdev "$name"
	logged "no link frdma0 on $name: it is not an Ethernet interface"
	gone frdma0
}

for kind in veth vlan macvlan ipvlan bridge bond vxlan wifi; do
	ktap_test carries_a_link $kind
done
ktap_test bond_fails_over
ktap_test vlan_of_a_link_below
ktap_test through_lo v4
ktap_test through_lo v6
ktap_test in_a_vrf v4
ktap_test in_a_vrf v6
ktap_test two_links_here
ktap_test is_refused gre7 type gre local 10.77.0.1 remote 10.77.0.9
ktap_test is_refused ipip7 type ipip local 10.77.0.1 remote 10.77.0.9
ktap_end
