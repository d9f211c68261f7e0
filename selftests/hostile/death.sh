#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Processes fork with live queue pairs, and are killed at every moment of what
# they do: they are gone at once, nothing of theirs is left, their peers are told
# and others go on. death.c. FULL=1 for many more moments.
#
# guests: 1
# named: bookworm sid
# timeout: 600

. "${0%/*}/../lib/frdma.sh"
. "${0%/*}/../lib/memory.sh"

death() {
	leaves_no_object say_notes with_gid v4 hostile/death "$@"
}

links_up
for case in children_come_and_go children_stay parent_goes_first \
	another_program killed_while_it_waits peers_are_told; do
	ktap_test death $case
done
for case in killed_at_every_moment killed_at_every_call; do
	KTAP_LIMIT=${FULL:+20}100 ktap_test death $case ${FULL:+10}16
done
ktap_end
