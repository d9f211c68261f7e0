#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Verbs with values, states, keys and pointers that are wrong: each is refused
# as the specification says, and leaves nothing behind. verbs.c, one process
# for each case.
#
# guests: 1
# timeout: 400

. "${0%/*}/../lib/frdma.sh"
. "${0%/*}/../lib/ends.sh"
. "${0%/*}/../lib/memory.sh"

verbs() {
	leaves_no_object say_notes with_gid v4 hostile/verbs "$1"
}

links_up
for case in qp_beyond_limits what_is_used_stays modify_refuses_values \
	modify_refuses_transitions post_refuses sources_that_are_wrong \
	targets_that_are_wrong atomics_that_are_wrong receives_that_are_wrong \
	answers_that_cannot_be_written requests_of_the_future \
	numbers_tell_nothing; do
	ktap_test verbs $case
done
ktap_end
