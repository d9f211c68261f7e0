#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Pages that packets are built in: each CPU keeps some, and they are given back
# when memory is short, and when the CPU goes offline.

. "${0%/*}/../lib/frdma.sh"

VMSCAN=/sys/kernel/tracing/events/vmscan
TRACE=/sys/kernel/tracing/trace
CPU=/sys/devices/system/cpu/cpu1

# Pages of 4 KiB that a CPU keeps at most: eight of 32 KiB.
OF_A_CPU=64

# Has the kernel note what it asks of shrinkers.
watch_shrinkers() {
	defer bash -c "echo 0 >$VMSCAN/enable; echo >$TRACE"
	echo 1 >$VMSCAN/mm_shrink_slab_start/enable
	echo 1 >$VMSCAN/mm_shrink_slab_end/enable
}

# Sends and receives by CPU N. Arguments: N
sends_on() {
	local gid pid

	gid=$(gid_index frdma0 v4)
	taskset -c "$1" ibv_rc_pingpong -d frdma0 -g "$gid" -s 65536 -n 100 \
		>"$KTAP_TMP/server" 2>&1 &
	pid=$!
	await 10 bash -c 'ss -Hltn sport = :18515 | grep -q .'
	taskset -c "$1" ibv_rc_pingpong -d frdma0 -g "$gid" -s 65536 -n 100 \
		localhost
	wait $pid
}

# Sets "kept" and "given": what the module's shrinker had, and gave back, in pages.
shrink() {
	echo >$TRACE
	echo 2 >/proc/sys/vm/drop_caches
	kept=$(sed -n 's/.*slab_start: txmem_scan.*cache items \([0-9]*\).*/\1/p' \
		$TRACE | head -n 1)
	given=$(sed -n 's/.*slab_end: txmem_scan.*return val \([0-9]*\).*/\1/p' \
		$TRACE | awk '{ sum += $1 } END { print sum + 0 }')
	note "had ${kept:-none}, gave $given"
}

both_cpus_send() {
	echo 0 >/sys/class/infiniband/frdma0/loopback
	sends_on 0
	sends_on 1
}

given_back_when_memory_is_short() {
	watch_shrinkers
	both_cpus_send
	shrink
	[ "${kept:-0}" -gt 0 ] || fail "no shrinker has pages"
	[ "$given" -gt 0 ] || fail "pages were not given back"
	shrink
	[ "${kept:-0}" = 0 ] || fail "$kept pages are left"
	both_cpus_send
}

given_back_when_a_cpu_goes() {
	[ -w $CPU/online ] || skip "the CPU cannot go offline"
	watch_shrinkers
	both_cpus_send
	defer bash -c "echo 1 >$CPU/online"
	echo 0 >$CPU/online
	shrink
	[ "${kept:-0}" -gt 0 ] || fail "no shrinker has pages"
	[ "$kept" -le $OF_A_CPU ] || fail "the CPU that went has pages"
	sends_on 0
}

links_up
defer bash -c 'echo 1 >/sys/class/infiniband/frdma0/loopback'
ktap_test given_back_when_memory_is_short
ktap_test given_back_when_a_cpu_goes
ktap_end
