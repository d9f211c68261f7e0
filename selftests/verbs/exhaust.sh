#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# More objects of a kind than there is memory for: the next one is refused with
# ENOMEM, no process is killed, what there is works, and all of it comes back.
# Of device memory a link has little, so that ends before. Most of the memory is
# taken away first, so that the end is not far.
#
# guests: 1
# mem: 512M
# default: no
# timeout: 3600

. "${0%/*}/../lib/frdma.sh"
. "${0%/*}/../lib/traffic.sh"
. "${0%/*}/../lib/memory.sh"

# Leaves so many MiB of memory.
leave() {
	local free

	free=$(awk '/^MemAvailable:/ { print int($2 / 1024) }' /proc/meminfo)
	mkdir -p /run/ballast
	mount -t tmpfs -o size=100% ballast /run/ballast
	defer umount /run/ballast
	fallocate -l $((free - $1))M /run/ballast/file
}

# PROGRAM with arguments, which makes as many as it can.
exhausted() {
	local program=$1 before

	shift
	sysctl -q -w vm.max_map_count=10000000
	with_gid v4 "verbs/$program" "$@" 100
	before=$(memory_in_use 1)
	say_notes with_gid v4 "verbs/$program" "$@" \
		10000000 fill
	unlogged "Out of memory"
	unlogged "page allocation failure"
	nothing_left
	memory_is_back "$before" 1
}

links_up
leave 32
KTAP_LIMIT=900 ktap_test exhausted many
for kind in cq srq dm mr mw ah pd xrcd; do
	KTAP_LIMIT=900 ktap_test exhausted objects $kind
done
ktap_end
