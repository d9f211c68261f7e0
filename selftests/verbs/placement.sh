#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# ATOMIC WRITE and FLUSH: placement.c, and what pyverbs has of them.
#
# guests: 2
# timeout: 900

. "${0%/*}/../lib/frdma.sh"
. "${0%/*}/../lib/traffic.sh"

placement() {
	placement_is_there
	with_gid v4 verbs/placement "$1"
}

# The requests and their answers, in the eyes of tshark and of scapy.
wire() {
	local opcode

	placement_is_there
	captured placement_between frdma0 frdma0
	wire_is_clean
	for opcode in 28 29; do
		[ "$(cut -f 3 "$KTAP_TMP/wire" | grep -cx $opcode)" -ge 20 ] ||
			fail "too few packets of opcode $opcode"
	done
}

links_up
for case in device_says_so eight_bytes builder refuses \
	needs_rights_of_the_queue_pair comes_after_what_was_written \
	flush flush_refuses flush_what_is_not_pinned memory_that_forgets; do
	ktap_test placement $case
done
ktap_test wire
ktap_test pyverbs_of 1 test_qp_ex_rc_atomic_write
ktap_test pyverbs_of 2 test_qp_ex_rc_flush
ktap_end
