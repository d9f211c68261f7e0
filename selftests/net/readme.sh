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

# A server takes a moment until it listens.
rping_waits() {
	sed 's/^rping -c/sleep 3\nrping -c/' "$1"
}

# Arguments: TEXT
commands_work() {
	commands_behind "$1" >"$KTAP_TMP/given"
	grep -q '^rdma link add' "$KTAP_TMP/given"
	grep -q '^rping -c' "$KTAP_TMP/given"
	rping_waits "$KTAP_TMP/given" >"$KTAP_TMP/commands"
	modprobe frdma
	within 60 bash -e "$KTAP_TMP/commands" >"$KTAP_TMP/said" 2>&1 ||
		fail "$(<"$KTAP_TMP/said")"
	[ "$(grep -c '^ping data:' "$KTAP_TMP/said")" = 10 ] ||
		fail "$(<"$KTAP_TMP/said")"
}

namespaces_remove() {
	local status=0

	link_delete frdma0 || status=1
	link_delete frdma1 || status=1
	netdev_delete va || status=1
	netns_delete other || status=1
	return $status
}

two_namespaces() {
	need_modules veth
	defer namespaces_remove
	commands_work "Two network namespaces of one machine"
}

dummy_remove() {
	local status=0

	link_delete frdma2 || status=1
	netdev_delete dummy0 || status=1
	return $status
}

one_device() {
	need_modules dummy
	defer dummy_remove
	commands_work "a server share one device, on an interface"
}

ktap_test two_namespaces
ktap_test one_device
ktap_end
