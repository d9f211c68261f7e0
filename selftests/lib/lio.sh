# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# Guest 2 serves a disk of 64 MiB, all in memory, by the kernel's SCSI target.
# Read after consumers.sh. $DISK is what it is called here.

TARGET=/sys/kernel/config/target
LIO_DISK=$TARGET/core/rd_mcp_0/frdma

# Makes the disk; undone when the test ends, by which time nobody may serve it.
lio_disk_up() {
	defer lio_disk_down
	on 2 "modprobe target_core_mod && mkdir -p $LIO_DISK &&
		echo rd_pages=16384 >$LIO_DISK/control &&
		echo 1 >$LIO_DISK/enable"
}

lio_disk_down() {
	on 2 "rmdir $LIO_DISK $TARGET/core/rd_mcp_0"
}

# Puts the disk as LUN 0 into a portal group, an existing directory in guest 2,
# for those initiators. Arguments: GROUP INITIATOR...
lio_serve() {
	on 2 "cd $1 && mkdir lun/lun_0 && ln -s $LIO_DISK lun/lun_0/disk &&
		for name in ${*:2}; do
			mkdir acls/\$name acls/\$name/lun_0 &&
				ln -s $1/lun/lun_0 acls/\$name/lun_0/lun || exit
		done
		echo 1 >enable"
}

# Takes all of that apart, and the port that the group is in.
lio_unserve() {
	on 2 "cd $1 && echo 0 >enable
		rm -f acls/*/lun_0/lun; rmdir acls/*/lun_0 acls/*
		rm -f lun/lun_0/disk; rmdir lun/lun_0
		for portal in np/*; do
			[ ! -d \$portal ] || rmdir \$portal
		done
		cd $TARGET && rmdir $1 ${1%/*} ${1%/*/*}
		:"
}

# Waits for the disk, and sets DISK.
lio_find_disk() {
	modprobe sd_mod
	await 30 lio_new_disk
	# shellcheck disable=SC2034 # for the tests
	DISK=/dev/$(lio_new_disk)
}

lio_new_disk() {
	local disk

	for disk in /sys/block/sd*; do
		grep -q LIO-ORG "$disk/device/vendor" 2>/dev/null || continue
		[ "$(<"$disk/size")" -gt 0 ] && [ -b "/dev/${disk##*/}" ] || continue
		echo "${disk##*/}"
		return
	done
	return 1
}

lio_no_disk() {
	! lio_new_disk
}

# What a disk from there has to do.
lio_disk_works() {
	local size

	disk_keeps_files "$DISK"
	head -c 4M /dev/urandom >"$KTAP_TMP/data"
	for size in 4096 65536 1048576; do
		dd if="$KTAP_TMP/data" of="$DISK" bs=$size oflag=direct status=none
		dd if="$DISK" bs=$size count=$((4194304 / size)) iflag=direct \
			status=none | cmp - "$KTAP_TMP/data"
	done
	unlogged 'I/O error'
}
