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

# COUNT streams of MEGABYTES each way. Sets BYTES, that were echoed, and MOVED,
# those that went through frdma0 meanwhile.
exchange() {
	local count=$1 megabytes=$2 before pid

	before=$(bytes_moved)
	on 2 "$TOOL serve 10.77.0.2 $count" \
		>"$KTAP_TMP/server" 2>&1 &
	pid=$!
	defer on 2 'pkill -f "[s]mc.py serve"; true'
	await 20 on 2 'pgrep -f "[s]mc.py serve" && sleep 2'
	$TOOL ask 10.77.0.2 "$count" "$megabytes" \
		>"$KTAP_TMP/client" 2>&1 ||
		fail "$(<"$KTAP_TMP/client") $(<"$KTAP_TMP/server")"
	wait $pid || fail "$(<"$KTAP_TMP/server")"
	BYTES=$(sed -n 's/ bytes$//p' "$KTAP_TMP/client")
	MOVED=$(($(bytes_moved) - before))
}

# What falls back to TCP is not there to be seen: the bytes must have gone
# through frdma0. Streams that did not are made again for SECONDS (0).
# Arguments: COUNT MEGABYTES [SECONDS]
streams() {
	local end=$((SECONDS + ${3:-0} * KTAP_SLOW))

	exchange "$1" "$2"
	until [ $MOVED -gt "$BYTES" ] || [ "$SECONDS" -ge $end ]; do
		note "by TCP: RDMA moved $MOVED of $BYTES bytes"
		exchange "$1" "$2"
	done
	[ $MOVED -gt "$BYTES" ] ||
		fail "$BYTES bytes were echoed, but RDMA moved $MOVED"
	note "$BYTES bytes, $MOVED on the wire"
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

# The link group ends with the link, and new streams make another one. SMC
# takes the device that came when it has heard of its GIDs and addresses; what
# connects before goes by TCP.
link_deleted() {
	smc_up
	streams 2 1
	delete_link "$1"
	ktap_on "$1" 'modprobe -r frdma'
	link_again "$1"
	streams 2 1 20
}

links_up
ktap_test one_stream
ktap_test many_streams
ktap_test link_deleted 1
ktap_test link_deleted 2
ktap_end
