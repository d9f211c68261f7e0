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

# Messages go to guest 2 and come back the same; it is RDMA that carries them.
echoes() {
	local moved pid bytes

	moved=$(bytes_moved)
	on 2 'python3 selftests/consumers/rds.py echo 10.77.0.2' \
		>"$KTAP_TMP/server" 2>&1 &
	pid=$!
	defer on 2 'pkill -f "[r]ds.py echo"; true'
	await 20 on 2 'pgrep -f "[r]ds.py echo"'
	sleep 2
	bytes=$(python3 selftests/consumers/rds.py ask 10.77.0.1 10.77.0.2 "$1") ||
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
	SECONDS=0
	ktap_on "$1" 'rdma link delete frdma0'
	note "deleted within $SECONDS s"
	[ $SECONDS -lt 20 ]
	ktap_on "$1" 'modprobe -r frdma && modprobe frdma &&
		rdma link add frdma0 type frdma netdev eth0'
	await 20 ktap_on "$1" 'grep -q ACTIVE /sys/class/infiniband/frdma0/ports/1/state'
	echoes 20
}

links_up
ktap_test messages
ktap_test cut silently
ktap_test cut loudly
ktap_test link_deleted 1
ktap_test link_deleted 2
ktap_end
