#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Completion timestamps and the clock of the device agree, also for a process in
# a time namespace: clock.c.
#
# roots: trixie bookworm sid

. "${0%/*}/../lib/frdma.sh"

agree() {
	local gid

	gid=$(gid_index frdma0 v4)
	"$@" "$PROGRAMS/verbs/clock" frdma0 "$gid"
}

links_up
ktap_test agree
ktap_test agree unshare --time --monotonic 1000000
ktap_test agree unshare --time --monotonic -10
ktap_end
