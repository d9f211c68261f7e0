#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The ends of a link while it carries traffic and while processes hold it:
# each leaves a clean log and no reference behind. FULL=1 for many rounds.
#
# guests: 1
# named: bookworm sid
# timeout: 2400

. "${0%/*}/../lib/frdma.sh"
. "${0%/*}/../lib/ends.sh"

# Nothing keeps module or interface.
nothing_is_left() {
	await 5 gone frdma0
	await 5 gone frdma1
	await 5 modprobe -r frdma
	[ ! -e /sys/class/net/va ] || within 5 ip link delete va
	prints_no . rdma link
}

# The ways in which a link ends, none of which hangs.
by_delete() {
	within 5 rdma link delete frdma0
}

by_netdev() {
	within 5 ip link delete va
}

by_namespace() {
	within 5 ip netns delete far
}

by_rmmod() {
	within 5 modprobe -r frdma
}

# A process polls, its link goes: each of its queue pairs, of all kinds, is told,
# and everything is released.
polling() {
	ends_up
	flow v4 frdma0 frdma1 "${ALL_KINDS[@]}"
	"by_$1"
	flows_fail 15 5 'post:\|poll:\|status:'
	[ "$1" != delete ] || rdma link delete frdma1
	nothing_is_left
}

# The same while processes sleep until a completion or an event comes.
sleeping() {
	local watch server client near far

	ends_up
	stdbuf -oL ibv_asyncwatch -d frdma0 >"$KTAP_TMP/watch" 2>&1 &
	watch=$!
	near=$(gid_index frdma0 v4)
	far=$(gid_index frdma1 v4)
	ibv_rc_pingpong -d frdma1 -g "$far" -e -n 100000000 \
		>"$KTAP_TMP/server" 2>&1 &
	server=$!
	await 10 listens 1 18515
	ibv_rc_pingpong -d frdma0 -g "$near" -e -n 100000000 \
		127.0.0.1 >"$KTAP_TMP/client" 2>&1 &
	client=$!
	await 20 both_are_connected
	"by_$1"
	# At the other end, too: who sleeps there would never hear of it.
	[ "$1" != delete ] || rdma link delete frdma1
	await 10 ended $client
	await 10 ended $server
	await 10 grep -q 'DEVICE_FATAL' "$KTAP_TMP/watch"
	kill $watch 2>/dev/null || true
	wait $watch 2>/dev/null || true
	nothing_is_left
}

both_are_connected() {
	[ "$(rdma resource show qp | grep -c 'type RC state RTS')" = 2 ]
}

ended() {
	! kill -0 "$1" 2>/dev/null
}

# The same while a connection of rdma_cm is in use. What rping makes of it is
# its own affair: it has to end when it is killed.
connected() {
	local server client

	ends_up
	in_far rping -s -a $ENDS_FAR4 >"$KTAP_TMP/server" 2>&1 &
	server=$!
	await 10 is_listening $ENDS_FAR4
	stdbuf -oL rping -c -v -C 100000000 -a $ENDS_FAR4 \
		>"$KTAP_TMP/client" 2>&1 &
	client=$!
	await 20 grep -q 'ping data' "$KTAP_TMP/client"
	"by_$1"
	[ "$1" != delete ] || rdma link delete frdma1
	kill -KILL $server $client 2>/dev/null || true
	await 5 ended $server
	await 5 ended $client
	nothing_is_left
}

# A namespace that nobody has named ends with its last process: one that is
# killed while it sends to itself, all kinds of traffic.
namespace_exits() {
	local gid holder

	modprobe dummy numdummies=0
	modprobe frdma
	unshare -n sleep 1000 &
	holder=$!
	await 10 is_elsewhere $holder
	nsenter -t $holder -n bash -e -c "
		ip link set lo up
		ip link add da type dummy
		ip link set da up multicast on
		ip address add $ENDS_NEAR4/24 dev da
		rdma link add frdma0 type frdma netdev da"
	await 10 port_is frdma0
	gid=$(gid_index frdma0 v4)
	flow_starts nsenter -t $holder -n "$PROGRAMS/lib/flow/flow" \
		"${ALL_KINDS[@]}" frdma0 "$gid" frdma0 "$gid"
	kill -KILL $holder "$FLOW"
	nothing_is_left
}

# True if process PID is in another network namespace.
is_elsewhere() {
	[ "$(readlink "/proc/$1/ns/net")" != "$(readlink /proc/self/ns/net)" ]
}

# Where namespaces share no RDMA devices: frdma1 is in "far" alone.
exclusive_up() {
	defer await 10 rdma system set netns shared
	rdma system set netns exclusive || skip "namespaces share devices here"
	veth_up
	addresses_on va vb
	modprobe frdma
	rdma link add frdma0 type frdma netdev va
	in_far rdma link add frdma1 type frdma netdev vb
	! there frdma1 || rdma dev set frdma1 netns far
	await 10 port_is frdma0
	await 10 is_in far frdma1
	await 10 ip netns exec far \
		grep ACTIVE /sys/class/infiniband/frdma1/ports/1/state
}

# True if that RDMA device is in the namespace.
is_in() {
	nsenter --net="/run/netns/$1" rdma dev show "$2" 2>/dev/null | grep .
}

# All kinds of traffic between the two, which no namespace has both of.
flow_across() {
	local near far

	far=$(ip netns exec far bash -c "$(declare -f gid_index ktap_on fail)
		KTAP_SLOW=$KTAP_SLOW
		gid_index frdma1 v4")
	near=$(gid_index frdma0 v4)
	flow_starts "$PROGRAMS/lib/flow/flow" "${ALL_KINDS[@]}" -t 14 \
		-N /run/netns/far frdma0 "$near" frdma1 "$far"
}

# A device that goes to another namespace leaves its users behind, whichever end
# of their traffic it is, and comes back when that ends.
device_moves_to_another_namespace() {
	local link=$1 from=/proc/self/ns/net

	[ "$link" = frdma0 ] || from=/run/netns/far
	exclusive_up
	defer netns_delete other
	ip netns add other
	flow_across
	within 5 nsenter --net=$from rdma dev set "$link" netns other
	flows_fail 15 5 'post:\|poll:\|status:'
	is_in other "$link"
	prints_no ": $link:" nsenter --net=$from rdma dev show
	within 5 ip netns delete other
	await 10 there "$link"
	rdma link delete "$link"
	within 5 ip netns delete far
	nothing_is_left
}

# The interface takes the link along while the core takes the device back.
device_is_in_a_namespace_that_ends() {
	exclusive_up
	flow_across
	within 5 ip netns delete far
	flows_fail 15 5 'post:\|poll:\|status:'
	nothing_is_left
}

# The interface goes while the core has the device on its way to another
# namespace: sooner or later in it, each time, and the link with it.
interface_goes_on_the_way() {
	local delay

	defer await 10 rdma system set netns shared
	rdma system set netns exclusive || skip "namespaces share devices here"
	modprobe frdma
	defer modprobe -r frdma
	ip netns add other
	defer netns_delete other
	for delay in 0 0.02 0.04 0.06 0.08 0.1 0.15 0.2; do
		ip link add vr type veth peer name vs
		rdma link add frdma0 type frdma netdev vr
		rdma dev set frdma0 netns other &
		sleep $delay
		within 5 ip link delete vr || fail "interface, after $delay s"
		wait
		! there frdma0 && ! is_in other frdma0 ||
			fail "link, after $delay s"
	done
}

# An interface that goes down ends no link; its connections die of silence, and
# what has none goes on when it is up again.
ifdown() {
	local silent

	ends_up
	FLOW_OUT=$KTAP_TMP/silent flow v4 frdma0 frdma1 "${ALL_KINDS[@]}" \
		-k uc,ud,multicast
	silent=$FLOW
	flow v4 frdma0 frdma1 "${ALL_KINDS[@]}" -k rc,xrc -t 12 -r 3
	ip link set va down
	flows_fail 20 2 'retry counter exceeded'
	await 5 port_is frdma0 DOWN
	ip link set va up
	await 5 port_is frdma0
	FLOW=$silent FLOW_OUT=$KTAP_TMP/silent flow_is_well
	pingpong v4 -n 50
	rdma link delete frdma0
	rdma link delete frdma1
	nothing_is_left
}

# A process that is killed, while it sends or before, leaves nothing either.
killed() {
	local before round near far status

	ends_up
	before=$(rdma resource show)
	near=$(gid_index frdma0 v4)
	far=$(gid_index frdma1 v4)
	seed_random
	for round in $(seq "$1"); do
		"$PROGRAMS/lib/flow/flow" "${ALL_KINDS[@]}" \
			frdma0 "$near" frdma1 "$far" \
			>"$KTAP_TMP/flow.out" 2>&1 &
		FLOW=$!
		# Every other one has begun to send.
		[ $((round % 2)) = 1 ] ||
			await 20 grep -q flows "$KTAP_TMP/flow.out"
		sleep $((RANDOM % 2)).$((RANDOM % 10))
		kill -KILL "$FLOW"
		status=0
		wait "$FLOW" || status=$?
		[ $status = 137 ] || fail "round $round: status $status," \
			"before it was killed: $(<"$KTAP_TMP/flow.out")"
		[ "$(rdma resource show)" = "$before" ] || fail "round $round:" \
			"$before; now: $(rdma resource show)"
	done
	[ "$(groups_of vb)" = 0 ]
	rdma link delete frdma0
	rdma link delete frdma1
	nothing_is_left
}

# In how many of the flow's groups is the far interface?
groups_of() {
	in_far ip maddress show dev "$1" | grep -cE '239.78|ff0e::' || true
}

# Links come and go next to one that works.
others_come_and_go() {
	local round

	ends_up
	ip link add vc type veth peer name vd
	defer netdev_delete vc
	flow v4 frdma0 frdma1
	for round in $(seq "$1"); do
		rdma link add frdma2 type frdma netdev vc || fail "round $round"
		rdma link add frdma3 type frdma netdev vd || fail "round $round"
		rdma link delete frdma2
		rdma link delete frdma3
	done
	flow_is_well
	rdma link delete frdma0
	rdma link delete frdma1
	nothing_is_left
}

# What races with the end of a link wins or loses, and no more.
races() {
	local round stop=$KTAP_TMP/stop begun=$KTAP_TMP/begun pid

	modprobe frdma
	defer modprobe -r frdma
	rm -f "$stop"
	links_come_and_go &
	pid=$!
	while [ ! -e "$stop" ]; do
		rdma resource show >/dev/null 2>&1 || true
		ibv_devinfo >/dev/null 2>&1 || true
	done &
	seed_random
	for round in $(seq "$1"); do
		ip link add vr type veth peer name vs
		ip link set vr up
		ip link set vs up
		sleep 0.$((RANDOM % 4))
		within 5 ip link delete vr || fail "round $round"
	done
	touch "$stop"
	wait $pid
	wait
	note "$(wc -l <"$begun") links began"
	[ "$(wc -l <"$begun")" -gt "$1" ] || fail "the link was hardly ever there"
	await 10 gone frdma0
}

# A link on an interface that may be there, until "races" is done.
links_come_and_go() {
	: >"$begun"
	while [ ! -e "$stop" ]; do
		! rdma link add frdma0 type frdma netdev vr 2>/dev/null ||
			echo >>"$begun"
		rdma link delete frdma0 2>/dev/null || true
	done
}

for way in delete netdev namespace rmmod; do
	ktap_test polling $way
	ktap_test sleeping $way
	ktap_test connected $way
done
ktap_test namespace_exits
ktap_test device_moves_to_another_namespace frdma0
ktap_test device_moves_to_another_namespace frdma1
ktap_test device_is_in_a_namespace_that_ends
ktap_test interface_goes_on_the_way
ktap_test ifdown
KTAP_LIMIT=400 ktap_test killed ${FULL:+10}5
KTAP_LIMIT=300 ktap_test others_come_and_go ${FULL:+10}5
KTAP_LIMIT=300 ktap_test races ${FULL:+10}10
ktap_end
