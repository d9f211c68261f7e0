# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# What the guest tests of frdma share. Guest 1 runs the test; the others are
# reached with "on N CMD" (scripts/guest --help). See selftests/README.

# shellcheck source=selftests/lib/ktap.sh
. "${BASH_SOURCE[0]%/*}/ktap.sh"

# Runs a shell line in every guest, in turn.
each_guest() {
	local n

	for n in $(seq "$FRDMA_NODES"); do
		ktap_on "$n" "$1" || fail "in guest $n: $1"
	done
}

# Loads frdma and makes link NAME (frdma0) on NETDEV (eth0) in every guest;
# they are deleted when the test, or the program, ends.
links_up() {
	local name=${1:-frdma0} netdev=${2:-eth0}

	defer links_down "$name"
	each_guest "modprobe frdma &&
		rdma link add $name type frdma netdev $netdev || exit
		for i in \$(seq $((100 * KTAP_SLOW))); do
			read -r state </sys/class/infiniband/$name/ports/1/state
			[ \"\${state#*ACTIVE}\" = \"\$state\" ] || exit 0
			sleep 0.1
		done; exit 1"
	[ "$netdev" != eth0 ] || are_neighbours
}

# For "defer": what they remove may go by itself, before or meanwhile, as a veth
# goes with its peer, a link with its interface and an interface with its
# namespace.
netdev_delete() {
	[ ! -e "/sys/class/net/$1" ] || ip link delete "$1" ||
		await 5 test ! -e "/sys/class/net/$1"
}

netns_delete() {
	[ ! -e "/run/netns/$1" ] || ip netns delete "$1"
}

link_delete() {
	[ ! -e "/sys/class/infiniband/$1" ] || rdma link delete "$1" ||
		await 5 test ! -e "/sys/class/infiniband/$1"
}

end_process() {
	! kill -0 "$1" 2>/dev/null || kill "$1"
}

# All guests know the hardware addresses of all that this one talks to: the core
# gives a connection a second to find them, in which an emulated guest may not
# answer.
are_neighbours() {
	local n

	for n in $(seq "$FRDMA_NODES"); do
		[ "$n" != "$FRDMA_NODE" ] || continue
		await 60 ping -c 1 -W 5 "10.77.0.$n"
		[ ! -d /proc/sys/net/ipv6 ] ||
			await 60 ping -c 1 -W 5 "fd77::$n"
	done
}

# Deletes link NAME where it is.
links_down() {
	each_guest "[ ! -e /sys/class/infiniband/${1:-frdma0} ] ||
		rdma link delete ${1:-frdma0}"
}

# Skips the test if new links begin otherwise than usual, in one of these
# attributes (selftests/run --parameters).
begins_as_usual() {
	local name value
	local -A usual=([trains]=Y [loopback]=Y [gather_us]=16 [poll_us]=0)

	modprobe frdma
	for name; do
		value=$(</sys/module/frdma/parameters/"$name")
		[ "$value" = "${usual[$name]}" ] ||
			skip "the module's parameter $name is $value"
	done
}

# Sets the MTU of NETDEV (eth0) in every guest. The program's header says how
# large it may be: "# mtu: 9000".
mtu() {
	each_guest "ip link set ${2:-eth0} mtu $1"
}

# Has frdma0 a GID that ends with so.
gid_is_there() {
	grep -q "$1\$" /sys/class/infiniband/frdma0/ports/1/gids/* 2>/dev/null
}

gid_is_gone() {
	[ -d /sys/class/infiniband/frdma0/ports/1/gids ] && ! gid_is_there "$1"
}

# Prints the index of a GID of DEV: "v4" or "v6" for the one of the (first)
# address that is not link-local, "ll" for the link-local one. The core adds the
# GIDs of a new link, or of a new address, a moment later.
gid_index() {
	local dev=$1 family=$2 n=${3:-$FRDMA_NODE} pattern

	case $family in
	v4)	pattern='^0000:0000:0000:0000:0000:ffff:' ;;
	ll)	pattern='^fe80:' ;;
	v6)	pattern='^[23f][0-9a-df]' ;;
	esac
	# shellcheck disable=SC2016 # for the guest's shell
	ktap_on "$n" '
		cd /sys/class/infiniband/'"$dev"'/ports/1/gids || exit
		for ((tries = '$((50 * KTAP_SLOW))'; tries; tries--)); do
			for ((i = 0; ; i++)); do
				[ -e $i ] || break
				read -r gid <$i || gid=
				[[ ! $gid =~ '"$pattern"' ]] || {
					echo $i
					exit
				}
			done 2>/dev/null
			sleep 0.1
		done
		exit 1' || fail "guest $n has no $family GID on $dev"
}

# Runs one of PROGRAMS on frdma0 and the index of its GID of that family.
# Arguments: FAMILY PROGRAM [ARG...]
with_gid() {
	local gid

	gid=$(gid_index frdma0 "$1") || return
	"$PROGRAMS/$2" frdma0 "$gid" "${@:3}"
}

# Prints a hardware counter of DEV in guest N.
counter() {
	ktap_on "${3:-$FRDMA_NODE}" \
		"cat /sys/class/infiniband/$1/ports/1/hw_counters/$2"
}

# True if something listens on that TCP port in guest N; "udp:PORT": on that one;
# "cm": to rdma_cm, which says LISTEN a moment before it takes requests.
listens() {
	case $2 in
	cm)	ktap_on "$1" 'rdma resource show cm_id | grep -q LISTEN &&
			sleep 0.3' ;;
	udp:*)	ktap_on "$1" "ss -Hlun sport = :${2#*:} | grep -q ." ;;
	*)	ktap_on "$1" "ss -Hltn sport = :$2 | grep -q ." ;;
	esac
}

# Waits until the server of "pair", process $1, listens on PORT, or has ended.
pair_is_ready() {
	local pid=$1 port=$2 i

	for ((i = 0; i < 200 * KTAP_SLOW; i++)); do
		! listens 2 "$port" || return 0
		kill -0 "$pid" 2>/dev/null || break
		sleep 0.1
	done
	tail -n 20 "$KTAP_TMP/server"
	fail "does not listen: $3"
}

# Runs SERVER in guest 2, waits until it listens on PORT (see "listens"),
# and runs CLIENT here; both must end well. What they print is left in
# $KTAP_TMP/server and $KTAP_TMP/client.
pair() {
	local port=$1 server=$2 client=$3 pid

	on 2 "$server" >"$KTAP_TMP/server" 2>&1 &
	pid=$!
	pair_is_ready $pid "$port" "$server"
	bash -c "$client" >"$KTAP_TMP/client" 2>&1 || {
		tail -n 60 "$KTAP_TMP/server" "$KTAP_TMP/client"
		fail "client: $client"
	}
	wait $pid || {
		tail -n 60 "$KTAP_TMP/server" "$KTAP_TMP/client"
		fail "server: $server"
	}
}

# Skips the test if the kernel lacks one of these modules, as each distribution's
# lacks some, and the debug kernel most.
need_modules() {
	local module

	for module; do
		modinfo -n "$module" >/dev/null 2>&1 ||
			skip "this kernel has no $module"
	done
}

objects_are() {
	local now

	now=$(rdma resource show) || return
	[ "$now" = "$1" ] || {
		echo "before: $1; now: $now"
		return 1
	}
}

# Runs a command, after which there have to be the RDMA objects that were there
# before; or in a moment: a worker that has faulted pages in for a process that
# was killed is the last to let go of its memory, and of the files mapped there.
leaves_no_object() {
	local before status=0

	before=$(rdma resource show) || return
	# Where the caller asks how this ends, no failure ends it by itself.
	"$@"
	status=$?
	await 5 objects_are "$before"
	return $status
}

# Runs a command that must succeed; what it says are notes.
say_notes() {
	"$@" >"$KTAP_TMP/said" 2>&1 || fail "$(<"$KTAP_TMP/said")"
	while read -r line; do
		note "$line"
	done <"$KTAP_TMP/said"
}

# One case of a program in verbs/, on frdma0; what it has said is shown.
# Arguments: PROGRAM CASE
run_case() {
	with_gid v4 "verbs/$1" "$2" \
		>"$KTAP_TMP/said" || fail "$2: $(<"$KTAP_TMP/said")"
	[ ! -s "$KTAP_TMP/said" ] || note "$(<"$KTAP_TMP/said")"
}
