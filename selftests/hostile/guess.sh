#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Numbers that peers see (of queue pairs, in keys, source ports) do not tell the
# next one, and are others after each load of the module: guess.c.
#
# named: bookworm sid

. "${0%/*}/../lib/frdma.sh"
. "${0%/*}/../lib/conformance.sh"
. "${0%/*}/../lib/peer.sh"

not_guessed() {
	with_gid v4 hostile/guess "$1" \
		>"$KTAP_TMP/said" || fail "$(<"$KTAP_TMP/said")"
	note "$(tail -n 1 "$KTAP_TMP/said")"
}

# A hundred numbers of each of two lives have next to none in common.
other_numbers_in_another_life() {
	local life gid

	for life in 1 2; do
		rdma link delete frdma0
		modprobe -r frdma
		modprobe frdma
		rdma link add frdma0 type frdma netdev conf0
		await 20 grep -q ACTIVE /sys/class/infiniband/frdma0/ports/1/state
		gid=$(gid_index frdma0 v4)
		"$PROGRAMS/hostile/guess" frdma0 "$gid" print_numbers |
			sort >"$KTAP_TMP/life$life"
	done
	[ "$(wc -l <"$KTAP_TMP/life1")" = 100 ]
	[ "$(comm -12 "$KTAP_TMP"/life[12] | wc -l)" -le 2 ] ||
		fail "the same numbers come again"
}

chmod 755 "$KTAP_TMP"
conformance_up frdma frdma
for case in queue_pairs queue_pairs_one_by_one regions windows; do
	ktap_test not_guessed $case
done
ktap_test peer_plays peer v4 source_ports
ktap_test other_numbers_in_another_life
ktap_end
