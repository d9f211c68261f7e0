#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# What is sent may be written to meanwhile: restless.c.
#
# guests: 1
# mtu: 4200

. "${0%/*}/../lib/frdma.sh"

source_changes_while_sent() {
	mtu 4200
	echo "$1" >/sys/class/infiniband/frdma0/loopback
	with_gid v4 verbs/restless
	note "resent_packets: $(counter frdma0 resent_packets)"
}

links_up
# As packets, and without.
ktap_test source_changes_while_sent 0
ktap_test source_changes_while_sent 1
ktap_end
