#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The default qdisc of most distributions, fq_codel, in front of an interface that
# is slower than the host. A connection keeps its queue there short, so CoDel drops
# none of its packets: with a retry count of 0 a connection would end.
#
# guests: 1
# smp: 1
# roots: trixie bookworm sid

. "${0%/*}/../lib/frdma.sh"
. "${0%/*}/../lib/ends.sh"

# Arguments: INTERFACE MBIT
slow() {
	tc qdisc replace dev "$1" root handle 1: htb default 1
	tc class replace dev "$1" parent 1: classid 1:1 \
		htb rate "${2}mbit" quantum 60000
	tc qdisc replace dev "$1" parent 1:1 handle 2: fq_codel
}

# Arguments: MBIT
slow_ends() {
	ends_up
	slow va "$1"
	in_far bash -c "$(declare -f slow); slow vb $1"
}

# Reads what "tc -s qdisc" says: packets that were dropped.
dropped() {
	sed -n 's/.*(dropped \([0-9]*\),.*/\1/p' | awk '{ sum += $1 }
		END { print sum }'
}

# Bytes that wait on va.
backlog() {
	tc -s qdisc show dev va root |
		sed -n 's/.*backlog \([0-9]*\)b.*/\1/p'
}

backlog_is_long() {
	[ "$(backlog)" -gt 10000 ]
}

# Connections write, send and read 3 MB each. Arguments: CONNECTIONS MBIT
nothing_is_dropped() {
	local kinds far

	slow_ends "$2"
	kinds=$(printf 'rc,%.0s' $(seq "$1"))
	flow v4 frdma0 frdma1 -k "${kinds%,}" -r 0 -s 3000000 -n 2
	await 100 flow_ended
	far=$(in_far tc -s qdisc show dev vb | dropped)
	note "dropped: $(tc -s qdisc show dev va | dropped) and $far," \
		"NAKs: $(counter frdma0 rcvd_seq_naks)"
	wait "$FLOW" || fail "flow: $(tail -n 1 "$FLOW_OUT")"
	[ "$(tc -s qdisc show dev va | dropped)" = 0 ]
	[ "$far" = 0 ]
	[ "$(counter frdma0 rcvd_seq_naks)" = 0 ]
	[ "$(counter frdma0 retry_timeouts)" = 0 ]
	[ "$(counter frdma0 retry_implied)" = 0 ]
}

# Requests for 1 KiB each come in trains. The response to one must not wait while
# the others of its train are there: they would be dropped, and asked for again.
trains_of_reads() {
	local pid near far options=(-F -e -s 1024 -n 2048 -l 32 -u 18)

	slow_ends 20
	near=$(gid_index frdma0 v4)
	far=$(gid_index frdma1 v4)
	in_far ib_read_bw -d frdma1 -x "$far" "${options[@]}" \
		>"$KTAP_TMP/server" 2>&1 &
	pid=$!
	await 30 in_far bash -c 'ss -Hltn sport = :18515 | grep -q .'
	ib_read_bw -d frdma0 -x "$near" "${options[@]}" $ENDS_FAR4 ||
		fail "$(<"$KTAP_TMP/server")"
	wait $pid
	note "trains received: $(counter frdma1 rx_trains)," \
		"dropped: $(counter frdma1 drop_out_of_sequence)"
	[ "$(counter frdma1 rx_trains)" -gt 0 ]
	[ "$(counter frdma1 drop_out_of_sequence)" = 0 ]
	[ "$(counter frdma0 rcvd_seq_naks)" = 0 ]
}

# Packets wait in a qdisc when their queue pair, their link and the module are gone.
# The qdisc frees them later.
packets_outlive_the_module() {
	slow_ends 100
	flow v4 frdma0 frdma1 -k rc,uc,ud -s 65536
	tc class change dev va parent 1: classid 1:1 htb rate 8bit \
		quantum 60000
	await 10 backlog_is_long
	kill -KILL "$FLOW"
	! wait "$FLOW" || fail "flow ended well"
	rdma link delete frdma0
	rdma link delete frdma1
	modprobe -r frdma
	backlog_is_long
	tc qdisc delete dev va root
}

ktap_test nothing_is_dropped 1 200
ktap_test nothing_is_dropped 4 200
ktap_test nothing_is_dropped 1 100
ktap_test nothing_is_dropped 4 100
ktap_test nothing_is_dropped 1 1000
ktap_test trains_of_reads
ktap_test packets_outlive_the_module
ktap_end
