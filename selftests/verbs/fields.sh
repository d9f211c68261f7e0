#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# What a path says is in the headers of requests and of their answers alike:
# each end's packets carry what that end was told.
#
# guests: 2
# default: no
# timeout: 900

. "${0%/*}/../lib/frdma.sh"
. "${0%/*}/../lib/traffic.sh"

# Arguments: FAMILY, and the fields of both ends
placed() {
	local gid1 gid2

	placement_is_there
	are_neighbours
	gid1=$(gid_index frdma0 "$1")
	gid2=$(gid_index frdma0 "$1" 2)
	pair 18517 "$3 $PROGRAMS/verbs/placement frdma0 $gid2 serve 18517" \
		"$2 $PROGRAMS/verbs/placement frdma0 $gid1 reach 18517 frdma2"
}

# Fields of the capture, in decimal, as there are different ones. Arguments:
# SOURCE FILTER FIELD...
seen() {
	local source=$1 filter=$2 line value out

	shift 2
	tshark -r "$KTAP_TMP/wire.pcap" -Y "$filter == $source" -T fields \
		-E separator=' ' "${@/#/-e}" 2>/dev/null | sort -u |
		while read -r line; do
			out=
			for value in $line; do
				out+=" $((value))"
			done
			echo "${out# }"
		done
}

is() {
	[ "$1" = "$2" ] || fail "$3: seen: $1; expected: $2"
}

# The kernel's rdma_flow_label_to_udp_sport().
port_of_label() {
	echo $(((($1 & 0x3fff) ^ ($1 >> 14)) | 0xc000))
}

# The core puts the route's hop limit in place of what a program says; packets of a
# connection are ECN-capable.
over_ipv4() {
	local one="TCLASS=0x60 HOPS=17" two="TCLASS=0x28 HOPS=99"

	captured placed v4 "$one" "$two"
	is "$(seen 10.77.0.1 ip.src ip.dsfield ip.ttl infiniband.bth.p_key)" \
		"$((0x62)) 64 65535" requests
	is "$(seen 10.77.0.2 ip.src ip.dsfield ip.ttl infiniband.bth.p_key)" \
		"$((0x2a)) 64 65535" answers
}

# One source port for a connection, of those that carry entropy.
ports_of_a_connection() {
	local source port

	for source in 10.77.0.1 10.77.0.2; do
		port=$(seen $source ip.src udp.srcport)
		[[ $port =~ ^[0-9]+$ ]] || fail "$source: several: $port"
		[ "$port" -ge $((0xc000)) ] || fail "$source: $port"
	done
}

over_ipv6() {
	local one="TCLASS=0x60 LABEL=0xabcde HOPS=17"
	local two="TCLASS=0x28 LABEL=0x12345 HOPS=99 RATE=2"

	captured placed v6 "$one" "$two"
	is "$(seen fd77::1 ipv6.src ipv6.tclass ipv6.flow ipv6.hlim \
		udp.srcport)" \
		"$((0x62)) $((0xabcde)) 64 $(port_of_label 0xabcde)" requests
	is "$(seen fd77::2 ipv6.src ipv6.tclass ipv6.flow ipv6.hlim \
		udp.srcport)" \
		"$((0x2a)) $((0x12345)) 64 $(port_of_label 0x12345)" answers
}

# Packets that have left guest N by band 3, which only priority 5 leads to.
by_priority() {
	ktap_on "$1" "tc -s class show dev eth0 | grep -A 1 'class prio 1:3' |
		grep -o '[0-9]* pkt' | cut -d ' ' -f 1"
}

bands() {
	defer each_guest "tc qdisc delete dev eth0 root"
	each_guest "tc qdisc replace dev eth0 root handle 1: prio bands 3 \
		priomap 0 0 0 0 0 2 0 0 0 0 0 0 0 0 0 0"
}

# The service level is the priority in this host, by which VLANs and queueing
# disciplines go. One of the eight beyond, as completions of datagrams have, is none.
service_levels() {
	bands
	placed v4 SL=0 SL=0
	is "$(by_priority 1) $(by_priority 2)" "0 0" "without"
	placed v4 SL=13 SL=13
	is "$(by_priority 1) $(by_priority 2)" "0 0" "beyond"
	placed v4 SL=5 SL=0
	[ "$(by_priority 1)" -ge 60 ] || fail "requests: $(by_priority 1)"
	is "$(by_priority 2)" 0 answers
	placed v4 SL=0 SL=5
	[ "$(by_priority 2)" -ge 40 ] || fail "answers: $(by_priority 2)"
}

links_up
ktap_test over_ipv4
ktap_test ports_of_a_connection
ktap_test over_ipv6
ktap_test service_levels
ktap_end
