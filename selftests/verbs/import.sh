#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Contexts that processes lend each other: import.c, one process for each case,
# and what pyverbs has of it.

. "${0%/*}/../lib/frdma.sh"
. "${0%/*}/../lib/traffic.sh"

import() {
	"$PROGRAMS/import" frdma0 "$(gid_index frdma0 v4)" "$1"
}

# Both of them: one that is skipped has not passed.
pyverbs() {
	local gid ok

	gid=$(gid_index frdma0 v4)
	[ -e /usr/src/rdma-core/tests/run_tests.py ] ||
		skip "the source of rdma-core is not here"
	cd /usr/src/rdma-core || fail "no way in"
	python3 -B tests/run_tests.py -v --dev frdma0 --port 1 --gid "$gid" \
		-k SharedPD -k SharedDM 2>&1 | tee "$KTAP_TMP/pyverbs"
	ok=$(grep -c ' ok$' "$KTAP_TMP/pyverbs")
	[ "$ok" = 2 ] || fail "$ok of 2 passed"
}

compile import
links_up
for case in another_process same_process outlives_who_opened destroys \
	refuses; do
	ktap_test import $case
done
ktap_test pyverbs
ktap_test import device_goes
ktap_end
