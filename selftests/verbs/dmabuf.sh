#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Regions of memory that another driver exports: dmabuf.c, one process for each
# case, with buffers of the two exporters that need no hardware. Debian 12 has
# neither.
#
# roots: trixie
# named: sid

. "${0%/*}/../lib/frdma.sh"
. "${0%/*}/../lib/traffic.sh"

# Arguments: EXPORTER
is_there() {
	case $1 in
	udmabuf) [ -e /dev/udmabuf ] ;;
	heap)	[ -e /dev/dma_heap/system ] ;;
	esac || skip "this kernel has no $1"
}

# Arguments: EXPORTER CASE
dmabuf() {
	is_there "$1"
	with_gid v4 verbs/dmabuf "$1" "$2"
}

# How many there are of an exporter, by the name that the kernel lists.
buffers_of() {
	local list=/sys/kernel/debug/dma_buf/bufinfo

	[ -e "$list" ] || mount -t debugfs none /sys/kernel/debug
	grep -cw "$1" "$list" || true
}

# Killed, not ended: nobody but the kernel gives the region back.
dies_with_a_region() {
	local said=$KTAP_TMP/said name=$1 pid

	is_there "$1"
	[ "$name" != heap ] || name=system
	dmabuf "$1" has_a_region >"$said" &
	pid=$!
	await 20 grep -q registered "$said"
	[ "$(buffers_of "$name")" = 1 ] || fail "there is no buffer"
	pkill -KILL -P "$pid"
	wait "$pid" || true
	[ "$(buffers_of "$name")" = 0 ] || fail "the buffer is still there"
}

# Arguments: EXPORTER, a kind of buffer of exporter.ko
difficult() {
	local in_use=/sys/module/exporter/parameters/in_use

	insmod "/lib/modules/$(uname -r)/frdma-test/exporter.ko"
	defer rmmod exporter
	await 5 [ -e /dev/frdma-exporter ]
	dmabuf "$1" is_difficult
	[ "$(<$in_use)" = 0 ] || fail "$(<$in_use) pins or mappings are left"
}

links_up
for exporter in udmabuf heap; do
	for case in refuses is_written_and_read is_a_source is_received_to \
		is_added_to shows_a_part only_for_reading \
		outlives_the_exporter is_registered_twice stays_as_it_is; do
		ktap_test dmabuf $exporter $case
	done
	ktap_test dies_with_a_region $exporter
done
for exporter in no-vmap iomem no-pin moves; do
	ktap_test difficult $exporter
done
ktap_end
