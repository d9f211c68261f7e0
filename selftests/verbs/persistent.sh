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

links_up
ktap_test flushes memory_that_does_not
ktap_test flushes memory_that_is_long
ktap_end
