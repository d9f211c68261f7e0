#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Mappings of rings and device memory, made, moved, shared and used as they
# should not be: what is not the process's own stays out of its reach, and
# nothing is left. maps.c, one process for each case.
#
# guests: 1
# named: bookworm sid

. "${0%/*}/../lib/frdma.sh"

maps() {
	leaves_no_object with_gid v4 hostile/maps "$1"
}

links_up
for case in wrong_places places_that_are_gone another_file mappings_that_grow \
	mapped_twice unmapped_in_part moved mapped_over protected advised \
	used_as_memory lent_and_outlived registered not_inherited by_a_child \
	without_a_file; do
	ktap_test maps $case
done
ktap_end
