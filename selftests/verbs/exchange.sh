#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Every operation of a reliable connection with random data of odd sizes,
# verified at both ends.
#
# default: no
# guests: 2
# mtu: 4200
# roots: trixie bookworm sid

. "${0%/*}/../lib/frdma.sh"
. "${0%/*}/../lib/traffic.sh"

# Arguments: FAMILY [OPTION...]
exchange() {
	exchange_between frdma0 frdma0 "$@"
}

# Nothing was lost on the way, so nothing may have been missed or refused.
nothing_was_lost() {
	local n

	for n in 1 2; do
		note_counted frdma0 'retry_.*|resent_.*|.*duplicate.*' $n
		nothing_was_dropped frdma0 $n
		uncounted frdma0 \
			'(sent|rcvd)_(seq|err)_naks|cqe_errors|local_errors' $n
	done
}

compile exchange
mtu 4200
links_up
ktap_test exchange v4
ktap_test exchange v6
for mtu in 256 512 1024 2048; do
	ktap_test exchange v4 -m $mtu -r 5
done
ktap_test exchange v4 -q 32 -S 2
ktap_test exchange v4 -n 200 -r 4 -s 5000 -i 200 -S 3
ktap_test exchange v4 -n 4 -r 3 -s 1M -S 4
for kind in s w r; do
	ktap_test exchange v6 -o $kind -n 1 -r 1 -s 16M -x
done
ktap_test nothing_was_lost
ktap_end
