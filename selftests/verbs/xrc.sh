#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Extended reliable connections: xrc.c, and the programs of others that use
# them.
#
# guests: 2
# timeout: 900

. "${0%/*}/../lib/frdma.sh"
. "${0%/*}/../lib/traffic.sh"

xrc() {
	with_gid v4 verbs/xrc "$1"
}

xsrq_pingpong() {
	local family=$1 gid1 gid2

	shift
	gid1=$(gid_index frdma0 "$family")
	gid2=$(gid_index frdma0 "$family" 2)
	pair 18515 "ibv_xsrq_pingpong -d frdma0 -g $gid2 $*" \
		"ibv_xsrq_pingpong -d frdma0 -g $gid1 $* frdma2"
	grep -qx success "$KTAP_TMP/client"
}

# Connected by rdma_cm: the example programs of librdmacm.
connection_manager() {
	pair cm "rdma_xserver -c x" "rdma_xclient -c x -s 10.77.0.2"
}

# What is lost on the way is sent again.
over_a_bad_line() {
	local i dropped resent

	need_modules sch_netem
	defer tc qdisc delete dev eth0 root
	tc qdisc add dev eth0 root netem loss 2%
	resent=$(counter frdma0 resent_packets)
	for ((i = 0; i < 5; i++)); do
		perftest ib_send_bw v4 -c XRC -n 200
		dropped=$(tc -j -s qdisc show dev eth0 | jq '.[0].drops')
		[ "$dropped" = 0 ] || break
	done
	resent=$(($(counter frdma0 resent_packets) - resent))
	note "dropped: $dropped, sent again: $resent"
	[ "$dropped" -gt 0 ] && [ $resent -gt 0 ]
}

# What "rdma resource" says of objects that lack a half.
shown() {
	local gid pid ini tgt

	gid=$(gid_index frdma0 v4)
	"$PROGRAMS/verbs/xrc" frdma0 "$gid" sleep \
		>"$KTAP_TMP/numbers" &
	pid=$!
	defer end_process $pid
	await 20 test -s "$KTAP_TMP/numbers"
	read -r ini tgt <"$KTAP_TMP/numbers"
	rdma -dd -j resource show qp >"$KTAP_TMP/shown"
	jq -e ".[] | select(.lqpn == $ini) | .drv_rq_posted == 0 and
		.drv_next_psn == 1" "$KTAP_TMP/shown"
	jq -e ".[] | select(.lqpn == $tgt) | .drv_sq_posted == 0 and
		.drv_msn == 1" "$KTAP_TMP/shown"
}

links_up
for name in sends one_sided builder several_queues protection_domains \
		wrong_numbers shared_target another_process busy_objects \
		bad_input queries again target_drains completions_stay limit \
		queue_goes_under_traffic; do
	ktap_test xrc $name
done
ktap_test shown
for family in v4 v6; do
	ktap_test xsrq_pingpong $family
	ktap_test perftest ib_send_bw $family -c XRC -n 100
done
ktap_test xsrq_pingpong v4 -e -n 100
ktap_test perftest ib_write_bw v4 -c XRC -n 100
ktap_test perftest ib_read_bw v4 -c XRC -n 100
ktap_test perftest ib_atomic_bw v4 -c XRC -n 100
ktap_test perftest ib_send_lat v4 -c XRC -n 100
ktap_test connection_manager
ktap_test over_a_bad_line
ktap_test pyverbs_of 7 xrc
ktap_end
