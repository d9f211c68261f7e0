#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# What a device says that there may be at most: it is not less than rdma_rxe
# says, and true.

. "${0%/*}/../lib/frdma.sh"
. "${0%/*}/../lib/traffic.sh"

# What rxe says and we do not (Documentation/limits.md).
EXCEPTIONS='max_mr_size|max_pkeys|gid_tbl_len'

# Prints the names of what DEV's is smaller, with both values.
smaller() {
	join <(sort "$KTAP_TMP/frdma") <(sort "$KTAP_TMP/rxe") |
		awk '$2 < $3 { print $1, "is", $2 ", of rxe", $3 }'
}

not_below_rxe() {
	local less

	need_modules rdma_rxe
	rxe_up 1
	"$PROGRAMS/verbs/limits" rxe0 >"$KTAP_TMP/rxe"
	rxe_down 1
	frdma_up 1
	"$PROGRAMS/verbs/limits" frdma0 >"$KTAP_TMP/frdma"
	less=$(smaller | grep -vwE "$EXCEPTIONS") || true
	[ -z "$less" ] || fail "$less"
	note "$(wc -l <"$KTAP_TMP/frdma") maxima"
}

reach() {
	frdma_up 1
	say_notes with_gid v4 verbs/reach "$1"
}

# How many GIDs there are.
gids() {
	cat /sys/class/infiniband/frdma0/ports/1/gids/* |
		grep -c '[1-9a-f]' || true
}

has_gids() {
	[ "$(gids)" = "$1" ]
}

# More addresses than there can be GIDs: the last one is what its index says.
every_gid_has_an_index() {
	local host

	frdma_up 1
	defer ip address flush dev eth0 to 10.99.0.0/16
	for host in {1..300}; do
		echo "address add 10.99.$((host / 250)).$((host % 250 + 1))/16 dev eth0"
	done | ip -batch -
	await 60 has_gids 256
	"$PROGRAMS/verbs/windows" frdma0 255 type_2_counts_from_zero
}

# The kernel has copies of a part of a long queue.
deep_queue() {
	local gid

	frdma_up 1
	gid=$(gid_index frdma0 v4)
	"$PROGRAMS/verbs/deep" frdma0 "$gid" >"$KTAP_TMP/said" ||
		fail "$(<"$KTAP_TMP/said")"
	note "$(<"$KTAP_TMP/said")"
}

# Each ring is a mapping of the process. Arguments: PROGRAM [KIND]
mappings_end() {
	local program=$1 gid

	shift
	frdma_up 1
	gid=$(gid_index frdma0 v4)
	defer sysctl -q -w "vm.max_map_count=$(sysctl -n vm.max_map_count)"
	sysctl -q -w vm.max_map_count=400
	"$PROGRAMS/verbs/$program" frdma0 "$gid" "$@" 2000 fill \
		>"$KTAP_TMP/said" || fail "$(<"$KTAP_TMP/said")"
	note "$(head -n 2 "$KTAP_TMP/said" | tr '\n' ' ')"
}

ktap_test not_below_rxe
ktap_test reach small
ktap_test every_gid_has_an_index
ktap_test deep_queue
ktap_test mappings_end many
ktap_test mappings_end objects cq
ktap_test mappings_end objects srq
ktap_end
