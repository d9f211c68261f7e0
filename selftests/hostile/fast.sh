#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Fast registration as it should not be used, by a consumer in the kernel: a
# module that is built here and says why it cannot be loaded. fast/fast.c.
#
# guests: 1
# timeout: 600

. "${0%/*}/../lib/frdma.sh"

fast() {
	insmod "$KTAP_TMP/fast/fast.ko" gid_index="$(gid_index frdma0 v4)" ||
		fail "$(dmesg | grep 'fast: ' | tail -n 1)"
	rmmod fast
}

cp -r "${0%.sh}" "$KTAP_TMP/fast"
make -C "/lib/modules/$(uname -r)/build" M="$KTAP_TMP/fast" modules \
	>"$KTAP_TMP/make" 2>&1 || {
	cat "$KTAP_TMP/make"
	exit 1
}
links_up
ktap_test fast
ktap_end
