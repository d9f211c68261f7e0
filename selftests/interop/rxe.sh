#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# frdma at one end, the kernel's rdma_rxe at the other, in both roles.
#
# guests: 2
# mtu: 9000
# kernel: stock
# timeout: 900

. "${0%/*}/../lib/frdma.sh"
. "${0%/*}/../lib/traffic.sh"

# Makes guest 1 a DEV1 and guest 2 a DEV2; frdma is in guest $frdma, rxe in
# guest $rxe.
roles() {
	dev1=$1 dev2=$2
	case $1 in
	frdma0)	frdma=1 rxe=2 ;;
	*)	frdma=2 rxe=1 ;;
	esac
	frdma_up $frdma
	rxe_up $rxe
}

# Arguments: FAMILY [OPTION...]
exchange() {
	exchange_between $dev1 $dev2 "$@"
}

rc_pingpong() {
	local gid1 gid2

	gid1=$(gid_index $dev1 "$1")
	gid2=$(gid_index $dev2 "$1" 2)
	shift
	pair 18515 "ibv_rc_pingpong -d $dev2 -g $gid2 $*" \
		"ibv_rc_pingpong -d $dev1 -g $gid1 $* frdma2"
}

rping_verifies() {
	pair cm "rping -s -v -C 20 -a $1" "rping -c -v -C 20 -a $1"
	[ "$(grep -c 'ping data' "$KTAP_TMP/client")" = 20 ]
}

# Without -F a tool fails in the end if the machine is too busy for it to measure
# its clock. Arguments: TOOL [OPTION...]
perftest() {
	local gid1 gid2 tool=$1

	shift
	gid1=$(gid_index $dev1 v4)
	gid2=$(gid_index $dev2 v4 2)
	pair 18515 "$tool -d $dev2 -x $gid2 -u 18 -F $*" \
		"$tool -d $dev1 -x $gid1 -u 18 -F $* frdma2"
	note "$(grep -A 1 '#bytes' "$KTAP_TMP/client" | tail -n 1)"
}

# Both families in one capture: what takes time is to start tshark and scapy.
wire() {
	captured exchange_over_both
	wire_is_clean
}

exchange_over_both() {
	exchange v4 -r 2 -s 5000
	exchange v6 -r 2 -s 5000
}

# Each packet was taken by the other side, and none was refused. rxe counts
# those whose ICRC it has found right; it sometimes sends a packet again
# although nothing is missing, so its own copies are all that frdma may drop.
every_packet_is_taken() {
	note_counted frdma0 $frdma '*'
	note_counted rxe0 $rxe '*'
	all_arrive frdma0 $frdma tx_packets rxe0 $rxe rcvd_pkts
	all_arrive rxe0 $rxe sent_pkts frdma0 $frdma rx_packets
	uncounted frdma0 $frdma 'drop_[!d]*' {sent,rcvd}_{seq,err}_naks \
		retry_{seq,implied,exceeded} out_of_order cqe_errors
	uncounted rxe0 $rxe out_of_seq_request rcvd_seq_err \
		'retry*_exceeded_err' send_err
}

# Nor did frdma have to ask twice for an answer. Not after ibv_rc_pingpong,
# which waits for 67 ms: emulated guests may stall for longer.
nothing_is_sent_again() {
	uncounted frdma0 $frdma retry_timeouts
	[ "$(counter frdma0 probes $frdma)" -gt 0 ] || {
		uncounted frdma0 $frdma resent_packets
		uncounted rxe0 $rxe duplicate_request
	}
}

# Both lose some of what they send, and mend it as the other expects: where frdma
# asks. rxe stands still where it has lost what it asked for, of another rxe, too.
exchange_under_loss() {
	local before

	[ "$dev1" = frdma0 ] || skip "rdma_rxe stands still under loss"
	before=$(counter frdma0 resent_packets $frdma)
	defer each_guest "tc qdisc replace dev eth0 root pfifo limit 100000"
	each_guest "tc qdisc replace dev eth0 root netem loss 2%"
	exchange v4 -r 4
	[ "$(counter frdma0 resent_packets $frdma)" -gt "$before" ] ||
		fail "nothing was lost"
	note_counted frdma0 $frdma '*'
}

mtu 4200
deep_queues
# rxe's ICRC of a FLUSH covers its headers twice (its table of opcodes says that
# the payload begins at 0), so it flushes for itself alone.
export FLUSH=0
for pair in "frdma0 rxe0" "rxe0 frdma0"; do
	# shellcheck disable=SC2086 # two words
	roles $pair
	ktap_test exchange v4 -r 10
	ktap_test exchange v6 -r 10
	ktap_test exchange v4 -q 16 -n 64 -r 2 -m 1024
	ktap_test wire
	ktap_test placement_between $dev1 $dev2
	ktap_test rping_verifies 10.77.0.2
	ktap_test rping_verifies fd77::2
	ktap_test perftest ib_write_bw -n 100
	ktap_test perftest ib_atomic_bw -n 100
	ktap_test nothing_is_sent_again
	ktap_test rc_pingpong v4 -c -n 100
	ktap_test rc_pingpong v6 -c -n 100 -e -s 10001
	ktap_test every_packet_is_taken
	ktap_test exchange_under_loss
	ktap_undo_program
done
ktap_end
