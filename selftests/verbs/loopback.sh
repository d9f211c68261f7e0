#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Peers on one device, without packets between them and with: loopback.c, and
# checked traffic of all kinds.

. "${0%/*}/../lib/frdma.sh"
. "${0%/*}/../lib/ends.sh"

ATTRIBUTE=/sys/class/infiniband/frdma0/loopback

# Notes how many packets there were, sent and spared.
look() {
	sent=$(counter frdma0 tx_packets)
	spared=$(counter frdma0 loopback_packets)
}

# Since look() packets were only sent ("0"), or only spared ("1").
were_only() {
	local spares=$1 sent_before=$sent spared_before=$spared

	look
	note "sent $((sent - sent_before)), spared $((spared - spared_before))"
	if [ "$spares" = 1 ]; then
		[ "$sent" = "$sent_before" ] && [ "$spared" -gt "$spared_before" ]
	else
		[ "$sent" -gt "$sent_before" ] && [ "$spared" = "$spared_before" ]
	fi || fail "loopback is $spares, and there were both, or none"
}

it_is_on_and_takes_no_nonsense() {
	begins_as_usual loopback
	[ "$(<$ATTRIBUTE)" = 1 ]
	refuse "Invalid argument" bash -c "echo maybe >$ATTRIBUTE"
	[ "$(<$ATTRIBUTE)" = 1 ]
}

alike() {
	local spares=$1 case=$2

	echo "$spares" >$ATTRIBUTE
	defer bash -c "echo 1 >$ATTRIBUTE"
	look
	with_gid v4 verbs/loopback "$case"
	case $case in
	nobody_answers|peer_is_modified|too_many_pieces) ;;
	*)		were_only "$spares" ;;
	esac
}

flows_of() {
	look
	flow "$1" frdma0 frdma0 -k rc,xrc,uc -s 16384
	flow_is_well
	were_only 1
}

# While both ways are taken in turn, nothing is lost, and nothing comes twice.
switched_in_traffic() {
	local i

	look
	flow v4 frdma0 frdma0 -k rc,xrc -s 16384
	for ((i = 0; i < 20; i++)); do
		echo $((i % 2)) >$ATTRIBUTE
		sleep 0.2
	done
	flow_is_well
	[ "$(counter frdma0 tx_packets)" -gt "$sent" ]
	[ "$(counter frdma0 loopback_packets)" -gt "$spared" ]
}

# Another process has an on-demand region.
memory_of_others_is_not_asked_for() {
	local gid

	gid=$(gid_index frdma0 v4)
	"$PROGRAMS/verbs/odp" frdma0 "$gid" holds_a_region >"$KTAP_TMP/holder" &
	defer kill $!
	await 20 grep -q holds "$KTAP_TMP/holder"
	alike 1 bytes_arrive
}

# Without its address the host would not take its packets either.
ends_with_the_address() {
	local gid

	defer bash -c "ip address delete 10.77.9.1/24 dev eth0 || true"
	ip address add 10.77.9.1/24 dev eth0
	await 10 ping -c 1 -W 1 10.77.9.1
	await 10 has_gid 0a4d:0901
	gid=$(gid_of 0a4d:0901)
	"$PROGRAMS/lib/flow/flow" frdma0 "$gid" frdma0 "$gid" >"$FLOW_OUT" 2>&1 &
	# shellcheck disable=SC2034 # flow_is_well uses it
	FLOW=$!
	await 20 grep -q flows "$FLOW_OUT"

	ip address delete 10.77.9.1/24 dev eth0
	await 10 spares_nothing
	ip address add 10.77.9.1/24 dev eth0
	flow_is_well
}

# What is counted is looked at again by the core every now and then.
spares_nothing() {
	look
	sleep 1
	[ "$(counter frdma0 loopback_packets)" = "$spared" ]
}

# The index of the GID of an IPv4 address, in hexadecimal.
gid_of() {
	grep -l "ffff:$1" /sys/class/infiniband/frdma0/ports/1/gids/* \
		2>/dev/null | sed 's/.*\///'
}

has_gid() {
	[ -n "$(gid_of "$1")" ]
}

links_up
ktap_test it_is_on_and_takes_no_nonsense
for spares in 1 0; do
	for case in bytes_arrive inline_bytes_arrive atomics_count \
		reads_stay_in_order errors_are_told receiver_not_ready \
		nobody_answers to_itself both_ways peer_is_modified \
		too_many_pieces; do
		ktap_test alike $spares $case
	done
done
for family in v4 v6; do
	ktap_test flows_of $family
done
ktap_test switched_in_traffic
ktap_test memory_of_others_is_not_asked_for
ktap_test ends_with_the_address
ktap_end
