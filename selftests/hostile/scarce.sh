#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Memory is scarce: each allocation of each call that makes an object fails
# once (scarce.c); and under traffic, many of the module's allocations. Needs the
# debug kernel, which can do that, and sees what is lost.
#
# guests: 1
# kernel: debug
# timeout: 900

. "${0%/*}/../lib/frdma.sh"
. "${0%/*}/../lib/ends.sh"
. "${0%/*}/../lib/memory.sh"

FAULTS=/sys/kernel/debug

faults_are_possible() {
	[ -e /proc/self/fail-nth ] && [ -d $FAULTS/failslab ] ||
		skip "this kernel cannot make allocations fail"
}

# None fails unless asked for; then also those that may sleep, and in silence.
faults_set_up() {
	local kind

	for kind in failslab fail_page_alloc fail_usercopy; do
		echo 0 >$FAULTS/$kind/verbose
		echo 0 >$FAULTS/$kind/probability
		echo 0 >$FAULTS/$kind/require-start
		echo 0xffffffffffffffff >$FAULTS/$kind/require-end
		echo 0 >$FAULTS/$kind/reject-start
		echo 0 >$FAULTS/$kind/reject-end
		[ ! -e $FAULTS/$kind/ignore-gfp-wait ] ||
			echo N >$FAULTS/$kind/ignore-gfp-wait
		[ ! -e $FAULTS/$kind/ignore-gfp-highmem ] ||
			echo N >$FAULTS/$kind/ignore-gfp-highmem
		[ ! -e $FAULTS/$kind/min-order ] ||
			echo 0 >$FAULTS/$kind/min-order
	done
}

# Copies from and to processes do not fail: only those that nobody asks for do.
copies_do_not() {
	echo 1 >$FAULTS/fail_usercopy/require-end
}

# What FUNCTION calls has all the memory that it asks for.
spare() {
	local function=$1 range kind

	range=$(sort /proc/kallsyms | awk -v name="$function" '
		start && !end && $1 != start { end = $1 }
		$3 == name { start = $1 }
		END { if (end) print "0x" start, "0x" end }')
	[ -n "$range" ] || fail "there is no function $function"
	for kind in failslab fail_page_alloc fail_usercopy; do
		echo "${range#* }" >$FAULTS/$kind/reject-end
		echo "${range% *}" >$FAULTS/$kind/reject-start
	done
}

# Link frdma0, where allocations may fail.
scarcity_up() {
	faults_are_possible
	faults_set_up
	links_up
}

# Makes and unmakes things of each KIND, HOW (make or unmake) scarcely. When an
# object has been unmade, it cannot be told any more that there was no room for
# the answer. Arguments: HOW STEP KIND...
scarcely() {
	local how=$1 step=$2 kind

	shift 2
	scarcity_up
	[ "$how" = make ] || copies_do_not
	for kind; do
		leaves_no_object say_notes with_gid v4 hostile/scarce "$kind" "$how" "$step"
	done
}

# The same with links. Where ib_uverbs has no memory for the tree of a device's
# methods, it loses those nodes of the tree that have nothing in them yet. Arguments:
# STEP
scarcely_linked() {
	scarcity_up
	defer netdev_delete scarce
	modprobe dummy numdummies=0
	ip link add scarce type dummy
	ip link set scarce up
	spare uverbs_alloc_api
	leaves_no_object say_notes with_gid v4 hostile/scarce link make "$1"
}

# The same with queue pairs that are given a counter, or get one by themselves.
# Arguments: counter|counted
scarcely_bound() {
	scarcity_up
	[ "$1" = counter ] ||
		rdma statistic qp set link frdma0/1 auto type on
	leaves_no_object say_notes with_gid v4 hostile/scarce "$1" make 1
}

# The same by a consumer in the kernel, consumer/needy.c.
scarcely_in_the_kernel() {
	scarcity_up
	leaves_no_object say_notes needy
}

needy() {
	local gid status=0

	gid=$(gid_index frdma0 v4) || return
	insmod "/lib/modules/$(uname -r)/frdma-test/needy.ko" \
		gid_index="$gid" || status=$?
	dmesg | sed -n '/allocation/s/.*needy: //p'
	[ $status != 0 ] || rmmod needy
	return $status
}

# PERCENT of the allocations that the module asks for, itself or by what it
# calls, fail.
module_fails() {
	local percent=$1 base size kind

	defer faults_set_up
	read -r size base < <(awk '$1 == "frdma" { print $2, $6 }' /proc/modules)
	for kind in failslab fail_page_alloc; do
		echo -1 >$FAULTS/$kind/times
		echo "$base" >$FAULTS/$kind/require-start
		printf '0x%x' $((base + size)) >$FAULTS/$kind/require-end
		echo "$percent" >$FAULTS/$kind/probability
	done
}

# A packet for which there is no memory is a lost packet.
traffic_goes_on() {
	faults_are_possible
	faults_set_up
	ends_up
	flow "$1" frdma0 frdma1 "${ALL_KINDS[@]}"
	module_fails "$2"
	flow_is_well
	faults_set_up
	note "dropped for want of memory: $(counter frdma0 drop_no_memory)" \
		"and $(counter frdma1 drop_no_memory)"
	pingpong "$1" -n 20
}

# The same where memory is so scarce that nothing passes: it is told in the end,
# and the link is as before when there is memory again.
traffic_ends() {
	faults_are_possible
	faults_set_up
	ends_up
	flow v4 frdma0 frdma1 -t 12 -r 3
	module_fails 100
	flow_fails 20 'retry counter exceeded\|post:'
	faults_set_up
	pingpong v4 -n 20
}

QUEUES=(pd cq cq_size srq srq_size channel)
PAIRS=(rc uc ud xrcd xsrq xrc_send)
MEMORY=(mr odp dmabuf other_mr dm of_dm mw ah group)

for kinds in QUEUES PAIRS MEMORY; do
	declare -n chosen=$kinds
	ktap_test scarcely make 1 "${chosen[@]}"
done
# Not made: where ib_core has no memory for an XRC target of its own, in
# create_xrc_qp_user(), it goes on counting it as a user of its domain, which
# nobody can close any more; and a context that it cannot begin it frees
# without the process that it has taken hold of, in UVERBS_METHOD_GET_CONTEXT.
ktap_test scarcely unmake 1 "${QUEUES[@]}" "${PAIRS[@]}" "${MEMORY[@]}" \
	xrc_recv context
# What cannot be bound goes on being counted by the core, which then refuses to
# change how the port counts: each has a link of its own.
for kind in counter counted; do
	ktap_test scarcely_bound $kind
done
ktap_test scarcely_in_the_kernel
# There are thousands, most of them for the files of its GIDs, and each takes
# two seconds.
step=71
[ -z "${FULL:-}" ] || step=7
KTAP_LIMIT=${FULL:+20}300 ktap_test scarcely_linked $step
for family in v4 v6; do
	ktap_test traffic_goes_on $family 5
done
ktap_test traffic_ends
ktap_end
