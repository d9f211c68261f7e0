#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Regions whose memory is not pinned, and takes its time to come: late.c, one
# process for each case.
#
# roots: trixie
# named: sid
# mem: 6G
# hugepages: 8
# cmdline: memmap=64M!768M
# timeout: 600

. "${0%/*}/../lib/frdma.sh"

late() {
	with_gid v4 verbs/late "$1" |
		tee "$KTAP_TMP/said"
	note "$(cat "$KTAP_TMP/said")"
}

modprobe fuse
links_up
for case in late_pages_are_waited_for lost_pages_are_waited_for \
	asking_does_not_wait_for_pages waiting_keeps_nothing; do
	ktap_test late $case
done
ktap_end
