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

links_up
for family in v4 v6; do
	mtu 9000
	for size in 1 2 3 255 256 4096 4097 65536 1048575 1048576; do
		for wait in "" -e; do
			# shellcheck disable=SC2086 # none or one word
			ktap_test rc_pingpong $family -c -n 20 -s $size $wait
		done
	done
	for path_mtu in 256 512 1024 2048 4096; do
		ktap_test rc_pingpong $family -c -n 20 -s 100001 -m $path_mtu
	done
	for mtu in 1500 4200 9000; do
		mtu $mtu
		for tool in $BANDWIDTH $LATENCY; do
			ktap_test perftest $tool $family -n 50
			ktap_test perftest $tool $family -n 50 -R
			[[ $tool == *_bw ]] || continue
			ktap_test perftest $tool $family -n 16 -q 64
			ktap_test perftest $tool $family -n 50 -e
		done
	done
done
for address in 10.77.0.2 fd77::2; do
	ktap_test rping_verifies $address 100
	ktap_test ucmatose $address
done
ktap_end
