#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A queue of the sending host is full and its qdisc refuses packets. frdma keeps
# refused answers and unreliable packets and sends them later: the peer misses
# nothing and no timeout passes. With one CPU: two change the order of packets.
#
# guests: 1
# smp: 1
# roots: trixie bookworm sid

. "${0%/*}/../lib/frdma.sh"
. "${0%/*}/../lib/ends.sh"

# A queue of 24 kB that drains at 100 Mbit/s and refuses single packets.
# Arguments: INTERFACE
short_queue() {
	tc qdisc replace dev "$1" root tbf rate 100mbit burst 16k limit 24k
}

# A queue of one buffer, which refuses whole trains: the burst of the token
# bucket is larger than a train, so it does not cut trains to packets.
one_buffer() {
	tc qdisc replace dev "$1" root handle 1: \
		tbf rate 100mbit burst 70k limit 1m
	tc qdisc replace dev "$1" parent 1: pfifo limit 1
}

# A full queue refuses ARP and ND as well: the ends keep what they know.
keep_neighbours() {
	ip neighbour change $ENDS_FAR4 dev va nud permanent
	in_far ip neighbour change $ENDS_NEAR4 dev vb nud permanent
}

# Arguments: TRAINS
ends_without_arp() {
	ends_up
	keep_neighbours
	echo "$1" >/sys/class/infiniband/frdma0/trains
	echo "$1" >/sys/class/infiniband/frdma1/trains
}

# Arguments: LINK COUNTER...
counted_none() {
	local link=$1 name value

	shift
	for name; do
		value=$(counter "$link" "$name")
		[ "$value" = 0 ] || fail "$link: $name $value"
	done
}

# SENDER's qdisc has refused packets, and all of them reached RECEIVER later.
# Arguments: SENDER RECEIVER
nothing_is_lost() {
	local delayed

	counted_none "$1" drop_not_sent drop_no_memory
	counted_none frdma0 retry_timeouts retry_seq retry_implied \
		drop_out_of_sequence
	[ "$(counter "$1" tx_packets)" = "$(counter "$2" rx_packets)" ] ||
		fail "$1 sent $(counter "$1" tx_packets) packets," \
			"$2 received $(counter "$2" rx_packets)"
	delayed=$(counter "$1" tx_delayed)
	note "$(counter "$1" tx_packets) packets, $delayed of them refused"
	[ "$delayed" -gt 0 ]
}

# frdma0 reads 6.4 MB of frdma1 in messages of 64 KiB on four connections.
read_far() {
	local pid near far options=(-F -e -q 4 -s 65536 -n 25 -u 18)

	near=$(gid_index frdma0 v4)
	far=$(gid_index frdma1 v4)
	in_far ib_read_bw -d frdma1 -x "$far" "${options[@]}" \
		>"$KTAP_TMP/server" 2>&1 &
	pid=$!
	await 30 in_far bash -c 'ss -Hltn sport = :18515 | grep -q .'
	ib_read_bw -d frdma0 -x "$near" "${options[@]}" $ENDS_FAR4 ||
		fail "$(<"$KTAP_TMP/server")"
	wait $pid
}

# A probe may repeat a request: the responses wait longer than a probe does.
# Arguments: TRAINS QUEUE
responses_are_kept() {
	ends_without_arp "$1"
	in_far bash -c "$(declare -f "$2"); $2 vb"
	read_far
	nothing_is_lost frdma1 frdma0
	note "$(counter frdma0 probes) probes"
	[ "$(counter frdma0 probes)" -gt 0 ] ||
		counted_none frdma0 resent_packets
}

# Runs traffic, every byte of which is compared. Arguments: KINDS BYTES
flow_rounds() {
	flow v4 frdma0 frdma1 -k "$1" -s "$2" -n 40
	await 60 flow_ended
	wait "$FLOW" || fail "flow: $(tail -n 1 "$FLOW_OUT")"
}

# ACKs, answers to atomics, READ responses of several connections fill the queue.
# Arguments: TRAINS QUEUE
answers_are_kept() {
	ends_without_arp "$1"
	in_far bash -c "$(declare -f "$2"); $2 vb"
	flow_rounds rc,rc,rc,xrc,xrc 262144
	nothing_is_lost frdma1 frdma0
}

# Arguments: TRAINS QUEUE
datagrams_are_kept() {
	ends_without_arp "$1"
	"$2" va
	flow_rounds uc,uc,ud 65536
	nothing_is_lost frdma0 frdma1
}

given_up() {
	[ "$(counter frdma0 drop_not_sent)" -gt "$1" ]
}

has_sent() {
	[ "$(counter frdma0 tx_packets)" -gt "$1" ]
}

# A filter refuses packets for ever, as one of a container network does. The side
# does not wait for it, and sends again when the filter has gone. Arguments: KIND
denied_packets_are_given_up() {
	need_modules cls_matchall act_gact sch_ingress
	ends_without_arp 1
	flow v4 frdma0 frdma1 -k "$1" -s 4096
	tc qdisc add dev va clsact
	tc filter add dev va egress matchall action drop
	await 20 given_up 0
	await 20 given_up "$(counter frdma0 drop_not_sent)"
	tc filter delete dev va egress
	await 20 has_sent "$(counter frdma0 tx_packets)"
}

ktap_test denied_packets_are_given_up ud
ktap_test denied_packets_are_given_up uc
ktap_test responses_are_kept 0 short_queue
ktap_test responses_are_kept 1 one_buffer
ktap_test answers_are_kept 0 short_queue
ktap_test answers_are_kept 1 one_buffer
ktap_test datagrams_are_kept 0 short_queue
ktap_test datagrams_are_kept 1 one_buffer
ktap_end
