#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The tools everybody tries first: ibv_rc_pingpong, rping, ucmatose and those
# of perftest, each once. verbs/matrix has all their combinations.
#
# guests: 2
# mtu: 9000
# timeout: 900

. "${0%/*}/../lib/frdma.sh"
. "${0%/*}/../lib/traffic.sh"

mtu 4200
deep_queues
links_up
for size in 1 1000 65537 1048576; do
	ktap_test rc_pingpong v4 -c -n 4 -s $size
done
for path_mtu in 256 4096; do
	ktap_test rc_pingpong v6 -c -n 20 -e -s 10001 -m $path_mtu
done
ktap_test rc_pingpong v4 -t -n 20 -s 1000
ktap_test rping_verifies 10.77.0.2 100
ktap_test rping_verifies fd77::2 100
ktap_test ucmatose 10.77.0.2
for tool in $BANDWIDTH $LATENCY; do
	ktap_test perftest $tool v4 -n 50
done
ktap_test perftest ib_write_bw v4 -n 50 -R
ktap_test perftest ib_read_lat v4 -n 50 -R
ktap_test perftest ib_send_bw v6 -n 8 -q 64
mtu 9000
ktap_test perftest ib_read_bw v6 -n 50
ktap_end
