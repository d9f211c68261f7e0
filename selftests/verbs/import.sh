#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Contexts that processes lend each other: import.c, one process for each case,
# and what pyverbs has of it.

. "${0%/*}/../lib/frdma.sh"
. "${0%/*}/../lib/traffic.sh"

import() {
	with_gid v4 verbs/import "$1"
}

links_up
for case in another_process same_process outlives_who_opened destroys \
	refuses; do
	ktap_test import $case
done
ktap_test pyverbs_of 2 SharedPD SharedDM
ktap_test import device_goes
ktap_end
