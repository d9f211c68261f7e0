#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Multicast: who gets a copy, and who may attach (unreliable.c, one process for
# each case); mckey.
#
# guests: 2
# roots: trixie bookworm sid

. "${0%/*}/../lib/frdma.sh"
. "${0%/*}/../lib/traffic.sh"

# Groups whose address begins so, that eth0 of guest N is in.
groups() {
	on "$1" "ip maddress show dev eth0" | grep -E "inet6? +$2" || true
}

# Arguments: FAMILY CASE. Nobody is left in a group when the process has ended.
group() {
	"$PROGRAMS/unreliable" frdma0 "$(gid_index frdma0 "$1")" "$2"
	[ -z "$(groups 1 '(239.78|ff0e::)')" ] || fail "still in a group"
}

# What one member has to say to the other. Over IPv4 only: rdma_cm itself refuses
# to join groups of IPv6 by a GID of RoCEv2 (ENOTSUPP), on every device.
# Arguments: ADDRESS1 ADDRESS2 GROUP
mckey() {
	local pid

	on 2 "timeout 60 mckey -m $3 -b $2" >"$KTAP_TMP/server" 2>&1 &
	pid=$!
	await 60 member_of "$3"
	timeout 60 mckey -m "$3" -b "$1" -s >"$KTAP_TMP/client" 2>&1
	wait $pid
	grep 'data transfers complete' "$KTAP_TMP/server"
	await 20 no_member_of "$3"
}

# The core joins groups of IPv4, too, before the queue pair is attached.
member_of() {
	case $1 in
	*:*)	[ -n "$(groups 2 "$1")" ] ;;
	*)	[[ $(groups 2 "$1") == *"users 2"* ]] ;;
	esac
}

no_member_of() {
	[ -z "$(groups 2 "$1")" ]
}

compile unreliable
links_up
for family in v4 v6; do
	ktap_test group $family mcast_delivers
	ktap_test group $family mcast_rules
done
ktap_test mckey 10.77.0.1 10.77.0.2 239.77.1.1
ktap_end
