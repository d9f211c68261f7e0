#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The commands that README.md gives for one machine, as they stand there.
#
# guests: 1

. "${0%/*}/../lib/frdma.sh"

# Prints the indented lines behind the one that has TEXT.
commands_behind() {
	awk -v text="$1" '
		index($0, text) { found = 1; next }
		found && /^    / { sub(/^    /, ""); print; any = 1; next }
		any { exit }' "$KTAP_TOP/README.md"
}

# Arguments: TEXT
commands_work() {
	commands_behind "$1" >"$KTAP_TMP/given"
	grep -q '^rdma link add' "$KTAP_TMP/given"
	grep -q '^rping -c' "$KTAP_TMP/given"
	# An emulated server takes longer until it listens.
	sed 's/^sleep 1$/sleep 5/' "$KTAP_TMP/given" >"$KTAP_TMP/commands"
	modprobe frdma
	within 60 bash -e "$KTAP_TMP/commands" >"$KTAP_TMP/said" 2>&1 ||
		fail "$(<"$KTAP_TMP/said")"
	[ "$(grep -c '^ping data:' "$KTAP_TMP/said")" = 10 ] ||
		fail "$(<"$KTAP_TMP/said")"
}

two_namespaces() {
	need_modules veth
	defer netns_delete other
	defer netdev_delete va
	commands_work "Two network namespaces of one machine"
	ip link delete va
	await 10 prints_no . rdma link
}

one_device() {
	need_modules dummy
	defer netdev_delete dummy0
	commands_work "a server share one device, on an interface"
	ip link delete dummy0
	await 10 prints_no . rdma link
}

ktap_test two_namespaces
ktap_test one_device
ktap_end
