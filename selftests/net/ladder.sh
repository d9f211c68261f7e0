#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# frdma-ladder tells of a trace and of a capture what was said, and by whom.
#
# guests: 2

. "${0%/*}/../lib/frdma.sh"
. "${0%/*}/../lib/conformance.sh"

TRACING=/sys/kernel/tracing
LADDER=/frdma/system/frdma-ladder

# From here to the end of the test.
trace_events() {
	echo >$TRACING/trace
	echo 1 >$TRACING/events/frdma/enable
	defer sh -c "echo 0 >$TRACING/events/frdma/enable; echo >$TRACING/trace"
}

# What is said while a buffer in ten gets lost on the way here.
conversation() {
	local capture server

	trace_events
	on 2 tc qdisc add dev eth0 root netem loss 10%
	defer on 2 tc qdisc delete dev eth0 root
	tcpdump -ni eth0 -U -w "$KTAP_TMP/pcap" udp port 4791 2>/dev/null &
	capture=$!
	await 10 test -s "$KTAP_TMP/pcap"
	# The last ACK may get lost, and then there is nobody to ask for it.
	on 2 ibv_rc_pingpong -d frdma0 -g 1 -n 60 &
	server=$!
	await 20 listens 2 18515
	ibv_rc_pingpong -d frdma0 -g 1 -n 60 frdma2 || true
	wait $server || true
	sleep 1
	kill $capture
	wait $capture || true
	cat $TRACING/trace >"$KTAP_TMP/trace"
}

# Text that has to be in a file.
says() {
	grep -q -e "$2" "$1" || {
		head -n 20 "$1"
		fail "it does not say: $2"
	}
}

# In a file, the ladder that has one of these lines has the other, too.
same_ladder() {
	awk -v RS= -v one="$2" -v other="$3" '
		$0 ~ one && $0 ~ other { same = 1 }
		END { exit !same }' "$1" || {
		cat "$1"
		fail "in no ladder: $2; $3"
	}
}

# What becomes of a connection that nobody answers (D9), and of packets that are
# for nobody, or that a queue pair does not take (A32).
of_retries_and_drops() {
	local text=$KTAP_TMP/text svg=$KTAP_TMP/svg left

	conformance_is_there
	conformance_up frdma frdma
	trace_events
	"$PROGRAMS/conformance/conform-device" frdma0 conf0 conf1 \
		"$CONFORMANCE"/cases/{D9,A32}.case || [ $? = 1 ]
	cat $TRACING/trace >"$KTAP_TMP/wrong"
	python3 $LADDER "$KTAP_TMP/wrong" >"$text"
	python3 $LADDER --svg "$svg" "$KTAP_TMP/wrong"
	for left in 1 0; do
		says "$text" "!goes back to PSN 1000: timeout, $left left$"
		says "$svg" "#c00000\">goes back to PSN 1000: timeout, $left left<"
	done
	says "$text" "!completion 0x1: RETRY_EXC_ERR$"
	says "$text" "!RTS -> ERR$"
	says "$text" "!drops RC SEND_ONLY PSN 100: no_qp$"
	says "$svg" "#c00000\">drops RC SEND_ONLY PSN 100: no_qp<"
	same_ladder "$text" "!drops a packet: bad_pkey\n" "- ACK PSN 100, msn 1 -"
}

of_a_trace_and_a_capture() {
	local text=$KTAP_TMP/text

	conversation
	python3 $LADDER "$KTAP_TMP/trace" >"$text"
	says "$text" "INIT -> RTR"
	says "$text" "post 0x2: SEND, 4096 bytes"
	says "$text" "- SEND_FIRST PSN [0-9]*, .*->"
	says "$text" "<-.* ACK PSN [0-9]*, msn"
	says "$text" "completion 0x1: SUCCESS"
	says "$text" "!.*-> *$\|!.*<-"
	python3 $LADDER --svg "$KTAP_TMP/svg" "$KTAP_TMP/trace"
	python3 -c "import sys, xml.dom.minidom as x; x.parse(sys.argv[1])" \
		"$KTAP_TMP/svg"
	says "$KTAP_TMP/svg" "marker-end"

	python3 $LADDER "$KTAP_TMP/pcap" >"$text"
	says "$text" "10.77.0.1 .* 10.77.0.2"
	says "$text" "- SEND_FIRST, PSN [0-9]*, to [0-9]* -*>"
	says "$text" "<-.* ACK msn [0-9]*, PSN"
}

# Packets that end before their PSN, as a capture of the beginnings has them.
of_a_cut_capture() {
	local text=$KTAP_TMP/text

	editcap -s 52 "$KTAP_TMP/pcap" "$KTAP_TMP/cut"
	python3 $LADDER "$KTAP_TMP/cut" >"$text"
	says "$text" "10.77.0.1 .* 10.77.0.2"
	says "$text" "- SEND_FIRST, PSN 0, to [0-9]* -*>"
}

# What can be read once only, and a capture whose writer still has its end.
of_pipes_and_what_is_not_whole() {
	local text=$KTAP_TMP/text kind

	for kind in trace pcap; do
		python3 $LADDER "$KTAP_TMP/$kind" >"$text"
		python3 $LADDER <(cat "$KTAP_TMP/$kind") | cmp "$text"
		python3 $LADDER - <"$KTAP_TMP/$kind" | cmp "$text"
		# shellcheck disable=SC2002 # a pipe is meant
		cat "$KTAP_TMP/$kind" | python3 $LADDER - | cmp "$text"
	done
	head -c -20 "$KTAP_TMP/pcap" >"$KTAP_TMP/open"
	python3 $LADDER "$KTAP_TMP/open" >"$text" 2>"$KTAP_TMP/said"
	says "$text" "- SEND_FIRST, PSN [0-9]*, to [0-9]* -*>"
	says "$KTAP_TMP/said" "cannot read all of $KTAP_TMP/open"
}

of_nothing() {
	echo nothing >"$KTAP_TMP/nothing"
	refuse "has no event of frdma's" python3 $LADDER "$KTAP_TMP/nothing"
	refuse "No such file" python3 $LADDER "$KTAP_TMP/none"
	refuse "queue pair" python3 $LADDER --qp 17 "$KTAP_TMP/nothing"
}

ktap_test of_retries_and_drops
links_up
ktap_test of_a_trace_and_a_capture
ktap_test of_a_cut_capture
ktap_test of_pipes_and_what_is_not_whole
ktap_test of_nothing
ktap_end
