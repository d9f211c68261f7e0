#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# An unprivileged user makes objects of each kind until a verb fails. The verb fails
# with ENOMEM at the user's limit. The OOM killer kills no process, another user
# works, and the memory is free again after the end of the hog.
#
# guests: 1
# timeout: 2400

. "${0%/*}/../lib/frdma.sh"

NOBODY=65534
OTHER=65533

# Sets "user" to what runs a command as user UID, without capabilities unless that
# is root. Arguments: UID
as_user() {
	user=(setpriv --reuid "$1" --regid "$1" --clear-groups --inh-caps=-all)
}

# KiB that are available.
available() {
	awk '/^MemAvailable:/ { print $2 }' /proc/meminfo
}

percent_of_memory() {
	awk -v percent="$1" '/^MemTotal:/ { print int($2 * percent / 100) }' \
		/proc/meminfo
}

parameter() {
	cat "/sys/module/frdma/parameters/$1"
}

# Until the end of the test.
set_parameter() {
	defer write_parameter "$1" "$(parameter "$1")"
	write_parameter "$1" "$2"
}

write_parameter() {
	bash -c "echo $2 >/sys/module/frdma/parameters/$1"
}

# Objects of all users take so many bytes. Arguments: BYTES
ledger_is() {
	[ "$(parameter memory_bytes)" = "$1" ]
}

# Starts CASE as user UID and awaits ENOMEM. Sets "pid". Arguments: UID CASE
hog_starts() {
	local user

	as_user "$1"
	rm -f "$KTAP_TMP/hog"
	"${user[@]}" "$PROGRAMS/hostile/hog" frdma0 "$gid" "$2" \
		>"$KTAP_TMP/hog" 2>&1 &
	pid=$!
	defer kill_hog "$pid"
	await 100 hog_has_ended_up
	grep -q '^full' "$KTAP_TMP/hog" || fail "$(<"$KTAP_TMP/hog")"
	note "$2: $(grep ', then' "$KTAP_TMP/hog"), $(parameter memory_bytes) bytes"
}

hog_has_ended_up() {
	grep -q '^full' "$KTAP_TMP/hog" || ! kill -0 "$pid" 2>/dev/null
}

kill_hog() {
	kill -KILL "$1" 2>/dev/null || true
}

nobody_was_killed() {
	unlogged "Out of memory"
	unlogged "page allocation failure"
}

# Another user makes some objects of each kind and uses them.
bystander_goes_on() {
	local kind user

	as_user $OTHER
	for kind in pd cq srq ah mw; do
		within 20 "${user[@]}" "$PROGRAMS/verbs/objects" frdma0 "$gid" \
			$kind 20 >"$KTAP_TMP/bystander"
	done
	within 20 "${user[@]}" "$PROGRAMS/verbs/many" frdma0 "$gid" 4 \
		>"$KTAP_TMP/bystander"
}

# The account is true: the kernel takes at most a quarter more. Arguments: KIB before
takes_what_is_counted() {
	local limit took

	limit=$(percent_of_memory "$(parameter user_memory_percent)")
	took=$(($1 - $(available)))
	note "$took KiB are not available any more, of $limit"
	[ "$took" -lt $((limit * 5 / 4 + 8192)) ] ||
		fail "more than his limit"
}

# Arguments: CASE PERCENT, the limit
hog_is_refused() {
	local pid before ledger

	set_parameter user_memory_percent "$2"
	before=$(available)
	ledger=$(parameter memory_bytes)
	hog_starts $NOBODY "$1"
	takes_what_is_counted "$before"
	bystander_goes_on
	nobody_was_killed
	kill_hog "$pid"
	await 120 ledger_is "$ledger"
}

# Small objects, of which there are many. Arguments: PROGRAM KIND...
objects_are_limited() {
	local program=$1 ledger user

	as_user $NOBODY
	shift
	set_parameter user_memory_percent 1
	ledger=$(parameter memory_bytes)
	"${user[@]}" "$PROGRAMS/verbs/$program" frdma0 "$gid" "$@" 100000 fill \
		>"$KTAP_TMP/said" || fail "$(<"$KTAP_TMP/said")"
	note "$(head -n 2 "$KTAP_TMP/said" | tr '\n' ' ')"
	nobody_was_killed
	await 120 ledger_is "$ledger"
}

# Half, half of the rest, half of that rest. Arguments: CASE NUMBERS
pool_is_shared() {
	local pid uid got=()

	set_parameter user_memory_percent 50
	for uid in $NOBODY $OTHER $((OTHER - 1)); do
		hog_starts "$uid" "$1"
		got+=("$(sed -n 's/, then.*//p' "$KTAP_TMP/hog")")
	done
	[ "${got[*]}" = "$2" ] || fail "${got[*]}, not $2"
}

# Users of a user namespace share the account of its maker.
namespace_is_one_user() {
	local pid user

	set_parameter user_memory_percent 3
	hog_starts $NOBODY queue_pairs
	as_user $NOBODY
	"${user[@]}" unshare --user --map-root-user \
		"$PROGRAMS/hostile/hog" frdma0 "$gid" queue_pairs \
		>"$KTAP_TMP/more" &
	defer kill_hog $!
	await 20 grep -q . "$KTAP_TMP/more"
	grep -q '^0, then Cannot allocate memory' "$KTAP_TMP/more" ||
		fail "$(<"$KTAP_TMP/more")"
}

# Root has no limit, but leaves the reserve.
reserve_is_left() {
	local pid left

	set_parameter user_memory_percent 1
	set_parameter memory_reserve_percent 40
	hog_starts 0 queue_pairs
	left=$(available)
	note "$left KiB are left"
	[ "$left" -gt "$(percent_of_memory 36)" ]
	[ "$left" -lt "$(percent_of_memory 60)" ]
	[ "$(parameter memory_bytes)" -gt $((1024 * $(percent_of_memory 5))) ]
	nobody_was_killed
}

limit_is_logged() {
	local pid

	set_parameter user_memory_percent 1
	hog_starts $NOBODY queue_pairs
	logged "user $NOBODY is refused memory for objects"
}

out_of_range_is_refused() {
	refuse "Invalid argument" write_parameter user_memory_percent 0
	refuse "Invalid argument" write_parameter user_memory_percent 101
	refuse "Invalid argument" write_parameter memory_reserve_percent 51
	refuse "Permission denied" write_parameter memory_bytes 0
}

# To the byte, it would tell a user what objects others make.
sum_is_kept_from_users() {
	local user

	as_user $NOBODY
	refuse "Permission denied" "${user[@]}" \
		cat /sys/module/frdma/parameters/memory_bytes
}

links_up
gid=$(gid_index frdma0 v4)
chmod 666 /dev/infiniband/uverbs*
ktap_test hog_is_refused queue_pairs 10
ktap_test hog_is_refused completion_queues 5
ktap_test hog_is_refused shared_queues 5
ktap_test hog_is_refused responders 2
ktap_test hog_is_refused on_demand_regions 1
ktap_test hog_is_refused tables 2
ktap_test hog_is_refused device_memory 2
ktap_test objects_are_limited many
# Ten thousand of some: these take their time. With FULL=1, all.
kinds="srq ah group"
[ -z "${FULL:-}" ] || kinds="cq srq mr mw ah pd xrcd group"
for kind in $kinds; do
	ktap_test objects_are_limited objects $kind
done
ktap_test pool_is_shared device_memory "32 16 8"
ktap_test pool_is_shared group_members "32 16 8"
ktap_test namespace_is_one_user
ktap_test reserve_is_left
ktap_test limit_is_logged
ktap_test out_of_range_is_refused
ktap_test sum_is_kept_from_users
ktap_end
