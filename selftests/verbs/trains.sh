#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Packets in trains over a veth pair, which passes them whole. The network of
# guests has none.
#
# guests: 1
# roots: trixie
# named: bookworm sid

. "${0%/*}/../lib/frdma.sh"
. "${0%/*}/../lib/ends.sh"

# READs and atomics that may be under way.
READS=16

# Runs "exchange" from frdma0 to frdma1, which responds.
# Arguments: FAMILY [OPTION...]
exchange() {
	local exchange=$PROGRAMS/verbs/exchange near far pid

	near=$(gid_index frdma0 "$1")
	far=$(gid_index frdma1 "$1")
	in_far "$exchange" -d frdma1 -g "$far" -a $READS \
		>"$KTAP_TMP/server" 2>&1 &
	pid=$!
	await 10 in_far bash -c 'ss -Hltn sport = :18516 | grep -q .'
	"$exchange" -d frdma0 -g "$near" "${@:2}" $ENDS_FAR4 \
		>"$KTAP_TMP/client" 2>&1 ||
		fail "$(<"$KTAP_TMP/client") $(<"$KTAP_TMP/server")"
	wait $pid || fail "$(<"$KTAP_TMP/server")"
	note "$(tail -n 1 "$KTAP_TMP/client")"
}

# Also where new links begin without.
trains_up() {
	ends_up
	echo 1 >/sys/class/infiniband/frdma0/trains
	echo 1 >/sys/class/infiniband/frdma1/trains
}

# As all of it arrives, nothing is missed, or sent again other than by a probe: a
# slow guest answers later than a probe waits.
nothing_was_lost() {
	local link name probes names=(out_of_order drop_out_of_sequence
		drop_mixed_train)

	probes=$(($(counter frdma0 probes) + $(counter frdma1 probes)))
	[ $probes -gt 0 ] || names+=(resent_packets duplicate_requests)
	for link in frdma0 frdma1; do
		for name in "${names[@]}"; do
			[ "$(counter $link $name)" = 0 ] ||
				fail "$link: $name"
		done
	done
}

every_operation() {
	trains_up
	exchange v4 -n 64 -r 6
	exchange v6 -n 64 -r 6
	exchange v4 -n 200 -r 4 -s 3000
	[ "$(counter frdma0 tx_trains)" -gt 0 ]
	nothing_was_lost
}

# What is asked for in one packet: of 512 requests, 16 are under way. Their
# responses are of one packet or of a few.
# Arguments: KIND BYTES
both_ways() {
	local link sent

	trains_up
	exchange v4 -o "$1" -n 128 -r 4 -s "$2" -x
	for link in frdma0 frdma1; do
		sent=$(counter $link tx_trains)
		note "$link: $sent trains"
		[ "$sent" -ge 16 ] || fail "$link: $sent trains"
	done
	nothing_was_lost
}

# Trains may ask for 64 packets in all, here for 60. Both processors have some, and
# a step may answer four: whatever it took more would be lost in part.
trains_of_longer_reads() {
	local READS=128

	trains_up
	exchange v4 -o r -n 512 -r 12 -s 20000 -x
	[ "$(counter frdma0 tx_trains)" -gt 0 ]
	nothing_was_lost
}

long_and_short_reads() {
	trains_up
	exchange v4 -o r -n 128 -r 8 -s 100000
	exchange v4 -o rrrrrrwcf -n 128 -r 8 -s 2000
	nothing_was_lost
}

ktap_test every_operation
ktap_test both_ways r 500
ktap_test both_ways r 4000
ktap_test both_ways f 8
ktap_test both_ways c 8
ktap_test trains_of_longer_reads
ktap_test long_and_short_reads
ktap_end
