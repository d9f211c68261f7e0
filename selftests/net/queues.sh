#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# An interface with a transmit queue for each CPU (XPS): what a queue pair sends
# keeps to one of them, though it is sent from wherever work is posted or
# acknowledgements come in. Work is posted on CPU 0 here, and all that is
# received, on either end, comes to CPU 1 (RPS).
#
# guests: 1
# roots: trixie bookworm sid

. "${0%/*}/../lib/frdma.sh"
. "${0%/*}/../lib/ends.sh"

# Arguments: INTERFACE; what runs it there follows
queue_for_each_cpu() {
	local netdev=$1 queues=/sys/class/net/$1/queues

	shift
	# Writes to sysfs of a namespace want one that was mounted there.
	"$@" bash -c "
		echo 1 >$queues/tx-0/xps_cpus
		echo 2 >$queues/tx-1/xps_cpus
		for rx in $queues/rx-*; do
			echo 2 >\$rx/rps_cpus
		done
		tc qdisc replace dev $netdev root mq"
}

queues_up() {
	[ "$(nproc)" -gt 1 ] || skip "one CPU"
	defer ends_remove
	ip netns add far
	in_far ip link set lo up
	ip link add va numtxqueues 2 numrxqueues 2 type veth \
		peer name vb numtxqueues 2 numrxqueues 2 netns far
	queue_for_each_cpu va
	queue_for_each_cpu vb ip netns exec far
	links_on
}

# Packets that the queues of va or vb have sent, the busiest first.
sent_by_queues() {
	"${@:2}" tc -s class show dev "$1" |
		sed -n 's/^ Sent .* bytes \([0-9]*\) pkt.*/\1/p' | sort -rn
}

# One queue has sent nearly all. What is not RDMA goes by any, and a pause of the
# emulator may be taken for silence.
one_queue() {
	local sent

	mapfile -t sent < <(sent_by_queues "$@")
	note "$1: ${sent[*]} packets"
	if [ ${#sent[@]} != 2 ] || [ "${sent[0]}" -lt 5000 ] ||
		[ "${sent[1]}" -gt $((sent[0] / 8)) ]; then
		fail "$1: ${sent[*]} packets"
	fi
}

# Both ends send to each other, one message at a time: the first window of it
# leaves when it is posted, the rest as acknowledgements come.
stream() {
	local pid link near far
	local options=(-F -e -b -t 1 -s 524288 -n 20 -u 18)

	for link in frdma0 frdma1; do
		echo 0 >/sys/class/infiniband/$link/trains
	done
	near=$(gid_index frdma0 v4)
	far=$(gid_index frdma1 v4)
	in_far taskset -c 0 ib_send_bw -d frdma1 -x "$far" "${options[@]}" \
		>"$KTAP_TMP/server" 2>&1 &
	pid=$!
	await 30 in_far bash -c 'ss -Hltn sport = :18515 | grep -q .'
	taskset -c 0 ib_send_bw -d frdma0 -x "$near" \
		"${options[@]}" $ENDS_FAR4 || fail "$(<"$KTAP_TMP/server")"
	wait $pid
}

one_queue_each() {
	queues_up
	stream
	one_queue va
	one_queue vb in_far
	[ "$(counter frdma0 drop_out_of_sequence)" = 0 ]
	[ "$(counter frdma1 drop_out_of_sequence)" = 0 ]
}

ktap_test one_queue_each
ktap_end
