#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A kernel without IPv6 has links with IPv4 only, and says so once.
#
# guests: 1
# cmdline: ipv6.disable=1

. "${0%/*}/../lib/frdma.sh"
. "${0%/*}/../lib/ends.sh"

works_over_ipv4() {
	ends_up
	logged "this kernel has no IPv6: links use IPv4 only"
	prints_no '^fd' bash -c 'cd /sys/class/infiniband/frdma0/ports/1/gids &&
		for gid in *; do cat $gid 2>/dev/null || true; done'
	prints_no '\[' ss -Hlun sport = :4791
	pingpong v4 -n 50
}

# The core gives each port a link-local GID all the same.
sends_nothing_over_ipv6() {
	ends_up
	with_gid ll verbs/unreliable no_ipv6
}

ktap_test works_over_ipv4
ktap_test sends_nothing_over_ipv6
ktap_end
