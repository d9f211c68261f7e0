#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Reliable datagram sockets, carried by rds_rdma.
#
# guests: 2
# mtu: 4200
# roots: trixie bookworm sid
# default: no
# timeout: 1800

. "${0%/*}/../lib/frdma.sh"
. "${0%/*}/../lib/consumers.sh"

TOOL="python3 $KTAP_TOP/selftests/consumers/rds.py"

# Messages go to guest 2 and come back the same; it is RDMA that carries them.
echoes() {
	local moved pid bytes

	moved=$(bytes_moved)
	on 2 "$TOOL echo 10.77.0.2" \
		>"$KTAP_TMP/server" 2>&1 &
	pid=$!
	defer on 2 'pkill -f "[r]ds.py echo"; true'
	await 20 on 2 'pgrep -f "[r]ds.py echo"'
	sleep 2
	bytes=$($TOOL ask 10.77.0.1 10.77.0.2 "$1") ||
		fail "$bytes $(<"$KTAP_TMP/server")"
	wait $pid || fail "$(<"$KTAP_TMP/server")"
	moved=$(($(bytes_moved) - moved))
	[ "$moved" -gt "${bytes% bytes}" ] ||
		fail "$bytes were echoed, but RDMA moved $moved"
	note "$bytes, $moved on the wire"
}

rds_up() {
	need_modules rds_rdma
	defer rds_down
	each_guest 'modprobe rds_rdma'
}

rds_down() {
	each_guest 'modprobe -r rds_rdma'
}

messages() {
	rds_up
	echoes 100
	has_connection 1
}

# RDS connects again by itself and loses nothing.
cut() {
	local pid

	rds_up
	echoes 20
	"cut_$1"
	echoes 50 &
	pid=$!
	sleep 12
	"join_$1"
	wait $pid
	echoes 20
}

link_deleted() {
	rds_up
	echoes 20
	delete_link "$1"
	ktap_on "$1" 'modprobe -r frdma'
	link_again "$1"
	echoes 20
}

links_up
ktap_test messages
ktap_test cut silently
ktap_test cut loudly
ktap_test link_deleted 1
ktap_test link_deleted 2
ktap_end
