# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# The conformance scripts against a device of this guest: it is on conf0, and
# the peer that the scripts play is a raw socket on conf1, the other end of
# that veth pair. Read after frdma.sh. The addresses are those of device.h.

CONFORMANCE=$KTAP_TOP/selftests/conformance

# Every packet is a frame of its own, with all of its checksums in it.
conformance_veth() {
	defer netdev_delete conf0
	ip link add conf0 type veth peer name conf1
	sysctl -qw net.ipv6.conf.conf1.disable_ipv6=1
	ethtool -K conf0 gso off tso off tx off gro off \
		tx-udp-segmentation off >/dev/null
	ethtool -K conf1 gro off tx off >/dev/null
	ip link set conf0 up
	ip link set conf1 up
	ip address add 10.79.0.1/24 dev conf0
	ip address add fd79::1/64 dev conf0 nodad
	conformance_neighbour 10.79.0.2
	conformance_neighbour fd79::2
}

conformance_neighbour() {
	ip neighbour add "$1" dev "${2:-conf0}" nud permanent \
		lladdr "$(</sys/class/net/conf1/address)"
}

# Cases may say vlan=7. The interface goes with conf0.
conformance_vlan() {
	ip link add link conf0 name conf0.7 type vlan id 7
	ip link set conf0.7 up
	ip address add 10.80.0.1/24 dev conf0.7
	conformance_neighbour 10.80.0.2 conf0.7
}

# Cases may send trains, which come whole.
conformance_trains() {
	ethtool -K conf1 tx on gso on tx-udp-segmentation on >/dev/null
}

# The device of DRIVER (frdma, rxe) on that interface. The names of modules are
# not those of links.
conformance_up() {
	local driver=$1 module=$2

	conformance_veth
	modprobe "$module" || fail "no $module"
	defer modprobe -r "$module"
	rdma link add "${driver}0" type "$driver" netdev conf0
	defer link_delete "${driver}0"
	await 20 grep -q ACTIVE "/sys/class/infiniband/${driver}0/ports/1/state"
}

# The cases whose names contain what the runner asks for, A12.1 or A12-1; those behind
# one that it names in FRDMA_AFTER.
conformance_cases() {
	local only=${KTAP_ONLY:-}

	find "$CONFORMANCE/cases" -name "*${only/./-}*.case" | sort -V |
		awk -v after="${FRDMA_AFTER:+/$FRDMA_AFTER.case}" '
			!after || behind { print }
			after && index($0, after) { behind = 1 }'
}

# Skips where the player could not be compiled.
conformance_is_there() {
	[ -e "$PROGRAMS/conformance/conform-device" ] ||
		skip "rdma-core $(dpkg-query -Wf '${Version}' libibverbs1)" \
			"cannot post all that the scripts do"
}

# Plays them in one process, and passes on what becomes of each. Arguments:
# DEVICE
conformance_play() {
	local files

	conformance_is_there
	mapfile -t files < <(conformance_cases)
	[[ ${#files[@]} -gt 0 || ${FRDMA_AFTER:-} ]] ||
		fail "no case is called ${KTAP_ONLY:-}: see $CONFORMANCE/cases"
	# What a case that fails ends with is told; here counts that all were
	# played.
	{
		"$PROGRAMS/conformance/conform-device" "$1" conf0 conf1 \
			"${files[@]}" || [ $? = 1 ]
	} 2>&1 | grep --line-buffered -vE '^(TAP version|1\.\.)' >&3
}
