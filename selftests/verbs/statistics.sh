#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Counters: those of queue pairs ("rdma statistic qp"), and performance
# management in sysfs and by datagrams.
#
# roots: trixie sid
# named: bookworm

. "${0%/*}/../lib/frdma.sh"
. "${0%/*}/../lib/traffic.sh"

# Starts a process with two queue pairs, $near and $far.
traffic_up() {
	local gid

	gid=$(gid_index frdma0 v4)
	coproc TRAFFIC { "$PROGRAMS/verbs/statistics" frdma0 "$gid" traffic; }
	# shellcheck disable=SC2034 # the tests use them
	read -r -t $((30 * KTAP_SLOW)) near far <&"${TRAFFIC[0]}" || fail "no queue pairs"
}

# Ten messages of three packets.
messages() {
	echo >&"${TRAFFIC[1]}"
	read -r -t $((60 * KTAP_SLOW)) <&"${TRAFFIC[0]}" || fail "nothing was sent"
}

traffic_down() {
	local to=${TRAFFIC[1]}

	exec {to}>&-
	wait "$TRAFFIC_PID"
}

# A figure that "rdma statistic qp" shows for a queue pair, or its "cntn". One
# counter after the other is shown, its queue pairs last. Arguments: LQPN NAME
of_qp() {
	rdma statistic qp show link frdma0/1 | tee "$KTAP_TMP/statistic" |
		awk -v qpn="$1" -v name="$2" '
			$3 == "cntn" { split("", value) }
			{ for (i = 1; i < NF; i++) value[$i] = $(i + 1) }
			/LQPN/ && $2 ~ "[<,]" qpn "[,>]" { print value[name] }'
}

expect() {
	test "$2" "$3" "$4" || fail "$1: $2 is not $3 $4;" \
		"$(cat "$KTAP_TMP/statistic")"
}

# Each has its own numbers, and the port has all of them, then and later.
bound_one_by_one() {
	local before

	traffic_up
	messages
	before=$(counter frdma0 rx_send_requests)
	expect unbound "$before" -ge 10
	rdma statistic qp bind link frdma0/1 lqpn "$near"
	rdma statistic qp bind link frdma0/1 lqpn "$far"
	messages
	expect far "$(of_qp "$far" rx_send_requests)" = 10
	expect far "$(of_qp "$far" rx_packets)" -ge 30
	expect near "$(of_qp "$near" rx_send_requests)" = 0
	expect near "$(of_qp "$near" tx_packets)" -ge 30
	expect near "$(of_qp "$near" rcvd_acks)" -ge 10
	expect port "$(counter frdma0 rx_send_requests)" = $((before + 10))
	traffic_down
	expect "port later" "$(counter frdma0 rx_send_requests)" = \
		$((before + 10))
}

# What is not bound any more counts at the port again.
unbound_again() {
	local before bound cntn

	traffic_up
	rdma statistic qp bind link frdma0/1 lqpn "$far"
	messages
	cntn=$(of_qp "$far" cntn)
	rdma statistic qp unbind link frdma0/1 cntn "$cntn" lqpn "$far"
	bound=$(of_qp "$far" rx_send_requests)
	expect bound "$bound" = ""
	before=$(counter frdma0 rx_send_requests)
	messages
	expect port "$(counter frdma0 rx_send_requests)" = $((before + 10))
	traffic_down
}

by_type() {
	local before

	before=$(counter frdma0 rx_send_requests)
	defer rdma statistic qp set link frdma0/1 auto off
	rdma statistic qp set link frdma0/1 auto type on
	traffic_up
	messages
	expect both "$(of_qp "$far" rx_send_requests)" = 10
	traffic_down
	expect port "$(counter frdma0 rx_send_requests)" = $((before + 10))
}

# Also what is given up for whom it is from: an XRC SEND to an initiator without a peer.
stray() {
	local gid qpn bytes before

	gid=$(gid_index frdma0 v4)
	coproc TRAFFIC { "$PROGRAMS/verbs/statistics" frdma0 "$gid" initiator; }
	read -r -t $((30 * KTAP_SLOW)) qpn <&"${TRAFFIC[0]}" || fail "no queue pair"
	rdma statistic qp bind link frdma0/1 lqpn "$qpn"
	before=$(counter frdma0 drop_bad_address)
	bytes=$(printf '\\x%02x' 0xa4 0 255 255 0 $((qpn >> 16)) \
		$((qpn >> 8 & 255)) $((qpn & 255)) 0 0 0 0 0 0 0 0)
	printf '%b' "$bytes" >/dev/udp/10.77.0.1/4791
	expect stray "$(of_qp "$qpn" drop_bad_address)" = 1
	expect port "$(counter frdma0 drop_bad_address)" = $((before + 1))
	traffic_down
}

# Bound and unbound while packets fly, and destroyed while bound.
under_fire() {
	traffic_up
	(for _ in $(seq 15); do
		rdma statistic qp bind link frdma0/1 lqpn "$far"
		cntn=$(of_qp "$far" cntn)
		rdma statistic qp unbind link frdma0/1 cntn "$cntn" lqpn "$far"
	done
	rdma statistic qp bind link frdma0/1 lqpn "$far") &
	for _ in $(seq 15); do
		messages
	done
	wait $!
	traffic_down
}

# Runs a command that fails, and prints its status, too.
says_status() {
	local status=0

	"$@" || status=$?
	echo "ends with $status: $*"
	return $status
}

# What cannot be bound or unbound is refused, and what is bound stays as it is.
wrong_calls() {
	local cntn call text bound

	traffic_up
	rdma statistic qp bind link frdma0/1 lqpn "$far"
	messages
	cntn=$(of_qp "$far" cntn)
	for call in \
		"bind link frdma0/1 lqpn $far" \
		"bind link frdma0/1 lqpn 16777215" \
		"bind link frdma0/2 lqpn $near" \
		"bind link frdma0/1 cntn $((cntn + 1)) lqpn $near" \
		"unbind link frdma0/1 cntn $cntn lqpn $near" \
		"unbind link frdma0/1 cntn $cntn lqpn 16777215" \
		"unbind link frdma0/1 cntn $((cntn + 1)) lqpn $far" \
		"set link frdma0/2 auto type on"
	do
		# The core has an errno of its own for each; the tool knows ports,
		# and prints nothing where it looks for a counter.
		text="error: "
		[[ $call != *frdma0/2* ]] || text="Wrong device name"
		[[ $call != *cntn* ]] || text="ends with "
		# shellcheck disable=SC2086 # several words
		refuse "$text" says_status rdma statistic qp $call
	done
	messages
	expect far "$(of_qp "$far" rx_send_requests)" = 20
	bound=$(of_qp "$near" cntn)
	expect near "$bound" = ""
	traffic_down
}

# Looked at while their last queue pair goes.
come_and_go() {
	defer rdma statistic qp set link frdma0/1 auto off
	rdma statistic qp set link frdma0/1 auto type on
	say_notes with_gid v4 verbs/statistics churn "$1"
}

# What monitoring programs read. In words of four bytes.
in_sysfs() {
	local dir=/sys/class/infiniband/frdma0/ports/1/counters data packets

	ls $dir
	data=$(<$dir/port_xmit_data)
	packets=$(<$dir/port_xmit_packets)
	traffic_up
	messages
	traffic_down
	: >"$KTAP_TMP/statistic"
	expect packets $(($(<$dir/port_xmit_packets) - packets)) -ge 40
	expect data $(($(<$dir/port_xmit_data) - data)) -ge 7500
	expect data $(($(<$dir/port_xmit_data) - data)) -le 9000
	expect errors "$(<$dir/port_rcv_errors)" = 0
}

# Over IPv6: over IPv4 ib_mad finds no GIDs in the 40 bytes in front of an answer,
# and so not the question. Arguments: ATTRIBUTE [METHOD]; leaves $status and
# $attribute.
ask() {
	with_gid v6 verbs/statistics mad "$@" \
		>"$KTAP_TMP/mad" || fail "$(<"$KTAP_TMP/mad")"
	read -r status attribute <"$KTAP_TMP/mad"
}

by_datagram() {
	local packets

	modprobe ib_umad
	ask 1
	[ "$status" = 0000 ] || fail "class port info: $status"
	[ "${attribute:0:8}" = 01010400 ] || fail "says $attribute"
	packets=$(counter frdma0 tx_packets)
	ask 0x1d
	[ "$status" = 0000 ] || fail "extended counters: $status"
	# The request itself has left by then.
	[ $((16#${attribute:48:16})) = $((packets + 1)) ] ||
		fail "$packets packets, but $attribute"
	ask 0x12
	[ "$status" = 0000 ] || fail "counters: $status"
	ask 0x99
	[ "$status" = 000c ] || fail "unknown attribute: $status"
	ask 0x12 2
	[ "$status" = 000c ] || fail "set: $status"
}

links_up
# What is counted are packets.
echo 0 >/sys/class/infiniband/frdma0/loopback
# wrong_calls last: ib_core goes on counting a counter that it could not bind,
# and then lets nobody change the mode of the port.
for test in bound_one_by_one unbound_again by_type stray under_fire \
	"come_and_go ${FULL:+3}6" in_sysfs by_datagram wrong_calls; do
	ktap_test $test
done
ktap_end
