#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Unreliable connections and datagrams: what they do and what they drop
# (unreliable.c, one process for each case), and the tools that use them.
#
# guests: 2
# roots: trixie
# named: bookworm sid

. "${0%/*}/../lib/frdma.sh"
. "${0%/*}/../lib/traffic.sh"

# Arguments: FAMILY CASE
unreliable() {
	with_gid "$1" verbs/unreliable "$2"
}

refused_datagrams() {
	local before

	need_modules nf_tables
	ip neighbour replace 10.77.0.99 lladdr 02:00:00:00:00:99 dev eth0 nud permanent
	defer ip neighbour delete 10.77.0.99 dev eth0
	nft 'table ip refuse { chain out { type filter hook output priority 0;
		ip daddr 10.77.0.99 udp dport 4791 drop; }; }'
	defer nft delete table ip refuse
	before=$(counter frdma0 drop_not_sent)
	unreliable v4 ud_refused_delay_nobody
	[ "$(counter frdma0 drop_not_sent)" = $((before + 2000)) ]
}

# ibv_uc_pingpong or ibv_ud_pingpong. Arguments: TOOL FAMILY [OPTION...]
pingpong() {
	local tool=$1 gid1 gid2

	gid1=$(gid_index frdma0 "$2")
	gid2=$(gid_index frdma0 "$2" 2)
	shift 2
	pair 18515 "$tool -d frdma0 -g $gid2 $*" \
		"$tool -d frdma0 -g $gid1 $* frdma2"
	note "$(grep -m 1 Mbit "$KTAP_TMP/client")"
}

# Datagrams by rdma_cm, to an address of guest 2.
udaddy() {
	pair cm "command udaddy -b $1" "command udaddy -s $1"
}

deep_queues
links_up
for case in uc_operations uc_drops_in_silence uc_sqe_and_back \
	ud_operations ud_take_turns ud_drops_in_silence \
	ud_privileged_qkeys; do
	ktap_test unreliable v4 $case
done
ktap_test unreliable v6 ud_operations
ktap_test unreliable v6 ud_take_turns
ktap_test refused_datagrams
for family in v4 v6; do
	ktap_test pingpong ibv_uc_pingpong $family -n 50 -s 10001
	ktap_test pingpong ibv_ud_pingpong $family -n 50 -s 1024
done
ktap_test perftest ib_write_bw v4 -c UC -n 50
ktap_test perftest ib_send_bw v6 -c UC -n 50
ktap_test perftest ib_send_bw v4 -c UD -n 50
ktap_test perftest ib_send_lat v4 -c UD -n 50
ktap_test udaddy 10.77.0.2
ktap_test udaddy fd77::2
ktap_end
