#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Fast registration as it should not be used, by a consumer in the kernel: a
# module that says why it cannot be loaded. consumer/fast.c.
#
# guests: 1

. "${0%/*}/../lib/frdma.sh"

fast() {
	local gid

	gid=$(gid_index frdma0 v4)
	insmod "/lib/modules/$(uname -r)/frdma-test/fast.ko" \
		gid_index="$gid" ||
		fail "$(dmesg | grep 'fast: ' | tail -n 1)"
	rmmod fast
}

links_up
ktap_test fast
ktap_end
