#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A process of this host changes the headers of its packets while they are
# looked at: they are dropped, each for one reason or another. lent.c.
#
# guests: 1

. "${0%/*}/../lib/frdma.sh"

headers_change_while_read() {
	local before

	before=$(counter frdma0 rx_packets)
	"$PROGRAMS/hostile/lent" 10.77.0.1 "$1"
	await 5 all_came $((before + $1))
	note "short: $(counter frdma0 drop_short)," \
		"bad_icrc: $(counter frdma0 drop_bad_icrc)"
}

all_came() {
	[ "$(counter frdma0 rx_packets)" -ge "$1" ]
}

links_up
ktap_test headers_change_while_read 30000
ktap_end
