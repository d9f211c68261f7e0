#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A disk that comes over RDMA, and a link that fails, goes, and comes back.
#
# guests: 2
# mtu: 4200
# default: no
# timeout: 1800

. "${0%/*}/../lib/frdma.sh"
. "${0%/*}/../lib/consumers.sh"
. "${0%/*}/../lib/nvme.sh"

# A request that is answered by nobody is given up after ten seconds, not
# thirty.
patience() {
	modprobe nvme_core
	echo 10 >/sys/module/nvme_core/parameters/io_timeout
}

# Who writes waits for the link, and then all is there.
cut() {
	patience
	nvme_target_up 10.77.0.2
	nvme_connect 10.77.0.2
	mount_disk "$DISK"
	fill $MOUNTED/before 8
	cut_while_writing "$1" 15 $MOUNTED/during
	await 30 nvme_is live
	files_are_same
	fill $MOUNTED/after 8
	files_are_same
	unlogged 'I/O error'
	umount $MOUNTED
}

# Nobody asks the consumer: its disk is gone with the link, and who reads it
# has an error and does not hang. Everything can be made again.
initiator_link_deleted() {
	local reader

	nvme_target_up 10.77.0.2
	nvme_connect 10.77.0.2
	# A whole disk may be read before its link goes.
	while dd if="$DISK" of=/dev/null bs=64k iflag=direct; do :; done &
	reader=$!
	sleep 2
	delete_link 1
	await 20 nvme_is_gone
	await 20 reader_has_ended $reader
	modprobe -r nvme_rdma
	modprobe -r frdma
	link_again 1
	nvme_connect 10.77.0.2
	disk_keeps_files "$DISK"
}

reader_has_ended() {
	! kill -0 "$1" 2>/dev/null
}

# The target is told, too; the initiator finds it again when it is back. One that
# serves at one address only would not listen again, on no device: nvmet_rdma
# lets go of its listener then.
target_link_deleted() {
	patience
	nvme_target_up 0.0.0.0
	nvme_connect 10.77.0.2
	mount_disk "$DISK"
	fill $MOUNTED/before 8
	delete_link 2
	no_connection 2
	on 2 'modprobe -r frdma'
	await 30 nvme_is connecting
	link_again 2
	await 60 nvme_is live
	files_are_same
	fill $MOUNTED/after 8
	files_are_same
	unlogged 'I/O error'
	umount $MOUNTED
}

links_up
ktap_test cut silently
ktap_test cut loudly
ktap_test initiator_link_deleted
ktap_test target_link_deleted
ktap_end
