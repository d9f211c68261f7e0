# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# The kernels that no distribution ships, of three kinds: "debug", which
# debug.config describes, "races", which differs from it as races.config says,
# and "uml", which is a program of this machine (uml.config, uml.sh). They are
# built in a root, with the root's compiler, from the root's own linux-source.
#
#   kernel/ROOT/linux/     the source, as the distribution has patched it
#   kernel/ROOT/config     the options that are asked for
#   kernel/ROOT/objects/   what make leaves; modules are built against it
#   kernel/ROOT/install/   the kernel's modules, which guests lay over the root
#   kernel/ROOT/vmlinux, initramfs, version    what guests boot
#   kernel/ROOT/made-of    options and package it was made of; written last
#   kernel/ROOT/races/     the same, but for the source, of that kind
#   kernel/ROOT/uml/       likewise, without an initramfs; its source/ is that
#                          source but for some files
#
# A build that was interrupted goes on where it was.

# What the root lacks to build a kernel; it is laid over the root, not put in.
KERNEL_PACKAGES=(linux-source flex bison bc libelf-dev xz-utils)

# Room that source, objects and packages take, in MiB.
KERNEL_MIB=6000

# Where a root's kernel of a kind lies.
kernel_dir() {
	case $2 in
	debug)	echo "$CACHE/kernel/$1" ;;
	*)	echo "$CACHE/kernel/$1/$2" ;;
	esac
}

# Where the source lies that a root's kernel of a kind is built from.
kernel_source() {
	case $2 in
	uml)	echo "$(kernel_dir "$1" uml)/source" ;;
	*)	echo "$(kernel_dir "$1" debug)/linux" ;;
	esac
}

# Prints the options of a kind.
kernel_config() {
	case $1 in
	debug)	cat "$PARTS/debug.config" ;;
	races)	awk -F = 'NR == FNR { other[$1]; next } !/^C/ || !($1 in other)
			' "$PARTS/races.config" "$PARTS/debug.config"
		cat "$PARTS/races.config" ;;
	uml)	cat "$PARTS/uml.config" ;;
	esac
}

# Identifies what a kernel of a kind is to be made of, and how.
kernel_recipe() {
	{
		kernel_config "$1"
		kernel_compile "$1"
		[ "$1" != uml ] || echo "$KERNEL_LIFT_CRC"
	} | sha256sum | cut -c 1-16
}

# True if the root has a kernel of that kind, made of the present options.
kernel_is_current() {
	[ "$(cat "$(kernel_dir "$1" "$2")/made-of" 2>/dev/null)" = \
		"$(kernel_recipe "$2")" ]
}

# Ends the script where there is no such kernel. Sets KERNEL, its directory,
# KERNEL_VERSION, KERNEL_BINDS, what a command in the root sees of it, and
# KERNEL_MAKE, what make has to be told.
kernel_need() {
	local make="scripts/guest kernel -r $1"

	[ "$2" = debug ] || make+=" --$2"
	KERNEL=$(kernel_dir "$1" "$2")
	[ -e "$KERNEL/made-of" ] || die "there is no $2 kernel of $1;" \
		"$make makes one (half an hour)"
	kernel_is_current "$1" "$2" || say "the $2 kernel of $1 is older" \
		"than its options in scripts/guest.d; $make brings it up to date"
	KERNEL_VERSION=$(<"$KERNEL/version")
	# shellcheck disable=SC2034 # for build.sh
	KERNEL_BINDS=("results=$KERNEL"
		      "results/linux=$(kernel_source "$1" "$2")")
	KERNEL_MAKE=()
	# shellcheck disable=SC2034
	[ "$2" != uml ] || KERNEL_MAKE=(ARCH=um)
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
# kernel's directory. Arguments: ROOT WHAT TEXT BIND...
kernel_step() {
	local name=$1 what=$2 text=$3 dir

	shift 3
	dir=$(root_dir "$name")
	run_logged "$CACHE/log/kernel-$name" "$what" \
		"${WITH_LAYER[@]}" "$PACKAGES" "$dir" \
		nice -n 10 "${IN_ROOT[@]}" "$dir" ro \
		"$@" -- sh -ec "cd /results; $text" kernel "$(nproc)"
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
	make -C linux O=/results/objects KCONFIG_ALLCONFIG=/results/config \
		allnoconfig
	missing=$(sed -n "/^CONFIG_.*=n\$/d; /^CONFIG_/p" config |
			grep -vxFf objects/.config
		sed -n "s/^\(CONFIG_.*\)=n\$/\1=y/p" config |
			grep -xFf objects/.config) || true
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

# What races are looked for in, beside the modules that are built against the
# kernel: the rest would cost most of the time, and report what is not ours. It
# is noticed all the same when it changes what the module reads. Locks and the
# like keep telling of the barriers in them. make takes these from the
# environment where a directory does not say otherwise itself.
# shellcheck disable=SC2016 # for make
KERNEL_WATCH='
	export KCSAN_SANITIZE="\$(if \$(filter drivers/infiniband/%,\$(obj)),,n)"
	export KCSAN_INSTRUMENT_BARRIERS="\$(if \$(filter \
		kernel kernel/locking kernel/rcu lib net/core,\$(obj)),y)"
'

# User Mode Linux does without the CRCs of its processor, with which all that
# is to be measured would be the CRC's loop. The flags of a processor that a
# program sees are those whose registers Linux saves for it. Runs in the source.
KERNEL_LIFT_CRC='
	sed -i -e "/depends on !UML/d" -e "s/y if X86\$/y if X86_64/" \
		lib/crc/Kconfig
	sed -i -e "s/(SRCARCH)/(crc-arch)/" -e "s/(CONFIG_X86)/(CONFIG_X86_64)/" \
		-e "1i crc-arch := x86" lib/crc/Makefile
	sed -i -e "s/<asm.cpufeatures.h>/<asm\/cpufeature.h>/" \
		-e "/static_call.h/a #define cpu_has_xfeatures(mask, name) true" \
		lib/crc/x86/crc-pclmul-template.h
'

# Makes the source of the kind "uml": links to the files of another, but for
# those that are changed. Arguments: FROM TO
kernel_lift() {
	rm -rf --one-file-system "$2.partial"
	cp -al "$1" "$2.partial"
	(cd "$2.partial" && sh -ec "$KERNEL_LIFT_CRC")
	rm -rf --one-file-system "$2"
	mv "$2.partial" "$2"
}

# Prints the shell text that a kind's builds begin with.
kernel_begin() {
	case $1 in
	races)	printf %s "$KERNEL_WATCH" ;;
	uml)	echo 'export ARCH=um' ;;
	esac
}

# Prints the shell text that compiles a kernel of a kind.
kernel_compile() {
	kernel_begin "$1"
	echo "$KERNEL_COMPILE"
	# shellcheck disable=SC2016 # for the inner shell
	[ "$1" != uml ] || echo '
		cp vmlinux "install/usr/lib/modules/$(cat version)"'
}

# Makes what guests of such a kernel start with: all that mounts their root is
# built in.
kernel_make_initramfs() {
	local dir=$1 tree=$KERNEL/initramfs.tree

	boot_make_tree "$dir" "$tree"
	pack_cpio "$dir" "$tree" >"$KERNEL/initramfs"
	rm -rf "$tree"
}

# Makes the kernel of a kind of a root, or brings it up to date. The kinds share
# the source, and the lock.
kernel_make() {
	local name=$1 kind=$2 source

	need_superuser
	root_need "$name"
	KERNEL=$(kernel_dir "$name" "$kind")
	source=$(kernel_dir "$name" debug)
	cache_make kernel log
	mkdir -p "$source" "$KERNEL"
	exec {KERNEL_LOCK}>"$CACHE/kernel/.$name.lock"
	flock -n "$KERNEL_LOCK" || {
		say "waiting: a debug kernel of $name is being made by" \
			"someone else"
		flock "$KERNEL_LOCK"
	}
	[ -d "$source/linux" ] || need_space $KERNEL_MIB
	packages_need "$name" "${KERNEL_PACKAGES[@]}"
	rm -f "$KERNEL/made-of"
	[ -d "$source/linux" ] || kernel_step "$name" \
		"kernels of $name: unpacking their source" "$KERNEL_UNPACK" \
		"results+=$source"
	source=$source/linux
	[ "$kind" != uml ] || {
		kernel_lift "$source" "$KERNEL/source"
		source=$KERNEL/source
	}
	mkdir -p "$KERNEL/linux"
	kernel_config "$kind" >"$KERNEL/config"
	set -- "results+=$KERNEL" "results/linux=$source"
	kernel_step "$name" "$kind kernel of $name: configuring" \
		"$(kernel_begin "$kind")$KERNEL_CONFIGURE" "$@"
	kernel_step "$name" "$kind kernel of $name: compiling (half an hour;`
		` what is done is kept if you interrupt it)" \
		"$(kernel_compile "$kind")" "$@"
	[ "$kind" = uml ] || kernel_make_initramfs "$(root_dir "$name")"
	kernel_recipe "$kind" >"$KERNEL/made-of"
	exec {KERNEL_LOCK}>&-
}

# Sets name, if nobody has, and refuses what no kernel of a kind is made of: what
# is lifted into User Mode Linux is sid's (KERNEL_LIFT_CRC).
kernel_choose_root() {
	[ "$1" != uml ] || : "${name:=sid}"
	: "${name:=$DEFAULT_ROOT}"
	root_check_name "$name"
	[ "$1" != uml ] || [ "$name" = sid ] ||
		die "User Mode Linux is made of sid's source only, not $name's"
}

# guest kernel [-r ROOT] [--races|--uml]
kernel_command() {
	local name='' kind=debug

	while [ $# -gt 0 ]; do
		case $1 in
		-h|--help)	usage; exit ;;
		-r|--root)	[ $# -gt 1 ] || die "kernel: -r lacks the root"
				name=$2; shift ;;
		--races|--uml)	kind=${1#--} ;;
		*)		die "kernel: what is '$1'?" \
					"See scripts/guest --help" ;;
		esac
		shift
	done
	kernel_choose_root $kind
	kernel_is_current "$name" $kind || kernel_make "$name" $kind
	kernel_need "$name" $kind
	say "$kind kernel of $name: Linux $KERNEL_VERSION, ready in $KERNEL"
}
