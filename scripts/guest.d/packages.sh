# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# Packages that a run wants above its root: downloaded once, with all they
# depend on, and unpacked to a directory that guests lay over the root. They
# are not installed: no script of theirs runs, dpkg does not know of them, and
# the root stays as it is.
#
#   packages/ROOT-SUM/tree/   what guests see
#   packages/ROOT-SUM/list    which packages were asked for

# Room that they take while they are unpacked, in MiB.
PACKAGES_MIB=1500

# Where they lie. The name has the root's state in it: what is missing depends
# on what is there. Arguments: ROOT PACKAGE...
packages_dir() {
	local name=$1 sum

	shift
	sum=$({
		cat "$(root_dir "$name")/etc/frdma-root"
		printf '%s\n' "$@"
	} | sha256sum | cut -c 1-12)
	echo "$CACHE/packages/$name-$sum"
}

# Runs inside the root, which it cannot change: downloads to /results and
# unpacks there. The mirror may have moved on since the root was made, so the
# lists of packages are new ones. A directory that took the place of one of the
# root's links would hide all that is behind it.
# shellcheck disable=SC2016 # for the inner shell
PACKAGES_UNPACK='
	set -e
	mkdir -p /results/state/lists/partial /results/cache/archives/partial
	apt() {
		apt-get -o Debug::NoLocking=true -o Dir::State=/results/state \
			-o Dir::State::status=/var/lib/dpkg/status \
			-o Dir::Cache=/results/cache "$@"
	}
	apt update
	apt install -y --no-install-recommends --download-only "$@"
	for deb in /results/cache/archives/*.deb; do
		echo "unpacking ${deb##*/}"
		dpkg-deb -x "$deb" /results/tree
	done
	for dir in /results/tree/*; do
		if [ -L "/${dir##*/}" ]; then
			echo "$dir would hide the link of that name"
			exit 1
		fi
	done
	rm -r /results/state /results/cache
	echo "$*" >/results/list'

# Makes the directory unless it is there. Sets PACKAGES to what guests lay over
# the root. Arguments: ROOT PACKAGE...
packages_need() {
	local name=$1 dir lock

	shift
	dir=$(packages_dir "$name" "$@")
	PACKAGES=$dir/tree
	[ ! -d "$PACKAGES" ] || return 0
	cache_make packages log
	exec {lock}>"$CACHE/packages/.lock"
	flock "$lock"
	if [ ! -d "$PACKAGES" ]; then
		need_space $PACKAGES_MIB
		inherit_proxy
		rm -rf --one-file-system "$dir.partial"
		mkdir "$dir.partial"
		RUBBISH+=("$dir.partial")
		run_logged "$CACHE/log/packages-${dir##*/}" \
			"packages for $name (minutes): $*" \
			"${IN_ROOT[@]}" "$(root_dir "$name")" ro \
			"results+=$dir.partial" \
			"etc/resolv.conf=/etc/resolv.conf" -- \
			sh -c "$PACKAGES_UNPACK" packages "$@"
		mv -T "$dir.partial" "$dir"
	fi
	exec {lock}>&-
}
