#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A peer that floods: flood.c. Others go on, and no memory is lost. FULL=1 for
# a hundred times as much.
#
# timeout: 5400
# named: bookworm sid

. "${0%/*}/../lib/frdma.sh"
. "${0%/*}/../lib/conformance.sh"
. "${0%/*}/../lib/peer.sh"

flood() {
	peer_plays flood v4 "${FULL:+10}10000" "$1" >"$KTAP_TMP/said" ||
		fail "$(<"$KTAP_TMP/said")"
	note "$(<"$KTAP_TMP/said")"
}

conformance_up frdma frdma
for case in nobody gsi notifications reads negative_answers rubbish \
	fragments; do
	KTAP_LIMIT=700 ktap_test flood $case
done
ktap_end
