#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# All combinations of tools, sizes, path MTUs, address families, numbers of
# queue pairs, ways to connect, and MTUs. Takes an hour.
#
# guests: 2
# mtu: 9000
# default: no
# timeout: 7200

. "${0%/*}/../lib/frdma.sh"
. "${0%/*}/../lib/traffic.sh"

# Polling and with events.
rc_pingpong_both_ways() {
	rc_pingpong "$@"
	rc_pingpong "$@" -e
}

# Arguments: TOOL FAMILY
perftest_all_ways() {
	perftest "$@" -n 50
	perftest "$@" -n 50 -R
	[[ $1 == *_bw ]] || return 0
	perftest "$@" -n 5 -q 64
	# There is no event of an RDMA WRITE at its target: perftest refuses.
	[ "$1" = ib_write_bw ] || perftest "$@" -n 50 -e
}

deep_queues
links_up
for mtu in 1500 4200 9000; do
	mtu $mtu
	note "MTU $mtu"
	for family in v4 v6; do
		for tool in $BANDWIDTH $LATENCY; do
			ktap_test perftest_all_ways "$tool" $family
		done
	done
done
for family in v4 v6; do
	for size in 1 2 3 255 256 4096 4097 65536 1048575 1048576; do
		ktap_test rc_pingpong_both_ways $family -c -n 20 -s $size
	done
	for path_mtu in 256 512 1024 2048 4096; do
		ktap_test rc_pingpong_both_ways $family -c -n 20 -s 100001 \
			-m $path_mtu
	done
done
for address in 10.77.0.2 fd77::2; do
	ktap_test rping_verifies $address 100
	ktap_test ucmatose $address
done
ktap_end
