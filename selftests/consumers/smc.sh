#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Shared Memory Communications over RDMA (SMC-R): sockets of AF_SMC that begin
# with TCP and go on with frdma.
#
# guests: 2
# mtu: 4200
# roots: trixie bookworm
# default: no
# timeout: 1800

. "${0%/*}/../lib/frdma.sh"
. "${0%/*}/../lib/consumers.sh"

TOOL="python3 $KTAP_TOP/selftests/consumers/smc.py"

smc_up() {
	need_modules smc
	defer smc_down
	each_guest "modprobe smc && $TOOL eid FRDMA"
}

smc_down() {
	each_guest 'modprobe -r smc_diag smc'
}

# COUNT streams of MEGABYTES each way. What falls back to TCP is not there to
# be seen: the bytes must have gone through frdma0.
streams() {
	local count=$1 megabytes=$2 moved bytes pid

	moved=$(bytes_moved)
	on 2 "$TOOL serve 10.77.0.2 $count" \
		>"$KTAP_TMP/server" 2>&1 &
	pid=$!
	defer on 2 'pkill -f "[s]mc.py serve"; true'
	await 20 on 2 'pgrep -f "[s]mc.py serve" && sleep 2'
	$TOOL ask 10.77.0.2 "$count" "$megabytes" \
		>"$KTAP_TMP/client" 2>&1 ||
		fail "$(<"$KTAP_TMP/client") $(<"$KTAP_TMP/server")"
	wait $pid || fail "$(<"$KTAP_TMP/server")"
	bytes=$(sed -n 's/ bytes$//p' "$KTAP_TMP/client")
	moved=$(($(bytes_moved) - moved))
	[ $moved -gt "$bytes" ] ||
		fail "$bytes bytes were echoed, but RDMA moved $moved"
	note "$bytes bytes, $moved on the wire"
}

one_stream() {
	smc_up
	streams 1 16
	has_connection 1
}

many_streams() {
	smc_up
	streams 20 1
}

# The link group ends with the link, and new streams make another one.
link_deleted() {
	smc_up
	streams 2 1
	delete_link "$1"
	ktap_on "$1" 'modprobe -r frdma'
	link_again "$1"
	sleep 2
	streams 2 1
}

links_up
ktap_test one_stream
ktap_test many_streams
ktap_test link_deleted 1
ktap_test link_deleted 2
ktap_end
