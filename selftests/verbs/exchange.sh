#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Every operation of a reliable connection with random data of odd sizes,
# verified at both ends.
#
# guests: 2
# mtu: 9000
# roots: trixie
# named: bookworm sid

. "${0%/*}/../lib/frdma.sh"
. "${0%/*}/../lib/traffic.sh"

# Arguments: FAMILY [OPTION...]
exchange() {
	exchange_between frdma0 frdma0 "$@"
}

# 64 packets, a quarter of the window, ask for an acknowledgement once; the last
# one of a train or of a page does not.
acknowledged_by_quarters() {
	local before sent

	before=$(counter frdma0 sent_acks 2)
	exchange v4 -m 1024 -o w -n 1 -r 1 -s 4M -x
	sent=$(($(counter frdma0 sent_acks 2) - before))
	note "$sent acknowledgements for 4096 packets"
	[ $sent -le 100 ] || fail "$sent acknowledgements"
}

# Every packet arrived, so nothing may have been missed or refused, or sent again
# other than by a probe: a slow guest answers later than a probe waits.
nothing_was_lost() {
	local n probes

	all_arrive frdma0 1 tx_packets frdma0 2 rx_packets
	all_arrive frdma0 2 tx_packets frdma0 1 rx_packets
	for n in 1 2; do
		uncounted frdma0 $n 'drop_[!d]*' 'retry_*' out_of_order \
			sent_seq_naks sent_err_naks cqe_errors local_errors
	done
	probes=$(($(counter frdma0 probes 1) + $(counter frdma0 probes 2)))
	note "$probes probes"
	for n in 1 2; do
		[ $probes -gt 0 ] || uncounted frdma0 $n drop_duplicate \
			resent_packets duplicate_requests
	done
}

mtu 4200
deep_queues
links_up
ktap_test exchange v4
ktap_test exchange v6
for mtu in 256 512 1024 2048; do
	ktap_test exchange v4 -m $mtu -r 5
done
ktap_test exchange v4 -q 32 -S 2
ktap_test exchange v4 -o sSwWrcfaa -S 5
ktap_test exchange v4 -n 200 -r 4 -s 5000 -i 200 -S 3
ktap_test exchange v4 -n 4 -r 3 -s 1M -S 4
for kind in s w r; do
	ktap_test exchange v6 -o $kind -n 1 -r 1 -s 16M -x
done
ktap_test acknowledged_by_quarters
ktap_test nothing_was_lost
ktap_end
