#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A process that scribbles over its rings breaks its own queue pairs and
# nothing else: others on the same links go on, and it leaves nothing behind.
# FULL=1 for minutes of it, FRDMA_SEED for what another run has scribbled.
#
# guests: 1
# timeout: 600

. "${0%/*}/../lib/frdma.sh"
. "${0%/*}/../lib/ends.sh"

scribbles() {
	local before

	ends_up
	before=$(rdma resource show)
	"$PROGRAMS/hostile/ring" frdma0 "$(gid_index frdma0 v4)" "$@"
	[ "$(rdma resource show)" = "$before" ] ||
		fail "before: $before; after: $(rdma resource show)"
}

bystanders_go_on() {
	local gid seed=${FRDMA_SEED:-$RANDOM}

	note "FRDMA_SEED=$seed"
	ends_up
	gid=$(gid_index frdma0 v4)
	flow v4 frdma0 frdma1
	"$PROGRAMS/hostile/ring" frdma0 "$gid" random_nonsense "$1" "$seed" \
		>"$KTAP_TMP/said" 2>&1 || fail "ring: $(<"$KTAP_TMP/said")"
	flow_is_well
	note "$(<"$KTAP_TMP/said")"
	pingpong v4 -n 20
}

ktap_test scribbles send_index_goes_back
ktap_test scribbles send_index_jumps
ktap_test scribbles mapping_outlives_queue
KTAP_LIMIT=400 ktap_test bystanders_go_on ${FULL:+30}10
ktap_end
