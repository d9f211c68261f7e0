#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Threads that deregister memory (storm.c) share grace periods: each grace period
# interrupts the other CPUs.

. "${0%/*}/../lib/frdma.sh"

TRACING=/sys/kernel/tracing
REGIONS=800

watch_grace_periods() {
	[ -w $TRACING/kprobe_events ] || skip "the kernel has no kprobe events"
	defer bash -c "echo 0 >$TRACING/events/kprobes/enable
		echo -:frdma_grace >>$TRACING/kprobe_events; echo >$TRACING/trace"
	echo 'p:frdma_grace synchronize_rcu_expedited' >>$TRACING/kprobe_events
	echo >$TRACING/trace
	echo 1 >$TRACING/events/kprobes/frdma_grace/enable
}

# Without sharing, each region takes a grace period.
threads_share_grace_periods() {
	local periods gid

	gid=$(gid_index frdma0 v4)
	watch_grace_periods
	"$PROGRAMS/verbs/storm" frdma0 "$gid"
	periods=$(grep -c 'frdma_grace:' $TRACING/trace)
	note "$REGIONS regions, $periods grace periods"
	[ "$periods" -gt 0 ] && [ "$periods" -le $((REGIONS * 6 / 10)) ] ||
		fail "$periods grace periods"
}

links_up
ktap_test threads_share_grace_periods
ktap_end
