# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# Process groups that a script has begun ("set -m"), so that a signal reaches the
# script first.

# Ends groups, by the processes that lead them, and waits until all that is in
# them has ended, too, which may clean up after itself. Arguments: PID...
end_groups() {
	local pid n

	for pid; do
		kill -TERM -- "-$pid" 2>/dev/null || true
	done
	wait
	for pid; do
		for ((n = 0; n < 600; n++)); do
			kill -0 -- "-$pid" 2>/dev/null || break
			sleep 0.1
		done
	done
}

# Runs a command in a group of its own, which a signal to this script ends as well:
# bash would take no notice of it until the command has ended. The command has no
# input. Arguments: CMD...
run_in_group() {
	local pid status=0 signal='' caught traps

	traps=$(trap -p HUP INT TERM)
	for caught in HUP INT TERM; do
		# shellcheck disable=SC2064 # which one it is
		trap "signal=$caught" $caught
	done
	set -m
	"$@" </dev/null &
	pid=$!
	set +m
	wait "$pid" || status=$?
	[ -z "$signal" ] || end_groups "$pid"
	trap - HUP INT TERM
	eval "$traps"
	[ -z "$signal" ] || kill -s "$signal" $$
	return $status
}

# Has a script run in a group of its own, for the same reason: the first that it does.
# Arguments: those of the script
lead_group() {
	local led=${FRDMA_LED:-}

	unset FRDMA_LED
	[ "$led" != "$0" ] || return 0
	FRDMA_LED=$0 run_in_group "$0" "$@"
	exit
}
