#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# iSCSI over RDMA: ib_iser and open-iscsi here, ib_isert in guest 2.
#
# guests: 2
# mtu: 4200
# packages: open-iscsi
# roots: trixie bookworm sid
# default: no
# timeout: 1800

. "${0%/*}/../lib/frdma.sh"
. "${0%/*}/../lib/consumers.sh"
. "${0%/*}/../lib/lio.sh"

NAME=iqn.2026-01.test.frdma:disk
INITIATOR=iqn.2026-01.test.frdma:guest1
GROUP=$TARGET/iscsi/$NAME/tpgt_1

target_up() {
	lio_disk_up
	defer target_down
	on 2 "modprobe ib_isert && modprobe iscsi_target_mod &&
		mkdir -p $GROUP && cd $GROUP && mkdir np/10.77.0.2:3260 &&
		echo 0 >attrib/authentication &&
		echo 1 >np/10.77.0.2:3260/iser"
	lio_serve "$GROUP" $INITIATOR
}

target_down() {
	lio_unserve "$GROUP"
	on 2 'modprobe -r ib_isert'
}

# The daemon that makes connections, and a node that is connected by iSER.
initiator_up() {
	command -v iscsid >/dev/null || skip "open-iscsi is not installed"
	modprobe ib_iser
	mkdir -p /etc/iscsi /run/lock/iscsi /var/lib/iscsi
	echo "InitiatorName=$INITIATOR" >/etc/iscsi/initiatorname.iscsi
	iscsid -i /etc/iscsi/initiatorname.iscsi -p "$KTAP_TMP/iscsid.pid"
	defer initiator_down
	iscsiadm -m node -o new -T $NAME -p 10.77.0.2:3260 -I iser
	iscsiadm -m node -T $NAME -o update \
		-n 'node.session.timeo.replacement_timeout' -v 60
	iscsiadm -m node -T $NAME -o update \
		-n 'node.conn[0].timeo.noop_out_interval' -v 3
	iscsiadm -m node -T $NAME -o update \
		-n 'node.conn[0].timeo.noop_out_timeout' -v 3
	iscsiadm -m node -T $NAME -l
	lio_find_disk
	has_connection 1
}

logout() {
	iscsiadm -m node -T $NAME -u
	await 20 no_connection 1
}

initiator_down() {
	iscsiadm -m node -T $NAME -u
	iscsiadm -m node -T $NAME -o delete
	kill "$(<"$KTAP_TMP/iscsid.pid")"
	sleep 1
	modprobe -r ib_iser
}

disk() {
	target_up
	initiator_up
	lio_disk_works
	logout
	await 20 lio_no_disk
}

cut() {
	target_up
	initiator_up
	disk_survives_cut "$1" "$DISK"
}

# The link goes under the session, which finds it again when it is back.
link_deleted() {
	target_up
	initiator_up
	mount_disk "$DISK"
	fill $MOUNTED/before 8
	delete_link 1
	modprobe -r frdma
	link_again 1
	files_are_same
	fill $MOUNTED/after 8
	files_are_same
	umount $MOUNTED
}

links_up
ktap_test disk
ktap_test cut silently
ktap_test cut loudly
ktap_test link_deleted
ktap_end
