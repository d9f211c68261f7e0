#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# NFS over RDMA: nfsd in guest 2, mounted here. Without nfs-utils: what mountd
# and exportfs would answer is written into nfsd's caches beforehand.
#
# guests: 2
# mtu: 4200
# roots: trixie bookworm sid
# default: no
# timeout: 1800

. "${0%/*}/../lib/frdma.sh"
. "${0%/*}/../lib/consumers.sh"

# Read and write, root stays root, no subtree check, any port, a file system
# without a number of its own (include/uapi/linux/nfsd/export.h).
EXPORT_FLAGS=$((0x2 | 0x10 | 0x400 | 0x2000))

# Guest 2 exports a file system in memory to guest 1, as the root of NFSv4.
# It need not wait for clients of former times, of whom there are none; a server
# without a place to remember them in waits for ten seconds.
server_up() {
	defer server_down
	on 2 "modprobe nfsd && modprobe rpcrdma &&
		mkdir -p /run/export && mount -t tmpfs -o size=256M tmpfs /run/export &&
		mount -t nfsd nfsd /proc/fs/nfsd &&
		cd /proc/net/rpc &&
		echo 'nfsd 10.77.0.1 2147483647 guests' >auth.unix.ip/channel &&
		echo 'guests /run/export 2147483647 $EXPORT_FLAGS 65534 65534 0' \
			>nfsd.export/channel &&
		echo 'guests 1 \\x00000000 2147483647 /run/export' \
			>nfsd.fh/channel &&
		cd /proc/fs/nfsd && echo 10 >nfsv4leasetime &&
		echo 10 >nfsv4gracetime && echo '-3 +4 +4.1 +4.2' >versions &&
		echo 'rdma 20049' >portlist && echo 4 >threads &&
		{ echo Y >v4_end_grace || true; }"
}

server_down() {
	on 2 'echo 0 >/proc/fs/nfsd/threads
		for cache in auth.unix.ip nfsd.export nfsd.fh; do
			date +%s >/proc/net/rpc/$cache/flush
		done
		umount /run/export; umount /proc/fs/nfsd
		modprobe -r nfsd rpcrdma'
}

# Arguments: [OPTION]...
client_up() {
	local options=vers=4.2,proto=rdma,port=20049,addr=10.77.0.2

	modprobe nfsv4
	modprobe rpcrdma
	rm -f "$KTAP_TMP/sums"
	mkdir -p $MOUNTED
	defer client_down
	mount -i -t nfs4 -o "$options,clientaddr=10.77.0.1,sec=sys${1:+,$1}" \
		10.77.0.2:/ $MOUNTED
	grep "$MOUNTED .*proto=rdma" /proc/mounts
}

client_down() {
	unmount
	modprobe -r rpcrdma nfsv4
}

# Files of all sizes, which arrive at the server, and what it makes arrives.
files() {
	local moved

	server_up
	client_up "${1:-}"
	moved=$(bytes_moved)
	fill $MOUNTED/large 32
	for size in 0 1 511 4095 4097 65535 1048577; do
		head -c $size /dev/urandom >$MOUNTED/small.$size
		sha256sum $MOUNTED/small.$size >>"$KTAP_TMP/sums"
	done
	files_are_same
	sed "s:$MOUNTED:/run/export:" "$KTAP_TMP/sums" |
		on 2 -i 'sha256sum --quiet -c'
	on 2 'head -c 16M /dev/urandom >/run/export/made &&
		sha256sum /run/export/made' |
		sed "s:/run/export:$MOUNTED:" >"$KTAP_TMP/made"
	sha256sum --quiet -c "$KTAP_TMP/made"
	moved=$(($(bytes_moved) - moved))
	[ $moved -gt 80000000 ] || fail "only $moved bytes came over RDMA"

	mkdir $MOUNTED/many
	for i in $(seq 200); do
		echo "$i" >$MOUNTED/many/$i
	done
	[ "$(on 2 'cat /run/export/many/* | wc -l')" = 200 ]
	rm -r $MOUNTED/many
	note "$((moved >> 20)) MiB over RDMA"
}

direct() {
	server_up
	client_up
	head -c 16M /dev/urandom >"$KTAP_TMP/data"
	for size in 4k 64k 1M; do
		dd if="$KTAP_TMP/data" of=$MOUNTED/data bs=$size oflag=direct \
			status=none
		dd if=$MOUNTED/data bs=$size iflag=direct status=none |
			cmp - "$KTAP_TMP/data"
	done
}

cut() {
	server_up
	client_up
	fill $MOUNTED/before 8
	cut_while_writing "$1" 15 $MOUNTED/during
	files_are_same
	fill $MOUNTED/after 8
	files_are_same
}

# The link of guest N is deleted under the mount, and made again.
link_deleted() {
	server_up
	client_up
	fill $MOUNTED/before 8
	delete_link "$1"
	sleep 3
	ktap_on "$1" 'modprobe -r frdma'
	link_again "$1"
	files_are_same
	fill $MOUNTED/after 8
	files_are_same
}

links_up
ktap_test files
ktap_test files rsize=4096,wsize=4096
ktap_test direct
ktap_test cut silently
ktap_test cut loudly
ktap_test link_deleted 1
ktap_test link_deleted 2
ktap_end
