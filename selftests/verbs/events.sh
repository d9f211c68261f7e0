#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Asynchronous events reach the process that they concern.
#

. "${0%/*}/../lib/frdma.sh"
. "${0%/*}/../lib/traffic.sh"

event() {
	with_gid v4 verbs/events "$1"
}

says() {
	grep -q "$1" "$KTAP_TMP/events"
}

port_goes_down_and_up() {
	event port >"$KTAP_TMP/events" &
	await 20 says ready
	defer ip link set eth0 up
	# Down, an interface loses its IPv6 addresses.
	defer ip address replace fd77::1/64 dev eth0 nodad
	ip link set eth0 down
	await 20 says 'port error'
	ip link set eth0 up
	wait $!
}

links_up
for name in comm_est sq_drained access_err req_err long_send \
		cq_err; do
	ktap_test event $name
done
ktap_test port_goes_down_and_up
ktap_end
