#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The shortest proof that frdma works between two machines, on every kernel.
#
# guests: 2
# roots: trixie bookworm sid

. "${0%/*}/../lib/frdma.sh"

# libibverbs finds the provider and the port.
devinfo() {
	ibv_devinfo -d frdma0 | tee "$KTAP_TMP/devinfo"
	grep -q 'state:.*PORT_ACTIVE' "$KTAP_TMP/devinfo"
	grep -q 'link_layer:.*Ethernet' "$KTAP_TMP/devinfo"
}

rc_pingpong() {
	local gid

	gid=$(gid_index frdma0 "$1")
	shift
	pair 18515 "ibv_rc_pingpong -d frdma0 -g $gid $*" \
		"ibv_rc_pingpong -d frdma0 -g $gid $* frdma2"
	note "$(grep -m 1 Mbit "$KTAP_TMP/client")"
}

rping_verifies() {
	pair cm "rping -s -v -C 20 -a $1" "rping -c -v -C 20 -a $1"
	[ "$(grep -c 'ping data' "$KTAP_TMP/client")" = 20 ]
}

links_up
ktap_test devinfo
for family in v4 v6; do
	ktap_test rc_pingpong $family -n 200
	ktap_test rc_pingpong $family -n 200 -e
done
ktap_test rping_verifies 10.77.0.2
ktap_test rping_verifies fd77::2
ktap_end
