#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The conformance scripts against the loaded module once more, which sends in
# trains now. The stack cuts them in front of veth, and the peer gets the packets
# that it gets in module.sh.
#
# timeout: 900

. "${0%/*}/../lib/frdma.sh"
. "${0%/*}/../lib/conformance.sh"

# Of all cases some send trains; one alone need not. Arguments: DEVICE [CASE]
plays_in_trains() {
	local sent

	conformance_play "$1"
	sent=$(counter "$1" tx_trains)
	note "$sent trains were sent"
	[ -n "${2-}" ] || [ "$sent" -gt 0 ]
}

conformance_up frdma frdma
conformance_vlan
conformance_trains
ethtool -K conf0 gso on >/dev/null
# Also where new links begin without.
echo 1 >/sys/class/infiniband/frdma0/trains
KTAP_LIMIT=540 ktap_test plays_in_trains frdma0 "${KTAP_ONLY:-}"
ktap_end
