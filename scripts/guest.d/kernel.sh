# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# The debug kernel, which no distribution ships: built in a root, with the
# root's compiler, from the root's own linux-source, as debug.config says.
#
#   kernel/ROOT/linux/     the source, as the distribution has patched it
#   kernel/ROOT/objects/   what make leaves; modules are built against it
#   kernel/ROOT/install/   the kernel's modules, which guests lay over the root
#   kernel/ROOT/vmlinux, initramfs, version    what guests boot
#   kernel/ROOT/made-of    options and package it was made of; written last
#
# A build that was interrupted goes on where it was.

# What the root lacks to build a kernel; it is laid over the root, not put in.
KERNEL_PACKAGES=(linux-source flex bison bc libelf-dev xz-utils)

# Room that source, objects and packages take, in MiB.
KERNEL_MIB=6000

# Where the debug kernel of a root lies.
kernel_dir() {
	echo "$CACHE/kernel/$1"
}

# Identifies what a root's debug kernel is to be made of, and how.
kernel_recipe() {
	{
		cat "$PARTS/debug.config"
		echo "$KERNEL_COMPILE"
	} | sha256sum | cut -c 1-16
}

# True if the root has a debug kernel, made of the present options.
kernel_is_current() {
	[ "$(cat "$(kernel_dir "$1")/made-of" 2>/dev/null)" = \
		"$(kernel_recipe)" ]
}

# Ends the script where there is no debug kernel. Sets KERNEL, its directory,
# and KERNEL_VERSION.
kernel_need() {
	KERNEL=$(kernel_dir "$1")
	[ -e "$KERNEL/made-of" ] || die "there is no debug kernel of $1;" \
		"scripts/guest kernel -r $1 makes one (half an hour)"
	kernel_is_current "$1" || say "the debug kernel of $1 is older than" \
		"scripts/guest.d/debug.config; scripts/guest kernel -r $1" \
		"brings it up to date"
	KERNEL_VERSION=$(<"$KERNEL/version")
}

# The command that runs another with a tree laid over the root's directory, for
# the time of that command. Arguments: TREE ROOT CMD...
# shellcheck disable=SC2016 # for the inner shell
WITH_LAYER=(
	unshare --mount -- sh -c '
		mount -t overlay overlay -o "lowerdir=$1:$2" "$2" &&
		shift 2 && exec "$@"' with-layer
)

# Runs a shell text in the root with KERNEL_PACKAGES over it; /results is the
# kernel's directory. Arguments: ROOT WHAT TEXT
kernel_step() {
	local name=$1 what=$2 dir

	dir=$(root_dir "$name")
	run_logged "$CACHE/log/kernel-$name" "$what" \
		"${WITH_LAYER[@]}" "$PACKAGES" "$dir" \
		nice -n 10 "${IN_ROOT[@]}" "$dir" ro \
		"results+=$KERNEL" "frdma=$PARTS" -- \
		sh -ec "cd /results; $3" kernel "$(nproc)"
}

# shellcheck disable=SC2016 # for the inner shell
KERNEL_UNPACK='
	set -- /usr/src/linux-source-*.tar.xz
	[ -e "$1" ] || { echo "no source in the package"; exit 1; }
	rm -rf linux linux.partial
	mkdir linux.partial
	tar -C linux.partial -xf "$1" --strip-components=1
	mv linux.partial linux
'

# Options that depend on others which are not there would vanish in silence.
# shellcheck disable=SC2016 # for the inner shell
KERNEL_CONFIGURE='
	mkdir -p objects
	make -C linux O=/results/objects \
		KCONFIG_ALLCONFIG=/frdma/debug.config allnoconfig
	missing=$(sed -n "s/^\(CONFIG_[^=]*\)=n\$/# \1 is not set/p
			/^CONFIG_.*=n\$/d; /^CONFIG_/p" /frdma/debug.config |
		grep -vxFf objects/.config) || true
	[ -z "$missing" ] || {
		echo "options that this kernel does not take:" $missing
		exit 1
	}
'

# The entry that QEMU uses compares strings before KASAN has its shadow.
# shellcheck disable=SC2016 # for the inner shell
KERNEL_COMPILE='
	make -C linux O=/results/objects -j"$1" KASAN_SANITIZE_string.o=n \
		vmlinux modules
	echo "installing the modules"
	rm -rf install
	make -C linux O=/results/objects INSTALL_MOD_PATH=/results/install/usr \
		INSTALL_MOD_STRIP=1 modules_install
	make -s -C linux O=/results/objects kernelrelease >version
	objcopy --strip-debug objects/vmlinux vmlinux
'

# Makes what guests of the debug kernel start with: all that mounts their root
# is built in.
kernel_make_initramfs() {
	local dir=$1 tree=$KERNEL/initramfs.tree

	boot_make_tree "$dir" "$tree"
	pack_cpio "$dir" "$tree" >"$KERNEL/initramfs"
	rm -rf "$tree"
}

# Makes the debug kernel of a root, or brings it up to date.
kernel_make() {
	local name=$1

	need_superuser
	root_need "$name"
	KERNEL=$(kernel_dir "$name")
	mkdir -p "$KERNEL" "$CACHE/log"
	exec {KERNEL_LOCK}>"$CACHE/kernel/.$name.lock"
	flock -n "$KERNEL_LOCK" || {
		say "waiting: the debug kernel of $name is being made by" \
			"someone else"
		flock "$KERNEL_LOCK"
	}
	[ -d "$KERNEL/linux" ] || need_space $KERNEL_MIB
	packages_need "$name" "${KERNEL_PACKAGES[@]}"
	rm -f "$KERNEL/made-of"
	[ -d "$KERNEL/linux" ] || kernel_step "$name" \
		"debug kernel of $name: unpacking its source" "$KERNEL_UNPACK"
	kernel_step "$name" "debug kernel of $name: configuring" \
		"$KERNEL_CONFIGURE"
	kernel_step "$name" "debug kernel of $name: compiling (half an hour;`
		` what is done is kept if you interrupt it)" "$KERNEL_COMPILE"
	kernel_make_initramfs "$(root_dir "$name")"
	kernel_recipe >"$KERNEL/made-of"
	exec {KERNEL_LOCK}>&-
}

# guest kernel [-r ROOT]
kernel_command() {
	local name=$DEFAULT_ROOT

	case ${1:-} in
	-h|--help)	usage; exit ;;
	-r|--root)	[ $# -gt 1 ] || die "kernel: -r lacks the root"
			name=$2; shift 2 ;;
	esac
	[ $# = 0 ] || die "kernel: what is '$1'? See scripts/guest --help"
	root_check_name "$name"
	kernel_is_current "$name" || kernel_make "$name"
	kernel_need "$name"
	say "debug kernel of $name: Linux $KERNEL_VERSION, ready in $KERNEL"
}
