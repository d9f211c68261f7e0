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

# The file that marks a cache of these scripts. Backup programs skip a directory
# that has it (https://bford.info/cachedir).
CACHE_TAG=CACHEDIR.TAG
CACHE_TAG_TEXT='Signature: 8a477f597d28d172789f06886806bc55
# Cache of the scripts of frdma. "scripts/guest clean all" empties it.'

# What a cache of these scripts holds, two levels deep, by type and name: the
# cache of an older checkout has no mark. Other files are somebody else's.
CACHE_NAMES='f CACHEDIR\.TAG\.[0-9]+
f kvm
d (root|build|kernel|packages|src|tools|log|runs)
d with-frdma\.[A-Za-z0-9]{6}
[a-z] with-frdma\.[A-Za-z0-9]{6}/.*
d (root|build|kernel)/(trixie|bookworm|sid)
d root/(trixie|bookworm|sid)\.partial
f root/(trixie|bookworm|sid)\.partial\.disk
f (root|kernel)/\.(trixie|bookworm|sid)\.lock
f (packages|src)/\.lock
d packages/(trixie|bookworm|sid)-[0-9a-f]{12}(\.partial)?
d src/rdma-core-[0-9][^/]*
d tools/([0-9a-f]{16}(\.[0-9]+)?|checkpatch(\.partial)?)
d runs/(run|kvm|with-frdma)\.[A-Za-z0-9]{6}
f log/apt-(update|install|source)
f log/(root|kernel|packages)-(trixie|bookworm|sid)(-[0-9a-f]{12})?
f log/(rdma-core-[0-9][^/]*|checkpatch-(fetch|unpack))'

# True if these scripts made the cache.
cache_is_tagged() {
	[ -f "$CACHE/$CACHE_TAG" ] && [ ! -L "$CACHE/$CACHE_TAG" ] &&
		[ "$(<"$CACHE/$CACHE_TAG")" = "$CACHE_TAG_TEXT" ]
}

# True if the cache, which has no mark, is empty or has only files that an older
# checkout made.
cache_looks_ours() {
	local root

	! find "$CACHE/" -mindepth 1 -maxdepth 2 -printf '%y %P\0' |
		grep -zvxE "$CACHE_NAMES" | grep -qz '' || return 1
	for root in "$CACHE"/root/*; do
		[[ ! -d $root || $root == *.partial ]] ||
			[ -e "$root/etc/frdma-root" ] || return 1
	done
}

# Makes the cache and marks it, or ends the script where the directory has files
# of somebody else. Roots have setuid programs: only the owner may enter.
cache_own() {
	local tag=$CACHE/$CACHE_TAG

	! cache_is_tagged || return 0
	mkdir -p "$CACHE" || die "cannot create the cache $CACHE"
	cache_looks_ours || die "$CACHE is no cache of these scripts:" \
		"FRDMA_CACHE=... names an empty directory, or one to make"
	chmod 0700 "$CACHE"
	echo "$CACHE_TAG_TEXT" >"$tag.$$" && mv "$tag.$$" "$tag" ||
		die "cannot write to the cache $CACHE"
}

# Makes directories of the cache.
cache_make() {
	local dir

	cache_own
	for dir; do
		mkdir -p "$CACHE/$dir" || die "cannot create $CACHE/$dir"
	done
}

# Makes a directory below the cache for the life of this script and of all that it
# starts, which inherits the lock of the directory. KIND begins its name. Sets WORK.
work_make() {
	local turn lock

	cache_make runs
	exec {turn}<"$CACHE/runs"
	flock "$turn"
	work_sweep || true
	WORK=$(mktemp -d "$CACHE/runs/$1.XXXXXX")
	RUBBISH+=("$WORK")
	exec {lock}<"$WORK"
	flock "$lock"
	exec {turn}<&-
}

# Removes the directories whose scripts were killed. The caller has the lock of
# "runs". Fails if one is in use.
work_sweep() {
	local dir lock status=0

	for dir in "$CACHE"/runs/*; do
		[ -d "$dir" ] || continue
		# Its script may remove it, this moment.
		{ exec {lock}<"$dir"; } 2>/dev/null || continue
		if flock -n "$lock"; then
			rm -rf --one-file-system "$dir"
		else
			status=1
		fi
		exec {lock}<&-
	done
	return $status
}

# Takes the lock of the sources of rdma-core, until the script ends: shared to use
# them, exclusive to fetch one. Arguments: -s|-x
source_lock() {
	[ -n "${SOURCE_LOCK:-}" ] || {
		cache_make src
		exec {SOURCE_LOCK}>>"$CACHE/src/.lock"
	}
	flock "$1" "$SOURCE_LOCK"
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
	if command -v apt-get >/dev/null; then
		echo "apt-get install $1"
	elif command -v dnf >/dev/null; then
		echo "dnf install ${2:-$1}"
	elif command -v zypper >/dev/null; then
		echo "zypper install $(names_of_opensuse "${2:-$1}")"
	elif command -v pacman >/dev/null; then
		echo "pacman -S $(names_of_arch "${2:-$1}")"
	else
		echo "install ${2:-$1}, or what has it here"
	fi
}

# What openSUSE and Arch call packages that Fedora calls so. Of kernels they have the
# headers of the newest only.
names_of_opensuse() {
	sed -E 's/kernel-devel[^ ]*/kernel-default-devel/
		s/\blibibverbs( |$)/libibverbs1\1/
		s/\blibibverbs-utils/rdma-core/' <<<"$1"
}

names_of_arch() {
	sed -E 's/kernel-devel[^ ]*/linux-headers/; s/\bpython3/python/
		s/\blibibverbs(-utils)?( |$)/rdma-core\2/g
		s/glibc-devel/glibc/; s/rpm-build/rpm-tools/' <<<"$1"
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
	cache_make log
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

	cache_own
	free=$(df -Pm "$CACHE" | awk 'NR == 2 { print $4 }')
	[ "$free" -ge "$mib" ] || die "$CACHE: $free MiB free, $mib MiB needed" \
		"(FRDMA_CACHE moves the cache)"
}
