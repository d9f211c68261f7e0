#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Queue pairs of each type, made, moved and posted to as they should not be,
# and with memory that is not theirs: types.c. Others go on meanwhile.
#
# guests: 1
# timeout: 600

. "${0%/*}/../lib/frdma.sh"

types() {
	leaves_no_object with_gid v4 hostile/types "$1"
}

links_up
for case in beyond_limits wrong_parents wrong_transitions wrong_attributes \
	posts_in_wrong_states wrong_opcodes sources_that_are_wrong \
	receives_that_are_wrong address_handles_that_are_wrong; do
	ktap_test types $case
done
ktap_end
