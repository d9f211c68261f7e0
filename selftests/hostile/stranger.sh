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

# An unprivileged process sends a datagram to the far end's port. Its write fails
# with EPERM where a rule drops the datagram.
spoofs() {
	unprivileged bash -c "echo nonsense >/dev/udp/$ENDS_FAR4/4791"
}

# The far end has dropped as many datagrams as that. Arguments: COUNT
has_dropped() {
	[ "$(counter frdma1 drop_short)" = "$1" ]
}

# The rule of frdma(7): what frdma sends passes.
rule_stops_processes() {
	local before

	need_modules nf_tables
	links_down
	ends_up
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
ktap_test rule_stops_processes
ktap_end
