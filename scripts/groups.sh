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
