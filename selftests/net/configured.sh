#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# frdma-links: what a file of links makes of them, and what it says of lines
# that make no sense and of links that cannot be made.
#
# guests: 1
# roots: trixie
# named: bookworm sid

. "${0%/*}/../lib/frdma.sh"

FILE=$KTAP_TMP/links.conf
RDMA=/sys/class/infiniband

links() {
	FRDMA_LINKS_CONF=$FILE "$KTAP_TOP/system/frdma-links" "$@"
}

gone() {
	[ ! -e $RDMA/"$1" ]
}

# True if link NAME is there, on NETDEV.
is_on() {
	[ "$(<$RDMA/"$1"/parent)" = "$2" ]
}

# Fails and says all of these, each as a line of its own. Arguments: COMMAND
# LINE...
complains() {
	local said status=0 line

	said=$(links "$1" 2>&1 >/dev/null) || status=$?
	[ $status = 1 ] || fail "$1: status $status, not 1: $said"
	for line in "${@:2}"; do
		grep -qxF -e "frdma-links: $line" <<<"$said" ||
			fail "says '$said', not '$line'"
	done
	[ "$(wc -l <<<"$said")" = $(($# - 1)) ] || fail "says more: $said"
}

# Two interfaces beside eth0; what is made on them goes with them.
interfaces() {
	defer tidy
	ip link add v0 type veth peer name v1
}

tidy() {
	local link

	for link in $RDMA/frdma*; do
		[ ! -e "$link" ] || rdma link delete "${link##*/}"
	done
	[ ! -e /sys/class/net/v0 ] || ip link delete v0
}

lines_make_links() {
	interfaces
	printf '%s\n' '# a comment' '' 'frdma0 eth0  # and another' \
		$' \t \tfrdma1\tv0\t' '   #frdma2 v1' >"$FILE"
	printf 'frdma-3.x v1' >>"$FILE"	# without an end
	[ "$(links check)" = "$FILE: links: 3" ]
	gone frdma0
	links up
	is_on frdma0 eth0
	is_on frdma1 v0
	is_on frdma-3.x v1
	gone frdma2
	[ "$(rdma link show | grep -c frdma)" = 3 ]
}

nonsense_is_left_out() {
	interfaces
	printf '%s\n' frdma2 'fr/dma v1' '-f v1' '.. v1' 'frdma2 a/b' \
		$'frdma2 v1\r' 'frdma2 a:b' 'frdma2 0123456789abcdef' \
		'frdma2 wg+0' 'frdma0 eth0' >"$FILE"
	complains up "$FILE:1: 'frdma2' needs an interface: frdma2 eth0" \
		"$FILE:2: 'fr/dma' is no name for a link" \
		"$FILE:3: '-f' is no name for a link" \
		"$FILE:4: '..' is no name for a link" \
		"$FILE:5: 'a/b' is no name of an interface" \
		"$FILE:6: \$'v1\\r' is no name of an interface" \
		"$FILE:7: 'a:b' is no name of an interface" \
		"$FILE:9: no unit can be named after 'wg+0': rename the interface" \
		"frdma2: there is no interface 0123456789abcdef"
	is_on frdma0 eth0
	gone frdma2
}

duplicates_are_left_out() {
	interfaces
	printf '%s\n' 'frdma0 eth0' 'frdma0 v0' 'frdma1 eth0' 'frdma1 v1' \
		>"$FILE"
	complains up "$FILE:2: there is a link frdma0 above" \
		"$FILE:3: eth0 has a link above, and takes one"
	is_on frdma0 eth0
	is_on frdma1 v1
}

attributes_are_judged() {
	local attributes="check_interface cnp_dscp cnp_priority ecn gather_us guard loopback max_reads poll_us trains"

	interfaces
	printf '%s\n' 'frdma0 eth0 loop=0' 'frdma0 eth0 trains' \
		'frdma0 eth0 loopback=2' 'frdma0 eth0 =1' \
		'frdma0 eth0 trains=0 and more' 'frdma1 v0 trains=1' >"$FILE"
	complains up \
		"$FILE:1: 'loop' is no attribute; there are: $attributes" \
		"$FILE:2: trains takes 0 or 1: trains=0" \
		"$FILE:3: loopback takes 0 or 1: loopback=0" \
		"$FILE:4: '' is no attribute; there are: $attributes" \
		"$FILE:5: 'and' is no attribute; there are: $attributes"
	gone frdma0
	is_on frdma1 v0
}

# Some take more than 0 and 1. Arguments: ATTRIBUTE LEAST MOST
numbers_are_judged() {
	local value n=0 wrong=()

	interfaces
	: >"$FILE"
	for value in '' '=' "=$(($2 - 1))" "=$(($3 + 1))" =1x; do
		n=$((n + 1))
		echo "frdma0 eth0 $1$value" >>"$FILE"
		wrong+=("$FILE:$n: $1 takes $2 to $3: $1=$2")
	done
	echo "frdma1 v0 $1=$3" >>"$FILE"
	complains up "${wrong[@]}"
	gone frdma0
	is_on frdma1 v0
	[ "$(<$RDMA/frdma1/"$1")" = "$3" ]
	echo "frdma1 v0 $1=$2" >"$FILE"
	links up
	[ "$(<$RDMA/frdma1/"$1")" = "$2" ]
}

# Arguments: LINK LOOPBACK TRAINS
attributes_are() {
	[ "$(<$RDMA/"$1"/loopback)$(<$RDMA/"$1"/trains)" = "$2$3" ]
}

# Those of a line, also when they change; others are as the module has them.
attributes_are_set() {
	begins_as_usual loopback trains
	interfaces
	printf '%s\n' 'frdma0 eth0 loopback=0' 'frdma1 v0 trains=0 loopback=0' \
		'frdma2 v1' >"$FILE"
	links up
	attributes_are frdma0 0 1
	attributes_are frdma1 0 0
	attributes_are frdma2 1 1
	printf '%s\n' 'frdma0 eth0 trains=0' 'frdma1 v0 loopback=1' >"$FILE"
	links up
	attributes_are frdma0 0 0
	attributes_are frdma1 1 0
	attributes_are frdma2 1 1
}

# An interface that is not there is told, and the others get their links; it
# gets its own when it comes, which udev notices.
unknown_interface_is_told() {
	defer tidy
	printf '%s\n' 'frdma1 v0' 'frdma0 eth0' >"$FILE"
	complains up "frdma1: there is no interface v0"
	is_on frdma0 eth0
	gone frdma1
	links wants v0
	ip link add v0 type veth peer name v1
	[ "$(links up v0)" = "frdma-links: frdma1 on v0" ]
	is_on frdma1 v0
}

# The second time nothing is made, and nothing is said.
twice_is_as_once() {
	local before

	interfaces
	printf '%s\n' 'frdma0 eth0' 'frdma1 v0 loopback=1 trains=0' >"$FILE"
	links up
	before=$(rdma dev show)
	prints_no . links up
	[ "$(rdma dev show)" = "$before" ]
	attributes_are frdma1 1 0
}

down_removes_what_it_names() {
	interfaces
	printf '%s\n' 'frdma0 eth0' 'frdma1 v0' >"$FILE"
	links up
	rdma link add frdma2 type frdma netdev v1
	links down v0
	gone frdma1
	is_on frdma0 eth0
	links down
	gone frdma0
	links down
	is_on frdma2 v1
}

# A link that somebody else has made stays, and is no reason for silence.
taken_name_is_told() {
	interfaces
	rdma link add frdma0 type frdma netdev v0
	echo 'frdma0 eth0' >"$FILE"
	complains up "frdma0 is the name of another device already (on v0)"
	refuse "frdma0 on eth0: the name of another device" links status
	links down
	is_on frdma0 v0
}

# What rdma(8) says comes with what to do.
taken_port_is_told() {
	interfaces
	python3 -c '
import socket, time
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.bind(("", 4791))
time.sleep(100)' &
	defer end_process $!
	await 20 listens 1 udp:4791
	echo 'frdma0 eth0' >"$FILE"
	refuse "(UDP port 4791: ss -ulpn sport = 4791 says who has it)" links up
	gone frdma0
}

# As this does when it is that of the kernel's own driver; once that has gone, the
# same command makes the link.
port_of_rxe_is_told() {
	interfaces
	need_modules rdma_rxe
	modprobe rdma_rxe
	defer modprobe -r rdma_rxe
	rdma link add rxe0 type rxe netdev v0
	echo 'frdma0 eth0' >"$FILE"
	refuse "(rdma_rxe has UDP port 4791: modprobe -r rdma_rxe)" links up
	gone frdma0
	[ -d $RDMA/rxe0 ]
	rdma link delete rxe0
	modprobe -r rdma_rxe
	links up
	is_on frdma0 eth0
}

status_tells_each() {
	interfaces
	printf '%s\n' 'frdma0 eth0' 'frdma1 v0' 'frdma2 v7' >"$FILE"
	links up eth0
	await 5 grep -q ACTIVE $RDMA/frdma0/ports/1/state
	[ "$(links status eth0)" = "frdma0 on eth0: ACTIVE" ]
	! links status >"$KTAP_TMP/status" || fail "status 0"
	diff - "$KTAP_TMP/status" <<-END
		frdma0 on eth0: ACTIVE
		frdma1 on v0: not made
		frdma2 on v7: no such interface
	END
}

file_that_cannot_be_read() {
	rm -f "$FILE"
	complains up "there is no $FILE; a line of it is: frdma0 eth0"
	complains check "there is no $FILE; a line of it is: frdma0 eth0"
	mkdir "$FILE"
	defer rmdir "$FILE"
	complains up "$FILE is no file that can be read"
}

# Arguments: STATUS CMD...
ends_with() {
	local status=0

	"${@:2}" >"$KTAP_TMP/said" 2>&1 || status=$?
	[ $status = "$1" ] ||
		fail "'${*:2}' ends with $status, not $1: $(<"$KTAP_TMP/said")"
}

statuses() {
	echo 'frdma0 eth0' >"$FILE"
	ends_with 2 links
	ends_with 2 links start
	ends_with 0 links --help
	ends_with 0 links wants eth0
	ends_with 1 links wants v9
	ends_with 2 links wants
	printf '%s\n' '#frdma0 v9' 'frdma0 eth0 loopbck=0 # v9' >"$FILE"
	ends_with 0 links wants eth0
	ends_with 1 links wants v9
	ends_with 1 links up eth0
	grep -qF "$FILE:2: 'loopbck' is no attribute" "$KTAP_TMP/said"
	echo 'frdma0 eth0' >"$FILE"
	ends_with 1 links up v9
	grep -qF "$FILE has no link on v9" "$KTAP_TMP/said"
	ends_with 1 links status
	chmod 755 "$KTAP_TMP"
	ends_with 1 setpriv --reuid 65534 --clear-groups \
		env FRDMA_LINKS_CONF="$FILE" "$KTAP_TOP/system/frdma-links" up
	grep -qF "links are made and removed by root" "$KTAP_TMP/said"
	ends_with 1 links_without_rdma
	grep -qF "there is no rdma(8)" "$KTAP_TMP/said"
	gone frdma0
}

links_without_rdma() {
	mkdir "$KTAP_TMP/bin"
	ln -s "$(command -v bash)" "$(command -v id)" "$KTAP_TMP/bin"
	PATH=$KTAP_TMP/bin links up
}

modprobe frdma
ktap_test lines_make_links
ktap_test nonsense_is_left_out
ktap_test duplicates_are_left_out
ktap_test attributes_are_judged
ktap_test numbers_are_judged poll_us 0 10000000
ktap_test numbers_are_judged gather_us 0 1000
ktap_test numbers_are_judged cnp_dscp 0 63
ktap_test numbers_are_judged cnp_priority 0 7
ktap_test numbers_are_judged max_reads 1 128
ktap_test attributes_are_set
ktap_test unknown_interface_is_told
ktap_test twice_is_as_once
ktap_test down_removes_what_it_names
ktap_test taken_name_is_told
ktap_test taken_port_is_told
ktap_test port_of_rxe_is_told
ktap_test status_tells_each
ktap_test file_that_cannot_be_read
ktap_test statuses
ktap_end
