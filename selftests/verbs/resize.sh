#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A completion queue changes its size while completions are pushed to it:
# resize.c.

. "${0%/*}/../lib/frdma.sh"
. "${0%/*}/../lib/traffic.sh"

resize() {
	with_gid v4 verbs/resize "$1"
}

links_up
ktap_test resize under_traffic
ktap_test resize event_asked_for_before
ktap_end
