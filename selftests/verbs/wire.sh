#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# What frdma puts on the wire, in the eyes of tshark and of scapy.
#
# default: no
# guests: 2
# mtu: 4200

. "${0%/*}/../lib/frdma.sh"
. "${0%/*}/../lib/traffic.sh"

# Arguments: FAMILY [OPTION...]
exchange_is_clean() {
	captured exchange_between frdma0 frdma0 "$@"
	wire_is_clean
}

connection_is_clean() {
	captured pair cm "rping -s -C 3 -a $1" "rping -c -C 3 -a $1"
	wire_is_clean
}

compile exchange
mtu 4200
links_up
for family in v4 v6; do
	ktap_test exchange_is_clean $family -r 3 -s 9000
done
ktap_test exchange_is_clean v4 -r 2 -s 1200 -m 256
ktap_test connection_is_clean 10.77.0.2
ktap_test connection_is_clean fd77::2
ktap_end
