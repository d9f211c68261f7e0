#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Memory that goes while it is sent, with trains of it waiting on the way: it is
# unmapped, its file is cut off, its region is deregistered. Either the message
# arrives as it was, or its beginning, and there is an error: never anybody
# else's bytes. gone.c, one process for each case.
#
# guests: 1
# named: bookworm sid
# timeout: 600

. "${0%/*}/../lib/frdma.sh"
. "${0%/*}/../lib/ends.sh"

# Arguments: OPERATION HARM
gone_while_sent() {
	local near far

	need_modules sch_netem
	modprobe sch_netem
	ends_up
	echo 1 >/sys/class/infiniband/frdma0/trains
	tc qdisc add dev va root netem delay 150ms limit 10000
	near=$(gid_index frdma0 v4)
	far=$(gid_index frdma1 v4)
	leaves_no_object "$PROGRAMS/verbs/gone" frdma0 "$near" frdma1 "$far" \
		va "$@" >"$KTAP_TMP/said" || fail "$(<"$KTAP_TMP/said")"
	note "$(paste -sd ';' "$KTAP_TMP/said")"
}

for operation in write send read; do
	for harm in unmapped truncated deregistered unmapped_on_demand \
		truncated_on_demand; do
		ktap_test gone_while_sent $operation $harm
	done
done
ktap_end
