#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Run test programs one after the other and add up what they say.
# usage: run.sh <arguments of each program> <program>...

args=$1
shift
log=$(mktemp) || exit 1
trap 'rm -f "$log"' EXIT

for program; do
	echo "# $program"
	# shellcheck disable=SC2086 # several words
	"$program" $args 2>&1
done | tee "$log"

passed=$(grep -c '^ok [^#]*$' "$log")
failed=$(grep -c '^not ok' "$log")
# A program that a sanitizer stopped has not said what it counted.
said=$(grep -c '^# [0-9]* passed, ' "$log")
failed=$((failed + $# - said))
skipped=$(grep -c '^ok .*# SKIP' "$log")
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
