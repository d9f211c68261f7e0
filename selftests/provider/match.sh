#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# libibverbs as installed loads the provider that was just built and gives it
# the right devices: a made-up sysfs has one device that says it is frdma's,
# one that does not, and one with another ABI.
# usage: match.sh [part of test names]; PROVIDER_OUT: where the provider is

wanted=${1-}
n=0 failed=0
lib=$(ls "$PROVIDER_OUT"/libfrdma-rdmav*.so 2>/dev/null)
stem=$(realpath "${lib%-rdmav*}")
tree=$(mktemp -d) || exit 1
trap 'rm -rf "$tree"' EXIT

result()
{
	case $2 in *"$wanted"*) ;; *) return ;; esac
	n=$((n + 1))
	if [ "$1" = 0 ]; then
		echo "ok $n - $2"
	else
		failed=$((failed + 1))
		echo "not ok $n - $2"
	fi
}

skip()
{
	echo "ok 1 - match # SKIP $1"
	echo "1..1"
	echo "# 0 passed, 0 failed, 1 skipped"
	exit 0
}

# uverbs number, device, ABI
device()
{
	verbs=$tree/class/infiniband_verbs/uverbs$1
	ib=$tree/class/infiniband/$2
	mkdir -p "$verbs" "$ib/ports/1"
	echo "$2" > "$verbs/ibdev"
	echo "$3" > "$verbs/abi_version"
	echo "231:$((192 + $1))" > "$verbs/dev"
	echo "1: CA" > "$ib/node_type"
	echo "0200:00ff:fe00:000$1" > "$ib/node_guid"
}

command -v ibv_devices >/dev/null || skip "no ibv_devices"
[ -e "$lib" ] || skip "provider not built"

abi=$(sed -n 's/^#define FRDMA_ABI_VERSION[ \t]*//p' \
	"${0%/*}/../../kernel/uapi/frdma-abi.h")
mkdir -p "$tree/class/infiniband_verbs"
echo 6 > "$tree/class/infiniband_verbs/abi_version"
device 0 any-name "$abi"
device 1 foreign "$abi"
device 2 future 4711
echo "$abi" > "$tree/class/infiniband/any-name/frdma_abi"
echo 4711 > "$tree/class/infiniband/future/frdma_abi"

# In a network namespace of its own netlink knows no device; the device nodes
# are looked for in the real /dev, so there is another one. Namespaces need a
# user namespace or the superuser, who may not make one in a chroot.
[ "$(id -u)" = 0 ] && user= || user=r
in_namespaces()
{
	unshare -${user}mn sh -ec '
		mount -t tmpfs none /dev
		mkdir /dev/infiniband
		touch /dev/infiniband/uverbs0 /dev/infiniband/uverbs1 \
			/dev/infiniband/uverbs2
		exec "$@"' sh "$@"
}

in_namespaces true 2>/dev/null || skip "no namespaces"
status=0
out=$(SYSFS_PATH=$tree RDMAV_DRIVERS=$stem IBV_SHOW_WARNINGS=1 \
	in_namespaces ibv_devices 2>"$tree/err") || status=$?
[ $status = 0 ] || sed 's/^/# /' "$tree/err"
result $status match__devices_are_listed

# True if ibv_devices has listed the device of that name.
listed()
{
	case $out in
	*"$1"*)	return 0 ;;
	*)	return 1 ;;
	esac
}

listed any-name
result $? match__by_attribute
listed any-name && ! listed foreign
result $? match__not_a_foreign_device
listed any-name && ! listed future &&
	grep -q 'does not support the kernel ABI of 4711' "$tree/err"
result $? match__not_another_abi
echo "1..$n"
echo "# $((n - failed)) passed, $failed failed, 0 skipped"
[ $failed = 0 ]
