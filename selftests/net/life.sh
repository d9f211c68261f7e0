#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The ends of a link while it carries traffic and while processes hold it:
# each leaves a clean log and no reference behind. FULL=1 for many rounds.
#
# guests: 1
# timeout: 600

. "${0%/*}/../lib/frdma.sh"
. "${0%/*}/../lib/ends.sh"

# Nothing keeps module or interface.
nothing_is_left() {
	await 10 gone frdma0
	await 10 gone frdma1
	await 10 modprobe -r frdma
	! ip link show va >/dev/null 2>&1 || within 9 ip link delete va
	[ "$(wc -l < <(rdma link))" = 0 ]
}

# The ways in which a link ends.
by_delete() {
	rdma link delete frdma0
}

by_netdev() {
	within 9 ip link delete va
}

by_namespace() {
	ip netns delete far
}

by_rmmod() {
	modprobe -r frdma
}

# A process polls, its link goes: it is told, and everything is released.
polling() {
	ends_up
	flow v4 frdma0 frdma1
	"by_$1"
	flow_fails 15 'post:\|poll:\|status:'
	[ "$1" != delete ] || rdma link delete frdma1
	nothing_is_left
}

# The same while processes sleep until a completion or an event comes.
sleeping() {
	local watch server client

	ends_up
	stdbuf -oL ibv_asyncwatch -d frdma0 >"$KTAP_TMP/watch" 2>&1 &
	watch=$!
	ibv_rc_pingpong -d frdma1 -g "$(gid_index frdma1 v4)" -e -n 100000000 \
		>"$KTAP_TMP/server" 2>&1 &
	server=$!
	await 10 listens 1 18515
	ibv_rc_pingpong -d frdma0 -g "$(gid_index frdma0 v4)" -e -n 100000000 \
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

# A namespace that nobody has named ends with its last process: one that is
# killed while it sends to itself.
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
		ip link set da up
		ip address add $ENDS_NEAR4/24 dev da
		rdma link add frdma0 type frdma netdev da"
	await 10 port_is frdma0
	gid=$(gid_index frdma0 v4)
	nsenter -t $holder -n "$KTAP_TMP/flow" frdma0 "$gid" frdma0 "$gid" \
		>"$KTAP_TMP/flow.out" 2>&1 &
	FLOW=$!
	await 10 grep -q flows "$KTAP_TMP/flow.out"
	kill -KILL $holder "$FLOW"
	nothing_is_left
}

# True if process PID is in another network namespace.
is_elsewhere() {
	[ "$(readlink "/proc/$1/ns/net")" != "$(readlink /proc/self/ns/net)" ]
}

# An interface that goes down ends no link; its connections die of silence.
ifdown() {
	ends_up
	flow v4 frdma0 frdma1 -t 12 -r 3
	ip link set va down
	flow_fails 20 'retry counter exceeded'
	await 5 port_is frdma0 DOWN
	ip link set va up
	await 5 port_is frdma0
	pingpong v4 -n 50
	rdma link delete frdma0
	rdma link delete frdma1
	nothing_is_left
}

# A killed process leaves nothing either.
killed() {
	local before

	ends_up
	before=$(rdma resource show)
	flow v4 frdma0 frdma1
	kill -KILL "$FLOW"
	wait "$FLOW" || true
	[ "$(rdma resource show)" = "$before" ] ||
		fail "$before; now: $(rdma resource show)"
	rdma link delete frdma0
	rdma link delete frdma1
	nothing_is_left
}

# Links come and go next to one that works.
others_come_and_go() {
	local round

	ends_up
	ip link add vc type veth peer name vd
	defer ip link delete vc
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
	local round stop=$KTAP_TMP/stop

	modprobe frdma
	defer modprobe -r frdma
	rm -f "$stop"
	while [ ! -e "$stop" ]; do
		rdma link add frdma0 type frdma netdev vr 2>/dev/null
		rdma link delete frdma0 2>/dev/null
	done &
	while [ ! -e "$stop" ]; do
		rdma resource show >/dev/null 2>&1
		ibv_devinfo >/dev/null 2>&1
	done &
	for round in $(seq "$1"); do
		ip link add vr type veth peer name vs
		ip link set vr up
		ip link set vs up
		sleep 0.$((RANDOM % 4))
		within 9 ip link delete vr || fail "round $round"
	done
	touch "$stop"
	wait
	await 10 gone frdma0
}

flow_build
for way in delete netdev namespace rmmod; do
	ktap_test polling $way
	ktap_test sleeping $way
done
ktap_test namespace_exits
ktap_test ifdown
ktap_test killed
KTAP_LIMIT=300 ktap_test others_come_and_go ${FULL:+10}5
KTAP_LIMIT=300 ktap_test races ${FULL:+10}10
ktap_end
