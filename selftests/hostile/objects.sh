#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Objects other than queue pairs, with wrong parents, rights and keys, and
# destroyed while in use: objects.c. Queue pairs of others go on meanwhile.
#
# guests: 1
# timeout: 600

. "${0%/*}/../lib/frdma.sh"

objects() {
	leaves_no_object with_gid v4 hostile/objects "$1"
}

links_up
for case in no_such_domain no_such_queue domain_in_use queues_in_use \
	queue_pair_in_a_group rights_that_do_not_go_together \
	rights_that_are_none keys_that_cannot_be_invalidated \
	keys_of_what_is_gone atomics_where_zero_is_not_aligned \
	verbs_that_there_are_not; do
	ktap_test objects $case
done
ktap_end
