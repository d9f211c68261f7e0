#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# What frdma puts on the wire, in the eyes of tshark and of scapy.
#
# guests: 2
# mtu: 9000

. "${0%/*}/../lib/frdma.sh"
. "${0%/*}/../lib/traffic.sh"

# Every operation, in trains and in single packets.
exchanges() {
	exchange_between frdma0 frdma0 v4 -r 6 -s 9000
	exchange_between frdma0 frdma0 v6 -r 6 -s 9000
	exchange_between frdma0 frdma0 v4 -r 2 -s 1200 -m 256
}

connections() {
	local address

	for address in 10.77.0.2 fd77::2; do
		pair cm "rping -s -C 3 -a $address" "rping -c -C 3 -a $address"
	done
}

# Arguments: FUNCTION
clean() {
	captured "$1"
	wire_is_clean
}

mtu 4200
links_up
ktap_test clean exchanges
ktap_test clean connections
ktap_end
