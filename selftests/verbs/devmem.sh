#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Device memory: devmem.c, one process for each case, and what pyverbs has of
# it.
#
# timeout: 600

. "${0%/*}/../lib/frdma.sh"
. "${0%/*}/../lib/traffic.sh"

devmem() {
	with_gid v4 verbs/devmem "$1"
}

# Killed, not ended: nobody but the kernel gives it back.
comes_back_from_the_dead() {
	local said=$KTAP_TMP/said pid

	devmem takes_all_and_stays >"$said" &
	pid=$!
	await 20 grep -q taken "$said"
	refuse "dm (Cannot allocate memory)" devmem is_as_much_as_it_says
	pkill -KILL -P "$pid"
	wait "$pid" || true
	devmem is_as_much_as_it_says
}

links_up
for case in refuses is_copied_to_and_from is_written_and_read \
	is_sent_and_received is_added_to is_registered_without_a_byte \
	shows_a_part is_shown_by_a_window \
	stays_while_it_is_registered is_as_much_as_it_says; do
	ktap_test devmem $case
done
ktap_test comes_back_from_the_dead
ktap_test pyverbs_of 18 DMTest DeviceMemory
ktap_test devmem outlives_the_device
ktap_end
