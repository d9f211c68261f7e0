#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Regions whose memory is not pinned: odp.c, one process for each case, and
# what pyverbs has of them.
#
# roots: trixie
# named: sid
# hugepages: 8
# timeout: 900

. "${0%/*}/../lib/frdma.sh"
. "${0%/*}/../lib/traffic.sh"

odp() {
	"$PROGRAMS/odp" frdma0 "$(gid_index frdma0 v4)" "$1" |
		tee "$KTAP_TMP/said"
	[ ! -s "$KTAP_TMP/said" ] || note "$(cat "$KTAP_TMP/said")"
}

# All but the one of XRC.
pyverbs() {
	local gid

	gid=$(gid_index frdma0 v4)
	[ -e /usr/src/rdma-core/tests/run_tests.py ] ||
		skip "the source of rdma-core is not here"
	python3 -c 'from pyverbs.mem_alloc import madvise' 2>&1 ||
		skip "the tests are newer than the installed pyverbs"
	cd /usr/src/rdma-core || fail "no way in"
	python3 -B tests/run_tests.py -v --dev frdma0 --port 1 --gid "$gid" \
		-k OdpTestCase 2>&1 | tee "$KTAP_TMP/pyverbs"
	[ "$(grep -c ' ok$' "$KTAP_TMP/pyverbs")" -ge 16 ] ||
		fail "not all passed"
}

compile odp
links_up
for case in device_says_so refuses write_finds_nothing_there \
	read_finds_nothing_there send_finds_nothing_there \
	atomic_finds_nothing_there atomic_write_finds_nothing_there \
	pages_go_and_come read_page_is_not_written child_keeps_what_it_had \
	protection_holds holes_are_errors implicit_is_everything prefetched_is_there \
	prefetch_refuses restless nobody_waits_any_more dies_waiting \
	unreliable_sends; do
	ktap_test odp $case
done
ktap_test pyverbs
ktap_end
