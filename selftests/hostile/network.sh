#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A network that loses, copies, swaps, delays, spoils and refuses packets, and
# changes: what is reliable goes on unless it has spent its retries, and says
# so if it has; what is unreliable delivers whole messages or none. All kinds
# of traffic at once, every byte of it compared (lib/flow), and connections of
# rdma_cm. FULL=1 for more of each.
#
# guests: 1
# short: everything_at_once
# kernel: stock
# named: bookworm sid
# timeout: 3600

. "${0%/*}/../lib/frdma.sh"
. "${0%/*}/../lib/ends.sh"

MOMENT=${FULL:+10}
MOMENT=${MOMENT:-1}

# Both ends' interfaces send through netem. Trains of packets pass it whole;
# after "packets" a token bucket takes them apart before, as wires do.
wire() {
	in_far bash -c "$(declare -f wire_of); wire_of vb $*"
	wire_of va "$@"
}

# Arguments: INTERFACE [packets] NETEM...
wire_of() {
	local dev=$1

	shift
	if [ "$1" = packets ]; then
		shift
		tc qdisc replace dev "$dev" root handle 1: \
			tbf rate 4gbit burst 2000 limit 10000000
		tc qdisc replace dev "$dev" parent 1: handle 2: netem "$@"
	else
		tc qdisc replace dev "$dev" root netem "$@"
	fi
}

# The network is well again.
mend() {
	tc qdisc delete dev va root 2>/dev/null || true
	in_far tc qdisc delete dev vb root 2>/dev/null || true
}

# Packets that the queues of both interfaces have dropped.
dropped() {
	{
		tc -s qdisc show dev va
		in_far tc -s qdisc show dev vb
	} | awk '/dropped/ { sub(/.*dropped /, ""); sum += $0 }
		END { print sum }'
}

# Notes by how much counters of both links have grown since the last time; the
# first time says which.
declare -A COUNTED
counted() {
	local name said=()

	for name in "${@:-${!COUNTED[@]}}"; do
		said+=("$name: $(($(sum_of "$name") - ${COUNTED[$name]:-0}))")
		COUNTED[$name]=$(sum_of "$name")
	done
	[ $# -gt 0 ] || note "${said[*]}"
}

# The network was as bad as it was told to be: this counter has grown.
has_counted() {
	[ "$(sum_of "$1")" -gt "${COUNTED[$1]}" ] || fail "$1 has not grown"
}

sum_of() {
	cat "/sys/class/infiniband/frdma"[01]"/ports/1/hw_counters/$1" |
		awk '{ sum += $1 } END { print sum }'
}

# All kinds of traffic, over $FAMILY.
flows() {
	flow "$FAMILY" frdma0 frdma1 "${ALL_KINDS[@]}" "$@"
}

# It goes on for a moment while the network is as "wire" makes it.
endures() {
	wire "$@"
	sleep "$MOMENT"
	flow_goes_on
}

# Each kind has moved data since now.
flow_goes_on() {
	await 20 flow_moved "$(stat -c %s "$FLOW_OUT")"
}

# It does so on a network that is well, too, and says how much it was.
ends_well() {
	mend
	flow_is_well
	note "$(grep rounds "$FLOW_OUT" | paste -sd ';')"
	counted
}

# Each way loses some of all packets (of all trains, without "packets").
# Arguments: RATES [packets]
loses() {
	local rate

	defer mend
	flows -t 14
	counted resent_packets out_of_order retry_timeouts
	for rate in $1; do
		endures ${2:+packets} loss "$rate"
		note "$rate: $(dropped) dropped"
	done
	has_counted resent_packets
	ends_well
}

# So much that retries may be spent. Who has spent them says so, all others go
# on; what is unreliable always does.
loses_a_fifth() {
	local reliable given_up

	defer mend
	counted retry_exceeded
	given_up=${COUNTED[retry_exceeded]}
	FLOW_OUT=$KTAP_TMP/reliable flows -k rc,xrc -t 14
	reliable=$FLOW
	flows -k uc,ud,multicast
	endures loss 20%
	note "$(dropped) dropped"
	ends_well
	FLOW=$reliable FLOW_OUT=$KTAP_TMP/reliable \
		flow_is_well_or_spent "$given_up"
}

# Arguments: connections given up before.
flow_is_well_or_spent() {
	if grep -q 'transport retry counter exceeded' "$FLOW_OUT"; then
		kill -TERM "$FLOW" || true
		! wait "$FLOW" || fail "ends well, with retries spent"
		[ "$(sum_of retry_exceeded)" -gt "$1" ] ||
			fail "retries spent, and not counted"
	else
		flow_is_well
	fi
}

copies() {
	defer mend
	flows -t 14
	counted duplicate_requests drop_duplicate
	endures packets duplicate 30%
	has_counted drop_duplicate
	ends_well
}

# A quarter of the packets overtake the others; all are as late as they like;
# they come in clumps.
swaps_and_delays() {
	defer mend
	flows -t 16
	counted out_of_order drop_out_of_sequence drop_duplicate retry_timeouts
	endures packets delay 2ms reorder 25% 50%
	endures packets delay 10ms 8ms distribution normal
	endures packets slot 1ms 20ms packets 16
	has_counted out_of_order
	ends_well
}

# netem spoils what is linear, and so are small packets.
spoils() {
	defer mend
	flows -t 14 -s 128
	counted drop_bad_icrc resent_packets
	endures packets corrupt 3%
	has_counted drop_bad_icrc
	ends_well
}

everything_at_once() {
	defer mend
	flows -t 16
	counted resent_packets drop_bad_icrc drop_duplicate out_of_order
	endures packets delay 2ms 2ms loss 1% duplicate 5% corrupt 1%
	ends_well
}

# The queue of this host holds next to nothing, and tells who sends.
refuses() {
	defer mend
	flows -t 14
	counted drop_not_sent resent_packets
	endures limit 2 delay 1ms
	has_counted drop_not_sent
	ends_well
}

# Nothing arrives any more: what is reliable says so, in its time, and what is
# not goes on when the network is back. Eight waits for an answer at -t 14 take
# 0.54 s, and four times that at most.
silence_is_reported() {
	local unreliable

	defer mend
	FLOW_OUT=$KTAP_TMP/unreliable flows -k uc,ud,multicast
	unreliable=$FLOW
	flows -k rc,xrc -t 14
	counted retry_exceeded
	wire loss 100%
	flows_fail 10 2 'transport retry counter exceeded'
	has_counted retry_exceeded
	FLOW=$unreliable FLOW_OUT=$KTAP_TMP/unreliable ends_well
}

# rdma_cm makes connections and ends them, though its messages are lost, too:
# several at a time (ucmatose), and one that compares what comes back (rping).
# Each lost message costs four seconds, as the core has it.
connects_all_the_same() {
	local address

	defer mend
	case $FAMILY in
	v4)	address=$ENDS_FAR4 ;;
	v6)	address=$ENDS_FAR6 ;;
	esac
	wire "$@"
	meets "$address" "ucmatose -b $address -c 4 -C 4" \
		"ucmatose -s $address -c 4 -C 4"
	# rping takes leave once, and is gone: if that is lost, its server waits
	# for ever.
	meets "$address" "timeout $((60 * KTAP_SLOW)) stdbuf -oL \
			rping -s -v -C 20 -S 4000 -a $address || [ \$? = 124 ]" \
		"rping -c -v -V -C 20 -S 4000 -a $address"
	[ "$(grep -c 'ping data' "$KTAP_TMP/client")" = 20 ]
	[ "$(grep -c 'ping data' "$KTAP_TMP/server")" = 20 ]
	note "$(dropped) dropped"
}

# A server at the far end and its client here; both end well.
meets() {
	local pid

	in_far bash -c "$2" >"$KTAP_TMP/server" 2>&1 &
	pid=$!
	await 20 is_listening "$1"
	within 90 bash -c "$3" >"$KTAP_TMP/client" 2>&1 ||
		fail "$3: $(tail -n 5 "$KTAP_TMP/client"); $2:" \
			"$(tail -n 5 "$KTAP_TMP/server");" \
			"$(rdma resource show qp)"
	wait $pid || fail "$2: $(tail -n 5 "$KTAP_TMP/server")"
}

# Connections of rdma_cm, three at a time, for SECONDS, that send a packet again
# RETRIES times: each is well or says why not, in time, and what it said is told
# (meet.c). Their server is at the far end. Arguments: SECONDS RETRIES
meet() {
	"$PROGRAMS/hostile/meet" open "$ADDRESS" 3 "$1" "$2" \
		>"$KTAP_TMP/met" 2>&1 || fail "$(<"$KTAP_TMP/met")"
	note "$(<"$KTAP_TMP/met")"
}

server_up() {
	case $FAMILY in
	v4)	ADDRESS=$ENDS_FAR4 ;;
	v6)	ADDRESS=$ENDS_FAR6 ;;
	esac
	BEFORE=$(rdma resource show)
	nsenter --net=/run/netns/far "$PROGRAMS/hostile/meet" serve "$ADDRESS" \
		>"$KTAP_TMP/server" 2>&1 &
	SERVER=$!
	await 20 is_listening "$ADDRESS"
}

# On a network that is well all are, with that server, which has lost nothing.
meets_well() {
	await 20 ping -c 1 -W 1 "$ADDRESS"
	meet 2 7
	grep -qE '^[1-9][0-9]* well(, [0-9]+ left)?$' "$KTAP_TMP/met" ||
		fail "on a good network: $(<"$KTAP_TMP/met")"
	kill -TERM "$SERVER" || true
	wait "$SERVER" || fail "server: $(<"$KTAP_TMP/server")"
	[ "$(rdma resource show)" = "$BEFORE" ] ||
		fail "before: $BEFORE; after: $(rdma resource show)"
}

# Arguments: SECONDS RETRIES NETEM...
meets_all_the_same() {
	defer mend
	server_up
	counted resent_packets retry_exceeded
	wire "${@:3}"
	meet "$1" "$2"
	note "$(dropped) dropped"
	! grep -q '^0 well' "$KTAP_TMP/met" || fail "none was well"
	mend
	counted
	meets_well
}

# Nothing arrives any more: it is told when all messages are spent.
silence_is_told_to_who_connects() {
	defer mend
	server_up
	wire loss 100%
	meet 80 7
	grep -q '^0 well.*UNREACHABLE' "$KTAP_TMP/met" ||
		fail "$(<"$KTAP_TMP/met")"
	mend
	meets_well
}

# The same CHANGE, TIMES while connections are made, used and ended.
meets_through() {
	local change=$1 times=$2 i meeting

	ends_up
	server_up
	meet $((5 + 3 * times)) 7 &
	meeting=$!
	for ((i = 0; i < times; i++)); do
		sleep 2
		"$change"
	done
	wait $meeting || fail "$(<"$KTAP_TMP/met")"
	! grep -q '^0 well' "$KTAP_TMP/met" || fail "none was well"
	meets_well
}

# What the interfaces go through; each stops packets for a while that is
# shorter than the patience of a connection.
#
# IPv6 loses its addresses with an interface, and with an MTU below 1280; who
# runs the interface gives them back.
mtu_shrinks() {
	ip link set va mtu 600
	sleep 0.3
	ip link set va mtu 1500
	ip address replace $ENDS_NEAR6/64 dev va nodad
}

near_end_flaps() {
	ip link set va down
	sleep 0.2
	ip link set va up
	ip address replace $ENDS_NEAR6/64 dev va nodad
}

far_end_flaps() {
	in_far ip link set vb down
	sleep 0.2
	in_far ip link set vb up
	in_far ip address replace $ENDS_FAR6/64 dev vb nodad
}

# There is no way, then there is one by another address of the far end.
route_changes() {
	defer ip route delete $ENDS_FAR4/32
	defer ip -6 route delete $ENDS_FAR6/128 metric 1
	ip route add blackhole $ENDS_FAR4/32
	ip -6 route add blackhole $ENDS_FAR6/128 metric 1
	sleep 0.3
	in_far ip address replace 10.78.0.9/24 dev vb
	in_far ip address replace fd78::9/64 dev vb nodad
	ip route replace $ENDS_FAR4/32 via 10.78.0.9 dev va
	ip -6 route delete blackhole $ENDS_FAR6/128 metric 1
	ip -6 route add $ENDS_FAR6/128 via fd78::9 dev va metric 1
}

# The neighbour is at a wrong address, then unknown, then elsewhere.
neighbour_is_lost() {
	local far

	for far in $ENDS_FAR4 $ENDS_FAR6; do
		ip neighbour replace $far lladdr 02:00:00:00:0f:99 dev va \
			nud permanent
	done
	sleep 0.3
	for far in $ENDS_FAR4 $ENDS_FAR6; do
		ip neighbour delete $far dev va
	done
	in_far ip link set vb address 02:00:00:00:0f:02
	ip neighbour flush dev va
}

# Arguments: CHANGE [COUNTER that has to grow]
survives() {
	ends_up
	flows -t 17
	counted drop_no_route drop_not_sent retry_timeouts
	"$1"
	flow_goes_on
	[ $# = 1 ] || has_counted "$2"
	ends_well
}

over() {
	FAMILY=$1
	shift
	"$@"
}

# Makes a test over this family; with FULL, over both.
test_over() {
	local family

	for family in v4 v6; do
		[ -z "${FULL:-}" ] && [ "$family" != "$1" ] ||
			KTAP_LIMIT=300 ktap_test over $family "${@:2}"
	done
}

ends_up
test_over v4 loses "0.1% 1% 5%" packets
test_over v6 loses "1% 5%"
test_over v4 loses_a_fifth
test_over v6 copies
test_over v4 swaps_and_delays
test_over v6 spoils
test_over v4 everything_at_once
test_over v6 refuses
test_over v4 silence_is_reported
test_over v4 connects_all_the_same loss 2% duplicate 10% delay 1ms 1ms
test_over v6 connects_all_the_same loss 2% duplicate 10% delay 1ms 1ms
test_over v4 meets_all_the_same 15 7 loss 5%
test_over v6 meets_all_the_same 30 2 loss 20%
test_over v4 meets_all_the_same 10 7 packets delay 10ms 8ms reorder 25% 50%
test_over v6 meets_all_the_same 15 7 corrupt 3%
test_over v4 meets_all_the_same 15 7 limit 2 delay 1ms
[ -z "${FULL:-}" ] || test_over v4 silence_is_told_to_who_connects
ends_remove
test_over v4 survives mtu_shrinks drop_not_sent
test_over v6 survives near_end_flaps
test_over v4 survives far_end_flaps
test_over v6 survives route_changes drop_no_route
test_over v4 survives neighbour_is_lost
test_over v4 meets_through mtu_shrinks 3
test_over v6 meets_through near_end_flaps 3
test_over v4 meets_through far_end_flaps 3
test_over v6 meets_through route_changes 1
test_over v4 meets_through neighbour_is_lost 1
ktap_end
