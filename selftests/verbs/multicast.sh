#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Multicast: who gets a copy, and who may attach (unreliable.c, one process for
# each case); an interface that moves to another namespace; mckey.
#
# guests: 2
# roots: trixie
# named: bookworm sid

. "${0%/*}/../lib/frdma.sh"
. "${0%/*}/../lib/traffic.sh"

# Groups whose address begins so, that eth0 of guest N is in.
groups() {
	local said

	said=$(ktap_on "$1" "ip maddress show dev eth0") || return
	grep -E "inet6? +$2" <<<"$said" || true
}

# Arguments: FAMILY CASE. Nobody is left in a group when the process has ended.
group() {
	local left

	with_gid "$1" verbs/unreliable "$2"
	left=$(groups 1 '(239.78|ff0e::)')
	[ -z "$left" ] || fail "still in a group: $left"
}

# An interface that moves leaves its groups behind, and is in others where it
# comes to: those are not the link's to leave. All hosts are in ff02::1.
moved() {
	local gid

	defer da_remove
	modprobe dummy numdummies=0
	ip link add da type dummy
	ip link set da up
	ip address add fd79::1/64 dev da nodad
	rdma link add frdma1 type frdma netdev da
	await 20 gid_index frdma1 v6
	gid=$(gid_index frdma1 v6)
	"$PROGRAMS/verbs/unreliable" frdma1 "$gid" \
		mcast_all_hosts >"$KTAP_TMP/member" 2>&1 &
	defer end_process $!
	await 20 grep attached "$KTAP_TMP/member"
	[ "$(all_hosts)" = 2 ]

	ip netns add other
	defer netns_delete other
	ip link set da netns other
	await 60 no_link frdma1
	[ "$(all_hosts -n other)" = 1 ] || fail "not in the group of all hosts"
}

da_remove() {
	[ ! -e /sys/class/net/da ] || ip link delete da
}

no_link() {
	[ ! -e "/sys/class/infiniband/$1" ]
}

# How often da is in ff02::1.
all_hosts() {
	ip "$@" maddress show dev da |
		awk '$2 == "ff02::1" { print $3 == "users" ? $4 : 1 }'
}

# What one member has to say to the other. Over IPv4 only: rdma_cm itself refuses
# to join groups of IPv6 by a GID of RoCEv2 (ENOTSUPP), on every device.
# Arguments: ADDRESS1 ADDRESS2 GROUP
mckey() {
	local pid

	on 2 "timeout $((60 * KTAP_SLOW)) mckey -m $3 -b $2" >"$KTAP_TMP/server" 2>&1 &
	pid=$!
	await 60 member_of "$3"
	within 60 mckey -m "$3" -b "$1" -s >"$KTAP_TMP/client" 2>&1
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
	local members

	members=$(groups 2 "$1") && [ -z "$members" ]
}

links_up
for family in v4 v6; do
	ktap_test group $family mcast_delivers
	ktap_test group $family mcast_rules
done
ktap_test group v4 mcast_many
ktap_test moved
ktap_test mckey 10.77.0.1 10.77.0.2 239.77.1.1
ktap_end
