# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# Programs of others, run on frdma and then, in the same guests, on the
# kernel's rdma_rxe. A test program reads this after frdma.sh and traffic.sh:
#
#	table() {
#		program FUNCTION [ARG...]	one line for each program
#	}
#	on_both table
#	ktap_end
#
# A program is a test as of ktap.sh and uses the device DEV of both guests. On
# frdma it must pass; how it fares on rxe is only told, as a comment that
# scripts/programs makes the other column of its table of. With PROGRAMS_LIST
# set, the table is printed and nothing is run.

# What the table is run on. The other one comes last: it may take the guests
# with it.
DRIVERS="frdma rxe"

# Runs the table of that name on each driver.
on_both() {
	local driver n

	[ -z "${PROGRAMS_LIST:-}" ] || list_programs "$1"
	for driver in $DRIVERS; do
		DEV=${driver}0
		[ $driver = frdma ] || note "$driver begins"
		mtu 4200
		deep_queues
		for n in $(seq "$FRDMA_NODES"); do
			"${driver}_up" "$n"
		done
		"$1"
		if [ $driver = frdma ]; then
			ktap_undo_program
		else
			ktap_undo >/dev/null 2>&1
		fi
	done
}

list_programs() {
	program() {
		echo "$*"
	}
	"$1"
	rm -rf "$KTAP_TMP"
	exit
}

peers_run=0

# Runs a program. That of the other driver counts in a shell of its own, and
# marks the log with numbers that no other test has.
program() {
	if [ "$DEV" = frdma0 ]; then
		ktap_test "$@"
		return
	fi
	[[ "$*" == *"${KTAP_ONLY:-}"* ]] || return 0
	peers_run=$((peers_run + 1))
	(
		# shellcheck disable=SC2034 # for ktap_test
		KTAP_TOTAL=$((10000 + peers_run))
		exec 3>&1
		ktap_test "$@"
	) 2>&1 | sed -u "s/^/# ${DEV%0}: /"
}

# Runs a program if the device has that capability, words that
# "ibv_devinfo -v" prints. Arguments: WORDS FUNCTION [ARG...]
given() {
	local word=$1

	shift
	ibv_devinfo -v -d "$DEV" >"$KTAP_TMP/devinfo"
	grep -qwi "$word" "$KTAP_TMP/devinfo" || skip "$DEV has no $word"
	"$@"
}

# As "pair", for a server that serves until it is stopped.
serve() {
	local port=$1 server=$2 client=$3 pid

	on 2 "exec $server" >"$KTAP_TMP/server" 2>&1 &
	pid=$!
	pair_is_ready $pid "$port" "$server"
	bash -c "$client" >"$KTAP_TMP/client" 2>&1 || {
		tail -n 20 "$KTAP_TMP/server" "$KTAP_TMP/client"
		fail "client: $client"
	}
	kill $pid || fail "the server has ended: $(<"$KTAP_TMP/server")"
	wait $pid || true
}
