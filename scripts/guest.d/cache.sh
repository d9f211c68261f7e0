# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# Shows and empties the cache.

# One line about a root.
status_root() {
	local dir=$1 state=current

	root_is_current "${dir##*/}" || state="outdated: guest root renews it"
	echo "root  ${dir##*/}: $(du -sh "$dir" | cut -f 1)," \
		"Linux $(boot_kernels "$dir" | paste -sd ' ')," \
		"rdma-core $(rdma_core_version "${dir##*/}") ($state)"
}

# One line about the build of a checkout.
status_build() {
	local dir=$1 checkout name

	checkout=$(cat "$dir/checkout" 2>/dev/null || echo "?")
	name=$(basename "$(dirname "$dir")")
	[ -d "$checkout" ] || checkout+=" (gone)"
	echo "build $name: $(du -sh "$dir" | cut -f 1), of $checkout"
}

# guest status [ROOT]: of one root, whether it is what this checkout needs.
status_command() {
	local dir

	[ $# -le 1 ] || die "status: one ROOT at a time, not '$*'"
	if [ -n "${1:-}" ]; then
		root_check_name "$1"
		root_is_current "$1" && return
		[ -e "$(root_dir "$1")/etc/frdma-root" ] ||
			die "there is no root $1: scripts/guest root $1"
		die "the root $1 is an older checkout's:" \
			"scripts/guest root $1"
	fi

	echo "cache $CACHE: $(du -sh "$CACHE" 2>/dev/null | cut -f 1 || true)"
	for dir in "$CACHE"/root/*; do
		[ ! -e "$dir/etc/frdma-root" ] || status_root "$dir"
	done
	for dir in "$CACHE"/kernel/*{,/races,/uml}; do
		[ ! -d "$dir" ] || echo "kern  ${dir#"$CACHE/kernel/"}:" \
			"$(du -sh "$dir" | cut -f 1), Linux $(cat \
			"$dir/version" 2>/dev/null ||
			echo "not complete: scripts/guest kernel goes on")"
	done
	for dir in "$CACHE"/packages/*; do
		[ ! -d "$dir" ] || echo "pkgs  ${dir##*/}:" \
			"$(du -sh "$dir" | cut -f 1), $(<"$dir/list")"
	done
	for dir in "$CACHE"/src/*; do
		[ ! -d "$dir" ] || echo "src   ${dir##*/}"
	done
	for dir in "$CACHE"/build/*/*; do
		[ ! -d "$dir" ] || status_build "$dir"
	done
}

# Takes the lock of a root until the script ends: all that use the root, or its
# builds, kernels and packages, hold it. A lock file is never removed: somebody may
# wait for it.
clean_lock() {
	local lock

	cache_make root
	exec {lock}>>"$CACHE/root/.$1.lock"
	flock -n "$lock" || die "the root $1 is in use: nothing was removed"
}

# Takes the locks of what belongs to no root, and removes what killed scripts have
# left in "runs".
clean_lock_rest() {
	local lock

	cache_make src runs
	exec {lock}>>"$CACHE/src/.lock"
	flock -n "$lock" || die "the source of rdma-core is in use: nothing" \
		"was removed"
	exec {lock}<"$CACHE/runs"
	flock -n "$lock" && work_sweep ||
		die "$CACHE/runs is in use: nothing was removed"
}

# Removes a root and what was made with it.
clean_root() {
	rm -rf --one-file-system "$CACHE/root/$1" "$CACHE/build/$1" \
		"$CACHE/kernel/$1" "$CACHE/packages/$1-"*
	say "removed the root $1 and its builds"
}

# Removes all but the mark and the locks: names that begin with a dot.
clean_all() {
	rm -rf --one-file-system \
		"$CACHE"/{root,src,build,kernel,packages,tools,log}/* \
		"$CACHE"/{kvm,with-frdma.*}
	say "emptied $CACHE"
}

# guest clean [ROOT|builds|kernels|all]
clean_command() {
	local root what=${1:-builds}

	need_superuser
	[ $# -le 1 ] || die "clean: one of them at a time, not '$*'"
	case $what in
	builds|kernels|all) ;;
	*)	root_check_name "$what" ;;
	esac
	[ -d "$CACHE" ] || die "there is no cache $CACHE"
	cache_own
	for root in trixie bookworm sid; do
		[[ $what != @(trixie|bookworm|sid) || $what = "$root" ]] ||
			continue
		clean_lock "$root"
	done
	case $what in
	builds)
		rm -rf --one-file-system "$CACHE"/build/*
		say "removed all builds" ;;
	kernels)
		rm -rf --one-file-system "$CACHE"/kernel/*
		say "removed the debug kernels" ;;
	all)
		clean_lock_rest
		clean_all ;;
	*)
		clean_root "$what" ;;
	esac
}
