# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# Hostile peers: programs that play raw packets against link frdma0 on conf0, as
# the conformance player does, and with its parts. Read after frdma.sh and
# conformance.sh.

# Compiles selftests/hostile/NAME.c, quickly: what takes time is in the parts.
peer_build() {
	local part flags=(-D_GNU_SOURCE -Wall -Wextra -Werror
		-Wno-unused-parameter -Wno-sign-compare
		-Wno-missing-field-initializers)

	for part in packet script value device_wire; do
		[ -e "$KTAP_TMP/$part.o" ] ||
			gcc -O1 "${flags[@]}" -c -o "$KTAP_TMP/$part.o" \
				"$CONFORMANCE/$part.c" || return
	done
	gcc "${flags[@]}" -o "$KTAP_TMP/$1" \
		"$KTAP_TOP/selftests/hostile/$1.c" "$KTAP_TMP"/*.o \
		-libverbs -lpthread
}

# Runs it over FAMILY (v4, v6). Arguments: NAME FAMILY [ARG...]
peer_plays() {
	leaves_no_object "$KTAP_TMP/$1" frdma0 "$(gid_index frdma0 "$2")" \
		"${@:3}"
}
