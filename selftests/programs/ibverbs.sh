#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The programs of ibverbs-utils.
#
# guests: 2
# mtu: 4200
# default: no
# timeout: 3600

. "${0%/*}/../lib/frdma.sh"
. "${0%/*}/../lib/traffic.sh"
. "${0%/*}/../lib/programs.sh"

devinfo() {
	ibv_devinfo -v -d "$DEV" | tee "$KTAP_TMP/devinfo"
	grep -q 'state:.*PORT_ACTIVE' "$KTAP_TMP/devinfo"
}

# Arguments: TOOL FAMILY [OPTION...]
pingpong() {
	local tool=$1 gid1 gid2

	gid1=$(gid_index "$DEV" "$2")
	gid2=$(gid_index "$DEV" "$2" 2)
	shift 2
	pair 18515 "$tool -d $DEV -g $gid2 $*" \
		"$tool -d $DEV -g $gid1 $* frdma2"
	note "$(grep -m 1 Mbit "$KTAP_TMP/client")"
}

# A port that goes down and up again is an event each. The addresses of IPv6 stay:
# other programs need them.
asyncwatch() {
	local keep=net.ipv6.conf.eth0.keep_addr_on_down pid

	defer sysctl -q -w $keep=0
	sysctl -q -w $keep=1
	ibv_asyncwatch -d "$DEV" >"$KTAP_TMP/events" 2>&1 &
	pid=$!
	await 20 grep -q 'async event FD' "$KTAP_TMP/events"
	defer ip link set eth0 up
	ip link set eth0 down
	await 20 grep -q PORT_ERR "$KTAP_TMP/events"
	ip link set eth0 up
	await 20 grep -q PORT_ACTIVE "$KTAP_TMP/events"
	kill $pid
}

table() {
	local family

	program devinfo
	for family in v4 v6; do
		program pingpong ibv_rc_pingpong $family -n 100 -c
		program pingpong ibv_uc_pingpong $family -n 100
		program pingpong ibv_ud_pingpong $family -n 100 -s 1024
		program pingpong ibv_srq_pingpong $family -n 100 -q 4
		program given XRC pingpong ibv_xsrq_pingpong $family -n 20
	done
	program pingpong ibv_rc_pingpong v4 -n 100 -e
	program pingpong ibv_rc_pingpong v4 -n 100 -N
	program pingpong ibv_uc_pingpong v4 -n 100 -e
	program pingpong ibv_ud_pingpong v4 -n 100 -s 1024 -e
	program pingpong ibv_srq_pingpong v4 -n 100 -q 4 -e
	program given XRC pingpong ibv_xsrq_pingpong v4 -n 20 -e
	program given ODP_SUPPORT pingpong ibv_rc_pingpong v4 -n 100 -o
	program given "completion timestamp_mask" \
		pingpong ibv_rc_pingpong v4 -n 100 -t
	program asyncwatch
}

on_both table
ktap_end
