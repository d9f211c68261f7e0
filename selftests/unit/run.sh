#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Run test programs, side by side, and add up what they say in their order.
# usage: run.sh <arguments of each program> <program>...

args=$1
shift
logs=$(mktemp -d) || exit 1
pids=
# shellcheck disable=SC2086 # several words
trap 'kill $pids 2>/dev/null; rm -rf "$logs"' EXIT
trap 'exit 130' INT TERM

n=0
for program; do
	n=$((n + 1))
	# shellcheck disable=SC2086 # several words
	(echo "# $program"; exec "$program" $args) >"$logs/$n" 2>&1 &
	pids="$pids $!"
done
n=0
for pid in $pids; do
	wait "$pid"
	n=$((n + 1))
	cat "$logs/$n"
done
cat "$logs"/* >"$logs/all"

passed=$(grep -c '^ok [^#]*$' "$logs/all")
failed=$(grep -c '^not ok' "$logs/all")
# A program that a sanitizer stopped has not said what it counted.
said=$(grep -c '^# [0-9]* passed, ' "$logs/all")
failed=$((failed + $# - said))
skipped=$(grep -c '^ok .*# SKIP' "$logs/all")
[ $((passed + failed + skipped)) -gt 0 ] ||
	echo "no test has ${args:-...} in its name"
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
