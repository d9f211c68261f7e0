#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# "rdma resource" and "rdma statistic": what people see of queue pairs,
# completion queues and regions, and what they do not see without privileges.

. "${0%/*}/../lib/frdma.sh"
. "${0%/*}/../lib/traffic.sh"

# Prints what rdma says of a kind of object of frdma0, in JSON.
shown() {
	local options=$1 kind=$2

	shift 2
	# shellcheck disable=SC2086 # one or more options
	rdma $options -j resource show "$kind" dev frdma0 "$@" 2>/dev/null ||
		rdma $options -j resource show "$kind" link frdma0/1 "$@"
}

# The objects are there as long as the test runs.
show_objects() {
	local gid pid i

	gid=$(gid_index frdma0 v4)
	rm -f "$KTAP_TMP/numbers"
	"$PROGRAMS/verbs/resources" frdma0 "$gid" >"$KTAP_TMP/numbers" &
	pid=$!
	defer end_process $pid
	for ((i = 0; i < 100 * KTAP_SLOW; i++)); do
		[ ! -s "$KTAP_TMP/numbers" ] || break
		kill -0 $pid || fail "the program ended"
		sleep 0.1
	done
	read -r near far shared <"$KTAP_TMP/numbers"
}

# Every expectation is a condition of jq on an object whose details are named
# drv_*; what it was applied to is shown if one does not hold.
holds() {
	local what=$1 condition

	shift
	for condition in "$@"; do
		jq -e "$condition" >/dev/null <<<"$what" ||
			fail "not so: $condition: $what"
	done
}

queue_pairs() {
	local near far shared all

	show_objects
	all=$(shown -dd qp)
	holds "$(jq ".[] | select(.lqpn == $near)" <<<"$all")" \
		'.drv_sq_posted == 0' '.drv_rq_posted == 0' \
		'.drv_una_psn == 4' '.drv_next_psn == 4' '.drv_end_psn == 4' \
		'.drv_window >= 64' '.drv_reads_out == 0' \
		'.drv_retries_left == 7' '.drv_rnr_retries_left == 7' \
		'.drv_waits_for == "nothing"' '.drv_msn == 0'
	holds "$(jq ".[] | select(.lqpn == $far)" <<<"$all")" \
		'.drv_rq_posted == 3' '.drv_expected_psn == 4' \
		'.drv_msn == 2' '.drv_next_psn == 0'
	holds "$(jq ".[] | select(.lqpn == $shared)" <<<"$all")" \
		'.drv_rq_posted == 0' '.drv_expected_psn == 0'
}

completion_queues() {
	local near far shared all

	show_objects
	all=$(shown -dd cq)
	holds "$all" \
		'[.[] | select(.drv_prod == 2 and .drv_cons == 2 and
			       .drv_armed == 0)] | length == 1' \
		'[.[] | select(.drv_prod == 2 and .drv_cons == 1 and
			       .drv_armed == 1)] | length == 1' \
		'[.[] | select(.drv_dead == 1)] | length == 0' \
		'[.[] | select(.comm == "resources" and .drv_entries == 16)] |
		 length == 2'
}

regions() {
	local near far shared all

	show_objects
	all=$(shown -dd mr)
	holds "$(jq '.[] | select(.comm == "resources")' <<<"$all")" \
		'.drv_kind == "user"' '.drv_access == 15' '.drv_valid == 1' \
		'.mrlen == 2048' 'has("rkey")'
}

# The rest has no details of ours, and is there.
other_objects() {
	local near far shared kind

	show_objects
	for kind in pd ctx; do
		holds "$(shown -dd $kind)" \
			'[.[] | select(.comm == "resources")] | length == 1'
	done
	rdma resource show cm_id >"$KTAP_TMP/cm_id"
	rdma statistic show link frdma0/1 | grep -q ' rx_packets '
}

unprivileged() {
	setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all "$@"
}

# Keys, the addresses of memory, and what objects hold in raw form are secret.
nobody_sees_no_keys() {
	local near far shared all secret

	show_objects
	all=$(rdma -dd -j resource show mr)
	for secret in lkey rkey; do
		grep -q "\"$secret\"" <<<"$all" ||
			fail "not even root sees $secret: $all"
	done
	for kind in qp cq mr; do
		all=$(unprivileged rdma -dd -j resource show $kind)
		grep -q '"resources"' <<<"$all" ||
			fail "nobody sees no $kind: $all"
		for secret in lkey rkey iova unsafe_global_rkey; do
			! grep -q "\"$secret\"" <<<"$all" ||
				fail "everybody sees $secret: $all"
		done
		! unprivileged rdma -r resource show $kind \
			>"$KTAP_TMP/raw" 2>&1 || [ ! -s "$KTAP_TMP/raw" ] ||
			fail "everybody sees: $(<"$KTAP_TMP/raw")"
	done
}

# On kernels before 7 the core lists what is just being destroyed.
listed_while_they_go() {
	local gid pid

	gid=$(gid_index frdma0 v4)
	"$PROGRAMS/verbs/resources" frdma0 "$gid" 100 &
	pid=$!
	while kill -0 $pid 2>/dev/null; do
		rdma -dd resource show qp >"$KTAP_TMP/qp"
		rdma -dd resource show cq >"$KTAP_TMP/cq"
	done
	wait $pid
}

links_up
for test in queue_pairs completion_queues regions other_objects \
	nobody_sees_no_keys listed_while_they_go; do
	ktap_test $test
done
ktap_end
