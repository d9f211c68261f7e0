#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A peer that sends what it should not: peer.c, answers.c, paths.c, trains.c,
# mutants.c. Every packet is counted with a reason, and answered only where the
# specification says so; who is not its victim does not notice. FULL=1 for more
# mutants, FRDMA_SEED for those of another run.
#
# timeout: 3600
# named: bookworm sid

. "${0%/*}/../lib/frdma.sh"
. "${0%/*}/../lib/conformance.sh"
. "${0%/*}/../lib/peer.sh"

# The link has two addresses, and is connected by the first; before and after, the
# second one is another interface's.
wrong_addresses() {
	local case

	defer bash -c "ip address delete 10.79.0.3/32 dev lo 2>/dev/null || true"
	for case in "lo address_of_elsewhere" "conf0 wrong_addresses" \
		"lo address_of_elsewhere"; do
		ip address add 10.79.0.3/32 dev "${case% *}"
		# The core hears of it a little later.
		await 5 gids_are_of "${case% *}"
		peer_plays paths v4 "${case#* }"
		ip address delete 10.79.0.3/32 dev "${case% *}"
	done
}

# Argument: what interface has the second address.
gids_are_of() {
	if [ "$1" = conf0 ]; then
		gid_is_there 0a4f:0003
	else
		gid_is_gone 0a4f:0003
	fi
}

# Packets of a neighbour may come as trains: a container's do. Arguments: FAMILY
trains() {
	defer ethtool -K conf1 tx off
	ethtool -K conf1 tx on gso on tx-udp-segmentation on
	peer_plays trains "$1" trains >"$KTAP_TMP/said" ||
		fail "$(<"$KTAP_TMP/said")"
	! grep -q 'sends no trains' "$KTAP_TMP/said" ||
		skip "this kernel sends no trains"
}

# They leave together, so that they come while the first is still answered.
trains_of_reads() {
	trains v4
	defer tc qdisc delete dev conf1 root
	tc qdisc add dev conf1 root netem slot 300ms 300ms
	peer_plays trains v4 trains_of_reads
}

mutants() {
	local seed=${FRDMA_SEED:-$((RANDOM << 15 | RANDOM))}

	note "FRDMA_SEED=$seed"
	peer_plays mutants "$1" "$seed" "$2"
}

conformance_up frdma frdma
ktap_test peer_plays peer v4 opcodes
ktap_test peer_plays peer v4 fields network_fields
ktap_test peer_plays peer v4 pads wrong_sizes truncated next_to_nothing \
	flipped_bits flipped_bits_of_notifications replays
ktap_test peer_plays answers v4 syndromes wrong_answers message_numbers \
	originals cut_answers answers_to_nothing
ktap_test peer_plays answers v4 parts parts_out_of_turn
ktap_test wrong_addresses
ktap_test peer_plays paths v4 other_family frames_for_others \
	frames_of_others groups notifications_of_others for_the_other_half
ktap_test peer_plays paths v4 fragments bad_fragments jumbos options checksums
ktap_test trains v4
ktap_test trains v6
ktap_test trains_of_reads
ktap_test peer_plays peer v6 network_fields truncated
ktap_test peer_plays paths v6 wrong_addresses6 other_family \
	frames_for_others frames_of_others extensions
KTAP_LIMIT=1500 ktap_test mutants v4 ${FULL:+10}300
KTAP_LIMIT=1500 ktap_test mutants v6 ${FULL:+10}100
ktap_end
