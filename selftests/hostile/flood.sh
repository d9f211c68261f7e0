#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A peer that floods: flood.c. Others go on, and no memory is lost. Over IPv4 the
# others have no packets between them, over IPv6 they have. FULL=1 for a hundred
# times as much.
#
# timeout: 5400
# named: bookworm sid

. "${0%/*}/../lib/frdma.sh"
. "${0%/*}/../lib/conformance.sh"
. "${0%/*}/../lib/peer.sh"

# The stack keeps fragments whose rest never comes for half a minute, a minute
# if they are of IPv6, and while it has as many as it may, takes no others: those
# of the next program.
fragments_expire() {
	defer sysctl -qw net.ipv4.ipfrag_time=30 net.ipv6.ip6frag_time=60
	sysctl -qw net.ipv4.ipfrag_time=1 net.ipv6.ip6frag_time=1
	defer await 60 no_fragment_is_kept
}

no_fragment_is_kept() {
	finds_nothing grep -h '^FRAG6\?: inuse [1-9]' /proc/net/sockstat \
		/proc/net/sockstat6
}

# How many fragments the stack has seen.
fragments_seen() {
	awk '$1 == "Ip6ReasmReqds" { seen = $2 }
	     $1 == "Ip:" && $2 ~ /^[0-9]/ { seen += $15 }
	     END { print seen }' /proc/net/snmp6 /proc/net/snmp
}

# Arguments: FAMILY SPARES CASE
flood() {
	local seen

	[ "$3" != fragments ] || fragments_expire
	seen=$(fragments_seen)
	echo "$2" >/sys/class/infiniband/frdma0/loopback
	peer_plays flood "$1" "${FULL:+10}10000" "$3" >"$KTAP_TMP/said" ||
		fail "$(<"$KTAP_TMP/said")"
	note "$(<"$KTAP_TMP/said")"
	[ "$3" != fragments ] || [ $(($(fragments_seen) - seen)) -ge 5000 ] ||
		fail "no fragments"
}

conformance_up frdma frdma
for case in nobody gsi notifications reads negative_answers rubbish \
	fragments; do
	KTAP_LIMIT=700 ktap_test flood v4 1 $case
	KTAP_LIMIT=700 ktap_test flood v6 0 $case
done
ktap_end
