#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Gathering (attribute gather_us): who posts one by one, without waiting, need not
# ring for each, and nothing is lost when he has to again; who waits for each is
# not made to wait: gather.c, one process for each case. FULL=1 for more moments.
#
# roots: trixie bookworm sid
# timeout: 600

. "${0%/*}/../lib/frdma.sh"

ATTRIBUTE=/sys/class/infiniband/frdma0/gather_us

attribute() {
	local value

	begins_as_usual gather_us
	[ "$(<$ATTRIBUTE)" = 16 ]
	for value in -1 0x10 1001 4294967297 99999999999999999999 1.5 1s x ''; do
		refuse "Invalid argument" bash -c "echo '$value' >$ATTRIBUTE"
		[ "$(<$ATTRIBUTE)" = 16 ]
	done
	for value in 0 1 1000 16; do
		echo $value >$ATTRIBUTE
		[ "$(<$ATTRIBUTE)" = $value ]
	done
}

# Arguments: CASE [LOOPBACK]
gather() {
	defer bash -c "echo 16 >$ATTRIBUTE; echo 0 >${ATTRIBUTE%/*}/poll_us
		echo 1 >${ATTRIBUTE%/*}/loopback"
	echo "${2:-1}" >${ATTRIBUTE%/*}/loopback
	leaves_no_object run_case gather "$1"
}

# The poller has no processor left when two are taken.
last_words_unseen() {
	[ "$(nproc)" = 2 ] || skip "$(nproc) processors, not two"
	gather last_words_unseen "$1"
}

# Leaves $SENDER.
sender_starts() {
	local gid

	gid=$(gid_index frdma0 v4)
	: >"$KTAP_TMP/said"
	"$PROGRAMS/verbs/gather" frdma0 "$gid" streams_for_ever \
		>"$KTAP_TMP/said" &
	SENDER=$!
	await 20 grep -q streams "$KTAP_TMP/said"
}

killed() {
	sender_starts
	kill -KILL "$SENDER"
	wait "$SENDER" || true
}

killed_while_gathered() {
	local i

	for ((i = 0; i < 5; i++)); do
		leaves_no_object killed
	done
}

link_deleted_while_gathered() {
	local i

	for i in 1 2 3; do
		sender_starts
		rdma link delete frdma0
		wait "$SENDER" || fail "$(<"$KTAP_TMP/said")"
		note "$(tail -n 1 "$KTAP_TMP/said")"
		rdma link add frdma0 type frdma netdev eth0
		[ "$(<$ATTRIBUTE)" = "$(</sys/module/frdma/parameters/gather_us)" ]
		echo 16 >$ATTRIBUTE
	done
}

links_up
ktap_test attribute
for type in rc uc ud; do
	ktap_test gather gathers_$type 1
	ktap_test gather gathers_$type 0
done
for case in who_waits_rings not_wanted real_time_rings nothing_is_lost \
	settings_change error_flushes reset_while_gathered drained_while_gathered \
	last_words_arrive destroyed_while_gathered; do
	ktap_test gather $case 1
	ktap_test gather $case 0
done
ktap_test last_words_unseen 1
ktap_test last_words_unseen 0
ktap_test killed_while_gathered
ktap_test link_deleted_while_gathered
ktap_end
