#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Shared receive queues: srq.c, and the programs of others that use them.
#
# guests: 2
# timeout: 900

. "${0%/*}/../lib/frdma.sh"
. "${0%/*}/../lib/traffic.sh"

srq() {
	"$PROGRAMS/srq" frdma0 "$(gid_index frdma0 v4)" "$1"
}

srq_pingpong() {
	local gid1 gid2

	gid1=$(gid_index frdma0 v4)
	gid2=$(gid_index frdma0 v4 2)
	pair 18515 "ibv_srq_pingpong -d frdma0 -g $gid2 $*" \
		"ibv_srq_pingpong -d frdma0 -g $gid1 $* frdma2"
	note "$(grep -m 1 Mbit "$KTAP_TMP/client")"
}

# What rdma-core tests itself with. Debian ships it as documentation.
pyverbs() {
	local dir=$KTAP_TMP/pyverbs

	mkdir "$dir"
	cp -r /usr/share/doc/rdma-core/tests "$dir"
	gunzip -q "$dir"/tests/*.gz
	find "$dir/tests" -name 'test_*.py' ! -name test_srq.py -delete
	python3 "$dir/tests/run_tests.py" --dev frdma0 -v >"$dir/said" 2>&1 ||
		fail "$(tail -n 20 "$dir/said")"
	grep -qx OK "$dir/said" || fail "$(<"$dir/said")"
	note "$(grep '^Ran' "$dir/said")"
}

compile srq
links_up
for name in verbs limit empty_then_posted last_wqe datagrams other_domain \
		many_takers resize_under_traffic hostile_index; do
	ktap_test srq $name
done
ktap_test srq_pingpong -q 4 -n 100
ktap_test srq_pingpong -q 4 -n 100 -e
ktap_test perftest ib_send_bw v4 --use-srq -q 4 -n 50
ktap_test pyverbs
ktap_end
