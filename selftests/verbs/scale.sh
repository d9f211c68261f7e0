#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Many objects at a time: connections by rdma_cm, queue pairs, and whatever has
# an advertised maximum. What they took comes back. When there is no memory for
# more: exhaust.sh.
#
# guests: 2
# mem: 4G
# default: no
# timeout: 3600

. "${0%/*}/../lib/frdma.sh"
. "${0%/*}/../lib/traffic.sh"
. "${0%/*}/../lib/memory.sh"

# COUNT connections at a time, ROUNDS times, between the guests.
connections() {
	local count=$1 rounds=$2

	pair cm "$PROGRAMS/verbs/connections serve 10.77.0.2 $((count * rounds))" \
		"$PROGRAMS/verbs/connections open 10.77.0.2 $count $rounds"
	while read -r line; do
		note "$line"
	done <"$KTAP_TMP/client"
	nothing_left
}

# What the first round leaves are caches.
thousand_connections_ten_times() {
	local before1 before2

	connections 1000 1
	before1=$(memory_in_use 1)
	before2=$(memory_in_use 2)
	connections 1000 10
	memory_is_back "$before1" 1
	memory_is_back "$before2" 2
}

# Each takes two mappings of its process.
many() {
	local before

	sysctl -q -w vm.max_map_count=1000000
	with_gid v4 verbs/many 100
	before=$(memory_in_use 1)
	say_notes with_gid v4 verbs/many "$1"
	nothing_left
	memory_is_back "$before" 1
}

deep() {
	local before

	before=$(memory_in_use 1)
	say_notes with_gid v4 verbs/reach deep
	memory_is_back "$before" 1
}

# That many objects of a kind: what is slow with many takes too long.
objects() {
	local before

	sysctl -q -w vm.max_map_count=1000000
	with_gid v4 verbs/objects "$1" 1000
	before=$(memory_in_use 1)
	say_notes with_gid v4 verbs/objects "$1" "$2"
	memory_is_back "$before" 1
}

links_up
for kind in pd cq srq mr mw ah xrcd; do
	KTAP_LIMIT=600 ktap_test objects $kind 100000
done
KTAP_LIMIT=600 ktap_test objects group 8192
KTAP_LIMIT=600 ktap_test deep
KTAP_LIMIT=1500 ktap_test thousand_connections_ten_times
KTAP_LIMIT=600 ktap_test many 10000
KTAP_LIMIT=1500 ktap_test many 100000
ktap_end
