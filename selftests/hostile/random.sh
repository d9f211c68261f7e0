#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A process that calls the kernel at random, by write(), by ioctl() and through
# its rings, harms nobody and leaves nothing behind: random.c. FRDMA_CALLS calls
# (20000) from seed FRDMA_SEED on; by hand for more of them:
#
#	scripts/guest run --timeout 20000 -- \
#		env FRDMA_CALLS=1000000 selftests/hostile/random.sh
#
# guests: 1
# named: bookworm sid
# timeout: 400

. "${0%/*}/../lib/frdma.sh"
. "${0%/*}/../lib/memory.sh"

calls=${FRDMA_CALLS:-20000}
seed=${FRDMA_SEED:-$RANDOM}

calls() {
	leaves_no_object say_notes with_gid v4 hostile/random "$1" "$3" \
		${FRDMA_CALLS:+all}
}

modprobe -q udmabuf
links_up
KTAP_LIMIT=$((120 + calls / 200)) ktap_test calls "$calls" from "$seed"
ktap_end
