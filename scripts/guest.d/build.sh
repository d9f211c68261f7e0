# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# Builds the module and the provider inside a root, outside the checkout: the
# sources are copied to the cache, so that several roots and kernels do not
# share objects, and what comes out is a tree that guests lay over the root.
#
#   build/ROOT/CHECKOUT/VERSION/   copies of kernel/ and provider/, with their
#                                  objects, for that kernel
#   build/ROOT/CHECKOUT/tests/     the objects of the tests' programs
#   build/ROOT/CHECKOUT/install/   what guests see
#   build/ROOT/CHECKOUT/checkout   names the checkout

# Directories of the checkout that are copied.
BUILD_SOURCES=(kernel provider)

# Where this checkout is built for a root.
build_dir() {
	echo "$CACHE/build/$1/$(echo "$TOP" | sha256sum | cut -c 1-12)"
}

# True if this checkout has been built for the root.
build_exists() {
	[ -d "$(build_dir "$1")/install" ]
}

# Makes the build directory and sets "binds": what a command in the root sees.
build_binds() {
	local dir source

	dir=$(build_dir "$1")
	source=$(rdma_core_source "$1")
	cache_make build
	mkdir -p "$dir"
	echo "$TOP" >"$dir/checkout"
	binds=("frdma=$TOP" "build+=$dir")
	[ -z "$source" ] || binds+=("usr/src/rdma-core=$source")
}

# Lists the source files of the checkout, without what a build in place made.
build_list_sources() {
	local dir

	for dir in "${BUILD_SOURCES[@]}"; do
		[ ! -d "$TOP/$dir" ] || (cd "$TOP" && find "$dir" -type f \
			! -name '*.o' ! -name '*.ko' ! -name '*.mod' \
			! -name '*.mod.c' ! -name '.*.cmd' ! -name '*.so' \
			! -name 'Module.symvers' ! -name 'modules.order')
	done | sort
}

# Brings the copy in DIR up to date: what is new or differs comes, with the time
# of now, removed files go, the times of the others stay, so that make sees what
# has changed; also where an older file has taken the place of a newer one.
build_sync() {
	local dir=$1 file

	mkdir -p "$dir"
	build_list_sources >"$dir/.sources.new"
	if [ -e "$dir/.sources" ]; then
		comm -23 "$dir/.sources" "$dir/.sources.new" |
			while read -r file; do
				rm -f "$dir/$file"
			done
	fi
	while read -r file; do
		cmp -s "$TOP/$file" "$dir/$file" ||
			(cd "$TOP" && cp --preserve=mode --parents -t "$dir" \
				"$file")
	done <"$dir/.sources.new"
	mv "$dir/.sources.new" "$dir/.sources"
}

# Builds the module for one kernel and installs it, with the tables of module
# names that modprobe reads. FROM is where the kernel's own modules lie, HEADERS
# what modules are built with. C= is passed on by the name it has inside kbuild:
# 7.2's headers lack the script that first checks sparse.
# Arguments: ROOT VERSION FROM HEADERS [MAKE-ARGUMENT...]
build_module() {
	local name=$1 version=$2 from=$3 headers=$4 into
	local at=/build/$version/kernel

	shift 4
	into=$(build_dir "$name")/install/usr/lib/modules/$version
	root_run "$(root_dir "$name")" ro "${binds[@]}" -- \
		make --no-print-directory -j"$(nproc)" \
		-C "$headers" M="$at" \
		"${@/#C=/KBUILD_CHECKSRC=}" modules ||
		die "the module does not build for $version ($name)"
	[ ! -e "$into/modules.dep.bin" ] ||
		! cmp -s "$(build_dir "$name")/$version/kernel/frdma.ko" \
			"$into/updates/frdma.ko" || return 0
	mkdir -p "$into/updates"
	cp -p "$(build_dir "$name")/$version/kernel/frdma.ko" "$into/updates/"
	root_run "$(root_dir "$name")" ro "${binds[@]}" -- \
		sh -c "$BUILD_DEPMOD" depmod "$version" "$from" ||
		die "depmod fails for $version ($name)"
}

# Runs inside the root: makes modprobe's tables for a kernel with frdma added,
# from a tree that borrows the root's own modules.
# shellcheck disable=SC2016 # for the inner shell
BUILD_DEPMOD='
	from=$2 at=/tmp/lib/modules/$1
	into=/build/install/usr/lib/modules/$1
	mkdir -p "$at" &&
	ln -s "$from"/modules.builtin* "$from/modules.order" "$from/kernel" \
		"$into/updates" "$at" &&
	depmod -b /tmp "$1" &&
	find "$at" -type f -exec cp -t "$into" {} +
'

# Builds the provider against the private headers of the root's rdma-core and
# installs it where libibverbs looks. Without their source there is none, which
# fails only if FRDMA_NEED_PROVIDER is "yes".
build_provider() {
	local name=$1 version=$2 source pabi

	source=$(rdma_core_source "$name")
	pabi=$(rdma_core_pabi "$(root_dir "$name")")
	if [ -z "$source" ]; then
		say "no provider for $name: no source of rdma-core" \
			"$(rdma_core_version "$name"), nor one with the same" \
			"private ABI ($pabi): name one in RDMA_CORE_SRC"
		[ "${FRDMA_NEED_PROVIDER:-no}" != yes ] || exit $FAILED
		# That of another day is not the module's.
		find "$(build_dir "$name")/install" -name 'libfrdma*' -delete
		return
	fi
	[ "$(rdma_core_source_pabi "$source")" = "$pabi" ] ||
		die "$source is for another private ABI than $name's" \
			"rdma-core ($pabi)"
	[ "${source##*-}" = "$(rdma_core_version "$name")" ] ||
		say "provider for $name: built with $source," \
			"which has the same private ABI ($pabi)"
	root_run "$(root_dir "$name")" ro "${binds[@]}" -- \
		make --no-print-directory -j"$(nproc)" \
		-C "/build/$version/provider" \
		RDMA_CORE_SRC=/usr/src/rdma-core DESTDIR=/build/install \
		all install || die "the provider does not build for $name"
}

# Builds the module, and those of tests, for every kernel of the root, or for the
# one of KIND (kernel.sh), if that is not empty. Arguments: ROOT KIND TESTS (yes,
# modules or no) [MAKE-ARGUMENT...]. Sets "version".
build_modules() {
	local name=$1 kind=$2 tests=$3 dir

	dir=$(build_dir "$name")
	shift 3
	if [ -n "$kind" ]; then
		kernel_need "$name" "$kind"
		version=$KERNEL_VERSION
		binds+=("${KERNEL_BINDS[@]}")
		build_sync "$dir/$version"
		build_module "$name" "$version" \
			"/results/install/usr/lib/modules/$version" \
			/results/objects "${KERNEL_MAKE[@]}" "$@"
		[ "$tests" = no ] || build_test_modules "$name" "$version" \
			/results/objects "${KERNEL_MAKE[@]}"
		return
	fi
	for version in $(boot_kernels "$(root_dir "$name")"); do
		build_sync "$dir/$version"
		build_module "$name" "$version" "/usr/lib/modules/$version" \
			"/usr/src/linux-headers-$version" "$@"
		[ "$tests" = no ] || build_test_modules "$name" "$version" \
			"/usr/src/linux-headers-$version"
	done
}

# Builds the modules of tests, a folder with a Kbuild each, for one kernel.
# Arguments: ROOT VERSION HEADERS [MAKE-ARGUMENT...]
build_test_modules() {
	local name=$1 version=$2 headers=$3 dir into kbuild folder

	shift 3
	dir=$(build_dir "$name")
	into=$dir/install/usr/lib/modules/$version/frdma-test
	mkdir -p "$into"
	for kbuild in "$TOP"/selftests/*/*/Kbuild; do
		folder=${kbuild%/Kbuild}
		mkdir -p "$dir/$version/tests"
		cp -u -p -r -t "$dir/$version/tests" "$folder"
		folder=tests/${folder##*/}
		root_run "$(root_dir "$name")" ro "${binds[@]}" -- \
			make --no-print-directory -C "$headers" \
			M="/build/$version/$folder" "$@" modules ||
			die "a test's module does not build for $version"
		cp -p -t "$into" "$dir/$version/$folder"/*.ko
	done
}

# Builds the programs that guest tests run, and installs them.
build_tests() {
	root_run "$(root_dir "$1")" ro "${binds[@]}" -- \
		make --no-print-directory -s -j"$(nproc)" -C /frdma/selftests \
		OUT=/build/tests DESTDIR=/build/install install ||
		die "the programs of the tests do not build for $1"
}

# guest build [-r ROOT] [--debug|--races|--uml] [--tests] [MAKE-ARGUMENT...]
build_command() {
	local name=$DEFAULT_ROOT kind='' tests=no version binds

	while [ $# -gt 0 ]; do
		case $1 in
		-h|--help)	usage; exit ;;
		-r|--root)	[ $# -gt 1 ] || die "build: -r lacks the root"
				name=$2; shift 2 ;;
		--debug|--races) kind=${1#--}; shift ;;
		--uml)		kind=uml; shift
				[ $tests = yes ] || tests=modules ;;
		--tests)	tests=yes; shift ;;
		*=*)		break ;;
		*)		die "build: what is '$1'? A root goes after" \
					"-r; see scripts/guest --help" ;;
		esac
	done
	need_superuser
	root_need "$name"
	build_binds "$name"
	exec {BUILD_LOCK}>"$(build_dir "$name")/.lock"
	flock "$BUILD_LOCK"
	build_modules "$name" "$kind" $tests "$@"
	[ ! -e "$TOP/provider/Makefile" ] || build_provider "$name" "$version"
	[ $tests != yes ] || build_tests "$name"
	exec {BUILD_LOCK}>&-
	say "built for $name: $(cd "$(build_dir "$name")/install" &&
		find . -name 'frdma.ko' -o -name 'libfrdma*' | paste -sd ' ')"
}
