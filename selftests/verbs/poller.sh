#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The poller (attribute poll_us): what is posted to a queue that it watches is
# sent without a doorbell, and nothing is lost when it stops watching:
# poller.c, one process for each case. FULL=1 for more of these moments.
#
# roots: trixie bookworm sid
# timeout: 600

. "${0%/*}/../lib/frdma.sh"
. "${0%/*}/../lib/ends.sh"

ATTRIBUTE=/sys/class/infiniband/frdma0/poll_us

# The poller of link NAME (frdma0).
poller_of() {
	pgrep -x "${1:-frdma0}-poller"
}

# shellcheck disable=SC2120 # what await is given
no_poller() {
	finds_nothing poller_of "$@"
}

# Microseconds for which process $1 has run. Clock ticks are sampled: a poller that
# runs for less than one may have none.
run_us_of() {
	local ns _

	read -r ns _ <"/proc/$1/schedstat"
	echo $((ns / 1000))
}

attribute() {
	local value

	begins_as_usual poll_us
	[ "$(<$ATTRIBUTE)" = 0 ]
	no_poller
	for value in -1 0x10 10000001 4294967296 99999999999999999999 1.5 1s x ''; do
		refuse "Invalid argument" bash -c "echo '$value' >$ATTRIBUTE"
		[ "$(<$ATTRIBUTE)" = 0 ]
		no_poller
	done
	for value in 1 10000000 50; do
		echo $value >$ATTRIBUTE
		[ "$(<$ATTRIBUTE)" = $value ]
		[ "$(poller_of | wc -l)" = 1 ]
	done
	refuse "Invalid argument" bash -c "echo 10000001 >$ATTRIBUTE"
	[ "$(<$ATTRIBUTE)" = 50 ]
	echo 0 >$ATTRIBUTE
	[ "$(<$ATTRIBUTE)" = 0 ]
	await 10 no_poller
}

# Where nothing is watched it does not run: neither before nor after.
sleeps() {
	local pid before ran what

	defer bash -c "echo 0 >$ATTRIBUTE"
	echo 1000 >$ATTRIBUTE
	pid=$(poller_of)
	for what in new used; do
		[ $what = new ] || with_gid v4 verbs/poller no_doorbell_rc
		before=$(run_us_of "$pid")
		sleep 2
		ran=$(($(run_us_of "$pid") - before))
		note "$what: $ran us in 2 s"
		[ $ran -le 20000 ]
	done
	[ "$(poller_of)" = "$pid" ]
	# Whoever never ran would pass, too.
	ran=$(run_us_of "$pid")
	note "all in all: $ran us"
	[ "$ran" -gt 0 ]
}

poller_case() {
	run_case poller "$1"
	! grep -q '^no processor' "$KTAP_TMP/said" ||
		skip "the poller had no processor of its own"
}

# Arguments: CASE [LOOPBACK]
poller() {
	# What kills the test if it calls the kernel.
	[ "$1" != no_system_call ] || grep -q '^Seccomp:' /proc/self/status ||
		skip "this kernel has no seccomp"
	defer bash -c "echo 0 >$ATTRIBUTE; echo 1 >${ATTRIBUTE%/*}/loopback;
		echo 16 >${ATTRIBUTE%/*}/gather_us"
	echo "${2:-1}" >${ATTRIBUTE%/*}/loopback
	# That one sets the flag, too: verbs/gather.
	echo 0 >${ATTRIBUTE%/*}/gather_us
	leaves_no_object poller_case "$1"
}

# A process that writes over all of its rings while they are watched; others go
# on.
nonsense() {
	local gid

	ends_up
	gid=$(gid_index frdma0 v4)
	echo "$1" >$ATTRIBUTE
	seed_random
	flow v4 frdma0 frdma1
	"$PROGRAMS/hostile/ring" frdma0 "$gid" random_nonsense 6 "$SEED" \
		>"$KTAP_TMP/said" || fail "$(<"$KTAP_TMP/said")"
	flow_is_well
	note "$(<"$KTAP_TMP/said")"
}

# All transports, XRC too, with the queues watched now and then.
all_kinds() {
	ends_up
	echo 2000 >$ATTRIBUTE
	in_far bash -c "echo 300 >/sys/class/infiniband/frdma1/poll_us"
	flow v4 frdma0 frdma1 -k rc,xrc,uc,ud,multicast -s 4096
	sleep 5
	flow_is_well
	note "$(run_us_of "$(poller_of)") us"
	[ "$(run_us_of "$(poller_of)")" -gt 0 ]
}

# Leaves $SENDER.
sender_starts() {
	local gid

	gid=$(gid_index frdma0 v4)
	# What another one has said is not to be taken for its own.
	: >"$KTAP_TMP/said"
	"$PROGRAMS/verbs/poller" frdma0 "$gid" sends_for_ever \
		>"$KTAP_TMP/said" &
	SENDER=$!
	await 20 grep -q sends "$KTAP_TMP/said"
	poller_of
}

killed() {
	sender_starts
	kill -KILL "$SENDER"
	wait "$SENDER" || true
}

killed_while_watched() {
	local i

	defer bash -c "echo 0 >$ATTRIBUTE"
	for ((i = 0; i < 5; i++)); do
		leaves_no_object killed
	done
	poller_of
	poller no_doorbell_rc
}

sender_ends() {
	wait "$SENDER" || fail "$(<"$KTAP_TMP/said")"
	note "$(tail -n 1 "$KTAP_TMP/said")"
	await 10 no_poller
}

link_deleted_while_watched() {
	local i

	for i in 1 2 3; do
		sender_starts
		rdma link delete frdma0
		sender_ends
		rdma link add frdma0 type frdma netdev eth0
		[ "$(<$ATTRIBUTE)" = 0 ]
	done
}

# Argument: what makes the link go.
interface_goes_while_watched() {
	ends_up
	sender_starts
	in_far bash -c "echo 1000 >/sys/class/infiniband/frdma1/poll_us"
	poller_of frdma1
	"$@"
	await 20 gone frdma0
	await 20 gone frdma1
	sender_ends
	await 10 no_poller frdma1
}

module_goes() {
	ends_up
	echo 1000 >$ATTRIBUTE
	poller_of
	modprobe -r frdma
	await 10 no_poller
}

links_up
ktap_test attribute
ktap_test sleeps
for type in rc uc ud; do
	ktap_test poller no_doorbell_$type 1
	ktap_test poller no_doorbell_$type 0
done
for case in no_system_call flag_falls nothing_is_lost \
	nothing_is_lost_of_several several_queues more_than_are_watched pages_on_demand \
	destroyed_while_watched error_flushes reset_while_watched \
	setting_changes own_flag rings_all_the_same; do
	ktap_test poller $case
done
ktap_test killed_while_watched
ktap_test link_deleted_while_watched
links_down
ktap_test nonsense 100
ktap_test nonsense 10000000
ktap_test all_kinds
ktap_test interface_goes_while_watched ip link delete va
ktap_test interface_goes_while_watched ip netns delete far
ktap_test module_goes
ktap_end
