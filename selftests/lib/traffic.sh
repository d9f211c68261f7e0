# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# What tests share that send traffic between guests 1 and 2. Read after
# frdma.sh.

# The device that the tools of others are run on, in both guests.
DEV=frdma0

# Did as many of them pass as should? Releases other than that of Debian 13 have
# more, or fewer: of those it is enough that none failed.
pyverbs_are_well() {
	local ok=$1 count=$2 said=$3

	case $(dpkg-query -Wf '${Version}' libibverbs1) in
	56.*)	[ "$ok" = "$count" ] ;;
	*)	[ "$ok" -gt 0 ] && tail -n 1 "$said" | grep -q '^OK' ;;
	esac
}

# Runs those of rdma-core's own tests whose names contain a PATTERN on frdma0:
# the tests that the distribution ships with the installed pyverbs. COUNT of
# them have to pass: one that is skipped has not. Arguments: COUNT PATTERN...
pyverbs_of() {
	local count=$1 dir=$KTAP_TMP/pyverbs ok pattern patterns=()
	local record=$KTAP_TMP/pyverbs/record gid

	shift
	gid=$(gid_index frdma0 v4) || return
	for pattern; do
		patterns+=(-k "$pattern")
	done
	if [ ! -d "$dir" ]; then
		mkdir "$dir"
		cp -r /usr/share/doc/rdma-core/tests "$dir"
		gunzip -q "$dir"/tests/*.gz
	fi
	: >"$record"
	python3 -B "${BASH_SOURCE[0]%/*}/pyverbs_run.py" \
		"$dir/tests/run_tests.py" "$record" -v --dev frdma0 --port 1 \
		--gid "$gid" "${patterns[@]}" >"$dir/said" 2>&1 || true
	case $(dpkg-query -Wf '${Version}' python3-pyverbs) in
	56.*)	;;
	*)	! grep -q '^Ran 0 tests' "$dir/said" ||
			skip "this pyverbs has no such tests" ;;
	esac
	ok=$(grep -c '^passed' "$record") || true
	pyverbs_are_well "$ok" "$count" "$dir/said" ||
		fail "$ok of $count passed: $(cat "$dir/said")"
	note "$(grep '^Ran' "$dir/said"), $(tail -n 1 "$dir/said")"
}

# Runs "exchange" between DEV1 here and DEV2 in guest 2, which responds.
# Arguments: DEV1 DEV2 FAMILY [OPTION...]
exchange_between() {
	local dev1=$1 dev2=$2 family=$3 gid1 gid2

	shift 3
	gid1=$(gid_index "$dev1" "$family") || return
	gid2=$(gid_index "$dev2" "$family" 2) || return
	pair 18516 "$PROGRAMS/verbs/exchange -d $dev2 -g $gid2" \
		"$PROGRAMS/verbs/exchange -d $dev1 -g $gid1 $* frdma2"
	note "$(tail -n 1 "$KTAP_TMP/client")"
}

# Skips where "placement" could not be compiled.
placement_is_there() {
	[ -e "$PROGRAMS/verbs/placement" ] ||
		skip "rdma-core $(dpkg-query -Wf '${Version}' libibverbs1)" \
			"has no FLUSH"
}

# Runs "placement" between DEV1 here, which reaches for memory of DEV2 in guest
# 2, over IPv4.
placement_between() {
	local gid1 gid2

	placement_is_there
	gid1=$(gid_index "$1" v4) || return
	gid2=$(gid_index "$2" v4 2) || return
	pair 18517 "$PROGRAMS/verbs/placement $2 $gid2 serve 18517" \
		"$PROGRAMS/verbs/placement $1 $gid1 reach 18517 frdma2"
}

# Prints "NAME VALUE" for the hardware counters of DEV in guest N that the
# globs name. One that names none is an error. There are many: no process is begun
# for each. Arguments: DEV N GLOB...
# shellcheck disable=SC2016 # for the guest's shell
counters() {
	ktap_on "$2" "cd /sys/class/infiniband/$1/ports/1/hw_counters || exit
		for name in ${*:3}; do"'
			read -r value <$name || exit
			echo $name $value
		done' || fail "$1 in guest $2 lacks one of: ${*:3}"
}

# None of those counters may have moved since the link was made.
uncounted() {
	local moved

	moved=$(counters "$@")
	! grep -v ' 0$' <<<"$moved" || fail "counted by $1 in guest $2"
}

# Says which have.
note_counted() {
	local moved

	moved=$(counters "$@")
	note "$1 in guest $2: $(grep -v ' 0$' <<<"$moved" | paste -sd ' ')"
}

# DEV1 in guest N1 has sent as many packets as DEV2 in guest N2 has taken.
# Arguments: DEV1 N1 COUNTER1 DEV2 N2 COUNTER2
all_arrive() {
	local sent taken

	sent=$(counter "$1" "$3" "$2")
	taken=$(counter "$4" "$6" "$5")
	[ "$sent" -gt 0 ] && [ "$sent" = "$taken" ] ||
		fail "$1 has sent $sent packets, $4 has taken $taken"
	note "$1 to $4: $sent packets"
}

# Gives eth0 of every guest a queue that holds whatever is on the way between
# two guests: fq_codel, the default, drops what waited while a guest stalled.
# After that, a packet that is sent and not received is somebody's fault.
deep_queues() {
	defer each_guest "tc qdisc delete dev eth0 root"
	each_guest "tc qdisc replace dev eth0 root pfifo limit 100000"
}

# Makes a link of the kernel's rdma_rxe on eth0 of guest N; removed as those of
# links_up.
rxe_up() {
	defer rxe_down "$1"
	ktap_on "$1" 'modprobe rdma_rxe &&
		rdma link add rxe0 type rxe netdev eth0' ||
		fail "no rxe0 in guest $1"
	await 20 port_is_active rxe0 "$1"
	are_neighbours
}

rxe_down() {
	ktap_on "$1" '! rdma link delete rxe0; modprobe -r rdma_rxe'
}

# Makes link frdma0 on eth0 in guest N alone.
frdma_up() {
	defer frdma_down "$1"
	ktap_on "$1" 'modprobe frdma &&
		rdma link add frdma0 type frdma netdev eth0' ||
		fail "no frdma0 in guest $1"
	await 20 port_is_active frdma0 "$1"
	are_neighbours
}

frdma_down() {
	ktap_on "$1" 'rdma link delete frdma0; modprobe -r frdma'
}

port_is_active() {
	ktap_on "$2" "grep -q ACTIVE /sys/class/infiniband/$1/ports/1/state"
}

# Runs a command while guest 2 captures what passes its eth0 from and to port
# 4791; leaves that in $KTAP_TMP/wire.pcap.
captured() {
	local file=/run/frdma-wire.pcap

	on 2 "rm -f $file; tcpdump -i eth0 -B 16384 -U -w $file \
		udp port 4791 >/run/tcpdump.log 2>&1 &
		echo \$! >/run/tcpdump.pid"
	await 30 on 2 "[ -s $file ]"
	"$@"
	# shellcheck disable=SC2016 # for the guest's shell
	on 2 'sleep 1; kill $(cat /run/tcpdump.pid)
		while kill -0 $(cat /run/tcpdump.pid) 2>/dev/null; do
			sleep 0.1
		done
		cat /run/tcpdump.log'
	on 2 'grep -q "^0 packets dropped by kernel" /run/tcpdump.log'
	on 2 "cat $file" >"$KTAP_TMP/wire.pcap"
}

# Every packet of the capture must be RoCE to tshark, and whole; its invariant
# CRC must be what scapy makes it.
wire_is_clean() {
	tshark -r "$KTAP_TMP/wire.pcap" -T fields -e frame.number \
		-e frame.protocols -e infiniband.bth.opcode \
		>"$KTAP_TMP/wire" 2>"$KTAP_TMP/tshark"
	[ -s "$KTAP_TMP/wire" ] || fail "nothing captured"
	! grep -v ':udp:infiniband' "$KTAP_TMP/wire" || fail "not RoCE"
	! grep _ws "$KTAP_TMP/wire" || fail "malformed"
	note "$(wc -l <"$KTAP_TMP/wire") packets," \
		"$(cut -f 3 "$KTAP_TMP/wire" | sort -u | wc -l) opcodes"
	python3 "$KTAP_TOP/selftests/verbs/icrc.py" "$KTAP_TMP/wire.pcap"
}

# shellcheck disable=SC2034 # for those who include this
BANDWIDTH="ib_write_bw ib_read_bw ib_send_bw ib_atomic_bw"
# shellcheck disable=SC2034 # for the programs
LATENCY="ib_write_lat ib_read_lat ib_send_lat"

# ibv_rc_pingpong between both guests' DEV. Arguments: FAMILY [OPTION...]
rc_pingpong() {
	local gid1 gid2

	gid1=$(gid_index $DEV "$1") || return
	gid2=$(gid_index $DEV "$1" 2) || return
	shift
	pair 18515 "ibv_rc_pingpong -d $DEV -g $gid2 $*" \
		"ibv_rc_pingpong -d $DEV -g $gid1 $* frdma2"
	note "$(grep -m 1 Mbit "$KTAP_TMP/client")"
}

# rping to an address of guest 2, comparing what comes back. Arguments:
# ADDRESS COUNT
rping_verifies() {
	pair cm "rping -s -v -C $2 -a $1" "rping -c -v -V -C $2 -a $1"
	[ "$(grep -c 'ping data' "$KTAP_TMP/client")" = "$2" ]
}

# Ten connections at a time to an address of guest 2.
ucmatose() {
	pair cm "command ucmatose -b $1 -c 10 -C 10" \
		"command ucmatose -s $1 -c 10 -C 10"
}

# A tool of perftest. The timeout of its queue pairs is a second, because
# emulated guests stall. Arguments: TOOL FAMILY [OPTION...]; with "-R" among
# them, connected by rdma_cm.
perftest() {
	local tool=$1 family=$2 port=18515 host=frdma2 gid1 gid2

	shift 2
	gid1=$(gid_index $DEV "$family") || return
	gid2=$(gid_index $DEV "$family" 2) || return
	[[ " $* " != *" -R "* ]] || port=cm
	case $family in
	v4)	host=10.77.0.2 ;;
	v6)	# Old tools introduce themselves over IPv4 only.
		host=10.77.0.2
		if [[ $("$tool" --help 2>&1) == *--ipv6-addr* ]]; then
			host=fd77::2
			set -- "$@" --ipv6-addr
		fi ;;
	esac
	pair $port "$tool -d $DEV -x $gid2 -u 18 -F $*" \
		"$tool -d $DEV -x $gid1 -u 18 -F $* $host"
	note "$(grep -A 1 '#bytes' "$KTAP_TMP/client" | tail -n 1)"
}
