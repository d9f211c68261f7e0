# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# What guests ask of the machine that makes them.

# Where all that is made for them is kept.
# shellcheck disable=SC2034 # for who reads this
CACHE=$(readlink -m \
	"${FRDMA_CACHE:-${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/frdma}")

# True for the name of a root, a Debian tree that guests boot.
is_root() {
	[[ $1 =~ ^(trixie|bookworm|sid)$ ]]
}

# Says why no guest can be made here; nothing if one can.
why_no_guests() {
	if [ "$(uname -m)" != x86_64 ]; then
		echo "the guests are x86_64, this machine is $(uname -m)"
	elif [ "$(id -u)" != 0 ]; then
		echo "run this as root: it makes Debian roots, by debootstrap" \
			"in a chroot"
	elif ! unshare --mount true 2>/dev/null; then
		echo "this machine lets nobody mount: if it is a container, it" \
			"has to be a privileged one (docker run --privileged)"
	fi
}

# How many guest programs run at a time: many wait as long as they compute. The
# largest guests have 6 GiB.
lanes() {
	if [ "$(nproc)" -ge 2 ] && awk '
			$1 == "MemAvailable:" { enough = $2 >= 12 * 1024 * 1024 }
			END { exit !enough }' /proc/meminfo; then
		echo 2
	else
		echo 1
	fi
}
