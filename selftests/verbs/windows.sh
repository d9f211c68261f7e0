#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Memory windows: windows.c, one process for each case, and what pyverbs has of
# them.

. "${0%/*}/../lib/frdma.sh"
. "${0%/*}/../lib/traffic.sh"

windows() {
	with_gid v4 verbs/windows "$1"
}

links_up
for case in device_says_so type_1_shows_a_part \
	read_and_atomic_through_a_window type_1_has_a_new_key_each_time \
	type_1_is_not_invalidated type_2_is_for_one_queue_pair \
	type_2_local_invalidation type_2_remote_invalidation \
	type_2_counts_from_zero bind_refuses region_stays_while_it_is_shown \
	region_that_did_not_change_is_open \
	end_of_a_queue_pair_unbinds end_of_a_queue_pair_spares_others \
	deallocation_unbinds no_local_key rebound_under_fire builder; do
	ktap_test windows $case
done
ktap_test pyverbs_of 7 MWTest
ktap_end
