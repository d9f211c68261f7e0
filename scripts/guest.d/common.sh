# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# What all parts of the guest bench use: messages, the cache, packages of this
# machine, and processes that must not outlive the script.

# shellcheck source=scripts/host.sh
. "${BASH_SOURCE[0]%/*}/../host.sh"

# shellcheck disable=SC2034 # for the other parts
DEFAULT_ROOT=${FRDMA_ROOT:-trixie}

# What administrators run is not where the PATH of others leads, nor that of a
# root shell by plain su.
PATH=$PATH:/usr/sbin:/sbin

# The status of a run that the bench itself has to call a failure.
FAILED=125

# Says what is going on; standard output belongs to the guest's command.
say() {
	echo "${0##*/}: $*" >&2
}

# Ends the script with a reason.
die() {
	say "$*"
	exit $FAILED
}

# The version of frdma: that of the newest entry of debian/changelog.
version() {
	sed -n '1s/^frdma (\(.*\)) .*/\1/p' "$TOP/debian/changelog"
}

# Everything here mounts, changes roots or installs packages.
need_superuser() {
	[ "$(id -u)" = 0 ] || die "run this as root"
}

# Refuses names that debootstrap would not understand.
root_check_name() {
	is_root "$1" || die "unknown root '$1': choose trixie, bookworm or sid"
}

# Ends the script where no roots and guests can be made.
need_host() {
	local why

	why=$(why_no_guests)
	[ -z "$why" ] || die "$why"
}

# Processes to kill and directories to remove when the script ends.
CHILDREN=()
RUBBISH=()

# Lets what runs in roots end by itself, which removes what is half done, for two
# seconds: it is behind two processes that only KILL ends.
ask_to_end() {
	local pid first n

	for pid in "${CHILDREN[@]}"; do
		# A line without an end, of which "read" says that it fails.
		first=
		read -r first _ <"/proc/$pid/task/$pid/children" || true
		[ -n "$first" ] && pkill -TERM -P "$first" || continue
		for ((n = 0; n < 20; n++)); do
			[ -e "/proc/$first" ] || break
			sleep 0.1
		done
	done 2>/dev/null
}

# Leaves nothing behind, however the script ends.
clean_up() {
	local pid

	trap '' HUP INT TERM
	ask_to_end
	for pid in "${CHILDREN[@]}"; do
		kill -KILL "$pid" 2>/dev/null || true
	done
	for pid in "${CHILDREN[@]}"; do
		wait "$pid" 2>/dev/null || true
	done
	[ ${#RUBBISH[@]} = 0 ] || rm -rf --one-file-system "${RUBBISH[@]}"
}

trap clean_up EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM

# Starts a command in the background that dies with this script, even when
# the script is killed without a chance to clean up. Sets STARTED.
start() {
	start_with_input "$@" </dev/null
}

# The same for one that reads the script's input.
start_with_input() {
	setpriv --pdeathsig KILL -- "$@" <&0 &
	STARTED=$!
	CHILDREN+=("$STARTED")
}

# Forgets a child that has ended.
forget() {
	local pid kept=()

	for pid in "${CHILDREN[@]}"; do
		[ "$pid" = "$1" ] || kept+=("$pid")
	done
	CHILDREN=("${kept[@]}")
}

# Runs a long command with its output in a log: says every ten seconds how far
# it is, and shows the end of the log if it fails.
run_logged() {
	local log=$1 what=$2 seconds=0 pid status=0

	shift 2
	say "$what"
	start "$@" >"$log" 2>&1 </dev/null
	pid=$STARTED
	while kill -0 "$pid" 2>/dev/null; do
		sleep 0.2 &
		wait $! || true
		seconds=$((seconds + 1))
		[ $((seconds % 50)) != 0 ] ||
			say "  $((seconds / 5)) s: $(last_line "$log")"
	done
	wait "$pid" || status=$?
	forget "$pid"
	[ $status = 0 ] && return
	tail -n 30 "$log" >&2
	die "failed: $what (log: $log)"
}

# The last line of a log, short enough for a progress message.
last_line() {
	tail -c 400 "$1" | tr '\r' '\n' | grep -v '^ *$' | tail -n 1 | cut -c 1-66
}

# The command that installs packages here. Arguments: PACKAGES [THE SAME OF
# FEDORA]
how_to_install() {
	if command -v dnf >/dev/null && ! command -v apt-get >/dev/null; then
		echo "dnf install ${2:-$1}"
	else
		echo "apt-get install $1"
	fi
}

# Ends the script if a command is missing, and says which packages have it: for
# what users build on their own machines, which is not changed unasked.
# Arguments: COMMAND PACKAGES [THE SAME OF FEDORA]
need_program() {
	command -v "$1" >/dev/null ||
		die "no $1: $(how_to_install "$2" "${3:-}")"
}

# Installs the packages of this machine that provide missing commands.
# Arguments: COMMAND:PACKAGE...
need_commands() {
	local pair missing=()

	for pair; do
		command -v "${pair%%:*}" >/dev/null || missing+=("${pair#*:}")
	done
	[ ${#missing[@]} = 0 ] && return
	command -v apt-get >/dev/null ||
		die "missing: ${missing[*]}; install them and try again"
	[ "$(id -u)" = 0 ] ||
		die "missing: ${missing[*]}; root installs them, by this or by" \
			"apt-get install"
	mkdir -p "$CACHE/log"
	# A repository that does not answer need not be the one that is needed.
	run_logged "$CACHE/log/apt-update" "reading the package lists" \
		sh -c 'apt-get update || true'
	run_logged "$CACHE/log/apt-install" \
		"installing on this machine: ${missing[*]}" \
		env DEBIAN_FRONTEND=noninteractive apt-get install -y \
		--no-install-recommends "${missing[@]}"
}

# Fails early, with a sentence, when the cache's disk cannot take MIB more.
need_space() {
	local mib=$1 free

	mkdir -p "$CACHE" || die "cannot create the cache $CACHE"
	free=$(df -Pm "$CACHE" | awk 'NR == 2 { print $4 }')
	[ "$free" -ge "$mib" ] || die "$CACHE: $free MiB free, $mib MiB needed" \
		"(FRDMA_CACHE moves the cache)"
}
