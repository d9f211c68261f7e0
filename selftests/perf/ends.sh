# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# What "measure", "toll" and "scale" share: the ends of a path, links on them, and
# a program at each. Source it. What programs print is left in LOG.

SERVER=10.88.0.1
LOG=$(mktemp -d)

# Longer than any measurement takes of the guest's time, which leaps ahead where
# the guest has nothing to do but to wait for a file of this machine.
TIMEOUT=600

# Requests that may be under way in all QPs together; rxe's CQs have room for
# 32767.
ROOM=16384

die() {
	echo "$*" >&2
	tail -n 20 "$LOG"/* >&2
	exit 1
}

# Runs a command in the namespace of the server, or the client.
at_server() {
	"${IN_SERVER[@]}" "$@"
}

at_client() {
	"${IN_CLIENT[@]}" "$@"
}

# Makes the ends of a path: two namespaces joined by a veth pair of an MTU, or
# for "self" one end in ours. Arguments: PATH MTU
ends_up() {
	if [ "$1" != self ]; then
		IN_SERVER=(ip netns exec bench-s) IN_CLIENT=(ip netns exec bench-c)
		pair_up "$2"
		return
	fi
	IN_SERVER=() IN_CLIENT=()
	ip link add veth-s mtu "$2" type veth peer name veth-c
	ip link set veth-c up
	ip link set veth-s up
	ip address add $SERVER/24 dev veth-s
}

ends_down() {
	if [ "$1" = self ]; then
		ip link delete veth-s
	else
		pair_down
	fi
}

pair_up() {
	ip netns add bench-s
	ip netns add bench-c
	ip link add veth-s mtu "$1" netns bench-s type veth \
		peer name veth-c mtu "$1" netns bench-c
	at_server ip address add $SERVER/24 dev veth-s
	at_client ip address add 10.88.0.2/24 dev veth-c
	at_server ip link set veth-s up
	at_client ip link set veth-c up
	at_server ip link set lo up
}

pair_down() {
	ip netns delete bench-s
	ip netns delete bench-c
}

# Prints the index of the GID that an IPv4 address gave a device.
gid_of() {
	local gids=/sys/class/infiniband/$1/ports/1/gids i

	for i in {0..15}; do
		! grep -qs '^0000:0000:0000:0000:0000:ffff:' "$gids/$i" || break
	done
	echo "$i"
}

# Prints the module of a type of link.
module_of() {
	case $1 in
	rxe)	echo rdma_rxe ;;
	*)	echo "$1" ;;
	esac
}

# Makes a device of a type at each end: "TYPE-s" and "TYPE-c".
# Arguments: PATH TYPE
links_up() {
	modprobe "$(module_of "$2")"
	at_server rdma link add "$2-s" type "$2" netdev veth-s
	if [ "$1" != self ]; then
		at_client rdma link add "$2-c" type "$2" netdev veth-c
	elif [ "$2" = frdma ]; then
		echo 0 >/sys/class/infiniband/frdma-s/loopback
	fi
	sleep 1
}

links_down() {
	rdma link delete "$1-s"
	! [ -e "/sys/class/infiniband/$1-c" ] || rdma link delete "$1-c"
	modprobe -r "$(module_of "$1")"
}

await_port() {
	local i

	for i in {1..100}; do
		if at_server ss -Hltn sport = ":$1" | grep -q .; then
			return 0
		fi
		sleep 0.1
	done
	echo "nobody listens on port $1" >"$LOG/client"
	return 1
}

# Runs a program at both ends. Each leaves in LOG what it prints.
# Arguments: PORT CLIENT... -- SERVER...
both_ends() {
	local port=$1 client=() pid

	shift
	while [ "$1" != -- ]; do
		client+=("$1")
		shift
	done
	shift
	timeout $TIMEOUT "${IN_SERVER[@]}" "$@" >"$LOG/server" 2>&1 &
	pid=$!
	if await_port "$port" && timeout $TIMEOUT "${client[@]}" \
			>"$LOG/client" 2>&1; then
		wait $pid
	else
		kill $pid || true
		wait $pid || true
		return 1
	fi
}

# Sets what streams messages of an operation: TOOL with its options, MANNER of
# the client, COLUMN that tells what a message costs.
# Arguments: OPERATION BYTES QPS POSTED
stream_tool() {
	local send=$((ROOM / $3)) receive=$((ROOM / $3))

	TOOL=("ib_$1_bw" -q "$3" -t $((send < 128 ? send : 128)))
	COLUMN=rate
	[ "$4" = 1 ] || TOOL+=(-l "$4")
	[ "$1" != send ] || TOOL+=(
		-r $((receive < 512 ? receive : 512)) --recv_post_list "$4"
	)
	if [ "$1" = write ]; then
		MANNER=(chrt --idle 0)
	else
		TOOL+=(-e)
	fi
}

# Sets the same for an operation that is one at a time, with its answer.
# Arguments: OPERATION
# shellcheck disable=SC2034
trip_tool() {
	TOOL=("ib_${1%-*}_lat") COLUMN=average
	case $1 in
	*-trip)		TOOL+=(-e) ;;
	*-polled)	MANNER=(chrt --idle 0) ;;
	esac
	case $1 in
	send-*)		TIMES=2 ;;	# it tells half of a round trip
	write-*)	TOOL=(ib_write_bw -t 1) COLUMN=rate ;;
	esac
}

# Runs the test of an operation, each end of which leaves in LOG what it prints.
# Sets COLUMN, and TIMES as often as what that tells is a message.
#
# Two that poll on one processor would measure the scheduler, so they wait for
# events where perftest can. Where it cannot, or shall not, the client is the
# only one that polls, while its peer sleeps, and it gives way to all. So there
# is no ping-pong of writes: a write one at a time and its acknowledgement take
# the place of it; and none of sends that are polled for.
#
# Arguments: PATH TYPE ITERATIONS OPERATION BYTES QPS POSTED
# shellcheck disable=SC2034 # for who reads what it has printed
run_test() {
	local TOOL MANNER=() device=$2-c
	local at=("${IN_CLIENT[@]}")

	TIMES=1
	case $4 in
	*-*)	trip_tool "$4" ;;
	*)	stream_tool "${@:4}" ;;
	esac
	TOOL+=(-F -n "$3")
	[ "${4%-*}" = atomic ] || TOOL+=(-s "$5")
	case $1 in
	loopback|self)	device=$2-s at=("${IN_SERVER[@]}") ;;
	esac

	both_ends 18515 "${at[@]}" "${MANNER[@]}" "${TOOL[@]}" -d "$device" \
		-x "$(gid_of "$device")" $SERVER -- \
		"${TOOL[@]}" -d "$2-s" -x "$(gid_of "$2-s")"
}
