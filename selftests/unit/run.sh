#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Run test programs side by side; print their output in the order of the
# arguments, and the sum of their results.
# usage: run.sh <arguments of each program> <program>...
#
# A program fails if one of its tests fails, if its exit status is not 0 (a
# sanitizer reports leaks and races after the last test), if it prints fewer
# results than its plan has, or if it runs for more than TEST_SECONDS (300).

args=$1
shift
seconds=${TEST_SECONDS:-300}
logs=$(mktemp -d) || exit 1
pids=
# shellcheck disable=SC2086 # several words
trap 'kill $pids 2>/dev/null; rm -rf "$logs"' EXIT
trap 'exit 130' INT TERM

# A report of a sanitizer ends the program at once.
export ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}halt_on_error=1"
export TSAN_OPTIONS="${TSAN_OPTIONS:+$TSAN_OPTIONS:}halt_on_error=1"
export UBSAN_OPTIONS="${UBSAN_OPTIONS:+$UBSAN_OPTIONS:}halt_on_error=1:print_stacktrace=1"

# Print why a program failed that has no failed test. Arguments: STATUS LOG
why_failed() {
	planned=$(sed -n 's/^1\.\.\([0-9]*\)$/\1/p' "$2")
	printed=$(grep -cE '^(not )?ok ' "$2")
	if [ "$1" = 124 ] || [ "$1" = 137 ]; then
		echo "no end after $seconds s"
	elif grep -q '^not ok' "$2"; then
		:
	elif [ "$1" != 0 ]; then
		echo "exit status $1"
	elif [ "$printed" != "$planned" ]; then
		echo "$printed results, planned: ${planned:-none}"
	fi
}

n=0
for program; do
	n=$((n + 1))
	# shellcheck disable=SC2086 # several words
	(
		echo "# $program"
		exec timeout -k 5 "$seconds" "$program" $args
	) >"$logs/$n" 2>&1 &
	pids="$pids $!"
done
n=0
for pid in $pids; do
	n=$((n + 1))
	status=0
	wait "$pid" || status=$?
	why=$(why_failed "$status" "$logs/$n")
	[ -z "$why" ] ||
		printf '\nnot ok %s # %s\n' "$(sed -n 1s/^..//p "$logs/$n")" \
			"$why" >>"$logs/$n"
	cat "$logs/$n"
done
cat "$logs"/* >"$logs/all"

passed=$(grep -c '^ok [^#]*$' "$logs/all")
failed=$(grep -c '^not ok' "$logs/all")
skipped=$(grep -c '^ok .*# SKIP' "$logs/all")
[ $((passed + failed + skipped)) -gt 0 ] ||
	echo "no test has ${args:-...} in its name"
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
