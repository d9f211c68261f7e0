#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# The threads of test_ring.c, with a ring whose loads do not acquire, and with
# one whose stores do not release. ThreadSanitizer has to report either as a race:
# else what it does not report of the real ring proves nothing.
# usage: race.sh [part of test names]; RACES: where ring-no-acquire and
# ring-no-release are

wanted=${1-}
n=0 failed=0

for order in acquire release; do
	name=race__is_seen_without_$order
	case $name in *"$wanted"*) ;; *) continue ;; esac
	n=$((n + 1))
	status=0
	said=$("$RACES/ring-no-$order" threads 2>&1) || status=$?
	case $status:$said in
	[1-9]*"data race"*)
		echo "ok $n - $name" ;;
	*)	failed=$((failed + 1))
		echo "# exit status $status"
		echo "not ok $n - $name" ;;
	esac
done
echo "1..$n"
echo "# $((n - failed)) passed, $failed failed, 0 skipped"
[ $failed = 0 ]
