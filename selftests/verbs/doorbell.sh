#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Posting and arming work in whoever holds the device's file, also after a
# change of user: doorbell.c, one process for each case.
#
# roots: trixie bookworm sid

. "${0%/*}/../lib/frdma.sh"
. "${0%/*}/../lib/traffic.sh"

doorbell() {
	with_gid v4 verbs/doorbell "$1"
}

links_up
for case in another_user another_user_waits_for_events \
	another_user_after_an_error another_program no_queue_pair; do
	ktap_test doorbell $case
done
ktap_end
