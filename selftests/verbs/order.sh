#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Programs that poll memory instead of a completion queue: order.c, without
# packets, in trains and in single packets. On a processor without FSRM memcpy()
# copies some ranges backwards.
#
# cpu: -fsrm
# timeout: 600

. "${0%/*}/../lib/frdma.sh"

# Sets an attribute of the link. Arguments: NAME VALUE
attribute() {
	local file=/sys/class/infiniband/frdma0/$1

	defer bash -c "echo $(<"$file") >$file"
	echo "$2" >"$file"
}

# Arguments: CASE
polls() {
	local gid

	gid=$(gid_index frdma0 v4)
	"$PROGRAMS/verbs/order" frdma0 "$gid" "$1"
}

without_packets() {
	attribute loopback 1
	polls "$1"
}

in_trains() {
	attribute loopback 0
	attribute trains 1
	polls "$1"
}

in_single_packets() {
	attribute loopback 0
	attribute trains 0
	polls "$1"
}

links_up
for way in without_packets in_trains in_single_packets; do
	for case in writes reads sends flags words_of_two_pages; do
		ktap_test $way $case
	done
done
ktap_end
