#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The traffic class of packets on the wire and their priority in the sending host:
# who is ECN-capable (RFC 3168), what a process cannot set, and how notifications
# of congestion differ from data. With one CPU: two change the order of packets.
#
# guests: 1
# smp: 1
# roots: trixie bookworm sid

. "${0%/*}/../lib/frdma.sh"
. "${0%/*}/../lib/ends.sh"

# Filters of tcpdump: the ECN bits, and the notifications by their opcode.
NOT_ECT='ip[1] & 3 = 0' ECT1='ip[1] & 3 = 1' ECT0='ip[1] & 3 = 2'
CE='ip[1] & 3 = 3' CNP='udp[8] = 0x81'

# Sets an attribute of both links. Arguments: NAME VALUE
both() {
	echo "$2" >/sys/class/infiniband/frdma0/"$1"
	echo "$2" >/sys/class/infiniband/frdma1/"$1"
}

# Traffic with one packet in each buffer, captured on va. Arguments of flow follow.
captured_flow() {
	local pid

	both trains 0
	tcpdump -i va -w "$KTAP_TMP/wire.pcap" --immediate-mode -U \
		udp port 4791 2>"$KTAP_TMP/tcpdump" &
	pid=$!
	await 20 grep -q listening "$KTAP_TMP/tcpdump"
	flow v4 frdma0 frdma1 -s 8192 -n 20 "$@"
	await 60 flow_ended
	wait "$FLOW" || fail "flow: $(tail -n 1 "$FLOW_OUT")"
	kill -INT $pid
	wait $pid || true
	[ "$(packets udp)" -gt 100 ]
}

# Captured packets that a filter passes.
packets() {
	tcpdump -n -r "$KTAP_TMP/wire.pcap" "$1" 2>/dev/null | wc -l
}

none() {
	[ "$(packets "$1")" = 0 ] || fail "$(packets "$1") packets: $1"
}

connections_are_ect() {
	ends_up
	captured_flow -k rc,xrc
	none "not ($ECT0)"
}

# UC and UD have no window to shrink.
unreliable_are_not() {
	ends_up
	captured_flow -k uc,ud
	none "not ($NOT_ECT)"
}

switched_off() {
	ends_up
	both ecn 0
	captured_flow -k rc,xrc
	none "not ($NOT_ECT)"
	refuse "Invalid argument" bash -c \
		"echo 2 >/sys/class/infiniband/frdma0/ecn"
}

# CE is for routers: a receiver would notify the sender for ever.
never_ce() {
	ends_up
	captured_flow -k rc,uc,ud -c 3
	none "$CE"
	[ "$(packets "$ECT0")" -gt 0 ]
	both ecn 0
	captured_flow -k rc,uc,ud -c 3
	none "not ($NOT_ECT)"
}

# Both ECT and DSCP are the process's.
others_are_kept() {
	ends_up
	captured_flow -k rc,uc,ud -c 105
	none "not ($ECT1)"
	none "not (ip[1] & 0xfc = 104)"
}

# Half of the packets to frdma1 are marked, where they may be. Its notifications
# have DSCP 48 or what the administrator says, and never ECT.
notifications() {
	local queue=(netem loss 50% ecn)

	ends_up
	ip neighbour change $ENDS_FAR4 dev va nud permanent
	tc qdisc replace dev va root "${queue[@]}"
	captured_flow -k rc -c 104
	[ "$(packets "$CNP")" -gt 0 ]
	none "$CNP and ip[1] != 192"
	none "not ($CNP) and ip[1] & 0xfc != 104"
	both cnp_dscp 10
	captured_flow -k rc
	[ "$(packets "$CNP")" -gt 0 ]
	none "$CNP and ip[1] != 40"
	refuse "Invalid argument" bash -c \
		"echo 64 >/sys/class/infiniband/frdma0/cnp_dscp"
}

# Sorts packets to bands of a qdisc: priority 3 to 2, 5 to 3, 6 to 4. Arguments:
# INTERFACE
bands() {
	tc qdisc replace dev "$1" root handle 1: prio bands 4 \
		priomap 0 0 0 1 0 2 3 0 0 0 0 0 0 0 0 0
}

# Packets of a band of va.
band() {
	tc -s class show dev va | grep -A 1 "class prio 1:$1 " |
		grep -o '[0-9]* pkt' | cut -d ' ' -f 1
}

# DSCP 26 has priority 3, and a service level counts more. 7 is for those who may
# administer the network.
priorities() {
	local pid near far

	ends_up
	near=$(gid_index frdma0 v4)
	far=$(gid_index frdma1 v4)
	both trains 0
	bands va
	captured_flow -k rc,uc,ud -c 104
	[ "$(band 2)" -gt 100 ] || fail "DSCP 26: $(band 2) packets"
	in_far ib_send_bw -d frdma1 -x "$far" -F -n 20 \
		>"$KTAP_TMP/server" 2>&1 &
	pid=$!
	await 30 in_far bash -c 'ss -Hltn sport = :18515 | grep -q .'
	ib_send_bw -d frdma0 -x "$near" -F -n 20 -S 7 $ENDS_FAR4 ||
		fail "$(<"$KTAP_TMP/server")"
	wait $pid
	[ "$(band 4)" -gt 20 ] || fail "SL 7: $(band 4) packets"
}

# What frdma0 notifies its peer of has priority 6, or what the administrator says.
priority_of_notifications() {
	ends_up
	in_far ip neighbour change $ENDS_NEAR4 dev vb nud permanent
	in_far tc qdisc replace dev vb root netem loss 50% ecn
	bands va
	flow v4 frdma1 frdma0 -k rc -s 65536 -n 20
	await 60 flow_ended
	[ "$(band 4)" -gt 0 ]
	[ "$(band 4)" = "$(counter frdma0 sent_cnps)" ]
	echo 5 >/sys/class/infiniband/frdma0/cnp_priority
	flow v4 frdma1 frdma0 -k rc -s 65536 -n 20
	await 60 flow_ended
	[ "$(band 3)" -gt 0 ]
	refuse "Invalid argument" bash -c \
		"echo 8 >/sys/class/infiniband/frdma0/cnp_priority"
}

for test in connections_are_ect unreliable_are_not switched_off never_ce \
	others_are_kept notifications priorities priority_of_notifications; do
	ktap_test $test
done
ktap_end
