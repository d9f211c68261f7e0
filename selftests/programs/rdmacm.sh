#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The programs of rdmacm-utils. They find the device by the address.
#
# guests: 2
# mtu: 4200
# default: no
# timeout: 3600

. "${0%/*}/../lib/frdma.sh"
. "${0%/*}/../lib/traffic.sh"
. "${0%/*}/../lib/programs.sh"

# A server of rdma_cm and its client, which both end. Arguments:
# "SERVER" "CLIENT"
cm() {
	pair cm "$1" "$2"
}

# Ten connections a time, which are made and ended, then made in parallel.
cmtime() {
	pair 7471 "cmtime -b $1 -c 10" "cmtime -s $1 -c 10"
	note "$(grep -m 1 connect "$KTAP_TMP/client")"
}

# Rsockets; the data are compared. Arguments: TOOL ADDRESS [OPTION...]
streams() {
	local tool=$1 address=$2

	shift 2
	pair cm "$tool -b $address -T v $*" "$tool -s $address -T v $*"
	note "$(tail -n 1 "$KTAP_TMP/client")"
}

# Datagrams of rsockets. librdmacm makes their address handles of LIDs, which
# RoCE has not (rsocket.c, ds_add_qp_dest()). Argument: ADDRESS
udpong() {
	timeout 20 udpong -s "$1" -C 1 >"$KTAP_TMP/client" 2>&1 || true
	! grep 'rconnect: No such file' "$KTAP_TMP/client" ||
		skip "librdmacm sends datagrams of rsockets to LIDs only"
	serve udp:7174 "udpong -b $1" "udpong -s $1 -C 200 -S 1000"
	note "$(tail -n 1 "$KTAP_TMP/client")"
}

# A file goes there; it must arrive as it is.
rcopy() {
	head -c 3000001 /dev/urandom >"$KTAP_TMP/file"
	defer on 2 "rm -f /run/rcopy"
	serve cm "rcopy" "rcopy $KTAP_TMP/file $1:/run/rcopy"
	on 2 "cat /run/rcopy" | cmp - "$KTAP_TMP/file"
}

# What one member has to say to the other. The sender pauses for 3 s after it
# has joined, as the receiver does, which says so at once only if it is made to.
# Arguments: ADDRESS1 ADDRESS2 GROUP
mckey() {
	local pid

	on 2 "timeout 60 stdbuf -oL mckey -m $3 -b $2" >"$KTAP_TMP/server" 2>&1 &
	pid=$!
	await 40 joined_or_refused "$pid"
	! grep 'Unknown error 524' "$KTAP_TMP/server" ||
		skip "rdma_cm joins no groups of IPv6 on RoCEv2 (ENOTSUPP)"
	timeout 60 mckey -m "$3" -b "$1" -s >"$KTAP_TMP/client" 2>&1
	wait $pid
	grep 'data transfers complete' "$KTAP_TMP/server"
}

joined_or_refused() {
	grep -q 'joined dgid' "$KTAP_TMP/server" || ! kill -0 "$1"
}

table() {
	local address

	for address in 10.77.0.2 fd77::2; do
		program rping_verifies $address 100
		program ucmatose $address
		program cm "udaddy -b $address" "udaddy -s $address"
		program streams rstream $address -S 5000 -C 20 -I 5
		program streams riostream $address -S 5000 -C 20 -I 5
		program cm "rdma_server -s $address" "rdma_client -s $address"
	done
	program cmtime 10.77.0.2
	program udpong 10.77.0.2
	program rcopy 10.77.0.2
	program cm rdma_xserver "rdma_xclient -s 10.77.0.2"
	program given XRC cm "rdma_xserver -c x" "rdma_xclient -s 10.77.0.2 -c x"
	program mckey 10.77.0.1 10.77.0.2 239.77.1.1
	program mckey fd77::1 fd77::2 ff0e::4711
}

on_both table
ktap_end
