#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# States of queue pairs that are seldom visited, and what queries say:
# states.c, one process for each case.

. "${0%/*}/../lib/frdma.sh"
. "${0%/*}/../lib/traffic.sh"

states() {
	with_gid v4 verbs/states "$1"
}

# By packets, not by the shortcut within a device.
on_the_wire() {
	local loopback=/sys/class/infiniband/frdma0/loopback

	defer bash -c "echo 1 >$loopback"
	echo 0 >$loopback
	states "$1"
}

links_up
for case in sqd_begins_nothing sqd_begins_no_datagram sqd_changes_reads \
	sqe_and_back no_sqe_of_a_connection queries_tell_all reset_forgets; do
	ktap_test states $case
done
for case in reset_takes_another_way reset_takes_another_peer \
	drained_takes_another_way; do
	ktap_test on_the_wire $case
done
ktap_end
