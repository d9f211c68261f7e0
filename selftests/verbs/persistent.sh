#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# FLUSH to persistent memory, which here the kernel's command line declares so.
#
# mem: 6G
# hugepages: 8
# cmdline: memmap=64M!768M

. "${0%/*}/../lib/frdma.sh"
. "${0%/*}/../lib/traffic.sh"

NVDIMM=/sys/bus/nd

# Makes /dev/dax0.0 of the memory: what a process maps of that may stay pinned,
# which files on such memory do not allow.
dax_up() {
	local modules=(nd_e820 nd_pmem dax_pmem device_dax) seed

	[ ! -c /dev/dax0.0 ] || return 0
	need_modules "${modules[@]}"
	modprobe -a "${modules[@]}"
	await 20 [ -e $NVDIMM/drivers/nd_pmem/namespace0.0 ]
	seed=$(<$NVDIMM/devices/region0/dax_seed)
	echo namespace0.0 >$NVDIMM/drivers/nd_pmem/unbind
	cd $NVDIMM/devices/"$seed" || fail "no $seed"
	cat /proc/sys/kernel/random/uuid >uuid
	echo 2097152 >align
	echo ram >mode
	echo namespace0.0 >namespace
	echo "$seed" >$NVDIMM/drivers/dax_pmem/bind
	await 20 [ -c /dev/dax0.0 ]
}

flushes() {
	placement_is_there
	dax_up
	with_gid v4 verbs/placement "$1" /dev/dax0.0
}

# The longest piece that is written back at once: bottom halves are off meanwhile.
AT_ONCE=$((256 << 10))

TRACING=/sys/kernel/tracing

# Has the kernel note the length of each piece.
watch_pieces() {
	[ -w $TRACING/kprobe_events ] || skip "the kernel has no kprobe events"
	defer bash -c "echo 0 >$TRACING/events/kprobes/enable
		echo -:frdma_piece >>$TRACING/kprobe_events; echo >$TRACING/trace"
	echo 'p:frdma_piece frdma_flush_persistent len=$arg3:u64' \
		>>$TRACING/kprobe_events
	echo >$TRACING/trace
	echo 1 >$TRACING/events/kprobes/frdma_piece/enable
}

in_short_pieces() {
	local pieces longest

	watch_pieces
	flushes memory_that_is_long
	sed -n 's/.*frdma_piece:.* len=//p' $TRACING/trace >"$KTAP_TMP/pieces"
	pieces=$(wc -l <"$KTAP_TMP/pieces")
	longest=$(sort -n "$KTAP_TMP/pieces" | tail -n 1)
	note "$pieces pieces, the longest of $longest bytes"
	[ "$pieces" -gt 0 ] && [ "$longest" -le $AT_ONCE ] ||
		fail "a piece of $longest bytes"
}

links_up
ktap_test flushes memory_that_does_not
ktap_test in_short_pieces
ktap_end
