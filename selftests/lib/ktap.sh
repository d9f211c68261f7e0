# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# TAP for shell tests in guests.
#
#	ktap_test FUNCTION [ARG...]	runs a test, whose name are these words
#	ktap_end			last line of a program: prints the plan
#
# A test is a function. It runs under "set -e" in a subshell and a process
# group of its own, so it may change directory and variables, and what it
# leaves running is killed. The first command that fails ends it as "not ok",
# and its output is shown. In a test:
#
#	note TEXT	says something even if the test passes: figures
#	seed_random	seeds RANDOM, and notes FRDMA_SEED, which gives it back
#	fail TEXT	ends the test as failed
#	skip TEXT	ends the test as skipped; an exit status never does
#	defer CMD...	undoes something when the test ends, last come first;
#			outside of tests: when the program ends. CMD must succeed
#	refuse TEXT CMD...	CMD must fail and print TEXT
#	finds_nothing CMD...	CMD must end with status 1, as grep does
#	prints_no REGEX CMD...	CMD must succeed, and no line matches REGEX
#	await SEC CMD...	CMD must succeed within so many seconds
#	within SEC CMD...	CMD, ended as failed after so many seconds
#	logged TEXT [N]	guest N (this one) has logged TEXT since the last test
#	unlogged TEXT [N]	it has not
#
# After each test the logs of all guests are read: a kernel report fails it. A
# data race which is none of the module's is only noted. scripts/check-harness
# tests this file.
#
# The runner sets KTAP_ONLY: only tests with that in their names are run. The
# guest says in FRDMA_SLOW by what all limits of time are to be multiplied.

set -u -o pipefail

KTAP_TOP=$(cd "${BASH_SOURCE[0]%/*}/../.." && pwd)

# Started elsewhere than in a guest, a program has guests booted for itself.
[ -n "${FRDMA_NODE:-}${PROGRAMS_LIST:-}" ] || {
	[ $# = 0 ] || {
		echo "$0 takes no arguments; see selftests/run --help" >&2
		exit 2
	}
	KTAP_NAME=$(realpath "${0%.sh}.sh")
	exec "$KTAP_TOP/selftests/run" "${KTAP_NAME#"$KTAP_TOP/selftests/"}"
}
KTAP_REPORTS=$KTAP_TOP/scripts/guest.d/reports
KTAP_RACES=$KTAP_TOP/scripts/guest.d/races
# Programs of ../Makefile, in every guest.
PROGRAMS=${PROGRAMS:-/usr/lib/frdma-test}
KTAP_KMSG=${KTAP_KMSG:-/dev/kmsg}
KTAP_SKIP=4
KTAP_LIMIT=120	# seconds, of one test; or: KTAP_LIMIT=300 ktap_test ...
KTAP_SLOW=${FRDMA_SLOW:-1}
KTAP_SEEN=()	# by guest: the newest record of its log at the last test
KTAP_TMP=$(mktemp -d)
KTAP_UNDO=()
KTAP_NAME=
KTAP_TOTAL=0
KTAP_FAILED=0

exec 3>&1
echo "TAP version 13"

note() {
	echo "# $*" >&3
}

# Sets SEED, too. A subshell has random numbers of its own.
seed_random() {
	SEED=${FRDMA_SEED:-$RANDOM}
	RANDOM=$SEED
	note "FRDMA_SEED=$SEED"
}

# To the error output: a function that fails may be what prints a value.
fail() {
	echo "$*" >&2
	trap - ERR
	exit 1
}

skip() {
	echo "$*" >"$KTAP_TMP/skip"
	trap - ERR
	exit $KTAP_SKIP
}

# A word list is kept as one shell line each.
defer() {
	KTAP_UNDO+=("$(printf '%q ' "$@")")
}

# Runs the deferred commands; fails if one of them does. A subshell runs each,
# since one may end with "fail" while others are left.
ktap_undo() {
	local i status=0

	trap - ERR
	for ((i = ${#KTAP_UNDO[@]} - 1; i >= 0; i--)); do
		(eval "${KTAP_UNDO[i]}") || {
			status=1
			echo "cannot undo: ${KTAP_UNDO[i]}"
		}
	done
	KTAP_UNDO=()
	return $status
}

# Undoes what the program has deferred outside of tests; a failure counts.
ktap_undo_program() {
	ktap_undo >"$KTAP_TMP/output" 2>&1 || {
		KTAP_TOTAL=$((KTAP_TOTAL + 1))
		ktap_failed "undoes what the program deferred"
	}
}

# A command that dies of a signal, or is not found, has not refused.
refuse() {
	local text=$1 said status=0

	shift
	[ -n "$text" ] || fail "refuse lacks the text: $*"
	said=$("$@" 2>&1) || status=$?
	[ $status != 0 ] || fail "succeeds, but should not: $*"
	[ $status -lt 126 ] || fail "'$*' ends with status $status: $said"
	[[ $said == *"$text"* ]] ||
		fail "'$*' says '$said', not '$text'"
}

# "! CMD" would be true of a CMD that cannot look, too.
finds_nothing() {
	local said status=0

	said=$("$@" 2>&1) || status=$?
	[ $status = 1 ] || fail "'$*' ends with status $status: $said"
}

# In "! CMD | grep REGEX" nobody asks for the status of CMD.
prints_no() {
	local regex=$1 said

	shift
	said=$("$@") || fail "'$*' fails"
	finds_nothing grep -E -e "$regex" - <<<"$said"
}

await() {
	local seconds=$(($1 * KTAP_SLOW)) end=$((SECONDS + $1 * KTAP_SLOW))

	shift
	until ("$@") >"$KTAP_TMP/await" 2>&1; do
		[ "$SECONDS" -lt $end ] ||
			fail "not within $seconds s: $*; $(<"$KTAP_TMP/await")"
		sleep 0.1
	done
}

within() {
	timeout $(($1 * KTAP_SLOW)) "${@:2}"
}

# Runs a command in a guest; the own one is not called through the bench.
ktap_on() {
	local n=$1

	shift
	if [ "$n" = "${FRDMA_NODE:-1}" ]; then
		bash -c "$1"
	else
		on "$n" "$1"
	fi
}

# What guest N has logged since the last test; the last line is the number of
# the newest record.
ktap_log() {
	ktap_on "$1" "$PROGRAMS/lib/klog ${KTAP_SEEN[$1]:--1}"
}

logged() {
	ktap_log "${2:-$FRDMA_NODE}" >"$KTAP_TMP/log"
	grep -qF -e "$1" "$KTAP_TMP/log" || fail "not logged: $1"
}

unlogged() {
	ktap_log "${2:-$FRDMA_NODE}" >"$KTAP_TMP/log"
	! grep -F -e "$1" "$KTAP_TMP/log" || fail "logged: $1"
}

# Reads the logs of all guests; what they have said is said.
ktap_read_logs() {
	local n lines

	for ((n = 1; n <= FRDMA_NODES; n++)); do
		ktap_log $n >"$KTAP_TMP/guest $n" 2>&1 || return
		mapfile -t lines <"$KTAP_TMP/guest $n"
		KTAP_SEEN[n]=${lines[-1]}
	done
}

# Adds the reports of the kernel among them to the test's output. True if there
# are any, or if that cannot be told.
ktap_reports() {
	ktap_read_logs || {
		echo "guests' logs cannot be read" >>"$KTAP_TMP/output"
		return
	}
	grep -aho "KCSAN: .*" "$KTAP_TMP/guest "* | grep -vEf "$KTAP_RACES" |
		sort -u | while read -r race; do
			note "not of the module: $race"
		done
	(cd "$KTAP_TMP" && "$KTAP_REPORTS" -A 30 -f "$KTAP_RACES" \
		"guest "*) >>"$KTAP_TMP/output" 2>&1
	[ $? != 1 ]	# 2: it cannot be told
}

# The subshell of one test.
ktap_child() {
	KTAP_UNDO=()
	set -eE
	trap 'echo "${BASH_SOURCE[0]##*/}:$LINENO: fails: $BASH_COMMAND"' ERR
	trap ktap_child_ends EXIT
	trap 'exit 143' TERM
	"$@"
}

# What cannot be undone fails the test, even a skipped one.
ktap_child_ends() {
	local status=$?

	ktap_undo || status=1
	exit $status
}

# Runs a test with a time limit. Its processes end with it.
ktap_run() {
	local pid dog status=0

	set -m
	: >"$KTAP_TMP/output"
	rm -f "$KTAP_TMP/skip"
	(ktap_child "$@") >>"$KTAP_TMP/output" 2>&1 </dev/null &
	pid=$!
	(
		sleep $((KTAP_LIMIT * KTAP_SLOW))
		echo "no end after $((KTAP_LIMIT * KTAP_SLOW)) s" \
			>>"$KTAP_TMP/output"
		kill -TERM -- -$pid
		sleep 5
		kill -KILL -- -$pid
	) >/dev/null 2>&1 &
	dog=$!
	set +m
	wait $pid 2>/dev/null || status=$?
	kill -KILL -- -$dog -$pid 2>/dev/null
	wait $dog 2>/dev/null
	return $status
}

# Prints a failure and what was said before it. Arguments: TEXT
ktap_failed() {
	KTAP_FAILED=$((KTAP_FAILED + 1))
	sed 's/^/# /' "$KTAP_TMP/output"
	echo "not ok $KTAP_TOTAL $*"
}

# A test is skipped if it called "skip", and nothing else: a command that ends
# with the same status fails it. So does a "skip" whose status was lost.
ktap_verdict() {
	local status=$1

	if [ -e "$KTAP_TMP/skip" ]; then
		[ "$status" != 0 ] || {
			echo "goes on after: skip $(<"$KTAP_TMP/skip")" \
				>>"$KTAP_TMP/output"
			status=1
		}
	elif [ "$status" = $KTAP_SKIP ]; then
		echo "a command ended with status $status" \
			>>"$KTAP_TMP/output"
		status=1
	fi
	return $status
}

# The verdict is followed by the time that the test took.
ktap_test() {
	local status begin=$SECONDS took

	KTAP_NAME=$*
	[[ $KTAP_NAME == *"${KTAP_ONLY:-}"* ]] || return 0
	KTAP_TOTAL=$((KTAP_TOTAL + 1))
	echo "frdma-test: $KTAP_TOTAL" >"$KTAP_KMSG"
	ktap_run "$@"	# not after || or if: "set -e" is off there
	ktap_verdict $?
	status=$?
	took="# $((SECONDS - begin)) s"
	! ktap_reports || status=1
	case $status in
	0)
		echo "ok $KTAP_TOTAL $KTAP_NAME $took" ;;
	"$KTAP_SKIP")
		echo "ok $KTAP_TOTAL $KTAP_NAME # SKIP $(<"$KTAP_TMP/skip")" ;;
	*)	ktap_failed "$KTAP_NAME $took" ;;
	esac
}

# What the kernel reports as the program's links and modules go is its failure,
# too.
ktap_end() {
	ktap_undo_program
	: >"$KTAP_TMP/output"
	! ktap_reports || {
		KTAP_TOTAL=$((KTAP_TOTAL + 1))
		ktap_failed "ends without a kernel report"
	}
	rm -rf "$KTAP_TMP"
	echo "1..$KTAP_TOTAL"
	exit $((KTAP_FAILED > 0))
}

# A list of what there is (programs.sh) is made on the host, by itself.
[ -n "${PROGRAMS_LIST:-}" ] || {
	[ -d $PROGRAMS ] || {
		echo "$PROGRAMS is missing: scripts/guest build --tests" >&2
		exit 2
	}
	ktap_read_logs || {
		echo "the guests' kernel logs cannot be read" >&2
		cat "$KTAP_TMP"/guest* >&2
		exit 2
	}
}
