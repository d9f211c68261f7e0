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

# Nothing but what belongs to the kernel's own connection manager is left.
nothing_left() {
	each_guest '! rdma resource show qp | grep -v "comm \[ib_core\]" &&
		! rdma resource show cm_id | grep . &&
		! rdma resource show cq | grep -v "comm \[ib_core\]" &&
		! rdma resource show mr | grep .' ||
		fail "something is left"
}

# Runs a command that must succeed; what it says are notes.
say_notes() {
	"$@" >"$KTAP_TMP/said" 2>&1 || fail "$(<"$KTAP_TMP/said")"
	while read -r line; do
		note "$line"
	done <"$KTAP_TMP/said"
}
