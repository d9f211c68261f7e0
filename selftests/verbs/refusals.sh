#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A refused verb gives its reason in the tracepoint frdma_refuse and in dynamic
# debug, and in the log only if somebody asked: refusals.c.

. "${0%/*}/../lib/frdma.sh"

TRACING=/sys/kernel/tracing

program() {
	local gid

	gid=$(gid_index frdma0 v4)
	"$PROGRAMS/verbs/refusals" frdma0 "$gid" "$1"
}

# The trace has that reason, once the case has run. Arguments: CASE REASON
explained() {
	local seen

	echo >$TRACING/trace
	program "$1"
	seen=$(grep -o 'frdma_refuse: .*' $TRACING/trace) ||
		fail "nothing was traced"
	note "$seen"
	grep -qE -- "$2" <<<"$seen" || fail "no reason like '$2'"
}

debug_lines() {
	echo "module frdma $1" >/sys/kernel/debug/dynamic_debug/control
}

log_tells_on_request() {
	local before after

	before=$(dmesg | grep -c 'max_send_wr') || true
	program many_sends
	after=$(dmesg | grep -c 'max_send_wr') || true
	[ "$after" = "$before" ] || fail "the log has it unasked"

	defer debug_lines -p
	debug_lines +p
	program many_sends
	dmesg | grep -q 'frdma0: create_qp: max_send_wr 1073741824 exceeds' ||
		fail "the log lacks the reason"
}

links_up
echo 1 >$TRACING/events/frdma/frdma_refuse/enable
while read -r case reason; do
	ktap_test explained "$case" "$reason"
done <<'END'
many_sends create_qp: max_send_wr 1073741824 exceeds [0-9]+$
many_receives create_qp: max_recv_wr 1073741824 exceeds [0-9]+$
much_inline create_qp: max_inline_data 1073741824 exceeds 1024$
many_completions CQ: cqe 1073741824 is not 1 to [0-9]+$
deep_srq create_srq: max_wr 1073741824, max_sge 0 exceed
large_path_mtu err=-22 modify_qp: path_mtu 5 .* exceeds 1024 bytes, the active MTU
long_rnr_timer modify_qp: min_rnr_timer 32 exceeds 31$
attribute_is_missing modify_qp: state 1 to 2 .* attr_mask 0x
no_such_transition modify_qp: state 0 to 3 .* attr_mask 0x
implicit_with_iova reg_mr: an implicit on-demand region has iova 0$
no_memory_there err=-14 reg_mr: 4096 bytes cannot be pinned
device_memory_of_no_size alloc_dm: 1 bytes, alignment 2\^31$
small_cq resize_cq: more than 1 completions are unpolled$
small_srq modify_srq: max_wr 1 is less than the 4 requests in the queue$
END
ktap_test log_tells_on_request
ktap_end
