#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A memory region of more than 4 GiB: its far end is read and written.
#
# guests: 1
# default: no
# mem: 6G
# timeout: 400

. "${0%/*}/../lib/frdma.sh"
. "${0%/*}/../lib/traffic.sh"

# The responder's slots are spread over its region, the last ends with it.
spread_over() {
	local gid

	gid=$(gid_index frdma0 v4)
	"$PROGRAMS/verbs/exchange" -d frdma0 -g "$gid" -M "$1" &
	await 60 listens 1 18516
	"$PROGRAMS/verbs/exchange" -d frdma0 -g "$gid" -r 4 -n 16 10.77.0.1
	wait $!
}

links_up
KTAP_LIMIT=280 ktap_test spread_over $(((4 << 30) + 40008))
ktap_end
