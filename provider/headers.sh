#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# usage: headers.sh RDMA_CORE_SRC INCLUDE ABI_HEADER
#
# Lay out in INCLUDE the private headers of rdma-core in the way its own build
# does: links, the two that are generated, and a config.h. In the environment:
# PABI, private ABI of the library LIBIBVERBS; VERBS_H, the header with which
# programs for that library are built, or empty; PYTHON.

set -eu

src=$1 inc=$2 abi=$3

die()
{
	printf 'provider: %s\n' "$*" >&2
	exit 1
}

[ -n "$PABI" ] ||
	die "$LIBIBVERBS: not there, or not libibverbs (set LIBIBVERBS=)"
[ -n "$src" ] ||
	die "set RDMA_CORE_SRC= to the source tree of rdma-core that" \
	    "$LIBIBVERBS was built from (apt-get source rdma-core)"
[ -e "$src/libibverbs/driver.h" ] && [ -e "$src/buildlib/make_abi_structs.py" ] ||
	die "$src: not a source tree of rdma-core"

src_pabi=$(sed -n 's/^set(IBVERBS_PABI_VERSION "\(.*\)")/\1/p' \
	"$src/CMakeLists.txt")
[ "$src_pabi" = "$PABI" ] ||
	die "$src has private ABI $src_pabi, $LIBIBVERBS has $PABI:" \
	    "they must be of the same release"

# Where the source is of another release than the library, the structs that
# programs see, and the private ones that contain them, have to be those of the
# library: struct ibv_qp_ex has grown under one private ABI.
release=$(readlink -f "$LIBIBVERBS")
release=${release##*.so.1.}
release=${release#*.}
src_release=$(sed -n 's/^set(PACKAGE_VERSION "\(.*\)")/\1/p' \
	"$src/CMakeLists.txt")
[ -n "$VERBS_H" ] || [ "$src_release" = "$release" ] ||
	die "$src is rdma-core $src_release, $LIBIBVERBS is $release: that" \
	    "needs the source of $release, or the headers that programs are" \
	    "built with (libibverbs-dev, rdma-core-devel)"

# How many arguments a function of driver.h takes.
arguments()
{
	awk -v name="$1(" '
		index($0, name) { inside = 1 }
		inside { n += gsub(",", "") }
		inside && /;/ { print n + 1; exit }' "$src/libibverbs/driver.h"
}

# 1 if a function takes so many arguments. Arguments: NAME COUNT
takes()
{
	[ "$(arguments "$1")" = "$2" ] && echo 1 || echo 0
}

# Old releases pass one argument less, under the same private ABI: what is
# built from them leaves dma-buf out, what is built from new ones runs on both.
if grep -A 4 'ibv_cmd_reg_dmabuf_mr' "$src/libibverbs/driver.h" |
		grep -q ibv_command_buffer; then
	dmabuf=1
else
	dmabuf=0
fi

# Older ones do not ask for a port's speed alone.
if grep -q 'ibv_cmd_query_port_speed' "$src/libibverbs/driver.h"; then
	port_speed=1
else
	port_speed=0
fi

rm -rf "$inc"
mkdir -p "$inc/infiniband" "$inc/util" "$inc/ccan" "$inc/rdma" \
	"$inc/kernel-abi"
src=$(cd "$src" && pwd)

ln -s "$src"/libibverbs/*.h "$src/kernel-headers/rdma/ib_user_ioctl_verbs.h" \
	"$inc/infiniband/"
if [ -n "$VERBS_H" ]; then
	public=$(cd -P "${VERBS_H%/*}" && pwd)
	ln -sf "$public/verbs.h" "$public/verbs_api.h" \
		"$public/ib_user_ioctl_verbs.h" "$inc/infiniband/"
fi
# An older library has no FLUSH.
if grep -q '(\*wr_flush)' "$inc/infiniband/verbs.h"; then
	flush=1
else
	flush=0
fi

ln -s "$src"/util/*.h "$inc/util/"
ln -s "$src"/ccan/*.h "$inc/ccan/"
ln -s "$src"/kernel-headers/rdma/*.h "$abi" "${abi%.h}-layout.h" "$inc/rdma/"

for h in "$src/kernel-headers/rdma/ib_user_verbs.h" "$abi"; do
	"$PYTHON" "$src/buildlib/make_abi_structs.py" "$h" \
		"$inc/kernel-abi/${h##*/}"
done

# Last: its presence says that the rest is complete.
cat > "$inc/config.h" <<END
#define IBVERBS_PABI_VERSION $PABI
#define FRDMA_GET_CONTEXT_FDS $(takes ibv_cmd_get_context 6)
#define FRDMA_CREATE_CQ_MEMORY $(takes ibv_cmd_create_cq_ex 9)
#define FRDMA_REG_DMABUF $dmabuf
#define FRDMA_WR_FLUSH $flush
#define FRDMA_QUERY_PORT_SPEED $port_speed
#define VERBS_IOCTL_ONLY 0
#define VERBS_WRITE_ONLY 0
#define SIZEOF_LONG __SIZEOF_LONG__
#define HAVE_STATEMENT_EXPR 1
#define HAVE_BUILTIN_TYPES_COMPATIBLE_P 1
#define HAVE_TYPEOF 1
END
