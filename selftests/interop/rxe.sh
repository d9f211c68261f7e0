#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# frdma at one end, the kernel's rdma_rxe at the other, in both roles.
#
# default: no
# guests: 2
# mtu: 4200
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

# Arguments: TOOL [OPTION...]
perftest() {
	local gid1 gid2 tool=$1

	shift
	gid1=$(gid_index $dev1 v4)
	gid2=$(gid_index $dev2 v4 2)
	pair 18515 "$tool -d $dev2 -x $gid2 -u 18 $*" \
		"$tool -d $dev1 -x $gid1 -u 18 $* frdma2"
	note "$(grep -A 1 '#bytes' "$KTAP_TMP/client" | tail -n 1)"
}

wire() {
	captured exchange_between $dev1 $dev2 "$1" -r 2 -s 5000
	wire_is_clean
}

# Neither side lost, refused or misunderstood a packet. rxe has no counter of
# wrong ICRCs: it drops such packets, and its peer has to send again.
no_loss() {
	note_counted frdma0 'retry_.*|resent_.*|.*duplicate.*' $frdma
	note_counted rxe0 '.*(err|dup).*' $rxe
	nothing_was_dropped frdma0 $frdma
	uncounted frdma0 \
		'(rcvd|sent)_(seq|err)_naks|retry_(seq|exceeded)|cqe_errors' \
		$frdma
	uncounted rxe0 '(out_of_seq|rcvd_seq|send|.*retry_exceeded)_err' $rxe
}

compile exchange
mtu 4200
for pair in "frdma0 rxe0" "rxe0 frdma0"; do
	# shellcheck disable=SC2086 # two words
	roles $pair
	for family in v4 v6; do
		ktap_test exchange $family -r 10
		ktap_test wire $family
	done
	ktap_test exchange v4 -q 16 -n 64 -r 2 -m 1024
	ktap_test rc_pingpong v4 -c -n 100
	ktap_test rc_pingpong v6 -c -n 100 -e -s 10001
	ktap_test rping_verifies 10.77.0.2
	ktap_test rping_verifies fd77::2
	for tool in write read send atomic; do
		ktap_test perftest ib_${tool}_bw -n 100
	done
	ktap_test no_loss
	ktap_undo
done
ktap_end
