# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# Hostile peers: programs that play raw packets against link frdma0 on conf0, as
# the conformance player does, and with its parts. Read after frdma.sh and
# conformance.sh.

# Runs hostile/NAME over FAMILY (v4, v6). Arguments: NAME FAMILY [ARG...]
peer_plays() {
	leaves_no_object with_gid "$2" "hostile/$1" \
		"${@:3}"
}
