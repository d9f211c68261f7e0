# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# Debian roots: debootstrap, packages, the rdma-core source, and running
# commands inside a root.

# What every root holds beyond debootstrap's minimum. A change here makes the
# next "guest root" renew the roots.
ROOT_PACKAGES=(
	# kernel, and what builds modules and programs
	linux-image-amd64 linux-headers-amd64 gcc make libc6-dev perl python3
	dwarves sparse
	# the guest's own tools
	busybox-static kmod procps psmisc less jq strace e2fsprogs
	# networks
	iproute2 iputils-ping ethtool nftables iw tcpdump tshark iperf3
	python3-scapy
	# RDMA
	rdma-core ibverbs-utils ibverbs-providers rdmacm-utils perftest
	python3-pyverbs libibverbs-dev librdmacm-dev nvme-cli
)

# Directories of the root that other things are mounted on.
ROOT_MOUNT_POINTS=(frdma results build usr/src/rdma-core)

# Room that one root takes while it is made, in MiB.
ROOT_MIB=4500

# Where the root of that name lies.
root_dir() {
	echo "$CACHE/root/$1"
}

# Identifies the lists a root was made from.
root_recipe() {
	echo "$1" "${ROOT_PACKAGES[@]}" "${ROOT_MOUNT_POINTS[@]}" \
		"${BOOT_MODULES[@]}" | sha256sum | cut -c 1-16
}

# True if the root exists and was made from the present lists.
root_is_current() {
	local dir

	dir=$(root_dir "$1")
	[ -e "$dir/boot/disk-bench" ] &&
		grep -sqx "recipe $(root_recipe "$1")" "$dir/etc/frdma-root"
}

# Makes the root if it is not there at all, and holds it against removal for
# as long as the script runs.
root_need() {
	root_check_name "$1"
	need_host
	cache_make root
	while :; do
		[ -e "$(root_dir "$1")/etc/frdma-root" ] || root_make "$1"
		exec {ROOT_LOCK}>"$CACHE/root/.$1.lock"
		flock -s -n "$ROOT_LOCK" || {
			say "waiting: the root $1 is being made by someone else"
			flock -s "$ROOT_LOCK"
		}
		# It may have been removed before the lock was taken.
		[ ! -e "$(root_dir "$1")/etc/frdma-root" ] || return 0
		exec {ROOT_LOCK}>&-
	done
}

# The mirror this machine's apt uses for Debian itself.
mirror_of_host() {
	local uri

	# shellcheck disable=SC2016 # apt's variables, not the shell's
	uri=$(apt-get indextargets 'Created-By: Packages' \
		--format '$(ORIGIN) $(COMPONENT) $(RELEASE) $(REPO_URI)' |
		awk '$1 == "Debian" && $2 == "main" &&
		     $3 !~ /security/ && !found++ { print $4 }')
	case $uri in
	mirror+file:*)
		uri=$(awk '/^[a-z]/ && !n++ { print $1 }' "${uri#mirror+file:}") ;;
	esac
	echo "$uri"
}

# The mirror to use. Reads the package lists first where there are none.
mirror() {
	local uri=${FRDMA_MIRROR:-}

	if [ -z "$uri" ] && command -v apt-get >/dev/null; then
		uri=$(mirror_of_host)
		if [ -z "$uri" ]; then
			apt-get update >&2
			uri=$(mirror_of_host)
		fi
	fi
	[ -n "$uri" ] || die "cannot tell which Debian mirror this machine" \
		"uses; name one in FRDMA_MIRROR"
	echo "${uri%/}"
}

# Takes over the proxies of this machine's apt where the environment has none: apt
# calls it DIRECT where there is to be none, for all hosts or for one.
inherit_proxy() {
	local proxy='' tls='' direct

	command -v apt-config >/dev/null || return 0
	eval "$(apt-config shell proxy Acquire::http::Proxy \
		tls Acquire::https::Proxy)"
	inherit_proxy_as http_proxy "$proxy"
	inherit_proxy_as https_proxy "$tls"
	direct=$(apt-config dump | sed -nE \
		's/^Acquire::https?::Proxy::([^ ]+) "DIRECT";$/\1/p' |
		sort -u | paste -sd ,)
	[ -n "${no_proxy:-}" ] || [ -z "$direct" ] || export no_proxy=$direct
}

# Arguments: VARIABLE PROXY
inherit_proxy_as() {
	case ${!1:-}$2 in
	''|DIRECT|false) ;;
	"$2")	export "$1=$2" ;;
	esac
}

# Runs inside new mount and PID namespaces: mounts what a command in the root
# expects, and runs that command. It does not become it: the first process of a PID
# namespace cannot end by a signal, at which make goes on for ever. /dev has no
# device of this machine. The root may have links to anywhere: resolv.conf is
# written where they lead to inside of it. Of the environment the command sees the
# proxies of the moment. Arguments: DIR MODE [AT=FROM]... -- CMD
# (AT=FROM shows FROM read-only at AT, AT+=FROM writable; ro+TREE is a root
# with TREE laid over it, rw+DIR one whose changes go to DIR/tree.) The text goes
# to a fresh bash, so it uses nothing of this script.
# shellcheck disable=SC2016
ENTER_ROOT='
	set -e
	dir=$1 mode=$2
	shift 2
	case $mode in
	rw)	mount --bind "$dir" "$dir" ;;
	ro)	mount --bind "$dir" "$dir"
		mount -o remount,bind,ro "$dir" ;;
	ro+*)	mount -t overlay -o "lowerdir=${mode#ro+}:$dir" overlay "$dir"
		mode=ro ;;
	rw+*)	layer=${mode#rw+}
		mkdir -p "$layer/tree" "$layer/work"
		mount -t overlay -o "lowerdir=$dir,upperdir=$layer/tree,`
			`workdir=$layer/work" overlay "$dir" ;;
	esac
	mount -t proc proc "$dir/proc"
	mount -t tmpfs -o mode=755,nosuid dev "$dir/dev"
	mkdir "$dir/dev/pts" "$dir/dev/shm"
	mount -t devpts -o newinstance,gid=5,mode=620,ptmxmode=666 devpts \
		"$dir/dev/pts"
	mount -t tmpfs shm "$dir/dev/shm"
	for node in null zero full random urandom tty; do
		[ -e "/dev/$node" ] || continue
		: >"$dir/dev/$node"
		mount --bind "/dev/$node" "$dir/dev/$node"
	done
	ln -s pts/ptmx "$dir/dev/ptmx"
	ln -s /proc/self/fd "$dir/dev/fd"
	for node in 0stdin 1stdout 2stderr; do
		ln -s "fd/${node%%std*}" "$dir/dev/${node#?}"
	done
	[ "$mode" = rw ] || {
		mount -t tmpfs tmpfs "$dir/tmp"
		mount -t tmpfs tmpfs "$dir/run"
	}
	[ "$mode" = ro ] || chroot "$dir" sh -c "
		at=\$(readlink -m /etc/resolv.conf)
		mkdir -p \"\${at%/*}\" && cat >\"\$at\"" </etc/resolv.conf || true
	while [ "$1" != -- ]; do
		at=$dir/${1%%=*} from=${1#*=}
		mount --bind "$from" "${at%+}"
		[ "$at" != "${at%+}" ] || mount -o remount,bind,ro "$at"
		shift
	done
	shift
	cd "$dir"
	clean=(
		PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8
		TERM="${TERM:-dumb}" DEBIAN_FRONTEND=noninteractive INITRD=No
	)
	for name in http_proxy https_proxy no_proxy; do
		[ -z "${!name:-}" ] || clean+=("$name=${!name}")
	done
	env -i --default-signal=HUP "${clean[@]}" chroot "$dir" "$@" || exit
'

# The command that runs another in a root; arguments as of ENTER_ROOT. All of
# its processes end with it, and it leaves no mount behind. A terminal that goes does not
# end unshare, which would kill them before they have cleaned up.
IN_ROOT=(
	env --ignore-signal=HUP
	unshare --mount --pid --fork --kill-child --
	bash -c "$ENTER_ROOT" enter-root
)

# Runs a command in a root until it ends, or a signal comes. Arguments as of
# ENTER_ROOT.
root_run() {
	local pid status=0

	start "${IN_ROOT[@]}" "$@"
	pid=$STARTED
	wait "$pid" || status=$?
	forget "$pid"
	return $status
}

# Runs debootstrap's minimum into DIR.
root_bootstrap() {
	local name=$1 dir=$2 log=$3 uri

	uri=$(mirror)
	run_logged "$log" "root $name: debootstrap from $uri" \
		unshare --mount --pid --fork --kill-child --mount-proc -- \
		debootstrap --variant=minbase \
		--keyring=/usr/share/keyrings/debian-archive-keyring.gpg \
		"$name" "$dir" "$uri"
	echo "deb-src $uri $name main" >"$dir/etc/apt/sources.list.d/src.list"
}

# True if apt of the roots may take lists of packages that are past their date (their
# signature is still checked): as it does on this machine, or of a snapshot.
takes_old_lists() {
	[[ $1 == *snapshot.debian.org* ]] || {
		command -v apt-config >/dev/null && [[ $(apt-config shell check \
			Acquire::Check-Valid-Until/b) == *false* ]]
	}
}

# Sets the root's package tools up: no write is synchronised, no service is
# started.
root_configure_apt() {
	local dir=$1

	echo force-unsafe-io >"$dir/etc/dpkg/dpkg.cfg.d/bench"
	echo 'APT::Sandbox::User "root";' >"$dir/etc/apt/apt.conf.d/bench"
	! takes_old_lists "$(mirror)" ||
		echo 'Acquire::Check-Valid-Until "false";' \
			>>"$dir/etc/apt/apt.conf.d/bench"
	printf '#!/bin/sh\nexit 101\n' >"$dir/usr/sbin/policy-rc.d"
	chmod +x "$dir/usr/sbin/policy-rc.d"
}

# Installs the packages and makes room for what is mounted later.
root_install() {
	local name=$1 dir=$2 log=$3

	root_configure_apt "$dir"
	run_logged "$log" "root $name: reading the package lists" \
		"${IN_ROOT[@]}" "$dir" rw -- apt-get update
	run_logged "$log" "root $name: installing its packages (minutes)" \
		"${IN_ROOT[@]}" "$dir" rw -- sh -c \
		'apt-get install -y --no-install-recommends "$@" &&
		 apt-get clean' install "${ROOT_PACKAGES[@]}"
	(cd "$dir" && mkdir -p "${ROOT_MOUNT_POINTS[@]}")
}

# Writes down what the root holds; its presence means the root is complete.
root_stamp() {
	local name=$1 dir=$2

	{
		echo "recipe $(root_recipe "$name")"
		echo "made $(date -u +%Y-%m-%dT%H:%M:%SZ)"
		chroot "$dir" dpkg-query -W
	} >"$dir/etc/frdma-root"
}

# Makes the root NAME beside its final place and moves it there when complete.
root_make() {
	local name=$1 dir log

	dir=$(root_dir "$name")
	log=$CACHE/log/root-$name
	need_commands debootstrap:debootstrap unshare:util-linux \
		flock:util-linux setpriv:util-linux
	need_host
	# The keys are no command: ask for one that is never there.
	[ -e /usr/share/keyrings/debian-archive-keyring.gpg ] ||
		need_commands /:debian-archive-keyring
	inherit_proxy
	cache_make root log
	exec {ROOT_LOCK}>"$CACHE/root/.$name.lock"
	flock -n "$ROOT_LOCK" || {
		say "waiting: the root $name is in use or being made"
		flock "$ROOT_LOCK"
	}
	if ! root_is_current "$name"; then
		need_space $ROOT_MIB
		rm -rf --one-file-system "$dir.partial"
		RUBBISH+=("$dir.partial" "$dir.partial.disk")
		root_bootstrap "$name" "$dir.partial" "$log"
		root_install "$name" "$dir.partial" "$log"
		boot_prepare "$dir.partial"
		root_stamp "$name" "$dir.partial"
		say "root $name: making the disk that guests boot from"
		boot_make_root_disk "$dir.partial"
		rm -rf --one-file-system "$dir"
		mv "$dir.partial" "$dir"
		say "root $name: $(du -sh "$dir" | cut -f 1), with Linux" \
			"$(boot_kernels "$dir" | paste -sd ' ')"
	fi
	rdma_core_fetch "$name"
	exec {ROOT_LOCK}>&-
}

# The version of rdma-core in a root: 56.1 and the like.
rdma_core_version() {
	# shellcheck disable=SC2016 # dpkg-query's variable
	chroot "$(root_dir "$1")" \
		dpkg-query -W -f '${source:Upstream-Version}' libibverbs1
}

# Downloads and unpacks the orig tarball of the root's rdma-core. The .dsc is
# not needed, and the mirror may not have all of the source package.
rdma_core_fetch() {
	local name=$1 version dir part

	version=$(rdma_core_version "$name")
	dir=$CACHE/src/rdma-core-$version
	[ ! -d "$dir" ] || return 0
	part=$dir.partial
	source_lock -x
	# Another script may have fetched it meanwhile.
	[ ! -d "$dir" ] || {
		source_lock -s
		return 0
	}
	rm -rf --one-file-system "$part"
	mkdir -p "$part"
	RUBBISH+=("$part")
	# shellcheck disable=SC2016
	if root_run "$(root_dir "$name")" rw "results+=$part" -- \
		sh -c 'cd /results
		apt-get --print-uris source rdma-core | tr -d "\47" |
		awk "/\.orig\.tar/ { print \$1, \$4; exit }" | {
			read -r uri hash
			/usr/lib/apt/apt-helper download-file "$uri" orig $hash
		} && tar -xf orig --strip-components=1 && rm orig' \
		>"$CACHE/log/rdma-core-$version" 2>&1; then
		mv -T "$part" "$dir"
		say "root $name: the source of rdma-core $version is there"
	else
		rm -rf --one-file-system "$part"
		say "root $name: the mirror does not have the source of" \
			"rdma-core $version (trixie's does where the private" \
			"ABI is the same: scripts/guest root trixie)"
	fi
	source_lock -s
}

# The private ABI number of a root's libibverbs: 34, 65 and the like.
rdma_core_pabi() {
	strings_of "$1/usr/lib/x86_64-linux-gnu/libibverbs.so.1" |
		sed -n 's/^IBVERBS_PRIVATE_\([0-9]*\)$/\1/p' | sort -u
}

# The printable strings of a file, as strings(1) would.
strings_of() {
	tr -c '[:print:]' '\n' <"$1" | grep -E '.{4}'
}

# The private ABI number that an rdma-core source builds providers for.
rdma_core_source_pabi() {
	sed -n 's/^set(IBVERBS_PABI_VERSION "\([0-9]*\)")/\1/p' \
		"$1/CMakeLists.txt"
}

# The rdma-core source to build the root's provider with: RDMA_CORE_SRC, the
# root's own version, or another one with the same private ABI. Empty if none.
rdma_core_source() {
	local name=$1 own dir pabi

	if [ -n "${RDMA_CORE_SRC:-}" ]; then
		[ -e "$RDMA_CORE_SRC/libibverbs/driver.h" ] ||
			die "RDMA_CORE_SRC=$RDMA_CORE_SRC: no rdma-core there"
		readlink -f "$RDMA_CORE_SRC"
		return
	fi
	own=$CACHE/src/rdma-core-$(rdma_core_version "$name")
	[ ! -d "$own" ] || {
		echo "$own"
		return
	}
	pabi=$(rdma_core_pabi "$(root_dir "$name")")
	for dir in "$CACHE"/src/rdma-core-*; do
		[[ -d $dir && $dir != *.partial ]] || continue
		[ "$(rdma_core_source_pabi "$dir")" = "$pabi" ] || continue
		echo "$dir"
		return
	done
}

# guest root [[-r] ROOT]
root_command() {
	local name

	case ${1:-} in
	-h|--help)	usage; exit ;;
	-r|--root)	shift
			[ $# -gt 0 ] || die "root: -r lacks the root" ;;
	esac
	[ $# -le 1 ] || die "root: one ROOT at a time, not '$*'"
	name=${1:-$DEFAULT_ROOT}
	root_check_name "$name"
	if ! root_is_current "$name" || [ -z "$(rdma_core_source "$name")" ]
	then
		root_make "$name"
	fi
	say "root $name: ready in $(root_dir "$name")"
}

# Makes what guests boot from of the kernels that a layer has brought.
# Arguments: ROOT LAYER
layer_prepare() {
	# shellcheck disable=SC2016 # for the inner shell
	unshare --mount -- bash -c '
		set -eu
		dir=$1 layer=$2 PARTS=$3
		. "$PARTS/common.sh"
		. "$PARTS/boot.sh"
		mount -t overlay -o "lowerdir=$dir,upperdir=$layer/tree,`
			`workdir=$layer/work" overlay "$dir"
		boot_prepare "$dir"' prepare "$(root_dir "$1")" "$2" "$PARTS"
}

# guest chroot [-r ROOT] [--packages 'NAME...'|--layer DIR] [--results DIR]
#	[--] CMD...
chroot_command() {
	local name=$DEFAULT_ROOT mode=ro packages='' layer='' results=''
	local binds status=0

	while [[ ${1:---} == -* && ${1:---} != -- ]]; do
		case $1 in
		-h|--help)	usage; exit ;;
		-r|--root)	name=${2:-} ;;
		--packages)	packages=${2:-} ;;
		--layer)	layer=${2:-} ;;
		--results)	results=${2:-} ;;
		*)		die "chroot: unknown option '$1'; see" \
					"scripts/guest --help" ;;
		esac
		[ $# -gt 1 ] || die "chroot: option $1 lacks its value"
		shift 2
	done
	[ "${1:-}" != -- ] || shift
	[ $# -gt 0 ] || die "chroot: no command given; see" \
		"scripts/guest --help"
	need_superuser
	root_need "$name"
	build_binds "$name"
	[ -z "$results" ] || binds+=("results+=$(realpath "$results")")
	if [ -n "$packages" ]; then
		# shellcheck disable=SC2086 # one word each
		packages_need "$name" $packages
		mode=ro+$PACKAGES
	elif [ -n "$layer" ]; then
		mkdir -p "$layer"
		layer=$(realpath "$layer")
		mode=rw+$layer
		inherit_proxy
	fi
	[ $# != 1 ] || set -- bash -c "$1"
	start_with_input "${IN_ROOT[@]}" "$(root_dir "$name")" "$mode" "${binds[@]}" -- \
		sh -c 'cd /frdma && exec "$@"' sh "$@"
	wait "$STARTED" || status=$?
	[ -z "$layer" ] || layer_prepare "$name" "$layer"
	return $status
}
