#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# What a device says that there may be at most: it is not less than rdma_rxe
# says, and true.

. "${0%/*}/../lib/frdma.sh"
. "${0%/*}/../lib/traffic.sh"

# What rxe says and we do not (Documentation/limits.md).
EXCEPTIONS='max_mr_size|max_pkeys'

# Prints the names of what DEV's is smaller, with both values.
smaller() {
	join <(sort "$KTAP_TMP/frdma") <(sort "$KTAP_TMP/rxe") |
		awk '$2 < $3 { print $1, "is", $2 ", of rxe", $3 }'
}

not_below_rxe() {
	local less

	modprobe -n rdma_rxe || skip "this kernel has no rdma_rxe"
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
	note "$("$PROGRAMS/verbs/reach" frdma0 "$(gid_index frdma0 v4)" "$1")"
}

ktap_test not_below_rxe
ktap_test reach small
ktap_end
