#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A network that marks packets where it would have dropped them (RFC 3168): who
# receives them notifies who sent them, and he sends less, and nothing is lost.
# With one CPU: two of them change the order of packets.
#
# guests: 1
# smp: 1
# roots: trixie bookworm sid

. "${0%/*}/../lib/frdma.sh"
. "${0%/*}/../lib/ends.sh"

# The lower bits of a traffic class, of packets that may be marked.
ECT=2

# Both ends send through a network that has no room for some of the buffers. They
# know each other for good: ARP and ND cannot be marked, so what asks whether a
# neighbour is still there is lost, and with the third such loss its address,
# and all that is sent until it is known again. Arguments: LOSS NETEM...
wire() {
	keep_neighbours va $ENDS_FAR4 $ENDS_FAR6
	in_far bash -c "$(declare -f keep_neighbours)
		keep_neighbours vb $ENDS_NEAR4 $ENDS_NEAR6"
	tc qdisc replace dev va root netem loss "$@"
	in_far tc qdisc replace dev vb root netem loss "$@"
}

# Arguments: INTERFACE ADDRESS... (which links_on() has found)
keep_neighbours() {
	local address

	for address in "${@:2}"; do
		ip neighbour change "$address" dev "$1" nud permanent
	done
}

# Counters of a link, by which there are notifications.
counters() {
	local name

	for name in rx_marked sent_cnps rcvd_cnps; do
		echo "$1 $name $(counter "$1" $name)"
	done
}

# What link FROM has sent, TO has received; but notifications, which may not be
# marked, are dropped.
all_have_come() {
	local sent came cnps

	sent=$(counter "$1" tx_packets)
	came=$(counter "$2" rx_packets)
	cnps=$(($(counter "$1" sent_cnps) - $(counter "$2" rcvd_cnps)))
	[ "$sent" = $((came + cnps)) ] ||
		fail "$1 has sent $sent packets, $came have come to $2"
}

# True if that counter of a link has counted.
counts() {
	[ "$(counter "$1" "$2")" -gt 0 ]
}

# Arguments: FAMILY TRAINS NETEM...
marked() {
	ends_up
	echo "$2" >/sys/class/infiniband/frdma0/trains
	wire 20% ecn "${@:3}"
	flow "$1" frdma0 frdma1 -k rc,xrc,uc,ud -s 65536 \
		-c $ECT -t 20
	# Which packets are marked is left to chance.
	await 10 counts frdma1 rx_marked
	await 10 counts frdma1 sent_cnps
	await 10 counts frdma0 rcvd_cnps
	# What READs bring goes the other way, and is not notified.
	await 10 counts frdma0 rx_marked
	flow_is_well
	note "$(counters frdma0 | paste -sd ' ')"
	note "$(counters frdma1 | paste -sd ' ')"
	[ "$(counter frdma0 sent_cnps)" = 0 ]
	# Without delay nothing is on the way any more.
	[ $# -gt 2 ] || all_have_come frdma0 frdma1
	[ $# -gt 2 ] || all_have_come frdma1 frdma0
	for name in retry_seq retry_timeouts retry_implied drop_bad_icrc; do
		[ "$(counter frdma0 $name)" = 0 ] || fail "frdma0: $name"
	done
}

# What cannot be marked is dropped, and notified by nobody. Of one in five some
# message would soon lose all its retries, one way or the other.
unmarked() {
	ends_up
	echo 0 >/sys/class/infiniband/frdma0/ecn
	echo 0 >/sys/class/infiniband/frdma1/ecn
	wire 5% ecn
	flow v4 frdma0 frdma1 -k rc -t 12
	# So is when the first one is dropped.
	await 10 counts frdma0 retry_seq
	flow_is_well
	[ "$(counter frdma1 rx_marked)" = 0 ]
	[ "$(counter frdma1 sent_cnps)" = 0 ]
}

ktap_test marked v4 1
ktap_test marked v4 0
ktap_test marked v6 1
ktap_test marked v4 1 delay 1ms
ktap_test unmarked
ktap_end
