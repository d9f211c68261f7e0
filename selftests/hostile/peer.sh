#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A peer that sends what it should not: peer.c, paths.c, mutants.c. Every packet
# is counted with a reason, and answered only where the specification says so;
# who is not its victim does not notice. FULL=1 for more mutants, FRDMA_SEED for
# those of another run.
#
# timeout: 900

. "${0%/*}/../lib/frdma.sh"
. "${0%/*}/../lib/conformance.sh"
. "${0%/*}/../lib/peer.sh"

# The link has two addresses, and is connected by the first.
wrong_addresses() {
	defer ip address delete 10.79.0.3/24 dev conf0
	ip address add 10.79.0.3/24 dev conf0
	peer_plays paths v4 wrong_addresses
}

# Packets of a neighbour may come as trains: a container's do.
trains() {
	defer ethtool -K conf1 tx off
	ethtool -K conf1 tx on gso on tx-udp-segmentation on
	peer_plays paths v4 trains
}

mutants() {
	local seed=${FRDMA_SEED:-$((RANDOM << 15 | RANDOM))}

	note "FRDMA_SEED=$seed"
	peer_plays mutants "$1" "$seed" "$2"
}

for program in peer paths mutants; do
	peer_build $program || exit
done
conformance_up frdma frdma
for case in opcodes fields network_fields pads wrong_sizes truncated \
	next_to_nothing flipped_bits syndromes wrong_answers replays; do
	ktap_test peer_plays peer v4 $case
done
ktap_test wrong_addresses
for case in other_family frames_for_others frames_of_others groups \
	fragments bad_fragments jumbos options checksums; do
	ktap_test peer_plays paths v4 $case
done
ktap_test trains
for case in network_fields truncated; do
	ktap_test peer_plays peer v6 $case
done
for case in wrong_addresses6 other_family frames_for_others \
	frames_of_others extensions; do
	ktap_test peer_plays paths v6 $case
done
KTAP_LIMIT=400 ktap_test mutants v4 ${FULL:+30}300
ktap_test mutants v6 ${FULL:+30}100
ktap_end
