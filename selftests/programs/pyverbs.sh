#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The tests of rdma-core, which Debian ships as documentation, over GIDs of both
# families: what fails, what is skipped and why, and how rdma_rxe fares.
#
# guests: 2
# mtu: 4200
# hugepages: 16
# default: no
# timeout: 7200

. "${0%/*}/../lib/frdma.sh"
. "${0%/*}/../lib/traffic.sh"
. "${0%/*}/../lib/programs.sh"

HERE=$KTAP_TOP/selftests/programs
PAGE=$KTAP_TOP/Documentation/programs.md

# By how many tests frdma has to be ahead of rdma_rxe, if that has no on-demand paging.
LEAD=50

# How long it may take: emulated, two minutes and more.
SUITE_LIMIT=1800

# Says where the tests are now and then, while process $1 is there.
say_progress() {
	local seconds=0

	while kill -0 "$1" 2>/dev/null; do
		sleep 1
		seconds=$((seconds + 1))
		[ $((seconds % 30)) != 0 ] || note "$(wc -l <"$2") tests:" \
			"$(tail -n 1 "$2" | cut -f 2)"
	done
}

# Argument: FAMILY
pyverbs() {
	local dir=$KTAP_TMP/pyverbs record=$KTAP_TMP/record-$DEV-$1 pid
	local status=0 gid

	gid=$(gid_index "$DEV" "$1")
	[ -d "$dir" ] || {
		mkdir "$dir"
		cp -r /usr/share/doc/rdma-core/tests "$dir"
		gunzip -q "$dir"/tests/*.gz
	}
	: >"$record"
	env -C "$dir" python3 -X faulthandler "$HERE/../lib/pyverbs_run.py" \
		"$dir/tests/run_tests.py" "$record" --dev "$DEV" --gid "$gid" \
		-v >"$KTAP_TMP/said" 2>&1 &
	pid=$!
	say_progress $pid "$record"
	wait $pid || status=$?
	[ $status = 0 ] || {
		sed -n '/^====/,$p' "$KTAP_TMP/said"
		fail "status $status after $(tail -n 1 "$record")"
	}
	note "$(grep '^Ran' "$KTAP_TMP/said"), $(tail -n 1 "$KTAP_TMP/said")"
}

# Each line of a file or of standard input as a note.
note_lines() {
	local line

	while IFS= read -r line; do
		note "$line"
	done
}

# Each skip has a reason, and the reason stands in the page.
skips_have_reasons() {
	"$HERE/pyverbs_compare.py" skips "$PAGE" \
		"$KTAP_TMP"/record-frdma0-* | note_lines
}

# Fewer by those of on-demand paging that rdma_rxe passes. Argument: FAMILY
lead() {
	echo $((LEAD - $(grep -ci '^passed.*odp' "$KTAP_TMP/record-rxe0-$1" || true)))
}

compared() {
	local family

	# shellcheck disable=SC2046 # names and files
	"$HERE/pyverbs_compare.py" counts $(
		for family in v4 v6; do
			echo "frdma-$family $KTAP_TMP/record-frdma0-$family"
			echo "rxe-$family $KTAP_TMP/record-rxe0-$family"
		done) | note_lines
	for family in v4 v6; do
		note "$family:"
		"$HERE/pyverbs_compare.py" differ \
			"$KTAP_TMP/record-frdma0-$family" \
			"$KTAP_TMP/record-rxe0-$family" | note_lines
		"$HERE/pyverbs_compare.py" leads "$(lead $family)" \
			"$KTAP_TMP/record-frdma0-$family" \
			"$KTAP_TMP/record-rxe0-$family" | note_lines
	done
}

table() {
	KTAP_LIMIT=$SUITE_LIMIT program pyverbs v4
	KTAP_LIMIT=$SUITE_LIMIT program pyverbs v6
}

on_both table
ktap_test skips_have_reasons
ktap_test compared
ktap_end
