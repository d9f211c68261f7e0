# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# What tests share that send traffic between guests 1 and 2. Read after
# frdma.sh. The tests' own programs lie in PROGRAMS in every guest.

PROGRAMS=/run/frdma-test

# Compiles selftests/verbs/NAME.c and gives it to every guest.
compile() {
	local n

	mkdir -p $PROGRAMS
	gcc -O2 -Wall -Wextra -o "$PROGRAMS/$1" \
		"$KTAP_TOP/selftests/verbs/$1.c" -libverbs ||
		fail "$1.c does not compile"
	for n in $(seq 2 "$FRDMA_NODES"); do
		on -i "$n" "mkdir -p $PROGRAMS && cat >$PROGRAMS/$1 &&
			chmod +x $PROGRAMS/$1" <"$PROGRAMS/$1"
	done
}

# Runs "exchange" between DEV1 here and DEV2 in guest 2, which responds.
# Arguments: DEV1 DEV2 FAMILY [OPTION...]
exchange_between() {
	local dev1=$1 dev2=$2 family=$3 gid1 gid2

	shift 3
	gid1=$(gid_index "$dev1" "$family")
	gid2=$(gid_index "$dev2" "$family" 2)
	pair 18516 "$PROGRAMS/exchange -d $dev2 -g $gid2" \
		"$PROGRAMS/exchange -d $dev1 -g $gid1 $* frdma2"
	note "$(tail -n 1 "$KTAP_TMP/client")"
}

# Prints the hardware counters of DEV in guest N that match PATTERN and are
# not zero.
counted() {
	ktap_on "$3" "cd /sys/class/infiniband/$1/ports/1/hw_counters &&
		grep -v '^0\$' * | tr : ' '" | grep -E "^($2) "
}

# None of those counters may have moved since the link was made.
uncounted() {
	! counted "$@" || fail "counted on $1 in guest $3"
}
