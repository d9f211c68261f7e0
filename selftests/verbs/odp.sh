#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Regions whose memory is not pinned: odp.c, one process for each case, and
# what pyverbs has of them.
#
# roots: trixie
# named: sid
# mem: 6G
# hugepages: 8
# cmdline: memmap=64M!768M
# timeout: 900

. "${0%/*}/../lib/frdma.sh"
. "${0%/*}/../lib/traffic.sh"

odp() {
	with_gid v4 verbs/odp "$1" |
		tee "$KTAP_TMP/said"
	[ ! -s "$KTAP_TMP/said" ] || note "$(cat "$KTAP_TMP/said")"
	! grep -q '^no secret memory' "$KTAP_TMP/said" ||
		skip "this kernel has no secret memory"
}

# In a control group of its own.
paid_for() {
	local group=/sys/fs/cgroup/odp

	if ! mountpoint -q /sys/fs/cgroup; then
		mount -t cgroup2 cgroup2 /sys/fs/cgroup
		defer umount /sys/fs/cgroup
	fi
	echo +memory >/sys/fs/cgroup/cgroup.subtree_control
	mkdir $group
	defer rmdir $group
	(echo "$BASHPID" >$group/cgroup.procs && odp table_is_paid_for)
}

# Who comes again each moment keeps the processor from who brings the pages: it
# was 5,000 times on the debug kernel, which took 15 s.
absent_pages_are_seldom_asked_for() {
	local before naks

	before=$(counter frdma0 sent_rnr_naks)
	odp write_finds_nothing_there
	naks=$(($(counter frdma0 sent_rnr_naks) - before))
	note "RNR NAKs: $naks"
	[ "$naks" -gt 0 ] && [ "$naks" -lt 500 ]
}

links_up
for case in device_says_so refuses write_finds_nothing_there \
	read_finds_nothing_there send_finds_nothing_there \
	atomic_finds_nothing_there atomic_write_finds_nothing_there \
	pages_go_and_come worthless_is_kept read_page_is_not_written \
	child_keeps_what_it_had \
	protection_holds holes_are_errors implicit_is_everything prefetched_is_there \
	prefetch_refuses restless nobody_waits_any_more dies_waiting \
	unreliable_sends secret_is_refused atomic_write_only_reads \
	failure_is_forgotten losing_lets_others_run; do
	ktap_test odp $case
done
ktap_test absent_pages_are_seldom_asked_for
ktap_test paid_for
ktap_test pyverbs_of 17 OdpTestCase
ktap_end
