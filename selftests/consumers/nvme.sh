#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# NVMe over RDMA: nvme_rdma here, nvmet_rdma in guest 2.
#
# guests: 2
# default: no
# mtu: 4200
# roots: trixie bookworm sid

. "${0%/*}/../lib/frdma.sh"
. "${0%/*}/../lib/consumers.sh"
. "${0%/*}/../lib/nvme.sh"

files() {
	nvme_target_up "$@"
	nvme_connect "$1"
	disk_keeps_files "$DISK"
	nvme_disconnect
	await 20 no_connection 1
	await 20 no_connection 2
	unlogged 'I/O error'
}

# Requests of every size and alignment that a sector allows, not from caches;
# the target's disk is the witness.
raw() {
	local size

	nvme_target_up "$1"
	nvme_connect "$1"
	fill "$KTAP_TMP/data" 4
	for size in 512 3584 4096 65536 1048576 4194304; do
		dd if="$KTAP_TMP/data" of="$DISK" bs=$size \
			count=$((size < 65536 ? 256 : 4194304 / size)) \
			oflag=direct status=none
		dd if="$DISK" bs=$size iflag=direct status=none \
			count=$((size < 65536 ? 256 : 4194304 / size)) |
			cmp -n $((size < 65536 ? 256 * size : 4194304)) \
			- "$KTAP_TMP/data"
	done
	on 2 'head -c 4M /dev/ram0' | cmp - "$KTAP_TMP/data"
}

links_up
ktap_test files 10.77.0.2
ktap_test files fd77::2
ktap_test raw 10.77.0.2
ktap_end
