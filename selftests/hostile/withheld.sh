#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A process withholds pages that it has registered: withheld.c. Its queue
# pairs wait for the pages. The process, root and other users do not wait.
#
# guests: 1
# named: bookworm sid

. "${0%/*}/../lib/frdma.sh"

withheld() {
	with_gid v4 hostile/withheld "$1"
}

# Starts a case that waits to be killed. Sets "pid", of which the file system is
# a child that lives on.
withheld_starts() {
	# Of the one before, which is read until the new one has opened its own.
	rm -f "$KTAP_TMP/withheld"
	withheld "$1" >"$KTAP_TMP/withheld" 2>&1 &
	await 60 grep -q waits "$KTAP_TMP/withheld"
	pid=$(pgrep -o -f "hostile/withheld frdma0")
}

process_is_gone() {
	[ ! -e "/proc/$pid" ]
}

# The one for pages, on both sides; its peer is told so, asks again, and is told.
both_wait() {
	rdma -dd -j resource show qp | jq -e '
		[.[] | select(.comm == "withheld") |
			[.drv_waits_for, .drv_rq_waits_for_pages]] | sort ==
		[["pages",1],["receiver",0]]' >/dev/null
}

# The process maps memory, and root runs ps. Arguments: CASE
address_space_is_free() {
	local pid

	withheld_starts "$1"
	await 5 grep -q mapped "$KTAP_TMP/withheld"
	within 5 ps aux >"$KTAP_TMP/ps"
	grep -q "hostile/withheld frdma0" "$KTAP_TMP/ps"
	kill -KILL "$pid"
	await 5 process_is_gone
}

what_it_waits_for_is_shown() {
	local pid

	withheld_starts is_killed
	await 5 both_wait
	kill -KILL "$pid"
	await 5 process_is_gone
}

its_process_is_killed() {
	local pid

	withheld_starts is_killed
	kill -KILL "$pid"
	await 5 process_is_gone
}

its_link_is_deleted() {
	local pid

	withheld_starts is_killed
	within 5 rdma link delete frdma0
	kill -KILL "$pid"
	await 5 process_is_gone
	links_up
}

advise_is_killed() {
	local pid

	withheld_starts advise_is_killed
	sleep 1
	kill -KILL "$pid"
	await 5 process_is_gone
}

advise_link_deleted() {
	local pid

	# The test before this one, if it ran, has left none.
	links_down
	links_up
	withheld_starts advise_is_told
	sleep 1
	within 5 rdma link delete frdma0
	await 5 grep -q told "$KTAP_TMP/withheld"
	kill -KILL "$pid"
	await 5 process_is_gone
}

# Arguments: CASE that has many wait
others_get_their_pages() {
	local gid pid

	gid=$(gid_index frdma0 v4)
	withheld_starts "$1"
	within 20 "$PROGRAMS/verbs/odp" frdma0 "$gid" write_finds_nothing_there
	kill -KILL "$pid"
	await 10 process_is_gone
}

modprobe fuse
links_up
ktap_test withheld is_reset
ktap_test withheld is_reset_and_sends
ktap_test withheld is_destroyed
ktap_test withheld failure_is_told
ktap_test address_space_is_free maps_while_waiting
ktap_test address_space_is_free maps_after_failures
ktap_test withheld one_more_waits
ktap_test withheld more_wait_for_ever
ktap_test withheld more_are_waited_for
ktap_test withheld half_is_read
ktap_test what_it_waits_for_is_shown
ktap_test its_process_is_killed
ktap_test others_get_their_pages keeps_many_waiting
ktap_test others_get_their_pages many_users_of_one
ktap_test others_get_their_pages many_users
ktap_test others_get_their_pages container
ktap_test advise_is_killed
ktap_test its_link_is_deleted
ktap_test advise_link_deleted
ktap_end
