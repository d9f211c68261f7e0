# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# Two ends in one guest: link frdma0 on an interface here, and link frdma1 on
# one in the namespace "far". Source it after lib/frdma.sh.

ENDS_NEAR4=10.78.0.1 ENDS_FAR4=10.78.0.2
ENDS_NEAR6=fd78::1 ENDS_FAR6=fd78::2

# Cheaper than "ip netns exec", which mounts a sysfs each time.
in_far() {
	nsenter --net=/run/netns/far "$@"
}

# True if link NAME is there, or is not.
there() {
	[ -e "/sys/class/infiniband/$1" ]
}

gone() {
	! there "$1"
}

# True if the port of link NAME is ACTIVE, or whatever is asked for.
port_is() {
	grep -q "${2:-ACTIVE}" "/sys/class/infiniband/$1/ports/1/state"
}

# A worker that faults in pages holds the memory of their process, which maps the
# device, for a moment after the process has ended: the module is in use until then.
module_remove() {
	[ ! -d /sys/module/frdma ] || (await 10 modprobe -r frdma)
}

ends_remove() {
	local status=0

	link_delete frdma0 || status=1
	link_delete frdma1 || status=1
	netdev_delete va || status=1
	netns_delete far || status=1
	module_remove || status=1
	return $status
}

# A veth pair, va here and vb in "far", without addresses or links. What was
# put on top of va goes with it.
veth_up() {
	defer ends_remove
	ip netns add far
	in_far ip link set lo up
	ip link add va type veth peer name vb netns far
	ip link set va up
	in_far ip link set vb up
}

# Gives the interfaces NEAR and FAR addresses, and waits until each end has the
# other as a neighbour.
addresses_on() {
	local near=$1 far=$2

	ip link set "$near" up
	ip address add $ENDS_NEAR4/24 dev "$near"
	[ ! -d /proc/sys/net/ipv6 ] ||
		ip address add $ENDS_NEAR6/64 dev "$near" nodad
	in_far ip link set "$far" up
	in_far ip address add $ENDS_FAR4/24 dev "$far"
	[ ! -d /proc/sys/net/ipv6 ] ||
		in_far ip address add $ENDS_FAR6/64 dev "$far" nodad
	await 20 ping -c 1 -W 1 $ENDS_FAR4
	[ ! -d /proc/sys/net/ipv6 ] ||
		await 20 ping -c 1 -W 1 $ENDS_FAR6
}

# Gives them (va, vb) addresses and links.
# shellcheck disable=SC2120 # some callers take the defaults
links_on() {
	local near=${1:-va} far=${2:-vb}

	addresses_on "$near" "$far"
	modprobe frdma
	rdma link add frdma0 type frdma netdev "$near"
	in_far rdma link add frdma1 type frdma netdev "$far"
	await 10 port_is frdma0
	await 10 port_is frdma1
}

ends_up() {
	veth_up
	links_on
}

# True if rdma_cm listens on that address of either end, which it says a moment
# before it takes requests.
is_listening() {
	rdma resource show cm_id | grep LISTEN | grep -F "$1" && sleep 0.3
}

# ibv_rc_pingpong between both ends, over FAMILY (v4), with these options.
pingpong() {
	local family=${1:-v4} near far pid

	shift || true
	near=$(gid_index frdma0 "$family") || return
	far=$(gid_index frdma1 "$family") || return
	in_far ibv_rc_pingpong -d frdma1 -g "$far" "$@" \
		>"$KTAP_TMP/server" 2>&1 &
	pid=$!
	await 10 in_far bash -c 'ss -Hltn sport = :18515 | grep -q .'
	ibv_rc_pingpong -d frdma0 -g "$near" "$@" $ENDS_FAR4 \
		>"$KTAP_TMP/client" 2>&1 || {
		cat "$KTAP_TMP/server" "$KTAP_TMP/client"
		fail "client"
	}
	wait $pid || fail "server: $(<"$KTAP_TMP/server")"
}

# Options of flow: all kinds of traffic, each at its leisure.
# shellcheck disable=SC2034 # for the programs
ALL_KINDS=(-k "rc,xrc,uc,ud,multicast" -s 4096 -p 50)

# Starts "flow" as that command says, and waits until it flows; what it says
# comes to $FLOW_OUT, its process is $FLOW.
FLOW_OUT=$KTAP_TMP/flow.out
flow_starts() {
	# What another one has said is not to be taken for its own.
	: >"$FLOW_OUT"
	"$@" >"$FLOW_OUT" 2>&1 &
	FLOW=$!
	await 20 grep -q flows "$FLOW_OUT"
}

# Starts traffic from link A (frdma0) to link B (frdma1).
flow() {
	local family=${1:-v4} a=${2:-frdma0} b=${3:-frdma1} ga gb

	shift 3 || shift $#
	ga=$(gid_index "$a" "$family") || return
	gb=$(gid_index "$b" "$family") || return
	flow_starts "$PROGRAMS/lib/flow/flow" "$@" "$a" "$ga" "$b" "$gb"
}

# It must go on for a moment.
flow_goes_on() {
	await 20 flow_moved "$(stat -c %s "$FLOW_OUT")"
}

# It must go on for a moment, end when told to, and have seen no error.
flow_is_well() {
	flow_goes_on
	kill -TERM "$FLOW" 2>/dev/null || true
	wait "$FLOW" || fail "flow: $(tail -n 1 "$FLOW_OUT")"
}

flow_moved() {
	[ "$(stat -c %s "$FLOW_OUT")" -gt "$1" ] || {
		tail -n 3 "$FLOW_OUT"
		return 1
	}
}

# It must end by itself within SEC seconds, saying TEXT.
flow_fails() {
	local seconds=$1 text=$2

	await "$seconds" flow_ended
	! wait "$FLOW" || fail "flow ended well"
	grep -q -e "$text" "$FLOW_OUT" ||
		fail "flow: $(tail -n 2 "$FLOW_OUT")"
}

# It must end by itself within SEC seconds, each of KINDS flows saying TEXT.
# Arguments: SEC KINDS TEXT
flows_fail() {
	flow_fails "$1" "$3"
	[ "$(grep -c -e "^[a-z]*: .*\($3\)" "$FLOW_OUT")" = "$2" ] ||
		fail "not all: $(<"$FLOW_OUT")"
}

flow_ended() {
	! kill -0 "$FLOW" 2>/dev/null
}
