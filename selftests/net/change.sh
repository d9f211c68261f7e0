#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# What changes under a link while connections live: MTU, routes, name, addresses,
# state, namespace, CPUs, sleep. FULL=1 for many rounds.
#
# guests: 1
# named: bookworm sid
# timeout: 1800

. "${0%/*}/../lib/frdma.sh"
. "${0%/*}/../lib/ends.sh"

active_mtu() {
	ibv_devinfo -d frdma0 | grep -q "active_mtu:.*$1 "
}

mtu_changes() {
	ends_up
	active_mtu 1024
	flow v4 frdma0 frdma1 "${ALL_KINDS[@]}"
	ip link set va mtu 9000
	in_far ip link set vb mtu 9000
	await 5 active_mtu 4096
	flow_is_well
	pingpong v4 -m 4096 -n 20
	ip link set va mtu 1500
	await 5 active_mtu 1024
	ip link set va mtu 600
	active_mtu 512
	! (pingpong v4 -m 1024 -n 20) >"$KTAP_TMP/too-large" ||
		fail "path MTU above the active one"
	grep 'Failed to modify QP to RTR' "$KTAP_TMP/too-large"
}

# Starts traffic whose trains wait for a while as they leave by va, with PATH_MTU.
# Arguments: FAMILY MTU, that of the interfaces
flow_waits_at_va() {
	need_modules sch_netem
	modprobe sch_netem
	ends_up
	ip link set va mtu "$2"
	in_far ip link set vb mtu "$2"
	await 5 active_mtu $PATH_MTU
	echo 1 >/sys/class/infiniband/frdma0/trains
	tc qdisc add dev va root netem delay 400ms limit 10000
	flow "$1" frdma0 frdma1 -k rc,xrc,uc,ud -s 65536 -m $PATH_MTU
}

# True if more trains have left since TRAINS were, and some wait: a packet alone has no
# more than 180 bytes around what the path MTU allows.
trains_wait() {
	echo "$(counter frdma0 tx_trains) trains since $1, of MTU" \
		"$(</sys/class/net/va/mtu);" \
		"$(tc -s qdisc show dev va | grep backlog)"
	[ "$(counter frdma0 tx_trains)" -gt "$1" ] &&
		tc -s -j qdisc show dev va | jq -e "any(.backlog >
			$((PATH_MTU + 180)) * .qlen and .qlen > 0)"
}

until_trains_wait() {
	await 20 trains_wait "$(counter frdma0 tx_trains)"
}

# Arguments: BEFORE LINK COUNTER
counted_since() {
	[ "$(counter "$2" "$3")" -gt "$1" ]
}

# Packets that the stack was given over FAMILY and that were too long for it: it tells
# their sender by ICMP, and remembers the MTU for minutes, longer than it lasts.
too_long() {
	local name=IpFragFails

	[ "$1" = v4 ] || name=Ip6FragFails
	nstat -asz $name | awk -v name=$name '
		$1 == name { print $2; said = 1 }
		END { exit !said }'
}

# What waits is of another MTU than the interface when it leaves; for a while
# nothing fits any more, of which the stack has no part. Arguments: FAMILY PATH_MTU
# MTU OTHERS LESS: the usual, some that do as well, and one that is too small
mtu_changes_while_trains_wait() {
	local family=$1 PATH_MTU=$2 usual=$3 others=$4 less=$5
	local mtu refused fails after

	flow_waits_at_va "$family" "$usual"
	for mtu in $others "$usual"; do
		until_trains_wait
		ip link set va mtu "$mtu"
	done
	until_trains_wait
	refused=$(counter frdma0 drop_not_sent)
	ip link set va mtu "$less"
	await 5 counted_since "$refused" frdma0 drop_not_sent
	fails=$(too_long "$family")
	refused=$(counter frdma0 drop_not_sent)
	await 5 counted_since "$refused" frdma0 drop_not_sent
	after=$(too_long "$family")
	[ "$after" = "$fails" ]
	ip link set va mtu "$usual"
	until_trains_wait
	flow_is_well
	[ "$(counter frdma1 drop_bad_icrc)" = 0 ]
}

# A route goes, and one by way of a gateway comes, which is the other end, too.
route_changes_while_trains_wait() {
	local lladdr before PATH_MTU=1024

	flow_waits_at_va v4 1500
	lladdr=$(in_far ip -j link show vb | jq -r '.[0].address')
	ip neighbour replace 10.78.0.9 lladdr "$lladdr" dev va nud permanent
	until_trains_wait
	ip route replace $ENDS_FAR4/32 via 10.78.0.9 dev va
	# Whoever goes on by the old one goes astray.
	ip neighbour replace $ENDS_FAR4 lladdr 02:00:00:00:00:99 dev va \
		nud permanent
	before=$(counter frdma1 rx_packets)
	until_trains_wait
	await 10 counted_since "$before" frdma1 rx_packets
	flow_goes_on

	# The other way round.
	until_trains_wait
	ip neighbour replace $ENDS_FAR4 lladdr "$lladdr" dev va nud permanent
	ip route delete $ENDS_FAR4/32 via 10.78.0.9 dev va
	ip neighbour replace 10.78.0.9 lladdr 02:00:00:00:00:99 dev va \
		nud permanent
	before=$(counter frdma1 rx_packets)
	until_trains_wait
	await 10 counted_since "$before" frdma1 rx_packets
	flow_is_well
	[ "$(counter frdma1 drop_bad_icrc)" = 0 ]
}

# Those of one queue pair to one address, of which the route is remembered.
datagrams_follow_routes() {
	local lladdr before

	ends_up
	flow v4 frdma0 frdma1 -k ud -s 1024
	lladdr=$(in_far ip -j link show vb | jq -r '.[0].address')
	ip neighbour replace 10.78.0.9 lladdr "$lladdr" dev va nud permanent
	ip route replace $ENDS_FAR4/32 via 10.78.0.9 dev va
	ip neighbour replace $ENDS_FAR4 lladdr 02:00:00:00:00:99 dev va \
		nud permanent
	sleep 0.2
	before=$(counter frdma1 rx_packets)
	await 10 counted_since "$((before + 100))" frdma1 rx_packets
	flow_is_well
	ip neighbour delete $ENDS_FAR4 dev va
}

# Linux before 6.2 renames no interface that is up.
renames_what_is_up() {
	ip link add older up type dummy
	if ip link set older name newer; then
		ip link delete newer
	else
		ip link delete older
		return 1
	fi
}

netdev_is_renamed() {
	renames_what_is_up || skip "this kernel renames no interface that is up"
	ends_up
	flow v4 frdma0 frdma1 "${ALL_KINDS[@]}"
	ip link set va name vx
	defer ip link set vx name va
	flow_is_well
	rdma link show frdma0/1 | grep -q 'netdev vx'
	pingpong v4 -n 20
}

link_is_renamed() {
	ends_up
	flow v4 frdma0 frdma1 "${ALL_KINDS[@]}"
	rdma dev set frdma0 name frdma7
	defer link_delete frdma7
	flow_is_well
	rdma dev set frdma7 name frdma0
	pingpong v4 -n 20
	rdma dev set frdma0 name frdma7
}

other_address_comes_and_goes() {
	ends_up
	flow v4 frdma0 frdma1 "${ALL_KINDS[@]}"
	ip address add 10.79.0.1/24 dev va
	await 5 gid_is_there 0a4f:0001
	ip address delete 10.79.0.1/24 dev va
	await 5 gid_is_gone 0a4f:0001
	flow_is_well
}

# Adds or deletes the address of the near end. Arguments: add|delete FAMILY
near_address() {
	case $2 in
	v4)	ip address "$1" $ENDS_NEAR4/24 dev va ;;
	v6)	ip address "$1" $ENDS_NEAR6/64 dev va nodad ;;
	esac
}

own_address_goes() {
	ends_up
	flow "$1" frdma0 frdma1 -t 12 -r 3
	near_address delete "$1"
	flow_fails 20 'retry counter exceeded'
	near_address add "$1"
	await 5 gid_index frdma0 "$1"
	pingpong "$1" -n 20
}

own_address_comes_back() {
	ends_up
	flow "$1" frdma0 frdma1
	near_address delete "$1"
	sleep 0.5
	near_address add "$1"
	flow_is_well
}

netdev_pauses() {
	ends_up
	flow v4 frdma0 frdma1
	ip link set va down
	sleep 0.5
	ip link set va up
	flow_is_well
}

port_events() {
	local watch

	ends_up
	stdbuf -oL ibv_asyncwatch -d frdma0 >"$KTAP_TMP/watch" 2>&1 &
	watch=$!
	await 20 grep -q . "$KTAP_TMP/watch"
	ip link set va down
	await 5 grep -q PORT_ERR "$KTAP_TMP/watch"
	ip link set va up
	await 5 grep -q PORT_ACTIVE "$KTAP_TMP/watch"
	in_far ip link set vb down
	await 5 events_are PORT_ERR 2
	in_far ip link set vb up
	await 5 events_are PORT_ACTIVE 2
	sleep 1
	events_are PORT_ERR 2
	events_are PORT_ACTIVE 2
	kill $watch
}

events_are() {
	[ "$(grep -c "$1" "$KTAP_TMP/watch")" = "$2" ]
}

# Its queue pairs would know routes and addresses of elsewhere.
netdev_moves_to_another_namespace() {
	ends_up
	flow v4 frdma0 frdma1 "${ALL_KINDS[@]}"
	ip link set va netns far
	flows_fail 20 5 'post:\|poll:\|status:'
	await 10 gone frdma0
	in_far ip link set va up
	in_far rdma link add frdma0 type frdma netdev va
	await 10 port_is frdma0
	in_far ip link delete va
	await 10 gone frdma0
}

# A CPU takes what was its to do with it, and finds it when it comes back.
cpus_come_and_go() {
	local cpu=/sys/devices/system/cpu/cpu1/online round

	[ -e $cpu ] || skip "no CPU can be taken away"
	ends_up
	flow v4 frdma0 frdma1 "${ALL_KINDS[@]}"
	defer bash -c "echo 1 >$cpu"
	seed_random
	for round in $(seq "$1"); do
		echo 0 >$cpu || fail "round $round"
		sleep 0.$((RANDOM % 5))
		echo 1 >$cpu || fail "round $round"
		sleep 0.$((RANDOM % 5))
	done
	flow_is_well
	echo 0 >$cpu
	pingpong v4 -n 20
	rdma link delete frdma0
	echo 1 >$cpu
}

# All tasks are frozen for a while, but packets and timers are not. What the
# rest of a suspend does to a link is what its interface going down does.
suspend_freezes_tasks() {
	grep -qw freeze /sys/power/state || skip "this machine has no freeze"
	[ -e /sys/power/pm_test ] || skip "this kernel has no pm_test"
	ends_up
	echo 1 >/sys/module/suspend/parameters/pm_test_delay
	echo freezer >/sys/power/pm_test
	defer bash -c 'echo none >/sys/power/pm_test'
	flow v4 frdma0 frdma1
	echo freeze >/sys/power/state
	flow_is_well
	pingpong v4 -n 20
}

ktap_test mtu_changes
ktap_test mtu_changes_while_trains_wait v4 1024 1500 "9000 1400 1112" 600
ktap_test mtu_changes_while_trains_wait v6 4096 9000 "9200 4300 4194" 1500
ktap_test route_changes_while_trains_wait
ktap_test datagrams_follow_routes
ktap_test netdev_is_renamed
ktap_test link_is_renamed
ktap_test other_address_comes_and_goes
for family in v4 v6; do
	ktap_test own_address_goes $family
	ktap_test own_address_comes_back $family
done
ktap_test netdev_pauses
ktap_test port_events
ktap_test netdev_moves_to_another_namespace
KTAP_LIMIT=400 ktap_test cpus_come_and_go ${FULL:+10}3
ktap_test suspend_freezes_tasks
ktap_end
