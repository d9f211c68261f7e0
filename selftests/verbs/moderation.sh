#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Events that wait for more completions: moderation.c, one process for each
# case.

. "${0%/*}/../lib/frdma.sh"
. "${0%/*}/../lib/traffic.sh"

moderation() {
	with_gid v4 verbs/moderation "$1"
}

links_up
for case in device_says_so waits_for_a_count waits_for_a_period \
	at_once_without_both errors_do_not_wait \
	what_waits_is_let_go_by_a_change destroyed_while_it_waits; do
	ktap_test moderation $case
done
ktap_end
