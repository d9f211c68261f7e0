#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# rdma link add and delete, by hand: what works, what is refused, and what is
# said about it.
#
# guests: 1
# timeout: 600
# roots: trixie bookworm sid

. "${0%/*}/../lib/frdma.sh"

add() {
	rdma link add "$1" type frdma netdev "$2"
}

gone() {
	[ ! -e "/sys/class/infiniband/$1" ]
}

# The link is up with its netdev and has a GID for each address.
add_and_delete() {
	defer links_down
	add frdma0 eth0
	rdma link show frdma0/1 | grep -q 'state ACTIVE .*netdev eth0'
	gid_index frdma0 v4
	gid_index frdma0 v6
	gid_index frdma0 ll
	rdma link delete frdma0
	gone frdma0
}

# The link type loads the module.
autoload() {
	modprobe -r frdma
	defer links_down
	add frdma0 eth0
	[ -d /sys/module/frdma ]
}

loopback_is_refused() {
	refuse "Operation not supported" add frdma0 lo
	logged "no link frdma0 on lo: a link needs an address that other hosts"
	gone frdma0
}

unknown_netdev_is_refused() {
	refuse "No such device" add frdma0 eth99
	gone frdma0
}

# A RoCE adapter has an RDMA device on the PCI function of its interface.
# Arguments: DRIVER, as enum rdma_driver_id has it; WORDS; COMMAND that ends it
adapter_is_reported() {
	local roce

	roce=/lib/modules/$(uname -r)/frdma-test/roce.ko
	modprobe frdma
	insmod "$roce" netdev=eth0 driver="$1"
	defer rmmod roce
	defer links_down
	add frdma0 eth0
	logged "link frdma0 on eth0 $2 roce0 takes RoCE packets for itself"
	logged "$3"
	rdma link delete frdma0
	# The interface of the link may be above that of the adapter.
	ip link add link eth0 name eth0.7 type vlan id 7
	defer ip link delete eth0.7
	add frdma0 eth0.7
	logged "link frdma0 on eth0.7 $2 roce0 takes RoCE packets for itself"
	rdma link delete frdma0
}

# rdma_rxe has such a device, and takes no packets. Argument: DRIVER
software_is_not_reported() {
	modprobe frdma
	insmod "/lib/modules/$(uname -r)/frdma-test/roce.ko" netdev=eth0 \
		driver="$1"
	defer rmmod roce
	defer links_down
	add frdma0 eth0
	unlogged "takes RoCE packets for itself"
}

# Prints the GUIDs of links on eth0 and on a VLAN of it, made in this order.
guids_of() {
	add frdma0 "$1"
	add frdma1 "$2"
	cat /sys/class/infiniband/frdma{0,1}/node_guid
	rdma link delete frdma0
	rdma link delete frdma1
}

# A VLAN shares the hardware address of the interface below it.
guid_of_a_vlan_stays() {
	local first second

	defer links_down frdma1
	defer links_down
	ip link add link eth0 name eth0.7 type vlan id 7
	defer ip link delete eth0.7
	first=$(guids_of eth0 eth0.7)
	second=$(guids_of eth0.7 eth0)
	[ "$(sort -u <<<"$first" | wc -l)" = 2 ] || fail "the same: $first"
	[ "$(tac <<<"$second")" = "$first" ] || fail "$first, then $second"
}

tunnel_is_refused() {
	need_modules tun
	modprobe tun
	mkdir -p /dev/net
	[ -e /dev/net/tun ] || mknod /dev/net/tun c 10 200
	ip tuntap add tun0 mode tun
	defer netdev_delete tun0
	refuse "Operation not supported" add frdma0 tun0
	logged "no link frdma0 on tun0: it is not an Ethernet interface"
	gone frdma0
}

taken_name_is_refused() {
	ip link add v0 type veth peer name v1
	defer netdev_delete v0
	defer links_down
	add frdma0 eth0
	refuse "File exists" add frdma0 v0
	logged "no link frdma0 on v0: the name is taken by another RDMA device"
	rdma link show frdma0/1 | grep -q 'netdev eth0'
}

second_link_on_a_netdev_is_refused() {
	defer links_down
	add frdma0 eth0
	refuse "File exists" add frdma1 eth0
	logged "no link frdma1 on eth0: the interface has a frdma link already"
	gone frdma1
}

# The port follows the netdev.
netdev_down_and_up() {
	local state=/sys/class/infiniband/frdma0/ports/1/state

	defer ip link set eth0 up
	defer links_down
	ip link set eth0 down
	add frdma0 eth0
	grep -q DOWN $state
	ip link set eth0 up
	await 5 grep -q ACTIVE $state
	ip link set eth0 down
	await 5 grep -q DOWN $state
}

# What the port says of its speed, whatever the netdev says of its own.
speed_is_the_netdevs() {
	need_modules tun
	modprobe tun
	mkdir -p /dev/net
	[ -e /dev/net/tun ] || mknod /dev/net/tun c 10 200
	ip tuntap add tap0 mode tap
	defer netdev_delete tap0
	add frdma0 tap0
	speed_is 10 "2.5 Gb/sec (1X SDR)"
	speed_is 10000 "10 Gb/sec (1X FDR10)"
	speed_is 25000 "25 Gb/sec (1X EDR)"
	speed_is 56000 "100 Gb/sec (4X EDR)"
	speed_is 400000 "400 Gb/sec (4X NDR)"
	rdma link delete frdma0
}

speed_is() {
	local rate=/sys/class/infiniband/frdma0/ports/1/rate

	ethtool -s tap0 speed "$1" duplex full
	[ "$(<$rate)" = "$2" ] || fail "$1 Mb/s is $(<$rate)"
}

# A netdev that goes takes its link along.
netdev_vanishes() {
	ip link add v0 type veth peer name v1
	add frdma0 v0
	ip link delete v0
	await 5 gone frdma0
}

# So does the namespace it is in.
namespace_vanishes() {
	ip netns add blue
	ip link add v0 type veth peer name v1 netns blue
	defer netdev_delete v0
	ip netns exec blue rdma link add frdma0 type frdma netdev v1
	ip netns delete blue
	await 10 gone frdma0
}

many_rounds() {
	local round

	for round in $(seq "$1"); do
		add frdma0 eth0 && rdma link delete frdma0 ||
			fail "round $round"
	done
	gone frdma0
}

# The module as it is loaded everywhere; there is no link.
module_as_usual() {
	modprobe -r frdma
	modprobe frdma
}

begins_with() {
	[ "$(<"/sys/class/infiniband/frdma0/$1")" = "$2" ]
}

# What new links begin with; a poller has its thread from then on.
parameters_are_attributes() {
	modprobe -r frdma
	defer module_as_usual
	modprobe frdma trains=0 loopback=0 gather_us=7 poll_us=50
	add frdma0 eth0
	begins_with trains 0
	begins_with loopback 0
	begins_with gather_us 7
	begins_with poll_us 50
	pgrep -x frdma0-poller
	# One whose name is taken has had its own for a moment.
	ip link add v0 type veth peer name v1
	defer netdev_delete v0
	refuse "File exists" add frdma0 v0
	[ "$(pgrep -c -x frdma0-poller)" = 1 ]

	refuse "Invalid argument" write_parameter gather_us 1001
	refuse "Invalid argument" write_parameter poll_us 10000001
	rdma link delete frdma0
	finds_nothing pgrep -x frdma0-poller
}

# Arguments: NUMBER
reads_are_advertised() {
	ibv_devinfo -v -d frdma0 >"$KTAP_TMP/info"
	grep -qE "max_qp_rd_atom:[[:space:]]+$1\$" "$KTAP_TMP/info"
	grep -qE "max_qp_init_rd_atom:[[:space:]]+$1\$" "$KTAP_TMP/info"
}

write_max_reads() {
	bash -c "echo $1 >/sys/class/infiniband/frdma0/max_reads"
}

# A program asks the device how many READs it may have under way.
max_reads_is_advertised() {
	local wrong

	add frdma0 eth0
	reads_are_advertised 128
	write_max_reads 16
	reads_are_advertised 16
	for wrong in 0 129 -1 16x ''; do
		refuse "Invalid argument" write_max_reads "$wrong"
	done
	reads_are_advertised 16
	rdma link delete frdma0
	add frdma0 eth0
	reads_are_advertised 128
	rdma link delete frdma0
}

# modprobe fails for a value out of range.
out_of_range_is_not_loaded() {
	local wrong

	modprobe -r frdma
	defer module_as_usual
	for wrong in gather_us=1001 poll_us=10000001 trains=maybe loopback=2 \
		user_memory_percent=0 user_memory_percent=101 \
		memory_reserve_percent=51 memory_bytes=0; do
		refuse "Invalid argument" modprobe frdma $wrong
		[ ! -e /sys/module/frdma ] || fail "loaded with $wrong"
	done
}

write_parameter() {
	bash -c "echo $2 >/sys/module/frdma/parameters/$1"
}

# The module takes its links along.
module_removed_with_links() {
	ip link add v0 type veth peer name v1
	defer netdev_delete v0
	add frdma0 eth0
	add frdma1 v0
	modprobe -r frdma
	gone frdma0
	gone frdma1
}

# The core lists the addresses of the interface below, which is not in the namespace.
addresses_of_another_namespace() {
	local gid server status=0

	need_modules 8021q
	modprobe 8021q
	defer netns_delete elsewhere
	ip netns add elsewhere
	ip link add link eth0 name eth0.5 netns elsewhere type vlan id 5
	ip -n elsewhere link set lo up
	ip -n elsewhere link set eth0.5 up
	ip -n elsewhere address add 10.5.0.1/24 dev eth0.5
	nsenter --net=/run/netns/elsewhere \
		rdma link add frdma5 type frdma netdev eth0.5
	defer link_delete frdma5
	# Those that are empty cannot be read.
	gid=$(cd /sys/class/infiniband/frdma5/ports/1/gid_attrs/ndevs &&
		grep -lx eth0 [0-9]* 2>/dev/null | head -n 1) || true
	[ -n "$gid" ] || skip "this kernel lists none"
	nsenter --net=/run/netns/elsewhere \
		ibv_rc_pingpong -d frdma5 -g "$gid" >"$KTAP_TMP/server" 2>&1 &
	server=$!
	await 10 nsenter --net=/run/netns/elsewhere \
		bash -c 'ss -Hltn sport = :18515 | grep -q .'
	# Either end may be the first to fail; the other one misses its peer.
	nsenter --net=/run/netns/elsewhere \
		ibv_rc_pingpong -d frdma5 -g "$gid" 127.0.0.1 || status=$?
	[ $status = 1 ] || fail "the client ends with status $status"
	! wait $server || fail "the server has a connection"
	grep 'Failed to modify QP to RTR' "$KTAP_TMP/server"
}

ktap_test add_and_delete
ktap_test autoload
ktap_test loopback_is_refused
ktap_test unknown_netdev_is_refused
ktap_test guid_of_a_vlan_stays
ktap_test tunnel_is_refused
# mlx5, bnxt_re, rxe.
ktap_test adapter_is_reported 1 "will receive nothing while" \
	"name enable_roce value false cmode driverinit; devlink dev reload"
ktap_test adapter_is_reported 6 "may receive nothing if" "modprobe -r roce"
ktap_test software_is_not_reported 14
ktap_test taken_name_is_refused
ktap_test second_link_on_a_netdev_is_refused
ktap_test netdev_down_and_up
ktap_test speed_is_the_netdevs
ktap_test netdev_vanishes
ktap_test namespace_vanishes
ktap_test addresses_of_another_namespace
KTAP_LIMIT=280 ktap_test many_rounds ${FULL:+2}50
ktap_test max_reads_is_advertised
ktap_test out_of_range_is_not_loaded
ktap_test parameters_are_attributes
ktap_test module_removed_with_links
ktap_end
