#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# What the provider is built with, and when it is built anew: a made-up library
# that says which release it is of, and the headers of it that programs are
# built with, or none.
# usage: headers.sh [part of test names]; RDMA_CORE_SRC: a source of rdma-core;
# PABI: its private ABI

wanted=${1-}
n=0 failed=0
provider=$(cd "${0%/*}/../../provider" && pwd)
tree=$(mktemp -d) || exit 1
trap 'rm -rf "$tree"' EXIT

run()
{
	case $1 in *"$wanted"*) ;; *) return ;; esac
	n=$((n + 1))
	rm -rf "${tree:?}"/*
	if "$1" >"$tree.said" 2>&1; then
		echo "ok $n - $1"
	else
		failed=$((failed + 1))
		sed 's/^/# /' "$tree.said"
		echo "not ok $n - $1"
	fi
	rm -f "$tree.said"
}

# A library of that release, with the private ABI of the source.
library()
{
	mkdir -p "$tree/usr/lib"
	rm -f "$tree"/usr/lib/*
	echo "IBVERBS_PRIVATE_$PABI" >"$tree/usr/lib/libibverbs.so.1.9.$1"
	ln -s "libibverbs.so.1.9.$1" "$tree/usr/lib/libibverbs.so.1"
}

# What programs are built with, other than in the source.
public_headers()
{
	mkdir -p "$tree/usr/include/infiniband"
	for h in verbs.h verbs_api.h ib_user_ioctl_verbs.h; do
		echo "/* $1 */" >"$tree/usr/include/infiniband/$h"
	done
}

lay_out()
{
	make -C "$provider" OUT="$tree/out" RDMA_CORE_SRC="$RDMA_CORE_SRC" \
		LIBIBVERBS="$tree/usr/lib/libibverbs.so.1" "$@" \
		"$tree/out/rdmav$PABI/include/config.h"
}

release()
{
	sed -n 's/^set(PACKAGE_VERSION "\(.*\)")/\1/p' \
		"$RDMA_CORE_SRC/CMakeLists.txt"
}

same_release()
{
	library "$(release)"
	lay_out
}

# struct ibv_qp_ex has grown under one private ABI.
other_release_is_refused()
{
	library 9.9
	! lay_out || return
	grep -q 'the source of 9.9, or the headers' "$tree.said"
}

other_release_with_its_headers()
{
	library 9.9
	public_headers theirs
	lay_out && grep theirs "$tree/out/rdmav$PABI/include/infiniband/verbs.h"
}

other_private_abi_is_refused()
{
	library "$(release)"
	! PABI=1 lay_out PABI=1 || return
	grep -q "has private ABI $PABI, .* has 1" "$tree.said"
}

nothing_new_is_left_alone()
{
	library "$(release)"
	lay_out && touch "$tree/before" && lay_out &&
		made=$(find "$tree/out" -name config.h -newer "$tree/before") &&
		[ -z "$made" ]
}

# Debian 12 becomes Debian 13.
new_library_is_noticed()
{
	library 9.9
	public_headers theirs
	lay_out && touch "$tree/before" || return
	library 9.10
	lay_out && find "$tree/out" -name config.h -newer "$tree/before" |
		grep .
}

new_headers_are_noticed()
{
	library 9.9
	public_headers theirs
	lay_out && touch "$tree/before" || return
	public_headers "theirs, mended"
	lay_out && find "$tree/out" -name config.h -newer "$tree/before" |
		grep .
}

# "make install" after "make RDMA_CORE_SRC=...".
source_is_remembered()
{
	library "$(release)"
	lay_out && unset RDMA_CORE_SRC && make -C "$provider" OUT="$tree/out" \
		LIBIBVERBS="$tree/usr/lib/libibverbs.so.1" \
		"$tree/out/rdmav$PABI/include/config.h"
}

for t in same_release other_release_is_refused other_release_with_its_headers \
	other_private_abi_is_refused nothing_new_is_left_alone \
	new_library_is_noticed new_headers_are_noticed source_is_remembered; do
	run $t
done
echo "1..$n"
echo "# $((n - failed)) passed, $failed failed, 0 skipped"
[ $failed = 0 ]
