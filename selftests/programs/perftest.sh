#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The tools of perftest on all their transports. Sizes, MTUs and address
# families are in verbs/matrix.
#
# guests: 2
# mtu: 4200
# default: no
# timeout: 3600

. "${0%/*}/../lib/frdma.sh"
. "${0%/*}/../lib/traffic.sh"
. "${0%/*}/../lib/programs.sh"

table() {
	local tool

	for tool in $BANDWIDTH $LATENCY ib_atomic_lat; do
		program perftest "$tool" v4 -c RC -n 50
	done
	for tool in ib_write_bw ib_send_bw ib_write_lat ib_send_lat; do
		program perftest $tool v6 -c UC -n 50
	done
	for tool in ib_send_bw ib_send_lat; do
		program perftest $tool v6 -c UD -n 50
	done
	for tool in $BANDWIDTH $LATENCY ib_atomic_lat; do
		program given XRC perftest "$tool" v4 -c XRC -n 50
	done
	for tool in ib_write_bw ib_send_bw ib_write_lat ib_send_lat; do
		program perftest $tool v4 --inline_size=64 -s 64 -n 50
	done
	for tool in ib_send_bw ib_send_lat; do
		program perftest $tool v4 --use-srq -n 50
	done
	program perftest ib_send_bw v4 --use-srq -q 8 -n 50
	for tool in $BANDWIDTH $LATENCY ib_atomic_lat; do
		program perftest "$tool" v4 -R -n 50
	done
	program perftest ib_send_bw v4 -R -c UD -n 50
	# At the target of a write or a read there are no events.
	for tool in ib_send_bw ib_send_lat ib_read_bw ib_read_lat \
		ib_atomic_bw ib_atomic_lat; do
		program perftest $tool v4 -e -n 50
	done
	program perftest ib_write_bw v4 --write_with_imm -n 50
	program perftest ib_write_bw v4 -b -q 8 -l 4 -n 48
	program perftest ib_send_bw v4 -b -a -n 8
	# Its group is of IPv6; the one it has by itself never leaves a host.
	program perftest ib_send_bw v6 -c UD -g -n 50 \
		-M 255:14:0:0:0:0:0:0:0:0:0:0:0:0:71:17
}

on_both table
ktap_end
