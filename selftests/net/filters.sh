#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Traffic of all kinds on four CPUs, with threads for interrupts: alone, and
# through connection tracking, or past it.
#
# guests: 1
# smp: 4
# cmdline: threadirqs

. "${0%/*}/../lib/frdma.sh"
. "${0%/*}/../lib/ends.sh"

# Loads a table of nft for both ends.
rules() {
	need_modules nf_tables nf_conntrack nft_ct
	nft -f - <<<"table inet frdma {
		$1
	}"
	defer nft delete table inet frdma
	in_far nft -f - <<<"table inet frdma {
		$1
	}"
}

# Prints how many flows to port 4791 are tracked. Arguments: v4|v6
tracked() {
	grep -c "^ip$1 .*dport=4791" /proc/net/nf_conntrack || true
}

flows() {
	ends_up
	[ "$(nproc)" = 4 ] || fail "$(nproc) CPUs"
	flow "$1" frdma0 frdma1 "${ALL_KINDS[@]}"
	flow_is_well
	pingpong "$1" -n 20
}

# Connection tracking knows each flow. A packet without one would be dropped.
tracked_flows() {
	ends_up
	rules 'chain input {
			type filter hook input priority filter
			udp dport 4791 ct state invalid drop
			udp dport 4791 ct state new,established accept
		}
		chain output {
			type filter hook output priority filter
			udp dport 4791 ct state invalid drop
		}'
	flow "$1" frdma0 frdma1 "${ALL_KINDS[@]}"
	flow_is_well
	[ ! -e /proc/net/nf_conntrack ] || [ "$(tracked "$1")" -gt 0 ] ||
		fail "nothing is tracked"
}

untracked_flows() {
	ends_up
	rules 'chain prerouting {
			type filter hook prerouting priority raw
			udp dport 4791 notrack
		}
		chain output {
			type filter hook output priority raw
			udp dport 4791 notrack
		}
		chain input {
			type filter hook input priority filter
			udp dport 4791 ct state != untracked drop
		}'
	flow "$1" frdma0 frdma1 "${ALL_KINDS[@]}"
	flow_is_well
	[ ! -e /proc/net/nf_conntrack ] || [ "$(tracked "$1")" = 0 ] ||
		fail "it is tracked: $(grep dport=4791 /proc/net/nf_conntrack)"
}

for family in v4 v6; do
	ktap_test flows $family
	# In this order: what was tracked stays for a while.
	ktap_test untracked_flows $family
	ktap_test tracked_flows $family
done
ktap_end
