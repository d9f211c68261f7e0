#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# An adapter that takes UDP packets in trains and numbers them as it likes. Over
# IPv4 it gets none, wherever it lies below the link; over IPv6, where packets
# have no number, it does. All that leaves has the right ICRC, also what leaves in
# a tunnel, which this adapter cuts no trains of, and all that leaves by a kernel
# whose tap devices are no such adapters. segments.c.
#
# guests: 1
# named: bookworm sid

. "${0%/*}/../lib/frdma.sh"
. "${0%/*}/../lib/ends.sh"

SEGMENTS=$PROGRAMS/verbs/segments
MESSAGES=4 PACKETS=256
NEAR4=10.79.0.1 PEER4=10.79.0.2
NEAR6=fd79::1 PEER6=fd79::2

# Makes the adapter, "tap", which is there until the test ends.
adapter_up() {
	need_modules tun
	modprobe tun
	"$SEGMENTS" adapter tap $PACKETS >"$KTAP_TMP/adapter" 2>&1 &
	defer end_process $!
	await 10 adapter_says 'is there'
	ip link set tap up
}

adapter_says() {
	grep -q "$1" "$KTAP_TMP/adapter" || {
		cat "$KTAP_TMP/adapter"
		return 1
	}
}

# Gives interface NEAR the addresses behind which the peer is.
peer_is_behind() {
	ip link set "$1" up
	ip address add $NEAR4/24 dev "$1"
	ip address add $NEAR6/64 dev "$1" nodad
	ip neighbour add $PEER4 lladdr 02:00:00:00:00:02 dev "$1"
	ip neighbour add $PEER6 lladdr 02:00:00:00:00:02 dev "$1"
}

link_on() {
	modprobe frdma
	defer links_down
	rdma link add frdma0 type frdma netdev "$1"
	await 10 port_is frdma0
}

# Each makes what lies between the link and the adapter.
below_nothing() {
	peer_is_behind tap
	link_on tap
}

below_vlan() {
	ip link add tap.5 link tap type vlan id 5
	peer_is_behind tap.5
	link_on tap.5
}

below_bond() {
	ip link add bonda type bond mode active-backup miimon 50
	defer netdev_delete bonda
	ip link set tap down
	ip link set tap master bonda
	peer_is_behind bonda
	link_on bonda
}

below_bridge() {
	ip link add bra type bridge
	defer netdev_delete bra
	ip link set tap master bra
	peer_is_behind bra
	link_on bra
}

below_vxlan() {
	ip link add vxa type vxlan id 7 dstport 4789 remote 10.77.1.2 dev tap
	defer netdev_delete vxa
	ip address add 10.77.1.1/24 dev tap
	ip neighbour add 10.77.1.2 lladdr 02:00:00:00:00:02 dev tap
	peer_is_behind vxa
	link_on vxa
}

# A container's packets are forwarded by its host.
below_host() {
	veth_up
	addresses_on va vb
	peer_is_behind tap
	in_far ip route add $PEER4 via $ENDS_NEAR4
	in_far ip route add $PEER6 via $ENDS_NEAR6
	forwards net.ipv4.conf.all.forwarding
	forwards net.ipv6.conf.all.forwarding
	modprobe frdma
	in_far rdma link add frdma0 type frdma netdev vb
	await 10 port_is frdma0
}

forwards() {
	local was

	was=$(sysctl -n "$1")
	defer sysctl -q -w "$1=$was"
	sysctl -q -w "$1=1"
}

# The adapter's last line.
said() {
	tail -n 1 "$KTAP_TMP/adapter"
}

# Arguments: WHAT_IS_BETWEEN FAMILY
adapter_gets() {
	local peer=::ffff:$PEER4 trains='0 trains' gid

	[ "$2" = v4 ] || peer=$PEER6
	[ "$1-$2" = vxlan-v6 ] || [ "$2" = v4 ] || trains='[1-9][0-9]* trains'
	adapter_up
	"below_$1"
	! grep -q 'no trains' "$KTAP_TMP/adapter" || trains='0 trains'
	echo 1 >/sys/class/infiniband/frdma0/trains
	gid=$(gid_index frdma0 "$2")
	"$SEGMENTS" send frdma0 "$gid" $peer $MESSAGES
	await 25 adapter_says ' wrong'
	note "$(said)"
	adapter_says "^$PACKETS packets, $trains, 0 wrong" || fail "$(said)"
	[ "$(counter frdma0 tx_trains)" -ge $MESSAGES ]
}

# Told that it leaves numbers as they are, it gets none all the same: no link whose
# packets are known to leave by it makes any.
told_adapter_gets() {
	adapter_up
	! grep -q 'no trains' "$KTAP_TMP/adapter" ||
		skip "this kernel's tap devices cut no trains"
	ethtool -K tap tso on
	ethtool -k tap | grep -q 'tx-tcp-mangleid-segmentation: on'
	"below_$1"
	echo 1 >/sys/class/infiniband/frdma0/trains
	gid=$(gid_index frdma0 v4)
	"$SEGMENTS" send frdma0 "$gid" ::ffff:$PEER4 $MESSAGES
	await 25 adapter_says ' wrong'
	note "$(said)"
	adapter_says "^$PACKETS packets, 0 trains, 0 wrong" || fail "$(said)"
	[ "$(counter frdma0 tx_trains)" = 0 ]
}

for between in nothing vlan bond bridge vxlan host; do
	ktap_test adapter_gets $between v4
	ktap_test adapter_gets $between v6
done
for between in nothing vlan bond bridge; do
	ktap_test told_adapter_gets $between
done
ktap_end
