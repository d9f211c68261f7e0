#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# An unprivileged user who may open the device reaches nothing of another's,
# even if he knows its keys and numbers; what needs a privilege he is refused.
# stranger.c; and with the tools of the administrator.
#
# guests: 1
# named: bookworm sid

. "${0%/*}/../lib/frdma.sh"
. "${0%/*}/../lib/ends.sh"

stranger() {
	leaves_no_object with_gid v4 hostile/stranger "$1"
}

unprivileged() {
	setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all "$@"
}

# What he may look at he may not change.
tools_are_refused() {
	local before command

	ip link add hostile type dummy
	defer netdev_delete hostile
	before=$(rdma link; rdma system; rdma dev)
	for command in "link add frdma1 type frdma netdev hostile" \
		"link delete frdma0" "dev set frdma0 name frdma1" \
		"dev set frdma0 adaptive-moderation on" \
		"system set netns exclusive" \
		"statistic qp set link frdma0/1 auto type on" \
		"statistic qp bind link frdma0/1 lqpn 1"; do
		# shellcheck disable=SC2086 # words of a command
		! unprivileged rdma $command >"$KTAP_TMP/said" 2>&1 ||
			fail "may: rdma $command"
		grep -qi -e 'not permitted' -e 'denied' "$KTAP_TMP/said" ||
			fail "rdma $command: $(<"$KTAP_TMP/said")"
	done
	[ "$(rdma link; rdma system; rdma dev)" = "$before" ]
}

# Sends a datagram of BYTES to port 4791 of ADDRESS. WRAPPER runs the sender.
# Arguments: ADDRESS BYTES [WRAPPER...]
sends() {
	local to=$1 bytes=$2

	shift 2
	"$@" bash -c "head -c $bytes /dev/zero >/dev/udp/$to/4791" \
		2>"$KTAP_TMP/said"
}

# An unprivileged process sends a datagram to the far end's port. Its write fails
# with EPERM where a rule drops the datagram.
spoofs() {
	sends $ENDS_FAR4 10 unprivileged || {
		cat "$KTAP_TMP/said" >&2
		return 1
	}
}

# The far end has dropped as many datagrams as that. Arguments: COUNT
has_dropped() {
	[ "$(counter frdma1 drop_short)" = "$1" ]
}

# The sender is told, and the link counts. Arguments: of sends
is_not_permitted() {
	local before

	before=$(counter frdma0 drop_not_permitted)
	! sends "$@" || fail "may send: $*"
	grep -q 'Operation not permitted' "$KTAP_TMP/said" ||
		fail "$*: $(<"$KTAP_TMP/said")"
	[ "$(counter frdma0 drop_not_permitted)" = $((before + 1)) ]
}

guard_stops_processes() {
	local to bytes

	links_down
	ends_up
	for to in $ENDS_FAR4 $ENDS_FAR6 $ENDS_NEAR4 $ENDS_NEAR6 ::ffff:$ENDS_FAR4; do
		# The second is sent in fragments.
		for bytes in 10 4000; do
			is_not_permitted $to $bytes unprivileged
		done
	done
	# Root of a user namespace is nobody in the namespace of the network.
	is_not_permitted $ENDS_FAR4 10 unprivileged unshare --user --map-root-user
	is_not_permitted $ENDS_FAR4 10 setpriv --bounding-set=-net_raw \
		--inh-caps=-net_raw
	pingpong v4 -n 20
	pingpong v6 -n 20
}

# Arguments: of sends
reaches_the_far_end() {
	local before

	before=$(counter frdma1 drop_short)
	sends "$@" || fail "$*: $(<"$KTAP_TMP/said")"
	sleep 0.5
	[ "$(counter frdma1 drop_short)" -gt "$before" ] || fail "lost: $*"
}

guard_lets_others_pass() {
	links_down
	ends_up
	reaches_the_far_end $ENDS_FAR4 10
	reaches_the_far_end $ENDS_FAR6 10
	reaches_the_far_end $ENDS_FAR4 10 setpriv --reuid=65534 --regid=65534 \
		--clear-groups --inh-caps=+net_raw --ambient-caps=+net_raw
	# As with a raw socket, its creator counts.
	exec 7>/dev/udp/$ENDS_FAR4/4791
	unprivileged bash -c 'echo >&7' || fail "by a socket of root's"
	exec 7>&-
	unprivileged bash -c "echo >/dev/udp/$ENDS_FAR4/4792" || fail "another port"
	[ "$(counter frdma0 drop_not_permitted)" = 0 ]
	echo 0 >/sys/class/infiniband/frdma0/guard
	reaches_the_far_end $ENDS_FAR4 10 unprivileged
	reaches_the_far_end $ENDS_FAR6 10 unprivileged
}

# An interface without a link is none of its business, and neither is a
# namespace whose root the sender is.
guard_keeps_to_its_link() {
	links_down
	ends_up
	ip link add hostile type dummy
	defer ip link delete hostile
	ip address add 10.79.0.1/24 dev hostile
	ip link set hostile up
	sends 10.79.0.9 10 unprivileged || fail "by another interface"
	unprivileged unshare --user --map-root-user --net bash -c "
		ip link set lo up && head -c 10 /dev/zero >/dev/udp/127.0.0.1/4791" ||
		fail "in a namespace of his own"
	[ "$(counter frdma0 drop_not_permitted)" = 0 ]
}

# Only administrators see the PSNs of a connection.
lists_no_psns() {
	local said

	links_down
	ends_up
	flow v4 frdma0 frdma1 -k rc -p 20
	said=$(rdma -dd resource show qp link frdma0/1) || fail "root: $said"
	grep -q 'sq-psn [1-9].*drv_next_psn [1-9]' <<<"${said//$'\n'/ }" ||
		fail "root: $said"
	said=$(unprivileged rdma -dd resource show qp link frdma0/1) ||
		fail "unprivileged: $said"
	grep -q 'drv_window' <<<"$said" || fail "unprivileged: $said"
	! grep -e 'psn [1-9]' -e 'drv_[a-z]*_psn' <<<"$said" || fail "it has PSNs"
	flow_is_well
}

# The rule of frdma(7): what frdma sends passes.
rule_stops_processes() {
	local before

	need_modules nf_tables
	links_down
	ends_up
	echo 0 >/sys/class/infiniband/frdma0/guard
	before=$(counter frdma1 drop_short)
	spoofs
	await 5 has_dropped $((before + 1))
	defer nft delete table inet frdma
	nft -f - <<-'EOF'
	table inet frdma {
		chain output {
			type filter hook output priority filter
			udp dport 4791 meta skuid 0-4294967294 drop
		}
	}
	EOF
	refuse "Operation not permitted" spoofs
	pingpong
	has_dropped $((before + 1))
}

links_up
for case in handles_of_others keys_of_others windows_on_others \
	connections_of_others memory_of_others file_is_only_read \
	pinned_memory_is_limited controlled_queue_keys kinds_of_queue_pairs \
	files_of_others; do
	ktap_test stranger $case
done
ktap_test tools_are_refused
ktap_test guard_stops_processes
ktap_test guard_lets_others_pass
ktap_test guard_keeps_to_its_link
ktap_test lists_no_psns
ktap_test rule_stops_processes
ktap_end
