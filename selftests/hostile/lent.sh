#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A process of this host changes the headers of its packets while they are
# looked at: they are dropped, each for one reason or another. lent.c.
#
# guests: 1

. "${0%/*}/../lib/frdma.sh"

headers_change_while_read() {
	local before short bad

	before=$(dropped)
	short=$(counter frdma0 drop_short)
	bad=$(counter frdma0 drop_bad_icrc)
	"$PROGRAMS/hostile/lent" 10.77.0.1 "$1"
	await 5 have_been_dropped $((before + $1))
	short=$(($(counter frdma0 drop_short) - short))
	bad=$(($(counter frdma0 drop_bad_icrc) - bad))
	note "short: $short, bad_icrc: $bad"
	[ $short -gt 0 ] && [ $bad -gt 0 ] || fail "the header did not change"
}

# Packets that frdma0 has dropped, for whatever reason.
dropped() {
	cat /sys/class/infiniband/frdma0/ports/1/hw_counters/drop_* |
		awk '{ sum += $1 } END { print sum }'
}

have_been_dropped() {
	[ "$(dropped)" = "$1" ]
}

links_up
ktap_test headers_change_while_read 30000
ktap_end
