# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# What many objects take comes back. Read after frdma.sh.

# KiB of memory in guest N that are not free and not a cache of files. Free are
# also the pages that each CPU keeps at hand, of which there may be many MiB.
# shellcheck disable=SC2016 # for the guest's shell
memory_in_use() {
	ktap_on "$1" 'echo 3 >/proc/sys/vm/drop_caches; sleep 2
		awk "/^MemTotal:/ { n += \$2 }
			/^(MemFree|Cached|Buffers):/ { n -= \$2 }
			\$1 == \"count:\" { n -= \$2 * 4 }
			END { print n }" /proc/meminfo /proc/zoneinfo'
}

# Between two measurements nothing may be lost: a connection that leaves a page
# behind shows as 40 MiB after 10,000, what the kernel keeps for itself not.
memory_is_back() {
	local before=$1 after

	after=$(memory_in_use "$2")
	note "guest $2: $before KiB in use before, $after KiB after"
	[ $((after - before)) -lt 8192 ] ||
		fail "guest $2 has lost $((after - before)) KiB"
}

# Prints the objects in guest N, without those of the kernel's own connection
# manager.
objects_left() {
	local kind said

	for kind in qp cm_id cq mr; do
		said=$(ktap_on "$1" "rdma resource show $kind") || return
		case $kind in
		qp|cq)	sed '/comm \[ib_core\]/d' <<<"$said" ;;
		*)	echo "$said" ;;
		esac
	done | sed '/^$/d'
}

nothing_left() {
	local n left

	for n in $(seq "$FRDMA_NODES"); do
		left=$(objects_left "$n") || fail "guest $n lists no objects"
		[ -z "$left" ] || fail "guest $n: $left"
	done
}
