# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# What the tests of consumers in the kernel share: disks and directories that
# come over RDMA from guest 2 must keep what was written to them, also when the
# link is cut. Read after frdma.sh.

MOUNTED=/run/consumer

# Timeouts of storage are long, and there are several in a row.
# shellcheck disable=SC2034 # for ktap.sh
KTAP_LIMIT=280

# Makes FILE of so many MiB that cannot be guessed, and remembers it.
fill() {
	head -c "$2M" /dev/urandom >"$1"
	sync "$1"
	sha256sum "$1" >>"$KTAP_TMP/sums"
}

# All files of "fill" read the same, from where they lie and not from memory.
files_are_same() {
	sync
	echo 3 >/proc/sys/vm/drop_caches
	sha256sum --quiet -c "$KTAP_TMP/sums" || fail "not what was written"
}

# Makes a file system on DISK and mounts it until the test ends.
mount_disk() {
	rm -f "$KTAP_TMP/sums"
	mkdir -p $MOUNTED
	mkfs.ext4 -q -F -E nodiscard "$1"
	mount "$1" $MOUNTED
	defer unmount
}

unmount() {
	! mountpoint -q $MOUNTED || umount $MOUNTED
}

# A file system on DISK keeps its files, also when it is mounted anew.
disk_keeps_files() {
	mount_disk "$1"
	fill $MOUNTED/one 8
	files_are_same
	fill $MOUNTED/two 8
	umount $MOUNTED
	mount "$1" $MOUNTED
	files_are_same
	umount $MOUNTED
	note "$(wc -l <"$KTAP_TMP/sums") files of 8 MiB"
}

# Nothing of RoCE arrives in any guest any more, and nobody is told.
cut_silently() {
	each_guest "nft -f - <<-EOF
		table inet cut {
			chain in {
				type filter hook input priority 0
				udp dport 4791 drop
			}
		}
	EOF"
	defer join_silently
}

join_silently() {
	each_guest '! nft list table inet cut >/dev/null 2>&1 ||
		nft delete table inet cut'
}

# The interface goes down, which everybody is told; it keeps its addresses.
cut_loudly() {
	each_guest 'sysctl -q -w net.ipv6.conf.eth0.keep_addr_on_down=1'
	ip link set eth0 down
	defer join_loudly
}

join_loudly() {
	ip link set eth0 up
}

# Cuts the link for SEC seconds while FILE is written; the writer must not
# notice but by the time it takes. HOW is silently or loudly.
cut_while_writing() {
	local how=$1 seconds=$2 file=$3 writer

	SECONDS=0
	(
		for ((i = 0; i < 8 || SECONDS < seconds + 4; i++)); do
			dd if=/dev/urandom of="$file" bs=64k count=16 \
				conv=fsync,notrunc status=none
		done
	) &
	writer=$!
	sleep 1
	"cut_$how"
	sleep "$seconds"
	"join_$how"
	wait $writer || fail "the writer failed"
	sha256sum "$file" >>"$KTAP_TMP/sums"
	note "$how: written to the end after $SECONDS s, $seconds of them cut"
}

# A file system on DISK keeps its files while the link is cut. Arguments: HOW DISK
disk_survives_cut() {
	mount_disk "$2"
	fill $MOUNTED/before 8
	cut_while_writing "$1" 15 $MOUNTED/during
	files_are_same
	fill $MOUNTED/after 8
	files_are_same
	umount $MOUNTED
}

# Deletes the link of guest N: who uses it must let go soon.
delete_link() {
	SECONDS=0
	ktap_on "$1" 'rdma link delete frdma0'
	defer link_again "$1"
	note "deleted within $SECONDS s"
	[ $SECONDS -lt 20 ] || fail "that was too long"
}

# Makes it again, if it is not there, and waits for it.
link_again() {
	ktap_on "$1" '[ -e /sys/class/infiniband/frdma0 ] || {
		modprobe frdma && rdma link add frdma0 type frdma netdev eth0; }'
	await 20 ktap_on "$1" \
		'grep -q ACTIVE /sys/class/infiniband/frdma0/ports/1/state'
}

# No connection is left in guest N. Those made by rdma_cm are called so, whoever
# asked for them: only one consumer is there at a time.
no_connection() {
	prints_no 'type RC' ktap_on "$1" 'rdma resource show qp'
}

# A connection carries traffic in guest N.
has_connection() {
	ktap_on "$1" 'rdma resource show qp' | grep 'type RC' | grep RTS
}

# Bytes that frdma0 has sent and received here.
bytes_moved() {
	echo $(($(counter frdma0 tx_bytes) + $(counter frdma0 rx_bytes)))
}
