#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A process that scribbles over its rings breaks its own queue pairs and
# nothing else: others on the same links go on, and it leaves nothing behind.
# Its queue pairs are spared packets to each other, then not. FULL=1 for minutes
# of it, FRDMA_SEED for what another run has scribbled.
#
# guests: 1
# timeout: 900

. "${0%/*}/../lib/frdma.sh"
. "${0%/*}/../lib/ends.sh"

# Peers on frdma0 are spared packets (1), or not (0).
spares() {
	echo "$1" >/sys/class/infiniband/frdma0/loopback
	spared=$(counter frdma0 loopback_packets)
}

# Arguments: SPARES CASE
scribbles() {
	local before

	ends_up
	spares "$1"
	shift
	before=$(rdma resource show)
	with_gid v4 hostile/ring "$@"
	[ "$(rdma resource show)" = "$before" ] ||
		fail "before: $before; after: $(rdma resource show)"
}

# Arguments: SPARES SECONDS
bystanders_go_on() {
	local gid spared

	seed_random
	ends_up
	spares "$1"
	gid=$(gid_index frdma0 v4)
	flow v4 frdma0 frdma1
	"$PROGRAMS/hostile/ring" frdma0 "$gid" random_nonsense "$2" "$SEED" \
		>"$KTAP_TMP/said" 2>&1 || fail "ring: $(<"$KTAP_TMP/said")"
	flow_is_well
	note "$(<"$KTAP_TMP/said")"
	sleep 0.1
	[ $(($(counter frdma0 loopback_packets) > spared)) = "$1" ] ||
		fail "not all the same way"
	pingpong v4 -n 20
}

seconds=7
[ -z "${FULL:-}" ] || seconds=150
for spares in 1 0; do
	ktap_test scribbles $spares every_opcode
	KTAP_LIMIT=400 ktap_test bystanders_go_on $spares $seconds
done
# Nobody answers there.
for case in send_index_goes_back send_index_jumps mapping_outlives_queue; do
	ktap_test scribbles 1 $case
done
ktap_end
