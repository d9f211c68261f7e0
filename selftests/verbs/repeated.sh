#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# READs that are asked for again when their memory has gone: repeated.c, one process
# for each case.
#
# guests: 1
# named: bookworm sid

. "${0%/*}/../lib/frdma.sh"
. "${0%/*}/../lib/ends.sh"

# Arguments: CASE
repeated() {
	local near far

	need_modules sch_netem
	modprobe sch_netem
	ends_up
	near=$(gid_index frdma0 v4)
	far=$(gid_index frdma1 v4)
	"$PROGRAMS/verbs/repeated" frdma0 "$near" frdma1 "$far" "$1" \
		>"$KTAP_TMP/said" ||
		fail "$(<"$KTAP_TMP/said")"
	note "$(paste -sd ';' "$KTAP_TMP/said")"
}

modprobe fuse
ktap_test repeated is_half_there
ktap_test repeated is_gone_for_good
ktap_test repeated is_not_wanted
ktap_test repeated is_half_unwanted
ktap_test repeated is_behind_an_atomic
ktap_test repeated is_behind_a_write
ktap_test repeated is_half_gone
ktap_test repeated is_in_front_of_a_write
ktap_test repeated is_in_front_of_another
ktap_end
