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

# The stack keeps fragments whose rest never comes for half a minute, and while
# it has as many as it may, takes no others: those of the next program.
fragments_expire() {
	defer sysctl -qw net.ipv4.ipfrag_time=30
	sysctl -qw net.ipv4.ipfrag_time=1
	defer await 60 no_fragment_is_kept
}

no_fragment_is_kept() {
	grep '^FRAG: inuse 0 ' /proc/net/sockstat
}

flood() {
	[ "$1" != fragments ] || fragments_expire
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
