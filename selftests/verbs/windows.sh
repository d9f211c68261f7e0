#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Memory windows: windows.c, one process for each case, and what pyverbs has of
# them.

. "${0%/*}/../lib/frdma.sh"
. "${0%/*}/../lib/traffic.sh"

windows() {
	"$PROGRAMS/windows" frdma0 "$(gid_index frdma0 v4)" "$1"
}

# All seven of them: one that is skipped has not passed.
pyverbs() {
	local gid ok

	gid=$(gid_index frdma0 v4)
	[ -e /usr/src/rdma-core/tests/run_tests.py ] ||
		skip "the source of rdma-core is not here"
	cd /usr/src/rdma-core || fail "no way in"
	python3 -B tests/run_tests.py -v --dev frdma0 --port 1 --gid "$gid" \
		-k MWTest 2>&1 | tee "$KTAP_TMP/pyverbs"
	ok=$(grep -c ' ok$' "$KTAP_TMP/pyverbs")
	[ "$ok" = 7 ] || fail "$ok of 7 passed"
}

compile windows
links_up
for case in device_says_so type_1_shows_a_part \
	read_and_atomic_through_a_window type_1_has_a_new_key_each_time \
	type_1_is_not_invalidated type_2_is_for_one_queue_pair \
	type_2_local_invalidation type_2_remote_invalidation \
	type_2_counts_from_zero bind_refuses region_stays_while_it_is_shown \
	end_of_a_queue_pair_unbinds deallocation_unbinds no_local_key \
	rebound_under_fire builder; do
	ktap_test windows $case
done
ktap_test pyverbs
ktap_end
