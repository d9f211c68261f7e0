#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Memory regions, rings, completion queues and address handles, used as they
# should be and as they should not: memory.c, one process for each case.
#
# mem: 6G
# hugepages: 8
# cmdline: memmap=64M!768M
# timeout: 600

. "${0%/*}/../lib/frdma.sh"

memory() {
	"$PROGRAMS/verbs/memory" frdma0 "$gid" "$1"
}

# Anonymous memory of 4 GiB takes an emulated machine a while to touch.
memory_of_4_gib() {
	memory mr_of_4_gib_reaches_its_far_end | tee "$KTAP_TMP/out"
	note "$(cat "$KTAP_TMP/out")"
}

links_up
gid=$(gid_index frdma0 v4)

for case in mr_refuses mr_takes_optional_flags mr_of_any_length_and_alignment \
	mr_carries_data_at_any_address mr_guards \
	mr_is_gone_once_deregistered \
	mr_rereg_changes_what_it_says cq_refuses cq_of_the_largest_size \
	cq_resize_keeps_completions cq_events_on_each_vector \
	cq_forgets_a_queue_pair ring_scribbled_over ring_maps_only_as_it_is \
	ah_refuses; do
	ktap_test memory $case
done
KTAP_LIMIT=280 ktap_test memory_of_4_gib
ktap_test memory unplug
ktap_end
