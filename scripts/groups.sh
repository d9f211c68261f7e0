# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# Process groups that a script has begun ("set -m"), so that a signal reaches the
# script first.

# Signals groups, by the processes that lead them; fails if none is left. Arguments:
# SIGNAL PID...
signal_groups() {
	local signal=$1 pid status=1

	shift
	for pid; do
		! kill -s "$signal" -- "-$pid" 2>/dev/null || status=0
	done
	return $status
}

# Ends groups, and waits, for a minute at most, until all that is in them has ended, too,
# which may clean up after itself. What has only begun may miss the first signal.
# Arguments: PID...
end_groups() {
	local n

	for ((n = 0; n < 600; n++)); do
		[ $((n % 10)) != 0 ] || signal_groups TERM "$@" || break
		signal_groups 0 "$@" || break
		sleep 0.1
	done
}

# Runs a command in a group of its own, which a signal to this script ends as well:
# bash would take no notice of it until the command has ended. The command has no
# input. Arguments: CMD...
run_in_group() {
	local pid='' status=0 signal='' caught traps

	traps=$(trap -p HUP INT TERM)
	for caught in HUP INT TERM; do
		# shellcheck disable=SC2064 # which one it is
		trap "signal=$caught; signal_groups TERM \$pid || true" $caught
	done
	set -m
	"$@" </dev/null &
	pid=$!
	set +m
	[ -n "$signal" ] || wait "$pid" || status=$?
	[ -z "$signal" ] || {
		trap '' HUP INT TERM
		end_groups "$pid"
	}
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
	FRDMA_LED=$0 run_in_group "$BASH" "$0" "$@"
	exit
}
