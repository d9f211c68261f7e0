#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Regions that change: rereg.c, one process for each case.

. "${0%/*}/../lib/frdma.sh"
. "${0%/*}/../lib/traffic.sh"

rereg() {
	with_gid v4 verbs/rereg "$1"
}

links_up
for case in translation domain access_rights translation_and_domain \
	translation_and_access domain_and_access everything many_times refuses \
	reading_does_not_become_writing what_is_pinned_is_counted; do
	ktap_test rereg $case
done
ktap_end
