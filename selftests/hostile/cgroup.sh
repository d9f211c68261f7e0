#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Control groups hold what they promise: a process that takes all the memory of
# its group is refused more, or killed, and no other is; what it was charged
# goes back; and it has no more contexts and objects than its group may have.
# cgroup.c.
#
# guests: 1
# named: bookworm sid

. "${0%/*}/../lib/frdma.sh"
. "${0%/*}/../lib/memory.sh"

GROUPS_AT=/sys/fs/cgroup
GROUP=$GROUPS_AT/hostile

# The group, with these controllers.
group_up() {
	local controller

	if ! mountpoint -q $GROUPS_AT; then
		mount -t cgroup2 cgroup2 $GROUPS_AT
		defer umount $GROUPS_AT
	fi
	for controller; do
		echo "+$controller" >$GROUPS_AT/cgroup.subtree_control
	done
	mkdir $GROUP
	defer rmdir $GROUP
}

hostile() {
	leaves_no_object say_notes with_gid v4 hostile/cgroup $GROUP "$1"
}

# Arguments: KIND [BYTES]
memory_of() {
	group_up memory
	echo "${2:-20M}" >$GROUP/memory.max
	hostile "$1"
}

# A context that a process may not have, ib_core frees without the process that
# it has taken hold of (UVERBS_METHOD_GET_CONTEXT), whatever the driver.
number_of() {
	[ ! -e /sys/kernel/debug/kmemleak ] ||
		skip "ib_core loses the process where it refuses a context"
	group_up rdma
	echo "frdma0 hca_handle=2 hca_object=8" >$GROUP/rdma.max
	hostile objects
}

links_up
for kind in queue_pairs completion_queues shared_queues regions; do
	ktap_test memory_of $kind
done
for kind in device_memory tables_on_demand; do
	ktap_test memory_of $kind 8M
done
ktap_test number_of objects
ktap_end
